//! One segment in use: a slot file under one header.
//!
//! **Invariants**
//! - `end` covers durable frames only and never moves back: readers go no further.
//! - A retired segment's file may be overwritten at any moment; readers notice by the salted CRC
//!   and by the flag.

use crate::disk::DiskFile;
use crate::frame::PAGE_BYTES;
use crate::header::Header;
use crate::seq::Seq;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Bytes that recovery found to be damaged, between intact frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) start: u64,
    pub(crate) end: u64,
}

pub(crate) struct Segment {
    pub(crate) slot: u32,
    pub(crate) header: Header,
    pub(crate) file: Arc<dyn DiskFile>,
    /// The file has the configured size and can be written: it may be used again.
    pub(crate) is_reusable: bool,
    pub(crate) gaps: Vec<Gap>,
    end: AtomicU64,
    is_retired: AtomicBool,
}

impl Segment {
    pub(crate) fn new(slot: u32, header: Header, file: Arc<dyn DiskFile>) -> Self {
        Self {
            slot,
            header,
            file,
            is_reusable: true,
            gaps: Vec::new(),
            end: AtomicU64::new(PAGE_BYTES),
            is_retired: AtomicBool::new(false),
        }
    }

    /// Where the durable frames end.
    pub(crate) fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    pub(crate) fn advance(&self, end: u64) {
        self.end.fetch_max(end, Ordering::Release);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.end() == PAGE_BYTES
    }

    pub(crate) fn retire(&self) {
        self.is_retired.store(true, Ordering::Release);
    }

    pub(crate) fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Acquire)
    }

    /// Seq of the first record that it may hold.
    pub(crate) fn first(&self) -> Seq {
        self.header.first
    }

    pub(crate) fn name(&self) -> String {
        file_name(self.slot)
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segment")
            .field("slot", &self.slot)
            .field("header", &self.header)
            .field("end", &self.end())
            .finish_non_exhaustive()
    }
}

pub(crate) fn file_name(slot: u32) -> String {
    format!("segment-{slot:04}.journal")
}

/// The slot of a file name; `None` if it is not a segment's.
pub(crate) fn slot_of(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("segment-")?.strip_suffix(".journal")?;
    let slot = digits.parse().ok()?;
    (file_name(slot) == name).then_some(slot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_exact() {
        assert_eq!(slot_of(&file_name(7)), Some(7));
        assert_eq!(slot_of(&file_name(12345)), Some(12345));
        for other in
            ["segment-7.journal", "segment-0007.journal.new", "cursors", "segment-.journal"]
        {
            assert_eq!(slot_of(other), None, "{other}");
        }
    }
}
