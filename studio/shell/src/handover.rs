//! A second start on the same folder hands its files to the first and ends.
//!
//! The running program listens on a port of loopback and keeps port and a random word in
//! `running.json`. Whoever can read that file may ask it to show a window and to open files, which
//! is what that person can do anyway.
//!
//! **Invariants**: a connection that does not begin with the word is closed; what is read is
//! bounded in bytes and time.

use crate::window;
use anyhow::{Context as _, bail};
use millrace_studio_core::Studio;
use serde::{Deserialize, Serialize};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tauri::{AppHandle, Manager as _};

/// Time for the whole of a hand-over.
const PATIENCE: Duration = Duration::from_secs(2);
/// Bytes of a hand-over.
const BYTES_MAX: u64 = 256 * 1024;
/// Files of a hand-over.
const FILES_MAX: usize = 32;

#[derive(Serialize, Deserialize)]
struct Running {
    port: u16,
    word: String,
}

#[derive(Serialize, Deserialize)]
struct Asked {
    word: String,
    files: Vec<PathBuf>,
}

fn place(folder: &Path) -> PathBuf {
    folder.join("running.json")
}

/// Hands over to the program that runs on this folder; whether there is one.
pub(crate) fn to_running(folder: &Path, files: &[PathBuf]) -> anyhow::Result<bool> {
    let Ok(bytes) = std::fs::read(place(folder)) else { return Ok(false) };
    let Ok(running) = serde_json::from_slice::<Running>(&bytes) else { return Ok(false) };
    let place = (Ipv4Addr::LOCALHOST, running.port).into();
    // Nobody listens: that program is gone.
    let Ok(mut stream) = TcpStream::connect_timeout(&place, PATIENCE) else { return Ok(false) };
    let asked = Asked { word: running.word, files: files.to_vec() };
    let line = serde_json::to_string(&asked).context("write the files' names")?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut said = String::new();
    let exchanged = writeln!(stream, "{line}")
        .and_then(|()| BufReader::new(stream.take(BYTES_MAX)).read_line(&mut said));
    // Another program may have got the port since.
    Ok(exchanged.is_ok() && said.trim() == "taken")
}

/// Listens for second starts.
pub(crate) fn listen(app: &AppHandle, folder: &Path) -> anyhow::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("listen on loopback")?;
    let port = listener.local_addr()?.port();
    let number = getrandom::u64().map_err(|error| anyhow::anyhow!("a random word: {error}"))?;
    let running = Running { port, word: format!("{number:016x}") };
    let text = serde_json::to_vec(&running).context("write running.json")?;
    let mut file = std::fs::File::create(place(folder)).context("write running.json")?;
    file.write_all(&text).context("write running.json")?;
    let app = app.clone();
    std::thread::Builder::new()
        .name("handover".to_owned())
        .spawn(move || {
            for stream in listener.incoming().filter_map(Result::ok) {
                if let Err(error) = take(&app, &running.word, stream) {
                    tracing::warn!(error = format!("{error:#}"), "A hand-over failed.");
                }
            }
        })
        .context("start a thread")?;
    Ok(())
}

fn take(app: &AppHandle, word: &str, stream: TcpStream) -> anyhow::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut answer = stream.try_clone()?;
    let mut line = String::new();
    BufReader::new(stream.take(BYTES_MAX)).read_line(&mut line).context("read")?;
    let asked: Asked = serde_json::from_str(&line).context("read the files' names")?;
    if asked.word != word {
        bail!("somebody without the word came");
    }
    let label = match window::focused(app) {
        Some(window) => {
            // A window that cannot be brought forward is there all the same.
            let (Ok(()) | Err(_)) = window.unminimize().and_then(|()| window.set_focus());
            window.label().to_owned()
        }
        None => window::open(app, window::FIRST)?.label().to_owned(),
    };
    let studio = app.state::<Studio>();
    for file in asked.files.iter().take(FILES_MAX) {
        studio.open_file(&label, file)?;
    }
    writeln!(answer, "taken").context("answer")
}
