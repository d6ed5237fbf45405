//! Tabs: one of several views in the same place.
//!
//! **Invariants**
//! - One stop for the Tab key; left, right, Home and End go from tab to tab.

use crate::id::unique;
use crate::rows::Move;
use crate::select::Choice;
use leptos::prelude::*;

/// Tabs.
#[component]
pub fn Tabs(
    /// What the tabs are of.
    #[prop(into)]
    label: Signal<String>,
    /// The tabs.
    #[prop(into)]
    tabs: Signal<Vec<Choice>>,
    /// The key of the one that is shown.
    shown: RwSignal<String>,
    /// What is shown; follows `shown`.
    children: ChildrenFn,
) -> impl IntoView {
    let id = unique("tabs");
    let panel = format!("{id}-panel");
    let press = move |event: leptos::ev::KeyboardEvent| {
        let key = event.key();
        let step = match key.as_str() {
            "ArrowLeft" => Some(Move::Up),
            "ArrowRight" => Some(Move::Down),
            "Home" => Some(Move::First),
            "End" => Some(Move::Last),
            _ => None,
        };
        let Some(step) = step else { return };
        event.prevent_default();
        tabs.with_untracked(|tabs| {
            let now = shown.with_untracked(|shown| tabs.iter().position(|tab| tab.key == *shown));
            let aim = step.from(now, tabs.len(), 1).and_then(|at| tabs.get(at));
            if let Some(tab) = aim {
                shown.set(tab.key.clone());
            }
        });
    };
    let panel_id = panel.clone();
    let list = move || {
        let tab = |tab: Choice| {
            let key = StoredValue::new(tab.key);
            let is_shown = move || key.with_value(|key| shown.with(|shown| shown == key));
            view! {
                <button
                    class="tab"
                    type="button"
                    role="tab"
                    aria-selected=move || is_shown().to_string()
                    aria-controls=panel.clone()
                    tabindex=move || if is_shown() { "0" } else { "-1" }
                    on:click=move |_| shown.set(key.get_value())
                >
                    {tab.text}
                </button>
            }
        };
        tabs.get().into_iter().map(tab).collect_view()
    };
    view! {
        <div class="tabs">
            <div class="tabs-list" role="tablist" aria-label=label on:keydown=press>{list}</div>
            <div class="tabs-panel" role="tabpanel" id=panel_id tabindex="0">{children()}</div>
        </div>
    }
}
