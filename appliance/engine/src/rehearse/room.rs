//! The room of a rehearsal: its clock, its stand-ins for the box, and an outbox that leads nowhere.
//!
//! **Invariants**: secrets are not handed out; a query goes to the box only if the rehearsal is to
//! know the box.

use super::ASK_MAX;
use crate::deployment::Deployments;
use crate::outbox::{Mark, Outbox, Sent, Source};
use crate::plan::Plan;
use crate::queue::Bell;
use crate::run::Directory;
use crate::services::{FoundTag, HistoryQuery, Last, Services};
use crate::state::cells::States;
use crate::step::{BoxFuture, StepFault};
use millrace_flow::Data;
use millrace_model::{Record, Timestamp};
use millrace_supervisor::Clock;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// A clock that the rehearsal moves.
#[derive(Debug)]
pub(super) struct RoomClock {
    start: Timestamp,
    now: Mutex<Timestamp>,
}

impl RoomClock {
    pub(super) fn new(start: Timestamp) -> Self {
        Self { start, now: Mutex::new(start) }
    }

    /// Moves it on; it never goes back.
    pub(super) fn set(&self, time: Timestamp) {
        let mut now = self.now.lock();
        *now = (*now).max(time);
    }
}

impl Clock for RoomClock {
    fn now(&self) -> Timestamp {
        *self.now.lock()
    }

    fn monotonic(&self) -> Duration {
        let passed = self.now.lock().nanos_since(self.start);
        Duration::from_nanos(u64::try_from(passed).unwrap_or(0))
    }
}

/// Stands in for the box.
pub(super) struct Room {
    lasts: Mutex<BTreeMap<String, Last>>,
    /// Tags whose last value was the box's.
    todays: Mutex<BTreeSet<String>>,
    /// The box itself, for what is only read.
    outside: Option<Arc<dyn Services>>,
}

impl Room {
    pub(super) fn new(outside: Option<Arc<dyn Services>>) -> Self {
        Self { lasts: Mutex::default(), todays: Mutex::default(), outside }
    }

    pub(super) fn know(&self, path: &str, last: Last) {
        self.lasts.lock().insert(path.to_owned(), last);
    }
}

/// Most tags that are told to have had today's value.
const TODAYS_MAX: usize = 100;

impl Room {
    pub(super) fn todays(&self) -> Vec<String> {
        self.todays.lock().iter().cloned().collect()
    }
}

impl Services for Room {
    fn last(&self, workspace: u16, path: &str) -> Option<Last> {
        if let Some(last) = self.lasts.lock().get(path) {
            return Some(last.clone());
        }
        let last = self.outside.as_ref()?.last(workspace, path)?;
        let mut todays = self.todays.lock();
        if todays.len() < TODAYS_MAX {
            todays.insert(path.to_owned());
        }
        Some(last)
    }

    fn search(&self, workspace: u16, filter: &str, limit: usize) -> Vec<FoundTag> {
        match &self.outside {
            Some(outside) => outside.search(workspace, filter, limit),
            None => Vec::new(),
        }
    }

    fn history(&self, workspace: u16, query: HistoryQuery) -> BoxFuture<Result<Data, StepFault>> {
        match &self.outside {
            Some(outside) => outside.history(workspace, query),
            None => Box::pin(std::future::ready(Ok(Data::List(Arc::from([]))))),
        }
    }

    fn secret(&self, _: u16, _: &str) -> Option<Arc<str>> {
        None
    }

    fn spawn(&self, name: &'static str, future: BoxFuture<()>) {
        if let Some(outside) = &self.outside {
            outside.spawn(name, future);
        }
    }
}

/// Leads nowhere; effects are taken by the stubs before they come here.
pub(super) struct NoOutbox;

impl Outbox for NoOutbox {
    fn mark(&mut self, _: Mark) {}

    fn undo(&mut self, _: Mark) {}

    fn begin(&mut self, _: Source) {}

    fn publish(&mut self, _: &str, _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    fn push(&mut self, _: &Record<'_>) {}

    fn bytes(&self) -> usize {
        0
    }

    fn submit(&mut self, _: &Waker) -> Sent {
        Sent::Empty
    }
}

/// Called pipelines, as deployed, but with the rehearsal's own state.
pub(super) struct RoomDirectory {
    deployments: Arc<Deployments>,
    states: Arc<States>,
    plans: Mutex<HashMap<(u16, String), Arc<Plan>>>,
}

impl RoomDirectory {
    pub(super) fn new(deployments: Arc<Deployments>, states: &Arc<States>) -> Self {
        Self { deployments, states: Arc::clone(states), plans: Mutex::default() }
    }
}

impl Directory for RoomDirectory {
    fn find(&self, workspace: u16, name: &str) -> Option<Arc<Plan>> {
        let mut plans = self.plans.lock();
        let key = (workspace, name.to_owned());
        if let Some(plan) = plans.get(&key) {
            return Some(Arc::clone(plan));
        }
        let found = self.deployments.find(workspace, name)?;
        let plan = Arc::new(found.in_states(&self.states));
        plans.insert(key, Arc::clone(&plan));
        Some(plan)
    }
}

struct Rung(Bell);

impl Wake for Rung {
    fn wake(self: Arc<Self>) {
        self.0.ring();
    }
}

/// Waits for work on the calling thread, within a limit.
pub(super) fn block_on(mut work: BoxFuture<Result<Data, StepFault>>) -> Result<Data, StepFault> {
    let rung = Arc::new(Rung(Bell::default()));
    let waker = Waker::from(Arc::clone(&rung));
    let mut context = Context::from_waker(&waker);
    // Each turn is one wake; without any, one turn of the whole limit is the end.
    for _ in 0..10_000 {
        if let Poll::Ready(result) = work.as_mut().poll(&mut context) {
            return result;
        }
        if !rung.0.sleep(ASK_MAX) {
            break;
        }
    }
    Err(StepFault::passing("timeout", "was not answered while rehearsing"))
}
