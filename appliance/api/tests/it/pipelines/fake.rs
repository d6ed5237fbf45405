//! Pipelines in memory: what the API asks of the appliance, as simply as it can be answered.

use crate::backend::{Fake, NOW, done, now};
use millrace_api::Fault;
use millrace_api::backend::*;
use millrace_contract::v1;
use millrace_flow::Document;
use millrace_model::WorkspaceNumber;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Stored pipelines, secrets and variables of the only workspace that has any.
#[derive(Default)]
pub(crate) struct Pipelines {
    stored: Mutex<BTreeMap<String, Vec<DocumentText>>>,
    deployed: Mutex<BTreeMap<String, v1::Deployment>>,
    pub(crate) secrets: Mutex<BTreeMap<String, String>>,
    variables: Mutex<BTreeMap<String, Value>>,
    pub(crate) queries: Mutex<Vec<RunQuery>>,
    pub(crate) manual: Mutex<Vec<ManualRun>>,
    pub(crate) trials: Mutex<Vec<StepTrial>>,
    pub(crate) calls: Mutex<Vec<HookCall>>,
    /// Set when a rehearsal was dropped before its end.
    pub(crate) abandoned: Arc<AtomicBool>,
}

/// What the webhook's run comes to, by the last level of its path.
const HOOK_SECRET: &str = "hunter2";

fn page<T>(items: impl Iterator<Item = T>, limit: usize) -> PageOf<T> {
    let mut items = items.peekable();
    let taken = items.by_ref().take(limit).collect();
    PageOf { items: taken, more: items.peek().is_some() }
}

fn run(id: u64, status: v1::RunStatus) -> v1::Run {
    v1::Run {
        id: format!("1-{id}"),
        pipeline: "scale".to_owned(),
        revision: 1,
        trigger: "in".to_owned(),
        status,
        started: NOW.to_owned(),
        took_us: 40,
        waited_us: 3,
        cpu_us: 38,
        attempt: 1,
        by: None,
        fault: None,
        waiting: None,
    }
}

