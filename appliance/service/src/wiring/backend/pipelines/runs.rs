//! Runs as the API tells them: those that have not ended, as the engine has them, then those that
//! have, from the history of runs.
//!
//! **Invariants**: a page of runs that have not ended is one moment of the engine's; a run that
//! ends between two pages may be on both or, if the history does not keep it, on none.

use super::super::access::actor;
use super::{Answers, failed};
use crate::wiring::pipelines::sink;
use millrace_api::Fault;
use millrace_api::backend::{Actor, BoxFuture, PipelinePlace, RunId, RunPage, RunQuery};
use millrace_contract::v1;
use millrace_engine::{Canceled, OpenRun, OpenState, OpenWait, WaitFor};
use millrace_model::Timestamp;
use millrace_runs as runs;
use std::sync::Arc;
use std::time::Duration;

/// Marks the places of pages that ended among the runs that have not ended: their seq follows.
/// Numbers of the history are far below it.
const OPEN: u64 = 1 << 63;

impl Answers {
    /// A page: first the runs that have not ended, newest first, then those of the history.
    pub(super) fn run_page(&self, query: &RunQuery) -> Result<RunPage, Fault> {
        let pipeline = self.known(&query.place)?;
        let is_any = query.statuses.is_empty();
        let ended: Vec<runs::Status> =
            query.statuses.iter().filter_map(|status| ended(*status)).collect();
        let open: Vec<OpenState> = match is_any {
            true => ALL_OPEN.to_vec(),
            false => query.statuses.iter().filter_map(|status| open_state(*status)).collect(),
        };
        let mut page = RunPage { runs: Vec::new(), next: None };
        // Behind a number of the history all that has not ended was on a page before.
        let before = query.before.map(|place| (place & OPEN != 0, place & !OPEN));
        if !open.is_empty() && before.is_none_or(|(is_open, _)| is_open) {
            let before = before.map(|(_, seq)| seq);
            let found = self.open_page(pipeline.number(), &open, before, query);
            page.runs = found.iter().take(query.limit).map(open_run).collect();
            if found.len() >= query.limit {
                let last = found.iter().take(query.limit).next_back();
                let is_more = found.len() > query.limit || is_any || !ended.is_empty();
                page.next = last.filter(|_| is_more).map(|run| OPEN | run.report.id.seq);
                return Ok(page);
            }
        }
        if ended.is_empty() && !is_any {
            return Ok(page);
        }
        let wanted = runs::Query {
            workspace: Some(query.place.workspace.number.0),
            pipeline: Some(pipeline.number()),
            statuses: ended,
            trigger: None,
            from: query.from,
            to: query.to,
            before: query.before.filter(|place| place & OPEN == 0),
            limit: query.limit - page.runs.len(),
        };
        let kept = self.0.run_history.list(&wanted).map_err(|error| unreadable(&error))?;
        page.runs.extend(kept.runs.iter().map(|kept| run(&kept.run)));
        page.next = kept.next;
        Ok(page)
    }

    /// Runs that have not ended within the asked time, one more than a page if there are so many.
    fn open_page(
        &self,
        pipeline: u32,
        states: &[OpenState],
        before: Option<u64>,
        query: &RunQuery,
    ) -> Vec<OpenRun> {
        let is_in_time = |run: &OpenRun| {
            let began = began(run);
            query.from.is_none_or(|from| began >= from) && query.to.is_none_or(|to| began < to)
        };
        let (mut found, mut before) = (Vec::new(), before);
        while found.len() <= query.limit {
            let page = self.0.engine.open_runs(pipeline, states, before, OPEN_PAGE);
            before = page.last().map(|run| run.report.id.seq);
            let is_last = page.len() < OPEN_PAGE;
            found.extend(page.into_iter().filter(is_in_time));
            if is_last {
                break;
            }
        }
        found
    }

