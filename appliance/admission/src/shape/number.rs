//! JSON numbers, read exactly or not at all (RFC 8259, section 6).
//!
//! An integer literal stays an integer of 64 bits; anything with a point or an exponent is a
//! double, rounded once to the nearest as IEEE 754 asks. `-0` is the double -0.0, the only form
//! that keeps its sign. Refused: integers beyond 64 bits, decimals beyond the largest double, and
//! decimals that are not zero but would become zero.
//!
//! **Invariants**: the grammar is JSON's own: no leading zero, no `1.`, no `.5`, no `+1`.

use millrace_model::ValueRef;

/// Why text is not a number that can be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberError {
    /// Not JSON's grammar.
    Grammar,
    /// A number, but one that cannot be kept.
    Range,
}

/// Powers of ten that a double holds exactly.
const EXACT_POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
/// Integers up to here are held exactly by a double.
const EXACT_MANTISSA_MAX: u64 = 1 << 53;
/// So many decimal digits always fit 64 bits.
const DIGITS_SAFE: usize = 19;

/// Reads a number that fills `bytes` exactly.
pub(super) fn read(bytes: &[u8]) -> Result<ValueRef<'static>, NumberError> {
    let (negative, unsigned) = match bytes.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, bytes),
    };
    let mut mantissa: u64 = 0;
    let (whole_count, rest) = digits(unsigned, &mut mantissa);
    if whole_count == 0 || whole_count > 1 && unsigned.first() == Some(&b'0') {
        return Err(NumberError::Grammar);
    }
    if rest.is_empty() {
        return integer(negative, mantissa, whole_count, unsigned);
    }
    let mut fraction_count = 0;
    let mut rest = rest;
    if let Some(fraction) = rest.strip_prefix(b".") {
        (fraction_count, rest) = digits(fraction, &mut mantissa);
        if fraction_count == 0 {
            return Err(NumberError::Grammar);
        }
    }
    if rest.is_empty() {
        if whole_count + fraction_count <= DIGITS_SAFE
            && mantissa <= EXACT_MANTISSA_MAX
            && let Some(power) = EXACT_POWERS.get(fraction_count)
        {
            // Both are exact, so that one division rounds once: the nearest double.
            #[expect(clippy::cast_precision_loss, reason = "at most 2^53: exact")]
            let value = mantissa as f64 / power;
            return Ok(ValueRef::Float(if negative { -value } else { value }));
        }
        return decimal(bytes);
    }
    let Some((b'e' | b'E', exponent)) = rest.split_first() else {
        return Err(NumberError::Grammar);
    };
    let exponent = match exponent.split_first() {
        Some((b'+' | b'-', rest)) => rest,
        _ => exponent,
    };
    let (count, rest) = digits(exponent, &mut 0);
    if count == 0 || !rest.is_empty() {
        return Err(NumberError::Grammar);
    }
    decimal(bytes)
}

/// Takes digits off the front; `mantissa` is meaningless beyond [`DIGITS_SAFE`] digits.
fn digits<'a>(bytes: &'a [u8], mantissa: &mut u64) -> (usize, &'a [u8]) {
    let mut rest = bytes;
    while let Some((&byte @ b'0'..=b'9', next)) = rest.split_first() {
        *mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        rest = next;
    }
    (bytes.len() - rest.len(), rest)
}

fn integer(
    negative: bool,
    mantissa: u64,
    count: usize,
    text: &[u8],
) -> Result<ValueRef<'static>, NumberError> {
    let magnitude = if count <= DIGITS_SAFE {
        mantissa
    } else {
        let text = std::str::from_utf8(text).map_err(|_| NumberError::Grammar)?;
        text.parse().map_err(|_| NumberError::Range)?
    };
    if negative {
        if magnitude == 0 {
            return Ok(ValueRef::Float(-0.0));
        }
        return 0_i64.checked_sub_unsigned(magnitude).map(ValueRef::Int).ok_or(NumberError::Range);
    }
    Ok(i64::try_from(magnitude).map_or(ValueRef::UInt(magnitude), ValueRef::Int))
}

fn decimal(bytes: &[u8]) -> Result<ValueRef<'static>, NumberError> {
    let value: f64 = fast_float2::parse(bytes).map_err(|_| NumberError::Grammar)?;
    if value.is_infinite() || value == 0.0 && has_significant_digit(bytes) {
        return Err(NumberError::Range);
    }
    Ok(ValueRef::Float(value))
}

fn has_significant_digit(bytes: &[u8]) -> bool {
    let mantissa = bytes.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    mantissa.into_iter().any(|byte| matches!(byte, b'1'..=b'9'))
}
