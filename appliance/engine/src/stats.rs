//! Counters: per pipeline, per lane, and of the engine as a whole.
//!
//! **Invariants**: counting takes no lock; reading gives each figure as it was at some moment of
//! the reading.

use millrace_model::Timestamp;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Upper ends of the buckets of waits and of runs' times, milliseconds; the last bucket has none.
pub const TIME_BUCKETS_MS: [u64; 14] =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 30_000, 300_000];

/// A count with the times of its first and last event.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    count: AtomicU64,
    first: AtomicI64,
    last: AtomicI64,
}

impl Tally {
    pub(crate) fn add(&self, count: u64, now: Timestamp) {
        if self.count.fetch_add(count, Ordering::Relaxed) == 0 {
            self.first.store(now.0, Ordering::Relaxed);
        }
        self.last.store(now.0, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> TallyStats {
        let count = self.count.load(Ordering::Relaxed);
        let at = |time: &AtomicI64| (count > 0).then(|| Timestamp(time.load(Ordering::Relaxed)));
        TallyStats { count, first: at(&self.first), last: at(&self.last) }
    }
}

/// A count with the times of its first and last event, read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TallyStats {
    /// How many.
    pub count: u64,
    /// When the first was.
    pub first: Option<Timestamp>,
    /// When the last was.
    pub last: Option<Timestamp>,
}

/// Counters of one pipeline; they live as long as it is deployed.
#[derive(Debug, Default)]
pub(crate) struct PipelineCounters {
    pub(crate) begun: AtomicU64,
    pub(crate) done: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) canceled: Tally,
    pub(crate) skipped: Tally,
    pub(crate) restarted: Tally,
    pub(crate) shed: Tally,
    pub(crate) late: Tally,
    pub(crate) looped: Tally,
    pub(crate) cpu_ns: AtomicU64,
    pub(crate) script_cpu_ns: AtomicU64,
    pub(crate) kills: Tally,
    pub(crate) kills_in_a_row: AtomicU32,
    /// Runs within the limits after which a pipeline that was put aside comes back; 0 = it is not.
    pub(crate) runs_to_come_back: AtomicU32,
    pub(crate) script_memory_bytes_max: AtomicU64,
    /// When its last run began; 0 if none has.
    pub(crate) last_begun: AtomicI64,
    /// The second in which a successful run was last reported.
    pub(crate) reported_second: AtomicI64,
    /// ... and one that ended before it began.
    pub(crate) reported_drop_second: AtomicI64,
}

/// Counters of the engine as a whole; unlike those of pipelines they outlive a deployment.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    pub(crate) done: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) canceled: AtomicU64,
    pub(crate) shed: AtomicU64,
    pub(crate) late: AtomicU64,
    /// How long runs took, by lane.
    pub(crate) runs: [Times; 3],
}

/// What a pipeline has done since the box started, or since it was deployed first after that; a new
/// revision goes on counting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipelineStats {
    /// Since when.
    pub since: Option<Timestamp>,
    /// Runs taken from the queue.
    pub begun: u64,
    /// Runs that ended well.
    pub done: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Runs that were canceled: by a person, a later run of the same key, or an undeployment.
    pub canceled: TallyStats,
    /// Runs that wait in the queue.
    pub waiting: usize,
    /// Runs that are executed at this moment.
    pub running: usize,
    /// Runs that wait for something outside or for a time.
    pub parked: usize,
    /// Runs that did not run because an earlier one had not ended.
    pub skipped: TallyStats,
    /// Runs that were stopped because a later one came.
    pub restarted: TallyStats,
    /// Runs that the queue's limits took away.
    pub shed: TallyStats,
    /// Runs that had to be taken again.
    pub late: TallyStats,
    /// Values that came through too many pipelines.
    pub looped: TallyStats,
    /// CPU time of its runs, all in all.
    pub cpu: Duration,
    /// Of that, its scripts.
    pub script_cpu: Duration,
    /// Runs whose script reached a limit.
    pub kills: TallyStats,
    /// Most memory that a script of it has used.
    pub script_memory_bytes_max: u64,
    /// Whether its scripts are kept from running because one of them did not end.
    pub is_quarantined: bool,
    /// When its last run began, if one has since the box started.
    pub last_begun: Option<Timestamp>,
}

