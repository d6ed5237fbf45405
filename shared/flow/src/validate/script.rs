//! What can be told of scripts and expressions without running them.
//!
//! **Invariants**: nothing here claims that a script is right; it names what surely is not there.

use super::Faults;
use crate::document::Document;
use crate::expression::{Mention, Part, Split, mentions, split};
use crate::near::did_you_mean;
use crate::script::ROOTS;

/// The roots with a `$`.
fn roots() -> impl Iterator<Item = &'static str> {
    ROOTS.iter().map(|root| root.name).filter(|name| name.starts_with('$'))
}

/// What other JavaScript engines have and ours has not, and what to do instead.
const ABSENT_WORDS: &[(&str, &str)] = &[
    ("Intl", "scripts have no `Intl`: format by hand"),
    ("require", "scripts cannot load modules"),
    ("fetch", "scripts cannot go outside: use a `http.request` step"),
    ("XMLHttpRequest", "scripts cannot go outside: use a `http.request` step"),
    ("setTimeout", "scripts cannot wait: use a `wait` step"),
    ("setInterval", "scripts cannot wait: use a `schedule` trigger"),
];

/// The same for properties.
const ABSENT_PROPERTIES: &[&str] =
    &["toLocaleString", "toLocaleDateString", "toLocaleTimeString", "localeCompare"];

/// Checks the expressions of a text; one that cannot be split has been told before.
pub(super) fn check_text(document: &Document, at: &str, text: &str, faults: &mut Faults) {
    match split(text) {
        Ok(Split::Whole(source)) => check_source(document, at, source.text, false, faults),
        Ok(Split::Template(parts)) => {
            for part in parts {
                if let Part::Expression(source) = part {
                    check_source(document, at, source.text, false, faults);
                }
            }
        }
        Ok(Split::Literal(_)) | Err(_) => {}
    }
}

/// Checks one source. A body may name its own variables with a `$`; an expression hardly does.
pub(super) fn check_source(
    document: &Document,
    at: &str,
    source: &str,
    is_body: bool,
    faults: &mut Faults,
) {
    for mention in mentions(source) {
        match mention {
            Mention::Step { name, .. } if !document.steps.contains_key(&name) => {
                let meant = did_you_mean(&name, document.steps.keys().map(String::as_str));
                let message = format!("names step `{name}`, which is not there{meant}");
                faults.error(Some(at), "unknown_step", message);
            }
            Mention::Other { word, .. } if !is_body && !roots().any(|root| root == word) => {
                let known: Vec<_> = roots().collect();
                let message = format!("`{word}` is not known; there are {}", known.join(", "));
                faults.warn(Some(at), "unknown_name", message);
            }
            Mention::Word { word, .. } => {
                if let Some((_, instead)) = ABSENT_WORDS.iter().find(|(absent, _)| *absent == word)
                {
                    faults.warn(Some(at), "not_in_scripts", *instead);
                }
            }
            Mention::Property { word, .. } if ABSENT_PROPERTIES.contains(&word.as_str()) => {
                let message = format!("`{word}` knows no languages here, whatever it is given");
                faults.warn(Some(at), "not_in_scripts", message);
            }
            _ => {}
        }
    }
}
