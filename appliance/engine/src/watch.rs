//! The engine's eye on the journal: called after each commit, on the journal's thread.
//!
//! A stored value is looked up by its tag: one array read says whether any trigger wants it. A
//! wanted value becomes a run. Records of runs tell what has ended, what changed, and what was
//! asked for. At a start the same records, read back, give the runs that had not ended.
//!
//! **Invariants**: a value that no trigger wants costs an array read and no allocation; the queue
//! is locked and workers are woken once per commit; a run is open from the record that triggered
//! it until the record of its end is durable.

mod books;
mod memory;
mod recover;

use crate::deployment::Deployment;
use crate::engine::Core;
use crate::names::Place;
use crate::queued::{Queued, RunId, Start, ValueStart};
use crate::record::{self, Body};
use crate::run::notes::read_changes;
use crate::trigger::Cause;
use books::Books;
use memory::Memories;
use millrace_journal::Seq;
use millrace_model::{ClientNumber, RunEvent, RunRecord, SampleRecord, Timestamp};
use parking_lot::{Mutex, MutexGuard};
use recover::Recovering;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Tag numbers above this are looked up each time. It bounds the table to 16 MiB.
const TABLE_TAGS_MAX: usize = 4 * 1024 * 1024;

const UNKNOWN: u32 = 0;
const UNWANTED: u32 = 1;
const FIRST_LIST: u32 = 2;

/// What is known of tags, runs and the journal.
#[derive(Default)]
pub(crate) struct Watch {
    generation: u64,
    /// By tag: unknown, unwanted, or the number of a list.
    table: Vec<u32>,
    lists: Vec<Wanted>,
    memories: Memories,
    fresh: Vec<Arc<Queued>>,
    pub(crate) books: Books,
    /// Open runs that are canceled: they are not carried past the record that says so.
    canceled: HashSet<RunId>,
    recovering: Option<Recovering>,
    now: Timestamp,
    at: Duration,
}

/// A tag that triggers want.
struct Wanted {
    place: Arc<Place>,
    targets: Vec<Target>,
    /// Who sent it last, as values of a tag come from one client.
    client: Option<(ClientNumber, Option<Arc<str>>)>,
}

/// A trigger that wants a tag.
struct Target {
    deployment: Arc<Deployment>,
    trigger: u16,
    /// Where the trigger's memory is, if its rule needs one.
    memory: Option<usize>,
}

/// One commit, being looked at.
pub struct Batch<'a> {
    core: &'a Core,
    watch: MutexGuard<'a, Watch>,
}

impl Watch {
    /// Before [`crate::Engine::start`] records are read back.
    pub(crate) fn new(through: Seq) -> Self {
        Self {
            recovering: Some(Recovering::default()),
            books: Books::new(through.0),
            ..Self::default()
        }
    }

    pub(crate) fn begin<'a>(watch: &'a Mutex<Self>, core: &'a Core) -> Batch<'a> {
        let mut watch = watch.lock();
        watch.now = core.stage.clock.now();
        watch.at = core.stage.clock.monotonic();
        let generation = core.generation.load(Ordering::Acquire);
        if watch.generation != generation {
            watch.generation = generation;
            watch.table.clear();
            watch.lists.clear();
        }
        Batch { core, watch }
    }

    fn list_of(&mut self, core: &Core, sample: &SampleRecord<'_>) -> Option<usize> {
        let tag = usize::try_from(sample.tag.0).ok()?;
        match self.table.get(tag).copied().unwrap_or(UNKNOWN) {
            UNKNOWN => self.resolve(core, sample, tag),
            UNWANTED => None,
            list => usize::try_from(list - FIRST_LIST).ok(),
        }
    }

    #[cold]
    fn resolve(&mut self, core: &Core, sample: &SampleRecord<'_>, tag: usize) -> Option<usize> {
        let place = core.parts.names.place(sample.tag)?;
        let found = core.index.lock().find(place.workspace, &place.path);
        let mut targets = Vec::with_capacity(found.len());
        for (pipeline, trigger) in found {
            let Some(deployment) = core.deployments.get(pipeline) else { continue };
            let Some(cause) = deployment.plan.triggers.get(usize::from(trigger)) else { continue };
            let needs = matches!(&cause.cause, Cause::Value(value) if !value.rule.is_every());
            let memory =
                needs.then(|| self.memories.place(&core.stage.states, pipeline, &cause.id));
            targets.push(Target { deployment, trigger, memory });
        }
        let list = if targets.is_empty() {
            None
        } else {
            self.lists.push(Wanted { place: Arc::new(place), targets, client: None });
            Some(self.lists.len() - 1)
        };
        if tag < TABLE_TAGS_MAX {
            if self.table.len() <= tag {
                // Grown in steps, not by each new tag.
                self.table.resize((tag + 1).next_power_of_two(), UNKNOWN);
            }
            let number = list.and_then(|list| u32::try_from(list).ok());
            if let Some(place) = self.table.get_mut(tag) {
                *place = number.map_or(UNWANTED, |number| number + FIRST_LIST);
            }
        }
        list
    }
}

