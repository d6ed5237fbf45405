//! Epoch numbers as devices send them, to the nanosecond.
//!
//! The unit is told by the size of the whole part ([`Timestamp::from_epoch_number`]). A fraction
//! is taken where it is a whole number of nanoseconds: `1701353137.25` is exact, and digits
//! beyond the nanosecond are refused unless they are zeros.
//!
//! **Invariants**: no float is involved; what cannot be held exactly is refused.

use millrace_model::Timestamp;

/// Reads a number whose grammar has been checked. An exponent is refused.
pub(super) fn from_number(text: &str) -> Option<Timestamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let number: i64 = whole.parse().ok()?;
    let base = Timestamp::from_epoch_number(number)?;
    if fraction.is_empty() {
        return Some(base);
    }
    // The nanoseconds of one unit: how far the next whole number lies from this one. At the
    // border of two units the neighbor on the other side tells it.
    let unit = unit_nanos(number)?;
    let mut nanos: i64 = 0;
    let mut place = unit;
    for byte in fraction.bytes() {
        let digit = match byte {
            b'0'..=b'9' => i64::from(byte - b'0'),
            _ => return None,
        };
        if place % 10 != 0 && digit != 0 {
            return None;
        }
        place /= 10;
        nanos += digit * place;
    }
    let nanos = if whole.starts_with('-') { -nanos } else { nanos };
    base.0.checked_add(nanos).map(Timestamp)
}

fn unit_nanos(number: i64) -> Option<i64> {
    if number == 0 {
        return Timestamp::from_epoch_number(1).map(|second| second.0);
    }
    Timestamp::from_epoch_number(number)?.0.checked_div(number)
}
