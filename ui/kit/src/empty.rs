//! What stands where there is nothing yet: what belongs here, and what to do next.
//!
//! **Invariants**
//! - It never stands alone: a sentence says the next step, with a button or a link where there is one.

use leptos::prelude::*;

/// An empty place.
#[component]
pub fn Empty(
    /// What is not there.
    #[prop(into)]
    title: Signal<String>,
    /// What to do next.
    #[prop(into)]
    next: Signal<String>,
    /// The button or link that does it.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="empty">
            <p class="empty-title">{title}</p>
            <p class="muted">{next}</p>
            {children.map(|children| view! { <div class="form-actions">{children()}</div> })}
        </div>
    }
}
