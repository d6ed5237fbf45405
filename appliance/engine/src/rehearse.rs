//! Rehearsals: a draft run over recorded or invented triggers, with nothing leaving the room.
//!
//! The same run code as in life, with its own clock, its own state, and stubs for everything
//! outside; what the pipeline would have done is recorded. Triggers are fed one after the other;
//! a run that pauses goes on when the rehearsal's clock has come so far.
//!
//! **Invariants**: no value, record, request or issue leaves a rehearsal, and no lasting state of
//! the box is changed by one. Runs are not queued: order, overlap and lanes play no part.

mod clock;
mod compare;
mod room;
mod step;

pub use compare::{Difference, differences};
pub use step::StepTrial;

use crate::compile::CompileFault;
use crate::deployment::Deployed;
use crate::engine::Engine;
use crate::names::Place;
use crate::plan::Plan;
use crate::queued::{Queued, RunId, Start, ValueStart};
use crate::report::{LogLine, RunFault, StepReport};
use crate::run::{Bench, Drive, End, Event, IssueHops, Run, Stage, Stubs};
use crate::script::{Level, Worker};
use crate::services::{Last, Publish};
use crate::state::cells::{Owner, States};
use crate::state::undo::Undo;
use crate::trigger::Cause;
use crate::trigger::change::Seen;
use clock::ClockTriggers;
use millrace_flow::Data;
use millrace_flow::document::HistoryDetail;
use millrace_model::{ClientNumber, Quality, Timestamp, Value};
use room::{NoOutbox, Room, RoomClock, RoomDirectory};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;

/// What a pipeline would have done.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Number of the trigger that was fed, from 0.
    pub run: usize,
    /// The step.
    pub step: Arc<str>,
    /// What.
    pub form: OutputForm,
}

/// An effect.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputForm {
    /// A value would have been published.
    Publish(Publish),
    /// An outside step would have been called with these fields.
    Call {
        /// Its evaluated fields.
        fields: Data,
    },
    /// A variable was set.
    Variable {
        /// Its name.
        name: String,
        /// Its new value.
        value: Data,
    },
    /// An issue would have been raised or cleared.
    Issue {
        /// Its key.
        key: String,
        /// Which of the two.
        is_raised: bool,
    },
    /// A line of the log.
    Log {
        /// Its level.
        level: Level,
        /// Its text.
        line: String,
    },
}

/// A value that is fed.
#[derive(Clone, Debug, PartialEq)]
pub struct Fed {
    /// The value.
    pub value: Value,
    /// When it was measured.
    pub time: Timestamp,
    /// When it was received; the rehearsal's clock is set to it.
    pub received: Timestamp,
    /// Its quality.
    pub quality: Quality,
}

/// How a run of a rehearsal ended.
#[derive(Clone, Debug)]
pub struct RehearsedRun {
    /// Number of the trigger that was fed.
    pub run: usize,
    /// Why it failed, if it did.
    pub fault: Option<RunFault>,
    /// Its result.
    pub result: Data,
    /// Its steps with their inputs and outputs.
    pub steps: Vec<StepReport>,
    /// What it logged.
    pub log: Vec<LogLine>,
}

/// What is kept of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Those that failed, at most so many.
    Failed(usize),
    /// All of them.
    All,
}

/// A rehearsal under way. It stays on the thread that began it.
pub struct Rehearsal {
    plan: Arc<Plan>,
    stage: Stage,
    clock: Arc<RoomClock>,
    room: Arc<Room>,
    scripts: Box<dyn Worker>,
    stubs: Stubs,
    parked: Vec<(usize, Box<Run>)>,
    seen: HashMap<(u16, String), Option<Seen>>,
    /// When each trigger that was fed was.
    times: Vec<Timestamp>,
    by_clock: ClockTriggers,
    keep: Keep,
    /// The runs that are kept.
    pub runs: Vec<RehearsedRun>,
    /// How many ended well.
    pub done: u64,
    /// How many failed.
    pub failed: u64,
    text: String,
    undo: Undo,
}

