//! Runs that wait for something outside or for a time.
//!
//! **Invariants**: an event that comes while its run is being executed is kept for it; the number
//! of parked runs and their bytes are bounded, in all and for each pipeline.

use super::{Inner, Queue, Why};
use crate::queued::{Queued, RunId};
use crate::run::{Event, Run};
use millrace_model::Timestamp;
use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

/// A run that has parked at least once, or that is canceled, and has not ended.
#[derive(Default)]
pub(super) struct Parked {
    /// None while it is ready or with a worker.
    pub(super) run: Option<Box<Run>>,
    bytes: usize,
    events: Vec<Event>,
}

impl Parked {
    /// What came for it while it was executed.
    pub(super) fn into_events(self) -> Vec<Event> {
        self.events
    }
}

/// What became of a run that was to be parked.
pub(crate) enum Parking {
    /// It is parked.
    Parked,
    /// It goes on at once: something came for it in the meantime.
    GoesOn,
    /// There is no room for it: the sentence says which limit is reached.
    Refused(Box<Run>, String),
}

/// What a run is told whose pipeline is undeployed.
pub(super) fn undeployed() -> Event {
    Event::Cancel("undeployed", Why::Undeployed.sentence().to_owned())
}

impl Queue {
    /// Parks a run.
    pub(crate) fn park(&self, run: Box<Run>, now: Timestamp, at: Duration) -> Parking {
        self.change(|inner| inner.park(run, now, at))
    }

    /// The pipeline that has used the most of its share, and how much of it, in hundredths.
    pub(crate) fn parked_most(&self) -> Option<(u32, u64)> {
        let inner = self.inner.lock();
        let (count, size) = inner.config.parked_share();
        let used = |used: usize, of: usize| used as u64 * 100 / of.max(1) as u64;
        let parked = inner.pipes.iter().filter(|(_, pipe)| pipe.parked > 0);
        parked
            .map(|(number, pipe)| {
                (*number, used(pipe.parked, count).max(used(pipe.parked_bytes, size)))
            })
            .max_by_key(|(_, percent)| *percent)
    }

    /// Tells a parked run what it waits for.
    pub(crate) fn tell(&self, id: RunId, event: Event, now: Timestamp, at: Duration) {
        self.change(|inner| inner.tell(id, event, now, at));
    }

    /// Wakes runs whose time has come, lets held pipelines go on, sheds what is too old. Gives how
    /// long nothing will be due.
    pub(crate) fn time(&self, now: Timestamp, at: Duration) -> Duration {
        self.change(|inner| {
            inner.time(now, at);
            inner.keep_to_age(at, now);
            inner.next_time(now, at)
        })
    }

    /// Unfinished runs that were triggered up to a seq and that no worker holds: those that have
    /// not begun, and those that are parked, as bytes.
    pub(crate) fn unfinished(
        &self,
        through: u64,
        most: usize,
        at: Duration,
    ) -> Vec<(Arc<Queued>, Option<Vec<u8>>)> {
        let inner = self.inner.lock();
        let mut found = Vec::new();
        for pipe in inner.pipes.values() {
            let keyed = pipe.keys.values().flat_map(|line| &line.waiting);
            let runs = pipe.ready.iter().chain(&pipe.unkeyed).chain(keyed);
            let old = runs.filter(|run| run.seq <= through);
            found.extend(old.take(most.saturating_sub(found.len())).map(|run| {
                let saved = run.saved.lock().as_ref().map(|saved| saved.to_vec());
                (Arc::clone(run), saved)
            }));
        }
        let parked = inner.parked.values().filter_map(|parked| parked.run.as_ref());
        let old = parked.filter(|run| run.queued.seq <= through);
        for run in old.take(most.saturating_sub(found.len())) {
            let mut bytes = Vec::new();
            run.save(at, &mut bytes);
            found.push((Arc::clone(&run.queued), Some(bytes)));
        }
        found
    }
}

