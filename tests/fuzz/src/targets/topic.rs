//! Topic names, tag paths and filters.
//!
//! The input is up to three lines: a name and two filters.
//!
//! **Invariants** held: a tag path is a filter that matches itself alone; what a covered filter
//! matches is matched by the one that covers it; the place of a topic is made of its own text.

use super::{bytes_of, ensure};
use crate::runner::Target;
use millrace_model::Filter;
use millrace_model::topic::{self, Place};

pub(super) const TARGET: Target = Target {
    name: "topic",
    corpus,
    words: &[
        b"/",
        b"+",
        b"#",
        b"\n",
        b"$SYS",
        b"_ingress/",
        b"_verdict/",
        b"mr/v1/main/",
        b"/+/",
        b"/#",
        b"\0",
        b"\xc3\xa4",
        b"a",
        b"//",
    ],
    check,
};

fn corpus() -> Vec<Vec<u8>> {
    bytes_of(&[
        "mr/v1/main/_ingress/c4/press-4/temperature\nmr/v1/+/_ingress/#\nmr/v1/main/_ingress/+/press-4/#",
        "mr/v1/main/press-4/t\n#\n+/+/main/#",
        "press-4/t\npress-4/#\npress-4/+",
        "$SYS/load\n$SYS/#\n+/load",
        "a\na/#\na",
        "mr/v1/main/_verdict/c1/x\n+/+\n/",
    ])
}

fn check(input: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(()) };
    let mut lines = text.split('\n');
    let name = lines.next().unwrap_or_default();
    check_place(name)?;
    if topic::check_path(name).is_ok() {
        ensure(topic::check_name(name).is_ok(), "a path that is no topic name")?;
        let own =
            Filter::new(name).map_err(|error| format!("a path that is no filter: {error}"))?;
        ensure(own.matches(name) && own.covers(&own), "a path does not match itself")?;
    }
    let mut filters = lines.map(Filter::new);
    let (Some(Ok(outer)), Some(Ok(inner))) = (filters.next(), filters.next()) else {
        return Ok(());
    };
    ensure(Filter::new(outer.as_str()).as_ref() == Ok(&outer), "a filter changed")?;
    if outer.covers(&inner) && topic::check_name(name).is_ok() && inner.matches(name) {
        ensure(outer.matches(name), "a filter covers more than it matches")?;
    }
    Ok(())
}

fn check_place(name: &str) -> Result<(), String> {
    let is_own = match topic::place("mr/v1", name) {
        Place::Inbox { workspace, client, path } => {
            format!("mr/v1/{workspace}/_ingress/{client}/{path}") == name
        }
        Place::Live { workspace, path } => format!("mr/v1/{workspace}/{path}") == name,
        Place::Verdict { workspace, client } => {
            name.starts_with(&format!("mr/v1/{workspace}/_verdict/{client}"))
        }
        Place::Reserved => name.starts_with("mr/v1"),
        Place::Plain => true,
    };
    ensure(is_own, "a topic's place is made of other text")
}
