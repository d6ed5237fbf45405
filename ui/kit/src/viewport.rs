//! A scrolling box that knows where it is scrolled to and how high it is.
//!
//! **Invariants**
//! - The height is read again whenever the box or the window moves; nothing is assumed of the page.

use crate::rows::{in_sight, scroll_to};
use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;
use std::ops::Range;

/// Before the box has been measured.
const HEIGHT_FIRST: f64 = 800.0;

/// A scrolling box of rows.
#[derive(Clone, Copy)]
pub(crate) struct Viewport {
    pub(crate) node: NodeRef<Div>,
    scrolled: RwSignal<f64>,
    height: RwSignal<f64>,
}

impl Viewport {
    pub(crate) fn new() -> Self {
        let viewport = Self {
            node: NodeRef::new(),
            scrolled: RwSignal::new(0.0),
            height: RwSignal::new(HEIGHT_FIRST),
        };
        Effect::new(move |_| {
            if viewport.node.get().is_some() {
                viewport.measure();
            }
        });
        let resized = window_event_listener(ev::resize, move |_| viewport.measure());
        on_cleanup(move || resized.remove());
        viewport
    }

    /// Looks where the box is scrolled to and how high it is.
    pub(crate) fn measure(self) {
        let Some(node) = self.node.get_untracked() else { return };
        self.scrolled.set(f64::from(node.scroll_top()));
        let height = f64::from(node.client_height());
        if height > 0.0 {
            self.height.set(height);
        }
    }

    /// The rows to build.
    pub(crate) fn rows(self, count: usize) -> Range<usize> {
        in_sight(self.scrolled.get(), self.height.get(), count)
    }

    /// Rows of one screen.
    pub(crate) fn page(self) -> usize {
        in_sight(0.0, self.height.get_untracked(), usize::MAX).len().saturating_sub(10)
    }

    /// Brings a row into sight.
    pub(crate) fn show(self, row: usize) {
        let Some(node) = self.node.get_untracked() else { return };
        let (scrolled, height) = (f64::from(node.scroll_top()), f64::from(node.client_height()));
        if let Some(aim) = scroll_to(row, scrolled, height) {
            #[expect(clippy::cast_possible_truncation, reason = "a browser's own limit")]
            node.set_scroll_top(aim as i32);
        }
        self.measure();
    }
}