impl Engine {
    /// Begins a rehearsal of a draft at a time. With `is_like_box` it knows the box's variables and
    /// last values; without, nothing but what it is given.
    ///
    /// # Errors
    /// What is wrong with the draft.
    pub fn rehearse(
        &self,
        draft: &Deployed,
        start: Timestamp,
        is_like_box: bool,
        keep: Keep,
    ) -> Result<Rehearsal, Vec<CompileFault>> {
        let core = &self.core;
        let states = Arc::new(States::default());
        let mut plan = core.plan(draft, &states)?;
        if keep == Keep::All {
            plan.settings.history = HistoryDetail::Full;
        }
        if is_like_box {
            let variables = Owner::Variables(draft.workspace);
            for (name, data) in core.stage.states.entries(&variables) {
                // What the box holds fits.
                let _fits = states.set(&states.cell(&variables), &name, data);
            }
        }
        let clock = Arc::new(RoomClock::new(start));
        let room = Arc::new(Room::new(is_like_box.then(|| Arc::clone(&core.parts.services))));
        let stage = Stage {
            services: Arc::clone(&room) as _,
            directory: Arc::new(RoomDirectory::new(Arc::clone(&core.deployments), &states)),
            states,
            clock: Arc::clone(&clock) as _,
            issues: Arc::clone(&core.stage.issues),
            issue_hops: IssueHops::default(),
            config: core.stage.config.clone(),
            is_stopping: Arc::clone(&core.stage.is_stopping),
        };
        Ok(Rehearsal {
            plan: Arc::new(plan),
            stage,
            clock,
            room,
            scripts: core.parts.scripts.worker(),
            stubs: Stubs::default(),
            parked: Vec::new(),
            seen: HashMap::new(),
            times: Vec::new(),
            by_clock: ClockTriggers::default(),
            keep,
            runs: Vec::new(),
            done: 0,
            failed: 0,
            text: String::new(),
            undo: Undo::default(),
        })
    }
}

impl Rehearsal {
    /// What a stubbed outside step answers.
    pub fn answer(&mut self, step: &str, answer: Data) {
        self.stubs.answers.insert(step.to_owned(), answer);
    }

    /// An outside step is not reached, for this reason.
    pub fn fail(&mut self, step: &str, reason: &str) {
        self.stubs.faults.insert(step.to_owned(), reason.to_owned());
    }

    /// What is known as the last value of a tag.
    pub fn know_last(&mut self, path: &str, last: Last) {
        self.room.know(path, last);
    }

    /// What a variable holds.
    ///
    /// # Errors
    /// It is too large.
    pub fn know_variable(&mut self, name: &str, data: Data) -> Result<(), String> {
        self.stage.states.set(&self.plan.variables, name, data).map(drop)
    }

    /// A variable at this moment.
    #[must_use]
    pub fn variable(&self, name: &str) -> Data {
        self.plan.variables.get(name)
    }

    /// Filters of the draft's value triggers: what a rehearsal wants to be fed.
    #[must_use]
    pub fn filters(&self) -> Vec<String> {
        let mut filters: Vec<String> = self
            .plan
            .triggers
            .iter()
            .filter_map(|trigger| match &trigger.cause {
                Cause::Value(value) => Some(&value.filters),
                _ => None,
            })
            .flatten()
            .map(|filter| filter.as_str().to_owned())
            .collect();
        filters.sort_unstable();
        filters.dedup();
        filters
    }

    /// Feeds a value to all triggers that want it; whether any did. The number of what was fed
    /// counts in [`Output::run`] even if none did.
    pub fn feed(&mut self, path: &str, fed: &Fed) -> bool {
        self.advance_to(fed.received);
        let number = self.number(fed.time);
        self.room.know(path, last_of(fed));
        let plan = Arc::clone(&self.plan);
        let mut wanted = Vec::new();
        for (trigger, cause) in (0u16..).zip(&plan.triggers) {
            if let Cause::Value(value) = &cause.cause
                && value.filters.iter().any(|filter| filter.matches(path))
                && self.admits(trigger, path, fed)
            {
                wanted.push(trigger);
            }
        }
        self.start_value(number, &wanted, path, fed)
    }

