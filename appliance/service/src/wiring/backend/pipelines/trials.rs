//! Trying documents: test cases, rehearsals over recorded history, single steps.
//!
//! All of it runs on blocking threads, beside the engine's workers, and changes nothing.
//!
//! **Invariants**: a rehearsal reads history page by page and ends when nobody waits for it; what
//! it keeps is bounded.

use super::Answers;
use crate::wiring::pipelines::search;
use crate::wiring::state::Shared;
use millrace_api::Fault;
use millrace_api::backend as api;
use millrace_api::backend::{OnProgress, PipelinePlace, RehearsalProgress, StepInput, Which};
use millrace_contract::v1;
use millrace_engine::{
    CaseReport, CompileFault, Deployed, Difference, Fed, Keep, LogLine, Output, OutputForm,
    Rehearsal, RunFault, StepTrial, differences, quality_data,
};
use millrace_flow::{Data, Document, kind};
use millrace_historian::{After, RawQuery, Sample};
use millrace_model::{Timestamp, WorkspaceNumber};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Most values that one rehearsal feeds.
const VALUES_MAX: usize = 1_000_000;
/// Most tags that one rehearsal reads.
const TAGS_MAX: usize = 10_000;
/// So much of the rehearsal's clock goes by between two looks whether somebody still waits.
const SLICE_NANOS: i64 = 3_600_000_000_000;
/// Samples read at once of each tag.
const PAGE: usize = 500;
/// Values between two words of progress.
const PROGRESS_EVERY: u64 = 1_000;
/// Failed runs that are told.
const FAULTS_SHOWN: usize = 20;

impl Answers {
    fn draft(&self, place: &PipelinePlace, document: &Arc<Document>) -> Deployed {
        Deployed {
            number: self.known(place).map_or(0, |pipeline| pipeline.number()),
            workspace: place.workspace.number.0,
            name: place.name.clone(),
            revision: 0,
            since: 0,
            document: Arc::clone(document),
        }
    }

    pub(super) fn run_cases(
        &self,
        trial: &api::Trial,
    ) -> api::BoxFuture<Result<Vec<v1::CaseReport>, Fault>> {
        let draft = self.draft(&trial.place, &trial.document);
        let engine = self.0.engine.clone();
        blocking(move || {
            let cases = draft.document.cases.iter();
            cases
                .map(|case| {
                    let report =
                        engine.run_case(&draft, case).map_err(|faults| refused(&faults))?;
                    Ok(case_report(&report))
                })
                .collect()
        })
    }

    pub(super) fn feed_history(
        &self,
        rehearsal: api::Rehearsal,
        progress: OnProgress,
    ) -> api::BoxFuture<Result<v1::RehearsalReport, Fault>> {
        let draft = self.draft(&rehearsal.place, &rehearsal.document);
        let deployed = self.revision_of(&rehearsal.place, Which::Deployed).ok();
        let shared = Arc::clone(&self.0);
        let wanted = Arc::new(AtomicBool::new(true));
        let is_wanted = Arc::clone(&wanted);
        let work = blocking(move || {
            let compared = deployed.as_ref().and_then(|revision| {
                Some((revision.revision, crate::wiring::pipelines::deployed(revision, 0).ok()?))
            });
            rehearse(&shared, &rehearsal, &draft, compared, &progress, &is_wanted)
        });
        let guard = Unwanted(wanted);
        Box::pin(async move {
            let _ends_it = guard;
            work.await
        })
    }

    pub(super) fn try_one_step(
        &self,
        trial: api::StepTrial,
    ) -> api::BoxFuture<Result<v1::StepTestReport, Fault>> {
        let draft = self.draft(&trial.place, &trial.document);
        let shared = Arc::clone(&self.0);
        blocking(move || try_step(&shared, &trial, &draft))
    }
}

