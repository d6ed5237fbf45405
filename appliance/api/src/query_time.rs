//! Times in query parameters: RFC 3339, a date, an epoch number, `now`, or an offset from now.

use crate::error::{ApiError, Result};
use millrace_model::Timestamp;
use millrace_model::time::NANOS_PER_SECOND;

/// Most of a wrong time that is repeated in an answer.
const TEXT_CHARACTERS_SHOWN: usize = 40;

/// Reads a time parameter. Offsets are `-90s`, `-15m`, `-1h`, `-7d`, `+5m`; an epoch number's
/// unit is told by its size, see [`Timestamp::from_epoch_number`].
pub(crate) fn parse(field: &str, text: &str, now: Timestamp) -> Result<Timestamp> {
    read(text.trim(), now).ok_or_else(|| {
        let short: String = text.chars().take(TEXT_CHARACTERS_SHOWN).collect();
        let message = format!(
            "'{short}' is no time: give RFC 3339 (2026-11-30T14:05:00Z, or +01:00 in place of Z), a \
             date, an epoch number (s, ms, us or ns), now, or an offset such as -15m."
        );
        ApiError::bad_parameter(field, message)
    })
}

fn read(text: &str, now: Timestamp) -> Option<Timestamp> {
    if text == "now" {
        return Some(now);
    }
    if let Some(nanos) = offset_nanos(text) {
        return now.0.checked_add(nanos).map(Timestamp);
    }
    // A date alone is its beginning, UTC.
    if text.len() == 10 && text.as_bytes().get(4) == Some(&b'-') {
        return Timestamp::from_rfc3339(&format!("{text}T00:00:00Z"));
    }
    if let Ok(number) = text.parse::<i64>() {
        return Timestamp::from_epoch_number(number);
    }
    // A plus that was not percent-encoded arrives as a space; RFC 3339 has no other use for it
    // than between date and time, where it stands at byte 10.
    let spaced = text.char_indices().any(|(at, character)| character == ' ' && at != 10);
    if spaced {
        let fixed: String = text
            .char_indices()
            .map(|(at, character)| if character == ' ' && at != 10 { '+' } else { character })
            .collect();
        return Timestamp::from_rfc3339(&fixed);
    }
    Timestamp::from_rfc3339(text)
}

fn offset_nanos(text: &str) -> Option<i64> {
    let mut characters = text.chars();
    let unit: i64 = match characters.next_back()? {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    let number = characters.as_str();
    if !number.starts_with(['-', '+']) {
        return None;
    }
    let count: i64 = number.parse().ok()?;
    count.checked_mul(unit)?.checked_mul(NANOS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_of_time() {
        let now = Timestamp::from_rfc3339("2026-11-30T12:00:00Z").unwrap();
        let check = |text: &str, expected: Option<&str>| {
            let expected = expected.map(|text| Timestamp::from_rfc3339(text).unwrap());
            assert_eq!(parse("from", text, now).ok(), expected, "{text}");
        };
        check("now", Some("2026-11-30T12:00:00Z"));
        check("-1h", Some("2026-11-30T11:00:00Z"));
        check("-15m", Some("2026-11-30T11:45:00Z"));
        check("+90s", Some("2026-11-30T12:01:30Z"));
        check("-7d", Some("2026-11-23T12:00:00Z"));
        check("2026-11-30T12:00:00.123456789+01:00", Some("2026-11-30T11:00:00.123456789Z"));
        check("2026-11-30T12:00:00 01:00", Some("2026-11-30T11:00:00Z"));
        check("1764504000000", Some("2025-11-30T12:00:00Z"));
        check("1764504000000000001", Some("2025-11-30T12:00:00.000000001Z"));
        check("2026-11-30", Some("2026-11-30T00:00:00Z"));
        check("2026-02-30", None);
        check("2026-1-030", None);
        check("1h", None);
        check("-h", None);
        check("--1h", None);
        check("-9999999999999999d", None);
        check("-300000d", None);
        check("", None);
        check("yesterday", None);
        check("ü", None);
    }
}
