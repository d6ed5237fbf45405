//! The key map: which keys do what, as data.
//!
//! A key is written as `ctrl+shift+z`: modifiers in the order ctrl, alt, shift, then the key's name
//! in lower case. Several keys one after the other are written with spaces: `alt+a l`. Ctrl is Cmd
//! on a Mac. Shift stands only with keys that have a name of more than one letter or that are
//! letters: `?` is `?`, whatever must be held down for it.
//!
//! **Invariants**: no keys mean two things, and none are the beginning of others; an unknown word or
//! key in a map of one's own is refused with its line.

use crate::action::Action;
use std::collections::BTreeMap;
use thiserror::Error;

/// Most bindings of a map.
pub const BINDINGS_MAX: usize = 500;
/// Most keys of one binding.
pub const KEYS_MAX: usize = 3;

/// A key with what is held down.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Chord(String);

/// The map that the program comes with: word of the action, keys.
pub const DEFAULT: &[(&str, &str)] = &[
    ("quick_add", "insert"),
    ("quick_add", "a"),
    ("connect", "c"),
    ("edit", "enter"),
    ("toggle_disabled", "d"),
    ("undo", "ctrl+z"),
    ("redo", "ctrl+shift+z"),
    ("redo", "ctrl+y"),
    ("copy", "ctrl+c"),
    ("cut", "ctrl+x"),
    ("paste", "ctrl+v"),
    ("duplicate", "ctrl+d"),
    ("delete", "delete"),
    ("delete", "backspace"),
    ("delete_and_reconnect", "ctrl+delete"),
    ("delete_and_reconnect", "ctrl+backspace"),
    ("select_all", "ctrl+a"),
    ("select_upstream", "alt+s u"),
    ("select_downstream", "alt+s d"),
    ("cancel", "escape"),
    ("go_left", "arrowleft"),
    ("go_right", "arrowright"),
    ("go_up", "arrowup"),
    ("go_down", "arrowdown"),
    ("next", "tab"),
    ("previous", "shift+tab"),
    ("move_left", "ctrl+arrowleft"),
    ("move_right", "ctrl+arrowright"),
    ("move_up", "ctrl+arrowup"),
    ("move_down", "ctrl+arrowdown"),
    ("align_left", "alt+a l"),
    ("align_right", "alt+a r"),
    ("align_top", "alt+a t"),
    ("align_bottom", "alt+a b"),
    ("align_middle", "alt+a m"),
    ("align_center", "alt+a c"),
    ("distribute_horizontal", "alt+a h"),
    ("distribute_vertical", "alt+a v"),
    ("arrange", "alt+l"),
    ("zoom_in", "ctrl+="),
    ("zoom_in", "ctrl++"),
    ("zoom_out", "ctrl+-"),
    ("reset_zoom", "ctrl+0"),
    ("fit", "ctrl+1"),
    ("pan_left", "alt+arrowleft"),
    ("pan_right", "alt+arrowright"),
    ("pan_up", "alt+arrowup"),
    ("pan_down", "alt+arrowdown"),
    ("test_step", "t"),
    ("test_upstream", "shift+t"),
    ("next_fault", "f8"),
    ("save", "ctrl+s"),
    ("deploy", "ctrl+enter"),
    ("freeze", "f"),
    ("search", "ctrl+f"),
    ("palette", "ctrl+shift+p"),
    ("show_keys", "?"),
];

/// Why a map cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KeyMapError {
    /// No action is called so.
    #[error("binding {at}: no action is called `{word}`")]
    NoAction {
        /// The binding, from 1.
        at: usize,
        /// The word.
        word: String,
    },
    /// The keys cannot be read.
    #[error("binding {at}: `{keys}` is no key: write `ctrl+alt+shift+name`, {KEYS_MAX} at most")]
    NoKeys {
        /// The binding, from 1.
        at: usize,
        /// The text.
        keys: String,
    },
    /// Two meanings.
    #[error("binding {at}: `{keys}` already does something else, or begins what does")]
    Taken {
        /// The binding, from 1.
        at: usize,
        /// The text.
        keys: String,
    },
    /// Too long.
    #[error("{0} bindings, {BINDINGS_MAX} at most")]
    TooMany(usize),
}

