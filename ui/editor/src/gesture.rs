//! What is going on between the first event and the last: nothing, a drag, a wire, a marquee.
//!
//! **Invariants**: a gesture holds everything that is needed to end without a trace.

use crate::connect::{Candidates, Misfit};
use crate::geometry::{Point, Rect};
use crate::input::Held;
use crate::scene::Hit;
use crate::selection::Selection;
use millrace_flow::document::Wire;
use std::collections::BTreeSet;

/// How far the pointer goes before a press is a drag, in pixels of the screen.
pub const DRAG_MIN: f64 = 4.0;

/// What is going on.
#[derive(Clone, Debug, Default)]
pub enum Gesture {
    /// Nothing.
    #[default]
    None,
    /// A button is down and has not moved yet.
    Press {
        /// Where, on the screen.
        at: Point,
        /// What lies there.
        hit: Hit,
        /// What was held down.
        held: Held,
    },
    /// The canvas moves along.
    Pan {
        /// Where the pointer was last, on the screen.
        last: Point,
    },
    /// Steps move along.
    Drag {
        /// Which.
        steps: BTreeSet<String>,
        /// Where the pointer began, on the canvas.
        from: Point,
        /// Where the step that is held lay.
        corner: Point,
        /// The way so far, snapped.
        way: Point,
        /// The wire that a single loose step would be put into.
        splice: Option<Wire>,
        /// What was selected before.
        before: Selection,
    },
    /// A wire is drawn.
    Connect {
        /// From where, and what fits.
        candidates: Candidates,
        /// The port that it begins at, on the canvas.
        from: Point,
        /// Where the pointer is, on the canvas.
        to: Point,
        /// What is under the pointer: the wire that would be, or why not.
        over: Option<Result<Wire, Misfit>>,
    },
    /// A rectangle selects.
    Marquee {
        /// Where it begins, on the canvas.
        from: Point,
        /// Where the pointer is, on the canvas.
        to: Point,
        /// What was selected before.
        before: Selection,
        /// Whether that stays selected.
        is_adding: bool,
    },
    /// A wire is drawn by keys.
    Choose(Choice),
}

/// A wire that is drawn by keys.
#[derive(Clone, Debug)]
pub struct Choice {
    /// From which step.
    pub step: String,
    /// Its ports.
    pub ports: Vec<String>,
    /// Which of them.
    pub port: usize,
    /// The steps that fit, the nearest first.
    pub targets: Vec<String>,
    /// Which of them.
    pub target: usize,
}

impl Choice {
    /// The chosen port.
    #[must_use]
    pub fn port(&self) -> &str {
        self.ports.get(self.port).map_or("", String::as_str)
    }

    /// The chosen step.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.targets.get(self.target).map(String::as_str)
    }
}

impl Gesture {
    /// Whether nothing is going on.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// How far a step is from its place for now.
    #[must_use]
    pub fn way_of(&self, step: &str) -> Option<Point> {
        match self {
            Self::Drag { steps, way, .. } if steps.contains(step) => Some(*way),
            _ => None,
        }
    }

    /// The rectangle that selects, on the canvas.
    #[must_use]
    pub fn marquee(&self) -> Option<Rect> {
        match self {
            Self::Marquee { from, to, .. } => Some(Rect::around(*from, *to)),
            _ => None,
        }
    }
}
