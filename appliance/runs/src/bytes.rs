//! Numbers and text as few bytes: varints, a list of texts that are named by number, a checksum.
//!
//! A *body* is a blob as it lies in a file: CRC-32C of what follows (4 bytes, little-endian), then
//! the content. Varints are LEB128, at most ten bytes; signed ones are folded first (0, -1, 1,
//! -2, ...).
//!
//! **Invariants**: reading never panics and never allocates more than the bytes it was given can
//! hold; a body whose checksum is wrong is not read at all.

use std::collections::HashMap;
use std::sync::Arc;

const CHECKSUM_BYTES: usize = 4;
const VARINT_BYTES_MAX: u32 = 10;

/// Puts the checksum in front.
pub(crate) fn seal(content: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(content.len() + CHECKSUM_BYTES);
    body.extend_from_slice(&crc32c::crc32c(content).to_le_bytes());
    body.extend_from_slice(content);
    body
}

/// The content of a body, if its checksum is right.
pub(crate) fn unseal(body: &[u8]) -> Option<&[u8]> {
    let (checksum, content) = body.split_first_chunk::<CHECKSUM_BYTES>()?;
    (u32::from_le_bytes(*checksum) == crc32c::crc32c(content)).then_some(content)
}

pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(u8::try_from(number & 0x7f).unwrap_or(0) | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or(0));
}

pub(crate) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, (number.cast_unsigned() << 1) ^ (number >> 63).cast_unsigned());
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Reads what was put, in the same order; `None` where the bytes do not hold it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for place in 0..VARINT_BYTES_MAX {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(place * 7)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn small<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.number()?).ok()
    }

    pub(crate) fn signed(&mut self) -> Option<i64> {
        let folded = self.number()?;
        Some((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed())
    }

    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let length = self.small::<usize>()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }
}

/// Gives each different text a number, while a body is written.
#[derive(Debug, Default)]
pub(crate) struct Words {
    numbers: HashMap<Arc<str>, u64>,
    list: Vec<Arc<str>>,
}

impl Words {
    pub(crate) fn number(&mut self, text: &Arc<str>) -> u64 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.list.len() as u64;
        self.numbers.insert(Arc::clone(text), number);
        self.list.push(Arc::clone(text));
        number
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put(out, self.list.len() as u64);
        for text in &self.list {
            put_text(out, text);
        }
    }

    pub(crate) fn decode<'a>(reader: &mut Reader<'a>) -> Option<Vec<&'a str>> {
        let count = reader.small::<usize>()?;
        // A text takes a byte at least.
        if count > reader.0.len() {
            return None;
        }
        (0..count).map(|_| reader.text()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_and_texts_come_back(
            number: u64, signed: i64, text in ".{0,40}", number_32: u32
        ) {
            let mut out = Vec::new();
            put(&mut out, number);
            put_signed(&mut out, signed);
            put_text(&mut out, &text);
            put(&mut out, u64::from(number_32));
            let body = seal(&out);
            let mut reader = Reader(unseal(&body).expect("its checksum is right"));
            prop_assert_eq!(reader.number(), Some(number));
            prop_assert_eq!(reader.signed(), Some(signed));
            prop_assert_eq!(reader.text(), Some(text.as_str()));
            prop_assert_eq!(reader.small::<u32>(), Some(number_32));
            prop_assert_eq!(reader.byte(), None);
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes: Vec<u8>) {
            let mut reader = Reader(&bytes);
            while reader.number().is_some() {}
            let mut reader = Reader(&bytes);
            let _words = Words::decode(&mut reader);
            let _content = unseal(&bytes);
        }
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let mut body = seal(b"what was written");
        body[9] ^= 4;
        assert_eq!(unseal(&body), None);
        assert_eq!(unseal(b"abc"), None, "too short for a checksum");
    }
}