impl Batch<'_> {
    /// A value was stored. Not to be called for a value that was told to be redelivered.
    pub fn sample(&mut self, seq: Seq, sample: &SampleRecord<'_>) {
        let watch = &mut *self.watch;
        if let Some(list) = watch.list_of(self.core, sample) {
            self.wanted(seq, sample, list);
        }
    }

    fn wanted(&mut self, seq: Seq, sample: &SampleRecord<'_>, list: usize) {
        let (core, watch) = (self.core, &mut *self.watch);
        let Watch { lists, memories, fresh, recovering, now, at, .. } = watch;
        let Some(wanted) = lists.get_mut(list) else { return };
        let Wanted { place, targets, client } = wanted;
        let mut targets = targets.as_slice();
        while let Some(first) = targets.first() {
            let number = first.deployment.plan.number;
            let count = targets.iter().take_while(|t| t.deployment.plan.number == number).count();
            let (own, rest) = targets.split_at_checked(count).unwrap_or((targets, &[]));
            targets = rest;
            // Committed before the pipeline was deployed.
            if recovering.is_some() && seq.0 <= first.deployment.since {
                continue;
            }
            let mut triggers = own
                .iter()
                .filter(|target| admits(target, memories, seq, sample, recovering.is_some()));
            let Some(trigger) = triggers.next().map(|target| target.trigger) else { continue };
            let also: Box<[u16]> = triggers.map(|target| target.trigger).collect();
            if sample.hops >= core.stage.config.hops_max {
                first.deployment.counters.looped.add(1, *now);
                continue;
            }
            let client_name = match client {
                Some((client, name)) if *client == sample.client => name.clone(),
                _ => {
                    let name = core.parts.names.client(sample.client);
                    *client = Some((sample.client, name.clone()));
                    name
                }
            };
            let start = Start::Value(ValueStart {
                place: Arc::clone(place),
                value: sample.value.to_value(),
                time: sample.source_time,
                received: sample.receive_time,
                quality: sample.quality,
                client: sample.client,
                client_name,
            });
            fresh.push(Arc::new(Queued {
                plan: Arc::clone(&first.deployment.plan),
                seq: seq.0,
                trigger,
                also,
                bytes: start.bytes(),
                start,
                is_manual: false,
                hops: sample.hops,
                at: *at,
                asked: sample.receive_time,
                key: AtomicU64::new(0),
                attempt: AtomicU32::new(1),
                saved: Mutex::new(None),
                panics: Mutex::new(None),
                stop: OnceLock::new(),
            }));
        }
    }

    /// A record of a run is durable.
    pub fn run(&mut self, seq: Seq, run: &RunRecord<'_>) {
        let (core, watch) = (self.core, &mut *self.watch);
        watch.keep_recovered();
        let id = RunId { pipeline: run.pipeline, seq: run.run };
        let deployment = core.deployments.get(run.pipeline);
        let workspace = deployment.as_ref().map_or(0, |deployment| deployment.plan.workspace);
        let Some(body) = record::read(run.body, workspace) else {
            tracing::error!(run = %id, seq = seq.0, "A run's record cannot be read by this version.");
            if run.event == RunEvent::Ended {
                watch.end(core, id);
            }
            return;
        };
        match body {
            Body::Ended { changes } => {
                watch.changed(core, changes);
                watch.end(core, id);
            }
            Body::Dropped(runs) => {
                for seq in runs {
                    watch.end(core, RunId { pipeline: run.pipeline, seq });
                }
            }
            Body::Progress { changes, saved } => {
                watch.changed(core, changes);
                if let Some(recovering) = &watch.recovering {
                    recovering.progress(id, saved);
                }
            }
            Body::Changes(changes) => {
                watch.changed(core, changes);
                watch.apply(core, changes);
            }
            Body::Requested(asked) => {
                let id = RunId { pipeline: run.pipeline, seq: seq.0 };
                core.answers.durable(id);
                if let Some(deployment) = deployment.filter(|known| seq.0 > known.since)
                    && let Some(queued) = watch.asked(&deployment, seq.0, asked)
                {
                    watch.fresh.push(queued);
                } else {
                    core.answers.ended(id, "undeployed");
                }
            }
            Body::Canceled(message) => {
                if let Some(recovering) = &watch.recovering {
                    recovering.cancel(id, message);
                }
                if watch.books.is_open(id) {
                    watch.canceled.insert(id);
                }
            }
            Body::Carried(asked, saved) => {
                if watch.recovering.is_some() {
                    let queued =
                        deployment.and_then(|deployment| watch.asked(&deployment, id.seq, asked));
                    watch.carried(id, queued, saved, seq.0);
                } else if !watch.canceled.contains(&id) {
                    let now = watch.now;
                    watch.books.carry(id, seq.0, now);
                }
            }
        }
    }

    /// All records up to this one have been seen.
    pub fn done(mut self, last: Seq) {
        let (core, watch) = (self.core, &mut *self.watch);
        watch.keep_recovered();
        for run in &watch.fresh {
            watch.books.open(run.id(), run.asked);
        }
        watch.books.seen(last.0);
        if watch.memories.take_change() {
            core.is_memory_changed.store(true, Ordering::Release);
        }
        core.cursor.store(watch.books.cursor(), Ordering::Release);
        if !watch.fresh.is_empty() {
            let now = watch.now;
            let mut fresh = std::mem::take(&mut watch.fresh);
            core.queue.push(&mut fresh, now);
            watch.fresh = fresh;
        }
    }
}

