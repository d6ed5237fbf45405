//! How the journal fares, for issues and metrics.

use crate::seq::Seq;
use std::time::{Duration, Instant};

/// Whether commits get through.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum State {
    /// They do.
    #[default]
    Normal,
    /// They fail on a fresh segment too: nothing is acknowledged, nothing refused, and a new
    /// attempt is made each second.
    Degraded {
        /// The last failure as text.
        reason: String,
        /// Since when.
        since: Instant,
    },
    /// All segments are in use and this cursor keeps the oldest.
    FullByReader {
        /// The cursor's name; `None` if no cursor is registered at all.
        cursor: Option<&'static str>,
        /// Where it stands.
        position: Seq,
        /// Since when.
        since: Instant,
    },
    /// The follower failed: the journal takes nothing more until the appliance is restarted.
    Broken {
        /// What it said.
        reason: String,
        /// Since when.
        since: Instant,
    },
}

/// State and the last troubles.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// The state now.
    pub state: State,
    /// The last failed write or sync, also when the next attempt got through.
    pub last_fault: Option<String>,
    /// Why cursors cannot be saved at the moment.
    pub cursor_fault: Option<String>,
    /// Why no segment can be prepared ahead at the moment.
    pub segment_fault: Option<String>,
}

/// Numbers since the journal was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Oldest record that can be read; above `durable` if there is none.
    pub oldest: Seq,
    /// Highest durable seq.
    pub durable: Seq,
    /// Highest seq that was given.
    pub appended: Seq,
    /// Commits that got through.
    pub commits: u64,
    /// Records in them.
    pub records: u64,
    /// Bytes written, padding included.
    pub written_bytes: u64,
    /// Syncs of segments.
    pub syncs: u64,
    /// Writes and syncs that failed.
    pub faults: u64,
    /// Bytes that wait for their commit.
    pub queued_bytes: usize,
    /// Segments with records.
    pub segments_live: usize,
    /// Segments ready for use.
    pub segments_free: usize,
    /// How long the last commit took, from the start of its write.
    pub last_commit_micros: u64,
    /// Commits by how long they took: below each of [`crate::COMMIT_BOUNDS_MICROS`], and longer.
    pub commit_times: [u64; crate::COMMIT_BOUNDS_MICROS.len() + 1],
    /// How long appends were refused as [`crate::AppendError::Full`], all in all: each time from
    /// the first one refused to the next commit.
    pub stalled: Duration,
}
