//! One run, as the history keeps it.
//!
//! A run says what ran, when, how long and how it ended; its *trace* says what each step did. What
//! is too long is cut here, before it is queued, and says how long it was.
//!
//! **Invariants**: after [`Run::bound`] a run holds at most [`RUN_BYTES_MAX`] of inputs, outputs
//! and lines, beside names and fault texts of bounded length.

use millrace_model::Timestamp;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// Most bytes of one input or output.
pub const ITEM_BYTES_MAX: usize = 64 * 1024;
/// Most bytes of all inputs, outputs and lines of a run.
pub const RUN_BYTES_MAX: usize = 256 * 1024;
/// Most lines of a run.
pub const LINES_MAX: usize = 500;
/// Most steps of a run's trace: as many as a pipeline may have.
const STEPS_MAX: usize = 1_000;
/// Most bytes of one line.
const LINE_BYTES_MAX: usize = 4 * 1024;
/// Most bytes of a fault's text.
const FAULT_BYTES_MAX: usize = 2 * 1024;
/// Most bytes of a name.
const NAME_BYTES_MAX: usize = 256;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// Well.
    Ok,
    /// A step failed.
    Failed,
    /// A person, a newer run or an undeployment canceled it.
    Stopped,
    /// An earlier one was still running, and the pipeline skips then.
    Skipped,
    /// The box died while it ran; it was run again.
    Interrupted,
}

impl Status {
    /// All of them; a status' place is its number.
    pub const ALL: [Self; 5] =
        [Self::Ok, Self::Failed, Self::Stopped, Self::Skipped, Self::Interrupted];

    /// As the API names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Skipped => "skipped",
            Self::Interrupted => "interrupted",
        }
    }

    /// The status of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// How much of a run is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// That it ran, how long, how it ended.
    Minimal,
    /// Also each step's status and time.
    #[default]
    Standard,
    /// Also each step's input and output.
    Full,
}

/// Why a run or a step failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// A stable word.
    pub code: Arc<str>,
    /// For people.
    pub text: Arc<str>,
    /// The step's id; empty where it is known anyway.
    pub step: Arc<str>,
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Whose pipeline it is.
    pub workspace: u16,
    /// The pipeline's number.
    pub pipeline: u32,
    /// Seq of the record that triggered it; with the pipeline's number it is the run's id.
    pub seq: u64,
    /// The pipeline's name at that time.
    pub name: Arc<str>,
    /// The revision that ran.
    pub revision: u32,
    /// Id of the trigger step.
    pub trigger: Arc<str>,
    /// When it began to execute.
    pub started: Timestamp,
    /// From then to its end, to the microsecond.
    pub duration: Duration,
    /// How long it waited in the queue before, to the microsecond.
    pub waited: Duration,
    /// CPU time used, to the microsecond.
    pub cpu: Duration,
    /// How it ended.
    pub status: Status,
    /// Why, if it did not end well.
    pub fault: Option<Fault>,
    /// First is 1.
    pub attempt: u32,
    /// The person who started it, if one did.
    pub by: Option<Arc<str>>,
    /// How much was recorded of it.
    pub detail: Detail,
    /// What its steps did; none at Minimal.
    pub trace: Option<Box<Trace>>,
}

/// What the steps of a run did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// What triggered it, for running it again.
    pub input: Option<Item>,
    /// What it gave, where it gave something: a webhook's answer, a call's value.
    pub output: Option<Item>,
    /// Its steps in the order in which they began.
    pub steps: Vec<StepRun>,
    /// What it logged.
    pub lines: Vec<Line>,
    /// Lines, steps and items that were left out for their number or length.
    pub left_out: u64,
    /// While it is put together: steps that wait, or have waited.
    pub waiting: Vec<(Arc<str>, Waits)>,
}

/// The waits of a step that are not over.
#[derive(Clone, Debug, PartialEq)]
pub struct Waits {
    /// What its executions that have ended came to.
    worst: StepStatus,
    /// When each began to wait, after the run's start.
    since: VecDeque<Duration>,
}

