//! What the owner of a historian decides, and the limits that nobody decides.
//!
//! **Invariants**: every limit of this crate has its name here or beside the one thing it bounds.

use millrace_journal::Seq;
use std::path::PathBuf;
use std::time::Duration;

/// Largest number of samples of one answer.
pub const RAW_LIMIT_MAX: usize = 100_000;
/// Text bytes after which an answer ends early and says where to go on.
pub const RAW_TEXT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Most buckets of one range query: more than any screen has pixels.
pub const BUCKETS_MAX: usize = 10_000;
/// Footers, page indexes and tag directories that are kept parsed.
pub const INDEX_CACHE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Parts that one seal may write per retention class; beyond, a part covers a longer span.
pub const PARTS_PER_SEAL_MAX: usize = 64;
/// Live parts above which age alone seals only once an hour, so that small loads cannot fill a
/// folder with small files.
pub const PARTS_MANY: usize = 4_096;
/// How long after its class's age a part is removed.
pub const RETENTION_MARGIN: Duration = Duration::from_secs(10 * 60);
/// Wall time that passed faster than monotonic time by more than this is a jump.
pub const CLOCK_JUMP_MAX: Duration = Duration::from_secs(3600);
/// A clock further ahead than this of the last time seen before a start is not believed.
pub const CLOCK_AHEAD_AT_START_MAX: Duration = Duration::from_secs(25 * 3600);
/// Time between looks at what may be removed.
pub const RETENTION_INTERVAL: Duration = Duration::from_secs(60);
/// Time between attempts while sealing fails.
pub const SEAL_RETRY: Duration = Duration::from_secs(1);
/// Longest text of a last value that is held in memory; longer ones are read from parts.
pub const LAST_TEXT_BYTES_MAX: usize = 4 * 1024;
/// Largest manifest that is read.
pub const MANIFEST_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Settings of one historian.
#[derive(Clone, Debug)]
pub struct Config {
    /// The folder; created if it is missing.
    pub dir: PathBuf,
    /// Bytes of the memtable that takes values; as much again may wait to be sealed.
    pub memtable_bytes: usize,
    /// Oldest value that may wait to be sealed.
    pub seal_age: Duration,
    /// Bytes of parts of the class `keep`.
    pub keep_bytes_max: u64,
    /// The last seq that the journal has given: `next_seq - 1` of its recovery.
    pub journal_last_seq: Seq,
}

impl Config {
    /// The defaults of the appliance, in this folder.
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            memtable_bytes: 64 << 20,
            seal_age: Duration::from_secs(600),
            keep_bytes_max: 50 << 30,
            journal_last_seq: Seq::ZERO,
        }
    }
}