/// What a key press led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    /// An action.
    Act(Action),
    /// The beginning of several keys.
    Waiting,
    /// Nothing.
    Nothing,
}

/// Keys and actions, and what was pressed of several keys.
#[derive(Clone, Debug)]
pub struct KeyMap {
    bindings: BTreeMap<Vec<Chord>, Action>,
    pressed: Vec<Chord>,
}

impl Default for KeyMap {
    fn default() -> Self {
        // A test reads it.
        Self::new(DEFAULT).unwrap_or(Self { bindings: BTreeMap::new(), pressed: Vec::new() })
    }
}

impl KeyMap {
    /// A map from words of actions and keys.
    ///
    /// # Errors
    /// The first binding that cannot be used.
    pub fn new<W: AsRef<str>, K: AsRef<str>>(table: &[(W, K)]) -> Result<Self, KeyMapError> {
        if table.len() > BINDINGS_MAX {
            return Err(KeyMapError::TooMany(table.len()));
        }
        let mut bindings: BTreeMap<Vec<Chord>, Action> = BTreeMap::new();
        for (at, (word, keys)) in (1..).zip(table) {
            let (word, keys) = (word.as_ref(), keys.as_ref());
            let action = Action::find(word)
                .ok_or_else(|| KeyMapError::NoAction { at, word: word.to_owned() })?;
            let chords: Option<Vec<Chord>> = keys.split(' ').map(Chord::parse).collect();
            let chords = chords.filter(|chords| chords.len() <= KEYS_MAX);
            let chords = chords.ok_or_else(|| KeyMapError::NoKeys { at, keys: keys.to_owned() })?;
            let meets =
                |other: &Vec<Chord>| other.starts_with(&chords) || chords.starts_with(other);
            if bindings.keys().any(meets) {
                return Err(KeyMapError::Taken { at, keys: keys.to_owned() });
            }
            bindings.insert(chords, action);
        }
        Ok(Self { bindings, pressed: Vec::new() })
    }

    /// Takes a key.
    pub fn press(&mut self, chord: &Chord) -> Pressed {
        self.pressed.push(chord.clone());
        if let Some(action) = self.bindings.get(&self.pressed) {
            self.pressed.clear();
            return Pressed::Act(*action);
        }
        let begins = |keys: &Vec<Chord>| keys.starts_with(&self.pressed);
        if self.bindings.keys().any(begins) {
            return Pressed::Waiting;
        }
        let was_waiting = self.pressed.len() > 1;
        self.pressed.clear();
        // What does not go on with several keys counts for itself.
        if was_waiting { self.press(chord) } else { Pressed::Nothing }
    }

    /// Whether the next key belongs to one that was pressed.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.pressed.is_empty()
    }

    /// The keys of an action, as they are shown.
    #[must_use]
    pub fn keys_of(&self, action: Action) -> Vec<String> {
        let keys = self.bindings.iter().filter(|(_, of)| **of == action);
        keys.map(|(chords, _)| chords.iter().map(Chord::shown).collect::<Vec<_>>().join(" "))
            .collect()
    }
}

impl Chord {
    /// A key as a browser tells it: `KeyboardEvent.key` and what is held down.
    #[must_use]
    pub fn new(key: &str, is_ctrl: bool, is_alt: bool, is_shift: bool) -> Self {
        let key = if key == " " { "space".to_owned() } else { key.to_lowercase() };
        let has_shift =
            is_shift && (key.chars().count() > 1 || key.chars().all(char::is_alphabetic));
        let mut text = String::new();
        for (is_held, name) in [(is_ctrl, "ctrl+"), (is_alt, "alt+"), (has_shift, "shift+")] {
            if is_held {
                text.push_str(name);
            }
        }
        text.push_str(&key);
        Self(text)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        let mut held = [false; 3];
        for (is_held, name) in held.iter_mut().zip(["ctrl+", "alt+", "shift+"]) {
            if let Some(after) = rest.strip_prefix(name) {
                (*is_held, rest) = (true, after);
            }
        }
        let is_key = !rest.is_empty() && (rest == "+" || !rest.contains('+'));
        let [is_ctrl, is_alt, is_shift] = held;
        let chord = Self::new(rest, is_ctrl, is_alt, is_shift);
        (is_key && chord.0 == text).then_some(chord)
    }

