//! Numbers, times and ages as the person writes them. Exports do not use this: they are ISO.
//!
//! **Invariants**
//! - A number never loses digits that matter to a unit's prefix: `1,234.5`, never `1.2k`.
//! - Not-a-number and infinities are words, not zeros.

use crate::words::{Language, Message, units};
use millrace_model::Timestamp;
use millrace_model::time::NANOS_PER_SECOND;

/// How a person writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locale {
    /// English.
    #[default]
    English,
    /// German.
    German,
}

impl Locale {
    /// The locale of a language tag (`de-AT`), if it is one of ours.
    #[must_use]
    pub fn of(tag: &str) -> Option<Self> {
        match tag.split(['-', '_']).next().unwrap_or_default() {
            "en" => Some(Self::English),
            "de" => Some(Self::German),
            _ => None,
        }
    }

    /// Its language tag.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
        }
    }

    fn marks(self) -> (char, char) {
        match self {
            Self::English => (',', '.'),
            Self::German => ('.', ','),
        }
    }

    /// A whole number with its thousands set apart.
    #[must_use]
    pub fn integer(self, number: i128) -> String {
        let digits = number.unsigned_abs().to_string();
        let grouped = self.group(&digits);
        if number < 0 { format!("−{grouped}") } else { grouped }
    }

    /// A number with that many digits after the mark.
    #[must_use]
    pub fn number(self, number: f64, digits: usize) -> String {
        if number.is_nan() {
            return "NaN".to_owned();
        }
        if number.is_infinite() {
            return if number > 0.0 { "∞" } else { "−∞" }.to_owned();
        }
        let text = format!("{:.digits$}", number.abs());
        let is_zero = text.bytes().all(|byte| byte == b'0' || byte == b'.');
        let sign = if number < 0.0 && !is_zero { "−" } else { "" };
        match text.split_once('.') {
            None => format!("{sign}{}", self.group(&text)),
            Some((whole, part)) => {
                format!("{sign}{}{}{part}", self.group(whole), self.marks().1)
            }
        }
    }

    /// A number with as many digits as are worth reading: about four.
    #[must_use]
    pub fn reading(self, number: f64) -> String {
        let size = number.abs();
        let digits = if size >= 1_000.0 || size == 0.0 {
            0
        } else if size >= 100.0 {
            1
        } else if size >= 10.0 {
            2
        } else {
            3
        };
        self.number(number, digits)
    }

    /// A count or a setting: whole numbers have no digits behind the mark, others as many as are
    /// worth reading.
    #[must_use]
    pub fn amount(self, number: f64) -> String {
        if number.fract() == 0.0 { self.number(number, 0) } else { self.reading(number) }
    }

    /// Reads a number that a person typed in this locale; ISO is understood too where it is plain.
    #[must_use]
    pub fn parse_number(self, text: &str) -> Option<f64> {
        let (group, point) = self.marks();
        let plain: String = text
            .trim()
            .chars()
            .filter(|c| *c != group && !c.is_whitespace())
            .map(|c| match c {
                '−' => '-',
                c if c == point => '.',
                c => c,
            })
            .collect();
        plain.parse().ok()
    }

    fn group(self, digits: &str) -> String {
        let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                grouped.push(self.marks().0);
            }
            grouped.push(digit);
        }
        grouped
    }

    /// Bytes with a decimal prefix, as disks are sold.
    #[must_use]
    pub fn bytes(self, bytes: u64) -> (String, &'static str) {
        const STEPS: [(u64, &str); 4] =
            [(1_000_000_000_000, "TB"), (1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
        for (step, unit) in STEPS {
            if bytes >= step {
                #[expect(clippy::cast_precision_loss, reason = "four digits are shown")]
                let share = bytes as f64 / step as f64;
                return (self.number(share, if share < 10.0 { 2 } else { 1 }), unit);
            }
        }
        (self.integer(i128::from(bytes)), "B")
    }

    /// Day and time of day, where the person is.
    #[must_use]
    pub fn date_time(self, at: Timestamp, utc_offset_minutes: i32) -> String {
        let (date, time) = self.split(at, utc_offset_minutes);
        format!("{date} {time}")
    }

    /// The time of day alone.
    #[must_use]
    pub fn time(self, at: Timestamp, utc_offset_minutes: i32) -> String {
        self.split(at, utc_offset_minutes).1
    }

    fn split(self, at: Timestamp, utc_offset_minutes: i32) -> (String, String) {
        let there = at.plus_nanos(i64::from(utc_offset_minutes) * 60 * NANOS_PER_SECOND);
        let iso = there.to_rfc3339();
        let (date, time) = iso.split_once('T').unwrap_or((&iso, ""));
        let time = time.get(..8).unwrap_or(time).to_owned();
        let date = match (self, date.rsplitn(3, '-').collect::<Vec<_>>().as_slice()) {
            (Self::German, [day, month, year]) => format!("{day}.{month}.{year}"),
            // Day and month first are read wrongly by half of the world: English gets ISO.
            _ => date.to_owned(),
        };
        (date, time)
    }
}

/// "12 s ago", in the person's words.
#[must_use]
pub fn ago(language: Language, nanos: u64) -> String {
    let (message, count) = age_of(nanos);
    language.say_with(message, &[("n", &count.to_string())])
}

fn age_of(nanos: u64) -> (Message, u64) {
    let seconds = nanos / NANOS_PER_SECOND.unsigned_abs();
    match seconds {
        0..120 => (units::SECONDS_AGO, seconds),
        120..7_200 => (units::MINUTES_AGO, seconds / 60),
        7_200..172_800 => (units::HOURS_AGO, seconds / 3_600),
        _ => (units::DAYS_AGO, seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_numbers_as_the_person_does() {
        assert_eq!(Locale::English.number(1_234_567.891, 2), "1,234,567.89");
        assert_eq!(Locale::German.number(1_234_567.891, 2), "1.234.567,89");
        assert_eq!(Locale::German.integer(-999), "−999");
        assert_eq!(Locale::English.integer(i128::from(i64::MAX)), "9,223,372,036,854,775,807");
        assert_eq!(Locale::English.number(-0.001, 1), "0.0");
        assert_eq!(Locale::English.amount(400.0), "400");
        assert_eq!(Locale::German.amount(0.25), "0,250");
    }

    #[test]
    fn says_what_is_no_number() {
        assert_eq!(Locale::English.number(f64::NAN, 1), "NaN");
        assert_eq!(Locale::English.reading(f64::NEG_INFINITY), "−∞");
    }

    #[test]
    fn reads_numbers_as_the_person_writes_them() {
        assert_eq!(Locale::German.parse_number("1.234,5"), Some(1_234.5));
        assert_eq!(Locale::English.parse_number(" 1,234.5 "), Some(1_234.5));
        assert_eq!(Locale::German.parse_number("−3"), Some(-3.0));
        assert_eq!(Locale::English.parse_number("12 apples"), None);
    }

    #[test]
    fn writes_times_where_the_person_is() {
        let at = Timestamp::from_rfc3339("2026-11-30T23:30:15.123Z").expect("a time");
        assert_eq!(Locale::German.date_time(at, 60), "01.12.2026 00:30:15");
        assert_eq!(Locale::English.date_time(at, -60), "2026-11-30 22:30:15");
    }

    #[test]
    fn writes_bytes_with_a_prefix() {
        assert_eq!(Locale::English.bytes(999), ("999".to_owned(), "B"));
        assert_eq!(Locale::German.bytes(1_530_000), ("1,53".to_owned(), "MB"));
    }

    #[test]
    fn coarsens_ages() {
        assert_eq!(age_of(59_000_000_000), (units::SECONDS_AGO, 59));
        assert_eq!(age_of(3_600_000_000_000), (units::MINUTES_AGO, 60));
        assert_eq!(age_of(3 * 86_400 * 1_000_000_000), (units::DAYS_AGO, 3));
    }

    #[test]
    fn knows_its_languages() {
        assert_eq!(Locale::of("de-AT"), Some(Locale::German));
        assert_eq!(Locale::of("fr"), None);
    }
}
