//! Short words about what was just done, in the corner: "Saved".
//!
//! **Invariants**
//! - What went wrong stays until it is put away; what went well leaves by itself.
//! - At most [`TOASTS_MAX`] at once; the oldest makes room.

use crate::badge::{Badge, Priority};
use leptos::prelude::*;
use std::time::Duration;

/// Toasts at once.
pub const TOASTS_MAX: usize = 4;
/// How long good news stay.
const GOOD_NEWS: Duration = Duration::from_secs(8);

#[derive(Clone, PartialEq)]
struct Toast {
    number: u64,
    text: String,
    priority: Option<Priority>,
}

/// The toasts of a window; provided once, at the root.
#[derive(Clone, Copy)]
pub struct Toasts {
    list: RwSignal<Vec<Toast>>,
    next: RwSignal<u64>,
}

impl Default for Toasts {
    fn default() -> Self {
        Self { list: RwSignal::new(Vec::new()), next: RwSignal::new(0) }
    }
}

impl Toasts {
    /// Says that something went well.
    pub fn good(self, text: impl Into<String>) {
        let number = self.add(text.into(), None);
        set_timeout(move || self.put_away(number), GOOD_NEWS);
    }

    /// Says that something went wrong.
    pub fn bad(self, priority: Priority, text: impl Into<String>) {
        self.add(text.into(), Some(priority));
    }

    fn add(self, text: String, priority: Option<Priority>) -> u64 {
        let number = self.next.get_untracked();
        self.next.set(number + 1);
        self.list.update(|list| {
            list.push(Toast { number, text, priority });
            let over = list.len().saturating_sub(TOASTS_MAX);
            list.drain(..over);
        });
        number
    }

    fn put_away(self, number: u64) {
        self.list.update(|list| list.retain(|toast| toast.number != number));
    }
}

/// Where the toasts are shown; once in a window.
#[component]
pub fn ToastCorner(
    /// The toasts.
    toasts: Toasts,
    /// The word on the button that puts one away.
    #[prop(into)]
    close: Signal<String>,
) -> impl IntoView {
    let build = move |toast: Toast| {
        let number = toast.number;
        let text = toast.text.clone();
        view! {
            <div class="toast">
                {toast.priority.map(|priority| view! { <Badge priority label=text/> })}
                <span class="toast-text">{toast.text}</span>
                <button class="button button-quiet" type="button" aria-label=close on:click=move |_| toasts.put_away(number)>
                    "✕"
                </button>
            </div>
        }
    };
    view! {
        <div class="toast-corner" role="status" aria-live="polite">
            <For each=move || toasts.list.get() key=|toast| toast.number children=build/>
        </div>
    }
}
