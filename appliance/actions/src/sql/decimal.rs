//! PostgreSQL's `numeric` as text and back, and the rule that makes it a number.
//!
//! **Invariants**: no digit is lost: a `numeric` becomes an integer if it has no fraction and fits
//! 64 bits, a float if that float prints the same digits, else text with all digits.

use millrace_flow::Data;

/// Most digits that are read or written.
const DIGITS_MAX: usize = 20_000;
const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const INFINITE: u16 = 0xD000;
const MINUS_INFINITE: u16 = 0xF000;

/// The datum of a `numeric`.
pub(super) fn data_of(bytes: &[u8]) -> Option<Data> {
    let (text, has_fraction) = text_of(bytes)?;
    match text.as_str() {
        "NaN" => return Some(Data::Float(f64::NAN)),
        "Infinity" => return Some(Data::Float(f64::INFINITY)),
        "-Infinity" => return Some(Data::Float(f64::NEG_INFINITY)),
        _ => {}
    }
    if !has_fraction && let Ok(int) = text.parse::<i64>() {
        return Some(Data::Int(int));
    }
    let shortest = match has_fraction {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text.as_str(),
    };
    match text.parse::<f64>() {
        Ok(float) if float.to_string() == shortest => Some(Data::Float(float)),
        _ => Some(Data::Text(text.into())),
    }
}

/// The digits of a `numeric`, and whether its type has a fraction.
fn text_of(bytes: &[u8]) -> Option<(String, bool)> {
    let mut words = bytes.chunks_exact(2).map(|pair| match pair {
        [high, low] => u16::from_be_bytes([*high, *low]),
        _ => 0,
    });
    let count = usize::from(words.next()?);
    let weight = words.next()?.cast_signed();
    let sign = words.next()?;
    let scale = usize::from(words.next()?);
    let special = match sign {
        NAN => Some("NaN"),
        INFINITE => Some("Infinity"),
        MINUS_INFINITE => Some("-Infinity"),
        0 | NEGATIVE => None,
        _ => return None,
    };
    if let Some(special) = special {
        return Some((special.to_owned(), false));
    }
    let groups: Vec<u16> = words.collect();
    let is_plausible = groups.len() == count
        && groups.iter().all(|group| *group < 10_000)
        && count * 4 <= DIGITS_MAX
        && scale <= DIGITS_MAX
        && usize::from(weight.unsigned_abs()) * 4 <= DIGITS_MAX;
    if !is_plausible {
        return None;
    }
    let group_at = |place: i32| -> u16 {
        let index = usize::try_from(i32::from(weight) - place).ok();
        index.and_then(|index| groups.get(index)).copied().unwrap_or(0)
    };
    let mut text = String::new();
    for place in (0..=i32::from(weight).max(0)).rev() {
        text.push_str(&format!("{:04}", group_at(place)));
    }
    let whole = text.trim_start_matches('0');
    let mut text = if whole.is_empty() { "0".to_owned() } else { whole.to_owned() };
    if scale > 0 {
        let mut fraction = String::new();
        let mut place = -1;
        while fraction.len() < scale {
            fraction.push_str(&format!("{:04}", group_at(place)));
            place -= 1;
        }
        fraction.truncate(scale);
        text.push('.');
        text.push_str(&fraction);
    }
    if sign == NEGATIVE {
        text.insert(0, '-');
    }
    Some((text, scale > 0))
}

