//! How a certificate stands: how many days it is good for.
//!
//! **Invariants**
//! - Days are whole ones that are left; on the last day there are none, and it is not expired.

use millrace_model::Timestamp;
use millrace_model::time::NANOS_PER_SECOND;

/// From so many days on it expires soon.
const SOON_DAYS: u64 = 30;
const NANOS_PER_DAY: u64 = 86_400 * NANOS_PER_SECOND.unsigned_abs();

/// How a certificate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is good for so many days.
    Days(u64),
    /// It is good for so many days, which is not long.
    Soon(u64),
    /// It is not good any more.
    Expired,
}

/// How it stands at a time.
pub(super) fn standing(not_after: Timestamp, now: Timestamp) -> Standing {
    match u64::try_from(not_after.nanos_since(now)) {
        Err(_) => Standing::Expired,
        Ok(left) => match left / NANOS_PER_DAY {
            days if days < SOON_DAYS => Standing::Soon(days),
            days => Standing::Days(days),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_days_and_when_it_is_late() {
        let at = |text: &str| Timestamp::from_rfc3339(text).unwrap();
        let end = at("2036-01-01T00:00:00Z");
        assert_eq!(standing(end, at("2026-11-30T12:00:00Z")), Standing::Days(3_318));
        assert_eq!(standing(end, at("2035-12-02T00:00:00Z")), Standing::Days(30));
        assert_eq!(standing(end, at("2035-12-02T00:00:01Z")), Standing::Soon(29));
        assert_eq!(standing(end, at("2035-12-31T23:00:00Z")), Standing::Soon(0));
        assert_eq!(standing(end, at("2036-01-01T00:00:01Z")), Standing::Expired);
    }
}
