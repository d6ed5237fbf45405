//! A dialog over the page: the browser's own, so focus stays in it and Escape closes it.
//!
//! **Invariants**
//! - It has a title and a way out; what it did to the focus is undone when it closes.

use crate::id::unique;
use leptos::html;
use leptos::prelude::*;

/// A dialog.
#[component]
pub fn Dialog(
    /// Its title.
    #[prop(into)]
    title: Signal<String>,
    /// Whether it is open.
    open: RwSignal<bool>,
    /// The word on the button that closes it.
    #[prop(into)]
    close: Signal<String>,
    /// Called when it has closed.
    #[prop(optional, into)]
    on_close: Option<Callback<()>>,
    /// What is in it; built when it opens.
    children: ChildrenFn,
) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    let id = unique("dialog");
    Effect::new(move |_| {
        let Some(dialog) = node.get() else { return };
        match (open.get(), dialog.open()) {
            // A dialog that cannot be shown stays closed; the page works on.
            (true, false) => drop(dialog.show_modal().is_err()),
            (false, true) => dialog.close(),
            _ => {}
        }
    });
    let closed = move |_| {
        open.set(false);
        if let Some(on_close) = on_close {
            on_close.run(());
        }
    };
    let children = StoredValue::new(children);
    view! {
        <dialog class="dialog" node_ref=node aria-labelledby=id.clone() on:close=closed>
            <header class="dialog-head">
                <h2 id=id.clone()>{title}</h2>
                <button class="button button-quiet" type="button" aria-label=close on:click=move |_| open.set(false)>
                    "✕"
                </button>
            </header>
            <div class="dialog-body">
                <Show when=move || open.get()>{children.with_value(|children| children())}</Show>
            </div>
        </dialog>
    }
}
