//! One run: tokens that walk over the plan.
//!
//! A token stands before a step with a datum. Executing the step moves it along the wires of the
//! port that the step answers at, makes several of it, ends it, or lets it wait. Tokens live in
//! scopes: the run itself, an item of a `foreach`, a guarded branch, a called pipeline. A scope
//! whose last token has gone has ended, and the step that opened it goes on.
//!
//! **Invariants**: a run never waits on the thread that executes it; whatever its plan and its
//! data, it ends or waits after a bounded number of executions.

pub(crate) mod bench;
mod context;
mod emit;
mod event;
mod fault;
mod halt;
pub(crate) mod notes;
mod open;
mod saved;
mod scope;
mod walk;

pub(crate) use bench::{Bench, Directory, IssueHops, Stage, Stubs};
pub(crate) use context::issue_key;
pub(crate) use event::Event;
pub(crate) use notes::Notes;

use crate::outside::Leash;
use crate::plan::Plan;
use crate::queued::Queued;
use crate::report::RunFault;
use crate::step::{BoxFuture, StepFault};
use millrace_flow::Data;
use millrace_model::Timestamp;
use scope::{Role, Scope, Scopes};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Futures of one run that are under way at once.
pub(crate) const WAITS_AT_ONCE_MAX: usize = 64;

/// A run that has begun.
pub(crate) struct Run {
    pub(crate) queued: Arc<Queued>,
    /// The attempt that this is; the run counts only while it is the latest.
    pub(crate) attempt: u32,
    /// Both clocks when this program took it in hand.
    clocks: (Timestamp, Duration),
    frames: Vec<Frame>,
    scopes: Scopes,
    ready: VecDeque<Token>,
    pub(crate) waits: BTreeMap<u32, Wait>,
    next_wait: u32,
    /// Waits for something outside or for a time: in sequence, one at a time.
    blocking: usize,
    pub(crate) notes: Notes,
    /// When the last execution ended, which is when the next one begins.
    at: Duration,
    pub(crate) end: Option<End>,
    /// It was interrupted and is to run again.
    is_left: bool,
}

/// A pipeline within a run: the run's own, or one that it calls.
struct Frame {
    plan: Arc<Plan>,
    trigger: Data,
    /// By step; empty if nothing asks for them.
    outputs: Vec<Data>,
}

/// A datum before a step.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    step: u16,
    scope: u32,
    input: Data,
    entry: Entry,
    /// How often it was tried again.
    tries: u32,
}

/// How a step is entered.
#[derive(Clone, Debug)]
enum Entry {
    Input,
    Resume(Data),
    Fail(Box<StepFault>),
}

/// A token that waits.
pub(crate) struct Wait {
    token: Token,
    since: Duration,
    /// The same on the wall, as it was then: told, saved with the run, and never counted with.
    begun: Timestamp,
    /// Monotonic; the step's timeout.
    pub(crate) deadline: Option<Duration>,
    pub(crate) what: Waiting,
}

/// What a token waits for.
pub(crate) enum Waiting {
    /// Work outside.
    Future(Outside),
    /// A time on the wall.
    Pause { until: Timestamp, carry: Data },
    /// A monotonic time, then the same execution again.
    Retry { until: Duration },
    /// The items of a list: those to come, and what has come.
    Each { items: std::vec::IntoIter<Data>, begun: usize, open: usize, results: Vec<Data> },
    /// A guarded branch.
    Guard,
    /// A called pipeline.
    Call,
    /// All that can still come.
    Gather { inputs: Vec<Data> },
}

/// Work outside: not begun yet, or under way.
pub(crate) enum Outside {
    Fresh(BoxFuture<Result<Data, StepFault>>),
    /// Stopped when this is dropped.
    Begun(#[expect(dead_code, reason = "held to be dropped")] Leash),
}

impl Waiting {
    fn is_blocking(&self) -> bool {
        matches!(self, Self::Future(_) | Self::Pause { .. } | Self::Retry { .. })
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    Done(Data),
    Failed(RunFault),
}

/// What driving a run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drive {
    Ended,
    Parked,
    /// It was interrupted: nothing of this attempt counts.
    Left,
}

impl Run {
    /// Begins a run at its triggers.
    pub(crate) fn begin(queued: Arc<Queued>, attempt: u32, now: Timestamp, at: Duration) -> Self {
        let plan = Arc::clone(&queued.plan);
        let trigger = queued.start.data();
        let mut run = Self::empty(Arc::clone(&queued), attempt, now, at);
        let root = run.scopes.open(Scope::new(Role::Run, 0, trigger.clone()));
        run.frames.push(Frame::new(Arc::clone(&plan), trigger.clone()));
        for number in std::iter::once(queued.trigger).chain(queued.also.iter().copied()) {
            if let Some(trigger_step) = plan.triggers.get(usize::from(number)) {
                run.scopes.hold(root);
                run.ready.push_back(Token::new(trigger_step.step, root, trigger.clone()));
            }
        }
        if run.ready.is_empty() {
            run.end = Some(End::Done(Data::Missing));
        }
        run
    }