/// The `numeric` of digits: `-12.50`, `NaN`, `Infinity`. No exponent.
pub(super) fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let head = |count: u16, weight: i16, sign: u16, scale: u16| {
        let mut bytes = Vec::with_capacity(8 + usize::from(count) * 2);
        for word in [count, weight.cast_unsigned(), sign, scale] {
            bytes.extend_from_slice(&word.to_be_bytes());
        }
        bytes
    };
    match text {
        "NaN" => return Some(head(0, 0, NAN, 0)),
        "Infinity" | "inf" => return Some(head(0, 0, INFINITE, 0)),
        "-Infinity" | "-inf" => return Some(head(0, 0, MINUS_INFINITE, 0)),
        _ => {}
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (NEGATIVE, rest),
        None => (0, text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = !(whole.is_empty() && fraction.is_empty())
        && all_digits(whole)
        && all_digits(fraction)
        && whole.len() + fraction.len() <= DIGITS_MAX;
    if !is_number {
        return None;
    }
    let padding = (4 - whole.len() % 4) % 4;
    let padded: Vec<u8> = std::iter::repeat_n(b'0', padding)
        .chain(whole.bytes())
        .chain(fraction.bytes())
        .chain(std::iter::repeat_n(b'0', (4 - fraction.len() % 4) % 4))
        .collect();
    let groups: Vec<u16> = padded
        .chunks(4)
        .map(|group| group.iter().fold(0, |sum, byte| sum * 10 + u16::from(byte - b'0')))
        .collect();
    let before = groups.iter().take_while(|group| **group == 0).count();
    let after = groups.iter().rev().take_while(|group| **group == 0).count();
    let kept = groups.get(before..groups.len().saturating_sub(after)).unwrap_or_default();
    let weight =
        i64::try_from((whole.len() + padding) / 4).ok()? - 1 - i64::try_from(before).ok()?;
    let weight = if kept.is_empty() { 0 } else { i16::try_from(weight).ok()? };
    let scale = u16::try_from(fraction.len()).ok()?;
    let mut bytes = head(u16::try_from(kept.len()).ok()?, weight, sign, scale);
    for group in kept {
        bytes.extend_from_slice(&group.to_be_bytes());
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_read_back_as_they_were() {
        for text in [
            "0",
            "1",
            "-1",
            "9999",
            "10000",
            "123456789",
            "12.50",
            "0.0001",
            "-0.00000001",
            "100000000.00000001",
            "99999999999999999999999999.99",
            "0.10",
            "10000.0001",
            "1234567890123456789012345678901234567890",
        ] {
            let bytes = bytes_of(text).unwrap();
            assert_eq!(text_of(&bytes).unwrap().0, text);
        }
        for text in ["", ".", "-", "1e5", "1.2.3", "0x1", " 1", "1_000"] {
            assert_eq!(bytes_of(text), None, "{text}");
        }
        assert_eq!(text_of(&bytes_of(".5").unwrap()).unwrap().0, "0.5");
    }

    #[test]
    fn becomes_a_number_only_if_no_digit_is_lost() {
        let check = |text: &str, expected: Data| {
            assert_eq!(data_of(&bytes_of(text).unwrap()), Some(expected), "{text}");
        };
        check("9223372036854775807", Data::Int(i64::MAX));
        check("9223372036854775808", Data::Text("9223372036854775808".into()));
        check("20000000000000000000", Data::Float(2e19));
        check("12.50", Data::Float(12.5));
        check("5.00", Data::Float(5.0));
        check("0.1", Data::Float(0.1));
        check("0.12345678901234567890", Data::Text("0.12345678901234567890".into()));
        check("-Infinity", Data::Float(f64::NEG_INFINITY));
        assert!(matches!(data_of(&bytes_of("NaN").unwrap()), Some(Data::Float(f)) if f.is_nan()));
    }

    #[test]
    fn refuses_bytes_that_are_none() {
        for bytes in [
            &[][..],
            &[0, 1],
            &[0, 1, 0, 0, 0, 0, 0, 0],
            &[0, 1, 0, 0, 0, 0, 0, 0, 0xff, 0xff],
            &[0, 0, 0x7f, 0xff, 0, 0, 0, 0],
            &[0, 0, 0, 0, 0x12, 0x34, 0, 0],
        ] {
            assert_eq!(data_of(bytes), None, "{bytes:?}");
        }
    }
}