impl Inner {
    fn park(&mut self, mut run: Box<Run>, now: Timestamp, at: Duration) -> Parking {
        let id = run.queued.id();
        let bytes = run.bytes();
        let number = id.pipeline;
        let mut events = match self.parked.get_mut(&id) {
            Some(parked) => std::mem::take(&mut parked.events),
            None => Vec::new(),
        };
        if self.pipes.get(&number).is_none_or(|pipe| pipe.is_leaving) {
            events.push(undeployed());
        }
        events.extend(
            run.queued.stopped().map(|stop| Event::Cancel(stop.code, stop.message.clone())),
        );
        if !events.is_empty() {
            for event in events {
                run.tell(event, now, at);
            }
            if let Some(pipe) = self.pipes.get_mut(&number) {
                pipe.resumed.push_back(run);
            }
            self.list(number);
            return Parking::GoesOn;
        }
        if let Some(limit) = self.is_over(number, bytes) {
            return Parking::Refused(run, limit);
        }
        let (wall, mono) = run.next_times();
        self.walls.extend(wall.map(|time| Reverse((time, id))));
        self.monos.extend(mono.map(|time| Reverse((time, id))));
        self.parked_count += 1;
        self.parked_bytes += bytes;
        if let Some(pipe) = self.pipes.get_mut(&number) {
            pipe.parked += 1;
            pipe.parked_bytes += bytes;
        }
        self.parked.insert(id, Parked { run: Some(run), bytes, events: Vec::new() });
        Parking::Parked
    }

    /// Which limit a run of a pipeline would be over if it were parked.
    fn is_over(&self, number: u32, bytes: usize) -> Option<String> {
        let config = &self.config;
        let (count, size) = (config.parked_runs_max, config.parked_bytes_max);
        if self.parked_count >= count || self.parked_bytes + bytes > size {
            return Some(format!(
                "too many runs wait; the box has no room for another (limits: {count} runs, {size} \
                 bytes)"
            ));
        }
        let pipe = self.pipes.get(&number)?;
        let (count, size) = config.parked_share();
        (pipe.parked >= count || pipe.parked_bytes + bytes > size).then(|| {
            format!(
                "too many runs of this pipeline wait; it has no room for another (limits of one \
                 pipeline: {count} runs, {size} bytes)"
            )
        })
    }

    pub(super) fn tell(&mut self, id: RunId, event: Event, now: Timestamp, at: Duration) {
        let Some(parked) = self.parked.get_mut(&id) else { return };
        let Some(mut run) = parked.run.take() else {
            parked.events.push(event);
            return;
        };
        self.parked_count = self.parked_count.saturating_sub(1);
        self.parked_bytes = self.parked_bytes.saturating_sub(parked.bytes);
        run.tell(event, now, at);
        if let Some(pipe) = self.pipes.get_mut(&id.pipeline) {
            pipe.parked = pipe.parked.saturating_sub(1);
            pipe.parked_bytes = pipe.parked_bytes.saturating_sub(parked.bytes);
            pipe.resumed.push_back(run);
        }
        self.list(id.pipeline);
    }

    pub(super) fn forget_parked(&mut self, id: RunId) {
        let Some(parked) = self.parked.remove(&id) else { return };
        if parked.run.is_some() {
            self.parked_count = self.parked_count.saturating_sub(1);
            self.parked_bytes = self.parked_bytes.saturating_sub(parked.bytes);
            if let Some(pipe) = self.pipes.get_mut(&id.pipeline) {
                pipe.parked = pipe.parked.saturating_sub(1);
                pipe.parked_bytes = pipe.parked_bytes.saturating_sub(parked.bytes);
            }
        }
    }

    fn time(&mut self, now: Timestamp, at: Duration) {
        while let Some(Reverse((time, id))) = self.walls.peek().copied() {
            if time > now {
                break;
            }
            self.walls.pop();
            self.tell(id, Event::Time, now, at);
        }
        while let Some(Reverse((time, id))) = self.monos.peek().copied() {
            if time > at {
                break;
            }
            self.monos.pop();
            self.tell(id, Event::Time, now, at);
        }
        let free: Vec<u32> = self
            .pipes
            .iter()
            .filter(|(_, pipe)| pipe.held_until.is_some_and(|until| until <= at))
            .map(|(number, _)| *number)
            .collect();
        for number in free {
            if let Some(pipe) = self.pipes.get_mut(&number) {
                pipe.held_until = None;
            }
            // What it had in hand was submitted while it was held back.
            self.find_home(number);
            self.list(number);
        }
    }

    fn next_time(&self, now: Timestamp, at: Duration) -> Duration {
        let wall = self.walls.peek().map(|Reverse((time, _))| {
            Duration::from_nanos(u64::try_from(time.nanos_since(now)).unwrap_or(0))
        });
        let mono = self.monos.peek().map(|Reverse((time, _))| time.saturating_sub(at));
        let held = self.pipes.values().filter_map(|pipe| pipe.held_until).min();
        let held = held.map(|until| until.saturating_sub(at));
        [wall, mono, held].into_iter().flatten().min().unwrap_or(Duration::MAX)
    }
}
