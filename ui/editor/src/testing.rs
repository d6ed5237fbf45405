//! Documents for tests, in short: `t:manual a:map@40,60 | t-a a.true-b`.
//!
//! Steps are `id:kind` with an optional place, wires `from-to` or `from.port-to`.
//!
//! **Invariants**: what cannot be read fails the test.

use millrace_flow::Document;
use millrace_flow::document::{FORMAT, Wire};
use std::collections::BTreeMap;

/// The document that a short text means.
pub(crate) fn document(text: &str) -> Document {
    let (steps, wires) = text.split_once('|').unwrap_or((text, ""));
    let mut document = Document {
        millrace: FORMAT,
        name: "test".into(),
        description: String::new(),
        settings: millrace_flow::document::Settings::default(),
        steps: BTreeMap::new(),
        wires: Vec::new(),
        cases: Vec::new(),
        layout: BTreeMap::new(),
    };
    for step in steps.split_whitespace() {
        let (id, kind) = step.split_once(':').unwrap();
        let (kind, place) =
            kind.split_once('@').map_or((kind, None), |(kind, at)| (kind, Some(at)));
        document.steps.insert(id.to_owned(), crate::change::new_step(kind));
        if let Some((x, y)) = place.and_then(|place| place.split_once(',')) {
            document.layout.insert(id.to_owned(), [x.parse().unwrap(), y.parse().unwrap()]);
        }
    }
    document.wires = wires.split_whitespace().map(wire).collect();
    document.wires.sort();
    document
}

/// The wire that a short text means.
pub(crate) fn wire(text: &str) -> Wire {
    let (from, to) = text.split_once('-').unwrap();
    let (from, port) = from.split_once('.').unwrap_or((from, "out"));
    Wire { from: from.into(), port: port.into(), to: to.into() }
}
