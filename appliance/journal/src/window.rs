//! Reads a segment from front to back with read-ahead, and finds intact frames in it.
//!
//! Shared by recovery and the readers, so that both judge frames alike.
//!
//! **Invariants**: nothing beyond the limit is ever read or kept, because it may be written later;
//! memory is bounded by the larger of the read-ahead and one frame.

use crate::disk::{DiskFile, read_full};
use crate::frame::{FRAME_HEAD_BYTES, FrameHead, PAGE_BYTES, SegmentId};
use std::io;

/// Read ahead this much: large enough for a disk to stream, small beside the memory budget.
const AHEAD_BYTES: u64 = 1 << 20;

#[derive(Debug, Default)]
pub(crate) struct Window {
    bytes: Vec<u8>,
    start: u64,
}

impl Window {
    /// Forgets what was read: another file comes.
    pub(crate) fn reset(&mut self) {
        self.bytes.clear();
        self.start = 0;
    }

    /// What `load` made present.
    pub(crate) fn slice(&self, position: u64, length: u64) -> Option<&[u8]> {
        let from = usize::try_from(position.checked_sub(self.start)?).ok()?;
        let length = usize::try_from(length).ok()?;
        self.bytes.get(from..from.checked_add(length)?)
    }

    /// Bytes of the file, read ahead up to `limit`; `None` if they end before.
    pub(crate) fn load(
        &mut self,
        file: &dyn DiskFile,
        position: u64,
        length: u64,
        limit: u64,
    ) -> io::Result<Option<&[u8]>> {
        if position.checked_add(length).is_none_or(|end| end > limit) {
            return Ok(None);
        }
        if self.slice(position, length).is_none() {
            let ahead = AHEAD_BYTES.max(length).min(limit - position);
            // One bad sector must not take a whole read-ahead with it.
            if self.fill(file, position, ahead).is_err() {
                self.fill(file, position, length)?;
            }
        }
        Ok(self.slice(position, length))
    }

    fn fill(&mut self, file: &dyn DiskFile, position: u64, length: u64) -> io::Result<()> {
        self.bytes.clear();
        self.start = position;
        self.bytes.resize(usize::try_from(length).map_err(io::Error::other)?, 0);
        match read_full(file, &mut self.bytes, position) {
            Ok(count) => {
                self.bytes.truncate(count);
                Ok(())
            }
            Err(error) => {
                self.bytes.clear();
                Err(error)
            }
        }
    }

    /// The frame at a position, if it is whole, intact and `accept` likes its head. On success
    /// its bytes are present.
    pub(crate) fn frame(
        &mut self,
        place: &Place<'_>,
        position: u64,
        accept: impl Fn(&FrameHead) -> bool,
    ) -> io::Result<Option<FrameHead>> {
        let head = self.load(place.file, position, FRAME_HEAD_BYTES as u64, place.limit)?;
        let Some(head) = head.and_then(FrameHead::decode).filter(accept) else {
            return Ok(None);
        };
        let frame = self.load(place.file, position, head.frame_bytes(), place.limit)?;
        Ok(frame.filter(|frame| head.is_intact(place.id, frame)).map(|_| head))
    }

    /// The next intact frame at or after a position. Unreadable pages are passed over.
    pub(crate) fn search(
        &mut self,
        place: &Place<'_>,
        mut position: u64,
        accept: impl Fn(&FrameHead) -> bool,
    ) -> Option<(u64, FrameHead)> {
        while position < place.limit {
            if let Ok(Some(head)) = self.frame(place, position, &accept) {
                return Some((position, head));
            }
            position += PAGE_BYTES;
        }
        None
    }
}

/// Where frames are looked for.
pub(crate) struct Place<'a> {
    pub(crate) file: &'a dyn DiskFile,
    pub(crate) id: &'a SegmentId,
    /// Frames end at or before this.
    pub(crate) limit: u64,
}
