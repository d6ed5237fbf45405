//! Cron expressions: which seconds, minutes, hours, days, months and weekdays they name.
//!
//! Five fields (minute, hour, day of the month, month, day of the week), or six with seconds
//! first. A field is `*`, a number, a range `a-b`, any of them with a step `/n`, or several with
//! commas. Months and weekdays may be English names of three letters. Sunday is 0 or 7. If both
//! days are limited, a date that fits either fits, as in every cron.
//!
//! **Invariants**: a parsed expression names at least one value in every field.

use thiserror::Error;

/// A cron expression as sets of bits: bit n is set if n is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cron {
    /// Seconds, 0 to 59.
    pub seconds: u64,
    /// Minutes, 0 to 59.
    pub minutes: u64,
    /// Hours, 0 to 23.
    pub hours: u64,
    /// Days of the month, 1 to 31.
    pub days: u64,
    /// Months, 1 to 12.
    pub months: u64,
    /// Days of the week, 0 (Sunday) to 6.
    pub weekdays: u64,
    /// Whether both the day of the month and the day of the week are limited: then either counts.
    pub either_day: bool,
}

/// Why text is no cron expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CronFault {
    /// Not 5 or 6 fields.
    #[error("a cron expression has 5 fields, or 6 with seconds first, not {0}")]
    Fields(usize),
    /// A field that cannot be read.
    #[error(
        "`{text}` is no {field}: numbers {least} to {most}, `*`, ranges `a-b`, steps `/n`, commas"
    )]
    Field {
        /// The field's text.
        text: String,
        /// Which field.
        field: &'static str,
        /// Smallest number.
        least: u32,
        /// Largest number.
        most: u32,
    },
    /// No date can ever fit: 31 February.
    #[error("no date ever fits these days and months")]
    Never,
}

const MONTHS: &[&str] =
    &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

impl Cron {
    /// Reads an expression.
    ///
    /// # Errors
    /// The first field that cannot be read.
    pub fn parse(text: &str) -> Result<Self, CronFault> {
        let fields: Vec<&str> = text.split_ascii_whitespace().collect();
        let (seconds, rest) = match fields.as_slice() {
            [minute, hour, day, month, weekday] => ("0", [minute, hour, day, month, weekday]),
            [second, minute, hour, day, month, weekday] => {
                (*second, [minute, hour, day, month, weekday])
            }
            other => return Err(CronFault::Fields(other.len())),
        };
        let [minute, hour, day, month, weekday] = rest;
        let weekdays = set(weekday, "day of the week", 0, 7, WEEKDAYS, 0)?;
        let cron = Self {
            seconds: set(seconds, "second", 0, 59, &[], 0)?,
            minutes: set(minute, "minute", 0, 59, &[], 0)?,
            hours: set(hour, "hour", 0, 23, &[], 0)?,
            days: set(day, "day of the month", 1, 31, &[], 0)?,
            months: set(month, "month", 1, 12, MONTHS, 1)?,
            // 7 is Sunday too.
            weekdays: (weekdays | (weekdays >> 7)) & 0x7f,
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
        };
        if cron.ever_fits() { Ok(cron) } else { Err(CronFault::Never) }
    }

    /// Whether a date fits. Weekday: 0 = Sunday.
    #[must_use]
    pub fn fits_date(&self, month: u32, day: u32, weekday: u32) -> bool {
        let (day, weekday) = (has(self.days, day), has(self.weekdays, weekday));
        has(self.months, month) && if self.either_day { day || weekday } else { day && weekday }
    }

    /// Whether a time of day fits.
    #[must_use]
    pub fn fits_time(&self, hour: u32, minute: u32, second: u32) -> bool {
        has(self.hours, hour) && has(self.minutes, minute) && has(self.seconds, second)
    }

    fn ever_fits(&self) -> bool {
        const LONGEST: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        self.either_day
            || (1..).zip(LONGEST).any(|(month, days)| {
                has(self.months, month) && self.days & ((1 << (days + 1)) - 1) != 0
            })
    }
}

fn has(set: u64, number: u32) -> bool {
    set.checked_shr(number).is_some_and(|rest| rest & 1 == 1)
}

/// The set of one field. `names` count from `first`.
fn set(
    text: &str,
    field: &'static str,
    least: u32,
    most: u32,
    names: &[&str],
    first: u32,
) -> Result<u64, CronFault> {
    let fault = || CronFault::Field { text: text.to_owned(), field, least, most };
    let number = |word: &str| {
        let is_digits = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let named = || {
            let at = names.iter().position(|name| name.eq_ignore_ascii_case(word))?;
            u32::try_from(at).ok().map(|at| at + first)
        };
        let number = if is_digits { word.parse().ok() } else { named() };
        number.filter(|number| (least..=most).contains(number))
    };
    let mut set = 0;
    for piece in text.split(',') {
        let (range, step) = match piece.split_once('/') {
            Some((range, step)) => {
                (range, step.parse().ok().filter(|step| (1..=most).contains(step)))
            }
            None => (piece, Some(1)),
        };
        let step: u32 = step.ok_or_else(fault)?;
        let (from, to) = match range.split_once('-') {
            _ if range == "*" => (least, most),
            Some((from, to)) => (number(from).ok_or_else(fault)?, number(to).ok_or_else(fault)?),
            None => {
                let from = number(range).ok_or_else(fault)?;
                // `5/10` is every tenth from the fifth on.
                (from, if piece.contains('/') { most } else { from })
            }
        };
        if from > to {
            return Err(fault());
        }
        let steps = (from..=to).step_by(usize::try_from(step).unwrap_or(usize::MAX));
        set |= steps.fold(0, |set, number| set | (1_u64 << number));
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(set: u64) -> Vec<u32> {
        (0..64).filter(|number| has(set, *number)).collect()
    }

    #[test]
    fn reads_what_crontabs_say() {
        let cron = Cron::parse("*/15 6-8,22 1 jan-mar mon-fri").unwrap();
        assert_eq!(numbers(cron.seconds), [0]);
        assert_eq!(numbers(cron.minutes), [0, 15, 30, 45]);
        assert_eq!(numbers(cron.hours), [6, 7, 8, 22]);
        assert_eq!(numbers(cron.months), [1, 2, 3]);
        assert_eq!(numbers(cron.weekdays), [1, 2, 3, 4, 5]);
        assert!(cron.either_day);
        assert!(cron.fits_date(2, 1, 0) && cron.fits_date(2, 2, 1) && !cron.fits_date(2, 2, 0));
        let sundays = Cron::parse("30 0 0 * * 7").unwrap();
        assert_eq!(numbers(sundays.weekdays), [0]);
        assert!(sundays.fits_date(5, 13, 0) && !sundays.fits_date(5, 13, 1));
        assert!(sundays.fits_time(0, 0, 30) && !sundays.fits_time(0, 0, 0));
        assert_eq!(numbers(Cron::parse("5/20 * * * *").unwrap().minutes), [5, 25, 45]);
    }

    #[test]
    fn refuses_what_it_cannot_read_or_never_comes() {
        for text in [
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
            "a * * * *",
            "5-1 * * * *",
            "*/0 * * * *",
            "-1 * * * *",
            "1,,2 * * * *",
            "+1 * * * *",
        ] {
            assert!(matches!(Cron::parse(text), Err(CronFault::Field { .. })), "{text}");
        }
        assert_eq!(Cron::parse("* * * *"), Err(CronFault::Fields(4)));
        assert_eq!(Cron::parse("0 0 31 2 *"), Err(CronFault::Never));
        assert!(Cron::parse("0 0 29 2 *").is_ok());
    }
}
