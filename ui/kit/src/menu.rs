//! A menu behind a button.
//!
//! **Invariants**
//! - Arrows go through it, Enter chooses, Escape closes and gives the focus back to the button.

use crate::rows::Move;
use crate::select::Choice;
use leptos::html;
use leptos::prelude::*;

/// A menu.
#[component]
pub fn Menu(
    /// What stands on the button.
    #[prop(into)]
    label: Signal<String>,
    /// The entries.
    #[prop(into)]
    entries: Signal<Vec<Choice>>,
    /// What happens with the key of the entry that was chosen.
    #[prop(into)]
    on_choose: Callback<String>,
) -> impl IntoView {
    let state = State::new(entries, on_choose);
    let State { open, active, button, .. } = state;
    let list = NodeRef::<html::Ul>::new();
    Effect::new(move |_| {
        if open.get()
            && let Some(list) = list.get()
        {
            let _unfocused = list.focus().is_err();
        }
    });
    let lines = move || {
        let line = move |(at, entry): (usize, Choice)| {
            view! {
                <li
                    class="menu-entry"
                    class:menu-active=move || active.get() == Some(at)
                    role="menuitem"
                    on:click=move |_| state.choose(at)
                    on:pointerenter=move |_| active.set(Some(at))
                >
                    {entry.text}
                </li>
            }
        };
        entries.get().into_iter().enumerate().map(line).collect_view()
    };
    let toggle = move |_| {
        active.set(Some(0));
        open.update(|open| *open = !*open);
    };
    view! {
        <div class="menu">
            <button
                class="button"
                type="button"
                node_ref=button
                aria-haspopup="menu"
                aria-expanded=move || open.get().to_string()
                on:click=toggle
            >
                {label} " ▾"
            </button>
            <Show when=move || open.get()>
                <ul class="menu-list" role="menu" tabindex="-1" node_ref=list on:keydown=move |event| state.press(&event) on:blur=move |_| open.set(false)>
                    {lines}
                </ul>
            </Show>
        </div>
    }
}

#[derive(Clone, Copy)]
struct State {
    open: RwSignal<bool>,
    active: RwSignal<Option<usize>>,
    entries: Signal<Vec<Choice>>,
    on_choose: Callback<String>,
    button: NodeRef<html::Button>,
}

impl State {
    fn new(entries: Signal<Vec<Choice>>, on_choose: Callback<String>) -> Self {
        let (open, active) = (RwSignal::new(false), RwSignal::new(None));
        Self { open, active, entries, on_choose, button: NodeRef::new() }
    }

    /// Closes, and gives the focus back.
    fn back(self) {
        self.open.set(false);
        if let Some(button) = self.button.get_untracked() {
            let _unfocused = button.focus().is_err();
        }
    }

    fn choose(self, at: usize) {
        let key = self.entries.with_untracked(|all| all.get(at).map(|entry| entry.key.clone()));
        self.back();
        if let Some(key) = key {
            self.on_choose.run(key);
        }
    }

    fn press(self, event: &leptos::ev::KeyboardEvent) {
        match (event.key().as_str(), self.active.get_untracked()) {
            ("Escape" | "Tab", _) => self.back(),
            ("Enter" | " ", Some(at)) => self.choose(at),
            (key, now) => {
                let Some(step) = Move::of_key(key) else { return };
                let count = self.entries.with_untracked(Vec::len);
                self.active.set(step.from(now, count, count));
            }
        }
        event.prevent_default();
        event.stop_propagation();
    }
}
