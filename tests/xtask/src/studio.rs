//! `cargo xtask studio`: builds the pages and the desktop program, and starts it.
//!
//! The window needs WebKitGTK, whose packages differ from system to system; what is missing is said
//! by name before anything is compiled.
//!
//! **Invariants**
//! - The shell is a cargo invocation of its own, so that nobody who works on the appliance compiles
//!   tauri.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use clap::Args;

use crate::place::Place;
use crate::{process, setup, toolchain, ui};

/// Build the desktop program and start it. The first time takes some minutes.
#[derive(Args)]
#[command(after_help = "Examples:\n  cargo xtask studio\n  cargo xtask studio --no-start\n  \
    cargo xtask studio -- pump.millrace\n\nWhat follows -- goes to `millrace-studio`.")]
pub(crate) struct Options {
    /// Build only, and say where the program is
    #[arg(long)]
    no_start: bool,
    /// Build with optimization, as it is shipped
    #[arg(long)]
    release: bool,
    /// Arguments for `millrace-studio`
    #[arg(last = true)]
    rest: Vec<OsString>,
}

/// What the window is built with: the name that proves it, and the package on Debian.
const NEEDED: &[(&str, &str)] =
    &[("webkit2gtk-4.1", "libwebkit2gtk-4.1-dev"), ("dbus-1", "libdbus-1-dev")];

/// What a test of the window needs: program and package.
const TESTED_WITH: &[(&str, &str)] = &[
    ("Xvfb", "xvfb"),
    ("WebKitWebDriver", "webkit2gtk-driver"),
    ("dbus-daemon", "dbus"),
    ("gnome-keyring-daemon", "gnome-keyring"),
];

pub(crate) fn studio(place: &Place, options: &Options) -> Result<()> {
    setup::need_compiler()?;
    let missing = missing();
    if !missing.is_empty() {
        bail!(
            "the desktop program's window needs libraries that are not here; on Debian: \
             apt-get install {}; elsewhere the packages have similar names",
            missing.join(" ")
        );
    }
    let compiler = toolchain::prepare(place, toolchain::WASM)?;
    let bundle = ui::build(place, &compiler, false)?;
    let binary = build(place, &bundle, options.release)?;
    if options.no_start {
        println!("{}", binary.display());
        return Ok(());
    }
    process::must(Command::new(&binary).args(&options.rest))
}

/// Debian's packages that are missing for a test of the window.
pub(crate) fn missing_for_tests() -> Vec<&'static str> {
    TESTED_WITH
        .iter()
        .filter(|(program, _)| !process::has(program))
        .map(|(_, package)| *package)
        .collect()
}

/// The pages as they were built last.
pub(crate) fn bundle_if_built(place: &Place) -> Option<PathBuf> {
    let bundle = ui::folder(place);
    bundle.join("index.html").is_file().then_some(bundle)
}

/// Debian's packages that are missing for the window.
pub(crate) fn missing() -> Vec<&'static str> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    if !process::has("pkg-config") {
        return ["pkg-config"].into_iter().chain(NEEDED.iter().map(|(_, name)| *name)).collect();
    }
    let is_there = |library: &str| {
        process::read(Command::new("pkg-config").args(["--exists", library])).is_ok()
    };
    NEEDED.iter().filter(|(library, _)| !is_there(library)).map(|(_, package)| *package).collect()
}

/// Builds the desktop program with these pages and says where it is.
fn build(place: &Place, bundle: &Path, release: bool) -> Result<PathBuf> {
    let profile = if release { "release" } else { "debug" };
    println!("Building the desktop program ({profile}) into {}", place.target().display());
    let mut cargo = place.cargo();
    cargo.args(["build", "--locked", "-p", "millrace-studio"]).env("STUDIO_BUNDLE", bundle);
    if release {
        cargo.arg("--release");
    }
    process::must(&mut cargo)?;
    Ok(place.binary(profile, "millrace-studio"))
}
