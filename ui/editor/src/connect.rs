//! Which ports may be joined, and why not.
//!
//! Asked while a wire is being drawn, so that ports that cannot take it fade: [`Candidates`] walks
//! the graph once when the wire leaves its port, and each port under the pointer is one look-up.
//! The rules are those that `flow::validate` would complain about afterwards.
//!
//! **Invariants**: a wire that is allowed here brings no fault of the graph that was not there.

use crate::reach::{Direction, reach};
use crate::shape;
use millrace_flow::Document;
use millrace_flow::document::Wire;
use millrace_flow::validate::WIRES_MAX;
use std::collections::BTreeSet;
use thiserror::Error;

/// Why two ports cannot be joined.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Misfit {
    /// A trigger starts runs.
    #[error("`{0}` is a trigger, which has no input")]
    Trigger(String),
    /// From a step to itself.
    #[error("a step cannot be wired to itself")]
    Itself,
    /// The wire would close a circle.
    #[error("`{0}` leads here already: steps would lead back to themselves")]
    Cycle(String),
    /// It is there.
    #[error("this wire is there already")]
    Exists,
    /// No such step or port.
    #[error("`{step}` has no port `{port}`")]
    NoPort {
        /// The step.
        step: String,
        /// The port.
        port: String,
    },
    /// The document is full.
    #[error("a pipeline has {WIRES_MAX} wires at most")]
    TooMany,
    /// Two outputs or two inputs.
    #[error("a wire joins an output and an input")]
    SameSide,
}

/// The port from which a wire is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// An output; the wire looks for an input.
    Output {
        /// The step.
        step: String,
        /// The port.
        port: String,
    },
    /// An input; the wire looks for an output.
    Input {
        /// The step.
        step: String,
    },
}

impl Anchor {
    /// The step that it is at.
    #[must_use]
    pub fn step(&self) -> &str {
        match self {
            Self::Output { step, .. } | Self::Input { step } => step,
        }
    }
}

/// What a wire that is being drawn may be joined to.
#[derive(Clone, Debug)]
pub struct Candidates {
    anchor: Anchor,
    /// Steps that a wire from or to the anchor would close a circle with.
    circle: BTreeSet<String>,
}

impl Candidates {
    /// For a wire from this port.
    #[must_use]
    pub fn new(document: &Document, anchor: Anchor) -> Self {
        let direction = match &anchor {
            Anchor::Output { .. } => Direction::Upstream,
            Anchor::Input { .. } => Direction::Downstream,
        };
        let circle = reach(document, [anchor.step().to_owned()], direction);
        Self { anchor, circle }
    }

    /// Where the wire begins.
    #[must_use]
    pub const fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// The wire that joins the anchor and a step; to its port if the anchor is an input.
    ///
    /// # Errors
    /// Why they cannot be joined.
    pub fn wire(&self, document: &Document, step: &str, port: &str) -> Result<Wire, Misfit> {
        let wire = match &self.anchor {
            Anchor::Output { step: from, port } => {
                Wire { from: from.clone(), port: port.clone(), to: step.to_owned() }
            }
            Anchor::Input { step: to } => {
                Wire { from: step.to_owned(), port: port.to_owned(), to: to.clone() }
            }
        };
        check_ends(document, &wire)?;
        if self.circle.contains(step) {
            return Err(Misfit::Cycle(wire.to));
        }
        Ok(wire)
    }
}

/// Whether a wire may be added.
///
/// # Errors
/// Why not.
pub fn check(document: &Document, wire: &Wire) -> Result<(), Misfit> {
    let anchor = Anchor::Output { step: wire.from.clone(), port: wire.port.clone() };
    Candidates::new(document, anchor).wire(document, &wire.to, "").map(drop)
}

fn check_ends(document: &Document, wire: &Wire) -> Result<(), Misfit> {
    let no_port = || Misfit::NoPort { step: wire.from.clone(), port: wire.port.clone() };
    let from = document.steps.get(&wire.from).ok_or_else(no_port)?;
    if wire.from == wire.to {
        return Err(Misfit::Itself);
    }
    if !shape::ports(document, &wire.from, from).contains(&wire.port) {
        return Err(no_port());
    }
    match document.steps.get(&wire.to) {
        None => return Err(Misfit::NoPort { step: wire.to.clone(), port: "in".into() }),
        Some(to) if to.is_trigger() => return Err(Misfit::Trigger(wire.to.clone())),
        Some(_) => {}
    }
    if document.wires.binary_search(wire).is_ok() {
        return Err(Misfit::Exists);
    }
    if document.wires.len() >= WIRES_MAX {
        return Err(Misfit::TooMany);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{document, wire};

    #[test]
    fn tells_why_ports_do_not_fit() {
        let document = document("t:manual u:manual a:condition b:map | t-a a.true-b");
        let why = |text| check(&document, &wire(text)).unwrap_err();
        assert_eq!(why("t-u"), Misfit::Trigger("u".into()));
        assert_eq!(why("b-b"), Misfit::Itself);
        assert_eq!(why("b-a"), Misfit::Cycle("a".into()));
        assert_eq!(why("a.true-b"), Misfit::Exists);
        assert_eq!(why("a-b"), Misfit::NoPort { step: "a".into(), port: "out".into() });
        assert_eq!(why("gone-b"), Misfit::NoPort { step: "gone".into(), port: "out".into() });
        assert_eq!(check(&document, &wire("a.false-b")), Ok(()));
        assert_eq!(check(&document, &wire("u-b")), Ok(()));
    }

    #[test]
    fn a_wire_drawn_backwards_obeys_the_same_rules() {
        let document = document("t:manual a:map b:map | t-a a-b");
        let anchor = Anchor::Input { step: "a".into() };
        let candidates = Candidates::new(&document, anchor);
        assert_eq!(candidates.wire(&document, "b", "out"), Err(Misfit::Cycle("a".into())));
        assert_eq!(candidates.wire(&document, "t", "out"), Err(Misfit::Exists));
        let anchor = Anchor::Input { step: "b".into() };
        let candidates = Candidates::new(&document, anchor);
        assert_eq!(candidates.wire(&document, "t", "out"), Ok(wire("t-b")));
    }

    #[test]
    fn a_full_document_takes_no_further_wire() {
        let mut document = document("a:map b:map");
        document.wires = (0..WIRES_MAX).map(|n| wire(&format!("x.{n}-y"))).collect();
        document.wires.sort();
        assert_eq!(check(&document, &wire("a-b")), Err(Misfit::TooMany));
    }
}
