//! A stored value as text for a row: short, in the person's way of writing, never as markup.
//!
//! **Invariants**
//! - A whole number keeps all its digits.
//! - Text from a device is one line of at most [`TEXT_MAX`] signs.

use crate::locale::Locale;
use millrace_contract::v1;
use millrace_kit::Quality;
use millrace_model::quality::Grade;

/// Signs of a text in a row.
const TEXT_MAX: usize = 60;

/// A value for a row.
pub(super) fn short(locale: Locale, kind: v1::Kind, value: &str) -> String {
    match kind {
        v1::Kind::Int | v1::Kind::Uint => match value.parse::<i128>() {
            Ok(number) => locale.integer(number),
            Err(_) => line(value),
        },
        v1::Kind::Float => match value.parse::<f64>() {
            Ok(number) => locale.reading(number),
            // What is no number in JSON comes as a word.
            Err(_) => line(value.trim_matches('"')),
        },
        v1::Kind::Text => match serde_json::from_str::<String>(value) {
            Ok(text) => line(&text),
            Err(_) => line(value),
        },
        v1::Kind::Bool | v1::Kind::Null | v1::Kind::Json => line(value),
    }
}

/// A value whole, as it was stored; long ones are cut at 2,000 signs.
pub(super) fn whole(kind: v1::Kind, value: &str) -> String {
    let text = match kind {
        v1::Kind::Text => serde_json::from_str(value).unwrap_or_else(|_| value.to_owned()),
        _ => value.to_owned(),
    };
    cut(&text, 2_000)
}

fn line(text: &str) -> String {
    let text: String =
        text.chars().take(TEXT_MAX + 1).map(|c| if c.is_control() { ' ' } else { c }).collect();
    cut(&text, TEXT_MAX)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// What the device says about its value.
pub(super) fn quality(code: u32) -> Quality {
    match millrace_model::Quality(code).grade() {
        Grade::Good => Quality::Good,
        Grade::Uncertain => Quality::Uncertain,
        Grade::Bad => Quality::Bad,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_keep_their_digits() {
        let text = short(Locale::German, v1::Kind::Int, "9223372036854775807");
        assert_eq!(text, "9.223.372.036.854.775.807");
        assert_eq!(short(Locale::English, v1::Kind::Float, "21.456789"), "21.46");
        assert_eq!(short(Locale::English, v1::Kind::Float, "\"NaN\""), "NaN");
        assert_eq!(whole(v1::Kind::Float, "21.456789"), "21.456789");
    }

    #[test]
    fn text_is_one_short_line() {
        let text = short(Locale::English, v1::Kind::Text, "\"<b>a\\nb\"");
        assert_eq!(text, "<b>a b");
        let long = format!("\"{}\"", "ä".repeat(5_000));
        assert_eq!(short(Locale::English, v1::Kind::Text, &long).chars().count(), TEXT_MAX + 1);
        assert_eq!(whole(v1::Kind::Text, &long).chars().count(), 2_001);
    }

    #[test]
    fn quality_goes_by_its_severity() {
        assert_eq!(quality(0), Quality::Good);
        assert_eq!(quality(0x4094_0000), Quality::Uncertain);
        assert_eq!(quality(0x8000_0000), Quality::Bad);
    }
}
