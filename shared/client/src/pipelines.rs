//! Pipelines, their runs, trials, secrets and variables.

use crate::client::{Client, PAGE, check, found, read};
use crate::error::{Error, Result};
use millrace_contract::v1;
use reqwest::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longest line of a rehearsal's answer.
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Which runs.
#[derive(Clone, Debug, Default)]
pub struct RunsQuery {
    /// With one of these statuses, comma-separated; all when `None`.
    pub status: Option<String>,
    /// Begun at this time or later.
    pub from: Option<String>,
    /// Begun before this time.
    pub to: Option<String>,
    /// At most so many.
    pub limit: usize,
}

impl Client {
    /// All pipelines of a workspace.
    ///
    /// # Errors
    /// See [`Error`]; so for every method.
    pub async fn pipelines(&self, workspace: &str) -> Result<Vec<v1::Pipeline>> {
        self.all(&["workspaces", workspace, "pipelines"]).await
    }

    /// One pipeline; `None` when there is no such.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn pipeline(&self, workspace: &str, name: &str) -> Result<Option<v1::Pipeline>> {
        found(self.get(&["workspaces", workspace, "pipelines", name], &[]).await)
    }

    /// Stores a document as the next revision.
    ///
    /// # Errors
    /// See [`Error`]; all faults of the document are in [`Error::Refused`].
    pub async fn save_pipeline(
        &self,
        workspace: &str,
        name: &str,
        new: &v1::NewRevision,
    ) -> Result<v1::SavedRevision> {
        let request = self.request(Method::PUT, &["workspaces", workspace, "pipelines", name], &[]);
        read(request.json(new).send().await?).await
    }

    /// Removes a pipeline that does not run.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn remove_pipeline(&self, workspace: &str, name: &str) -> Result<()> {
        let segments = ["workspaces", workspace, "pipelines", name];
        check(self.request(Method::DELETE, &segments, &[]).send().await?).await.map(drop)
    }

    /// The revisions of a pipeline, newest first.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn revisions(&self, workspace: &str, name: &str) -> Result<Vec<v1::Revision>> {
        self.all(&["workspaces", workspace, "pipelines", name, "revisions"]).await
    }

    /// A pipeline's document as a file for git; `revision` is a number, `latest` or `deployed`.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn export_pipeline(
        &self,
        workspace: &str,
        name: &str,
        revision: &str,
    ) -> Result<String> {
        let segments = ["workspaces", workspace, "pipelines", name, "export"];
        let request = self.request(Method::GET, &segments, &[("revision", revision)]);
        let bytes = crate::client::bytes(check(request.send().await?).await?).await?;
        String::from_utf8(bytes).map_err(|_| Error::Foreign { status: 200, source: None })
    }

    /// What is different between two revisions, each a number, `latest` or `deployed`.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn diff_pipeline(
        &self,
        workspace: &str,
        name: &str,
        from: &str,
        to: &str,
    ) -> Result<v1::PipelineDiff> {
        let segments = ["workspaces", workspace, "pipelines", name, "diff"];
        self.get(&segments, &[("from", from), ("to", to)]).await
    }

    /// Lets a revision run; the last one when none is named.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn deploy_pipeline(
        &self,
        workspace: &str,
        name: &str,
        new: &v1::NewDeployment,
    ) -> Result<v1::Running> {
        self.act(workspace, name, &["deploy"], new).await
    }

    /// Stops a pipeline.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn undeploy_pipeline(
        &self,
        workspace: &str,
        name: &str,
        note: &v1::Note,
    ) -> Result<v1::Running> {
        self.act(workspace, name, &["undeploy"], note).await
    }

    /// Lets what ran before run again.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn roll_back_pipeline(
        &self,
        workspace: &str,
        name: &str,
        note: &v1::Note,
    ) -> Result<v1::Running> {
        self.act(workspace, name, &["rollback"], note).await
    }

    /// Starts a run by hand.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn trigger_pipeline(
        &self,
        workspace: &str,
        name: &str,
        run: &v1::NewRun,
    ) -> Result<v1::StartedRun> {
        self.act(workspace, name, &["trigger"], run).await
    }

    /// Starts a run with the input of an earlier one.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn run_again(
        &self,
        workspace: &str,
        name: &str,
        run: &str,
    ) -> Result<v1::StartedRun> {
        self.act(workspace, name, &["runs", run, "again"], &()).await
    }

    /// Cancels a run that has not ended.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn cancel_run(
        &self,
        workspace: &str,
        name: &str,
        run: &str,
    ) -> Result<v1::CanceledRun> {
        self.act(workspace, name, &["runs", run, "cancel"], &()).await
    }

    /// Runs of a pipeline, newest first.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn runs(
        &self,
        workspace: &str,
        name: &str,
        query: &RunsQuery,
    ) -> Result<Vec<v1::Run>> {
        let segments = ["workspaces", workspace, "pipelines", name, "runs"];
        let (mut all, mut after) = (Vec::new(), None::<String>);
        while all.len() < query.limit {
            let limit = (query.limit - all.len()).min(1_000).to_string();
            let mut fields = vec![("limit", limit.as_str())];
            fields.extend(query.status.as_deref().map(|text| ("status", text)));
            fields.extend(query.from.as_deref().map(|text| ("from", text)));
            fields.extend(query.to.as_deref().map(|text| ("to", text)));
            fields.extend(after.as_deref().map(|text| ("after", text)));
            let page: v1::Page<v1::Run> = self.get(&segments, &fields).await?;
            all.extend(page.items);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(all)
    }

    /// One run; `None` when it is not known or not kept any more.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn run(
        &self,
        workspace: &str,
        name: &str,
        run: &str,
    ) -> Result<Option<v1::RunDetail>> {
        found(self.get(&["workspaces", workspace, "pipelines", name, "runs", run], &[]).await)
    }

    /// Runs test cases.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn test_pipeline(
        &self,
        workspace: &str,
        name: &str,
        request: &v1::TestRequest,
    ) -> Result<v1::TestReport> {
        self.act(workspace, name, &["test"], request).await
    }

    /// Executes one step.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn test_step(
        &self,
        workspace: &str,
        name: &str,
        step: &str,
        request: &v1::StepTestRequest,
    ) -> Result<v1::StepTestReport> {
        self.act(workspace, name, &["steps", step, "test"], request).await
    }

    /// Feeds recorded history through a document. `progress` is told now and then which part of
    /// the time range is done, and how many values that were. Dropping the future ends it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn rehearse_pipeline(
        &self,
        workspace: &str,
        name: &str,
        request: &v1::RehearsalRequest,
        mut progress: impl FnMut(f64, u64),
    ) -> Result<v1::RehearsalReport> {
        let segments = ["workspaces", workspace, "pipelines", name, "rehearse"];
        let request = self.request(Method::POST, &segments, &[]).json(request);
        let mut response = check(request.send().await?).await?;
        let mut waiting = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            waiting.extend_from_slice(&chunk);
            while let Some(end) = waiting.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = waiting.drain(..=end).collect();
                match event(&line)? {
                    v1::RehearsalEvent::Progress { values, done, .. } => progress(done, values),
                    v1::RehearsalEvent::Report(report) => return Ok(*report),
                    v1::RehearsalEvent::Failed(detail) => {
                        return Err(Error::Refused { status: detail.code.status(), detail });
                    }
                }
            }
            if waiting.len() > LINE_BYTES_MAX {
                return Err(Error::TooLarge { bytes_max: LINE_BYTES_MAX });
            }
        }
        Err(Error::Foreign { status: 200, source: None })
    }

    /// The secrets of a workspace, without their values.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn secrets(&self, workspace: &str) -> Result<Vec<v1::Secret>> {
        self.all(&["workspaces", workspace, "secrets"]).await
    }

    /// Sets a secret.
    ///
    /// # Errors
    /// See [`Error`]; the value is in none.
    pub async fn set_secret(
        &self,
        workspace: &str,
        name: &str,
        new: &v1::NewSecret,
    ) -> Result<v1::Secret> {
        let segments = ["workspaces", workspace, "secrets", name];
        read(self.request(Method::PUT, &segments, &[]).json(new).send().await?).await
    }

    /// Removes a secret.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn remove_secret(&self, workspace: &str, name: &str) -> Result<()> {
        let segments = ["workspaces", workspace, "secrets", name];
        check(self.request(Method::DELETE, &segments, &[]).send().await?).await.map(drop)
    }

    /// The variables of a workspace.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn variables(&self, workspace: &str) -> Result<Vec<v1::Variable>> {
        self.all(&["workspaces", workspace, "variables"]).await
    }

    /// One variable; `None` when there is no such.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn variable(&self, workspace: &str, name: &str) -> Result<Option<v1::Variable>> {
        found(self.get(&["workspaces", workspace, "variables", name], &[]).await)
    }

    /// Sets a variable.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn set_variable(
        &self,
        workspace: &str,
        name: &str,
        new: &v1::NewVariable,
    ) -> Result<()> {
        let segments = ["workspaces", workspace, "variables", name];
        check(self.request(Method::PUT, &segments, &[]).json(new).send().await?).await.map(drop)
    }

    /// Removes a variable.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn remove_variable(&self, workspace: &str, name: &str) -> Result<()> {
        let segments = ["workspaces", workspace, "variables", name];
        check(self.request(Method::DELETE, &segments, &[]).send().await?).await.map(drop)
    }

    async fn act<T: DeserializeOwned>(
        &self,
        workspace: &str,
        name: &str,
        action: &[&str],
        body: &(impl Serialize + Sync),
    ) -> Result<T> {
        let mut segments = vec!["workspaces", workspace, "pipelines", name];
        segments.extend(action);
        read(self.request(Method::POST, &segments, &[]).json(body).send().await?).await
    }

    /// All pages of a list.
    async fn all<T: DeserializeOwned>(&self, segments: &[&str]) -> Result<Vec<T>> {
        let mut page: v1::Page<T> = self.get(segments, &[("limit", PAGE)]).await?;
        let mut all = page.items;
        while let Some(after) = page.next.take() {
            page = self.get(segments, &[("limit", PAGE), ("after", &after)]).await?;
            all.append(&mut page.items);
        }
        Ok(all)
    }
}

fn event(line: &[u8]) -> Result<v1::RehearsalEvent> {
    serde_json::from_slice(line)
        .map_err(|source| Error::Foreign { status: 200, source: Some(source) })
}
