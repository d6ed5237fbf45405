//! The table of all classes, in the order in which they are measured and shown.
//!
//! The guaranteed rate comes first: later classes take a share of it.
//!
//! **Invariants**
//! - Every class of the reference and every one that it says it does not cover has a line here; one
//!   whose feature the product has not is run all the same, and its scenario says so.

mod beyond;
mod harm;
mod peers;
mod reference;

use super::class::Class;

/// The class that takes `--node-red`.
pub(crate) const NODE_RED: &str = "node-red";

/// All classes.
pub(crate) fn all() -> impl Iterator<Item = &'static Class> {
    reference::CLASSES.iter().chain(beyond::CLASSES).chain(harm::CLASSES).chain(peers::CLASSES)
}

/// Where a class stands; one that is no longer in the table comes last.
pub(crate) fn place(name: &str) -> usize {
    all().position(|class| class.name == name).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
