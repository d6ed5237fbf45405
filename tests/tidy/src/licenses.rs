//! Every dependency's license goes with ours, MIT or Apache-2.0.
//!
//! **Invariants**
//! - Of an expression with OR one side must be on the list, of one with AND all must be.

use cargo_metadata::MetadataCommand;

use crate::tree::{none, one, root};

const ALLOWED: &[&str] = &[
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unlicense",
    "CC0-1.0",
    "BSL-1.0",
    "Unicode-3.0",
    // Of single files: a library that is used as it is asks nothing of ours.
    "MPL-2.0",
];

fn faults<'a>(packages: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Vec<String> {
    packages
        .into_iter()
        .filter(|(_, license)| !license.is_some_and(is_allowed))
        .map(|(name, license)| format!("{name}: license {}", license.unwrap_or("not stated")))
        .collect()
}

/// Expressions as they occur: `A OR B`, `A/B`, `A AND B`, `(A OR B) AND C`.
fn is_allowed(expression: &str) -> bool {
    expression.split(" AND ").all(|side| {
        let side = side.trim_matches(['(', ')', ' ']).replace('/', " OR ");
        side.split(" OR ").any(|license| ALLOWED.contains(&license.trim()))
    })
}

#[test]
fn licenses_go_with_ours() {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .other_options(vec!["--locked".to_owned()])
        .exec()
        .expect("cargo metadata");
    let packages = metadata.packages.iter();
    none(&faults(packages.map(|package| (package.name.as_str(), package.license.as_deref()))));
}

#[test]
fn canary_objects_to_other_licenses() {
    none(&faults([("a", Some("MIT/Apache-2.0")), ("b", Some("GPL-3.0 OR MIT"))]));
    none(&faults([("a", Some("(MIT OR Apache-2.0) AND Unicode-3.0"))]));
    one(&faults([("a", Some("GPL-3.0-only"))]), "GPL-3.0-only");
    one(&faults([("a", Some("MIT AND GPL-2.0"))]), "GPL-2.0");
    one(&faults([("a", None)]), "not stated");
}
