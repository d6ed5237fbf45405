//! The engine's limits, each with its name and its default.
//!
//! **Invariants**: nothing in the engine grows without one of these.

use std::time::Duration;

/// How the engine runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Threads that run pipelines, beside the one for those that are put aside.
    pub workers: usize,
    /// Runs of a lane that may compute at once.
    pub slots_per_lane: usize,
    /// So many times in a row a lane with work may be passed over.
    pub starvation_threshold: u32,
    /// Bytes of waiting runs, all lanes together.
    pub queue_bytes_max: usize,
    /// Longest wait of a run that has not begun.
    pub queue_age_max: Duration,
    /// Whether a full queue refuses new runs instead of shedding the oldest.
    pub discard_new_on_full: bool,
    /// Runs that wait for something outside or for a time.
    pub parked_runs_max: usize,
    /// Bytes of those.
    pub parked_bytes_max: usize,
    /// How much of both one pipeline may take, in hundredths.
    pub parked_share_percent: u8,
    /// A run that was taken and neither finished nor waits after so long is taken again.
    pub run_redelivery: Duration,
    /// An unfinished run older than this is carried forward in the journal.
    pub carry_after: Duration,
    /// ... if the journal's cursor is held back by so many records at least.
    pub carry_records_min: u64,
    /// Shorter pauses are not written to the journal.
    pub durable_pause: Duration,
    /// Steps that one run may execute.
    pub executions_max: u32,
    /// Items of one `foreach`.
    pub items_max: usize,
    /// Pipelines that call one another.
    pub call_depth_max: usize,
    /// Bytes of one datum.
    pub datum_bytes_max: usize,
    /// Bytes of everything that the steps of one run give.
    pub run_bytes_max: usize,
    /// Bytes of what one run publishes before it waits or ends.
    pub effects_bytes_max: usize,
    /// Bytes of a waiting run in the journal.
    pub saved_bytes_max: usize,
    /// CPU time of a run's scripts where the pipeline says nothing.
    pub script_cpu: Duration,
    /// Memory of a pipeline's script runtime where the pipeline says nothing.
    pub script_memory_bytes: u64,
    /// Time on the wall that a run under way has for its scripts when another revision of its
    /// pipeline is deployed; then it is interrupted and runs again on that.
    pub revision_grace: Duration,
    /// Bytes of a script's converted result.
    pub script_output_bytes_max: usize,
    /// Bytes of console output of one call.
    pub script_console_bytes_max: usize,
    /// Lines that a run's history keeps.
    pub log_lines_max: usize,
    /// Pipelines that a value may come through.
    pub hops_max: u8,
    /// Time between two writes of lasting state.
    pub state_interval: Duration,
}

const MIB: usize = 1024 * 1024;

impl Config {
    /// Runs of one pipeline that may wait for something outside or for a time, and their bytes; one
    /// run always may.
    #[must_use]
    pub fn parked_share(&self) -> (usize, usize) {
        let percent = usize::from(self.parked_share_percent.min(100));
        let share = |all: usize| all / 100 * percent + all % 100 * percent / 100;
        (share(self.parked_runs_max).max(1), share(self.parked_bytes_max))
    }

    /// All threads that run pipelines: the workers, and behind them the one for pipelines whose
    /// scripts reach their limits again and again.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.workers + 1
    }

    /// The defaults, with this many workers.
    #[must_use]
    pub fn new(workers: usize) -> Self {
        Self {
            workers: workers.max(1),
            slots_per_lane: 256,
            starvation_threshold: 100,
            queue_bytes_max: 64 * MIB,
            queue_age_max: Duration::from_secs(3_600),
            discard_new_on_full: false,
            parked_runs_max: 10_000,
            parked_bytes_max: 64 * MIB,
            parked_share_percent: 80,
            run_redelivery: Duration::from_secs(300),
            carry_after: Duration::from_secs(30),
            carry_records_min: 100,
            durable_pause: Duration::from_secs(1),
            executions_max: 100_000,
            items_max: 100_000,
            call_depth_max: 8,
            datum_bytes_max: 8 * MIB,
            run_bytes_max: 64 * MIB,
            effects_bytes_max: 2 * MIB,
            saved_bytes_max: 2 * MIB,
            script_cpu: Duration::from_millis(100),
            script_memory_bytes: 8 * MIB as u64,
            revision_grace: Duration::from_secs(1),
            script_output_bytes_max: MIB,
            script_console_bytes_max: 64 * 1024,
            log_lines_max: 200,
            hops_max: 8,
            state_interval: Duration::from_secs(5),
        }
    }
}
