//! The running figures of one window: what its values come to, without keeping them.
//!
//! Integers are summed in 128 bits and exactly; doubles with Neumaier's correction, so that many
//! small values are not eaten by a large one. The spread follows Welford, and Chan where two
//! tallies are joined.
//!
//! How the numbers are spread is kept only where a percentile is asked for (see `digest`).
//!
//! **Invariants**: bounded whatever the number of values; a tally written as state and read back
//! goes on the same; values that are no finite number count for `count`, `first` and `last` only.

use super::digest::Digest;
use crate::steps::number::{Number, integer};
use crate::steps::state::{get, get_int, map_of};
use millrace_flow::Data;
use std::cmp::Ordering;

/// The figures so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tally {
    count: i64,
    /// How many of them were finite numbers.
    numbers: i64,
    /// Sum of the integers.
    whole: i128,
    /// Sum of the doubles and what rounding took from it; `None` while there were none.
    broken: Option<(f64, f64)>,
    mean: f64,
    spread: f64,
    min: Data,
    max: Data,
    first: Data,
    first_time: i64,
    last: Data,
    last_time: i64,
    /// How the numbers are spread, if that is asked for.
    digest: Option<Digest>,
}

impl Tally {
    /// Keeps from now on how the numbers are spread.
    pub(super) fn keep_ranks(&mut self) {
        self.digest.get_or_insert_default();
    }

    /// Takes a value in. The order of arrival need not be that of time.
    pub(super) fn add(&mut self, value: &Data, time: i64) {
        self.count += 1;
        // Null, as state cannot hold what is missing.
        let kept = if *value == Data::Missing { Data::Null } else { value.clone() };
        if self.count == 1 || time < self.first_time {
            self.first = kept.clone();
            self.first_time = time;
        }
        if self.count == 1 || time >= self.last_time {
            self.last = kept;
            self.last_time = time;
        }
        match Number::of(value) {
            Some(number) if number.to_f64().is_finite() => self.add_number(number, value),
            _ => {}
        }
    }

    fn add_number(&mut self, number: Number, value: &Data) {
        self.numbers += 1;
        match number {
            Number::Int(value) => self.whole = self.whole.saturating_add(value),
            Number::Float(value) => {
                self.broken = Some(plus(self.broken.unwrap_or_default(), value));
            }
        }
        let plain = number.to_f64();
        if let Some(digest) = &mut self.digest {
            digest.add(plain);
        }
        let step = plain - self.mean;
        self.mean += step / self.numbers as f64;
        self.spread += step * (plain - self.mean);
        let beats = |held: &Data, order: Ordering| {
            Number::of(held).is_none_or(|held| number.compare(held) == Some(order))
        };
        if beats(&self.min, Ordering::Less) {
            self.min = value.clone();
        }
        if beats(&self.max, Ordering::Greater) {
            self.max = value.clone();
        }
    }

