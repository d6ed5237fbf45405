//! Secrets: names go out, values only in.

use super::{Answers, failed, secret_fault};
use millrace_api::Fault;
use millrace_api::backend as api;
use millrace_api::backend::InWorkspace;
use millrace_catalog::Place;
use millrace_contract::v1;

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
                self.durable(definitions, secret)
            }
            Err(error) => failed(secret_fault(&error)),
        }
    }

    pub(super) fn drop_secret(
        &self,
        workspace: &InWorkspace,
        name: &str,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<(), Fault>> {
        match self.0.secrets.remove(place(workspace, name), &self.by(by)) {
            Ok(definitions) => self.durable(definitions, ()),
            Err(error) => failed(secret_fault(&error)),
        }
    }
}

fn place<'a>(workspace: &'a InWorkspace, name: &'a str) -> Place<'a> {
    Place { workspace: workspace.number, workspace_name: &workspace.name, name }
}
