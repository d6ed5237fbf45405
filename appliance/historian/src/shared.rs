//! What the intake, the worker and the queries have in common.
//!
//! **Invariants**: the control lock is never held while the memory lock is waited for.

use crate::config::Config;
use crate::memory::Memory;
use crate::part::IndexCache;
use millrace_journal::{Disk, Seq};
use millrace_model::{ClientNumber, Retention, TagId};
use millrace_supervisor::{Clock, Issue, Issues, Severity};
use parking_lot::{Condvar, Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Who knows how long a tag's history is kept.
pub trait Tags: Send + Sync {
    /// Asked once per tag and seal; an unknown tag is kept for the default.
    fn retention(&self, tag: TagId) -> Retention;
}

/// Who keeps the counts.
pub trait Reclassified: Send + Sync {
    /// Values of a client that were reported as stored turned out, when they were compared with
    /// what is on disk, to be `redelivered` (and are dropped: stored less by so many) or to have
    /// `superseded` an earlier value (they stay stored).
    fn reclassified(&self, client: ClientNumber, redelivered: u64, superseded: u64);
}

/// The position up to which the journal may forget.
pub trait Checkpoint: Send + Sync {
    /// Where it stands.
    fn position(&self) -> Seq;
    /// Moves it; durable sooner or later.
    ///
    /// # Errors
    /// Text for an issue; tried again later.
    fn checkpoint(&self, seq: Seq) -> Result<(), String>;
}

impl Checkpoint for millrace_journal::Cursor {
    fn position(&self) -> Seq {
        Self::position(self)
    }

    fn checkpoint(&self, seq: Seq) -> Result<(), String> {
        Self::checkpoint(self, seq).map_err(|error| crate::error::chain(&error))
    }
}

/// What the historian needs of the rest.
pub struct Around {
    /// Its way to the files.
    pub disk: Arc<dyn Disk>,
    /// Its time.
    pub clock: Arc<dyn Clock>,
    /// Where it says what is wrong.
    pub issues: Arc<Issues>,
    /// Retention of tags.
    pub tags: Arc<dyn Tags>,
    /// Counts that change afterwards.
    pub reclassified: Arc<dyn Reclassified>,
    /// Its cursor in the journal.
    pub cursor: Arc<dyn Checkpoint>,
}

/// What the threads tell one another.
#[derive(Default)]
pub(crate) struct ControlState {
    /// The intake must not wait any more.
    pub(crate) is_released: bool,
    pub(crate) is_closing: bool,
}

/// Counters, for metrics.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) redelivered: AtomicU64,
    pub(crate) superseded: AtomicU64,
    pub(crate) seals: AtomicU64,
    pub(crate) seal_failures: AtomicU64,
    pub(crate) sealed_rows: AtomicU64,
    pub(crate) sealed_bytes: AtomicU64,
    pub(crate) removed_parts: AtomicU64,
    pub(crate) intake_waits: AtomicU64,
}

pub(crate) struct Shared {
    pub(crate) config: Config,
    pub(crate) around: Around,
    pub(crate) memory: RwLock<Memory>,
    pub(crate) cache: IndexCache,
    pub(crate) control: Mutex<ControlState>,
    pub(crate) to_worker: Condvar,
    pub(crate) to_others: Condvar,
    pub(crate) counters: Counters,
    /// The journal's thread waits in the intake.
    pub(crate) is_holding_back: AtomicBool,
}

impl Shared {
    pub(crate) fn raise(&self, key: &str, severity: Severity, texts: [String; 3]) {
        let [what, effect, remedy] = texts;
        self.around.issues.raise(Issue { key: key.to_owned(), severity, what, effect, remedy });
    }

    /// A part could not be read: it is set aside and said so, unless its time had come.
    pub(crate) fn set_aside(&self, part: &crate::part::Part, why: &str) {
        use crate::part::Standing;
        if part.standing() == Standing::Removed {
            return;
        }
        part.set_standing(Standing::Damaged);
        self.cache.forget(&part.facts.name);
        self.raise(
            &format!("part-damaged:{}", part.facts.name),
            Severity::Critical,
            [
                format!("Part {} cannot be used: {why}.", part.facts.name),
                format!(
                    "{} samples are left out of answers, which say that they are incomplete.",
                    part.facts.rows
                ),
                "Restore the file from a backup and start again, or check the disk.".to_owned(),
            ],
        );
    }

    pub(crate) fn count(counter: &AtomicU64, by: u64) {
        counter.fetch_add(by, Ordering::Relaxed);
    }
}
