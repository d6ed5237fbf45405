//! The history's thread: waits, takes what waits, writes it in one transaction.
//!
//! **Invariants**: what was taken and cannot be written goes back to the front of the queue, where
//! it can be dropped for newer failures; the file is opened, checked and set aside here only; the
//! thread ends only when told.

pub(crate) mod drops;
mod wall;

use crate::file::{Files, StoreError, set_aside};
use crate::history::chunk::{self, Chunk};
use crate::history::store::{Group, Store, hour_of};
use crate::history::tally::ByPipeline;
use crate::history::{Config, Queue, Shared, Waiting};
use crate::run::Run;
use drops::Drops;
use millrace_model::Timestamp;
use millrace_supervisor::{Clock, Issue, Issues, Severity};
use parking_lot::MutexGuard;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wall::Wall;

pub(crate) const ISSUE_CANNOT_WRITE: &str = "run-history-cannot-write";
pub(crate) const ISSUE_UNREADABLE: &str = "run-history-unreadable";
pub(crate) const ISSUE_DAMAGED: &str = "run-history-damaged";

/// Memory of the runs of one transaction.
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;
/// An idle thread looks after the age of runs, and the counts, so often.
const IDLE: Duration = Duration::from_secs(10);
/// A file that was found in order is not read through again so soon.
const CHECK_EVERY: Duration = Duration::from_mins(10);

/// What the thread has in hand.
#[derive(Debug, Default)]
struct Task {
    quiet: Vec<(u64, Run)>,
    notable: Vec<(u64, Run)>,
    bytes: usize,
    suspect: bool,
    stop: bool,
}

pub(crate) struct Worker {
    config: Config,
    files: Arc<dyn Files>,
    issues: Arc<Issues>,
    clock: Arc<dyn Clock>,
    store: Option<Store>,
    /// Counts taken from memory and not yet written, and their hour.
    counts: Option<(i64, ByPipeline)>,
    counts_due: Duration,
    checked: Option<Duration>,
    drops: Drops,
    wall: Wall,
}

impl Worker {
    pub(crate) fn new(
        config: Config,
        files: Arc<dyn Files>,
        issues: Arc<Issues>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let wall = Wall::new(clock.as_ref());
        let counts_due = clock.monotonic() + config.counts_interval;
        let drops = Drops::default();
        let (store, counts, checked) = (None, None, None);
        Self { config, files, issues, clock, store, counts, counts_due, checked, drops, wall }
    }

    /// Opens the file and lets numbers go on where they ended.
    pub(crate) fn begin(&mut self, shared: &Shared) {
        match self.open() {
            Ok(store) => {
                let last = store.last_number();
                self.store = Some(store);
                match last {
                    Ok(last) => {
                        let mut queue = shared.queue.lock();
                        queue.last = last;
                        queue.settled = last;
                    }
                    Err(error) => self.trouble(&error),
                }
            }
            Err(error) => self.trouble(&error),
        }
    }

    pub(crate) fn run(mut self, shared: &Shared) {
        loop {
            let mut task = take(shared, IDLE);
            let stop = task.stop;
            let result = self.perform(shared, &mut task);
            let is_ok = result.is_ok();
            match result {
                Ok(()) => {
                    self.issues.clear(ISSUE_CANNOT_WRITE);
                }
                Err(error) => self.trouble(&error),
            }
            settle(shared, task, is_ok);
            let quiet = shared.dropped_quiet.load(Ordering::Relaxed);
            let notable = shared.dropped_notable.load(Ordering::Relaxed);
            self.drops.report((quiet, notable), self.clock.as_ref(), &self.issues);
            if stop {
                return;
            }
            let interval =
                if is_ok { self.config.group_interval } else { self.config.retry_interval };
            pace(shared, interval, is_ok, self.config.queue_bytes_max / 2);
        }
    }

    fn perform(&mut self, shared: &Shared, task: &mut Task) -> Result<(), StoreError> {
        if task.suspect {
            self.check()?;
        }
        let mut store = match self.store.take() {
            Some(store) => store,
            None => self.reopen(shared, task)?,
        };
        let counting = shared.counting.lock();
        self.take_counts(shared, task.stop);
        let result = self.write(shared, &mut store, task);
        drop(counting);
        match result {
            Err(StoreError::Damaged(reason)) => {
                // The connection must be closed before the file is moved.
                drop(store);
                let mut store = self.replace(&reason)?;
                let result = self.write(shared, &mut store, task);
                self.store = Some(store);
                result
            }
            other => {
                self.store = Some(store);
                other
            }
        }
    }

