//! The script editor: lines with numbers, and faults at their line.
//!
//! **Invariants**
//! - The text is a plain field: selection, undo and input methods are the browser's own.
//! - Tab leaves the field, as everywhere else.

use leptos::html::{Pre, Textarea};
use leptos::prelude::*;

/// A script, statement or any other text of many lines.
#[component]
pub(super) fn Script(
    /// What it is.
    #[prop(into)]
    label: String,
    /// The id of the field, for who jumps to it.
    id: String,
    /// The text.
    value: RwSignal<String>,
    /// Called with each change.
    #[prop(into)]
    on_change: Callback<String>,
    /// Lines at fault, from 1, and what is wrong there.
    #[prop(into)]
    faults: Signal<Vec<(u32, String)>>,
    /// Whether it may only be looked at.
    is_read_only: bool,
    /// How many lines are seen.
    #[prop(default = 12)]
    rows: u32,
) -> impl IntoView {
    let numbers = NodeRef::<Pre>::new();
    let text = NodeRef::<Textarea>::new();
    let scroll = move |_| {
        if let (Some(numbers), Some(text)) = (numbers.get_untracked(), text.get_untracked()) {
            numbers.set_scroll_top(text.scroll_top());
        }
    };
    let lines = move || {
        let count = value.with(|value| value.split('\n').count());
        let faults = faults.get();
        let line = |number: usize| {
            let is_bad = faults.iter().any(|(at, _)| usize::try_from(*at) == Ok(number));
            let class = if is_bad { "script-line script-bad" } else { "script-line" };
            let mark = if is_bad { "!" } else { "" };
            view! { <span class=class>{mark}{number.to_string()}"\n"</span> }
        };
        (1..=count).map(line).collect_view()
    };
    view! {
        <div class="script">
            <pre class="script-numbers" node_ref=numbers aria-hidden="true">{lines}</pre>
            <textarea
                id=id
                class="script-text"
                node_ref=text
                rows=rows.to_string()
                wrap="off"
                spellcheck="false"
                autocomplete="off"
                aria-label=label
                readonly=is_read_only
                prop:value=value
                on:input=move |event| {
                    let text = event_target_value(&event);
                    value.set(text.clone());
                    on_change.run(text);
                }
                on:scroll=scroll
            ></textarea>
        </div>
        <ul class="script-faults" role="alert">
            {move || faults.get().into_iter().map(|(line, text)| {
                let place = if line > 0 { format!("{line}: ") } else { String::new() };
                view! { <li class="field-fault">{place}{text}</li> }
            }).collect_view()}
        </ul>
    }
}
