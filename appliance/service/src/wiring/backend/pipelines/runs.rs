//! Runs as the API tells them: those that have ended, from the history of runs.

use super::Answers;
use millrace_api::Fault;
use millrace_api::backend::{PipelinePlace, RunId, RunPage, RunQuery};
use millrace_contract::v1;
use millrace_runs as runs;

impl Answers {
    pub(super) fn run_page(&self, query: &RunQuery) -> Result<RunPage, Fault> {
        let pipeline = self.known(&query.place)?;
        let statuses: Vec<runs::Status> =
            query.statuses.iter().filter_map(|status| ended(*status)).collect();
        if statuses.is_empty() && !query.statuses.is_empty() {
            let text = "runs that have not ended are not listed in this version; the pipeline \
                        itself tells how many wait and run";
            return Err(Fault::NotSupported(text.to_owned()));
        }
        let wanted = runs::Query {
            workspace: Some(query.place.workspace.number.0),
            pipeline: Some(pipeline.number()),
            statuses,
            trigger: None,
            from: query.from,
            to: query.to,
            before: query.before,
            limit: query.limit,
        };
        let page = self.0.run_history.list(&wanted).map_err(|error| unreadable(&error))?;
        Ok(RunPage { runs: page.runs.iter().map(|kept| run(&kept.run)).collect(), next: page.next })
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
        let found = self.0.run_history.find(id.pipeline, id.seq);
        let kept = found.map_err(|error| unreadable(&error))?.ok_or_else(unknown)?;
        Ok(detail(&kept.run))
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
    }
}

fn micros(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

fn fault(of: &runs::Fault) -> v1::RunFault {
    let step = Some(of.step.to_string()).filter(|step| !step.is_empty());
    v1::RunFault { code: of.code.to_string(), message: of.text.to_string(), step }
}

fn item(of: &runs::Item) -> v1::Item {
    v1::Item::new(&of.text, of.bytes)
}
