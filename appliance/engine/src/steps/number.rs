//! Numbers of steps, exact: integers of 64 bits, signed or not, never pass through a double.
//!
//! A [`Number`] is an integer in 128 bits, so that sums and differences of any two values are
//! exact, or a double where one of the two is one.
//!
//! **Invariants**: an integer in gives the same integer out; comparing an integer with a double
//! compares the true values.

use millrace_flow::Data;
use std::cmp::Ordering;

/// A number for calculating.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// An integer, wide enough for sums of many 64-bit ones.
    Int(i128),
    /// A double.
    Float(f64),
}

impl Number {
    /// The number that `data` is. Text is not one: `cast` makes it one.
    pub(super) fn of(data: &Data) -> Option<Self> {
        match data {
            Data::Int(value) => Some(Self::Int(i128::from(*value))),
            Data::UInt(value) => Some(Self::Int(i128::from(*value))),
            Data::Float(value) => Some(Self::Float(*value)),
            Data::Missing
            | Data::Null
            | Data::Bool(_)
            | Data::Text(_)
            | Data::List(_)
            | Data::Map(_) => None,
        }
    }

    /// As data; an integer beyond 64 bits becomes the nearest double.
    pub(super) fn to_data(self) -> Data {
        match self {
            Self::Float(value) => Data::Float(value),
            Self::Int(value) => integer(value).unwrap_or(Data::Float(value as f64)),
        }
    }

    /// The nearest double.
    pub(super) fn to_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    pub(super) fn is_nan(self) -> bool {
        matches!(self, Self::Float(value) if value.is_nan())
    }

    /// Compares true values; `None` if one is NaN.
    pub(super) fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => Some(left.cmp(&right)),
            (Self::Float(left), Self::Float(right)) => left.partial_cmp(&right),
            (Self::Int(left), Self::Float(right)) => compare_mixed(left, right),
            (Self::Float(left), Self::Int(right)) => {
                compare_mixed(right, left).map(Ordering::reverse)
            }
        }
    }

    /// The sum; exact for integers.
    pub(super) fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => Self::Int(left.saturating_add(right)),
            _ => Self::Float(self.to_f64() + other.to_f64()),
        }
    }

    /// How far apart the two are; exact for integers.
    pub(super) fn distance(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => Self::Int(left.saturating_sub(right).abs()),
            _ => Self::Float((self.to_f64() - other.to_f64()).abs()),
        }
    }
}

/// The integer as data; `None` beyond 64 bits.
pub(super) fn integer(value: i128) -> Option<Data> {
    if let Ok(small) = i64::try_from(value) {
        return Some(Data::Int(small));
    }
    u64::try_from(value).ok().map(Data::UInt)
}

/// Compares an integer with a double without rounding either.
fn compare_mixed(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // 2^126: beyond what any sum of ours reaches, and below where the cast would saturate.
    const FAR: f64 = 8.507_059_173_023_462e37;
    if float >= FAR {
        return Some(Ordering::Less);
    }
    if float <= -FAR {
        return Some(Ordering::Greater);
    }
    let whole = float.trunc();
    let order = integer.cmp(&(whole as i128));
    if order != Ordering::Equal {
        return Some(order);
    }
    // The same whole part: the fraction decides.
    0.0_f64.partial_cmp(&(float - whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_integers_with_doubles_by_their_true_values() {
        let odd = Number::Int(9_007_199_254_740_993);
        let even = Number::Float(9_007_199_254_740_992.0);
        assert_eq!(odd.compare(even), Some(Ordering::Greater), "a double cannot hold 2^53 + 1");
        assert_eq!(even.compare(odd), Some(Ordering::Less));
        assert_eq!(Number::Int(-2).compare(Number::Float(-2.5)), Some(Ordering::Greater));
        assert_eq!(Number::Int(1).compare(Number::Float(f64::INFINITY)), Some(Ordering::Less));
        assert_eq!(Number::Int(1).compare(Number::Float(f64::NAN)), None);
    }

    #[test]
    fn keeps_all_64_bits() {
        for data in [Data::Int(i64::MIN), Data::Int(i64::MAX), Data::UInt(u64::MAX)] {
            let number = Number::of(&data).map(Number::to_data);
            assert_eq!(number, Some(data), "in and out again");
        }
        let far = Number::Int(i128::from(u64::MAX)).distance(Number::Int(i128::from(i64::MIN)));
        assert_eq!(far, Number::Int(27_670_116_110_564_327_423));
    }

    proptest::proptest! {
        /// Comparing through the exact value of the double agrees with comparing integers.
        #[test]
        fn order_is_that_of_the_true_values(left in proptest::num::i64::ANY, right in proptest::num::i64::ANY, near in -3_i64..3) {
            for right in [right, left.saturating_add(near)] {
                let float = right as f64;
                // A double of this size is an integer, and 128 bits hold it.
                let wanted = i128::from(left).cmp(&(float as i128));
                let found = Number::Int(left.into()).compare(Number::Float(float));
                proptest::prop_assert_eq!(found, Some(wanted), "{} {}", left, float);
            }
        }
    }
}
