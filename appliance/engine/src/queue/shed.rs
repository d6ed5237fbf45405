//! Keeping the queue to its size and its age: the oldest runs go first.
//!
//! Age is the seq, over all lanes and pipelines. A full queue is brought below its limit by a
//! twentieth at once, so that the search for the oldest is paid by many.
//!
//! **Invariants**: a run that has begun is never shed; every shed run is counted for its pipeline
//! and told to the journal.

use super::Inner;
use crate::queued::{Queued, RunId};
use crate::stats::PipelineCounters;
use millrace_model::Timestamp;
use millrace_model::time::NANOS_PER_SECOND;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A run that will not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dropped {
    pub(crate) id: RunId,
    pub(crate) why: Why,
}

/// Why a run does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Why {
    /// The queue was full or the run too old.
    Shed = 1,
    /// The queue was full and new runs are refused.
    Full = 2,
    /// An earlier run had not ended.
    Skipped = 3,
    /// A later run took its place.
    Restarted = 4,
    /// Its pipeline is not deployed.
    Undeployed = 5,
    /// A person canceled it.
    Canceled = 6,
}

/// Most runs that end before they begin and wait to be told to the history; what is more is
/// counted only.
const UNTOLD_MAX: usize = 1_000;

impl Why {
    /// For people.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Self::Shed => "the queue was full, or the run had waited too long",
            Self::Full => "the queue was full",
            Self::Skipped => "an earlier run of the same key had not ended",
            Self::Restarted => "a later run of the same key took its place",
            Self::Undeployed => "its pipeline was undeployed",
            Self::Canceled => "it was canceled before it began",
        }
    }
}

impl Inner {
    pub(super) fn drop_run(&mut self, run: &Arc<Queued>, why: Why, now: Timestamp) {
        let counters = self.pipes.get(&run.plan.number).map(|pipe| &pipe.counters);
        // Those that come and go with each value have one entry a second, like runs that end well.
        let is_told = match why {
            Why::Shed | Why::Full => {
                self.totals.shed.fetch_add(1, Ordering::Relaxed);
                if let Some(counters) = counters {
                    counters.shed.add(1, now);
                }
                false
            }
            Why::Skipped => counters.is_some_and(|counters| is_second_free(counters, now)),
            Why::Restarted | Why::Undeployed | Why::Canceled => {
                self.totals.canceled.fetch_add(1, Ordering::Relaxed);
                if let Some(counters) = counters {
                    counters.canceled.add(1, now);
                }
                why != Why::Restarted
                    || counters.is_some_and(|counters| is_second_free(counters, now))
            }
        };
        if (is_told || run.is_manual) && self.untold.len() < UNTOLD_MAX {
            self.untold.push((Arc::clone(run), why));
        }
        self.dropped.push(Dropped { id: run.id(), why });
    }

    /// Sheds the oldest runs while the queue is too large, unless it refuses new ones instead.
    pub(super) fn keep_to_size(&mut self, now: Timestamp) {
        let most = self.config.queue_bytes_max;
        if self.bytes <= most || self.config.discard_new_on_full {
            return;
        }
        let excess = self.bytes - (most - most / 20);
        let mut waiting: Vec<(u64, usize)> = Vec::new();
        for pipe in self.pipes.values() {
            let keyed = pipe.keys.values().flat_map(|line| &line.waiting);
            let runs = pipe.ready.iter().chain(&pipe.unkeyed).chain(keyed);
            waiting.extend(runs.map(|run| (run.seq, run.bytes)));
        }
        waiting.sort_unstable();
        let mut bytes = 0;
        let mut last = 0;
        for (seq, size) in waiting {
            bytes += size;
            last = seq;
            if bytes >= excess {
                break;
            }
        }
        self.shed(|run| run.seq <= last, now);
    }

    /// Sheds runs that have waited too long.
    pub(super) fn keep_to_age(&mut self, at: Duration, now: Timestamp) {
        let oldest = at.saturating_sub(self.config.queue_age_max);
        let is_old = |run: &Queued| run.at < oldest;
        let has_old = self.pipes.values().any(|pipe| {
            let keyed = pipe.keys.values().filter_map(|line| line.waiting.front());
            pipe.ready
                .front()
                .into_iter()
                .chain(pipe.unkeyed.front())
                .chain(keyed)
                .any(|run| is_old(run))
        });
        if has_old {
            self.shed(is_old, now);
        }
    }

    fn shed(&mut self, is_shed: impl Fn(&Queued) -> bool, now: Timestamp) {
        let mut shed: Vec<Arc<Queued>> = Vec::new();
        let mut freed: Vec<(u32, u64, RunId)> = Vec::new();
        for (number, pipe) in &mut self.pipes {
            let is_keyed = pipe.is_keyed();
            for line in pipe.keys.values_mut() {
                take_out(&mut line.waiting, &is_shed, &mut shed);
            }
            take_out(&mut pipe.unkeyed, &is_shed, &mut shed);
            let before = shed.len();
            take_out(&mut pipe.ready, &is_shed, &mut shed);
            if is_keyed {
                let key = |run: &Arc<Queued>| run.key.load(Ordering::Relaxed);
                let ready = shed.iter().skip(before);
                freed.extend(ready.map(|run| (*number, key(run), run.id())));
            }
        }
        for (number, key, holder) in freed {
            self.release_key(number, key, holder);
        }
        for run in shed {
            self.forget_waiting(&run);
            self.drop_run(&run, Why::Shed, now);
        }
        let idle: Vec<u32> = self
            .pipes
            .iter()
            .filter(|(_, pipe)| pipe.listed.is_some() && !pipe.has_work())
            .map(|(number, _)| *number)
            .collect();
        for number in idle {
            self.unlist(number);
        }
    }
}

/// Whether no run of the pipeline that ended before it began was told in this second yet.
fn is_second_free(counters: &PipelineCounters, now: Timestamp) -> bool {
    let second = now.0.div_euclid(NANOS_PER_SECOND);
    counters.reported_drop_second.swap(second, Ordering::Relaxed) != second
}

fn take_out(
    line: &mut std::collections::VecDeque<Arc<Queued>>,
    is_shed: &impl Fn(&Queued) -> bool,
    shed: &mut Vec<Arc<Queued>>,
) {
    line.retain(|run| {
        if is_shed(run) {
            shed.push(Arc::clone(run));
            false
        } else {
            true
        }
    });
}
