//! Where windows begin and end.
//!
//! Panes of one length follow one another without a gap; a window is as many of them as its size
//! holds. They begin at whole multiples of the length since midnight of the zone if the length
//! divides a day, else since 1970 in UTC. A day of 23 or 25 hours has its last pane cut short, or
//! one more.
//!
//! **Invariants**: every time lies in exactly one pane; a pane's end is the next one's start.

use jiff::tz::TimeZone;
use millrace_model::time::NANOS_PER_SECOND;

const DAY: i64 = 86_400 * NANOS_PER_SECOND;

/// The grid of panes of a step.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// Length of a pane, nanoseconds.
    pub(super) pane: i64,
    /// Length of a window, nanoseconds: a multiple of the pane's.
    pub(super) size: i64,
    /// The zone, if it is another one than UTC and matters.
    zone: Option<TimeZone>,
}

/// A span of time: from, inclusive, to, exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) start: i64,
    pub(super) end: i64,
}

impl Grid {
    /// A grid; `pane` divides `size`.
    pub(super) fn new(pane: i64, size: i64, zone: Option<TimeZone>) -> Self {
        let divides_a_day = pane > 0 && DAY % pane == 0;
        Self { pane: pane.max(1), size, zone: zone.filter(|_| divides_a_day) }
    }

    /// The pane that a time lies in.
    pub(super) fn pane_of(&self, time: i64) -> Span {
        if let Some(zone) = &self.zone
            && let Some(day) = day_of(zone, time)
        {
            let start = day.start + (time - day.start).div_euclid(self.pane) * self.pane;
            return Span { start, end: start.saturating_add(self.pane).min(day.end) };
        }
        // Midnight in UTC is a multiple of every divisor of a day, and so is 1970.
        let start = time.div_euclid(self.pane).saturating_mul(self.pane);
        Span { start, end: start.saturating_add(self.pane) }
    }

    /// The window that ends with the pane that ends at `end`.
    pub(super) fn window_to(&self, end: i64) -> Span {
        if self.pane == self.size {
            return self.pane_of(end.saturating_sub(1));
        }
        Span { start: end.saturating_sub(self.size), end }
    }

    /// End of the last window that a pane is part of.
    pub(super) fn last_end(&self, pane: Span) -> i64 {
        if self.pane == self.size { pane.end } else { pane.start.saturating_add(self.size) }
    }
}

/// The day of a zone that a time lies in, from midnight to midnight.
fn day_of(zone: &TimeZone, time: i64) -> Option<Span> {
    let stamp = jiff::Timestamp::from_nanosecond(i128::from(time)).ok()?;
    let date = stamp.to_zoned(zone.clone()).date();
    let midnight = |date: jiff::civil::Date| {
        let zoned = date.to_zoned(zone.clone()).ok()?;
        i64::try_from(zoned.timestamp().as_nanosecond()).ok()
    };
    Some(Span { start: midnight(date)?, end: midnight(date.tomorrow().ok()?)? })
}
