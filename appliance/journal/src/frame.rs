//! One commit as bytes: head, records, zeros up to the next page (docs/formats/journal.md).
//!
//! | at | bytes | field |
//! |---|---|---|
//! | 0 | 4 | magic `MRJF` |
//! | 4 | 4 | CRC-32C over the segment's id, the head from byte 8 on, and the body |
//! | 8 | 4 | bytes of the body |
//! | 12 | 4 | records in the body |
//! | 16 | 8 | seq of the first record |
//! | 24 | 8 | note |
//! | 32 | 4 | flags, 0 |
//! | 36 | 4 | 0 |
//!
//! **Invariants**
//! - The CRC is salted with the segment's random id: a frame that an earlier life of the file left
//!   behind, or that a device sent us as a value, never passes.
//! - A frame starts on a page of 4 KiB and is padded to whole pages, so that writing the next
//!   frame never touches a page that holds acknowledged records, and a search for frames has to
//!   look at page starts only.
//! - The length is checked against the segment before anything is read by it.

use crate::seq::{Seq, SeqRange};

/// Frames and headers start at multiples of this.
pub(crate) const PAGE_BYTES: u64 = 4096;
/// Bytes before the records.
pub(crate) const FRAME_HEAD_BYTES: usize = 40;
const MAGIC: [u8; 4] = *b"MRJF";
const SALTED_FROM: usize = 8;

/// A segment's random id.
pub(crate) type SegmentId = [u8; 16];

/// The head of a frame; nothing of it is to be trusted before the CRC was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FrameHead {
    pub(crate) crc: u32,
    pub(crate) body_bytes: u32,
    pub(crate) count: u32,
    pub(crate) first: Seq,
    pub(crate) note: u64,
}

impl FrameHead {
    /// Reads a head; `None` if this is not the start of a frame.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (magic, rest) = bytes.split_first_chunk::<4>()?;
        let (crc, rest) = rest.split_first_chunk::<4>()?;
        let (body_bytes, rest) = rest.split_first_chunk::<4>()?;
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let (first, rest) = rest.split_first_chunk::<8>()?;
        let (note, rest) = rest.split_first_chunk::<8>()?;
        let (reserved, _) = rest.split_first_chunk::<8>()?;
        if *magic != MAGIC || *reserved != [0; 8] {
            return None;
        }
        let head = Self {
            crc: u32::from_le_bytes(*crc),
            body_bytes: u32::from_le_bytes(*body_bytes),
            count: u32::from_le_bytes(*count),
            first: Seq(u64::from_le_bytes(*first)),
            note: u64::from_le_bytes(*note),
        };
        let is_possible = head.count > 0
            && head.body_bytes / 4 >= head.count
            && (Seq(1)..Seq::MAX).contains(&head.first);
        is_possible.then_some(head)
    }

    pub(crate) fn last(&self) -> Seq {
        SeqRange { first: self.first, count: self.count }.last()
    }

    /// Head and body.
    pub(crate) fn frame_bytes(&self) -> u64 {
        FRAME_HEAD_BYTES as u64 + u64::from(self.body_bytes)
    }

    /// With the padding.
    pub(crate) fn padded_bytes(&self) -> u64 {
        padded(self.frame_bytes())
    }

    /// Whether `frame` (head and body, and perhaps more) is what was written.
    pub(crate) fn is_intact(&self, id: &SegmentId, frame: &[u8]) -> bool {
        usize::try_from(self.frame_bytes())
            .ok()
            .and_then(|length| frame.get(SALTED_FROM..length))
            .is_some_and(|salted| crc(id, salted) == self.crc)
    }
}

/// Fills the head of a frame whose records are in place behind it, and pads it to whole pages.
/// `frame` may carry the padding of an earlier attempt: `body_bytes` tells where the records end.
pub(crate) fn seal(
    frame: &mut Vec<u8>,
    body_bytes: usize,
    id: &SegmentId,
    range: SeqRange,
    note: u64,
) {
    let length = FRAME_HEAD_BYTES + body_bytes;
    frame.truncate(length);
    // Cannot be cut: a batch is below 1 GiB.
    let body_bytes = u32::try_from(body_bytes).unwrap_or(u32::MAX);
    let fields: [&[u8]; 7] = [
        &MAGIC,
        &[0; 4],
        &body_bytes.to_le_bytes(),
        &range.count.to_le_bytes(),
        &range.first.0.to_le_bytes(),
        &note.to_le_bytes(),
        &[0; 8],
    ];
    for (place, byte) in frame.iter_mut().zip(fields.into_iter().flatten()) {
        *place = *byte;
    }
    let salted = frame.get(SALTED_FROM..).unwrap_or_default();
    let checksum = crc(id, salted).to_le_bytes();
    if let Some(place) = frame.get_mut(4..SALTED_FROM) {
        place.copy_from_slice(&checksum);
    }
    frame.resize(usize::try_from(padded(length as u64)).unwrap_or(length), 0);
}

pub(crate) fn crc(id: &SegmentId, bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(id), bytes)
}

/// The next multiple of a page.
pub(crate) const fn padded(bytes: u64) -> u64 {
    bytes.div_ceil(PAGE_BYTES) * PAGE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(id: &SegmentId, body: &[u8], count: u32) -> Vec<u8> {
        let mut frame = vec![0; FRAME_HEAD_BYTES];
        frame.extend_from_slice(body);
        seal(&mut frame, body.len(), id, SeqRange { first: Seq(7), count }, 9);
        frame
    }

    #[test]
    fn comes_back_as_it_was_written_and_ends_on_a_page() {
        let id = [3; 16];
        let bytes = frame(&id, &[1; 5000], 2);
        assert_eq!(bytes.len(), 8192);
        let head = FrameHead::decode(&bytes).expect("a frame");
        assert_eq!((head.first, head.last(), head.note), (Seq(7), Seq(8), 9));
        assert_eq!((head.frame_bytes(), head.padded_bytes()), (5040, 8192));
        assert!(head.is_intact(&id, &bytes));
    }

    #[test]
    fn a_frame_of_another_life_of_the_file_does_not_pass() {
        let bytes = frame(&[3; 16], &[1; 100], 2);
        let head = FrameHead::decode(&bytes).expect("a frame");
        assert!(!head.is_intact(&[4; 16], &bytes));
    }

    #[test]
    fn any_flipped_bit_is_noticed() {
        let id = [3; 16];
        let good = frame(&id, &[1; 100], 2);
        for bit in 0..8 * (FRAME_HEAD_BYTES + 100) {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let passes = FrameHead::decode(&bad).is_some_and(|head| head.is_intact(&id, &bad));
            assert!(!passes, "bit {bit}");
        }
    }

    proptest! {
        #[test]
        fn decoding_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut framed = MAGIC.to_vec();
            framed.extend_from_slice(&bytes);
            for bytes in [&bytes, &framed] {
                if let Some(head) = FrameHead::decode(bytes) {
                    prop_assert!(!head.is_intact(&[0; 16], bytes));
                }
            }
        }
    }
}
