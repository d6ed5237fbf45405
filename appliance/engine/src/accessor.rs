//! Plain paths: `$trigger.value`, `$step["scale"].value`, `$item.list[0].name`.
//!
//! They are followed in Rust, in tens of nanoseconds, so that a pipeline of nothing else needs no
//! script runtime at all.

/// A plain path, compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accessor;