fn admits(
    target: &Target,
    memories: &mut Memories,
    seq: Seq,
    sample: &SampleRecord<'_>,
    is_recovering: bool,
) -> bool {
    let trigger = target.deployment.plan.triggers.get(usize::from(target.trigger));
    let Some(Cause::Value(cause)) = trigger.map(|trigger| &trigger.cause) else { return false };
    if !cause.lowest.admits(sample.quality) {
        return false;
    }
    match target.memory {
        Some(memory) => memories.admits(memory, cause.rule, seq.0, sample, is_recovering),
        None => true,
    }
}

impl Watch {
    /// While the journal is read back, runs are kept as they come: the records that tell what
    /// became of them may follow in the same batch.
    fn keep_recovered(&mut self) {
        if let Some(recovering) = &mut self.recovering {
            for run in self.fresh.drain(..) {
                self.books.open(run.id(), run.asked);
                recovering.put(run);
            }
        }
    }

    /// A run's end is durable.
    fn end(&mut self, core: &Core, id: RunId) {
        self.books.end(id);
        if !self.canceled.is_empty() {
            self.canceled.remove(&id);
        }
        self.memories.ended(id);
        if let Some(recovering) = &mut self.recovering {
            recovering.end(id);
        }
        core.answers.ended(id, "dropped");
    }

    /// Changes of state are durable: the store is to know of them. Before the start they are also
    /// brought into memory.
    fn changed(&self, core: &Core, changes: &[u8]) {
        if changes.is_empty() {
            return;
        }
        let is_recovering = self.recovering.is_some();
        let read = read_changes(changes, |owner, key, value| {
            if is_recovering {
                core.stage.states.restore(&owner, key, value);
            }
            core.stage.states.mark(owner, key, value.map(<[u8]>::to_vec));
        });
        if read.is_none() {
            tracing::error!("Changes of state in a run's record cannot be read.");
        }
    }

    fn apply(&self, core: &Core, changes: &[u8]) {
        if self.recovering.is_none() {
            // Damage has been reported when they were marked.
            let _is_whole = read_changes(changes, |owner, key, value| {
                core.stage.states.restore(&owner, key, value);
            });
        }
    }

    fn asked(
        &self,
        deployment: &Deployment,
        seq: u64,
        asked: record::Asked,
    ) -> Option<Arc<Queued>> {
        let number = |id: &str| {
            let place = deployment.plan.triggers.iter().position(|trigger| &*trigger.id == id)?;
            u16::try_from(place).ok()
        };
        let decoded = asked.decoded;
        let trigger = number(&decoded.step)?;
        let also = decoded.also.iter().filter_map(|id| number(id)).collect();
        Some(Arc::new(Queued {
            plan: Arc::clone(&deployment.plan),
            seq,
            trigger,
            also,
            bytes: decoded.start.bytes(),
            start: decoded.start,
            is_manual: asked.is_manual,
            hops: asked.hops,
            at: self.at,
            asked: asked.asked,
            key: AtomicU64::new(0),
            attempt: AtomicU32::new(1),
            saved: Mutex::new(None),
            panics: Mutex::new(None),
            stop: OnceLock::new(),
        }))
    }

    fn carried(&mut self, id: RunId, queued: Option<Arc<Queued>>, saved: Option<&[u8]>, seq: u64) {
        let Some(recovering) = &mut self.recovering else { return };
        // A run that is told to be carried was open; it may have been triggered before the
        // journal's beginning.
        let is_known = recovering.has(id);
        if let Some(queued) = queued {
            *queued.saved.lock() = saved.map(Arc::from);
            recovering.put(queued);
            if self.canceled.contains(&id) {
                // Its end follows soon; what says so is needed until then.
            } else if is_known {
                self.books.carry(id, seq, self.now);
            } else {
                self.books.carried_in(id, seq, self.now);
            }
        }
    }

    /// The runs that had not ended, and the end of the recovery.
    pub(crate) fn recovered(&mut self) -> Vec<Arc<Queued>> {
        self.recovering.take().map(Recovering::into_runs).unwrap_or_default()
    }

    pub(crate) fn remember(&mut self, core: &Core) {
        self.memories.mark(&core.stage.states);
    }

    pub(crate) fn forget(&mut self, pipeline: u32) {
        self.memories.forget(pipeline);
    }
}
