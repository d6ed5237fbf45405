//! `lab page SET.json... --out docs/results`: the results page, written from result sets.
//!
//! Markdown and SVG curves, all of it by this program, all figures from the sets. Several sets of
//! one build, machine and profile are put together first; each class shows its own date.
//!
//! **Invariants**
//! - The same sets give the same bytes: nothing of the clock or of the machine that writes the page
//!   is in it.
//! - A class without figures stands there with its reason.
//! - Only files of the page's own kind are written; curves of classes that have none any more are
//!   removed.

mod markdown;
mod svg;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;

use crate::all::table;
use crate::output;
use crate::set::Set;

/// Folder of the curves, below the page's.
const CURVES: &str = "curves";

/// Options of `lab page` and `lab merge`.
#[derive(Clone, Debug, Args)]
pub(crate) struct PageOptions {
    /// Result sets of one build, one machine and one profile.
    #[arg(required = true)]
    sets: Vec<PathBuf>,
    /// Folder of the page.
    #[arg(long, value_name = "FOLDER", default_value = "docs/results")]
    out: PathBuf,
}

/// Options of `lab merge`.
#[derive(Clone, Debug, Args)]
pub(crate) struct MergeOptions {
    /// Result sets of one build, one machine and one profile.
    #[arg(required = true)]
    sets: Vec<PathBuf>,
    /// The set that they are put together in.
    #[arg(long, value_name = "FILE")]
    json: PathBuf,
}

/// Writes the page.
pub(crate) fn run(options: &PageOptions) -> Result<ExitCode> {
    let set = together(&options.sets)?;
    let written = write(&set, &options.out)?;
    output::say(&format!("{}: {written} files", options.out.display()));
    Ok(ExitCode::SUCCESS)
}

/// Puts sets together.
pub(crate) fn merge(options: &MergeOptions) -> Result<ExitCode> {
    let set = together(&options.sets)?;
    set.write(&options.json)?;
    output::say(&format!("{}: {} classes", options.json.display(), set.rows.len()));
    Ok(ExitCode::SUCCESS)
}

fn together(files: &[PathBuf]) -> Result<Set> {
    let (first, rest) = files.split_first().context("name a result set")?;
    let mut set = Set::read(first)?;
    for file in rest {
        let other = Set::read(file)?;
        set.merge(other)
            .with_context(|| format!("put {} together with {}", file.display(), first.display()))?;
    }
    set.rows.sort_by_key(|row| table::place(&row.class));
    Ok(set)
}

/// Writes all files of the page; gives their number.
fn write(set: &Set, folder: &Path) -> Result<usize> {
    let curves = folder.join(CURVES);
    fs::create_dir_all(&curves).with_context(|| format!("create {}", curves.display()))?;
    remove_curves(&curves)?;
    let mut count = 1;
    for row in &set.rows {
        if let Some(curve) = &row.curve {
            let picture = svg::draw(&row.title, curve);
            put(&curves.join(format!("{}.svg", row.class)), &picture)?;
            count += 1;
        }
    }
    put(&folder.join("README.md"), &markdown::page(set))?;
    Ok(count)
}

/// Removes the curves of an earlier page.
fn remove_curves(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("look into {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "svg") {
            fs::remove_file(&path).with_context(|| format!("remove {}", path.display()))?;
        }
    }
    Ok(())
}

fn put(file: &Path, text: &str) -> Result<()> {
    File::create(file)
        .and_then(|mut out| out.write_all(text.as_bytes()))
        .with_context(|| format!("write {}", file.display()))
}

#[cfg(test)]
mod tests;