    /// As it is shown: `Ctrl+Shift+Z`.
    #[must_use]
    pub fn shown(&self) -> String {
        let (held, key) = match self.0.strip_suffix('+') {
            Some(held) => (held, "+"),
            None => self.0.rsplit_once('+').unwrap_or(("", &self.0)),
        };
        let words = held.split('+').chain([key]).filter(|word| !word.is_empty());
        let shown = words.map(|word| match word {
            "arrowleft" => "←".to_owned(),
            "arrowright" => "→".to_owned(),
            "arrowup" => "↑".to_owned(),
            "arrowdown" => "↓".to_owned(),
            "escape" => "Esc".to_owned(),
            word => {
                let mut letters = word.chars();
                let first = letters.next().map(|letter| letter.to_uppercase().to_string());
                format!("{}{}", first.unwrap_or_default(), letters.as_str())
            }
        });
        shown.collect::<Vec<_>>().join("+")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(map: &mut KeyMap, text: &str) -> Pressed {
        map.press(&Chord::parse(text).unwrap())
    }

    #[test]
    fn the_default_map_is_sound_and_binds_every_action() {
        let map = KeyMap::new(DEFAULT).unwrap();
        for spec in crate::action::ALL {
            assert!(!map.keys_of(spec.action).is_empty(), "{} has no key", spec.word);
        }
        assert_eq!(map.keys_of(Action::Redo), ["Ctrl+Shift+Z", "Ctrl+Y"]);
        assert_eq!(map.keys_of(Action::ShowKeys), ["?"]);
        assert_eq!(map.keys_of(Action::SelectUpstream), ["Alt+S U"]);
        assert!(map.keys_of(Action::ZoomIn).contains(&"Ctrl++".to_owned()));
    }

    #[test]
    fn keys_are_read_as_a_browser_tells_them() {
        let mut map = KeyMap::default();
        assert_eq!(map.press(&Chord::new("Z", true, false, true)), Pressed::Act(Action::Redo));
        assert_eq!(map.press(&Chord::new("?", false, false, true)), Pressed::Act(Action::ShowKeys));
        assert_eq!(
            map.press(&Chord::new("Tab", false, false, true)),
            Pressed::Act(Action::Previous)
        );
        assert_eq!(map.press(&Chord::new("q", false, false, false)), Pressed::Nothing);
    }

    #[test]
    fn several_keys_make_one_action_and_a_wrong_one_counts_for_itself() {
        let mut map = KeyMap::default();
        assert_eq!(press(&mut map, "alt+s"), Pressed::Waiting);
        assert!(map.is_waiting());
        assert_eq!(press(&mut map, "d"), Pressed::Act(Action::SelectDownstream));
        assert_eq!(press(&mut map, "alt+s"), Pressed::Waiting);
        assert_eq!(press(&mut map, "escape"), Pressed::Act(Action::Cancel));
        assert!(!map.is_waiting());
    }

    #[test]
    fn a_map_of_ones_own_is_refused_with_the_reason() {
        let fault = |table: &[(&str, &str)]| KeyMap::new(table).unwrap_err().to_string();
        assert!(fault(&[("fly", "x")]).contains("no action is called `fly`"));
        assert!(fault(&[("undo", "shift+ctrl+z")]).contains("is no key"));
        assert!(fault(&[("undo", "")]).contains("is no key"));
        assert!(fault(&[("undo", "x"), ("redo", "x")]).starts_with("binding 2: `x` already"));
        assert!(fault(&[("undo", "x"), ("redo", "x y")]).contains("begins what does"));
        let many = vec![("undo", "x"); BINDINGS_MAX + 1];
        assert!(fault(&many).contains("at most"));
    }
}
