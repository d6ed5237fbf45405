//! The historian as others see it.
//!
//! **Invariants**: queries never wait for the disk while they hold the journal's thread up;
//! `close` ends in bounded time whatever the disk does.

use crate::config::Config;
use crate::error::{Error, Result};
use crate::intake::Intake;
use crate::memory::Memory;
use crate::query;
use crate::recovery::recover;
use crate::retention::ClockGuard;
use crate::sample::{Page, Range, RangeQuery, RawQuery, Sample};
use crate::seal::Sealer;
use crate::shared::{Around, Counters, Shared};
use crate::verify::{Report, verify};
use crate::worker::{Worker, run};
use millrace_journal::Seq;
use millrace_model::TagId;
use parking_lot::{Condvar, Mutex, RwLock};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// History: takes values in through its [`Intake`], answers about them, keeps them as parts.
pub struct Historian {
    shared: Arc<Shared>,
    worker: Arc<Mutex<Worker>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What opening found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The journal's records after this one must be given to the intake before new ones.
    pub checkpoint: Seq,
    /// Live parts.
    pub parts: u64,
    /// Samples in them.
    pub rows: u64,
    /// Files that were moved to quarantine.
    pub quarantined: Vec<String>,
    /// Whether the manifest had to be made anew.
    pub is_rebuilt: bool,
}

/// Numbers for metrics. Counts are since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Samples in memory.
    pub memory_rows: u64,
    /// Bytes of them in the memtable that takes values.
    pub active_bytes: u64,
    /// Bytes of them in the memtable that is being sealed.
    pub sealing_bytes: u64,
    /// Tags seen.
    pub tags: u64,
    /// Live parts, samples in them, bytes of them.
    pub parts: u64,
    /// Samples in parts.
    pub part_rows: u64,
    /// Bytes of parts.
    pub part_bytes: u64,
    /// Bytes of parsed footers.
    pub index_bytes: u64,
    /// Seals that got through.
    pub seals: u64,
    /// Seals that did not.
    pub seal_failures: u64,
    /// Samples sealed.
    pub sealed_rows: u64,
    /// Bytes written for them.
    pub sealed_bytes: u64,
    /// Values found to be redelivered, in memory or on disk.
    pub redelivered: u64,
    /// Values that were replaced.
    pub superseded: u64,
    /// Parts that retention removed.
    pub removed_parts: u64,
    /// Times that the journal's thread had to wait.
    pub intake_waits: u64,
}

impl Historian {
    /// Opens a folder and starts the historian's thread.
    ///
    /// # Errors
    /// When the folder cannot be made, listed or written, or there is no thread.
    pub fn open(config: Config, around: Around) -> Result<(Arc<Self>, Intake, Opened)> {
        let found = recover(&around, &config.dir, config.journal_last_seq.0)?;
        let opened = Opened {
            checkpoint: Seq(found.checkpoint),
            parts: found.parts.len() as u64,
            rows: found.parts.iter().map(|part| part.facts.rows).sum(),
            quarantined: found.quarantined,
            is_rebuilt: found.is_rebuilt,
        };
        let clock = ClockGuard::new(
            around.clock.now().0,
            around.clock.monotonic(),
            found.manifest.wall_time_max,
        );
        let memory = Memory::new(found.parts, found.checkpoint, config.memtable_bytes);
        let shared = Arc::new(Shared {
            memory: RwLock::new(memory),
            config,
            around,
            cache: Default::default(),
            control: Mutex::default(),
            to_worker: Condvar::new(),
            to_others: Condvar::new(),
            counters: Counters::default(),
            is_holding_back: AtomicBool::new(false),
        });
        let sealer = Sealer {
            shared: Arc::clone(&shared),
            manifest: found.manifest,
            checkpoint_wanted: found.checkpoint,
        };
        let worker = Arc::new(Mutex::new(Worker::new(sealer, clock)));
        let thread = {
            let (shared, worker) = (Arc::clone(&shared), Arc::clone(&worker));
            let body = move || run(&shared, &worker);
            millrace_supervisor::spawn::thread("historian", body)
                .map_err(Error::io("start a thread for", "historian"))?
        };
        let historian =
            Self { shared: Arc::clone(&shared), worker, thread: Mutex::new(Some(thread)) };
        Ok((Arc::new(historian), Intake::new(shared), opened))
    }