    pub(super) fn run_detail(
        &self,
        place: &PipelinePlace,
        id: RunId,
    ) -> Result<v1::RunDetail, Fault> {
        let pipeline = self.known(place)?;
        let unknown = || {
            Fault::NotFound(format!(
                "there is no run {id} of '{}', or it is not kept: of the runs that end well at \
                 most one a second is",
                place.name
            ))
        };
        if pipeline.number() != id.pipeline {
            return Err(unknown());
        }
        if let Some(open) = self.0.engine.open_run(engine_id(id)) {
            return Ok(open_detail(open));
        }
        let found = self.0.run_history.find(id.pipeline, id.seq);
        let kept = found.map_err(|error| unreadable(&error))?.ok_or_else(unknown)?;
        Ok(detail(&kept.run))
    }

    pub(super) fn cancel_open(
        &self,
        place: &PipelinePlace,
        id: RunId,
        by: &Actor,
    ) -> BoxFuture<Result<v1::CanceledRun, Fault>> {
        let number = match self.known(place) {
            Ok(pipeline) => pipeline.number(),
            Err(fault) => return failed(fault),
        };
        let canceled = match number == id.pipeline {
            true => self.0.engine.cancel(engine_id(id), &format!("canceled by {}", by.who)),
            false => Ok(None),
        };
        let canceled = match canceled {
            Ok(canceled) => canceled,
            Err(error) => return failed(Fault::Unavailable(error.to_string())),
        };
        let Some(Canceled { was, ended }) = canceled else {
            let (place, this) = (place.clone(), Self(Arc::clone(&self.0)));
            return Box::pin(async move {
                // Reading the history may wait for the disk.
                let found = tokio::task::spawn_blocking(move || this.run_detail(&place, id)).await;
                let found = found.map_err(|error| Fault::Internal(error.to_string()))?;
                let status = found?.run.status.name();
                Err(Fault::Conflict(format!("the run {id} has ended: {status}")))
            });
        };
        let canceled = v1::CanceledRun { id: id.to_string(), was: status(was) };
        let what = format!("{}/{} {id}", place.workspace.name, place.name);
        let audit = self.0.access.audit(&actor(by), "run.cancel", &what);
        // Behind the engine's record in the journal, so that is durable with it.
        let durable = self.durable(vec![audit], canceled);
        let history = Arc::clone(&self.0.run_history);
        Box::pin(async move {
            let canceled = durable.await?;
            let Some(ended) = ended else { return Ok(canceled) };
            // It ends within a moment, unless its script is at work on huge operands. What has not
            // ended ends as canceled after a kill, and has its entry then.
            if tokio::time::timeout(END_LIMIT, ended.ended()).await.is_ok() {
                let settling = move || history.settle(ENTRY_LIMIT);
                let is_settled = tokio::task::spawn_blocking(settling).await;
                if !is_settled.map_err(|error| Fault::Internal(error.to_string()))? {
                    tracing::warn!(run = %id, "The entry of a canceled run is not written yet.");
                }
            }
            Ok(canceled)
        })
    }
}

/// How long whoever cancels a run waits for its end, ...
const END_LIMIT: Duration = Duration::from_secs(5);
/// ... and then for its entry in the history to be written.
const ENTRY_LIMIT: Duration = Duration::from_secs(5);
const ALL_OPEN: [OpenState; 3] = [OpenState::Queued, OpenState::Running, OpenState::Waiting];
/// Runs that the engine is asked for at once.
const OPEN_PAGE: usize = 1_001;

fn engine_id(id: RunId) -> millrace_engine::RunId {
    millrace_engine::RunId { pipeline: id.pipeline, seq: id.seq }
}

fn open_state(status: v1::RunStatus) -> Option<OpenState> {
    match status {
        v1::RunStatus::Queued => Some(OpenState::Queued),
        v1::RunStatus::Running => Some(OpenState::Running),
        v1::RunStatus::Waiting => Some(OpenState::Waiting),
        _ => None,
    }
}

fn status(state: OpenState) -> v1::RunStatus {
    match state {
        OpenState::Queued => v1::RunStatus::Queued,
        OpenState::Running => v1::RunStatus::Running,
        OpenState::Waiting => v1::RunStatus::Waiting,
    }
}

/// When a run began, or was queued if it has not.
fn began(run: &OpenRun) -> Timestamp {
    match run.state {
        OpenState::Queued => run.report.asked,
        _ => run.report.begun,
    }
}

