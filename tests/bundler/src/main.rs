//! `millrace-bundler`: makes the studio's bundle, a folder that any web server could serve.
//!
//! `cargo xtask ui` compiles `ui/app` for wasm32 and calls this program, which is a package of its
//! own so that nobody who works on the appliance compiles wasm-bindgen. The bundle is `index.html`
//! and `assets/<version>/...`, where the version is a hash of everything in that folder: so those
//! files can be cached for ever, and a new bundle never mixes with an old one.
//!
//! **Invariants**
//! - The output folder is replaced as a whole, at the end: it holds one finished bundle or none.
//! - A release bundle over its budget is refused.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for a person at a terminal"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "it writes build products, which nobody's data depends on"
)]

mod code;
mod compress;
mod page;
mod styles;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

const USAGE: &str = "usage: millrace-bundler dev|release CODE.wasm CHECKOUT ISLANDS|- OUTPUT";

/// What is to be made of what.
struct Order {
    release: bool,
    /// The compiled app.
    code: PathBuf,
    /// The checkout, for style sheets and the page.
    checkout: PathBuf,
    /// The folder with the bundled JavaScript islands, if there are any.
    islands: Option<PathBuf>,
    /// Where the bundle goes.
    output: PathBuf,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match order(&arguments).and_then(|order| bundle(&order)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bundler: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn order(arguments: &[String]) -> Result<Order> {
    let [profile, code, checkout, islands, output] = arguments else { bail!(USAGE) };
    let release = match profile.as_str() {
        "release" => true,
        "dev" => false,
        _ => bail!(USAGE),
    };
    Ok(Order {
        release,
        code: PathBuf::from(code),
        checkout: PathBuf::from(checkout),
        islands: (islands != "-").then(|| PathBuf::from(islands)),
        output: PathBuf::from(output),
    })
}

fn bundle(order: &Order) -> Result<()> {
    let unfinished = beside(&order.output, "unfinished")?;
    remove(&unfinished)?;
    let assets = unfinished.join("assets");
    let unnamed = assets.join("unnamed");
    fs::create_dir_all(&unnamed).with_context(|| format!("create {}", unnamed.display()))?;
    code::generate(&order.code, &unnamed, order.release)?;
    if let Some(islands) = &order.islands {
        copy_all(islands, &unnamed.join("islands"))?;
    }
    let style = styles::gather(&order.checkout)?;
    fs::write(unnamed.join("style.css"), style).context("write the style sheet")?;
    let own = order.checkout.join("ui/app/page");
    for name in ["start.js", "icon.svg"] {
        fs::copy(own.join(name), unnamed.join(name)).with_context(|| format!("copy {name}"))?;
    }
    let version = page::version(&unnamed)?;
    fs::rename(&unnamed, assets.join(&version)).context("name the assets by their version")?;
    let text = fs::read_to_string(own.join("index.html")).context("read index.html")?;
    fs::write(unfinished.join("index.html"), page::fill(&text, &version)?)
        .context("write index.html")?;
    let sizes = compress::all(&unfinished, order.release)?;
    println!("{}", sizes.shown());
    if order.release {
        sizes.hold_budget()?;
    }
    let old = beside(&order.output, "old")?;
    remove(&old)?;
    if order.output.exists() {
        fs::rename(&order.output, &old).context("set the old bundle aside")?;
    }
    fs::rename(&unfinished, &order.output).context("put the new bundle into its place")?;
    remove(&old)?;
    println!("bundle {version} in {}", order.output.display());
    Ok(())
}

/// A folder beside another, of the same file system, so that it can be renamed.
fn beside(folder: &Path, word: &str) -> Result<PathBuf> {
    let name = folder.file_name().context("the output needs a name")?.to_string_lossy();
    Ok(folder.with_file_name(format!("{name}.{word}")))
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("remove {}", folder.display()))?;
    }
    Ok(())
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("create {}", to.display()))?;
    for path in files(from)? {
        let below = path.strip_prefix(from).context("stay in the folder")?;
        let aim = to.join(below);
        if let Some(folder) = aim.parent() {
            fs::create_dir_all(folder).context("create a folder of islands")?;
        }
        fs::copy(&path, &aim).with_context(|| format!("copy {}", path.display()))?;
    }
    Ok(())
}

/// All files below a folder, sorted by path, so that a bundle is the same each time.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("read {}", folder.display()))?;
        for entry in entries {
            let path = entry.with_context(|| format!("read {}", folder.display()))?.path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_dash_for_no_islands() {
        let words = ["dev", "a.wasm", "there", "-", "web"].map(str::to_owned);
        let order = order(&words).expect("a good order");
        assert!(!order.release);
        assert_eq!(order.islands, None);
    }

    #[test]
    fn says_how_it_is_used() {
        let error = order(&["fast".to_owned()]).err().expect("not an order");
        assert!(error.to_string().starts_with("usage:"), "{error}");
    }
}
