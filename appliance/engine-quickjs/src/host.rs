//! The script host: compiles units, makes workers, and keeps what they share.
//!
//! **Invariants**
//! - The warm runtimes of all workers take about [`Settings::warm_bytes_max`] together, each worker
//!   its share; the one that is running is always kept.
//! - A quarantined pipeline's scripts are refused until [`ScriptHost::release`].

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use millrace_engine::script::{Compiled, Overrun, ScriptHost, SyntaxFault, Unit, Worker};
use millrace_supervisor::{Issue, Issues, SystemClock, spawn};
use parking_lot::Mutex;

use crate::unit;
use crate::watch::{self, GIVEN_UP_MAX, REFUSED_KEY, Slot, Stop};
use crate::worker::JsWorker;

/// Most names of pipelines that are remembered; when there are more, all are learned anew.
const NAMES_MAX: usize = 10_000;

/// What the host is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bytes of the warm runtimes of all workers together.
    pub warm_bytes_max: u64,
    /// A runtime that was not used for so long is dropped.
    pub idle_max: Duration,
    /// Whether a thread that does not come back gets the lowest priority, where the system can.
    pub lowers_lost_threads: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            warm_bytes_max: 64 * 1024 * 1024,
            idle_max: Duration::from_secs(30),
            lowers_lost_threads: true,
        }
    }
}

/// Scripts in QuickJS.
#[derive(Debug)]
pub struct QuickJs {
    shared: Arc<Shared>,
    stop: Arc<Stop>,
    watchdog: Option<JoinHandle<()>>,
}

impl QuickJs {
    /// A host, with its watchdog running. Threads that are lost to scripts become issues.
    ///
    /// # Errors
    /// The watchdog's thread cannot be started.
    pub fn new(settings: Settings, issues: Option<Arc<Issues>>) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            settings,
            issues,
            clock: Arc::new(SystemClock::new()),
            slots: Mutex::default(),
            quarantined: Mutex::default(),
            quarantined_count: AtomicUsize::new(0),
            names: Mutex::default(),
            overruns: Mutex::default(),
            given_up: AtomicUsize::new(0),
            workers: AtomicUsize::new(0),
            next_worker: AtomicU64::new(1),
        });
        let stop = Arc::new(Stop::default());
        let (watched, until) = (Arc::downgrade(&shared), Arc::clone(&stop));
        let watchdog = spawn::thread("script-watch", move || watch::run(&watched, &until))?;
        Ok(Self { shared, stop, watchdog: Some(watchdog) })
    }
}

impl Drop for QuickJs {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(watchdog) = self.watchdog.take()
            && watchdog.join().is_err()
        {
            tracing::error!("The watchdog of scripts panicked.");
        }
    }
}

impl ScriptHost for QuickJs {
    fn compile(&self, unit: &Unit) -> Result<Compiled, Vec<SyntaxFault>> {
        self.shared.know(unit);
        unit::compile(unit).map(|unit| Compiled(Arc::new(unit)))
    }

    fn worker(&self) -> Box<dyn Worker> {
        Box::new(JsWorker::new(Arc::clone(&self.shared)))
    }

    fn overruns(&self) -> Vec<Overrun> {
        std::mem::take(&mut *self.shared.overruns.lock())
    }

    fn release(&self, pipeline: u32) {
        let mut quarantined = self.shared.quarantined.lock();
        if quarantined.remove(&pipeline) {
            self.shared.quarantined_count.store(quarantined.len(), Ordering::Release);
            drop(quarantined);
            self.shared.clear(&watch::overrun_key(pipeline));
        }
    }

    fn is_quarantined(&self, pipeline: u32) -> bool {
        self.shared.is_quarantined(pipeline)
    }
}

/// What workers, watchdog and host share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) clock: Arc<SystemClock>,
    issues: Option<Arc<Issues>>,
    slots: Mutex<Vec<Weak<Slot>>>,
    quarantined: Mutex<HashSet<u32>>,
    /// Its length, so that a call takes no lock when it is empty.
    quarantined_count: AtomicUsize,
    /// Names of pipelines, for issues.
    names: Mutex<HashMap<u32, String>>,
    overruns: Mutex<Vec<Overrun>>,
    given_up: AtomicUsize,
    workers: AtomicUsize,
    next_worker: AtomicU64,
}

/// Why a pipeline's scripts are not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// This pipeline is quarantined.
    Quarantined,
    /// Too many threads are lost.
    TooManyLost,
}

impl Shared {
    /// A worker came.
    pub(crate) fn join(&self) -> Arc<Slot> {
        let slot = Slot::new(self.next_worker.fetch_add(1, Ordering::Relaxed));
        let mut slots = self.slots.lock();
        slots.retain(|slot| slot.strong_count() > 0);
        slots.push(Arc::downgrade(&slot));
        self.workers.fetch_add(1, Ordering::Relaxed);
        slot
    }

    /// A worker went. One that was given up came back, then.
    pub(crate) fn leave(&self, slot: &Slot) {
        self.workers.fetch_sub(1, Ordering::Relaxed);
        if slot.is_given_up() && self.given_up.fetch_sub(1, Ordering::AcqRel) <= GIVEN_UP_MAX {
            self.clear(REFUSED_KEY);
        }
    }

    pub(crate) fn slots(&self) -> Vec<Arc<Slot>> {
        self.slots.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Quarantines the pipeline, keeps the overrun for the engine; gives the number of lost threads.
    pub(crate) fn lose(&self, overrun: Overrun) -> usize {
        let mut quarantined = self.quarantined.lock();
        quarantined.insert(overrun.pipeline);
        self.quarantined_count.store(quarantined.len(), Ordering::Release);
        drop(quarantined);
        self.overruns.lock().push(overrun);
        self.given_up.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Whether a pipeline's scripts are refused.
    pub(crate) fn refuses(&self, pipeline: u32) -> Option<Refused> {
        if self.given_up.load(Ordering::Acquire) >= GIVEN_UP_MAX {
            return Some(Refused::TooManyLost);
        }
        self.is_quarantined(pipeline).then_some(Refused::Quarantined)
    }

    fn is_quarantined(&self, pipeline: u32) -> bool {
        self.quarantined_count.load(Ordering::Acquire) > 0
            && self.quarantined.lock().contains(&pipeline)
    }

    /// Remembers the name of a unit's pipeline.
    fn know(&self, unit: &Unit) {
        let mut names = self.names.lock();
        if names.len() >= NAMES_MAX {
            names.clear();
        }
        names.insert(unit.pipeline, unit.name.clone());
    }

    /// The pipeline as people know it.
    pub(crate) fn name_of(&self, pipeline: u32) -> String {
        let name = self.names.lock().get(&pipeline).cloned();
        name.unwrap_or_else(|| pipeline.to_string())
    }

    /// Bytes of warm runtimes that one worker may keep.
    pub(crate) fn share_bytes(&self) -> u64 {
        self.settings.warm_bytes_max / self.workers.load(Ordering::Relaxed).max(1) as u64
    }

    pub(crate) fn raise(&self, issue: Issue) {
        if let Some(issues) = &self.issues {
            issues.raise(issue);
        }
    }

    fn clear(&self, key: &str) {
        if let Some(issues) = &self.issues {
            issues.clear(key);
        }
    }
}