fn open_run(open: &OpenRun) -> v1::Run {
    let began = began(open);
    let kept = run(&sink::run(millrace_engine::RunReport {
        steps: Vec::new(),
        log: Vec::new(),
        ..open.report.clone()
    }));
    v1::Run {
        status: status(open.state),
        started: began.to_rfc3339(),
        took_us: match open.state {
            OpenState::Queued => 0,
            _ => kept.took_us,
        },
        waiting: open.waits.first().map(wait),
        ..kept
    }
}

fn open_detail(open: OpenRun) -> v1::RunDetail {
    let head = open_run(&open);
    let waits = open.waits.iter().map(wait).collect();
    v1::RunDetail { run: head, waits, ..detail(&sink::run(open.report)) }
}

fn wait(wait: &OpenWait) -> v1::RunWait {
    v1::RunWait {
        step: wait.step.to_string(),
        what: match wait.what {
            WaitFor::Answer => v1::RunWaitFor::Answer,
            WaitFor::Time => v1::RunWaitFor::Time,
            WaitFor::Retry => v1::RunWaitFor::Retry,
            WaitFor::Items => v1::RunWaitFor::Items,
            WaitFor::Branch => v1::RunWaitFor::Branch,
            WaitFor::Call => v1::RunWaitFor::Call,
            WaitFor::Inputs => v1::RunWaitFor::Inputs,
        },
        since: wait.since.to_rfc3339(),
        until: wait.until.map(|time| time.to_rfc3339()),
    }
}

fn unreadable(error: &runs::QueryError) -> Fault {
    Fault::Unavailable(format!("the history of runs cannot be read now: {error}"))
}

fn ended(status: v1::RunStatus) -> Option<runs::Status> {
    runs::Status::from_name(status.name())
}

/// A run without its steps.
pub(super) fn run(of: &runs::Run) -> v1::Run {
    v1::Run {
        id: RunId { pipeline: of.pipeline, seq: of.seq }.to_string(),
        pipeline: of.name.to_string(),
        revision: of.revision,
        trigger: of.trigger.to_string(),
        status: v1::RunStatus::from_name(of.status.name()).unwrap_or(v1::RunStatus::Failed),
        started: of.started.to_rfc3339(),
        took_us: micros(of.duration),
        waited_us: micros(of.waited),
        cpu_us: micros(of.cpu),
        attempt: of.attempt,
        by: of.by.as_ref().map(ToString::to_string),
        fault: of.fault.as_ref().map(fault),
        waiting: None,
    }
}

/// A run with all that is kept.
pub(super) fn detail(of: &runs::Run) -> v1::RunDetail {
    let trace = of.trace.as_deref();
    let steps = trace.into_iter().flat_map(|trace| &trace.steps).map(|step| v1::RunStep {
        step: step.step.to_string(),
        status: v1::StepStatus::from_name(step.status.name()).unwrap_or(v1::StepStatus::Failed),
        count: step.count,
        began_us: micros(step.began),
        took_us: micros(step.took),
        fault: step.fault.as_ref().map(fault),
        input: step.input.as_ref().map(item),
        output: step.output.as_ref().map(item),
    });
    let lines = trace.into_iter().flat_map(|trace| &trace.lines).map(|line| v1::RunLine {
        level: line.level.name().to_owned(),
        step: line.step.to_string(),
        text: line.text.to_string(),
    });
    v1::RunDetail {
        run: run(of),
        input: trace.and_then(|trace| trace.input.as_ref()).map(item),
        output: trace.and_then(|trace| trace.output.as_ref()).map(item),
        steps: steps.collect(),
        lines: lines.collect(),
        left_out: trace.map_or(0, |trace| trace.left_out),
        waits: Vec::new(),
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

fn fault(of: &runs::Fault) -> v1::RunFault {
    let step = Some(of.step.to_string()).filter(|step| !step.is_empty());
    v1::RunFault { code: of.code.to_string(), message: of.text.to_string(), step }
}

fn item(of: &runs::Item) -> v1::Item {
    v1::Item::new(&of.text, of.bytes)
}
