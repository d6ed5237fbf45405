//! Pipelines for the API: what is stored, what runs, runs, trials, secrets, variables, webhooks.
//!
//! Thin: the catalog decides about documents, the engine about runs; here the one's answer is put
//! beside the other's.
//!
//! **Invariants**: a change is durable before it is answered; what runs is asked of the engine
//! after the change is in force.

mod deploy;
mod documents;
mod runs;
mod secrets;
mod start;
mod trials;

pub(crate) use trials::case_report;

use super::{Answers, failed, unavailable};
use millrace_api::Fault;
use millrace_api::backend as api;
use millrace_api::backend::{InWorkspace, PipelineBackend, PipelinePlace};
use millrace_catalog::{By, Change, PipelineError, Place, SealError, SecretError};
use millrace_contract::v1;
use millrace_flow::Document;
use millrace_model::WorkspaceNumber;
use millrace_supervisor::spawn;

impl PipelineBackend for Answers {
    fn pipelines(
        &self,
        workspace: &InWorkspace,
        after: Option<&str>,
        limit: usize,
    ) -> Result<api::PageOf<v1::Pipeline>, Fault> {
        Ok(self.pipeline_page(workspace, after, limit))
    }

    fn pipeline(&self, place: &PipelinePlace) -> Result<v1::Pipeline, Fault> {
        let found = self.known(place)?;
        Ok(self.outward(&place.workspace, &found))
    }

    fn revisions(
        &self,
        place: &PipelinePlace,
        before: Option<u32>,
        limit: usize,
    ) -> Result<api::PageOf<v1::Revision>, Fault> {
        self.revision_page(place, before, limit)
    }

    fn document(
        &self,
        place: &PipelinePlace,
        which: api::Which,
    ) -> Result<api::DocumentText, Fault> {
        let revision = self.revision_of(place, which)?;
        Ok(api::DocumentText {
            revision: documents::revision(&revision),
            text: revision.document.clone(),
        })
    }

    fn save(
        &self,
        place: PipelinePlace,
        new: api::NewDocument,
        by: api::Actor,
    ) -> api::BoxFuture<Result<(v1::Revision, bool), Fault>> {
        self.save_document(&place, &new, &by)
    }

    fn remove(&self, place: PipelinePlace, by: api::Actor) -> api::BoxFuture<Result<(), Fault>> {
        let change = self.0.pipelines.remove(catalog_place(&place), &self.by(&by));
        let engine = self.0.engine.clone();
        self.keep_change(change, move |removed| engine.forget(removed.pipeline))
    }

    fn check(
        &self,
        place: &PipelinePlace,
        document: &Document,
        known: &[millrace_flow::Fault],
    ) -> Result<Vec<v1::DocumentFault>, Fault> {
        Ok(self.engine_faults(place, document, known))
    }

    fn deploy(
        &self,
        place: PipelinePlace,
        which: api::Which,
        note: String,
        by: api::Actor,
    ) -> api::BoxFuture<Result<v1::Running, Fault>> {
        self.deploy_revision(place, which, &note, &by)
    }

    fn undeploy(
        &self,
        place: PipelinePlace,
        note: String,
        by: api::Actor,
    ) -> api::BoxFuture<Result<v1::Running, Fault>> {
        self.undeploy_pipeline(place, &note, &by)
    }

    fn roll_back(
        &self,
        place: PipelinePlace,
        note: String,
        by: api::Actor,
    ) -> api::BoxFuture<Result<v1::Running, Fault>> {
        self.roll_back_pipeline(place, &note, &by)
    }

    fn trigger(
        &self,
        place: PipelinePlace,
        run: api::ManualRun,
        by: api::Actor,
    ) -> api::BoxFuture<Result<v1::StartedRun, Fault>> {
        self.start_by_hand(&place, &run, &by)
    }

    fn runs(&self, query: &api::RunQuery) -> Result<api::RunPage, Fault> {
        self.run_page(query)
    }

    fn run(&self, place: &PipelinePlace, id: api::RunId) -> Result<v1::RunDetail, Fault> {
        self.run_detail(place, id)
    }

    fn run_again(
        &self,
        place: PipelinePlace,
        id: api::RunId,
        by: api::Actor,
    ) -> api::BoxFuture<Result<v1::StartedRun, Fault>> {
        self.start_again(&place, id, &by)
    }

    fn cancel_run(
        &self,
        place: PipelinePlace,
        id: api::RunId,
        by: api::Actor,
    ) -> api::BoxFuture<Result<v1::CanceledRun, Fault>> {
        self.cancel_open(&place, id, &by)
    }

    fn test(&self, trial: api::Trial) -> api::BoxFuture<Result<Vec<v1::CaseReport>, Fault>> {
        self.run_cases(&trial)
    }

    fn rehearse(
        &self,
        rehearsal: api::Rehearsal,
        progress: api::OnProgress,
    ) -> api::BoxFuture<Result<v1::RehearsalReport, Fault>> {
        self.feed_history(rehearsal, progress)
    }

