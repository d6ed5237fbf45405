//! Ids for new steps: short, free, and easy to write in an expression.
//!
//! **Invariants**: what is given is a step's id by the rules of `flow`, and free.

use millrace_flow::Document;
use millrace_flow::validate::{NAME_BYTES_MAX, is_step_id};
use std::collections::BTreeSet;

/// A free id that begins as wanted: `map`, `map_2`, ...
#[must_use]
pub fn free_id(document: &Document, taken: &BTreeSet<String>, wanted: &str) -> String {
    let is_free = |id: &String| !document.steps.contains_key(id) && !taken.contains(id);
    let wanted = if is_step_id(wanted) { wanted.to_owned() } else { from_words(wanted) };
    if is_free(&wanted) {
        return wanted;
    }
    let stem = without_number(&wanted);
    let numbered = (2_u64..).map(|number| format!("{stem}_{number}"));
    // There are more numbers than steps.
    numbered.into_iter().find(is_free).unwrap_or(wanted)
}

/// The id that a kind suggests: the last word of its name.
#[must_use]
pub fn of_kind(kind: &str) -> String {
    from_words(kind.rsplit('.').next().unwrap_or(kind))
}

fn from_words(words: &str) -> String {
    let mut id = String::new();
    for letter in words.chars() {
        if letter.is_ascii_alphanumeric() {
            id.push(letter.to_ascii_lowercase());
        } else if !id.is_empty() && !id.ends_with('_') {
            id.push('_');
        }
        if id.len() == NAME_BYTES_MAX / 2 {
            break;
        }
    }
    let id = id.trim_end_matches('_');
    if is_step_id(id) { id.to_owned() } else { format!("step_{id}").trim_end_matches('_').into() }
}

/// Without a number at its end, and short enough for another one.
fn without_number(id: &str) -> &str {
    let stem = id.rsplit_once('_').filter(|(_, number)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    let stem = stem.map_or(id, |(stem, _)| stem);
    stem.get(..stem.len().min(NAME_BYTES_MAX - 21)).unwrap_or("step")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::document;

    #[test]
    fn ids_are_free_and_short() {
        let document = document("map:map map_2:map filter:filter");
        let free = |wanted: &str| free_id(&document, &BTreeSet::from(["map_3".into()]), wanted);
        assert_eq!(free("map"), "map_4");
        assert_eq!(free("map_2"), "map_4");
        assert_eq!(free("scale"), "scale");
        assert_eq!(free("Press 4 / Überdruck"), "press_4_berdruck");
        assert_eq!(free("4 x"), "step_4_x");
        assert_eq!(free(""), "step");
        let long = "x".repeat(NAME_BYTES_MAX);
        let full = crate::testing::document(&format!("{long}:map"));
        assert!(is_step_id(&free_id(&full, &BTreeSet::new(), &long)));
        for kind in millrace_flow::kind::ALL {
            assert!(is_step_id(&of_kind(kind.name)), "{}", kind.name);
        }
        assert_eq!(of_kind("uns.publish_batch"), "publish_batch");
    }
}
