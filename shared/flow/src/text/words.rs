//! What a parser of JSON says, in the words of this program.
//!
//! **Invariants**: every message is one of these; the place is not in it, since it has fields of its
//! own.

use serde_json::error::Category;

/// The parser's beginnings of a message, and what is said instead.
const WORDS: &[(&str, &str)] = &[
    ("expected `:`", "a colon is missing between a key and its value"),
    ("expected `,` or `}`", "a comma is missing before this, or the `}` of the object"),
    ("expected `,` or `]`", "a comma is missing before this, or the `]` of the list"),
    ("trailing comma", "there is a comma too many before this"),
    ("trailing characters", "there is more text behind the end of the document"),
    ("key must be a string", "a key is missing here, in double quotes"),
    ("control character", "a line break or tab within a text is written `\\n` or `\\t`"),
    ("invalid escape", "a backslash in a text is written `\\\\`"),
    ("invalid number", "this is no number as JSON writes it"),
    ("number out of range", "this number is too large"),
    ("lone leading surrogate", "a `\\u` pair is not whole"),
    ("unexpected end of hex escape", "a `\\u` pair is not whole"),
    ("invalid unicode code point", "a `\\u` names no character"),
    ("expected value", VALUE),
    ("expected ident", VALUE),
];

const VALUE: &str = "a value is missing or not written as JSON does: text in double quotes, a \
                     number, true, false, null, an object or a list";

/// What is wrong with a text that is no JSON.
pub(super) fn of(fault: &serde_json::Error) -> String {
    if fault.classify() == Category::Eof {
        return "the text ends too early: a brace, bracket or quote is not closed".to_owned();
    }
    let told = fault.to_string();
    let words = WORDS.iter().find(|(begin, _)| told.starts_with(begin));
    words.map_or("is not JSON from here on", |(_, words)| *words).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_it_in_words_of_its_own() {
        let check = |text: &str, expected: &str| {
            let fault = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
            let told = of(&fault);
            assert!(told.contains(expected), "{text}: {fault} gives {told}");
        };
        check("", "ends too early");
        check("{\"a\": ", "ends too early");
        check("{\"a\" 1}", "a colon is missing");
        check("{\"a\": 1 \"b\": 2}", "a comma is missing");
        check("[1 2]", "a comma is missing");
        check("[1,]", "a comma too many");
        check("{\"a\": 1,}", "a comma too many");
        check("{a: 1}", "a key is missing");
        check("{} x", "more text behind");
        check("{\"a\": True}", "a value is missing");
        check("{\"a\": nul}", "a value is missing");
        check("[\"a\nb\"]", "a line break");
        check("[\"\\x\"]", "a backslash");
        check("[01]", "no number");
        check("[\"\\ud800\"]", "pair");
    }
}
