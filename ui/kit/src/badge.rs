//! A badge of priority: shape, digit and colour say the same thing.
//!
//! **Invariants**
//! - Each priority has a shape of its own, so that the badge reads without colour.
//! - It blinks only while nobody has taken note, at most once a second, and not where motion is
//!   reduced.

use leptos::prelude::*;

/// How bad something is, 1 the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Act now. A square.
    One,
    /// Act soon. A triangle.
    Two,
    /// Know of it. A diamond.
    Three,
    /// For diagnosis. A circle.
    Four,
}

impl Priority {
    /// Its digit.
    #[must_use]
    pub fn digit(self) -> &'static str {
        match self {
            Self::One => "1",
            Self::Two => "2",
            Self::Three => "3",
            Self::Four => "4",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::One => "badge badge-1",
            Self::Two => "badge badge-2",
            Self::Three => "badge badge-3",
            Self::Four => "badge badge-4",
        }
    }

    /// The outline in a box of 20 by 20.
    fn shape(self) -> &'static str {
        match self {
            Self::One => "M2 2h16v16H2z",
            Self::Two => "M10 1.5L19 18H1z",
            Self::Three => "M10 1L19 10L10 19L1 10z",
            Self::Four => "M10 1.5a8.5 8.5 0 1 0 .01 0z",
        }
    }
}

/// A badge of priority.
#[component]
pub fn Badge(
    /// How bad.
    priority: Priority,
    /// What the badge says, for those who do not see it.
    #[prop(into)]
    label: Signal<String>,
    /// Nobody has taken note yet.
    #[prop(optional, into)]
    fresh: Signal<bool>,
) -> impl IntoView {
    // The digit of a triangle sits lower than its middle.
    let height = if priority == Priority::Two { "15.5" } else { "14.2" };
    view! {
        <svg class=priority.class() class:badge-fresh=fresh viewBox="0 0 20 20" role="img" aria-label=label>
            <path d=priority.shape()></path>
            <text x="10" y=height>{priority.digit()}</text>
        </svg>
    }
}
