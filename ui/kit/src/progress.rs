//! Progress: what is being done, how far it is, and a way out.
//!
//! **Invariants**
//! - It always has a name; without a known end it moves, and says so to those who only hear it.

use leptos::prelude::*;

/// Progress of something.
#[component]
pub fn Progress(
    /// What is being done.
    #[prop(into)]
    label: Signal<String>,
    /// From 0 to 1; `None` = nobody knows.
    #[prop(optional, into)]
    share: Signal<Option<f64>>,
    /// The way out, a button: "Cancel".
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let percent = move || share.get().map(|share| (share.clamp(0.0, 1.0) * 100.0).round());
    view! {
        <div class="progress">
            <span class="progress-label">{label}</span>
            <div
                class="progress-track"
                class:progress-unknown=move || share.with(Option::is_none)
                role="progressbar"
                aria-label=label
                aria-valuemin="0"
                aria-valuemax="100"
                aria-valuenow=move || percent().map(|percent| percent.to_string())
            >
                <div class="progress-bar" style:width=move || percent().map_or_else(|| "30%".to_owned(), |percent| format!("{percent}%"))></div>
            </div>
            {children.map(|children| children())}
        </div>
    }
}
