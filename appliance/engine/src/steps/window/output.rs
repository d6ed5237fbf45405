//! What a closed window gives.
//!
//! `{ key, start, end, time, value, late }` and each aggregate under its name. `value` is the first
//! of them and `time` the window's end, so that publishing it says what and when it was.
//!
//! **Invariants**: an aggregate that nothing was there for is null.

use super::grid::Span;
use super::tally::Tally;
use crate::compile::{CompileFault, Compiler};
use millrace_flow::{Data, Map};
use millrace_model::Timestamp;
use std::sync::Arc;

type Aggregate = fn(&Tally) -> Data;

const AGGREGATES: [(&str, Aggregate); 19] = [
    ("mean", Tally::mean),
    ("min", Tally::min),
    ("max", Tally::max),
    ("sum", Tally::sum),
    ("count", Tally::count),
    ("first", Tally::first),
    ("last", Tally::last),
    ("stddev", Tally::deviation),
    ("range", Tally::range),
    ("delta", Tally::delta),
    ("median", |tally| tally.rank(0.5)),
    ("p01", |tally| tally.rank(0.01)),
    ("p05", |tally| tally.rank(0.05)),
    ("p10", |tally| tally.rank(0.1)),
    ("p25", |tally| tally.rank(0.25)),
    ("p75", |tally| tally.rank(0.75)),
    ("p90", |tally| tally.rank(0.9)),
    ("p95", |tally| tally.rank(0.95)),
    ("p99", |tally| tally.rank(0.99)),
];

/// The field `aggregates`.
pub(super) struct Aggregates(Vec<(&'static str, Aggregate)>);

impl Aggregates {
    pub(super) fn compile(compiler: &Compiler<'_>) -> Result<Self, CompileFault> {
        let mut found = Vec::new();
        for name in compiler.texts("aggregates")? {
            let known = AGGREGATES.iter().find(|(known, _)| *known == name);
            let unknown = || compiler.fault("aggregates", format!("`{name}` is not known"));
            found.push(*known.ok_or_else(unknown)?);
        }
        if found.is_empty() {
            found.extend(AGGREGATES.first());
        }
        Ok(Self(found))
    }

    /// Whether one of them asks how the numbers are spread, which takes more to keep.
    pub(super) fn need_ranks(&self) -> bool {
        self.0.iter().any(|(name, _)| *name == "median" || name.starts_with('p'))
    }

    /// The datum of a closed window.
    pub(super) fn output(&self, key: &str, window: Span, tally: &Tally, late: i64) -> Data {
        let time = |nanos: i64| Data::Text(Timestamp(nanos).to_rfc3339().into());
        let mut map = Map::new();
        if !key.is_empty() {
            map.set("key", Data::Text(key.into()));
        }
        map.set("start", time(window.start));
        map.set("end", time(window.end));
        map.set("time", time(window.end));
        if let Some((_, aggregate)) = self.0.first() {
            map.set("value", aggregate(tally));
        }
        for (name, aggregate) in &self.0 {
            map.set(*name, aggregate(tally));
        }
        map.set("late", Data::Int(late));
        Data::Map(Arc::new(map))
    }
}
