//! Looking at runs that have not ended, and canceling one.
//!
//! **Invariants**: a look takes the queue's lock for at most one page of a pipeline's runs beside
//! one pass over the parked ones; a run that is canceled is told so once and ends like any other.

use super::pipe::Pipe;
use super::{Inner, Queue, Why};
use crate::hand::ending::so_far;
use crate::queued::{Queued, RunId};
use crate::report::{OpenRun, OpenState, RunReport};
use crate::run::{Event, Run};
use millrace_model::Timestamp;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Which runs are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look<'a> {
    pub(crate) pipeline: u32,
    /// In one of these states.
    pub(crate) states: &'a [OpenState],
    /// With a smaller seq.
    pub(crate) before: u64,
    pub(crate) limit: usize,
}

impl Queue {
    /// Runs of a pipeline that no worker has, newest first, without their steps.
    pub(crate) fn look(&self, look: &Look<'_>, now: Timestamp, at: Duration) -> Vec<OpenRun> {
        let inner = self.inner.lock();
        let mut found: Vec<OpenRun> = Vec::new();
        let Some(pipe) = inner.pipes.get(&look.pipeline) else { return found };
        if look.states.contains(&OpenState::Queued) {
            let mut queued: Vec<&Arc<Queued>> = Vec::new();
            for line in lines(pipe) {
                // A line is in the order of seqs but for runs that are taken again.
                let newest = line.iter().rev().filter(|run| run.seq < look.before);
                queued.extend(newest.take(look.limit));
            }
            queued.sort_unstable_by_key(|run| std::cmp::Reverse(run.seq));
            found.extend(queued.iter().take(look.limit).map(|run| OpenRun::queued(run, now)));
        }
        let parked = inner.parked.iter().filter(|(id, _)| id.pipeline == look.pipeline);
        let waiting = parked.filter_map(|(_, parked)| parked.run.as_deref());
        let going = pipe.resumed.iter().map(|run| &**run);
        for (state, runs) in [
            (OpenState::Waiting, waiting.collect::<Vec<&Run>>()),
            (OpenState::Running, going.collect()),
        ] {
            if !look.states.contains(&state) {
                continue;
            }
            let mut runs = runs;
            runs.retain(|run| run.queued.seq < look.before);
            runs.sort_unstable_by_key(|run| std::cmp::Reverse(run.queued.seq));
            let page = runs.iter().take(look.limit);
            found.extend(page.map(|run| OpenRun::begun(run, state, (now, at), false)));
        }
        found
    }

    /// One run that no worker has, with its steps so far.
    pub(crate) fn open_run(&self, id: RunId, now: Timestamp, at: Duration) -> Option<OpenRun> {
        let inner = self.inner.lock();
        if let Some(run) = inner.parked.get(&id).and_then(|parked| parked.run.as_deref()) {
            return Some(OpenRun::begun(run, OpenState::Waiting, (now, at), true));
        }
        let pipe = inner.pipes.get(&id.pipeline)?;
        if let Some(run) = pipe.resumed.iter().find(|run| run.queued.seq == id.seq) {
            return Some(OpenRun::begun(run, OpenState::Running, (now, at), true));
        }
        let run = lines(pipe).find_map(|line| line.iter().find(|run| run.seq == id.seq))?;
        Some(OpenRun::queued(run, now))
    }

    /// Whether a run is here: waiting to begin, about to go on, or parked.
    pub(crate) fn has(&self, id: RunId) -> bool {
        let inner = self.inner.lock();
        let is_parked = inner.parked.get(&id).is_some_and(|parked| parked.run.is_some());
        let is_in = |pipe: &Pipe| {
            pipe.resumed.iter().any(|run| run.queued.seq == id.seq)
                || lines(pipe).any(|line| line.iter().any(|run| run.seq == id.seq))
        };
        is_parked || inner.pipes.get(&id.pipeline).is_some_and(is_in)
    }

