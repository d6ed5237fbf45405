//! The time column: RFC 3339, an epoch number, or local time in a zone.

use super::RecordingError;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use millrace_model::Timestamp;

/// The zone of times that carry none.
#[derive(Clone, Debug)]
pub(crate) struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// UTC: what times without zone are read as when no other zone is named.
    pub(crate) fn utc() -> Self {
        Self { name: "UTC".to_owned(), zone: TimeZone::UTC }
    }

    /// A zone by its IANA name.
    ///
    /// # Errors
    /// When there is none of that name.
    pub(crate) fn named(name: &str) -> Result<Self, RecordingError> {
        match TimeZone::get(name) {
            Ok(zone) => Ok(Self { name: name.to_owned(), zone }),
            Err(_) => Err(RecordingError::NoZone { name: name.to_owned() }),
        }
    }

    /// Reads one cell of the time column.
    ///
    /// # Errors
    /// Text that is no time, and local times that exist twice or never.
    pub(super) fn read(&self, text: &str, line: u64) -> Result<Timestamp, RecordingError> {
        let text = text.trim();
        let not_a_time = || RecordingError::NotATime { line, text: text.to_owned() };
        if let Some(time) = Timestamp::from_rfc3339(text) {
            return Ok(time);
        }
        if let Ok(number) = text.parse::<i64>() {
            return Timestamp::from_epoch_number(number).ok_or_else(not_a_time);
        }
        let local: DateTime = text.parse().map_err(|_| not_a_time())?;
        let ambiguous = self.zone.to_ambiguous_zoned(local);
        if ambiguous.is_ambiguous() {
            let (text, zone) = (text.to_owned(), self.name.clone());
            // An offset that jumps forward leaves a gap, one that falls back a fold.
            return Err(match ambiguous.offset() {
                jiff::tz::AmbiguousOffset::Gap { .. } => {
                    RecordingError::TimeNever { line, text, zone }
                }
                _ => RecordingError::TimeTwice { line, text, zone },
            });
        }
        let zoned = ambiguous.unambiguous().map_err(|_| not_a_time())?;
        i64::try_from(zoned.timestamp().as_nanosecond()).map(Timestamp).map_err(|_| not_a_time())
    }
}
