//! The designer without its drawing: geometry, gestures, keys, history, merge.
//!
//! [`Editor`] takes events and actions and changes a document of `flow` by transactions; [`view`]
//! tells what is to be drawn. Everything is plain Rust and is tested without a browser; `ui/app`
//! only draws and passes events on.
#![deny(missing_docs)]

pub mod action;
pub mod arrange;
pub mod change;
pub mod clipboard;
pub mod connect;
pub mod curve;
pub mod editor;
pub mod effect;
pub mod geometry;
pub mod gesture;
pub mod history;
pub mod ids;
pub mod index;
pub mod input;
pub mod keymap;
pub mod label;
pub mod merge;
pub mod minimap;
pub mod navigate;
pub mod quick_add;
pub mod rank;
pub mod reach;
pub mod scene;
pub mod search;
pub mod selection;
pub mod shape;
pub mod snap;
pub mod view;
pub mod viewport;

#[cfg(test)]
mod testing;

pub use action::{Action, Side};
pub use editor::Editor;
pub use effect::{Effect, Join, Place, Said};
pub use geometry::{Point, Rect};
pub use history::{Grain, History};
pub use input::{Button, Held, Input};
pub use keymap::{Chord, KeyMap};
pub use merge::merge;
pub use scene::{Hit, Scene};
pub use selection::Selection;
pub use view::View;
pub use viewport::Viewport;
