//! Deploying: checked by the engine, made durable, then swapped in.
//!
//! **Invariants**: what cannot run is refused before anything is durable, and what ran goes on;
//! the change goes to its end though the asker goes away.

use super::{Answers, catalog_place, documents, failed, fault, unavailable};
use crate::wiring::pipelines::{
    deployed, deployment_changed, look_for_secrets, missing_secrets, unreadable_secrets,
};
use crate::wiring::state::Shared;
use millrace_api::Fault;
use millrace_api::backend as api;
use millrace_api::backend::{InWorkspace, PipelinePlace, Which};
use millrace_catalog::{Change, Deployed, Pipeline, PipelineError};
use millrace_contract::v1;
use millrace_engine::CompileFault;
use millrace_flow::{Document, kind};
use millrace_model::{Definition, Deployment, PipelineRevision};
use millrace_supervisor::spawn;
use std::sync::Arc;

impl Answers {
    /// What only the engine finds in a document, beyond the faults that are known.
    pub(super) fn engine_faults(
        &self,
        place: &PipelinePlace,
        document: &Document,
        known: &[millrace_flow::Fault],
    ) -> Vec<v1::DocumentFault> {
        let number = self.known(place).map_or(0, |pipeline| pipeline.number());
        let candidate = millrace_engine::Deployed {
            number,
            workspace: place.workspace.number.0,
            name: place.name.clone(),
            revision: 0,
            since: 0,
            document: Arc::new(document.clone()),
        };
        let found = match known {
            [] => self.0.engine.check(&candidate).err().unwrap_or_default(),
            _ => self.0.engine.check_rest(&candidate, known),
        };
        found.iter().map(document_fault).collect()
    }

