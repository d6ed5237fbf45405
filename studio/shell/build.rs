//! Puts the pages into the program, and declares the one command that they may call.
//!
//! The bundle is what `cargo xtask ui` makes: a folder `web` in the build folder, or the one that
//! `STUDIO_BUNDLE` names. Compressed copies are for web servers and stay out.

#![expect(clippy::disallowed_methods, reason = "it writes a build product")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

const HOW: &str = "run `cargo xtask ui` first (or `cargo xtask studio`, which does both)";

fn main() {
    if let Err(why) = build() {
        println!("cargo::error={why}");
    }
}

fn build() -> Result<(), String> {
    println!("cargo::rerun-if-env-changed=STUDIO_BUNDLE");
    let out = folder("OUT_DIR")?;
    let bundle = match env::var_os("STUDIO_BUNDLE").filter(|folder| !folder.is_empty()) {
        Some(folder) => PathBuf::from(folder),
        // <build folder>/<profile>/build/<package>/out
        None => out.ancestors().nth(4).ok_or("the build folder has no such place")?.join("web"),
    };
    if !bundle.join("index.html").is_file() {
        return Err(format!(
            "the pages are not built: no index.html in {}; {HOW}",
            bundle.display()
        ));
    }
    let mut files = Vec::new();
    gather(&bundle, &mut files).map_err(|error| format!("read {}: {error}", bundle.display()))?;
    files.sort();
    let mut table = String::from("&[\n");
    for path in &files {
        let name = path.strip_prefix(&bundle).map_err(|error| error.to_string())?;
        let name = name.to_string_lossy().replace('\\', "/");
        writeln!(table, "(\"/{name}\", include_bytes!({path:?})),").map_err(|e| e.to_string())?;
        println!("cargo::rerun-if-changed={}", path.display());
    }
    table.push_str("]\n");
    println!("cargo::rerun-if-changed={}", bundle.display());
    fs::write(out.join("bundle.rs"), table).map_err(|error| format!("write a table: {error}"))?;
    let commands = tauri_build::AppManifest::new().commands(&["call"]);
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(commands))
        .map_err(|error| format!("{error:#}"))
}

fn folder(variable: &str) -> Result<PathBuf, String> {
    env::var_os(variable).map(PathBuf::from).ok_or_else(|| format!("{variable} is not set"))
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_compressed = path.extension().is_some_and(|end| end == "br" || end == "gz");
        if path.is_dir() {
            gather(&path, files)?;
        } else if !is_compressed {
            files.push(path);
        }
    }
    Ok(())
}
