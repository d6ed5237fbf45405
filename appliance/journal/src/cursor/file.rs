//! The file with the cursors: two pages, written in turn.
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 8 | magic `MRJCUR` and two zeros |
//! | 8 | 4 | version, 1 |
//! | 12 | 4 | cursors in the page |
//! | 16 | 8 | generation; the page with the higher one counts |
//! | 24 | | each cursor: length of its name u8, name, seq u64 |
//! | 4092 | 4 | CRC-32C of bytes 0 to 4091 |
//!
//! **Invariants**: the page that counts is never the one being written; a damaged page falls back
//! to the other.

use crate::frame::PAGE_BYTES;
use crate::seq::Seq;
use std::collections::BTreeMap;

/// More cursors than the appliance has readers; all fit one page.
pub(crate) const CURSORS_MAX: usize = 32;
/// Bytes of a cursor's name.
pub(crate) const NAME_BYTES_MAX: usize = 64;

const PAGE: usize = PAGE_BYTES as usize;
const MAGIC: [u8; 8] = *b"MRJCUR\0\0";
const VERSION: u32 = 1;

/// What a page holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Positions {
    pub(crate) generation: u64,
    pub(crate) of: BTreeMap<String, Seq>,
}

impl Positions {
    /// Where this generation has its page.
    pub(crate) const fn page_start(&self) -> u64 {
        (self.generation % 2) * PAGE_BYTES
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut page = Vec::with_capacity(PAGE);
        page.extend_from_slice(&MAGIC);
        page.extend_from_slice(&VERSION.to_le_bytes());
        let count = u32::try_from(self.of.len()).unwrap_or(u32::MAX);
        page.extend_from_slice(&count.to_le_bytes());
        page.extend_from_slice(&self.generation.to_le_bytes());
        for (name, seq) in &self.of {
            page.push(u8::try_from(name.len()).unwrap_or(u8::MAX));
            page.extend_from_slice(name.as_bytes());
            page.extend_from_slice(&seq.0.to_le_bytes());
        }
        page.resize(PAGE - 4, 0);
        let crc = crc32c::crc32c(&page);
        page.extend_from_slice(&crc.to_le_bytes());
        page
    }

    pub(crate) fn decode(page: &[u8]) -> Option<Self> {
        let (checked, crc) = page.split_at_checked(PAGE - 4)?;
        if crc32c::crc32c(checked).to_le_bytes() != crc {
            return None;
        }
        let (magic, rest) = checked.split_first_chunk::<8>()?;
        let (version, rest) = rest.split_first_chunk::<4>()?;
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let (generation, mut rest) = rest.split_first_chunk::<8>()?;
        if *magic != MAGIC || u32::from_le_bytes(*version) != VERSION {
            return None;
        }
        let mut of = BTreeMap::new();
        for _ in 0..u32::from_le_bytes(*count) {
            let (length, after) = rest.split_first()?;
            let (name, after) = after.split_at_checked(usize::from(*length))?;
            let (seq, after) = after.split_first_chunk::<8>()?;
            let seq = Seq(u64::from_le_bytes(*seq));
            if seq >= Seq::MAX {
                return None;
            }
            of.insert(std::str::from_utf8(name).ok()?.to_owned(), seq);
            rest = after;
        }
        Some(Self { generation: u64::from_le_bytes(*generation), of })
    }

    /// The page that counts, and how many of the two are damaged. A page of zeros is not.
    pub(crate) fn of_file(bytes: &[u8]) -> (Self, usize) {
        let mut damaged = 0;
        let mut best = Self::default();
        for number in 0..2 {
            let page = bytes.get(number * PAGE..(number + 1) * PAGE).unwrap_or_default();
            match Self::decode(page) {
                Some(found) if found.generation >= best.generation => best = found,
                Some(_) => {}
                None if !page.is_empty() && page.iter().all(|byte| *byte == 0) => {}
                None => damaged += 1,
            }
        }
        (best, damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn positions(generation: u64, seq: u64) -> Positions {
        let of = [("catalog", seq), ("historian", seq + 1)];
        Positions { generation, of: of.map(|(name, seq)| (name.to_owned(), Seq(seq))).into() }
    }

    #[test]
    fn the_later_page_counts_and_a_damaged_one_falls_back() {
        let mut file = positions(4, 10).encode();
        file.extend_from_slice(&positions(5, 20).encode());
        assert_eq!(Positions::of_file(&file), (positions(5, 20), 0));
        file[PAGE + 30] ^= 1;
        assert_eq!(Positions::of_file(&file), (positions(4, 10), 1));
        file[30] ^= 1;
        assert_eq!(Positions::of_file(&file), (Positions::default(), 2));
        assert_eq!(Positions::of_file(&[]), (Positions::default(), 2));
    }

    #[test]
    fn the_most_cursors_with_the_longest_names_fit_a_page() {
        let of = (0..CURSORS_MAX).map(|n| (format!("{n:0>NAME_BYTES_MAX$}"), Seq(n as u64)));
        let full = Positions { generation: 1, of: of.collect() };
        let page = full.encode();
        assert_eq!(page.len(), PAGE);
        assert_eq!(Positions::decode(&page), Some(full));
    }

    proptest! {
        #[test]
        fn decoding_never_panics(mut bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            bytes.resize(PAGE - 4, 0);
            let crc = crc32c::crc32c(&bytes).to_le_bytes();
            bytes.extend_from_slice(&crc);
            prop_assert!(Positions::decode(&bytes).is_none());
            bytes[..12].copy_from_slice(&positions(1, 1).encode()[..12]);
            let crc = crc32c::crc32c(&bytes[..PAGE - 4]).to_le_bytes();
            bytes[PAGE - 4..].copy_from_slice(&crc);
            Positions::decode(&bytes);
        }
    }
}
