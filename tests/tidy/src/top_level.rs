//! The names at the top of the checkout are fixed: whoever looks for something knows where.
//!
//! **Invariants**
//! - The list is the whole list; dot-files are the tools' own.

#[cfg(test)]
use crate::tree::{none, one, root};

const NAMES: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "appliance",
    "studio",
    "ui",
    "shared",
    "installers",
    "perf",
    "docs",
    "tests",
    // Never committed (.gitignore), but there after a build by hand.
    "target",
];

fn faults<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names
        .into_iter()
        .filter(|name| !name.starts_with('.') && !NAMES.contains(name))
        .map(|name| format!("{name}: no such name at the top; it belongs into one of the folders"))
        .collect()
}

#[test]
fn the_top_holds_only_known_names() {
    let names: Vec<String> = std::fs::read_dir(root())
        .expect("the checkout can be read")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    none(&faults(names.iter().map(String::as_str)));
}

#[test]
fn canary_objects_to_a_new_name() {
    one(&faults(["appliance", ".cargo", "scripts"]), "scripts");
}
