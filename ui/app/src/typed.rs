//! Numbers as they are typed: all their digits, in the person's way of writing.
//!
//! **Invariants**
//! - What is written is read back as the same number.
//! - A mark that the other language would read differently is refused, never guessed: in German `1.5`
//!   is not a number, `1.500` is one and a half thousand.

use crate::locale::Locale;

/// A number with all its digits, to be edited: no marks between thousands.
pub(crate) fn written(locale: Locale, number: f64) -> String {
    if !number.is_finite() {
        return String::new();
    }
    let text = number.to_string();
    match locale {
        Locale::English => text,
        Locale::German => text.replace('.', ","),
    }
}

/// The number that was typed.
pub(crate) fn read(locale: Locale, text: &str) -> Option<f64> {
    let (group, point) = match locale {
        Locale::English => (',', '.'),
        Locale::German => ('.', ','),
    };
    let text: String = text.trim().chars().map(|c| if c == '−' { '-' } else { c }).collect();
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.as_str()),
    };
    let (whole, part) = match text.split_once(point) {
        Some((whole, part)) => (whole, Some(part)),
        None => (text, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = whole.split(group);
    let first = parts.next().unwrap_or_default();
    let is_grouped = first.len() <= 3 || !whole.contains(group);
    let whole_is_good =
        digits(first) && is_grouped && parts.all(|part| part.len() == 3 && digits(part));
    if !whole_is_good || part.is_some_and(|part| !part.is_empty() && !digits(part)) {
        return None;
    }
    let whole: String = whole.chars().filter(|c| *c != group).collect();
    format!("{sign}{whole}.{}", part.filter(|part| !part.is_empty()).unwrap_or("0")).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        for number in [0.0, 1.0, 0.1, -2.5, 12_345.678, 1e15] {
            for locale in [Locale::English, Locale::German] {
                assert_eq!(read(locale, &written(locale, number)), Some(number), "{number}");
            }
        }
        assert_eq!(written(Locale::German, 0.25), "0,25");
        assert_eq!(written(Locale::English, f64::NAN), "");
    }

    #[test]
    fn reads_thousands_and_half_typed_numbers() {
        assert_eq!(read(Locale::German, " 1.234.567,5 "), Some(1_234_567.5));
        assert_eq!(read(Locale::English, "12,000"), Some(12_000.0));
        assert_eq!(read(Locale::English, "3."), Some(3.0));
        assert_eq!(read(Locale::German, "−3"), Some(-3.0));
    }

    #[test]
    fn guesses_nothing() {
        for text in ["1.5", "1.2345", "1234.567", ".500", "", "-", "1e3", "NaN", "1,5,0", "2 cores"]
        {
            assert_eq!(read(Locale::German, text), None, "{text}");
        }
        for text in ["1,5", "1,23", "0x10", "inf", "1.2.3"] {
            assert_eq!(read(Locale::English, text), None, "{text}");
        }
    }
}