    /// Feeds a value to one trigger, whatever its filters; whether its rule wanted it. `None`: no
    /// such value trigger.
    pub fn feed_to(&mut self, step: &str, path: &str, fed: &Fed) -> Option<bool> {
        self.advance_to(fed.received);
        let number = self.number(fed.time);
        self.room.know(path, last_of(fed));
        let place = self.plan.triggers.iter().position(|trigger| &*trigger.id == step)?;
        let trigger = u16::try_from(place).ok()?;
        let is_value = matches!(self.plan.triggers.get(place)?.cause, Cause::Value(_));
        if !is_value {
            return None;
        }
        let wanted: &[u16] = if self.admits(trigger, path, fed) { &[trigger] } else { &[] };
        Some(self.start_value(number, wanted, path, fed))
    }

    /// Starts a run at a trigger with this datum; `None`: no such trigger.
    pub fn trigger(&mut self, step: &str, data: Data) -> Option<()> {
        let number = self.number(self.stage.clock.now());
        let place = self.plan.triggers.iter().position(|trigger| &*trigger.id == step)?;
        let trigger = u16::try_from(place).ok()?;
        self.start(number, trigger, &[], Start::Data(data));
        Some(())
    }

    /// Lets time pass; runs that pause until then go on, and those that the clock starts begin.
    pub fn advance_to(&mut self, time: Timestamp) {
        loop {
            let parked = self.next_parked().filter(|(_, due)| *due <= time);
            let clock = self.by_clock.next().filter(|due| *due <= time);
            match (parked, clock) {
                (Some((place, due)), clock) if clock.is_none_or(|clock| due <= clock) => {
                    self.clock.set(due);
                    let (number, run) = self.parked.swap_remove(place);
                    self.go_on(number, run);
                }
                (_, Some(due)) => self.start_due(due),
                (_, None) => break,
            }
        }
        self.clock.set(time);
    }

    fn number(&mut self, time: Timestamp) -> usize {
        self.times.push(time);
        self.times.len() - 1
    }

    /// Lets everything that pauses come to its end, however long that takes on its clock.
    pub fn finish(&mut self) {
        while let Some((place, due)) = self.next_parked() {
            self.clock.set(due);
            let (number, run) = self.parked.swap_remove(place);
            self.go_on(number, run);
        }
    }

    /// What it has done so far, and how many outputs found no room.
    pub fn take_outputs(&mut self) -> (Vec<Output>, u64) {
        (std::mem::take(&mut self.stubs.outputs), std::mem::take(&mut self.stubs.left_out))
    }

    /// How many triggers were fed.
    #[must_use]
    pub fn fed(&self) -> usize {
        self.times.len()
    }

    fn admits(&mut self, trigger: u16, path: &str, fed: &Fed) -> bool {
        let cause = self.plan.triggers.get(usize::from(trigger)).map(|trigger| &trigger.cause);
        let Some(Cause::Value(value)) = cause else { return false };
        if !value.lowest.admits(fed.quality) {
            return false;
        }
        let seen = self.seen.entry((trigger, path.to_owned())).or_default();
        let seq = self.times.len() as u64;
        value.rule.admits(seen, seq, fed.value.as_ref(), fed.quality, fed.received)
    }

    fn start_value(&mut self, number: usize, wanted: &[u16], path: &str, fed: &Fed) -> bool {
        let Some((first, also)) = wanted.split_first() else { return false };
        let start = Start::Value(ValueStart {
            place: Arc::new(Place {
                workspace: self.plan.workspace,
                path: path.into(),
                topic: path.into(),
            }),
            value: fed.value.clone(),
            time: fed.time,
            received: fed.received,
            quality: fed.quality,
            client: ClientNumber(0),
            client_name: None,
        });
        self.start(number, *first, also, start);
        true
    }

