//! What is due when: schedules and startup triggers.
//!
//! **Invariants**: a due time asks for one run; after a gap the times that were missed are one.

use crate::engine::{AskFault, Core};
use crate::plan::Plan;
use crate::state::cells::{Owner, States};
use crate::trigger::schedule::Schedule;
use crate::trigger::{Cause, Trigger};
use millrace_flow::{Data, Map};
use millrace_model::Timestamp;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The key under which a schedule that makes up for missed times remembers the last one.
const DUE: &str = "due";
/// How long a request waits that the journal did not take.
const AGAIN: i64 = 200_000_000;

/// Everything that is due at some time.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    items: BTreeMap<(Timestamp, u32, u16), Item>,
}

#[derive(Clone, Debug)]
struct Item {
    trigger: Arc<str>,
    what: What,
    /// The time that the run is told, if not the one under which it stands.
    time: Timestamp,
}

#[derive(Clone, Debug)]
enum What {
    Schedule(Schedule),
    Startup(&'static str),
}

impl Agenda {
    pub(crate) fn add(
        &mut self,
        states: &States,
        plan: &Plan,
        (number, trigger): (u16, &Trigger),
        is_deploy: bool,
        now: Timestamp,
    ) {
        let item = |what, time| Item { trigger: Arc::clone(&trigger.id), what, time };
        match &trigger.cause {
            Cause::Schedule(schedule) => {
                let missed = if is_deploy || !schedule.makes_up {
                    None
                } else {
                    missed(states, plan.number, &trigger.id, schedule, now)
                };
                let Some(time) = missed.or_else(|| schedule.next(now)) else { return };
                let what = What::Schedule(schedule.clone());
                self.items.insert((time.max(now), plan.number, number), item(what, time));
            }
            Cause::Startup { on_start, on_deploy, after } => {
                let (is_wanted, word) =
                    if is_deploy { (*on_deploy, "deploy") } else { (*on_start, "start") };
                if is_wanted {
                    let after = i64::try_from(after.as_nanos()).unwrap_or(i64::MAX);
                    let time = now.plus_nanos(after);
                    let what = What::Startup(word);
                    self.items.insert((time, plan.number, number), item(what, time));
                }
            }
            Cause::Value(_)
            | Cause::Manual { .. }
            | Cause::Http(_)
            | Cause::Issue(_)
            | Cause::Outside { .. } => {}
        }
    }

    pub(crate) fn forget(&mut self, pipeline: u32) {
        self.items.retain(|(_, number, _), _| *number != pipeline);
    }

    /// What is due next of a pipeline, by trigger.
    pub(crate) fn of(&self, pipeline: u32) -> Vec<(Arc<str>, Timestamp)> {
        let own = self.items.iter().filter(|((_, number, _), _)| *number == pipeline);
        own.map(|((time, ..), item)| (Arc::clone(&item.trigger), *time)).collect()
    }

    /// When something is due first.
    pub(crate) fn first(&self) -> Option<Timestamp> {
        self.items.first_key_value().map(|((time, ..), _)| *time)
    }

    /// Takes what is due first; a schedule is due again then. Its trigger, and what its run is told.
    pub(crate) fn step(&mut self, now: Timestamp) -> Option<(Arc<str>, Data)> {
        let ((_, pipeline, number), item) = self.take_due(now)?;
        let data = item.data(now);
        let trigger = Arc::clone(&item.trigger);
        let next = match &item.what {
            What::Schedule(schedule) => schedule.next(now),
            What::Startup(_) => None,
        };
        if let Some(time) = next {
            self.items.insert((time, pipeline, number), Item { time, ..item });
        }
        Some((trigger, data))
    }

    fn next(&self, now: Timestamp) -> Duration {
        match self.items.first_key_value() {
            Some(((time, ..), _)) => {
                Duration::from_nanos(u64::try_from(time.nanos_since(now)).unwrap_or(0))
            }
            None => Duration::MAX,
        }
    }

    fn take_due(&mut self, now: Timestamp) -> Option<((Timestamp, u32, u16), Item)> {
        let (key, _) = self.items.first_key_value().filter(|((time, ..), _)| *time <= now)?;
        let key = *key;
        self.items.remove(&key).map(|item| (key, item))
    }
}

fn missed(
    states: &States,
    pipeline: u32,
    trigger: &Arc<str>,
    schedule: &Schedule,
    now: Timestamp,
) -> Option<Timestamp> {
    let remembered = states.remembered(&Owner::Trigger(pipeline, Arc::clone(trigger)));
    let bytes = remembered.get(DUE)?.first_chunk::<8>()?;
    let due = schedule.next(Timestamp(i64::from_le_bytes(*bytes)))?;
    (due <= now).then(|| schedule.latest(due, now))
}

impl Core {
    /// Asks for the runs that are due; gives how long nothing will be.
    pub(crate) fn ask_due(&self, now: Timestamp) -> Duration {
        loop {
            let Some(((_, pipeline, number), item)) = self.agenda.lock().take_due(now) else {
                return self.agenda.lock().next(now);
            };
            let asked = self.request((pipeline, &item.trigger), item.data(now), false, 0);
            let mut agenda = self.agenda.lock();
            match (asked, &item.what) {
                (Err(fault @ (AskFault::Records(_) | AskFault::QueueFull)), _) => {
                    tracing::debug!(pipeline, "A run that is due has to wait: {fault}.");
                    agenda.items.insert((now.plus_nanos(AGAIN), pipeline, number), item);
                }
                (Ok(_) | Err(_), What::Schedule(schedule)) => {
                    if schedule.makes_up {
                        self.remember_due(pipeline, &item.trigger, now);
                    }
                    if let Some(time) = schedule.next(now)
                        && self.deployments.get(pipeline).is_some()
                    {
                        agenda
                            .items
                            .insert((time, pipeline, number), Item { time, ..item.clone() });
                    }
                }
                (Ok(_) | Err(_), What::Startup(_)) => {}
            }
        }
    }

    fn remember_due(&self, pipeline: u32, trigger: &Arc<str>, now: Timestamp) {
        let owner = Owner::Trigger(pipeline, Arc::clone(trigger));
        let value = now.0.to_le_bytes().to_vec();
        self.stage.states.restore(&owner, DUE, Some(&value));
        self.stage.states.mark(owner, DUE, Some(value));
    }
}

impl Item {
    fn data(&self, now: Timestamp) -> Data {
        let time = match &self.what {
            What::Schedule(schedule) => schedule.latest(self.time, now),
            What::Startup(_) => now,
        };
        let mut map = Map::new();
        map.set("time", Data::Text(time.to_rfc3339().into()));
        map.set("time_ms", Data::Int(time.split_millis().0));
        if let What::Startup(on) = self.what {
            map.set("on", Data::Text(on.into()));
        }
        Data::Map(Arc::new(map))
    }
}