/// A case's report as it is told outside.
pub(crate) fn case_report(report: &CaseReport) -> v1::CaseReport {
    v1::CaseReport {
        name: report.name.clone(),
        passed: report.has_passed(),
        problems: report.complaints.clone(),
        effects: report.outputs.iter().filter_map(|output| effect(output, None)).collect(),
        faults: Vec::new(),
    }
}

/// Says that nobody waits any more.
struct Unwanted(Arc<AtomicBool>);

impl Drop for Unwanted {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> api::BoxFuture<Result<T, Fault>> {
    let task = tokio::task::spawn_blocking(work);
    Box::pin(async move {
        task.await.map_err(|error| Fault::Internal(format!("the trial failed: {error}")))?
    })
}

fn refused(faults: &[CompileFault]) -> Fault {
    Fault::Document(faults.iter().map(super::deploy::document_fault).collect())
}

/// What came of one side of a rehearsal.
struct Side {
    outputs: Vec<Output>,
    left_out: u64,
    rehearsal: Rehearsal,
}

/// Feeds all values, and lets the time pass; how many there were.
fn feed(
    (history, wanted): (&mut History<'_>, &api::Rehearsal),
    (rehearsed, mut deployed): (&mut Rehearsal, Option<&mut Rehearsal>),
    progress: &OnProgress,
    is_wanted: &AtomicBool,
) -> Result<u64, Fault> {
    let mut values = 0;
    let goes_on = || match is_wanted.load(Ordering::Relaxed) {
        true => Ok(()),
        false => Err(Fault::Unavailable("nobody waits for the rehearsal".to_owned())),
    };
    let mut at = wanted.from;
    while let Some((path, sample)) = history.next()? {
        goes_on()?;
        pass_time(&mut at, sample.source_time, |time| {
            rehearsed.advance_to(time);
            deployed.iter_mut().for_each(|deployed| deployed.advance_to(time));
            goes_on()
        })?;
        let fed = Fed {
            value: sample.value,
            time: sample.source_time,
            // As if the box had been there at that time.
            received: sample.source_time,
            quality: sample.quality,
        };
        rehearsed.feed(&path, &fed);
        if let Some(deployed) = &mut deployed {
            deployed.feed(&path, &fed);
        }
        values += 1;
        if values % PROGRESS_EVERY == 0 {
            progress(RehearsalProgress { values, at: fed.time });
        }
    }
    pass_time(&mut at, wanted.to, |time| {
        rehearsed.advance_to(time);
        deployed.iter_mut().for_each(|deployed| deployed.advance_to(time));
        progress(RehearsalProgress { values, at: time });
        goes_on()
    })?;
    Ok(values)
}

fn rehearse(
    shared: &Shared,
    wanted: &api::Rehearsal,
    draft: &Deployed,
    compared: Option<(u32, Deployed)>,
    progress: &OnProgress,
    is_wanted: &AtomicBool,
) -> Result<v1::RehearsalReport, Fault> {
    let begin = |draft: &Deployed| {
        let keep = Keep::Failed(FAULTS_SHOWN);
        let mut rehearsal = shared.engine.rehearse(draft, wanted.from, true, keep)?;
        rehearsal.keep_time(wanted.to);
        Ok::<_, Vec<CompileFault>>(rehearsal)
    };
    let mut rehearsed = begin(draft).map_err(|faults| refused(&faults))?;
    // What is deployed compiled once; if it does not any more, there is nothing to compare with.
    let mut deployed = compared.as_ref().and_then(|(_, deployed)| begin(deployed).ok());
    let mut filters = rehearsed.filters();
    filters.extend(deployed.iter().flat_map(Rehearsal::filters));
    filters.sort_unstable();
    filters.dedup();
    let mut history = History::new(shared, draft.workspace, &filters, wanted);
    let values =
        feed((&mut history, wanted), (&mut rehearsed, deployed.as_mut()), progress, is_wanted)?;
    let rehearsed = ended(rehearsed);
    let deployed = deployed.map(ended);
    let time_of = |run: usize| rehearsed.rehearsal.time_of(run);
    let (by_clock, is_cut) = rehearsed.rehearsal.clock_runs();
    let left_out = rehearsed.rehearsal.triggers_left_out();
    let shown = rehearsed.outputs.iter().filter(|output| effect_kind(&output.form).is_some());
    let effects_total = shown.clone().count() as u64 + rehearsed.left_out;
    let effects = shown.take(wanted.shown_max);
    let effects = effects.filter_map(|output| effect(output, time_of(output.run))).collect();
    let (found, count) = match &deployed {
        Some(before) => differences(&before.outputs, &rehearsed.outputs, wanted.shown_max),
        None => (Vec::new(), 0),
    };
    let differences: Vec<v1::Difference> =
        found.iter().flat_map(|found| outward(found, time_of(found.run))).collect();
    let compared_with = compared.filter(|_| deployed.is_some()).map(|(revision, _)| revision);
    Ok(v1::RehearsalReport {
        from: wanted.from.to_rfc3339(),
        to: wanted.to.to_rfc3339(),
        values,
        runs: rehearsed.rehearsal.done + rehearsed.rehearsal.failed,
        by_clock,
        failed: rehearsed.rehearsal.failed,
        faults: rehearsed
            .rehearsal
            .runs
            .iter()
            .filter_map(|run| run.fault.as_ref())
            .map(fault)
            .collect(),
        effects,
        effects_total,
        compared_with,
        // Those not shown count by trigger.
        differences_total: (differences.len() + count - found.len()) as u64,
        differences,
        incomplete: history.is_incomplete || rehearsed.left_out > 0 || is_cut,
        triggers_left_out: left_out.iter().map(ToString::to_string).collect(),
        todays_values: rehearsed.rehearsal.todays_values(),
    })
}

/// Lets the rehearsal's clock come to a time, in slices, so that a long way without values can be
/// given up.
fn pass_time(
    at: &mut Timestamp,
    until: Timestamp,
    mut pass: impl FnMut(Timestamp) -> Result<(), Fault>,
) -> Result<(), Fault> {
    while *at < until {
        *at = at.plus_nanos(SLICE_NANOS).min(until);
        pass(*at)?;
    }
    Ok(())
}

fn ended(mut rehearsal: Rehearsal) -> Side {
    rehearsal.finish();
    let (outputs, left_out) = rehearsal.take_outputs();
    Side { outputs, left_out, rehearsal }
}

/// Recorded values of many tags in the order of their source times.
struct History<'a> {
    shared: &'a Shared,
    to: Timestamp,
    tags: Vec<Source>,
    given: usize,
    is_incomplete: bool,
}

/// One tag's page.
struct Source {
    path: String,
    tag: millrace_model::TagId,
    page: VecDeque<Sample>,
    from: Timestamp,
    after: Option<After>,
    is_over: bool,
}

impl<'a> History<'a> {
    fn new(
        shared: &'a Shared,
        workspace: u16,
        filters: &[String],
        wanted: &api::Rehearsal,
    ) -> Self {
        let mut tags: Vec<Source> = Vec::new();
        for filter in filters {
            let number = WorkspaceNumber(workspace);
            // One more than are read, so that it is seen that there are more.
            for tag in search(&shared.namespace, number, filter, TAGS_MAX + 1) {
                if tags.iter().all(|known| known.tag != tag.id) {
                    tags.push(Source {
                        path: tag.path.clone(),
                        tag: tag.id,
                        page: VecDeque::new(),
                        from: wanted.from,
                        after: None,
                        is_over: false,
                    });
                }
            }
        }
        let is_incomplete = tags.len() > TAGS_MAX;
        tags.truncate(TAGS_MAX);
        Self { shared, to: wanted.to, tags, given: 0, is_incomplete }
    }