    /// Takes another tally in.
    pub(super) fn join(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = other.clone();
            return;
        }
        if let Some(other) = &other.digest {
            self.digest.get_or_insert_default().join(other);
        }
        let (left, right) = (self.numbers as f64, other.numbers as f64);
        if left + right > 0.0 {
            let step = other.mean - self.mean;
            self.spread += other.spread + step * step * left * right / (left + right);
            self.mean += step * right / (left + right);
        }
        self.count += other.count;
        self.numbers += other.numbers;
        self.whole = self.whole.saturating_add(other.whole);
        if let Some((sum, lost)) = other.broken {
            self.broken = Some(plus(plus(self.broken.unwrap_or_default(), sum), lost));
        }
        for (held, theirs, order) in [
            (&mut self.min, &other.min, Ordering::Less),
            (&mut self.max, &other.max, Ordering::Greater),
        ] {
            if let Some(number) = Number::of(theirs)
                && Number::of(held).is_none_or(|held| number.compare(held) == Some(order))
            {
                *held = theirs.clone();
            }
        }
        if other.first_time < self.first_time {
            self.first = other.first.clone();
            self.first_time = other.first_time;
        }
        if other.last_time >= self.last_time {
            self.last = other.last.clone();
            self.last_time = other.last_time;
        }
    }

    pub(super) fn count(&self) -> Data {
        Data::Int(self.count)
    }

    /// The latest time of a value.
    pub(super) fn last_time(&self) -> i64 {
        self.last_time
    }

    /// The sum; null if no number came.
    pub(super) fn sum(&self) -> Data {
        match self.broken {
            _ if self.numbers == 0 => Data::Null,
            None => Number::Int(self.whole).to_data(),
            Some((sum, lost)) => Data::Float(sum + (lost + self.whole as f64)),
        }
    }

    /// The mean of the numbers.
    pub(super) fn mean(&self) -> Data {
        match Number::of(&self.sum()) {
            Some(sum) => Data::Float(sum.to_f64() / self.numbers as f64),
            None => Data::Null,
        }
    }

    /// The standard deviation of the population.
    pub(super) fn deviation(&self) -> Data {
        match self.numbers {
            0 => Data::Null,
            numbers => Data::Float((self.spread.max(0.0) / numbers as f64).sqrt()),
        }
    }

    /// The number below which a share of them lies.
    pub(super) fn rank(&self, share: f64) -> Data {
        self.digest.as_ref().map_or(Data::Null, |digest| digest.rank(share))
    }

    /// The largest number less the smallest.
    pub(super) fn range(&self) -> Data {
        difference(&self.max, &self.min)
    }

    /// The last value less the first: what a meter counted.
    pub(super) fn delta(&self) -> Data {
        difference(&self.last, &self.first)
    }

    pub(super) fn min(&self) -> Data {
        or_null(&self.min)
    }

    pub(super) fn max(&self) -> Data {
        or_null(&self.max)
    }

    pub(super) fn first(&self) -> Data {
        or_null(&self.first)
    }

    pub(super) fn last(&self) -> Data {
        or_null(&self.last)
    }

    /// The tally as state.
    pub(super) fn to_data(&self) -> Data {
        let broken = |part: fn((f64, f64)) -> f64| {
            self.broken.map_or(Data::Missing, |both| Data::Float(part(both)))
        };
        map_of([
            ("count", Data::Int(self.count)),
            ("numbers", Data::Int(self.numbers)),
            // As text where 64 bits do not hold it.
            ("whole", integer(self.whole).unwrap_or(Data::Text(self.whole.to_string().into()))),
            ("sum", broken(|(sum, _)| sum)),
            ("lost", broken(|(_, lost)| lost)),
            ("mean", Data::Float(self.mean)),
            ("spread", Data::Float(self.spread)),
            ("min", self.min.clone()),
            ("max", self.max.clone()),
            ("first", self.first.clone()),
            ("first_time", Data::Int(self.first_time)),
            ("last", self.last.clone()),
            ("last_time", Data::Int(self.last_time)),
            ("digest", self.digest.as_ref().map_or(Data::Missing, Digest::to_data)),
        ])
    }

    /// Reads what [`Tally::to_data`] wrote.
    pub(super) fn from_data(data: &Data) -> Self {
        let float = |name: &str| Number::of(&get(data, name)).map(Number::to_f64);
        let int = |name: &str| get_int(data, name).unwrap_or(0);
        let whole = match get(data, "whole") {
            Data::Text(text) => text.parse().unwrap_or(0),
            other => match Number::of(&other) {
                Some(Number::Int(value)) => value,
                _ => 0,
            },
        };
        Self {
            count: int("count"),
            numbers: int("numbers"),
            whole,
            broken: float("sum").map(|sum| (sum, float("lost").unwrap_or(0.0))),
            mean: float("mean").unwrap_or(0.0),
            spread: float("spread").unwrap_or(0.0),
            min: get(data, "min"),
            max: get(data, "max"),
            first: get(data, "first"),
            first_time: int("first_time"),
            last: get(data, "last"),
            last_time: int("last_time"),
            digest: Digest::from_data(&get(data, "digest")),
        }
    }
}

/// Neumaier's sum: the second part collects what the first one loses.
fn plus((sum, lost): (f64, f64), value: f64) -> (f64, f64) {
    let total = sum + value;
    if !total.is_finite() {
        return (total, lost);
    }
    let rest = if sum.abs() >= value.abs() { (sum - total) + value } else { (value - total) + sum };
    (total, lost + rest)
}

/// Exact for integers; null if one is no number.
fn difference(from: &Data, less: &Data) -> Data {
    match (Number::of(from), Number::of(less)) {
        (Some(Number::Int(from)), Some(Number::Int(less))) => {
            Number::Int(from.saturating_sub(less)).to_data()
        }
        (Some(from), Some(less)) => Data::Float(from.to_f64() - less.to_f64()),
        _ => Data::Null,
    }
}

fn or_null(data: &Data) -> Data {
    if *data == Data::Missing { Data::Null } else { data.clone() }
}