    pub(super) fn deploy_revision(
        &self,
        place: PipelinePlace,
        which: Which,
        note: &str,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<v1::Running, Fault>> {
        let revision = match self.revision_of(&place, which) {
            Ok(revision) => revision,
            Err(fault) => return failed(fault),
        };
        let change = self.0.pipelines.deploy(catalog_place(&place), &revision, note, &self.by(by));
        self.carry_out(place, change)
    }

    pub(super) fn undeploy_pipeline(
        &self,
        place: PipelinePlace,
        note: &str,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<v1::Running, Fault>> {
        let change = self.0.pipelines.undeploy(catalog_place(&place), note, &self.by(by));
        self.carry_out(place, change)
    }

    pub(super) fn roll_back_pipeline(
        &self,
        place: PipelinePlace,
        note: &str,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<v1::Running, Fault>> {
        let change = self.0.pipelines.roll_back(catalog_place(&place), note, &self.by(by));
        self.carry_out(place, change)
    }

    /// Carries a change of what runs out, in a task of its own.
    fn carry_out(
        &self,
        place: PipelinePlace,
        change: Result<Change<Deployed>, PipelineError>,
    ) -> api::BoxFuture<Result<v1::Running, Fault>> {
        let change = match change {
            Ok(change) => change,
            Err(error) => return failed(fault(&error)),
        };
        let shared = Arc::clone(&self.0);
        let task = spawn::task("deploy", swap(shared, place, change));
        Box::pin(async move {
            task.await
                .map_err(|error| Fault::Internal(format!("the deployment failed: {error}")))?
        })
    }
}

async fn swap(
    shared: Arc<Shared>,
    place: PipelinePlace,
    change: Change<Deployed>,
) -> Result<v1::Running, Fault> {
    let number = change.result.deployment.pipeline;
    if let Some(revision) = &change.result.revision {
        let candidate = engine_form(revision, 0)?;
        let workspace = place.workspace.number;
        let mut missing = missing_secrets(&candidate.document, workspace, &shared.secrets);
        let (document, key) = (&candidate.document, &shared.secret_key);
        missing.extend(unreadable_secrets(document, workspace, &shared.secrets, key));
        if !missing.is_empty() {
            return Err(Fault::Document(missing));
        }
        let engine = shared.engine.clone();
        blocking(move || engine.check(&candidate)).await?.map_err(refused)?;
    }
    let range = shared.make_durable(&change.definitions).await;
    let range = range.map_err(|error| unavailable(&error))?;
    let engine = shared.engine.clone();
    match &change.result.revision {
        Some(revision) => {
            let deployed = engine_form(revision, range.last().0)?;
            if let Err(faults) = blocking(move || engine.deploy(&deployed)).await? {
                // Another deployment came between: what runs is told as it is.
                put_right(&shared, number, &change.result).await?;
                return Err(refused(faults));
            }
        }
        None => {
            engine.undeploy(number);
        }
    }
    deployment_changed(&shared.issues, &place.name, change.result.revision.is_some());
    let looking = Arc::clone(&shared);
    blocking(move || look_for_secrets(&looking.pipelines, &looking.secrets, &looking.issues))
        .await?;
    let pipeline = shared.pipelines.get(number);
    let pipeline = pipeline.ok_or_else(|| Fault::NotFound("it was removed".to_owned()))?;
    Ok(running(&shared, &place.workspace, &pipeline, &change.result))
}

/// Makes durable that a deployment did not come into force.
async fn put_right(shared: &Shared, number: u32, change: &Deployed) -> Result<(), Fault> {
    let revision = shared.engine.deployment(number).map(|info| info.revision);
    let note = "the engine refused the revision before".to_owned();
    let deployment = Deployment { revision, note, ..change.deployment.clone() };
    let durable = shared.make_durable(&[Definition::Deployment(deployment)]).await;
    durable.map(|_| ()).map_err(|error| unavailable(&error))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Fault> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Fault::Internal(format!("the deployment failed: {error}")))
}

fn engine_form(
    revision: &PipelineRevision,
    since: u64,
) -> Result<millrace_engine::Deployed, Fault> {
    deployed(revision, since).map_err(|what| {
        let message = format!("the stored document cannot be read: {what}");
        Fault::Document(vec![v1::DocumentFault { message, ..v1::DocumentFault::default() }])
    })
}

fn refused(faults: Vec<CompileFault>) -> Fault {
    Fault::Document(faults.iter().map(document_fault).collect())
}

pub(super) fn document_fault(fault: &CompileFault) -> v1::DocumentFault {
    v1::DocumentFault {
        step: Some(fault.step.clone()).filter(|step| !step.is_empty()),
        field: fault.field.clone(),
        line: None,
        code: "cannot_run".to_owned(),
        message: fault.message.clone(),
    }
}

/// What runs now, as the engine says.
fn running(
    shared: &Shared,
    workspace: &InWorkspace,
    pipeline: &Pipeline,
    change: &Deployed,
) -> v1::Running {
    let in_force = shared.engine.deployment(pipeline.number());
    let mut deployment = documents::deployment(&change.deployment);
    deployment.revision = in_force.as_ref().map(|info| info.revision);
    let document = change.revision.as_ref().filter(|_| in_force.is_some());
    let document = document.and_then(|revision| Document::parse(&revision.document).ok());
    let mut triggers =
        document.map(|document| triggers(shared, workspace, &document)).unwrap_or_default();
    for (step, time) in shared.engine.next_times(pipeline.number()) {
        if let Some(trigger) = triggers.iter_mut().find(|trigger| *trigger.step == *step) {
            trigger.next = Some(time.to_rfc3339());
        }
    }
    v1::Running { name: pipeline.name().to_owned(), deployment, triggers }
}

/// Most tags that are counted for one filter.
const COUNTED_MAX: usize = 100_000;

fn triggers(
    shared: &Shared,
    workspace: &InWorkspace,
    document: &Document,
) -> Vec<v1::RunningTrigger> {
    let is_trigger =
        |name: &str| kind::find(name).is_some_and(|kind| kind.group == kind::Group::Trigger);
    let steps = document.steps.iter().filter(|(_, step)| is_trigger(&step.kind));
    steps
        .map(|(id, step)| {
            let text = |field: &str| step.fields.get(field).map(plain).unwrap_or_default();
            let (detail, tags) = match step.kind.as_str() {
                "uns.subscribe" => {
                    let filters: Vec<String> = step
                        .fields
                        .get("filters")
                        .and_then(serde_json::Value::as_array)
                        .into_iter()
                        .flatten()
                        .map(plain)
                        .collect();
                    let count = matching(shared, workspace, &filters);
                    (filters.join(", "), Some(count))
                }
                "schedule" if step.fields.contains_key("cron") => {
                    (format!("{} ({})", text("cron"), text("zone")), None)
                }
                "schedule" => (format!("every {} ms", text("every_ms")), None),
                "http" => (format!("/hooks/{}/{}", workspace.name, text("path")), None),
                "mqtt.subscribe" => (text("url"), None),
                "issue" => (text("keys"), None),
                _ => (String::new(), None),
            };
            v1::RunningTrigger {
                step: id.clone(),
                kind: step.kind.clone(),
                detail,
                tags,
                next: None,
            }
        })
        .collect()
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Tags that one of the filters matches now.
fn matching(shared: &Shared, workspace: &InWorkspace, filters: &[String]) -> u64 {
    let mut found = std::collections::BTreeSet::new();
    for filter in filters {
        let tags = crate::wiring::pipelines::search(
            &shared.namespace,
            workspace.number,
            filter,
            COUNTED_MAX,
        );
        found.extend(tags.iter().map(|tag| tag.id));
    }
    found.len() as u64
}
