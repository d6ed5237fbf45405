//! What a person does, in plain types: pointer, wheel, keys.
//!
//! Points are pixels of the screen from the canvas' corner.
//!
//! **Invariants**: nothing here knows a browser.

use crate::geometry::Point;
use crate::keymap::Chord;

/// A button of the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    /// The main one.
    Main,
    /// The wheel.
    Middle,
    /// The one for menus.
    Menu,
}

/// What is held down meanwhile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Adds to the selection; inverts snapping while steps are dragged.
    pub shift: bool,
    /// Ctrl or Cmd: adds to the selection.
    pub ctrl: bool,
}

/// One event.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A button goes down.
    Down(Point, Button, Held),
    /// The pointer moves.
    Move(Point, Held),
    /// The button goes up.
    Up(Point, Held),
    /// The pointer is lost: the browser took it.
    Lost,
    /// Two clicks.
    DoubleClick(Point),
    /// The wheel turns, in pixels to the right and downwards.
    Wheel(Point, Point, Held),
    /// Two fingers move apart by this factor.
    Pinch(Point, f64),
    /// The space bar goes down or up: the pointer pans.
    Space(bool),
    /// Any other key goes down.
    Key(Chord),
    /// A kind of step is dropped from the palette.
    Drop(Point, String),
}