    fn test_step(
        &self,
        trial: api::StepTrial,
    ) -> api::BoxFuture<Result<v1::StepTestReport, Fault>> {
        self.try_one_step(trial)
    }

    fn variables(
        &self,
        workspace: &InWorkspace,
        after: Option<&str>,
        limit: usize,
    ) -> Result<api::PageOf<v1::Variable>, Fault> {
        Ok(self.variable_page(workspace, after, limit))
    }

    fn variable(&self, workspace: &InWorkspace, name: &str) -> Result<v1::Variable, Fault> {
        self.one_variable(workspace, name)
    }

    fn set_variable(
        &self,
        workspace: InWorkspace,
        name: String,
        value: Option<serde_json::Value>,
        by: api::Actor,
    ) -> api::BoxFuture<Result<(), Fault>> {
        self.keep_variable(&workspace, &name, value.as_ref(), &by)
    }

    fn hook(&self, workspace: WorkspaceNumber, path: &str) -> Result<Option<api::Hook>, Fault> {
        Ok(self.find_hook(workspace, path))
    }

    fn call_hook(
        &self,
        hook: api::Hook,
        call: api::HookCall,
    ) -> api::BoxFuture<Result<api::HookAnswer, Fault>> {
        self.start_by_hook(&hook, &call)
    }

    fn secrets(
        &self,
        workspace: &InWorkspace,
        after: Option<&str>,
        limit: usize,
    ) -> Result<api::PageOf<v1::Secret>, Fault> {
        Ok(self.secret_page(workspace, after, limit))
    }

    fn set_secret(
        &self,
        workspace: InWorkspace,
        name: String,
        value: String,
        by: api::Actor,
    ) -> api::BoxFuture<Result<v1::Secret, Fault>> {
        self.keep_secret(&workspace, name, &value, &by)
    }

    fn remove_secret(
        &self,
        workspace: InWorkspace,
        name: String,
        by: api::Actor,
    ) -> api::BoxFuture<Result<(), Fault>> {
        self.drop_secret(&workspace, &name, &by)
    }
}

impl Answers {
    fn by(&self, actor: &api::Actor) -> By {
        let from = (actor.who != "local").then(|| actor.from.to_string());
        By { who: actor.who.clone(), from, at: self.0.clock.now() }
    }

    /// Makes a change durable and gives what it led to. The pipeline stays reserved meanwhile.
    fn keep_change<T: Send + 'static, U: Send + 'static>(
        &self,
        change: Result<Change<T>, PipelineError>,
        outward: impl FnOnce(T) -> U + Send + 'static,
    ) -> api::BoxFuture<Result<U, Fault>> {
        let change = match change {
            Ok(change) => change,
            Err(error) => return failed(fault(&error)),
        };
        let shared = std::sync::Arc::clone(&self.0);
        // In a task of its own: who goes away must not give the pipeline free too early.
        let task = spawn::task("keep-change", async move {
            if !change.definitions.is_empty() {
                let durable = shared.make_durable(&change.definitions).await;
                durable.map_err(|error| unavailable(&error))?;
            }
            Ok(outward(change.result))
        });
        Box::pin(async move {
            task.await.map_err(|error| Fault::Internal(format!("the change failed: {error}")))?
        })
    }
}

/// A place as the catalog names it.
fn catalog_place(place: &PipelinePlace) -> Place<'_> {
    Place {
        workspace: place.workspace.number,
        workspace_name: &place.workspace.name,
        name: &place.name,
    }
}

fn fault(error: &PipelineError) -> Fault {
    let text = error.to_string();
    match error {
        PipelineError::Unknown { .. } | PipelineError::UnknownRevision { .. } => {
            Fault::NotFound(text)
        }
        PipelineError::NameInvalid => Fault::Invalid { field: "name".to_owned(), message: text },
        PipelineError::TooLong { what, .. } => {
            Fault::Invalid { field: (*what).to_owned(), message: text }
        }
        PipelineError::TooMany { .. }
        | PipelineError::Busy { .. }
        | PipelineError::Moved { .. }
        | PipelineError::Deployed { .. }
        | PipelineError::NotDeployed { .. }
        | PipelineError::NothingBefore { .. }
        | PipelineError::NumbersExhausted => Fault::Conflict(text),
    }
}

fn secret_fault(error: &SecretError) -> Fault {
    let text = error.to_string();
    match error {
        SecretError::Unknown { .. } => Fault::NotFound(text),
        SecretError::NameInvalid => Fault::Invalid { field: "name".to_owned(), message: text },
        SecretError::ValueInvalid => Fault::Invalid { field: "value".to_owned(), message: text },
        SecretError::TooMany => Fault::Conflict(text),
        SecretError::Seal(SealError::NoKey) => Fault::Conflict(text),
        SecretError::Seal(_) => Fault::Internal(text),
    }
}

/// The description in a stored document; what is stored was read by the same rules before.
fn description(text: &str) -> String {
    Document::parse(text).map(|document| document.description).unwrap_or_default()
}