    fn write(&mut self, shared: &Shared, store: &mut Store, task: &Task) -> Result<(), StoreError> {
        let (now, monotonic) = (self.clock.now(), self.clock.monotonic());
        let is_believed = self.wall.look(now, monotonic);
        let retention = i64::try_from(self.config.retention.as_nanos()).unwrap_or(i64::MAX);
        let keep_from = is_believed.then(|| Timestamp(now.0.saturating_sub(retention)));
        let (quiet, notable) = (chunks(&task.quiet), chunks(&task.notable));
        #[cfg(test)]
        match shared.pages_max.load(Ordering::Relaxed) {
            0 => store.limit_pages(u32::MAX - 1),
            pages => store.limit_pages(pages),
        }
        store.write(&Group {
            quiet: &quiet,
            notable: &notable,
            counts: self.counts.as_ref().map(|(hour, counts)| (*hour, counts)),
            now,
            keep_from,
            bytes_max: self.config.bytes_max,
        })?;
        self.counts = None;
        let count = (task.quiet.len() + task.notable.len()) as u64;
        shared.kept.fetch_add(count, Ordering::Relaxed);
        shared.transactions.fetch_add(1, Ordering::Relaxed);
        shared.file_bytes.store(store.used_bytes()?, Ordering::Relaxed);
        Ok(())
    }

    /// Moves counts from memory into hand when they are due.
    fn take_counts(&mut self, shared: &Shared, is_last: bool) {
        let (hour, monotonic) = (hour_of(self.clock.now()), self.clock.monotonic());
        if self.counts.is_none() && (is_last || monotonic >= self.counts_due) {
            self.counts_due = monotonic + self.config.counts_interval;
            let taken = shared.tallies.take();
            self.counts = (!taken.is_empty()).then_some((hour, taken));
        }
    }

    fn open(&self) -> Result<Store, StoreError> {
        match Store::open(&self.config.path, self.files.as_ref()) {
            Err(error @ (StoreError::Damaged(_) | StoreError::Newer { .. })) => {
                self.replace(&error.to_string())
            }
            other => other,
        }
    }

    /// Opens the file again. If runs were numbered without knowing what it holds, they are numbered
    /// behind it now: nobody has seen their numbers, since questions read the file alone.
    fn reopen(&self, shared: &Shared, task: &mut Task) -> Result<Store, StoreError> {
        let store = self.open()?;
        let last = store.last_number()?;
        let mut queue = shared.queue.lock();
        let waiting = [task.quiet.first(), task.notable.first()].into_iter().flatten();
        let lowest = waiting.map(|(number, _)| *number).min();
        if lowest.is_some_and(|number| number <= last) || queue.last < last {
            let Queue { quiet, notable, .. } = &mut *queue;
            let queued = quiet.iter_mut().chain(notable);
            for (number, _) in task.quiet.iter_mut().chain(&mut task.notable).chain(queued) {
                *number += last;
            }
            queue.last += last;
            queue.settled += last;
        }
        Ok(store)
    }

    /// Reads the whole file; one that is not in order is dropped from hand and set aside.
    fn check(&mut self) -> Result<(), StoreError> {
        let now = self.clock.monotonic();
        if self.checked.is_some_and(|at| now.saturating_sub(at) < CHECK_EVERY) {
            return Ok(());
        }
        let Some(store) = self.store.take() else { return Ok(()) };
        match store.check() {
            Ok(()) => {
                self.checked = Some(now);
                self.store = Some(store);
                self.report_unreadable();
            }
            Err(StoreError::Damaged(reason)) => {
                drop(store);
                self.store = Some(self.replace(&reason)?);
            }
            Err(error) => {
                self.store = Some(store);
                return Err(error);
            }
        }
        Ok(())
    }

    fn replace(&self, reason: &str) -> Result<Store, StoreError> {
        let (config, now) = (&self.config, self.clock.now());
        let aside = set_aside(&config.path, &config.quarantine, self.files.as_ref(), now)?;
        let store = Store::open(&config.path, self.files.as_ref())?;
        self.issues.raise(Issue {
            key: ISSUE_DAMAGED.to_owned(),
            severity: Severity::Warning,
            what: format!(
                "The run history's file could not be used ({reason}). It has been moved to {} and \
                 a new one begun.",
                aside.display()
            ),
            effect: "Runs from before are not listed; pipelines and values are not affected."
                .to_owned(),
            remedy: "Check the disk of the box, then acknowledge this; it goes at the next start."
                .to_owned(),
        });
        Ok(store)
    }