    /// The last value of a tag: the one with the greatest source time.
    #[must_use]
    pub fn last(&self, tag: TagId) -> Option<Sample> {
        query::last(&self.shared, tag)
    }

    /// The last values of many tags, in their order.
    #[must_use]
    pub fn last_many(&self, tags: &[TagId]) -> Vec<Option<Sample>> {
        query::last_many(&self.shared, tags)
    }

    /// Samples of a tag.
    ///
    /// # Errors
    /// [`Error::Query`] when the question makes no sense.
    pub fn raw(&self, query: &RawQuery) -> Result<Page> {
        query::raw(&self.shared, query)
    }

    /// A window of a tag for a chart.
    ///
    /// # Errors
    /// [`Error::Query`] when the question makes no sense.
    pub fn range(&self, query: &RangeQuery) -> Result<Range> {
        query::range(&self.shared, query)
    }

    /// Seals what is in memory, on the caller's thread.
    ///
    /// # Errors
    /// [`Error::CannotSeal`]; the values stay in memory and it is tried again.
    pub fn seal_now(&self) -> Result<()> {
        let mut worker = self.worker.lock();
        // What was closed before is sealed first, then what came after.
        for _memtable in 0..2 {
            let sealed = worker
                .seal()
                .map_err(|error| Error::CannotSeal { reason: crate::error::chain(&error) })?;
            if !sealed {
                break;
            }
        }
        Ok(())
    }

    /// Looks at once at what may be removed.
    pub fn look_after(&self) {
        self.worker.lock().look_after();
    }

    /// A person says that the clock is right, however far it jumped.
    pub fn confirm_clock(&self) {
        self.worker.lock().confirm_clock();
    }

    /// Recomputes all checksums.
    #[must_use]
    pub fn verify(&self) -> Report {
        verify(self.shared.around.disk.as_ref(), &self.shared.config.dir)
    }

    /// Whether the journal's thread waits for room in memory: nothing is acknowledged meanwhile.
    #[must_use]
    pub fn is_holding_back(&self) -> bool {
        self.shared.is_holding_back.load(Ordering::Relaxed)
    }

    /// From now on the intake never waits: to be called before the journal is closed, whose
    /// thread may be waiting in it.
    pub fn release(&self) {
        self.shared.control.lock().is_released = true;
        self.shared.to_others.notify_all();
    }

    /// Seals once more and ends the thread.
    ///
    /// # Errors
    /// [`Error::CannotSeal`]: what was not sealed is in the journal and comes again from there.
    pub fn close(&self) -> Result<()> {
        self.release();
        self.shared.control.lock().is_closing = true;
        self.shared.to_worker.notify_all();
        let Some(thread) = self.thread.lock().take() else { return Ok(()) };
        if thread.join().is_err() {
            return Err(Error::io("join", "historian")(io::Error::other("its thread failed")));
        }
        self.seal_now()
    }

    /// Numbers for metrics.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let memory = self.shared.memory.read();
        let sealing = memory.sealing.as_deref();
        let facts = || memory.parts.iter().map(|part| &part.facts);
        let counters = &self.shared.counters;
        let get = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            memory_rows: u64::from(memory.active.rows + sealing.map_or(0, |table| table.rows)),
            active_bytes: memory.active.bytes() as u64,
            sealing_bytes: sealing.map_or(0, |table| table.bytes()) as u64,
            tags: memory.slots.len() as u64,
            parts: memory.parts.len() as u64,
            part_rows: facts().map(|facts| facts.rows).sum(),
            part_bytes: facts().map(|facts| facts.bytes).sum(),
            index_bytes: self.shared.cache.bytes() as u64,
            seals: get(&counters.seals),
            seal_failures: get(&counters.seal_failures),
            sealed_rows: get(&counters.sealed_rows),
            sealed_bytes: get(&counters.sealed_bytes),
            redelivered: get(&counters.redelivered),
            superseded: get(&counters.superseded),
            removed_parts: get(&counters.removed_parts),
            intake_waits: get(&counters.intake_waits),
        }
    }
}

impl Drop for Historian {
    fn drop(&mut self) {
        self.release();
        self.shared.control.lock().is_closing = true;
        self.shared.to_worker.notify_all();
        if let Some(thread) = self.thread.get_mut().take()
            && thread.join().is_err()
        {
            tracing::error!("The historian's thread failed.");
        }
    }
}
