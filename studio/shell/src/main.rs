//! `millrace-studio`: the desktop program.
//!
//! Windows, a menu, the system's keyring and log files around `millrace-studio-core`, which decides
//! everything. The pages are inside of the program; what they may do is one command.
//!
//! **Invariants**: a page reaches network, disk and keyring only through [`command::call`]; nothing
//! but this crate names tauri or a keyring; one program per folder of state, and a second start
//! hands its files to the first.
#![cfg_attr(windows, windows_subsystem = "windows")]

mod bundle;
mod command;
mod handover;
mod keyring;
mod logging;
mod menu;
mod options;
mod window;

use anyhow::Context as _;
use millrace_studio_core::{
    Folders, LocalNetwork, MemoryVault, Studio, StudioParts, SystemClock, Vault,
};
use options::Options;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use tauri::{Context, Manager as _, RunEvent, WindowEvent};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            logging::last_words(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let started = Instant::now();
    let options = Options::read()?;
    // Ends what it has to write when it is dropped.
    let _writer = logging::start(&options.folder.join("logs"))?;
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "The studio starts.");
    if handover::to_running(&options.folder, &options.files)? {
        tracing::info!("Another studio runs on this folder and has taken over.");
        return Ok(());
    }
    let studio = open(&options)?;
    let mut context = context();
    context.set_assets(Box::new(bundle::Bundle));
    let files = options.files;
    let state = options.folder;
    let app = tauri::Builder::default()
        .manage(studio.clone())
        .manage(window::Zoom::default())
        .invoke_handler(tauri::generate_handler![command::call])
        .menu(menu::build)
        .on_menu_event(|app, event| menu::chosen(app, event.id().as_ref()))
        .on_window_event(|window, event| {
            if matches!(event, WindowEvent::Destroyed) {
                window.state::<Studio>().close(window.label());
            }
        })
        .setup(move |app| {
            window::open(app.handle(), window::FIRST)?;
            for file in &files {
                studio.open_file(window::FIRST, file)?;
            }
            // Without it the program works; only a second start cannot hand over.
            if let Err(error) = handover::listen(app.handle(), &state) {
                tracing::warn!(error = format!("{error:#}"), "No second start can hand over.");
            }
            Ok(())
        })
        .build(context)
        .context("start the window system")?;
    app.run(move |_, event| {
        if matches!(event, RunEvent::Ready) {
            let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            tracing::info!(milliseconds, "The studio is ready.");
        }
    });
    Ok(())
}

fn open(options: &Options) -> anyhow::Result<Studio> {
    let vault: Arc<dyn Vault> = match options.forgets_passwords {
        true => {
            tracing::warn!("Passwords are forgotten at the end, as STUDIO_VAULT=memory says.");
            Arc::new(MemoryVault::default())
        }
        false => Arc::new(keyring::Keyring::new()),
    };
    let folders = Folders { state: options.folder.clone(), downloads: options.downloads.clone() };
    let studio = Studio::open(StudioParts {
        folders,
        vault,
        browser: Arc::new(LocalNetwork::default()),
        clock: Arc::new(SystemClock),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    });
    studio.with_context(|| format!("open {}", options.folder.display()))
}

/// What the build put into the program: permissions, policy, icon.
#[expect(clippy::exit, reason = "inside of the framework's macro")]
fn context() -> Context {
    tauri::generate_context!()
}
