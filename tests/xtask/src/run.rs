//! `cargo xtask run`: builds the appliance and its web interface, and becomes the appliance.
//!
//! On Unix this process is replaced by the appliance, so a Ctrl-C reaches it alone and the prompt
//! returns when it has stopped; elsewhere it is started and waited for.
//!
//! **Invariants**
//! - The demo's data folder is never inside the checkout by default.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;

use crate::place::Place;
use crate::{process, setup, ui};

/// Build the appliance and its web interface (release) and start the demo: 20 simulated devices
/// with 10 tags each, MQTT on 1883, HTTP and the web interface on 8080, loopback only. Ctrl-C stops it
/// cleanly; the next start finds everything again.
#[derive(Args)]
#[command(after_help = "Examples:\n  cargo xtask run\n  cargo xtask run --data /srv/demo\n  \
    cargo xtask run --plain -- --config millrace.toml\n\nWhat follows -- goes to `millrace run`.")]
pub(crate) struct Options {
    /// The demo's data folder [default: millrace-demo in your data folder]
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// Start without the demo: only what follows --
    #[arg(long)]
    plain: bool,
    /// Build for development: compiles sooner, runs slower
    #[arg(long)]
    dev: bool,
    /// Do not build the web interface; one that was built before is still served
    #[arg(long)]
    without_ui: bool,
    /// Arguments for `millrace run`
    #[arg(last = true)]
    rest: Vec<OsString>,
}

pub(crate) fn run(place: &Place, options: &Options) -> Result<()> {
    setup::need_compiler()?;
    let binary = build_service(place, !options.dev)?;
    let bundle = if options.without_ui {
        Some(ui::folder(place)).filter(|folder| folder.is_dir())
    } else {
        ui::build_if_possible(place, options.dev)?
    };
    let mut millrace = Command::new(&binary);
    millrace.arg("run");
    if let Some(folder) = bundle {
        millrace.env("MILLRACE_HTTP_WEB_FOLDER", folder);
    }
    let mut others = format!("'{}'", binary.display());
    if !options.plain {
        let data = options.data.clone().unwrap_or_else(|| place.demo_data());
        others.push_str(&format!(" --data '{}'", data.display()));
        std::fs::create_dir_all(&data)
            .with_context(|| format!("create the data folder {}", data.display()))?;
        millrace.arg("--demo").arg("--data").arg(&data);
    } else if let Some(data) = &options.data {
        millrace.arg("--data").arg(data);
    }
    millrace.args(&options.rest);
    println!("In another terminal:  alias millrace=\"{others}\"");
    become_it(&mut millrace)
}

/// Builds the appliance and says where it is.
pub(crate) fn build_service(place: &Place, release: bool) -> Result<PathBuf> {
    let profile = if release { "release" } else { "debug" };
    let binary = place.binary(profile, "millrace");
    let first = if binary.exists() { "" } else { "; the first time takes some minutes" };
    println!("Building the appliance ({profile}) into {}{first}", place.target().display());
    let mut cargo = place.cargo();
    cargo.args(["build", "--locked", "-p", "millrace-service"]);
    if release {
        cargo.arg("--release");
    }
    process::must(&mut cargo)?;
    Ok(binary)
}

#[cfg(unix)]
fn become_it(command: &mut Command) -> Result<()> {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    Err(error).with_context(|| format!("start `{}`", process::shown(command)))
}

#[cfg(not(unix))]
fn become_it(command: &mut Command) -> Result<()> {
    process::must(command)
}
