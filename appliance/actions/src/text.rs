//! Texts for people: cut to a length, and never with a secret in them.
//!
//! **Invariants**: what [`Secrets::scrub`] gives holds none of the secrets that were used; cuts
//! fall between characters.

use crate::limits::ERROR_TEXT_BYTES_MAX;
use millrace_engine::step::StepFault;
use std::sync::Arc;

/// At most so many bytes of a text, cut between characters; control characters become spaces.
pub(crate) fn cut(text: &str, bytes_max: usize) -> String {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    let (kept, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let mut cut: String = kept.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if !rest.is_empty() {
        cut.push_str("...");
    }
    cut
}

/// Secrets below this length are not looked for in texts.
const SHORTEST_HIDDEN: usize = 4;

/// The secrets of one execution: names and values.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<(Arc<str>, Arc<str>)>);

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl Secrets {
    /// Remembers a value that must not be shown.
    pub(crate) fn add(&mut self, name: &str, value: &Arc<str>) {
        // What is shorter cannot be told from ordinary text, and replacing it would give it away.
        if value.len() >= SHORTEST_HIDDEN {
            self.0.push((name.into(), Arc::clone(value)));
            // The longest first: a secret may be a part of another.
            self.0.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
        }
    }

    /// The text with each secret replaced by its name.
    pub(crate) fn scrub(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(&**value, &format!("<secret {name}>"))
        })
    }

    /// The fault with each secret replaced, and cut to a length that can be kept.
    pub(crate) fn scrub_fault(&self, mut fault: StepFault) -> StepFault {
        fault.message = cut(&self.scrub(&fault.message), ERROR_TEXT_BYTES_MAX);
        fault
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_between_characters_and_drops_control() {
        assert_eq!(cut("gr\u{fc}n", 3), "gr...");
        assert_eq!(cut("gr\u{fc}n", 4), "gr\u{fc}...");
        assert_eq!(cut("a\r\nb\x1b", 99), "a  b ");
    }

    #[test]
    fn replaces_secrets_by_their_names() {
        let mut secrets = Secrets::default();
        secrets.add("short", &"abcd".into());
        secrets.add("long", &"abcdef".into());
        secrets.add("empty", &"".into());
        secrets.add("letter", &"f".into());
        let text = secrets.scrub("login abcdef failed for abcd");
        assert_eq!(text, "login <secret long> failed for <secret short>");
        assert!(!format!("{secrets:?}").contains("abcd"));
    }
}
