//! `cargo xtask check-windows`: does the appliance build for Windows, and does it keep its word there?
//!
//! Cross-compiles with MinGW; where Wine is installed, starts the executable, publishes values over
//! MQTT, ends it without warning, starts it again and reads every acknowledged value back.
//!
//! **Invariants**
//! - The try has its own Wine prefix, its own data folder and free ports: nothing of the user's is used.
//! - The processes it starts are ended by it, whatever fails between.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::place::Place;
use crate::toolchain::{self, Toolchain};
use crate::{mqtt, process, setup};

/// Values that are published before the appliance is ended.
const VALUES: usize = 200;
/// The first start under Wine sets up its prefix.
const START_MAX: Duration = Duration::from_secs(120);
/// What the appliance prints when everything is up.
const READY: &str = "is ready.";
/// Where the trial keeps what the appliance prints.
const OUTPUT: &str = "output.txt";
const END_MAX: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(100);
const MINGW_PACKAGE: &str = "gcc-mingw-w64-x86-64-posix";
const WINE_PACKAGE: &str = "wine64";
/// Stands in for what Wine before version 9 lacks; see the file.
const RANDOM_SHIM: &str = "tests/xtask/assets/bcryptprimitives.c";

/// Cross-compile the appliance for x86_64-pc-windows-gnu. Where Wine is installed: start it, publish,
/// end it without warning, start it again and read back.
#[derive(Args)]
#[command(
    after_help = "The compiler comes from rustup (`rustup target add`), or on Debian from its own packages,\n\
    unpacked into your cache folder. MinGW is installed by name when you are root.\n\n\
    Examples:\n  cargo xtask check-windows\n  cargo xtask check-windows --no-wine --release"
)]
pub(crate) struct Options {
    /// Only build
    #[arg(long)]
    no_wine: bool,
    /// Build in release
    #[arg(long)]
    release: bool,
}

pub(crate) fn check_windows(place: &Place, options: &Options) -> Result<()> {
    setup::need_compiler()?;
    need(MINGW_PACKAGE, "to link for Windows", || toolchain::mingw(toolchain::WINDOWS).is_some())?;
    let compiler = toolchain::prepare(place, toolchain::WINDOWS)?;
    println!("Compiler for {}: {}", toolchain::WINDOWS, compiler.shown());
    let executable = build(place, &compiler, options.release)?;
    println!("Built {}", executable.display());
    if options.no_wine {
        return Ok(());
    }
    let Some(wine) = wine() else {
        println!("Not started: there is no Wine here (on Debian: apt-get install {WINE_PACKAGE}).");
        return Ok(());
    };
    Trial::new(place, wine, &executable)?.hold()
}

/// Installs a package when that is possible, else says what is missing.
fn need(package: &str, what_for: &str, there: impl Fn() -> bool) -> Result<()> {
    if !there() && setup::can_install() {
        setup::install(&[package])?;
    }
    if !there() {
        bail!("{package} is missing, {what_for}; on Debian, as root: apt-get install {package}");
    }
    Ok(())
}

fn build(place: &Place, compiler: &Toolchain, release: bool) -> Result<PathBuf> {
    let mut cargo = place.cargo();
    cargo.args(["build", "--locked", "-p", "millrace-service"]);
    if release {
        cargo.arg("--release");
    }
    compiler.apply(&mut cargo, place);
    process::must(&mut cargo)?;
    let profile = if release { "release" } else { "debug" };
    Ok(compiler.products(place).join(toolchain::WINDOWS).join(profile).join("millrace.exe"))
}

fn wine() -> Option<PathBuf> {
    // The loader itself, not a script around it: ending it has to end the appliance.
    let inner = Path::new("/usr/lib/wine/wine64");
    if inner.is_file() {
        return Some(inner.to_path_buf());
    }
    ["wine64", "wine"].iter().find_map(|program| process::find(program))
}

/// One try of the executable under Wine.
struct Trial {
    wine: PathBuf,
    prefix: PathBuf,
    folder: PathBuf,
    mqtt: SocketAddr,
    http: SocketAddr,
}

/// A running appliance that is ended when it goes out of scope.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself; there is nobody left to tell.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

