//! Which values of a tag start a run: every one, those that changed, those that left a deadband.
//!
//! **Invariants**: the first value of a tag starts a run; a value that is no number is held
//! against the last one for equality, whatever the rule.

use crate::codec::{self, Reader};
use millrace_flow::Data;
use millrace_model::{Quality, Timestamp, Value, ValueRef};
use std::time::Duration;

/// The rule of a trigger.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    Every,
    Change { at_least_every: Option<Duration> },
    Deadband { width: f64, at_least_every: Option<Duration> },
    DeadbandPercent { percent: f64, at_least_every: Option<Duration> },
}

/// What a trigger remembers of a tag.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    /// The value that later ones are held against.
    pub(crate) value: Value,
    /// Its quality.
    pub(crate) quality: Quality,
    /// When it was received; counts for `at_least_every`.
    pub(crate) started: Timestamp,
    /// The record that was looked at last: older ones are known.
    pub(crate) seq: u64,
}

impl Rule {
    /// Whether values have to be remembered at all.
    pub(crate) fn is_every(self) -> bool {
        self == Self::Every
    }

    /// Whether a value starts a run; remembers what it must.
    pub(crate) fn admits(
        self,
        seen: &mut Option<Seen>,
        seq: u64,
        value: ValueRef<'_>,
        quality: Quality,
        received: Timestamp,
    ) -> bool {
        let Some(last) = seen else {
            *seen = Some(Seen { value: value.to_value(), quality, started: received, seq });
            return true;
        };
        last.seq = seq;
        let (is_off, at_least_every) = match self {
            Self::Every => (true, None),
            Self::Change { at_least_every } => {
                (last.value.as_ref() != value || last.quality != quality, at_least_every)
            }
            Self::Deadband { width, at_least_every } => {
                (has_left(last.value.as_ref(), value, |_| width), at_least_every)
            }
            Self::DeadbandPercent { percent, at_least_every } => {
                let width = |from: f64| from.abs() * percent / 100.0;
                (has_left(last.value.as_ref(), value, width), at_least_every)
            }
        };
        let is_due = at_least_every.is_some_and(|span| {
            let passed = received.nanos_since(last.started);
            u128::try_from(passed).is_ok_and(|passed| passed >= span.as_nanos())
        });
        if is_off || is_due {
            last.value = value.to_value();
            last.quality = quality;
            last.started = received;
        }
        is_off || is_due
    }
}

fn has_left(last: ValueRef<'_>, value: ValueRef<'_>, width: impl Fn(f64) -> f64) -> bool {
    match (number(last), number(value)) {
        // Neither side of a NaN is near it: its coming and going count, its staying does not.
        (Some(from), Some(to)) if from.is_nan() || to.is_nan() => from.is_nan() != to.is_nan(),
        (Some(from), Some(to)) => (to - from).abs() > width(from),
        _ => last != value,
    }
}

fn number(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Int(_) | ValueRef::UInt(_) | ValueRef::Float(_) => value.as_f64(),
        _ => None,
    }
}

impl Seen {
    /// As lasting state.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(40);
        out.extend_from_slice(&self.seq.to_le_bytes());
        out.extend_from_slice(&self.started.0.to_le_bytes());
        out.extend_from_slice(&self.quality.0.to_le_bytes());
        out.push(match self.value {
            Value::Json(_) => 1,
            _ => 0,
        });
        codec::write(&scalar(self.value.as_ref()), &mut out);
        out
    }

    /// From lasting state.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let seq = reader.u64()?;
        let started = Timestamp(reader.i64()?);
        let quality = Quality(reader.u32()?);
        let is_json = reader.u8()? == 1;
        let value = match (reader.data()?, is_json) {
            (Data::Null, _) => Value::Null,
            (Data::Bool(value), _) => Value::Bool(value),
            (Data::Int(value), _) => Value::Int(value),
            (Data::UInt(value), _) => Value::UInt(value),
            (Data::Float(value), _) => Value::Float(value),
            (Data::Text(text), false) => Value::Text((&*text).into()),
            (Data::Text(text), true) => Value::Json((&*text).into()),
            (Data::Missing | Data::List(_) | Data::Map(_), _) => return None,
        };
        Some(Self { value, quality, started, seq })
    }
}

/// A value as a datum, JSON as its text.
fn scalar(value: ValueRef<'_>) -> Data {
    match value {
        ValueRef::Null => Data::Null,
        ValueRef::Bool(value) => Data::Bool(value),
        ValueRef::Int(value) => Data::Int(value),
        ValueRef::UInt(value) => Data::UInt(value),
        ValueRef::Float(value) => Data::Float(value),
        ValueRef::Text(text) | ValueRef::Json(text) => Data::Text(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(rule: Rule, values: &[f64]) -> Vec<bool> {
        let mut seen = None;
        let mut seq = 0;
        let mut admit = |value: &f64| {
            seq += 1;
            let at = Timestamp(seq * 1_000_000_000);
            let value = ValueRef::Float(*value);
            rule.admits(&mut seen, seq.cast_unsigned(), value, Quality::GOOD, at)
        };
        values.iter().map(&mut admit).collect()
    }

    #[test]
    fn a_change_starts_and_a_repetition_does_not() {
        let rule = Rule::Change { at_least_every: None };
        assert_eq!(starts(rule, &[1.0, 1.0, 2.0, 2.0, 1.0]), [true, false, true, false, true]);
    }

    #[test]
    fn a_deadband_is_held_around_the_value_that_started() {
        let rule = Rule::Deadband { width: 1.0, at_least_every: None };
        assert_eq!(
            starts(rule, &[0.0, 0.9, 1.0, 1.1, 0.2, 0.0]),
            [true, false, false, true, false, true]
        );
        let rule = Rule::DeadbandPercent { percent: 10.0, at_least_every: None };
        assert_eq!(
            starts(rule, &[100.0, 109.0, 111.0, 101.0, 99.0]),
            [true, false, true, false, true]
        );
    }

    #[test]
    fn silence_does_not_last_longer_than_allowed() {
        let rule = Rule::Change { at_least_every: Some(Duration::from_secs(2)) };
        assert_eq!(starts(rule, &[1.0; 5]), [true, false, true, false, true]);
    }

    #[test]
    fn what_is_remembered_survives_its_bytes() {
        for value in [Value::Json("[1]".into()), Value::Text("x".into()), Value::Float(f64::NAN)] {
            let seen = Seen { value, quality: Quality::BAD, started: Timestamp(-3), seq: 9 };
            assert_eq!(Seen::decode(&seen.encode()), Some(seen));
        }
        assert_eq!(Seen::decode(&[1, 2]), None);
    }
}
