//! The studio's texts, English and German side by side, a file for each page.
//!
//! A text is a constant: `words::overview::TITLE`. Placeholders are names in braces. A page adds its
//! file under `words/` and a line to `CATALOGUE`.
//!
//! **Invariants**
//! - Every text is there in both languages, with the same placeholders: a test looks at all of them.
//! - No page holds a text of its own.

pub mod access;
pub mod appliances;
pub mod claim;
pub mod designer;
pub mod faults;
pub mod namespace;
pub mod offline;
pub mod overview;
pub mod pipelines;
pub mod settings;
pub mod shell;
pub mod sign_in;
pub mod sizing;
pub mod trends;
pub mod units;

use crate::locale::Locale;
use leptos::prelude::*;

/// One text in all languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// English.
    pub en: &'static str,
    /// German.
    pub de: &'static str,
}

impl Message {
    /// The text in one language.
    #[must_use]
    pub fn in_locale(self, locale: Locale) -> &'static str {
        match locale {
            Locale::English => self.en,
            Locale::German => self.de,
        }
    }
}

/// Declares texts: `NAME: "English", "Deutsch";`
macro_rules! messages {
    ($($name:ident: $en:literal, $de:literal;)*) => {
        $(
            #[doc = $en]
            pub const $name: $crate::words::Message = $crate::words::Message { en: $en, de: $de };
        )*
        /// All texts of this file, for the test.
        pub const ALL: &[(&str, $crate::words::Message)] = &[$((stringify!($name), $name)),*];
    };
}
pub(crate) use messages;

/// All files, for the test.
pub const CATALOGUE: &[(&str, &[(&str, Message)])] = &[
    ("access", access::ALL),
    ("appliances", appliances::ALL),
    ("claim", claim::ALL),
    ("designer", designer::ALL),
    ("faults", faults::ALL),
    ("namespace", namespace::ALL),
    ("offline", offline::ALL),
    ("overview", overview::ALL),
    ("pipelines", pipelines::ALL),
    ("settings", settings::ALL),
    ("shell", shell::ALL),
    ("sign_in", sign_in::ALL),
    ("sizing", sizing::ALL),
    ("trends", trends::ALL),
    ("units", units::ALL),
];

/// The person's language; changes while the page stands.
#[derive(Clone, Copy)]
pub struct Language(pub RwSignal<Locale>);

impl Language {
    /// The language around this page.
    ///
    /// # Panics
    /// When it is called outside of what `start` mounted.
    #[must_use]
    pub fn here() -> Self {
        expect_context()
    }

    /// The language now, followed.
    #[must_use]
    pub fn locale(self) -> Locale {
        self.0.get()
    }

    /// A text now.
    #[must_use]
    pub fn say(self, message: Message) -> String {
        message.in_locale(self.0.get()).to_owned()
    }

    /// A text with its placeholders filled in.
    #[must_use]
    pub fn say_with(self, message: Message, values: &[(&str, &str)]) -> String {
        fill(message.in_locale(self.0.get()), values)
    }

    /// A text that follows the language.
    #[must_use]
    pub fn text(self, message: Message) -> Signal<String> {
        Signal::derive(move || self.say(message))
    }
}

/// A text that follows the language around this page.
#[must_use]
pub fn t(message: Message) -> Signal<String> {
    Language::here().text(message)
}

/// Fills placeholders in one pass, so that a value that looks like one stays as it is.
pub(crate) fn fill(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let Some((name, behind)) = after.split_once('}') else {
            filled.push('{');
            rest = after;
            continue;
        };
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => filled.push_str(value),
            None => filled.extend(["{", name, "}"]),
        }
        rest = behind;
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn placeholders(text: &str) -> BTreeSet<&str> {
        text.split('{')
            .skip(1)
            .filter_map(|rest| rest.split_once('}'))
            .map(|(name, _)| name)
            .collect()
    }

    #[test]
    fn both_languages_are_complete() {
        for (file, messages) in CATALOGUE {
            for (name, message) in *messages {
                for text in [message.en, message.de] {
                    assert!(!text.trim().is_empty(), "{file}::{name} has an empty text");
                    assert_eq!(text, text.trim(), "{file}::{name} has blanks at an end");
                }
                assert_eq!(
                    placeholders(message.en),
                    placeholders(message.de),
                    "{file}::{name} has other placeholders in German"
                );
            }
        }
    }

    #[test]
    fn every_file_is_in_the_catalogue() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/words");
        for entry in std::fs::read_dir(folder).expect("the folder of texts") {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            assert!(
                CATALOGUE.iter().any(|(file, _)| *file == name),
                "words/{name}.rs is not in the catalogue"
            );
        }
    }

    #[test]
    fn fills_placeholders_once() {
        assert_eq!(fill("{a} of {b}", &[("a", "{b}"), ("b", "2")]), "{b} of 2");
        assert_eq!(fill("{gone} {", &[]), "{gone} {");
    }
}