impl Trial {
    fn new(place: &Place, wine: PathBuf, executable: &Path) -> Result<Self> {
        let folder = place.target().join("windows-trial");
        if folder.exists() {
            fs::remove_dir_all(&folder).context("remove the last trial's folder")?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
        let trial = Self {
            wine,
            prefix: place.target().join("windows-wine"),
            mqtt: free_address()?,
            http: free_address()?,
            folder,
        };
        fs::copy(executable, trial.folder.join("millrace.exe")).context("copy the executable")?;
        let mut shim = Command::new(
            toolchain::mingw(toolchain::WINDOWS).context("find MinGW for the stand-in library")?,
        );
        shim.arg("-shared").arg("-o").arg(trial.folder.join("bcryptprimitives.dll"));
        shim.arg(place.root().join(RANDOM_SHIM)).arg("-ladvapi32");
        process::must(&mut shim)?;
        fs::write(trial.folder.join("millrace.toml"), trial.configuration())
            .context("write the configuration")?;
        Ok(trial)
    }

    fn configuration(&self) -> String {
        format!(
            "data_dir = \"data\"\n[broker]\nlisten = \"{}\"\n[http]\nlisten = \"{}\"\n",
            self.mqtt, self.http
        )
    }

    fn hold(&self) -> Result<()> {
        println!("Starting it under Wine ({})", self.folder.display());
        let held = self.publish_kill_read();
        // The prefix's own server lingers for seconds otherwise. It may be gone already.
        if let Some(server) = process::find("wineserver").or_else(|| {
            Some(PathBuf::from("/usr/lib/wine/wineserver64")).filter(|path| path.is_file())
        }) {
            let mut stop = Command::new(server);
            stop.arg("-k").env("WINEPREFIX", &self.prefix);
            drop(process::within(&mut stop, Duration::from_secs(10)));
        }
        held
    }

    fn publish_kill_read(&self) -> Result<()> {
        let first = self.start()?;
        let client = self.millrace(&[
            "client",
            "add",
            "probe",
            "--workspace",
            "main",
            "--publish",
            "probe/#",
        ])?;
        let (id, secret) = credentials(&client)?;
        let mut publisher = mqtt::Client::connect(self.mqtt, &id, &secret)?;
        let topic = format!("mr/v1/main/_ingress/{id}/probe/count");
        for value in 0..VALUES {
            publisher.publish(&topic, &value.to_string())?;
        }
        println!("{VALUES} values acknowledged; ending it without warning.");
        drop(first);
        self.is_gone()?;
        let _second = self.start()?;
        let csv = self.millrace(&[
            "query",
            "raw",
            "main/probe/count",
            "--from",
            "-1h",
            "--format",
            "csv",
        ])?;
        let read: Vec<&str> =
            csv.lines().skip(1).filter_map(|row| row.trim_end().rsplit(',').next()).collect();
        let sent: Vec<String> = (0..VALUES).map(|value| value.to_string()).collect();
        if read != sent {
            bail!(
                "{VALUES} values were acknowledged, {} rows are there after the restart, or others:\n{csv}",
                read.len()
            );
        }
        println!("Started again: all {VALUES} acknowledged values are there.");
        Ok(())
    }

    fn start(&self) -> Result<Running> {
        let output =
            fs::File::create(self.folder.join(OUTPUT)).context("create the output file")?;
        let mut command = self.wine(&["run"]);
        command.stdout(output.try_clone().context("share the output file")?).stderr(output);
        let child = command.stdin(Stdio::null()).spawn().context("start wine")?;
        let mut running = Running(child);
        let started = Instant::now();
        while !self.output().contains(READY) {
            let ended = running.0.try_wait().context("look after the appliance")?;
            if let Some(status) = ended {
                bail!("the appliance ended with {status}:\n{}", self.output());
            }
            if started.elapsed() > START_MAX {
                bail!("the appliance is not ready after {START_MAX:?}:\n{}", self.output());
            }
            thread::sleep(POLL);
        }
        Ok(running)
    }

    /// Waits until nobody listens any more: what was ended was the appliance, not a script around it.
    fn is_gone(&self) -> Result<()> {
        let started = Instant::now();
        while TcpStream::connect_timeout(&self.mqtt, POLL).is_ok() {
            if started.elapsed() > END_MAX {
                bail!("the appliance still listens {END_MAX:?} after it was ended");
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    fn millrace(&self, arguments: &[&str]) -> Result<String> {
        process::read(&mut self.wine(arguments))
            .with_context(|| format!("the appliance said:\n{}", self.output()))
    }

    /// A subcommand of the appliance under Wine, with the trial's configuration.
    fn wine(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.wine);
        command
            .current_dir(&self.folder)
            .arg("millrace.exe")
            .args(arguments)
            .args(["--config", "millrace.toml"])
            .env("WINEPREFIX", &self.prefix)
            .env("WINEDEBUG", "-all")
            .env_remove("DISPLAY");
        command
    }

    fn output(&self) -> String {
        fs::read_to_string(self.folder.join(OUTPUT)).unwrap_or_default()
    }
}

/// An address on loopback that nobody listens on now.
fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("find a free port")?;
    listener.local_addr().context("read the free port")
}

/// The client id and the secret out of what `client add` prints: the lines `id ...` and `secret ...`.
fn credentials(printed: &str) -> Result<(String, String)> {
    let named = |name: &str| {
        printed.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            (words.next() == Some(name)).then(|| words.next().map(str::to_owned)).flatten()
        })
    };
    match (named("id"), named("secret")) {
        (Some(id), Some(secret)) => Ok((id, secret)),
        _ => bail!("`millrace client add` printed no id and secret:\n{printed}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_id_and_secret_off_what_is_printed() {
        let printed =
            "id      press-4\r\nsecret  abc.def\r\ninbox   mr/v1/main/_ingress/press-4/<path>\r\n";
        let (id, secret) = credentials(printed).expect("both are there");
        assert_eq!((id.as_str(), secret.as_str()), ("press-4", "abc.def"));
    }

    #[test]
    fn says_what_was_printed_when_the_secret_is_missing() {
        let error = credentials("id  press-4\n").expect_err("no secret");
        assert!(error.to_string().contains("id  press-4"), "{error}");
    }
}
