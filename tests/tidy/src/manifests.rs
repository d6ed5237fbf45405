//! Manifests: every crate says what it is and obeys the workspace's lints; no dependency brings
//! features that nobody asked for.
//!
//! **Invariants**
//! - Judged on the text of the manifests: what cargo merges into its metadata is not what was written.

use crate::tree::File;
#[cfg(test)]
use crate::tree::{files, none, one};

fn faults(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files {
        if file.path == "Cargo.toml" {
            workspace(file, &mut faults);
        } else if file.path.ends_with("/Cargo.toml") {
            package(file, &mut faults);
        }
    }
    faults
}

fn workspace(file: &File, faults: &mut Vec<String>) {
    let entries = section(&file.text, "workspace.dependencies");
    if entries.is_empty() {
        faults.push("Cargo.toml: no [workspace.dependencies]".to_owned());
    }
    for line in entries {
        let Some((name, value)) = line.split_once('=') else { continue };
        let name = name.trim();
        if value.contains("path =") {
            continue;
        }
        if !value.contains("default-features = false") {
            faults.push(format!(
                "Cargo.toml: {name}: default-features = false; the crate that needs one names it"
            ));
        }
        if ["git =", "registry =", "\"*\""].iter().any(|word| value.contains(word)) {
            faults.push(format!("Cargo.toml: {name}: a version of the registry, pinned"));
        }
    }
}

fn package(file: &File, faults: &mut Vec<String>) {
    let package = section(&file.text, "package");
    let described = package.iter().any(|line| {
        line.strip_prefix("description")
            .is_some_and(|rest| rest.trim_start_matches([' ', '=', '"']).len() > 10)
    });
    if !described {
        faults.push(format!("{}: has no description", file.path));
    }
    for key in ["version", "edition", "rust-version", "license", "publish"] {
        if !package.contains(&format!("{key}.workspace = true").as_str()) {
            faults.push(format!("{}: write `{key}.workspace = true`", file.path));
        }
    }
    if !section(&file.text, "lints").contains(&"workspace = true") {
        faults.push(format!("{}: write `[lints]` and `workspace = true`", file.path));
    }
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        for line in section(&file.text, kind) {
            let from_workspace =
                line.contains(".workspace = true") || line.contains("workspace = true");
            if line.contains('=') && !from_workspace {
                let name = line.split(['=', ' ', '.']).next().unwrap_or_default();
                faults.push(format!("{}: {name}: take it from the workspace", file.path));
            }
        }
    }
}

/// The lines of `[name]` without comments and blank ones.
fn section<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let head = format!("[{name}]");
    text.lines()
        .map(str::trim)
        .skip_while(|line| *line != head)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

#[test]
fn manifests_follow_the_workspace() {
    none(&faults(files()));
}

#[cfg(test)]
const GOOD: &str = "[package]\nname = \"x\"\ndescription = \"What it is for.\"\nversion.workspace = true\n\
    edition.workspace = true\nrust-version.workspace = true\nlicense.workspace = true\n\
    publish.workspace = true\n[lints]\nworkspace = true\n[dependencies]\nserde.workspace = true\n";

#[test]
fn canary_objects_to_a_manifest_of_its_own_mind() {
    let forged =
        |from: &str, to: &str| faults(&[File::new("a/x/Cargo.toml", &GOOD.replace(from, to))]);
    none(&forged("", ""));
    one(&forged("description = \"What it is for.\"\n", ""), "no description");
    one(&forged("[lints]\nworkspace = true\n", ""), "[lints]");
    one(&forged("license.workspace = true", "license = \"MIT\""), "license.workspace");
    one(&forged("serde.workspace = true", "serde = \"1\""), "serde: take it from the workspace");
}

#[test]
fn canary_objects_to_default_features() {
    let forged = |line: &str| {
        faults(&[File::new("Cargo.toml", &format!("[workspace.dependencies]\n{line}\n"))])
    };
    one(&forged("serde = \"1\""), "serde: default-features");
    one(&forged("x = { git = \"there\", default-features = false }"), "a version of the registry");
    none(&forged("serde = { version = \"1\", default-features = false }"));
    one(&faults(&[File::new("Cargo.toml", "[workspace]\n")]), "no [workspace.dependencies]");
}
