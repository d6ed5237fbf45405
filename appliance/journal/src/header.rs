//! The header page of a segment, written twice: first page and last page of the file.
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 8 | magic `MRJSEG` and two zeros |
//! | 8 | 4 | version, 1 |
//! | 12 | 4 | bytes of a page, 4096 |
//! | 16 | 16 | random id, fresh for each life of the file |
//! | 32 | 8 | order: 1 more than the segment before |
//! | 40 | 8 | seq of the first record it may hold |
//! | 48 | 8 | bytes of the file |
//! | 56 | 4 | 0 |
//! | 60 | 4 | CRC-32C of bytes 0 to 59 |
//!
//! The rest of the page is zero.
//!
//! **Invariants**
//! - All fields lie in one sector, so that a power cut leaves the old header or the new one.
//! - One damaged copy costs nothing: without the id no frame of the file could be checked.

use crate::config::{SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN};
use crate::frame::{PAGE_BYTES, SegmentId};
use crate::seq::Seq;

const MAGIC: [u8; 8] = *b"MRJSEG\0\0";
const VERSION: u32 = 1;
/// Far more lives than any disk has.
const ORDER_MAX: u64 = 1 << 62;
const HEADER_BYTES: usize = 64;
const CHECKED_BYTES: usize = 60;

/// What a segment says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) id: SegmentId,
    pub(crate) order: u64,
    pub(crate) first: Seq,
    pub(crate) segment_bytes: u64,
}

/// What stands where a header should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderPage {
    Header(Header),
    /// Zeros: prepared and never used.
    Zero,
    /// Written by a later version.
    Version(u32),
    Damaged,
}

impl Header {
    /// A whole page.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut page = Vec::with_capacity(PAGE_BYTES as usize);
        page.extend_from_slice(&MAGIC);
        page.extend_from_slice(&VERSION.to_le_bytes());
        page.extend_from_slice(&(PAGE_BYTES as u32).to_le_bytes());
        page.extend_from_slice(&self.id);
        page.extend_from_slice(&self.order.to_le_bytes());
        page.extend_from_slice(&self.first.0.to_le_bytes());
        page.extend_from_slice(&self.segment_bytes.to_le_bytes());
        page.extend_from_slice(&[0; 4]);
        let crc = crc32c::crc32c(&page);
        page.extend_from_slice(&crc.to_le_bytes());
        page.resize(PAGE_BYTES as usize, 0);
        page
    }

    /// Where frames must end: the last page is the header's copy.
    pub(crate) const fn frames_end(&self) -> u64 {
        self.segment_bytes.saturating_sub(PAGE_BYTES)
    }
}

impl HeaderPage {
    /// Reads the start of a page.
    pub(crate) fn decode(page: &[u8]) -> Self {
        let Some(bytes) = page.first_chunk::<HEADER_BYTES>() else {
            return Self::Damaged;
        };
        if bytes.iter().all(|byte| *byte == 0) {
            return Self::Zero;
        }
        Self::read(bytes).unwrap_or(Self::Damaged)
    }

    fn read(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let (checked, crc) = bytes.split_at_checked(CHECKED_BYTES)?;
        let (magic, rest) = checked.split_first_chunk::<8>()?;
        let (version, rest) = rest.split_first_chunk::<4>()?;
        let (_page_bytes, rest) = rest.split_first_chunk::<4>()?;
        let (id, rest) = rest.split_first_chunk::<16>()?;
        let (order, rest) = rest.split_first_chunk::<8>()?;
        let (first, rest) = rest.split_first_chunk::<8>()?;
        let (segment_bytes, _) = rest.split_first_chunk::<8>()?;
        if *magic != MAGIC || crc32c::crc32c(checked).to_le_bytes() != crc {
            return None;
        }
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            return Some(Self::Version(version));
        }
        let header = Header {
            id: *id,
            order: u64::from_le_bytes(*order),
            first: Seq(u64::from_le_bytes(*first)),
            segment_bytes: u64::from_le_bytes(*segment_bytes),
        };
        // Loops and memory are sized by these.
        let is_possible = header.order < ORDER_MAX
            && header.first < Seq::MAX
            && (SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX).contains(&header.segment_bytes)
            && header.segment_bytes.is_multiple_of(PAGE_BYTES);
        is_possible.then_some(Self::Header(header))
    }

    /// Judges both copies. Of two good ones the later counts: if they differ, a power cut came
    /// between the header and the first frame, and either is right.
    pub(crate) fn of_copies(head: Self, tail: Self) -> Self {
        match (head, tail) {
            (Self::Header(a), Self::Header(b)) if b.order > a.order => Self::Header(b),
            (Self::Header(header), _) | (_, Self::Header(header)) => Self::Header(header),
            (Self::Version(version), _) | (_, Self::Version(version)) => Self::Version(version),
            (Self::Zero, Self::Zero) => Self::Zero,
            _ => Self::Damaged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header { id: [7; 16], order: 3, first: Seq(42), segment_bytes: 1 << 20 };

    #[test]
    fn comes_back_as_it_was_written() {
        let page = HEADER.encode();
        assert_eq!(page.len() as u64, PAGE_BYTES);
        assert_eq!(HeaderPage::decode(&page), HeaderPage::Header(HEADER));
    }

    #[test]
    fn one_good_copy_is_enough_and_the_later_counts() {
        let good = HeaderPage::Header(HEADER);
        let later = HeaderPage::Header(Header { order: 4, ..HEADER });
        assert_eq!(HeaderPage::of_copies(HeaderPage::Damaged, good), good);
        assert_eq!(HeaderPage::of_copies(good, HeaderPage::Zero), good);
        assert_eq!(HeaderPage::of_copies(good, later), later);
        assert_eq!(HeaderPage::of_copies(later, good), later);
        assert_eq!(
            HeaderPage::of_copies(HeaderPage::Zero, HeaderPage::Damaged),
            HeaderPage::Damaged
        );
    }

    #[test]
    fn damage_zeros_and_later_versions_are_told_apart() {
        let page = HEADER.encode();
        for at in 0..HEADER_BYTES {
            let mut bad = page.clone();
            bad[at] ^= 1;
            assert_eq!(HeaderPage::decode(&bad), HeaderPage::Damaged, "byte {at}");
        }
        assert_eq!(HeaderPage::decode(&[0; 4096]), HeaderPage::Zero);
        assert_eq!(HeaderPage::decode(&[0; 11]), HeaderPage::Damaged);
        let mut later = page;
        later[8] = 2;
        let crc = crc32c::crc32c(&later[..CHECKED_BYTES]).to_le_bytes();
        later[CHECKED_BYTES..HEADER_BYTES].copy_from_slice(&crc);
        assert_eq!(HeaderPage::decode(&later), HeaderPage::Version(2));
    }
}
