//! PostgreSQL's dates and times as text and back.
//!
//! Times with a zone become RFC 3339 in UTC (`2026-11-30T17:14:32.5Z`), times without one the same
//! without `Z`. PostgreSQL counts microseconds, or days, from 2000-01-01.
//!
//! **Invariants**: every value that PostgreSQL can hold has a text; what is read back is exact to
//! the microsecond.

const EPOCH_DAYS: i64 = 10_957;
const EPOCH_MICROS: i64 = 946_684_800_000_000;
const DAY_MICROS: i64 = 86_400_000_000;

/// A time of PostgreSQL as text.
pub(super) fn timestamp_text(micros: i64, zone: &str) -> String {
    if let Some(text) = infinite(micros == i64::MAX, micros == i64::MIN) {
        return text;
    }
    let days = micros.div_euclid(DAY_MICROS);
    let mut text = civil(days);
    text.push('T');
    text.push_str(&clock_text(micros.rem_euclid(DAY_MICROS)));
    text.push_str(zone);
    text
}

/// A date of PostgreSQL as text.
pub(super) fn date_text(days: i32) -> String {
    infinite(days == i32::MAX, days == i32::MIN).unwrap_or_else(|| civil(i64::from(days)))
}

fn infinite(is_high: bool, is_low: bool) -> Option<String> {
    match (is_high, is_low) {
        (true, _) => Some("infinity".to_owned()),
        (_, true) => Some("-infinity".to_owned()),
        _ => None,
    }
}

/// A time of day: `17:14:32.5`.
pub(super) fn clock_text(micros: i64) -> String {
    let seconds = micros.div_euclid(1_000_000);
    let rest = micros.rem_euclid(1_000_000);
    let mut text = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if rest > 0 {
        text.push_str(&format!(".{rest:06}"));
        text.truncate(text.trim_end_matches('0').len());
    }
    text
}

/// An interval as ISO 8601: `P1Y2M3DT4H5M6.5S`.
pub(super) fn interval_text(months: i32, days: i32, micros: i64) -> String {
    let mut text = String::from("P");
    let parts =
        [(i64::from(months / 12), 'Y'), (i64::from(months % 12), 'M'), (i64::from(days), 'D')];
    for (count, unit) in parts.into_iter().filter(|(count, _)| *count != 0) {
        text.push_str(&format!("{count}{unit}"));
    }
    if micros != 0 || text.len() == 1 {
        let sign = if micros < 0 { "-" } else { "" };
        let micros = micros.unsigned_abs();
        let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
        text.push('T');
        for (count, unit) in [(seconds / 3_600, 'H'), (seconds / 60 % 60, 'M')] {
            if count != 0 {
                text.push_str(&format!("{sign}{count}{unit}"));
            }
        }
        if seconds % 60 != 0 || rest != 0 || micros == 0 {
            let mut second = format!("{sign}{}.{rest:06}", seconds % 60);
            second.truncate(second.trim_end_matches('0').trim_end_matches('.').len());
            text.push_str(&second);
            text.push('S');
        }
    }
    text
}

/// A day as `YYYY-MM-DD` (the proleptic Gregorian calendar, as PostgreSQL's).
fn civil(days_since_2000: i64) -> String {
    // Days since 0000-03-01, in eras of 400 years: then the leap day is the last of its year.
    let days = days_since_2000 + EPOCH_DAYS + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    match year {
        ..0 => format!("-{:04}-{month:02}-{day:02}", -year),
        _ => format!("{year:04}-{month:02}-{day:02}"),
    }
}

/// Microseconds of a time with a zone.
pub(super) fn parse_timestamp_tz(text: &str) -> Option<i64> {
    if let Some(micros) = parse_infinite(text) {
        return Some(micros);
    }
    let stamp: jiff::Timestamp = text.parse().ok()?;
    Some(stamp.as_microsecond() - EPOCH_MICROS)
}

/// Microseconds of a time without a zone; one with a zone is taken in UTC.
pub(super) fn parse_timestamp(text: &str) -> Option<i64> {
    if let Some(micros) = parse_timestamp_tz(text) {
        return Some(micros);
    }
    let civil: jiff::civil::DateTime = text.parse().ok()?;
    let stamp = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    Some(stamp.as_microsecond() - EPOCH_MICROS)
}

/// Microseconds of milliseconds since 1970, as `time_ms` of triggers.
pub(super) fn from_epoch_millis(millis: f64) -> Option<i64> {
    const LARGEST: f64 = 9e15;
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
    (millis.abs() < LARGEST).then(|| (millis * 1_000.0).round() as i64 - EPOCH_MICROS)
}

/// Days of a date; of a time its date.
pub(super) fn parse_date(text: &str) -> Option<i32> {
    let date: jiff::civil::Date = text.parse().ok()?;
    let epoch = jiff::civil::date(1970, 1, 1);
    let days = i64::from(date.since(epoch).ok()?.get_days()) - EPOCH_DAYS;
    i32::try_from(days).ok()
}

/// Microseconds of a time of day.
pub(super) fn parse_clock(text: &str) -> Option<i64> {
    let time: jiff::civil::Time = text.parse().ok()?;
    let seconds =
        i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second());
    Some(seconds * 1_000_000 + i64::from(time.subsec_nanosecond()) / 1_000)
}

fn parse_infinite(text: &str) -> Option<i64> {
    match text {
        "infinity" => Some(i64::MAX),
        "-infinity" => Some(i64::MIN),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_back_as_they_were() {
        for text in [
            "2000-01-01T00:00:00Z",
            "2026-11-30T17:14:32.5Z",
            "1999-12-31T23:59:59.999999Z",
            "1969-07-20T20:17:40Z",
            "0001-01-01T00:00:00Z",
            "2024-02-29T12:00:00.000001Z",
            "infinity",
            "-infinity",
        ] {
            let micros = parse_timestamp_tz(text).unwrap();
            assert_eq!(timestamp_text(micros, "Z"), text);
        }
        assert_eq!(
            parse_timestamp_tz("2026-11-30T18:14:32+01:00"),
            parse_timestamp_tz("2026-11-30T17:14:32Z")
        );
        assert_eq!(parse_timestamp_tz("2026-11-30T18:14:32"), None, "a zone is needed");
        assert_eq!(
            timestamp_text(parse_timestamp("2026-11-30T18:14:32").unwrap(), ""),
            "2026-11-30T18:14:32"
        );
        assert_eq!(from_epoch_millis(946_684_800_000.5), Some(500));
    }

    #[test]
    fn far_years_have_a_text() {
        assert_eq!(timestamp_text(9_223_371_331_199_999_999, "Z"), "294276-12-31T23:59:59.999999Z");
        assert_eq!(date_text(-2_451_545), "-4713-11-24");
    }

    #[test]
    fn dates_clocks_and_intervals() {
        for text in ["2026-11-30", "2000-01-01", "1970-01-01", "2024-02-29", "1900-03-01"] {
            assert_eq!(date_text(parse_date(text).unwrap()), text);
        }
        assert_eq!(clock_text(parse_clock("17:14:32.250").unwrap()), "17:14:32.25");
        assert_eq!(interval_text(14, 3, 14_706_500_000), "P1Y2M3DT4H5M6.5S");
        assert_eq!(interval_text(0, 0, 0), "PT0S");
        assert_eq!(interval_text(0, -1, -60_000_000), "P-1DT-1M");
    }
}