fn detail(id: u64) -> v1::RunDetail {
    let item = v1::Item::new(r#"{"value":18446744073709551615}"#, 30);
    v1::RunDetail {
        run: run(id, v1::RunStatus::Ok),
        input: Some(item.clone()),
        output: None,
        steps: vec![v1::RunStep {
            step: "in".to_owned(),
            status: v1::StepStatus::Ok,
            count: 1,
            began_us: 0,
            took_us: 1,
            fault: None,
            input: None,
            output: Some(item),
        }],
        lines: Vec::new(),
        left_out: 0,
        waits: Vec::new(),
    }
}

fn started(id: u64, ended: bool) -> v1::StartedRun {
    v1::StartedRun { id: format!("1-{id}"), ended: ended.then(|| detail(id)) }
}

impl Fake {
    fn act_on_pipelines(&self, by: Actor) {
        self.actors.lock().push(by);
    }

    fn running(&self, name: &str, revision: Option<u32>) -> v1::Running {
        let mut deployed = self.pipelines.deployed.lock();
        let deployment = v1::Deployment {
            revision,
            previous: deployed.get(name).and_then(|before| before.revision),
            at: NOW.to_owned(),
            by: "user:emil".to_owned(),
            note: String::new(),
        };
        deployed.insert(name.to_owned(), deployment.clone());
        let trigger = v1::RunningTrigger {
            step: "in".to_owned(),
            kind: "uns.subscribe".to_owned(),
            detail: "press-4/#".to_owned(),
            tags: Some(2),
            next: None,
        };
        let triggers = revision.map(|_| trigger).into_iter().collect();
        v1::Running { name: name.to_owned(), deployment, triggers }
    }
}

fn no_pipeline() -> Fault {
    Fault::NotFound("There is no such pipeline.".to_owned())
}

impl PipelineBackend for Fake {
    fn pipelines(
        &self,
        workspace: &InWorkspace,
        after: Option<&str>,
        limit: usize,
    ) -> Result<PageOf<v1::Pipeline>, Fault> {
        let names: Vec<String> = self.pipelines.stored.lock().keys().cloned().collect();
        let names = names.into_iter().filter(|name| after.is_none_or(|after| **name > *after));
        let names = names.filter(|_| workspace.name == "main");
        let get = |name: String| {
            self.pipeline(&PipelinePlace { workspace: workspace.clone(), name }).unwrap()
        };
        Ok(page(names.map(get), limit))
    }

    fn pipeline(&self, place: &PipelinePlace) -> Result<v1::Pipeline, Fault> {
        let latest = self.document(place, Which::Latest)?;
        let deployment = self.pipelines.deployed.lock().get(&place.name).cloned();
        Ok(v1::Pipeline {
            number: 1,
            workspace: place.workspace.name.clone(),
            name: place.name.clone(),
            description: Document::parse(&latest.text).unwrap().description,
            latest: latest.revision,
            activity: deployment.is_some().then(v1::Activity::default),
            deployment,
        })
    }

    fn revisions(
        &self,
        place: &PipelinePlace,
        before: Option<u32>,
        limit: usize,
    ) -> Result<PageOf<v1::Revision>, Fault> {
        let stored = self.pipelines.stored.lock();
        let all = stored.get(&place.name).ok_or_else(no_pipeline)?;
        let rows = all.iter().rev().map(|row| row.revision.clone());
        Ok(page(rows.filter(|row| before.is_none_or(|before| row.revision < before)), limit))
    }

    fn document(&self, place: &PipelinePlace, which: Which) -> Result<DocumentText, Fault> {
        let stored = self.pipelines.stored.lock();
        let all = stored.get(&place.name).ok_or_else(no_pipeline)?;
        let deployed = self.pipelines.deployed.lock().get(&place.name).and_then(|row| row.revision);
        let number = match which {
            Which::Latest => all.last().map(|row| row.revision.revision),
            Which::Deployed => deployed,
            Which::Revision(number) => Some(number),
        };
        let found = all.iter().find(|row| Some(row.revision.revision) == number);
        found.cloned().ok_or(Fault::NotFound("There is no such revision.".to_owned()))
    }

    fn check(
        &self,
        _: &PipelinePlace,
        document: &Document,
        _: &[millrace_flow::Fault],
    ) -> Result<Vec<v1::DocumentFault>, Fault> {
        let bad = document.steps.iter().filter(|(_, step)| step.label == "does not compile");
        let fault = |step: &String| v1::DocumentFault {
            step: Some(step.clone()),
            field: Some("code".to_owned()),
            line: Some(3),
            code: "bad_script".to_owned(),
            message: "unexpected token".to_owned(),
        };
        Ok(bad.map(|(id, _)| fault(id)).collect())
    }

    fn save(
        &self,
        place: PipelinePlace,
        new: NewDocument,
        by: Actor,
    ) -> BoxFuture<Result<(v1::Revision, bool), Fault>> {
        let author = by.who.clone();
        self.act_on_pipelines(by);
        let mut stored = self.pipelines.stored.lock();
        let all = stored.entry(place.name).or_default();
        if let Some(same) = all.last().filter(|last| last.text == new.text) {
            return done(Ok((same.revision.clone(), true)));
        }
        let latest = u32::try_from(all.len()).unwrap();
        if new.expected.is_some_and(|expected| expected != latest) {
            return done(Err(Fault::Conflict("It is at another revision.".to_owned())));
        }
        let (at, note) = (NOW.to_owned(), new.note);
        let revision = v1::Revision { revision: latest + 1, at, author, note };
        all.push(DocumentText { revision: revision.clone(), text: new.text });
        done(Ok((revision, false)))
    }

    fn deploy(
        &self,
        place: PipelinePlace,
        which: Which,
        _: String,
        by: Actor,
    ) -> BoxFuture<Result<v1::Running, Fault>> {
        let found = match self.document(&place, which) {
            Ok(found) => found,
            Err(fault) => return done(Err(fault)),
        };
        self.act_on_pipelines(by);
        done(Ok(self.running(&place.name, Some(found.revision.revision))))
    }

    fn undeploy(
        &self,
        place: PipelinePlace,
        _: String,
        by: Actor,
    ) -> BoxFuture<Result<v1::Running, Fault>> {
        self.act_on_pipelines(by);
        done(Ok(self.running(&place.name, None)))
    }

    fn roll_back(
        &self,
        place: PipelinePlace,
        _: String,
        by: Actor,
    ) -> BoxFuture<Result<v1::Running, Fault>> {
        let previous = self.pipelines.deployed.lock().get(&place.name).and_then(|row| row.previous);
        let Some(previous) = previous else {
            return done(Err(Fault::Conflict("Nothing ran before.".to_owned())));
        };
        self.act_on_pipelines(by);
        done(Ok(self.running(&place.name, Some(previous))))
    }

    fn remove(&self, place: PipelinePlace, by: Actor) -> BoxFuture<Result<(), Fault>> {
        let deployed = self.pipelines.deployed.lock().get(&place.name).cloned();
        if deployed.is_some_and(|row| row.revision.is_some()) {
            return done(Err(Fault::Conflict("It is deployed.".to_owned())));
        }
        if self.pipelines.stored.lock().remove(&place.name).is_none() {
            return done(Err(no_pipeline()));
        }
        self.act_on_pipelines(by);
        done(Ok(()))
    }

    fn trigger(
        &self,
        place: PipelinePlace,
        run: ManualRun,
        by: Actor,
    ) -> BoxFuture<Result<v1::StartedRun, Fault>> {
        if !self.pipelines.stored.lock().contains_key(&place.name) {
            return done(Err(no_pipeline()));
        }
        self.act_on_pipelines(by);
        let waits = run.wait.is_some();
        self.pipelines.manual.lock().push(run);
        done(Ok(started(9, waits)))
    }

    fn runs(&self, query: &RunQuery) -> Result<RunPage, Fault> {
        self.pipelines.queries.lock().push(query.clone());
        let last = query.before.unwrap_or(4);
        let ids = (1..last).rev().take(query.limit);
        let runs: Vec<_> = ids.map(|id| run(id, v1::RunStatus::Failed)).collect();
        let first = last - u64::try_from(runs.len()).unwrap();
        Ok(RunPage { runs, next: (first > 1).then_some(first) })
    }

    fn run(&self, _: &PipelinePlace, id: RunId) -> Result<v1::RunDetail, Fault> {
        match id.seq {
            1..=9 => Ok(detail(id.seq)),
            _ => Err(Fault::NotFound("There is no such run.".to_owned())),
        }
    }

    fn run_again(
        &self,
        _: PipelinePlace,
        _: RunId,
        by: Actor,
    ) -> BoxFuture<Result<v1::StartedRun, Fault>> {
        self.act_on_pipelines(by);
        done(Ok(started(10, false)))
    }

    fn cancel_run(
        &self,
        _: PipelinePlace,
        id: RunId,
        by: Actor,
    ) -> BoxFuture<Result<v1::CanceledRun, Fault>> {
        self.act_on_pipelines(by);
        done(match id.seq {
            1..=4 => Err(Fault::Conflict("It has ended.".to_owned())),
            5..=9 => Ok(v1::CanceledRun { id: id.to_string(), was: v1::RunStatus::Waiting }),
            _ => Err(Fault::NotFound("There is no such run.".to_owned())),
        })
    }

    fn test(&self, trial: Trial) -> BoxFuture<Result<Vec<v1::CaseReport>, Fault>> {
        let case = |case: &millrace_flow::case::Case| v1::CaseReport {
            name: case.name.clone(),
            passed: !case.then.is_empty(),
            problems: Vec::new(),
            effects: Vec::new(),
            faults: Vec::new(),
        };
        done(Ok(trial.document.cases.iter().map(case).collect()))
    }

    fn rehearse(
        &self,
        rehearsal: Rehearsal,
        progress: OnProgress,
    ) -> BoxFuture<Result<v1::RehearsalReport, Fault>> {
        let guard = Abandoned(Arc::clone(&self.pipelines.abandoned), false);
        Box::pin(async move {
            let mut guard = guard;
            let middle = rehearsal.to.nanos_since(rehearsal.from) / 2;
            progress(RehearsalProgress { values: 5, at: rehearsal.from.plus_nanos(middle) });
            // Long enough for a line of progress; a rehearsal of a day never ends here.
            let hour = 3_600 * 1_000_000_000;
            if middle > hour {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(Duration::from_millis(700)).await;
            guard.1 = true;
            if rehearsal.document.description == "breaks" {
                return Err(Fault::Unavailable("History cannot be read.".to_owned()));
            }
            Ok(v1::RehearsalReport {
                from: rehearsal.from.to_rfc3339(),
                to: rehearsal.to.to_rfc3339(),
                values: 10,
                runs: 10,
                by_clock: 0,
                failed: 0,
                faults: Vec::new(),
                effects: Vec::new(),
                effects_total: 10,
                compared_with: None,
                differences: Vec::new(),
                differences_total: 0,
                incomplete: false,
                triggers_left_out: Vec::new(),
                todays_values: Vec::new(),
            })
        })
    }

    fn test_step(&self, trial: StepTrial) -> BoxFuture<Result<v1::StepTestReport, Fault>> {
        self.pipelines.trials.lock().push(trial);
        done(Ok(v1::StepTestReport {
            input: v1::Item::new("1", 1),
            outputs: vec![v1::PortOutput { port: "out".to_owned(), value: v1::Item::new("2", 1) }],
            fault: None,
            effects: Vec::new(),
            lines: Vec::new(),
            took_us: 1,
            cpu_us: 1,
        }))
    }

    fn secrets(
        &self,
        _: &InWorkspace,
        after: Option<&str>,
        limit: usize,
    ) -> Result<PageOf<v1::Secret>, Fault> {
        let names: Vec<String> = self.pipelines.secrets.lock().keys().cloned().collect();
        let names = names.into_iter().filter(|name| after.is_none_or(|after| **name > *after));
        let (at, by) = (NOW.to_owned(), "user:emil".to_owned());
        Ok(page(names.map(|name| v1::Secret { name, at: at.clone(), by: by.clone() }), limit))
    }

    fn set_secret(
        &self,
        _: InWorkspace,
        name: String,
        value: String,
        by: Actor,
    ) -> BoxFuture<Result<v1::Secret, Fault>> {
        let secret = v1::Secret { name: name.clone(), at: now().to_rfc3339(), by: by.who.clone() };
        self.act_on_pipelines(by);
        self.pipelines.secrets.lock().insert(name, value);
        done(Ok(secret))
    }

    fn remove_secret(
        &self,
        _: InWorkspace,
        name: String,
        by: Actor,
    ) -> BoxFuture<Result<(), Fault>> {
        if self.pipelines.secrets.lock().remove(&name).is_none() {
            return done(Err(Fault::NotFound("There is no such secret.".to_owned())));
        }
        self.act_on_pipelines(by);
        done(Ok(()))
    }

    fn variables(
        &self,
        _: &InWorkspace,
        after: Option<&str>,
        limit: usize,
    ) -> Result<PageOf<v1::Variable>, Fault> {
        let variables = self.pipelines.variables.lock();
        let rows =
            variables.iter().filter(|(name, _)| after.is_none_or(|after| name.as_str() > after));
        Ok(page(rows.map(|(name, value)| variable(name, value)), limit))
    }

    fn variable(&self, _: &InWorkspace, name: &str) -> Result<v1::Variable, Fault> {
        let variables = self.pipelines.variables.lock();
        let found = variables.get(name).map(|value| variable(name, value));
        found.ok_or(Fault::NotFound("There is no such variable.".to_owned()))
    }

    fn set_variable(
        &self,
        _: InWorkspace,
        name: String,
        value: Option<Value>,
        by: Actor,
    ) -> BoxFuture<Result<(), Fault>> {
        self.act_on_pipelines(by);
        let mut variables = self.pipelines.variables.lock();
        match value {
            Some(value) => drop(variables.insert(name, value)),
            None => drop(variables.remove(&name)),
        }
        done(Ok(()))
    }

    fn hook(&self, _: WorkspaceNumber, path: &str) -> Result<Option<Hook>, Fault> {
        let (kind, secret) = match path {
            "orders/new" | "orders/result" | "orders/slow" | "orders/fails" => {
                (path, Some(HOOK_SECRET.into()))
            }
            // Its secret was removed.
            "orders/orphan" => (path, None),
            _ => return Ok(None),
        };
        Ok(Some(Hook {
            pipeline: 1,
            step: kind.to_owned(),
            methods: vec!["POST".to_owned(), "PUT".to_owned()],
            secret,
            secret_header: "x-mes-key".to_owned(),
            wait: (kind != "orders/new").then_some(Duration::from_secs(1)),
            body_bytes_max: 100,
        }))
    }

    fn call_hook(&self, hook: Hook, call: HookCall) -> BoxFuture<Result<HookAnswer, Fault>> {
        self.pipelines.calls.lock().push(call);
        let id = RunId { pipeline: 1, seq: 7 };
        done(Ok(match hook.step.as_str() {
            "orders/result" => HookAnswer::Result(id, Some("{\"order\":1}".to_owned())),
            "orders/slow" => HookAnswer::StillRunning(id),
            "orders/fails" => HookAnswer::Failed(id, "step 'sql': no connection".to_owned()),
            _ => HookAnswer::Started(id),
        }))
    }
}

fn variable(name: &str, value: &Value) -> v1::Variable {
    let value = serde_json::value::RawValue::from_string(value.to_string()).unwrap();
    v1::Variable { name: name.to_owned(), value }
}

/// Notes that a rehearsal was dropped before it was done.
struct Abandoned(Arc<AtomicBool>, bool);

impl Drop for Abandoned {
    fn drop(&mut self) {
        if !self.1 {
            self.0.store(true, Ordering::SeqCst);
        }
    }
}
