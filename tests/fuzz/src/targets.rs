//! What is fuzzed; one file per parser.
//!
//! **Invariants**: every target of [`ALL`] is run by the tests.

mod codec;
mod flow;
mod journal;
mod payload;
mod record;
mod topic;

use crate::runner::Target;

/// All targets.
pub const ALL: [Target; 11] = [
    payload::TARGET,
    record::RECORD,
    record::DEFINITION,
    record::LEDGER,
    topic::TARGET,
    codec::STREAM,
    codec::CONNECT,
    journal::TARGET,
    flow::DOCUMENT,
    flow::EXPRESSION,
    flow::DATA,
];

/// Fails with a sentence unless something holds.
fn ensure(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

fn bytes_of(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
