//! Files that fit into a head: 600 lines are refused, tests and generated code excepted.
//!
//! **Invariants**
//! - The list of exceptions only shrinks: an entry that is no longer needed, or could be lower, is a
//!   fault itself.

use crate::tree::File;
#[cfg(test)]
use crate::tree::{files, none, one};

const LINES_MAX: usize = 600;
/// `docs/architecture.md` is a map, not a territory.
const ARCHITECTURE_LINES_MAX: usize = 500;

/// Path and lines of what was longer when the rule came. No entry may be added or raised.
const RATCHET: &[(&str, usize)] = &[];

fn faults(files: &[File], ratchet: &[(&str, usize)]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files {
        let lines = file.text.lines().count();
        if file.path == "docs/architecture.md" && lines > ARCHITECTURE_LINES_MAX {
            faults.push(format!("{}: {lines} lines, {ARCHITECTURE_LINES_MAX} at most", file.path));
        }
        if !file.is_rust() || file.is_test() {
            continue;
        }
        let granted = ratchet.iter().find(|(path, _)| *path == file.path).map(|(_, lines)| *lines);
        match granted {
            Some(granted) if lines > granted => faults.push(format!(
                "{}: {lines} lines; its exception allows {granted} and never grows",
                file.path
            )),
            Some(granted) if lines < granted => faults.push(format!(
                "{}: {lines} lines now: lower its exception from {granted}, or remove it",
                file.path
            )),
            None if lines > LINES_MAX => faults.push(format!(
                "{}: {lines} lines, {LINES_MAX} at most: split it by role",
                file.path
            )),
            _ => {}
        }
    }
    for (path, _) in ratchet {
        if !files.iter().any(|file| file.path == *path) {
            faults.push(format!("{path}: is gone: remove its exception"));
        }
    }
    faults
}

#[test]
fn files_fit_into_a_head() {
    none(&faults(files(), RATCHET));
}

fn long(path: &str, lines: usize) -> [File; 1] {
    [File::new(path, &"//\n".repeat(lines))]
}

#[test]
fn canary_objects_to_a_long_file() {
    one(&faults(&long("appliance/x/src/a.rs", 601), &[]), "split it by role");
    none(&faults(&long("appliance/x/src/a.rs", 600), &[]));
    none(&faults(&long("appliance/x/src/a/tests.rs", 900), &[]));
    one(&faults(&long("docs/architecture.md", 501), &[]), "500 at most");
}

#[test]
fn canary_lets_exceptions_only_shrink() {
    let path = "appliance/x/src/a.rs";
    none(&faults(&long(path, 700), &[(path, 700)]));
    one(&faults(&long(path, 701), &[(path, 700)]), "never grows");
    one(&faults(&long(path, 650), &[(path, 700)]), "lower its exception");
    one(&faults(&[], &[(path, 700)]), "is gone");
}
