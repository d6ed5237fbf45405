//! `cargo xtask ui`: builds the studio's bundle into the build folder.
//!
//! Three programs in a row: cargo compiles `ui/app` for wasm32; npm and esbuild make the JavaScript
//! islands, if there are any; `millrace-bundler`, a package of its own, puts the bundle together.
//! Nothing of that is compiled by anybody who does not ask for the bundle.
//!
//! **Invariants**
//! - What is served was built by this call, or the call failed.
//! - `run` and `test` never prepare a compiler by themselves: without one they say how to get it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::place::Place;
use crate::toolchain::{self, Toolchain};
use crate::{process, setup};

/// Build the studio's bundle (release: small, compressed, within its budget). The first time takes
/// some minutes; where rustup cannot add the wasm target, a compiler is made from Debian's packages.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  cargo xtask ui\n  cargo xtask ui --dev      while working on pages: a running appliance serves the new bundle at once"
)]
pub(crate) struct Options {
    /// Build for development: compiles soonest, large, not compressed
    #[arg(long)]
    dev: bool,
}

/// What lies where the islands are developed.
const ISLANDS: &str = "ui/app/islands";

pub(crate) fn ui(place: &Place, options: &Options) -> Result<()> {
    setup::need_compiler()?;
    let compiler = toolchain::prepare(place, toolchain::WASM)?;
    build(place, &compiler, options.dev).map(drop)
}

/// The bundle's folder, whether or not there is a bundle.
pub(crate) fn folder(place: &Place) -> PathBuf {
    place.target().join("web")
}

/// Builds the bundle if its compiler is there; else says why not.
pub(crate) fn build_if_possible(place: &Place, dev: bool) -> Result<Option<PathBuf>> {
    let compiler = match toolchain::find(place, toolchain::WASM) {
        Ok(Some(compiler)) => compiler,
        Ok(None) => {
            println!("The web interface is left out: `cargo xtask ui` prepares a compiler for it.");
            return Ok(None);
        }
        Err(error) => {
            println!("The web interface is left out: {error:#}");
            return Ok(None);
        }
    };
    build(place, &compiler, dev).map(Some)
}

/// Builds the bundle and says where it is.
pub(crate) fn build(place: &Place, compiler: &Toolchain, dev: bool) -> Result<PathBuf> {
    let profile = if dev { "wasm-dev" } else { "wasm-release" };
    println!("Building the web interface ({profile}) into {}", folder(place).display());
    let mut cargo = place.cargo();
    cargo.args(["build", "--locked", "-p", "millrace-app", "--profile", profile]);
    compiler.apply(&mut cargo, place);
    process::must(&mut cargo)?;
    let code =
        compiler.products(place).join(toolchain::WASM).join(profile).join("millrace-app.wasm");
    let mut cargo = place.cargo();
    process::must(cargo.args(["build", "--locked", "-p", "millrace-bundler"]))?;
    let mut bundler = Command::new(place.binary("debug", "millrace-bundler"));
    bundler.arg(if dev { "dev" } else { "release" }).arg(code).arg(place.root());
    match islands(place, dev)? {
        Some(islands) => bundler.arg(islands),
        None => bundler.arg("-"),
    };
    let output = folder(place);
    process::must(bundler.arg(&output))?;
    Ok(output)
}

/// Bundles the JavaScript islands with the packages that their lock file names. Gives their folder.
///
/// Without npm or its registry there are none: the pages say so and have something plainer.
fn islands(place: &Place, dev: bool) -> Result<Option<PathBuf>> {
    let source = place.root().join(ISLANDS);
    let entries = scripts(&source)?;
    let work = place.target().join("islands");
    if let Err(error) = install(&source, &work) {
        println!("No JavaScript packages, scripts are typed into a plain field: {error:#}");
        return Ok(None);
    }
    if entries.is_empty() {
        return Ok(None);
    }
    let output = work.join("bundled");
    gone(&output)?;
    let mut esbuild = Command::new(work.join("node_modules/.bin/esbuild"));
    // Packages are found from where they are installed, not from the checkout.
    esbuild.current_dir(&work).env("NODE_PATH", work.join("node_modules"));
    esbuild.args(["--bundle", "--format=esm", "--splitting", "--log-level=warning"]);
    esbuild.arg(format!("--outdir={}", output.display()));
    if !dev {
        esbuild.arg("--minify");
    }
    esbuild.args(entries);
    process::must(&mut esbuild)?;
    let notices = notices(&work.join("node_modules"))?;
    for script in scripts(&output)? {
        let code = fs::read_to_string(&script).context("read an island")?;
        fs::write(&script, notices.clone() + &code).context("write an island")?;
    }
    Ok(Some(output))
}

