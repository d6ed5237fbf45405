//! Keeping the queue to its size and its age: the oldest runs go first.
//!
//! Age is the seq, over all lanes and pipelines. A full queue is brought below its limit by a
//! twentieth at once, so that the search for the oldest is paid by many.
//!
//! **Invariants**: a run that has begun is never shed; every shed run is counted for its pipeline
//! and told to the journal.

use super::Inner;
use crate::queued::{Queued, RunId};
use millrace_model::Timestamp;
use std::sync::Arc;
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
}

impl Inner {
    pub(super) fn drop_run(&mut self, run: &Queued, why: Why, now: Timestamp) {
        if matches!(why, Why::Shed | Why::Full)
            && let Some(pipe) = self.pipes.get(&run.plan.number)
        {
            pipe.counters.shed.add(1, now);
        }
        self.dropped.push(Dropped { id: run.id(), why });
    }

    /// Sheds the oldest runs while the queue is too large.
    pub(super) fn keep_to_size(&mut self, now: Timestamp) {
        let most = self.config.queue_bytes_max;
        if self.bytes <= most {
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
                let key = |run: &Arc<Queued>| run.key.load(std::sync::atomic::Ordering::Relaxed);
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
