//! The studio's kit: tokens and about twenty widgets, each a `.rs` with its `.css` beside it.
//!
//! Widgets take texts that are already in the person's language and say what happened through
//! callbacks; they know no page, no API and no catalogue. The bundler gathers the style sheets, so
//! nothing has to be registered.
//!
//! **Invariants**
//! - Everything works with the keyboard alone, and what is focused can be seen.
//! - Colour is never the only sign: shape and text say the same.
//! - No style is written into an element's `style` attribute (the page's security policy refuses
//!   that); moving parts use `style:name=value`, which goes through the style object.

pub mod badge;
pub mod button;
pub mod chart;
pub mod dialog;
pub mod empty;
pub mod field;
pub mod file;
pub mod id;
pub mod menu;
pub mod meter;
pub mod notice;
pub mod palette;
pub mod panel;
pub mod progress;
pub mod rows;
pub mod select;
pub mod sparkline;
pub mod split;
pub mod surface;
pub mod table;
pub mod tabs;
pub mod toast;
pub mod toggle;
pub mod tokens;
pub mod tree;
pub mod value;
mod viewport;

pub use badge::{Badge, Priority};
pub use button::{Button, Weight};
pub use chart::{Chart, ChartAct, ChartLine, ChartPoint, ChartSign, ChartTexts, Window};
pub use dialog::Dialog;
pub use empty::Empty;
pub use field::{Field, FieldKind};
pub use menu::Menu;
pub use meter::Meter;
pub use notice::Notice;
pub use palette::{Command, Palette};
pub use panel::Panel;
pub use progress::Progress;
pub use select::{Choice, Select};
pub use sparkline::Sparkline;
pub use split::Split;
pub use table::{Column, Table};
pub use tabs::Tabs;
pub use toast::{ToastCorner, Toasts};
pub use toggle::Toggle;
pub use tree::{Tree, TreeRow};
pub use value::{Freshness, Quality, Value};
