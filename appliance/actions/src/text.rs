//! Texts for people: cut to a length, and never with a secret in them.
//!
//! **Invariants**: a fault that was scrubbed holds none of the secrets that were used; cuts fall
//! between characters.

use crate::limits::ERROR_TEXT_BYTES_MAX;
use millrace_engine::Secrets;
use millrace_engine::step::StepFault;

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

/// The fault with each secret replaced, and cut to a length that can be kept.
pub(crate) fn scrub_fault(secrets: &Secrets, mut fault: StepFault) -> StepFault {
    fault.message = cut(&secrets.scrub(&fault.message), ERROR_TEXT_BYTES_MAX);
    fault
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
}
