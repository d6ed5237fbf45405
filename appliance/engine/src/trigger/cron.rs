//! The next time of a cron expression in a zone.
//!
//! **Invariants**: the next time is later than the one given; a time that summer time skips is
//! left out, one that comes twice counts once (the first).

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use millrace_flow::cron::Cron;
use millrace_model::Timestamp;

/// A day that matches is looked for within so many days: 29 February is at most 8 years away.
const DAYS_AHEAD_MAX: usize = 366 * 9;

/// When a cron expression is due, in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due(pub(crate) Cron);

impl Due {
    /// The first time after `after` in a zone.
    pub(crate) fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let after_stamp = jiff::Timestamp::from_nanosecond(i128::from(after.0)).ok()?;
        let start = zone.to_datetime(after_stamp);
        // The hour that is repeated in autumn begins before the civil time shown now; looking
        // from the start of the day finds it, and times that have passed are left out below.
        let mut date = start.date();
        for _ in 0..DAYS_AHEAD_MAX {
            if self.is_day(date)
                && let Some(found) = self.on_day(date, after_stamp, zone)
            {
                return i64::try_from(found.as_nanosecond()).ok().map(Timestamp);
            }
            date = date.tomorrow().ok()?;
        }
        None
    }

    fn on_day(
        &self,
        date: Date,
        after: jiff::Timestamp,
        zone: &TimeZone,
    ) -> Option<jiff::Timestamp> {
        let from = zone.to_datetime(after);
        // A whole day before is passed over at once; today's hours up to two before now may
        // still hold a time that comes again.
        let first_hour = if from.date() == date { from.hour().saturating_sub(2) } else { 0 };
        for hour in bits(self.0.hours).filter(|hour| *hour >= first_hour) {
            for minute in bits(self.0.minutes) {
                for second in bits(self.0.seconds) {
                    let time = Time::new(hour, minute, second, 0).ok()?;
                    let at = zone.to_ambiguous_timestamp(DateTime::from_parts(date, time));
                    if matches!(at.offset(), jiff::tz::AmbiguousOffset::Gap { .. }) {
                        continue;
                    }
                    if let Ok(found) = at.earlier()
                        && found > after
                    {
                        return Some(found);
                    }
                }
            }
        }
        None
    }

    fn is_day(&self, date: Date) -> bool {
        let [month, day, weekday] =
            [date.month(), date.day(), date.weekday().to_sunday_zero_offset()]
                .map(|number| u32::from(number.unsigned_abs()));
        self.0.fits_date(month, day, weekday)
    }
}

fn bits(set: u64) -> impl Iterator<Item = i8> {
    (0..60i8).filter(move |bit| set >> bit.unsigned_abs() & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cron: &str, zone: &str, after: &str, expected: &[&str]) {
        let cron = Due(Cron::parse(cron).unwrap());
        let zone = TimeZone::get(zone).unwrap();
        let mut at = Timestamp::from_rfc3339(after).unwrap();
        for expected in expected {
            at = cron.next(at, &zone).unwrap();
            assert_eq!(at.to_rfc3339(), *expected);
        }
    }

    #[test]
    fn finds_the_next_times() {
        check(
            "*/20 * * * *",
            "UTC",
            "2026-11-30T10:15:00Z",
            &["2026-11-30T10:20:00Z", "2026-11-30T10:40:00Z", "2026-11-30T11:00:00Z"],
        );
        check(
            "30 0 6 * * mon-fri",
            "Europe/Berlin",
            "2026-11-27T12:00:00Z",
            &["2026-11-30T05:00:30Z", "2026-12-01T05:00:30Z"],
        );
        check("0 0 29 feb *", "UTC", "2026-01-01T00:00:00Z", &["2028-02-29T00:00:00Z"]);
        check(
            "0 0 13 * 5",
            "UTC",
            "2026-11-01T00:00:00Z",
            &["2026-11-06T00:00:00Z", "2026-11-13T00:00:00Z"],
        );
        check("0 0 * * 7", "UTC", "2026-11-30T00:00:00Z", &["2026-12-06T00:00:00Z"]);
    }

    #[test]
    fn summer_time_skips_and_does_not_repeat() {
        check(
            "30 2 * * *",
            "Europe/Berlin",
            "2026-03-28T00:00:00Z",
            &["2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z"],
        );
        check(
            "30 2 * * *",
            "Europe/Berlin",
            "2026-10-24T12:00:00Z",
            &["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
        );
    }
}