    fn empty(queued: Arc<Queued>, attempt: u32, now: Timestamp, at: Duration) -> Self {
        let notes = Notes::new(now, at, queued.seq ^ u64::from(queued.plan.number) << 40);
        Self {
            queued,
            attempt,
            clocks: (now, at),
            frames: Vec::with_capacity(1),
            scopes: Scopes::default(),
            ready: VecDeque::with_capacity(4),
            waits: BTreeMap::new(),
            next_wait: 0,
            blocking: 0,
            notes,
            at,
            end: None,
            is_left: false,
        }
    }

    /// Whether this attempt is still the one that counts.
    pub(crate) fn is_current(&self) -> bool {
        self.queued.attempt.load(Ordering::Acquire) == self.attempt
    }

    /// From its beginning (or that of the box, if that was later) to its last execution.
    pub(crate) fn took(&self) -> Duration {
        self.at.saturating_sub(self.notes.began)
    }

    /// The run's plan.
    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.queued.plan
    }

    /// Hands over the work that has not begun: the number of its wait, the work, and the leash that
    /// stops it when the wait is over.
    pub(crate) fn begin_outside<T>(
        &mut self,
        mut begin: impl FnMut(u32, BoxFuture<Result<Data, StepFault>>, &Leash) -> T,
    ) -> Vec<T> {
        let mut begun = Vec::new();
        for (number, wait) in &mut self.waits {
            let Waiting::Future(outside) = &mut wait.what else { continue };
            if matches!(outside, Outside::Fresh(_)) {
                let leash = Leash::default();
                if let Outside::Fresh(work) =
                    std::mem::replace(outside, Outside::Begun(Leash::default()))
                {
                    begun.push(begin(*number, work, &leash));
                    *outside = Outside::Begun(leash);
                }
            }
        }
        begun
    }

    /// Whether anything waits for longer than a moment, so that it must be written down.
    pub(crate) fn has_long_pause(&self, now: Timestamp, longer_than: Duration) -> bool {
        let longest = i64::try_from(longer_than.as_nanos()).unwrap_or(i64::MAX);
        self.waits.values().any(|wait| match wait.what {
            Waiting::Pause { until, .. } => until.nanos_since(now) >= longest,
            _ => false,
        })
    }

    /// About how many bytes it takes while it waits.
    pub(crate) fn bytes(&self) -> usize {
        let size = |data: &Data| crate::codec::size(data, usize::MAX);
        let tokens = self.ready.iter().map(|token| 64 + size(&token.input)).sum::<usize>();
        let outputs = self.frames.iter().flat_map(|frame| &frame.outputs).map(size).sum::<usize>();
        let waits = self.waits.values().map(|wait| {
            let more = match &wait.what {
                Waiting::Each { items, results, .. } => {
                    items.as_slice().iter().chain(results).map(size).sum()
                }
                Waiting::Gather { inputs } => inputs.iter().map(size).sum(),
                Waiting::Pause { carry, .. } => size(carry),
                Waiting::Future(_) | Waiting::Retry { .. } | Waiting::Guard | Waiting::Call => 0,
            };
            128 + size(&wait.token.input) + more
        });
        512 + self.queued.bytes + tokens + outputs + waits.sum::<usize>() + self.notes.bytes()
    }
}

impl Frame {
    fn new(plan: Arc<Plan>, trigger: Data) -> Self {
        let outputs =
            if plan.keeps_outputs { vec![Data::Missing; plan.steps.len()] } else { Vec::new() };
        Self { plan, trigger, outputs }
    }
}

impl Token {
    fn new(step: u16, scope: u32, input: Data) -> Self {
        Self { step, scope, input, entry: Entry::Input, tries: 0 }
    }
}

#[cfg(test)]
mod tests;
