//! What the owner of a journal decides.

use crate::error::{Error, Result};
use crate::frame::{FRAME_HEAD_BYTES, PAGE_BYTES};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Asked once a commit for the number that its frame carries.
pub type Note = Arc<dyn Fn() -> u64 + Send + Sync>;

/// Smallest segment: the two header pages and a few frames.
pub(crate) const SEGMENT_BYTES_MIN: u64 = 8 * PAGE_BYTES;
/// Largest segment; positions inside a segment stay far below 32 bits.
pub(crate) const SEGMENT_BYTES_MAX: u64 = 1 << 30;

/// When a commit counts as durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// After the sync.
    Sync,
    /// After the write; a sync follows within this time. A power cut loses up to so much.
    Interval(Duration),
}

/// Settings of one journal.
#[derive(Clone)]
pub struct Config {
    /// The folder; created if it is missing.
    pub dir: PathBuf,
    /// Bytes of one segment file, a multiple of 4 KiB.
    pub segment_bytes: u64,
    /// Bytes of all segments together.
    pub bytes_max: u64,
    /// Bytes appended but not committed; more is refused as `Full`.
    pub batch_bytes_max: usize,
    /// Shortest time between the starts of two commits.
    pub commit_interval: Duration,
    /// When a commit counts.
    pub durability: Durability,
    /// An opaque number for each frame.
    pub note: Option<Note>,
}

impl Config {
    /// The defaults of the appliance, in this folder.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            segment_bytes: 64 << 20,
            bytes_max: 2 << 30,
            batch_bytes_max: 8 << 20,
            commit_interval: Duration::from_millis(2),
            durability: Durability::Sync,
            note: None,
        }
    }

    /// Most slot files.
    pub(crate) fn slots_max(&self) -> usize {
        usize::try_from(self.bytes_max / self.segment_bytes.max(1)).unwrap_or(usize::MAX)
    }

    /// Most bytes of records that are appended and not yet committed; fits one frame.
    pub(crate) fn queue_bytes_max(&self) -> usize {
        let room = self.segment_bytes.saturating_sub(2 * PAGE_BYTES + FRAME_HEAD_BYTES as u64);
        self.batch_bytes_max.min(usize::try_from(room).unwrap_or(usize::MAX))
    }

    pub(crate) fn check(&self) -> Result<()> {
        let bad = |setting, must| Err(Error::Config { setting, must });
        if !(SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX).contains(&self.segment_bytes)
            || !self.segment_bytes.is_multiple_of(PAGE_BYTES)
        {
            return bad("segment_bytes", "be a multiple of 4096 between 32 KiB and 1 GiB");
        }
        if self.slots_max() < 3 {
            return bad("bytes_max", "hold three segments or more");
        }
        if self.batch_bytes_max == 0 {
            return bad("batch_bytes_max", "not be zero");
        }
        Ok(())
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("dir", &self.dir)
            .field("segment_bytes", &self.segment_bytes)
            .field("bytes_max", &self.bytes_max)
            .field("batch_bytes_max", &self.batch_bytes_max)
            .field("commit_interval", &self.commit_interval)
            .field("durability", &self.durability)
            .finish_non_exhaustive()
    }
}