/// The licences of the packages in a folder as one comment, each text once; without the tools, of
/// which nothing gets into the bundle.
fn notices(packages: &Path) -> Result<String> {
    let mut texts = BTreeMap::new();
    let mut folders = vec![packages.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).context("read the JavaScript packages")? {
            let entry = entry.context("read the JavaScript packages")?;
            let name = entry.file_name().to_string_lossy().into_owned();
            match name.as_str() {
                ".bin" | ".package-lock.json" | "esbuild" | "@esbuild" | "axe-core" => {}
                _ if name.starts_with('@') => folders.push(entry.path()),
                _ => {
                    let place = entry.path().join("LICENSE");
                    let text = fs::read_to_string(&place)
                        .with_context(|| format!("read {}", place.display()))?;
                    texts
                        .entry(text.trim().replace("*/", "* /"))
                        .or_insert_with(Vec::new)
                        .push(name);
                }
            }
        }
    }
    let mut notices = String::new();
    for (text, mut names) in texts {
        names.sort();
        let _written = write!(notices, "/*! {}\n\n{text}\n*/\n", names.join(", "));
    }
    Ok(notices)
}

/// Installs what the lock file names, unless that is what is there.
fn install(source: &Path, work: &Path) -> Result<()> {
    if !process::has("npm") {
        bail!("npm is needed for the script editor; on Debian: apt-get install npm");
    }
    fs::create_dir_all(work).with_context(|| format!("create {}", work.display()))?;
    let lock = fs::read(source.join("package-lock.json")).context("read package-lock.json")?;
    let done = work.join("installed.lock");
    if fs::read(&done).ok().as_deref() == Some(lock.as_slice()) {
        return Ok(());
    }
    for name in ["package.json", "package-lock.json"] {
        fs::copy(source.join(name), work.join(name)).with_context(|| format!("copy {name}"))?;
    }
    let mut npm = Command::new("npm");
    // No package's own program runs at its installation.
    npm.current_dir(work).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    process::must(&mut npm)?;
    fs::write(&done, &lock).context("note what is installed")
}

fn gone(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// The islands' own scripts, one entry each.
fn scripts(source: &Path) -> Result<Vec<PathBuf>> {
    let mut scripts = Vec::new();
    for entry in fs::read_dir(source).with_context(|| format!("read {}", source.display()))? {
        let path = entry.context("read the islands")?.path();
        if path.extension().is_some_and(|end| end == "js") {
            scripts.push(path);
        }
    }
    scripts.sort();
    Ok(scripts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_licence_of_every_bundled_package_is_told_once() -> Result<()> {
        let folder = std::env::temp_dir().join(format!("millrace-notices-{}", std::process::id()));
        for (name, text) in
            [("b", "as is */"), ("@c/a", "as is */\n"), ("d", "no warranty"), ("esbuild", "tool")]
        {
            fs::create_dir_all(folder.join(name))?;
            fs::write(folder.join(name).join("LICENSE"), text)?;
        }
        let told = notices(&folder);
        let missing = folder.join("e");
        fs::create_dir_all(&missing)?;
        let refused = notices(&folder);
        gone(&folder)?;
        assert_eq!(told?, "/*! a, b\n\nas is * /\n*/\n/*! d\n\nno warranty\n*/\n");
        assert!(refused.is_err(), "a package without a licence is not bundled");
        Ok(())
    }
}