impl PipelineCounters {
    /// A script kept within its limits. Whether that was the last time that its pipeline had to.
    pub(crate) fn proves_itself(&self) -> bool {
        let left = self.runs_to_come_back.load(Ordering::Relaxed);
        if left > 0 {
            // Two workers never run scripts of one pipeline at the same time.
            self.runs_to_come_back.store(left - 1, Ordering::Relaxed);
        }
        left == 1
    }

    pub(crate) fn read(&self) -> PipelineStats {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        PipelineStats {
            begun: load(&self.begun),
            done: load(&self.done),
            failed: load(&self.failed),
            canceled: self.canceled.read(),
            skipped: self.skipped.read(),
            restarted: self.restarted.read(),
            shed: self.shed.read(),
            late: self.late.read(),
            looped: self.looped.read(),
            cpu: Duration::from_nanos(load(&self.cpu_ns)),
            script_cpu: Duration::from_nanos(load(&self.script_cpu_ns)),
            kills: self.kills.read(),
            script_memory_bytes_max: load(&self.script_memory_bytes_max),
            last_begun: Some(Timestamp(self.last_begun.load(Ordering::Relaxed)))
                .filter(|time| time.0 != 0),
            ..PipelineStats::default()
        }
    }
}

/// How long something took, again and again.
#[derive(Debug, Default)]
pub(crate) struct Times {
    buckets: [AtomicU64; TIME_BUCKETS_MS.len() + 1],
    total_us: AtomicU64,
}

impl Times {
    pub(crate) fn add(&self, took: Duration) {
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let place = TIME_BUCKETS_MS.iter().position(|end| millis < *end);
        if let Some(bucket) = self.buckets.get(place.unwrap_or(TIME_BUCKETS_MS.len())) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.total_us.fetch_add(micros, Ordering::Relaxed);
    }
}

/// What a lane holds and has done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaneStats {
    /// `high`, `normal`, `low`.
    pub name: &'static str,
    /// Runs that wait.
    pub waiting: usize,
    /// Runs that compute.
    pub running: usize,
    /// Runs taken.
    pub taken: u64,
    /// Runs taken because the lane had been passed over too often.
    pub taken_starved: u64,
    /// Runs taken after a wait below each end of [`TIME_BUCKETS_MS`], and above all of them; each
    /// is in one bucket.
    pub wait_buckets: [u64; TIME_BUCKETS_MS.len() + 1],
    /// Sum of all waits.
    pub wait_total: Duration,
    /// Runs that ended, by the time from their beginning to their end, waits of steps included.
    pub run_buckets: [u64; TIME_BUCKETS_MS.len() + 1],
    /// Sum of those times.
    pub run_total: Duration,
}

impl Times {
    /// Counts by bucket, and the sum.
    pub(crate) fn read(&self) -> ([u64; TIME_BUCKETS_MS.len() + 1], Duration) {
        let mut counts = [0; TIME_BUCKETS_MS.len() + 1];
        for (bucket, read) in self.buckets.iter().zip(&mut counts) {
            *read = bucket.load(Ordering::Relaxed);
        }
        (counts, Duration::from_micros(self.total_us.load(Ordering::Relaxed)))
    }
}

/// The engine as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineStats {
    /// Pipelines that are deployed.
    pub pipelines: usize,
    /// The three lanes, high first.
    pub lanes: Vec<LaneStats>,
    /// Bytes of waiting runs.
    pub queue_bytes: usize,
    /// Runs that wait for something outside or for a time.
    pub parked: usize,
    /// Their bytes.
    pub parked_bytes: usize,
    /// Runs that ended well since the start.
    pub done: u64,
    /// Runs that failed since the start.
    pub failed: u64,
    /// Runs that were canceled since the start.
    pub canceled: u64,
    /// Runs that the queue's limits took away.
    pub shed: u64,
    /// Runs that had to be taken again.
    pub late: u64,
    /// Bytes of lasting state.
    pub state_bytes: usize,
    /// Runs whose end is not durable yet, and those that have not ended.
    pub open: usize,
    /// Times that a worker waited because the journal took no more.
    pub full_waits: u64,
}
