//! The code: what rustc made for wasm32 becomes what a browser can load.
//!
//! **Invariants**
//! - wasm-bindgen is linked in, at the version that the app is compiled with: no program of that name
//!   has to be on the machine, and the two can never differ.
//! - `wasm-opt` is used when it is in PATH and takes the file; without it the bundle is larger.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use wasm_bindgen_cli_support::Bindgen;

/// Writes `app.js`, `app_bg.wasm` and what they need into the folder.
pub(crate) fn generate(code: &Path, into: &Path, release: bool) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(code).out_name("app").typescript(false);
    bindgen.web(true).context("aim at a browser")?;
    bindgen.keep_debug(false).remove_producers_section(true).remove_name_section(release);
    bindgen.generate(into).with_context(|| format!("make {} ready", code.display()))?;
    if release {
        optimise(&into.join("app_bg.wasm"))?;
    }
    Ok(())
}

fn optimise(wasm: &Path) -> Result<()> {
    let smaller = wasm.with_extension("smaller");
    let mut command = Command::new("wasm-opt");
    command.arg("-Oz").arg(wasm).arg("-o").arg(&smaller);
    match command.output() {
        Err(_) => println!("wasm-opt is not in PATH: the bundle stays about a tenth larger"),
        Ok(output) if output.status.success() => {
            fs::rename(&smaller, wasm).context("take what wasm-opt made")?;
        }
        Ok(output) => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            let first = complaint.lines().next().unwrap_or_default();
            println!("wasm-opt does not take the file and is left out: {first}");
            if smaller.exists() {
                fs::remove_file(&smaller).context("remove what wasm-opt began")?;
            }
        }
    }
    Ok(())
}