/// One step within a run.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRun {
    /// Its id.
    pub step: Arc<str>,
    /// How it ended; of several executions the worst.
    pub status: StepStatus,
    /// How often it was executed.
    pub count: u32,
    /// When it first began, after the run's start; to the microsecond.
    pub began: Duration,
    /// Time of all its executions, to the microsecond.
    pub took: Duration,
    /// Why it failed, the last time it did.
    pub fault: Option<Fault>,
    /// Input of the last execution, at Full.
    pub input: Option<Item>,
    /// Output of the last execution, at Full.
    pub output: Option<Item>,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepStatus {
    /// Well.
    Ok,
    /// It passed nothing on.
    Nothing,
    /// It was switched off.
    Disabled,
    /// It failed and the run went on.
    Passed,
    /// It failed.
    Failed,
    /// It was under way when the run ended.
    Unfinished,
}

impl StepStatus {
    /// All of them; a status' place is its number.
    pub const ALL: [Self; 6] =
        [Self::Ok, Self::Nothing, Self::Disabled, Self::Passed, Self::Failed, Self::Unfinished];

    /// As the API names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Nothing => "nothing",
            Self::Disabled => "disabled",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }
}

/// JSON text that may have been cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The text, or its beginning.
    pub text: Box<str>,
    /// Bytes of the whole.
    pub bytes: u64,
}

impl Item {
    /// The whole text, or as much as may be kept of it.
    #[must_use]
    pub fn new(text: impl Into<Box<str>>) -> Self {
        let mut text = text.into();
        let bytes = text.len() as u64;
        cut_box(&mut text, ITEM_BYTES_MAX);
        Self { text, bytes }
    }

    /// Whether the end is missing.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.bytes > self.text.len() as u64
    }
}

/// One line that a run logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// How serious.
    pub level: Level,
    /// The step that logged it.
    pub step: Arc<str>,
    /// What it says.
    pub text: Box<str>,
}

/// How serious a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For those who look for a fault.
    Debug,
    /// For the record.
    Info,
    /// Unexpected.
    Warn,
    /// Wrong.
    Error,
}

impl Level {
    /// All of them; a level's place is its number.
    pub const ALL: [Self; 4] = [Self::Debug, Self::Info, Self::Warn, Self::Error];

    /// As the API names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

impl Run {
    /// Whether it is kept longest: it did not end well, or a person started it.
    #[must_use]
    pub fn is_notable(&self) -> bool {
        self.by.is_some() || !matches!(self.status, Status::Ok | Status::Skipped)
    }

    /// Cuts what is over its limit.
    pub(crate) fn bound(&mut self) {
        cut(&mut self.name, NAME_BYTES_MAX);
        cut(&mut self.trigger, NAME_BYTES_MAX);
        if let Some(by) = &mut self.by {
            cut(by, NAME_BYTES_MAX);
        }
        bound_fault(&mut self.fault);
        if self.detail == Detail::Minimal {
            self.trace = None;
        }
        if let Some(trace) = &mut self.trace {
            trace.bound();
        }
    }