    /// The next value; none at the end.
    fn next(&mut self) -> Result<Option<(String, Sample)>, Fault> {
        if self.given >= VALUES_MAX {
            self.is_incomplete = true;
            return Ok(None);
        }
        for source in &mut self.tags {
            if source.page.is_empty() && !source.is_over {
                self.is_incomplete |= source.read(self.shared, self.to)?;
            }
        }
        let first = self
            .tags
            .iter_mut()
            .filter(|source| !source.page.is_empty())
            .min_by_key(|source| source.page.front().map(|sample| sample.source_time));
        let Some(source) = first else { return Ok(None) };
        let Some(sample) = source.page.pop_front() else { return Ok(None) };
        self.given += 1;
        Ok(Some((source.path.clone(), sample)))
    }
}

impl Source {
    /// Reads the next page; whether something of it was missing.
    fn read(&mut self, shared: &Shared, to: Timestamp) -> Result<bool, Fault> {
        let query = RawQuery { tag: self.tag, from: self.from, to, limit: PAGE, after: self.after };
        let page = shared.historian.raw(&query);
        let page = page.map_err(|error| Fault::Internal(format!("history: {error}")))?;
        self.after = page.next;
        self.is_over = page.next.is_none();
        self.page.extend(page.samples);
        Ok(page.incomplete)
    }
}

fn try_step(
    shared: &Shared,
    trial: &api::StepTrial,
    draft: &Deployed,
) -> Result<v1::StepTestReport, Fault> {
    let engine = &shared.engine;
    let mut trigger = Data::Missing;
    let input = match &trial.input {
        StepInput::Given(value) => Data::from(value),
        StepInput::Live(path) => {
            let datum = live(shared, &trial.place, path)?;
            trigger = datum.clone();
            datum
        }
        StepInput::Upstream { trigger: step, datum } => {
            trigger = Data::from(datum);
            let asked = (step.as_str(), trigger.clone());
            let found = engine.upstream_input(draft, &trial.step, asked);
            found.map_err(|faults| refused(&faults))?.ok_or_else(|| {
                Fault::Conflict(format!("nothing comes from {step} to {}", trial.step))
            })?
        }
    };
    let pinned: Vec<(String, Data)> =
        trial.pinned.iter().map(|(step, value)| (step.clone(), Data::from(value))).collect();
    let (began, cpu) = (Instant::now(), crate::wiring::pipelines::thread_cpu());
    let done = engine.try_step(draft, (&trial.step, input), trigger, &pinned);
    let took = began.elapsed();
    let cpu = crate::wiring::pipelines::thread_cpu().saturating_sub(cpu);
    let unknown = || Fault::NotFound(format!("there is no step {}", trial.step));
    let done = done.map_err(|faults| refused(&faults))?.ok_or_else(unknown)?;
    let ports = draft.document.steps.get(&trial.step).and_then(|step| kind::find(&step.kind));
    let ports = ports.map_or(&[][..], |kind| kind.ports);
    Ok(step_report(&done, ports, (took, cpu)))
}

fn step_report(
    done: &StepTrial,
    ports: &[&'static str],
    (took, cpu): (Duration, Duration),
) -> v1::StepTestReport {
    let micros = |span: Duration| u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
    let port = |number: u8| match ports.get(usize::from(number)) {
        Some(name) => (*name).to_owned(),
        None => number.to_string(),
    };
    v1::StepTestReport {
        input: item(&done.input),
        outputs: done
            .given
            .iter()
            .map(|(number, data)| v1::PortOutput { port: port(*number), value: item(data) })
            .collect(),
        fault: done.fault.as_ref().map(|fault| v1::RunFault {
            code: fault.code.to_owned(),
            message: fault.message.clone(),
            step: None,
        }),
        effects: done.outputs.iter().filter_map(|output| effect(output, None)).collect(),
        lines: done.log.iter().map(line).collect(),
        took_us: micros(took),
        cpu_us: micros(cpu),
    }
}

/// The last known value of a tag, as a value trigger gives it.
fn live(shared: &Shared, place: &PipelinePlace, path: &str) -> Result<Data, Fault> {
    let tag = shared.namespace.find(place.workspace.number, path);
    let tag = tag.ok_or_else(|| Fault::NotFound(format!("there is no topic {path}")))?;
    let sample = shared.historian.last(tag.id);
    let sample = sample
        .ok_or_else(|| Fault::Conflict(format!("{path} has no value in memory or history")))?;
    let mut map = millrace_flow::Map::with_capacity(8);
    map.set("path", Data::text(path));
    map.set("topic", Data::text(&shared.live_topic(tag.id)));
    map.set("value", Data::from_value(sample.value.as_ref()));
    map.set("time", Data::text(&sample.source_time.to_rfc3339()));
    map.set("time_ms", Data::Int(sample.source_time.0.div_euclid(1_000_000)));
    map.set("received", Data::text(&sample.receive_time.to_rfc3339()));
    map.set("quality", quality_data(sample.quality));
    // Who sent it is not kept with a value.
    map.set("client", Data::Null);
    Ok(Data::Map(Arc::new(map)))
}

fn effect_kind(form: &OutputForm) -> Option<v1::EffectKind> {
    Some(match form {
        OutputForm::Publish(_) => v1::EffectKind::Publish,
        OutputForm::Call { .. } => v1::EffectKind::Call,
        OutputForm::Variable { .. } => v1::EffectKind::Variable,
        OutputForm::Issue { .. } => v1::EffectKind::Issue,
        OutputForm::Log { .. } => return None,
    })
}

/// To what an output goes, and with what.
fn content(output: &Output) -> (String, v1::Item) {
    match &output.form {
        OutputForm::Publish(publish) => (publish.path.clone(), item(&publish.value)),
        OutputForm::Call { fields } => (output.step.to_string(), item(fields)),
        OutputForm::Variable { name, value } => (name.clone(), item(value)),
        OutputForm::Issue { key, is_raised } => (key.clone(), item(&Data::Bool(*is_raised))),
        OutputForm::Log { line, .. } => (output.step.to_string(), item(&Data::text(line))),
    }
}

fn effect(output: &Output, time: Option<Timestamp>) -> Option<v1::Effect> {
    let kind = effect_kind(&output.form)?;
    let (target, value) = content(output);
    Some(v1::Effect {
        kind,
        step: Some(output.step.to_string()),
        target,
        value: Some(value),
        time: time.map(|time| time.to_rfc3339()),
    })
}

/// A difference: what the one does beside what the other does to the same target.
fn outward(found: &Difference, time: Option<Timestamp>) -> Vec<v1::Difference> {
    let time = time.map(|time| time.to_rfc3339());
    let mut added: Vec<&Output> = found.added.iter().collect();
    let mut rows = Vec::new();
    let row = |one: &Output, deployed: Option<v1::Item>, rehearsed: Option<v1::Item>| {
        Some(v1::Difference {
            kind: effect_kind(&one.form)?,
            target: content(one).0,
            time: time.clone(),
            deployed,
            rehearsed,
        })
    };
    for before in &found.removed {
        let key = (effect_kind(&before.form), content(before).0);
        let pair = added
            .iter()
            .position(|after| (effect_kind(&after.form), content(after).0) == key)
            .map(|place| added.remove(place));
        let after = pair.map(|after| content(after).1);
        rows.extend(row(before, Some(content(before).1), after));
    }
    for after in added {
        rows.extend(row(after, None, Some(content(after).1)));
    }
    rows
}

fn item(data: &Data) -> v1::Item {
    let kept = millrace_runs::Item::new(data.to_json_text());
    v1::Item::new(&kept.text, kept.bytes)
}

fn fault(fault: &RunFault) -> v1::RunFault {
    v1::RunFault {
        code: fault.code.to_owned(),
        message: fault.message.clone(),
        step: Some(fault.step.to_string()),
    }
}

fn line(line: &LogLine) -> v1::RunLine {
    v1::RunLine {
        level: format!("{:?}", line.level).to_lowercase(),
        step: line.step.to_string(),
        text: line.text.clone(),
    }
}
