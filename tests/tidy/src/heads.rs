//! Every Rust file starts with what it is.
//!
//! **Invariants**
//! - A head is a sentence, not a placeholder.

use crate::tree::File;
#[cfg(test)]
use crate::tree::{files, none, one};

/// Shorter than this says nothing.
const HEAD_CHARACTERS_MIN: usize = 6;
/// What a skeleton writes.
const PLACEHOLDER: &str = "to be filled";

fn faults(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let first = file.text.lines().next().unwrap_or_default();
        match first.strip_prefix("//!") {
            None => {
                faults.push(format!("{}: does not start with `//!`: say what it is", file.path));
            }
            Some(head)
                if head.trim().len() < HEAD_CHARACTERS_MIN
                    || head.to_lowercase().contains(PLACEHOLDER) =>
            {
                faults.push(format!("{}: its head says too little: `{first}`", file.path));
            }
            Some(_) => {}
        }
    }
    faults
}

#[test]
fn every_file_says_what_it_is() {
    none(&faults(files()));
}

#[test]
fn canary_objects_to_a_file_without_head() {
    one(&faults(&[File::new("a/b.rs", "use std::fs;\n")]), "does not start");
    one(&faults(&[File::new("a/b.rs", "//! To be filled.\n")]), "too little");
    one(&faults(&[File::new("a/b.rs", "")]), "does not start");
    none(&faults(&[File::new("a/b.rs", "//! The noun that this file is about.\n")]));
}