    /// About how much memory it takes.
    pub(crate) fn size_bytes(&self) -> usize {
        let fault = self.fault.as_ref().map_or(0, |fault| fault.text.len());
        size_of::<Self>() + fault + self.trace.as_ref().map_or(0, |trace| trace.size_bytes())
    }
}

impl Trace {
    /// Adds an execution, to those that its step had before: counts and times are added up, the
    /// worst status stays, and of inputs, outputs and faults the last. One that was `Unfinished`
    /// is told again when it is done: then it counts once, its wait is part of its time, and what
    /// the step had come to before the wait is not forgotten.
    pub fn add(&mut self, execution: StepRun) {
        let is_waiting = execution.status == StepStatus::Unfinished;
        let since = execution.began.saturating_add(execution.took);
        let known = self.steps.iter_mut().find(|step| step.step == execution.step);
        let Some(step) = known else {
            if is_waiting {
                let waits = Waits { worst: StepStatus::Ok, since: VecDeque::from([since]) };
                self.waiting.push((Arc::clone(&execution.step), waits));
            }
            self.steps.push(execution);
            return;
        };
        let place = self.waiting.iter().position(|(name, _)| *name == execution.step);
        let waits = match place.and_then(|place| self.waiting.get_mut(place)) {
            Some((_, waits)) => Some(waits),
            None if is_waiting => {
                let waits = Waits { worst: step.status, since: VecDeque::new() };
                self.waiting.push((Arc::clone(&execution.step), waits));
                self.waiting.last_mut().map(|(_, waits)| waits)
            }
            None => None,
        };
        let (mut count, mut took) = (execution.count, execution.took);
        step.status = match waits {
            Some(waits) if is_waiting => {
                waits.since.push_back(since);
                StepStatus::Unfinished
            }
            Some(waits) => {
                waits.worst = waits.worst.max(execution.status);
                if let Some(waited) = waits.since.pop_front() {
                    count = 0;
                    took = since.saturating_sub(waited);
                }
                if waits.since.is_empty() { waits.worst } else { StepStatus::Unfinished }
            }
            None => step.status.max(execution.status),
        };
        step.count = step.count.saturating_add(count);
        step.took = step.took.saturating_add(took);
        step.fault = execution.fault.or(step.fault.take());
        step.input = execution.input.or(step.input.take());
        step.output = execution.output.or(step.output.take());
    }

    fn bound(&mut self) {
        self.waiting = Vec::new();
        let left_out =
            self.steps.len().saturating_sub(STEPS_MAX) + self.lines.len().saturating_sub(LINES_MAX);
        self.left_out += left_out as u64;
        self.steps.truncate(STEPS_MAX);
        self.lines.truncate(LINES_MAX);
        let mut room = RUN_BYTES_MAX;
        let mut kept = 0;
        for line in &mut self.lines {
            cut_box(&mut line.text, LINE_BYTES_MAX);
            cut(&mut line.step, NAME_BYTES_MAX);
            let Some(rest) = room.checked_sub(line.text.len()) else { break };
            room = rest;
            kept += 1;
        }
        self.left_out += (self.lines.len() - kept) as u64;
        self.lines.truncate(kept);
        self.left_out += bound_item(&mut self.input, &mut room);
        self.left_out += bound_item(&mut self.output, &mut room);
        for step in &mut self.steps {
            cut(&mut step.step, NAME_BYTES_MAX);
            bound_fault(&mut step.fault);
            self.left_out += bound_item(&mut step.input, &mut room);
            self.left_out += bound_item(&mut step.output, &mut room);
        }
    }

    fn size_bytes(&self) -> usize {
        let item = |item: &Option<Item>| item.as_ref().map_or(0, |item| item.text.len());
        let steps: usize = self
            .steps
            .iter()
            .map(|step| {
                let fault = step.fault.as_ref().map_or(0, |fault| fault.text.len());
                size_of::<StepRun>() + fault + item(&step.input) + item(&step.output)
            })
            .sum();
        let lines: usize = self.lines.iter().map(|line| size_of::<Line>() + line.text.len()).sum();
        size_of::<Self>() + steps + lines + item(&self.input) + item(&self.output)
    }
}

fn bound_fault(fault: &mut Option<Fault>) {
    if let Some(fault) = fault {
        cut(&mut fault.code, NAME_BYTES_MAX);
        cut(&mut fault.text, FAULT_BYTES_MAX);
        cut(&mut fault.step, NAME_BYTES_MAX);
    }
}

/// Cuts an item to its limit and to the run's room; 1 if nothing of it could be kept.
fn bound_item(item: &mut Option<Item>, room: &mut usize) -> u64 {
    let Some(held) = item else { return 0 };
    if *room == 0 && !held.text.is_empty() {
        *item = None;
        return 1;
    }
    cut_box(&mut held.text, ITEM_BYTES_MAX.min(*room));
    *room -= held.text.len();
    0
}

fn cut(text: &mut Arc<str>, bytes_max: usize) {
    if text.len() > bytes_max {
        *text = Arc::from(beginning(text, bytes_max));
    }
}

fn cut_box(text: &mut Box<str>, bytes_max: usize) {
    if text.len() > bytes_max {
        *text = Box::from(beginning(text, bytes_max));
    }
}

fn beginning(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default()
}
