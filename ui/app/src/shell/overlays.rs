//! What opens over the page: the keys, and the command palette.
//!
//! **Invariants**
//! - The palette offers exactly what the keyboard map has, and signing out: one list for both.

use crate::keys::{self, Action};
use crate::words::{Language, shell, t};
use leptos::prelude::*;
use millrace_kit::{Command, Dialog, Palette};

/// The keys of the frame.
#[component]
pub fn KeysDialog(
    /// Whether it is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    let lines = || {
        let line = |entry: &'static keys::Shortcut<Action>| {
            view! { <div class="keys-line"><dt><kbd>{entry.keys}</kbd></dt><dd>{t(entry.text)}</dd></div> }
        };
        keys::SHELL.iter().map(line).collect_view()
    };
    view! {
        <Dialog title=t(shell::KEYS) open close=t(shell::CLOSE)>
            <dl class="keys">{lines()}</dl>
        </Dialog>
    }
}

/// The command palette.
#[component]
pub fn PaletteDialog(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// Does what was chosen.
    act: Callback<Action>,
) -> impl IntoView {
    let language = Language::here();
    let commands = Signal::derive(move || {
        let entry = |(at, (text, keys)): (usize, (_, &str))| Command {
            key: at.to_string(),
            text: language.say(text),
            hint: keys.to_owned(),
        };
        entries().map(|(_, text, keys)| (text, keys)).enumerate().map(entry).collect::<Vec<_>>()
    });
    let choose = move |key: String| {
        open.set(false);
        let chosen = key.parse::<usize>().ok().and_then(|at| entries().nth(at));
        if let Some((action, _, _)) = chosen {
            act.run(action);
        }
    };
    view! {
        <Dialog title=t(shell::KEY_PALETTE) open close=t(shell::CLOSE)>
            <Palette label=t(shell::KEY_PALETTE) commands nothing=t(shell::PALETTE_NOTHING) on_choose=choose/>
        </Dialog>
    }
}

fn entries() -> impl Iterator<Item = (Action, crate::words::Message, &'static str)> {
    let of_keys = keys::SHELL.iter().map(|entry| (entry.action, entry.text, entry.keys));
    of_keys.filter(|(action, _, _)| *action != Action::Palette).chain([(
        Action::SignOut,
        shell::SIGN_OUT,
        "",
    )])
}
