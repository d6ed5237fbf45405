//! Plain paths: `$trigger.value`, `$step["scale"].value`, `$item.list[0].name`.
//!
//! They are followed in Rust, in tens of nanoseconds, so that a pipeline of nothing else needs no
//! script runtime at all. What they give is what JavaScript would give (flow's
//! [`millrace_flow::expression`] says how).
//!
//! **Invariants**: a text that is not clearly a plain path is none, and becomes an expression.

use crate::script::Root;
use millrace_flow::Data;
use millrace_flow::expression::{self, Path};

/// A plain path, compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accessor(Path);

impl Accessor {
    /// From a path that flow has recognized.
    #[must_use]
    pub fn new(path: Path) -> Self {
        Self(path)
    }

    /// The root that it starts from.
    #[must_use]
    pub fn root(&self) -> Root<'_> {
        match &self.0.root {
            expression::Root::Trigger => Root::Trigger,
            expression::Root::Item => Root::Item,
            expression::Root::Run => Root::Run,
            expression::Root::Step(name) => Root::Step(name),
            expression::Root::Variable(name) => Root::Variable(name),
        }
    }

    /// Follows the path from what its root holds.
    ///
    /// # Errors
    /// A member of what is not there, for people.
    pub fn follow(&self, root: &Data) -> Result<Data, String> {
        root.follow(&self.0.keys)
            .map_err(|fault| format!("{fault} in `{}`; check that it is there", self.0))
    }
}
