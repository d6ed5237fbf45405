//! The keyboard map of the frame, as data: what is pressed, and what that does.
//!
//! Pages have maps of their own with the same type, and show them in the same dialog.
//!
//! **Invariants**
//! - No plain letter does anything while somebody types into a field.
//! - Every entry has a text, so that the dialog of keys is complete.

use crate::words::{Message, shell};

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Goes to a page.
    Go(&'static str),
    /// Shows the keys.
    Keys,
    /// Opens the command palette.
    Palette,
    /// Light to dark and back.
    Theme,
    /// Ends the session.
    SignOut,
}

/// One entry of a map.
#[derive(Clone, Copy, Debug)]
pub struct Shortcut<A> {
    /// As it is written: `alt+1`, `ctrl+shift+p`, `?`.
    pub keys: &'static str,
    /// What it does.
    pub action: A,
    /// What it does, for the person.
    pub text: Message,
}

/// What was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pressed<'a> {
    /// The key as the browser names it: `a`, `?`, `ArrowUp`.
    pub key: &'a str,
    /// Control, or Command on a Mac.
    pub ctrl: bool,
    /// Alt.
    pub alt: bool,
    /// Shift.
    pub shift: bool,
    /// The focus is in a field.
    pub typing: bool,
}

/// The frame's map.
pub const SHELL: &[Shortcut<Action>] = &[
    Shortcut { keys: "alt+1", action: Action::Go("/"), text: shell::OVERVIEW },
    Shortcut { keys: "alt+2", action: Action::Go("/namespace"), text: shell::NAMESPACE },
    Shortcut { keys: "alt+3", action: Action::Go("/trends"), text: shell::TRENDS },
    Shortcut { keys: "alt+4", action: Action::Go("/pipelines"), text: shell::PIPELINES },
    Shortcut { keys: "alt+5", action: Action::Go("/access"), text: shell::ACCESS },
    Shortcut { keys: "alt+6", action: Action::Go("/settings"), text: shell::SETTINGS },
    Shortcut { keys: "alt+7", action: Action::Go("/sizing"), text: shell::SIZING },
    Shortcut { keys: "ctrl+shift+p", action: Action::Palette, text: shell::KEY_PALETTE },
    Shortcut { keys: "alt+d", action: Action::Theme, text: shell::KEY_THEME },
    Shortcut { keys: "?", action: Action::Keys, text: shell::KEY_HELP },
];

/// What a map has for what was pressed.
pub fn find<A: Copy>(map: &[Shortcut<A>], pressed: Pressed<'_>) -> Option<A> {
    map.iter().find(|entry| fits(entry.keys, pressed)).map(|entry| entry.action)
}

fn fits(keys: &str, pressed: Pressed<'_>) -> bool {
    let mut parts: Vec<&str> = keys.split('+').collect();
    let key = parts.pop().unwrap_or_default();
    let wants = |name: &str| parts.contains(&name);
    if pressed.typing && !wants("ctrl") && !wants("alt") {
        return false;
    }
    // A sign like `?` needs Shift on some keyboards and not on others: only letters ask for it.
    let is_sign = key.chars().count() == 1 && !key.chars().all(char::is_alphanumeric);
    let shift_fits = is_sign || wants("shift") == pressed.shift;
    key.eq_ignore_ascii_case(pressed.key)
        && wants("ctrl") == pressed.ctrl
        && wants("alt") == pressed.alt
        && shift_fits
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Pressed<'_> =
        Pressed { key: "", ctrl: false, alt: false, shift: false, typing: false };

    #[test]
    fn finds_what_was_pressed() {
        let go = find(SHELL, Pressed { key: "4", alt: true, ..PLAIN });
        assert_eq!(go, Some(Action::Go("/pipelines")));
        let palette = find(SHELL, Pressed { key: "P", ctrl: true, shift: true, ..PLAIN });
        assert_eq!(palette, Some(Action::Palette));
        assert_eq!(find(SHELL, Pressed { key: "4", ..PLAIN }), None);
    }

    #[test]
    fn takes_a_sign_with_and_without_shift() {
        for shift in [false, true] {
            assert_eq!(find(SHELL, Pressed { key: "?", shift, ..PLAIN }), Some(Action::Keys));
        }
    }

    #[test]
    fn leaves_letters_to_who_types() {
        assert_eq!(find(SHELL, Pressed { key: "?", typing: true, ..PLAIN }), None);
        let palette = Pressed { key: "p", ctrl: true, shift: true, typing: true, ..PLAIN };
        assert_eq!(find(SHELL, palette), Some(Action::Palette));
    }

    #[test]
    fn no_two_entries_share_a_key() {
        for (at, entry) in SHELL.iter().enumerate() {
            assert!(SHELL.iter().skip(at + 1).all(|other| other.keys != entry.keys));
        }
    }
}