    fn report_unreadable(&self) {
        self.issues.raise(Issue {
            key: ISSUE_UNREADABLE.to_owned(),
            severity: Severity::Notice,
            what: "Some rows of the run history are damaged and were passed over.".to_owned(),
            effect: "The runs of some seconds are not listed.".to_owned(),
            remedy: "Check the disk of the box, then acknowledge this; it goes at the next start."
                .to_owned(),
        });
    }

    fn trouble(&self, error: &StoreError) {
        self.issues.raise(Issue {
            key: ISSUE_CANNOT_WRITE.to_owned(),
            severity: Severity::Warning,
            what: format!("The run history cannot be written: {error}."),
            effect: "Runs wait in memory; when that is full, successful ones are dropped first. \
                     Pipelines run on."
                .to_owned(),
            remedy: "Free space on the disk, or make the data folder writable. It goes on by \
                     itself."
                .to_owned(),
        });
    }
}

/// Waits for work, at most so long, and takes it.
fn take(shared: &Shared, limit: Duration) -> Task {
    let mut queue = shared.queue.lock();
    let is_idle =
        |queue: &mut Queue| queue.is_empty() && !queue.suspect && !queue.hurry && !queue.stop;
    let _timed_out = shared.work.wait_while_for(&mut queue, is_idle, limit);
    queue.hurry = false;
    let mut task = Task { suspect: queue.suspect, stop: queue.stop, ..Task::default() };
    queue.suspect = false;
    // All of it at the end; else what one transaction may hold.
    let bytes_max = if task.stop { usize::MAX } else { GROUP_BYTES_MAX };
    while task.bytes < bytes_max {
        let Some(next) = oldest(&mut queue) else { break };
        task.bytes += next.1.size_bytes();
        let is_notable = next.1.is_notable();
        if !is_notable {
            queue.in_hand_bytes += next.1.size_bytes();
        }
        let side = if is_notable { &mut task.notable } else { &mut task.quiet };
        side.push(next);
    }
    task
}

/// In the order of numbers, so that everything below the last one taken is taken.
fn oldest(queue: &mut MutexGuard<'_, Queue>) -> Option<(u64, Run)> {
    let number = |side: &Waiting| side.front().map_or(u64::MAX, |(number, _)| *number);
    if number(&queue.quiet) <= number(&queue.notable) {
        queue.quiet.pop_front()
    } else {
        queue.notable.pop_front()
    }
}

/// Puts back what could not be written, and tells those who wait.
fn settle(shared: &Shared, task: Task, is_ok: bool) {
    let mut queue = shared.queue.lock();
    if is_ok {
        queue.written(task.bytes);
    } else {
        let dropped = queue.give_back(task.quiet, task.notable);
        shared.dropped_quiet.fetch_add(dropped, Ordering::Relaxed);
    }
    let waiting = [queue.quiet.front(), queue.notable.front()];
    let lowest = waiting.into_iter().flatten().map(|(number, _)| *number).min();
    queue.settled = lowest.map_or(queue.last, |number| number.saturating_sub(1));
    shared.moved.notify_all();
}

/// Lets more runs come together; after a failure, waits for the next attempt.
fn pace(shared: &Shared, limit: Duration, may_hurry: bool, bytes: usize) {
    let deadline = Instant::now() + limit;
    let mut queue = shared.queue.lock();
    let holds = |queue: &mut Queue| {
        let is_pressed = queue.hurry || queue.suspect || queue.bytes > bytes;
        !(queue.stop || may_hurry && is_pressed)
    };
    let _timed_out = shared.work.wait_while_until(&mut queue, holds, deadline);
}

/// Packs runs into chunks of bounded size.
fn chunks(runs: &[(u64, Run)]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut rest = runs;
    while !rest.is_empty() {
        let mut bytes = 0;
        let fit = rest
            .iter()
            .take(chunk::RUNS_MAX)
            .take_while(|(_, run)| {
                let has_room = bytes < chunk::RUN_BYTES_MAX;
                bytes += run.size_bytes();
                has_room
            })
            .count();
        let Some((now, later)) = rest.split_at_checked(fit) else { break };
        chunks.extend(Chunk::pack(now.iter().map(|(number, run)| (*number, run))));
        rest = later;
    }
    chunks
}