    fn start(&mut self, number: usize, trigger: u16, also: &[u16], start: Start) {
        let (now, at) = (self.stage.clock.now(), self.stage.clock.monotonic());
        let queued = Arc::new(Queued {
            plan: Arc::clone(&self.plan),
            seq: number as u64 + 1,
            trigger,
            also: also.into(),
            bytes: 0,
            start,
            is_manual: false,
            hops: 0,
            at,
            asked: now,
            key: AtomicU64::new(0),
            attempt: AtomicU32::new(1),
            saved: parking_lot::Mutex::new(None),
            panics: parking_lot::Mutex::new(None),
            stop: std::sync::OnceLock::new(),
        });
        let run = Box::new(Run::begin(queued, 1, now, at));
        self.drive(number, run);
    }

    fn go_on(&mut self, number: usize, mut run: Box<Run>) {
        run.tell(Event::Time, self.stage.clock.now(), self.stage.clock.monotonic());
        self.drive(number, run);
    }

    fn drive(&mut self, number: usize, mut run: Box<Run>) {
        loop {
            self.stubs.run = number;
            let mut bench = Bench {
                stage: &self.stage,
                outbox: &mut NoOutbox,
                scripts: &mut *self.scripts,
                stubs: Some(&mut self.stubs),
                text: &mut self.text,
                undo: &mut self.undo,
            };
            match run.drive(&mut bench) {
                Drive::Parked => {}
                Drive::Ended => return self.ended(number, &run),
                Drive::Left => {
                    run.end_stopping();
                    return self.ended(number, &run);
                }
            }
            // What really waits outside (a query of the history) is waited for here and now.
            let done = run.begin_outside(|wait, work, _| (wait, room::block_on(work)));
            if done.is_empty() {
                self.parked.push((number, run));
                return;
            }
            let (now, at) = (self.stage.clock.now(), self.stage.clock.monotonic());
            for (wait, result) in done {
                run.tell(Event::Done(wait, Box::new(result)), now, at);
            }
        }
    }

    fn ended(&mut self, number: usize, run: &Run) {
        let fault = match &run.end {
            Some(End::Failed(fault)) => Some(fault.clone()),
            _ => None,
        };
        let is_kept = match self.keep {
            Keep::All => true,
            Keep::Failed(most) => fault.is_some() && self.runs.len() < most,
        };
        let count = if fault.is_some() { &mut self.failed } else { &mut self.done };
        *count += 1;
        if is_kept {
            self.runs.push(RehearsedRun {
                run: number,
                fault,
                result: match &run.end {
                    Some(End::Done(data)) => data.clone(),
                    _ => Data::Missing,
                },
                steps: run.notes.steps(),
                log: run.notes.log.clone(),
            });
        }
    }

    fn next_parked(&self) -> Option<(usize, Timestamp)> {
        let now = self.stage.clock.now();
        let at = self.stage.clock.monotonic();
        let due = |run: &Run| {
            let (wall, mono) = run.next_times();
            let mono = mono.map(|time| {
                let left = time.saturating_sub(at);
                now.plus_nanos(i64::try_from(left.as_nanos()).unwrap_or(i64::MAX))
            });
            [wall, mono].into_iter().flatten().min().unwrap_or(now)
        };
        let parked = self.parked.iter().enumerate();
        parked.map(|(place, (_, run))| (place, due(run).max(now))).min_by_key(|(_, due)| *due)
    }

    /// The id that a run of a rehearsal shows: the pipeline's, with the number of its trigger.
    #[must_use]
    pub fn id(&self, run: usize) -> RunId {
        RunId { pipeline: self.plan.number, seq: run as u64 + 1 }
    }
}

fn last_of(fed: &Fed) -> Last {
    Last {
        value: crate::queued::value_data(&fed.value),
        time: fed.time,
        received: fed.received,
        quality: fed.quality,
    }
}

/// Longest wait for something that a rehearsal really asks the box.
const ASK_MAX: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests;
