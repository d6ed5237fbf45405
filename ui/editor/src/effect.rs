//! What the page has to do after an event, and what a screen reader says.
//!
//! The editor changes its own document, selection and viewport; what it cannot do itself (open the
//! quick add, fill the clipboard, test a step) it asks for.
//!
//! **Invariants**: [`Said`] carries facts, so that a page can say them in another language; its
//! `Display` is the English sentence.

use crate::action::{Action, Side};
use crate::connect::{Anchor, Misfit};
use millrace_flow::document::Wire;
use std::fmt;

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// The document has changed: validate it, keep the draft.
    Changed,
    /// Say this (`aria-live`).
    Say(Said),
    /// Do this: it is the page's to do.
    Do(Action),
    /// Ask which step to add.
    AskKind(Place),
    /// Open the fields of a step.
    Edit(String),
    /// Put this text into the clipboard.
    Copy(String),
    /// Give the clipboard's text to [`crate::Editor::paste`].
    WantClipboard,
    /// Open the menu of what is selected, at the pointer.
    Menu(crate::geometry::Point),
}

/// Where a new step goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// On the canvas; `None` for beside what it is joined with.
    pub at: Option<[i32; 2]>,
    /// What it is joined with.
    pub join: Join,
}

/// What a new step is joined with.
#[derive(Clone, Debug, PartialEq)]
pub enum Join {
    /// Nothing.
    Nothing,
    /// A port.
    Port(Anchor),
    /// It goes into a wire.
    Wire(Wire),
}

/// What is said.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// The keyboard is at a step.
    At {
        /// What the step is called.
        name: String,
        /// Its kind.
        kind: String,
        /// Its number in reading order, from 1, and of how many.
        number: (usize, usize),
        /// Wires that lead in and out.
        wires: (usize, usize),
    },
    /// So many steps and wires are selected.
    Selected {
        /// Steps.
        steps: usize,
        /// Wires.
        wires: usize,
    },
    /// Steps were moved; where the first one is now.
    Moved {
        /// How many.
        steps: usize,
        /// Where.
        to: [i32; 2],
    },
    /// A step was added.
    Added(String),
    /// So much was removed.
    Removed {
        /// Steps.
        steps: usize,
        /// Wires.
        wires: usize,
    },
    /// A wire was added.
    Connected(Wire),
    /// A wire is being drawn by keys.
    Connecting {
        /// From this step.
        from: String,
        /// And port.
        port: String,
        /// To this step.
        to: String,
        /// Its number among those that fit, from 1, and of how many.
        number: (usize, usize),
    },
    /// Steps were copied.
    Copied(usize),
    /// Steps were pasted.
    Pasted(usize),
    /// A change was taken back.
    Undone(String),
    /// A change was done again.
    Redone(String),
    /// Something else was done; its name.
    Done(String),
    /// What was going on has ended without a change.
    Canceled,
    /// The canvas is seen at this percentage.
    Zoomed(u32),
    /// There is no step on that side.
    NothingThere(Side),
    /// There is nothing to do this with.
    NothingTo(Action),
    /// No step can be joined with this port.
    NoPartner(String),
    /// Ports do not fit.
    Refused(Misfit),
    /// It cannot be done.
    Failed(String),
    /// The pipeline may be looked at only.
    ReadOnly,
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At { name, kind, number: (at, of), wires: (into, out) } => {
                write!(f, "{name}, {kind}, step {at} of {of}, {into} in, {out} out")
            }
            Self::Selected { steps: 0, wires: 0 } => f.write_str("nothing selected"),
            Self::Selected { steps, wires } => {
                write!(f, "{} selected", counted(*steps, *wires))
            }
            Self::Moved { steps, to: [x, y] } => {
                write!(f, "{} moved to {x}, {y}", counted(*steps, 0))
            }
            Self::Added(name) => write!(f, "{name} added"),
            Self::Removed { steps, wires } => write!(f, "{} removed", counted(*steps, *wires)),
            Self::Connected(wire) => {
                write!(f, "{} {} connected to {}", wire.from, wire.port, wire.to)
            }
            Self::Connecting { from, port, to, number: (at, of) } => write!(
                f,
                "from {from}, port {port}, to {to}, {at} of {of}; Enter connects, arrows choose"
            ),
            Self::Copied(steps) => write!(f, "{} copied", counted(*steps, 0)),
            Self::Pasted(steps) => write!(f, "{} pasted", counted(*steps, 0)),
            Self::Undone(name) => write!(f, "undone: {name}"),
            Self::Redone(name) => write!(f, "done again: {name}"),
            Self::Done(name) => f.write_str(name),
            Self::Canceled => f.write_str("canceled"),
            Self::Zoomed(percent) => write!(f, "{percent} %"),
            Self::NothingThere(side) => {
                let side = match side {
                    Side::Left => "to the left",
                    Side::Right => "to the right",
                    Side::Up => "above",
                    Side::Down => "below",
                };
                write!(f, "no step {side}")
            }
            Self::NothingTo(action) => {
                write!(f, "nothing to do: {}", action.spec().name.to_lowercase())
            }
            Self::NoPartner(port) => write!(f, "no step can be connected with port {port}"),
            Self::Refused(misfit) => misfit.fmt(f),
            Self::Failed(message) => f.write_str(message),
            Self::ReadOnly => f.write_str("this pipeline may only be looked at"),
        }
    }
}

/// `3 steps and 1 wire`.
pub(crate) fn counted(steps: usize, wires: usize) -> String {
    let part = |count: usize, word: &str| {
        let plural = if count == 1 { "" } else { "s" };
        format!("{count} {word}{plural}")
    };
    match (steps, wires) {
        (steps, 0) => part(steps, "step"),
        (0, wires) => part(wires, "wire"),
        (steps, wires) => format!("{} and {}", part(steps, "step"), part(wires, "wire")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_it_in_whole_words() {
        let said = Said::Removed { steps: 1, wires: 2 };
        assert_eq!(said.to_string(), "1 step and 2 wires removed");
        assert_eq!(Said::Selected { steps: 0, wires: 1 }.to_string(), "1 wire selected");
        assert_eq!(Said::NothingThere(Side::Up).to_string(), "no step above");
        assert_eq!(Said::NothingTo(Action::Undo).to_string(), "nothing to do: undo");
    }
}
