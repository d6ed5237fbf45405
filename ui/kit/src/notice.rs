//! A notice in the page: something went wrong here, with a badge, a sentence and a way on.
//!
//! **Invariants**
//! - It is announced to those who only hear the page.

use crate::badge::{Badge, Priority};
use leptos::prelude::*;

/// A notice.
#[component]
pub fn Notice(
    /// How bad.
    priority: Priority,
    /// In one or two words.
    #[prop(into)]
    title: Signal<String>,
    /// What happened and what to do.
    #[prop(into)]
    text: Signal<String>,
    /// A button: "Try again".
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="notice" role=if priority == Priority::One { "alert" } else { "status" }>
            <Badge priority label=title/>
            <div class="notice-text">
                <strong>{title}</strong>
                <p>{text}</p>
            </div>
            {children.map(|children| children())}
        </div>
    }
}
