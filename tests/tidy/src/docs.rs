//! The documents keep up with the crates: each crate is on the map, each decision has its form.
//!
//! **Invariants**
//! - A crate that is not in `docs/architecture.md` does not exist for a newcomer, so it may not exist.

use std::collections::BTreeMap;

use crate::tree::File;
#[cfg(test)]
use crate::tree::{files, none, one};

const MAP: &str = "docs/architecture.md";
const DECISIONS: &str = "docs/decisions";
const DECISION_PARTS: &[&str] = &["## Context", "## Decision", "## Consequences"];

fn faults(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    let map = files.iter().find(|file| file.path == MAP).map_or("", |file| &file.text);
    for file in files {
        let Some(folder) = file.path.strip_suffix("/Cargo.toml") else { continue };
        if !map.contains(&format!("`{folder}`")) {
            faults.push(format!("{MAP}: does not name `{folder}`"));
        }
    }
    let mut numbers = BTreeMap::<&str, &str>::new();
    for file in files.iter().filter(|file| file.is_in(DECISIONS)) {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        let number = name.get(..4).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let (Some(number), true) = (number, file.is_markdown()) else {
            faults.push(format!("{}: decisions are named NNNN-what.md", file.path));
            continue;
        };
        if let Some(other) = numbers.insert(number, &file.path) {
            faults.push(format!("{}: has the number of {other}", file.path));
        }
        for part in DECISION_PARTS {
            if !file.text.lines().any(|line| line == *part) {
                faults.push(format!("{}: has no `{part}`", file.path));
            }
        }
    }
    faults
}

#[test]
fn documents_keep_up() {
    none(&faults(files()));
}

#[test]
fn canary_objects_to_a_crate_that_is_not_on_the_map() {
    let files = [
        File::new(MAP, "`appliance/a` does this"),
        File::new("appliance/a/Cargo.toml", ""),
        File::new("appliance/b/Cargo.toml", ""),
    ];
    one(&faults(&files), "does not name `appliance/b`");
}

#[test]
fn canary_objects_to_a_decision_without_form() {
    let good = "# A\n## Context\n## Decision\n## Consequences\n";
    let one_of = |path: &str, text: &str| faults(&[File::new(path, text)]);
    none(&one_of("docs/decisions/0001-a.md", good));
    one(
        &one_of("docs/decisions/0001-a.md", &good.replace("## Decision\n", "")),
        "no `## Decision`",
    );
    one(&one_of("docs/decisions/first.md", good), "NNNN-what.md");
    let twice =
        [File::new("docs/decisions/0001-a.md", good), File::new("docs/decisions/0001-b.md", good)];
    one(&faults(&twice), "has the number of docs/decisions/0001-a.md");
}
