//! Time as nanoseconds since 1970-01-01T00:00:00Z.
//!
//! 64 bits of nanoseconds reach from 1677 to 2262; what does not fit is refused when parsed.

use serde::{Deserialize, Serialize};

/// Nanoseconds since the Unix epoch, UTC, without leap seconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

/// Nanoseconds in a second.
pub const NANOS_PER_SECOND: i64 = 1_000_000_000;
/// Nanoseconds in a millisecond.
pub const NANOS_PER_MILLI: i64 = 1_000_000;

impl Timestamp {
    /// The earliest time that can be held.
    pub const MIN: Self = Self(i64::MIN);
    /// The latest time that can be held.
    pub const MAX: Self = Self(i64::MAX);

    /// Reads RFC 3339 text (`2026-11-30T14:05:37.123456789Z`, or with an offset).
    /// Digits beyond the ninth and times outside of the range are refused (`None`).
    #[must_use]
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        let stamp: jiff::Timestamp = text.parse().ok()?;
        i64::try_from(stamp.as_nanosecond()).ok().map(Self)
    }

    /// Takes an epoch number whose unit is told by its size, as devices send it: below 1e11
    /// seconds, below 1e14 milliseconds, below 1e17 microseconds, else nanoseconds.
    /// (In milliseconds 1e11 is 1973 and in seconds the year 5138, so plant times never collide.)
    #[must_use]
    pub fn from_epoch_number(number: i64) -> Option<Self> {
        let magnitude = number.unsigned_abs();
        let factor = if magnitude < 100_000_000_000 {
            NANOS_PER_SECOND
        } else if magnitude < 100_000_000_000_000 {
            NANOS_PER_MILLI
        } else if magnitude < 100_000_000_000_000_000 {
            1_000
        } else {
            1
        };
        number.checked_mul(factor).map(Self)
    }

    /// RFC 3339 in UTC with as many fraction digits as are needed (none, 3, 6 or 9).
    #[must_use]
    pub fn to_rfc3339(self) -> String {
        match jiff::Timestamp::from_nanosecond(i128::from(self.0)) {
            Ok(stamp) => stamp.to_string(),
            // An i64 of nanoseconds always fits jiff's range of years -9999 to 9999.
            Err(_) => self.0.to_string(),
        }
    }

    /// Adds nanoseconds, stopping at the ends of the range.
    #[must_use]
    pub fn plus_nanos(self, nanos: i64) -> Self {
        Self(self.0.saturating_add(nanos))
    }

    /// Whole milliseconds, rounded down, and the nanoseconds left (0 to 999,999).
    #[must_use]
    pub fn split_millis(self) -> (i64, u32) {
        let millis = self.0.div_euclid(NANOS_PER_MILLI);
        let rest = self.0.rem_euclid(NANOS_PER_MILLI);
        (millis, u32::try_from(rest).unwrap_or(0))
    }

    /// The inverse of [`Self::split_millis`], stopping at the ends of the range.
    #[must_use]
    pub fn from_millis(millis: i64, rest: u32) -> Self {
        Self(millis.saturating_mul(NANOS_PER_MILLI).saturating_add(i64::from(rest)))
    }

    /// Nanoseconds from `earlier` to `self`, stopping at the ends of the range.
    #[must_use]
    pub fn nanos_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}