    /// Cancels a run: one that has not begun is dropped, one that is parked goes on to its end, one
    /// that is being executed (`stop` tells it so, and whether a worker has it) is interrupted. In
    /// which state it was; `None` if it is not there.
    pub(crate) fn cancel(
        &self,
        id: RunId,
        message: &str,
        stop: impl FnOnce() -> bool,
        (now, at): (Timestamp, Duration),
    ) -> Option<OpenState> {
        self.change(|inner| {
            if inner.take_out_queued(id, now) {
                return Some(OpenState::Queued);
            }
            if inner.parked.get(&id).is_some_and(|parked| parked.run.is_some()) {
                inner.cancel(id, "canceled", message, (now, at));
                return Some(OpenState::Waiting);
            }
            // Asked under the lock: a run goes from here to a worker and back under it.
            (inner.stop_resumed(id, message) || stop()).then_some(OpenState::Running)
        })
    }
}

/// The lines in which a pipeline's runs wait to begin.
fn lines(pipe: &Pipe) -> impl Iterator<Item = &std::collections::VecDeque<Arc<Queued>>> {
    let keyed = pipe.keys.values().map(|line| &line.waiting);
    [&pipe.ready, &pipe.unkeyed].into_iter().chain(keyed)
}

impl Inner {
    /// Drops a run that has not begun; whether it was there.
    fn take_out_queued(&mut self, id: RunId, now: Timestamp) -> bool {
        let Some(pipe) = self.pipes.get_mut(&id.pipeline) else { return false };
        let is_keyed = pipe.is_keyed();
        let keyed = pipe.keys.values_mut().map(|line| (&mut line.waiting, false));
        let all = [(&mut pipe.ready, is_keyed), (&mut pipe.unkeyed, false)];
        let found = all.into_iter().chain(keyed).find_map(|(line, is_holder)| {
            let place = line.iter().position(|run| run.seq == id.seq)?;
            Some((line.remove(place)?, is_holder))
        });
        let Some((run, is_holder)) = found else { return false };
        self.forget_waiting(&run);
        self.drop_run(&run, Why::Canceled, now);
        if is_holder {
            self.release_key(id.pipeline, run.key.load(Ordering::Relaxed), id);
        }
        if !self.pipes.get(&id.pipeline).is_some_and(Pipe::has_work) {
            self.unlist(id.pipeline);
        }
        true
    }

    /// Tells a run that is about to go on that it is canceled; whether it was there.
    fn stop_resumed(&self, id: RunId, message: &str) -> bool {
        let pipe = self.pipes.get(&id.pipeline);
        let run = pipe.and_then(|pipe| pipe.resumed.iter().find(|run| run.queued.seq == id.seq));
        run.inspect(|run| run.queued.stop("canceled", message)).is_some()
    }

    /// Ends a run that has begun, wherever it is.
    pub(super) fn cancel(
        &mut self,
        id: RunId,
        code: &'static str,
        message: &str,
        (now, at): (Timestamp, Duration),
    ) {
        let event = Event::Cancel(code, message.to_owned());
        // A run with a worker that has never parked is told when it wants to park.
        self.parked.entry(id).or_default();
        self.tell(id, event, now, at);
    }
}

impl OpenRun {
    /// One that waits to begin.
    pub(crate) fn queued(run: &Queued, now: Timestamp) -> Self {
        let report = RunReport::of(run, now);
        Self { report, state: OpenState::Queued, waits: Vec::new() }
    }

    /// One that a worker has in hand: what it does is its worker's alone.
    pub(crate) fn in_hand(run: &Queued, now: Timestamp, held: Duration) -> Self {
        let nanos = i64::try_from(held.as_nanos()).unwrap_or(i64::MAX);
        let report = RunReport { begun: now.plus_nanos(-nanos), ..RunReport::of(run, now) };
        Self { report, state: OpenState::Running, waits: Vec::new() }
    }

    fn begun(
        run: &Run,
        state: OpenState,
        (now, at): (Timestamp, Duration),
        with_steps: bool,
    ) -> Self {
        let report = match with_steps {
            true => so_far(run, now),
            false => RunReport {
                attempt: run.attempt,
                begun: run.notes.now,
                script_cpu: run.notes.script_cpu,
                ..RunReport::of(&run.queued, now)
            },
        };
        Self { report, state, waits: run.open_waits(now, at) }
    }
}
