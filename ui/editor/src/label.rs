//! The label of a wire: last value, rate, age, how full the queue behind it is.
//!
//! What is observed comes with the time at which it was seen; the label is made for a moment. A
//! value that is older than [`STALE_MS`] is stale; a queue counts as abnormal from
//! [`QUEUE_ABNORMAL_PERCENT`] on, and is not told below [`QUEUE_SHOWN_PERCENT`].
//!
//! **Invariants**: a label is short whatever the value is; nothing observed gives no label.

use serde_json::Value;

/// Age from which a value is stale.
pub const STALE_MS: u64 = 60_000;
/// Fill from which a queue is abnormal, in percent.
pub const QUEUE_ABNORMAL_PERCENT: u8 = 80;
/// Fill below which a queue is not worth telling, in percent.
pub const QUEUE_SHOWN_PERCENT: u8 = 10;
/// Longest value that is shown, in characters.
pub const VALUE_CHARACTERS_MAX: usize = 24;
/// Time over which the rate is taken.
const RATE_MS: u64 = 10_000;

/// What is known about a wire's traffic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    last: Option<(u64, Value)>,
    /// Time and number of all that has passed, at the beginning of the rate's time and now.
    counted: Option<[(u64, u64); 2]>,
    queue: Option<(u64, u64)>,
}

/// What is shown at a wire.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// The last value, short; empty if none was seen.
    pub value: String,
    /// How many pass a second; `None` if that is not known.
    pub rate: Option<f64>,
    /// How old the last value is, in milliseconds.
    pub age_ms: Option<u64>,
    /// Whether the last value is old.
    pub is_stale: bool,
    /// How full the queue is, in percent; `None` if it is not worth telling.
    pub queue_percent: Option<u8>,
    /// Whether the queue is too full.
    pub is_abnormal: bool,
}

impl Traffic {
    /// A value has passed.
    pub fn saw(&mut self, at_ms: u64, value: Value) {
        if self.last.as_ref().is_none_or(|(before, _)| *before <= at_ms) {
            self.last = Some((at_ms, value));
        }
    }

    /// So many have passed in all.
    pub fn counted(&mut self, at_ms: u64, total: u64) {
        let now = (at_ms, total);
        self.counted = Some(match self.counted {
            // A count that goes back is that of a new start.
            Some([_, last]) if last.1 > total || last.0 > at_ms => [now, now],
            Some([first, last]) if at_ms.saturating_sub(first.0) > 2 * RATE_MS => [last, now],
            Some([first, _]) => [first, now],
            None => [now, now],
        });
    }

    /// So many wait, of so many at most.
    pub fn waiting(&mut self, now: u64, most: u64) {
        self.queue = Some((now, most));
    }

    /// The label at a moment; `None` if nothing is known.
    #[must_use]
    pub fn label(&self, now_ms: u64) -> Option<Label> {
        if *self == Self::default() {
            return None;
        }
        let age_ms = self.last.as_ref().map(|(at, _)| now_ms.saturating_sub(*at));
        let rate = self.counted.and_then(|[first, last]| {
            let millis = last.0.checked_sub(first.0).filter(|millis| *millis > 0)?;
            Some(last.1.saturating_sub(first.1) as f64 * 1_000.0 / millis as f64)
        });
        let percent = self.queue.filter(|(_, most)| *most > 0).map(|(now, most)| {
            // At most 100.
            (now.min(most) as f64 / most as f64 * 100.0) as u8
        });
        Some(Label {
            value: self.last.as_ref().map(|(_, value)| short(value)).unwrap_or_default(),
            rate,
            age_ms,
            is_stale: age_ms.is_some_and(|age| age > STALE_MS),
            queue_percent: percent.filter(|percent| *percent >= QUEUE_SHOWN_PERCENT),
            is_abnormal: percent.is_some_and(|percent| percent >= QUEUE_ABNORMAL_PERCENT),
        })
    }
}

/// A value in a few characters: its own `value` if it is a sample.
#[must_use]
pub fn short(value: &Value) -> String {
    let own = value.get("value").unwrap_or(value);
    let text = match own {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut shown: String = text.chars().take(VALUE_CHARACTERS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tells_value_age_rate_and_queue() {
        let mut traffic = Traffic::default();
        assert_eq!(traffic.label(0), None);
        traffic.saw(1_000, json!({"path": "a", "value": 21.5}));
        traffic.saw(900, json!("older"));
        traffic.counted(1_000, 100);
        traffic.counted(6_000, 150);
        traffic.waiting(5, 100);
        let label = traffic.label(3_000).unwrap();
        assert_eq!((label.value.as_str(), label.age_ms), ("21.5", Some(2_000)));
        assert_eq!(label.rate, Some(10.0));
        assert_eq!((label.queue_percent, label.is_abnormal, label.is_stale), (None, false, false));
        traffic.waiting(85, 100);
        let label = traffic.label(70_000).unwrap();
        assert_eq!(
            (label.queue_percent, label.is_abnormal, label.is_stale),
            (Some(85), true, true)
        );
    }

    #[test]
    fn a_count_that_goes_back_starts_anew_and_odd_numbers_do_no_harm() {
        let mut traffic = Traffic::default();
        traffic.counted(1_000, 100);
        traffic.counted(2_000, 5);
        assert_eq!(traffic.label(2_000).unwrap().rate, None);
        traffic.waiting(u64::MAX, u64::MAX);
        traffic.counted(u64::MAX, u64::MAX);
        assert!(traffic.label(0).unwrap().is_abnormal);
        traffic.waiting(3, 0);
        assert_eq!(traffic.label(0).unwrap().queue_percent, None);
        assert_eq!(short(&json!("x".repeat(100))).chars().count(), VALUE_CHARACTERS_MAX + 1);
    }
}
