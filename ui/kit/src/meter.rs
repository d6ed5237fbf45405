//! A bar that shows a reading in its range: how near it is to its limit.
//!
//! **Invariants**
//! - It is grey while all is well; only beyond the limit does it get the colour of a priority, and
//!   then the figure beside it says so too.

use leptos::prelude::*;

/// A reading in its range.
#[component]
pub fn Meter(
    /// What it is, for those who do not see it.
    #[prop(into)]
    label: Signal<String>,
    /// The reading as a share of its range, 0 to 1; `None` = there is none.
    #[prop(into)]
    share: Signal<Option<f64>>,
    /// Where abnormal begins, as a share of the range.
    #[prop(optional, into)]
    limit: Option<f64>,
) -> impl IntoView {
    let known =
        move || share.get().filter(|share| share.is_finite()).map(|share| share.clamp(0.0, 1.0));
    let over = move || matches!((known(), limit), (Some(share), Some(limit)) if share >= limit);
    let percent = |share: f64| format!("{:.1}%", share * 100.0);
    view! {
        <div
            class="meter"
            class:meter-over=over
            role="meter"
            aria-label=label
            aria-valuemin="0"
            aria-valuemax="100"
            aria-valuenow=move || known().map(|share| format!("{:.0}", share * 100.0))
        >
            <div class="meter-bar" style:width=move || known().map_or_else(|| "0%".to_owned(), percent)></div>
            {limit.map(|limit| view! { <div class="meter-limit" style:left=percent(limit)></div> })}
        </div>
    }
}
