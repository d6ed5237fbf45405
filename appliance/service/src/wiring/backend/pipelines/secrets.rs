//! Secrets: names go out, values only in.

use super::{Answers, failed, secret_fault};
use crate::wiring::pipelines::look_for_secrets;
use millrace_api::Fault;
use millrace_api::backend as api;
use millrace_api::backend::InWorkspace;
use millrace_catalog::Place;
use millrace_contract::v1;
use millrace_model::Definition;
use std::sync::Arc;

impl Answers {
    pub(super) fn secret_page(
        &self,
        workspace: &InWorkspace,
        after: Option<&str>,
        limit: usize,
    ) -> api::PageOf<v1::Secret> {
        let behind = |name: &str| after.is_none_or(|after| name > after);
        let all = self.0.secrets.list(workspace.number);
        let mut rest = all.into_iter().filter(|line| behind(&line.name));
        let items = rest.by_ref().take(limit).map(|line| v1::Secret {
            name: line.name,
            at: line.at.to_rfc3339(),
            by: line.by,
        });
        let items = items.collect();
        api::PageOf { items, more: rest.next().is_some() }
    }

    pub(super) fn keep_secret(
        &self,
        workspace: &InWorkspace,
        name: String,
        value: &str,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<v1::Secret, Fault>> {
        let by = self.by(by);
        match self.0.secrets.set(place(workspace, &name), value, &self.0.secret_key, &by) {
            Ok(definitions) => {
                let secret = v1::Secret { name, at: by.at.to_rfc3339(), by: by.who };
                self.keep_and_look(definitions, secret)
            }
            Err(error) => failed(secret_fault(&error)),
        }
    }

    /// Makes a change durable, then looks which deployed pipelines miss a secret now.
    fn keep_and_look<T: Send + 'static>(
        &self,
        definitions: Vec<Definition>,
        result: T,
    ) -> api::BoxFuture<Result<T, Fault>> {
        let shared = Arc::clone(&self.0);
        let keeping = self.durable(definitions, result);
        Box::pin(async move {
            let result = keeping.await?;
            let look = move || look_for_secrets(&shared.pipelines, &shared.secrets, &shared.issues);
            // A panic in it has been logged; the secret is set all the same.
            let _panicked = tokio::task::spawn_blocking(look).await.is_err();
            Ok(result)
        })
    }

    pub(super) fn drop_secret(
        &self,
        workspace: &InWorkspace,
        name: &str,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<(), Fault>> {
        match self.0.secrets.remove(place(workspace, name), &self.by(by)) {
            Ok(definitions) => self.keep_and_look(definitions, ()),
            Err(error) => failed(secret_fault(&error)),
        }
    }
}

fn place<'a>(workspace: &'a InWorkspace, name: &'a str) -> Place<'a> {
    Place { workspace: workspace.number, workspace_name: &workspace.name, name }
}
