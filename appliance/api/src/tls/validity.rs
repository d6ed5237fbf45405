//! From when to when a certificate is valid: the two times of its DER form (RFC 5280, 4.1.2.5).
//!
//! Only the way to them is read: certificate, the signed part, and over version, serial number,
//! algorithm and issuer to the validity.
//!
//! **Invariants**: no bytes make it panic; what cannot be read is not told.

use millrace_model::Timestamp;

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
/// The version, which old certificates leave out.
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// From when to when; `None` = it cannot be read, or lies beyond what a timestamp can say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Validity {
    /// When it begins.
    pub not_before: Option<Timestamp>,
    /// When it ends.
    pub not_after: Option<Timestamp>,
}

/// Reads a certificate's validity.
pub(super) fn read(der: &[u8]) -> Validity {
    let times = || {
        let (certificate, _) = expect(der, SEQUENCE)?;
        let (signed, _) = expect(certificate, SEQUENCE)?;
        let rest = expect(signed, VERSION).map_or(signed, |(_, rest)| rest);
        let (_, rest) = expect(rest, INTEGER)?;
        let (_, rest) = expect(rest, SEQUENCE)?;
        let (_, rest) = expect(rest, SEQUENCE)?;
        let (validity, _) = expect(rest, SEQUENCE)?;
        let (kind, not_before, rest) = element(validity)?;
        let (later_kind, not_after, _) = element(rest)?;
        Some(Validity {
            not_before: time(kind, not_before),
            not_after: time(later_kind, not_after),
        })
    };
    times().unwrap_or_default()
}

/// The content of the first element, which must be of this kind, and what is behind it.
fn expect(bytes: &[u8], kind: u8) -> Option<(&[u8], &[u8])> {
    let (found, content, rest) = element(bytes)?;
    (found == kind).then_some((content, rest))
}

/// The first element: its kind, its content, and what is behind it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&kind, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let count = usize::from(first & 0x7f);
        // No certificate has 4 GiB.
        if !(1..=4).contains(&count) {
            return None;
        }
        let (digits, rest) = rest.split_at_checked(count)?;
        let length = digits.iter().fold(0_u32, |sum, digit| (sum << 8) | u32::from(*digit));
        (usize::try_from(length).ok()?, rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((kind, content, rest))
}

/// `YYMMDDhhmmssZ`, where 50 is 1950, or `YYYYMMDDhhmmssZ`.
fn time(kind: u8, content: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(content).ok()?;
    let (year, rest) = match kind {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let century = if year >= "50" { "19" } else { "20" };
            (format!("{century}{year}"), rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.to_owned(), rest)
        }
        _ => return None,
    };
    let digits = rest.strip_suffix('Z').filter(|rest| rest.len() == 10 && rest.is_ascii())?;
    let pair = |at: usize| digits.get(at..at + 2);
    let (month, day, hour) = (pair(0)?, pair(2)?, pair(4)?);
    let (minute, second) = (pair(6)?, pair(8)?);
    Timestamp::from_rfc3339(&format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair};

    fn certificate(from: (i32, u8, u8), to: (i32, u8, u8)) -> Vec<u8> {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(from.0, from.1, from.2);
        params.not_after = rcgen::date_time_ymd(to.0, to.1, to.2);
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().to_vec()
    }

    fn at(text: &str) -> Option<Timestamp> {
        Some(Timestamp::from_rfc3339(text).unwrap())
    }

    #[test]
    fn reads_both_forms_of_a_time() {
        let check = |from, to, not_before, not_after| {
            let validity = read(&certificate(from, to));
            assert_eq!(validity, Validity { not_before, not_after });
        };
        let (soon, late) = (at("2036-01-01T00:00:00Z"), at("2050-02-28T00:00:00Z"));
        check((2025, 1, 1), (2036, 1, 1), at("2025-01-01T00:00:00Z"), soon);
        check((1999, 12, 31), (2050, 2, 28), at("1999-12-31T00:00:00Z"), late);
        // "No end" of RFC 5280 is beyond what nanoseconds in 64 bits can say.
        check((2025, 1, 1), (9999, 12, 31), at("2025-01-01T00:00:00Z"), None);
    }

    #[test]
    fn no_cut_and_no_changed_byte_makes_it_panic() {
        let good = certificate((2025, 1, 1), (2036, 1, 1));
        for end in 0..good.len() {
            let cut = good.get(..end).unwrap();
            assert_eq!(read(cut), Validity::default(), "the first length tells that it is cut");
        }
        for at in 0..good.len().min(200) {
            for byte in [0x00, 0x7f, 0x80, 0x84, 0xff] {
                let mut bad = good.clone();
                bad[at] = byte;
                read(&bad);
            }
        }
    }
}
