//! Single values: the last refusals of a topic, and a value that a person publishes.
//!
//! A person's value goes the way of every other: admission, journal, followers. It is counted under
//! the box itself, since it is no client's; who published it stands in the audit trail, in the same
//! commit.
//!
//! **Invariants**: what is told of a value is durable; a path without a tag gets none.

use super::access::actor;
use super::{Answers, failed};
use crate::wiring::state::Shared;
use millrace_admission::{Client, Decision, Session, Submitted, THE_BOX};
use millrace_api::Fault;
use millrace_api::backend as api;
use millrace_contract::v1;
use millrace_journal::{Registration, Seq};
use millrace_model::{Filter, Record, Refusal, WorkspaceNumber};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

impl Answers {
    pub(super) fn refused_values(
        &self,
        workspace: WorkspaceNumber,
        path: &str,
    ) -> Vec<v1::RefusedValue> {
        let all = self.0.gate.last_refusals(workspace, path).into_iter();
        let outward = all.map(|refused| {
            let client = self.0.access.client_by_number(refused.client);
            v1::RefusedValue {
                at: refused.at.to_rfc3339(),
                client: client.map(|client| client.id),
                reason: refused.refusal.reason.name().to_owned(),
                message: refused.refusal.sentence().to_owned(),
                payload: String::from_utf8_lossy(&refused.payload).into_owned(),
                payload_bytes: refused.payload_bytes as u64,
                cut: refused.payload.len() < refused.payload_bytes,
            }
        });
        outward.collect()
    }

    pub(super) fn publish_value(
        &self,
        workspace: WorkspaceNumber,
        path: String,
        payload: String,
        by: &api::Actor,
    ) -> api::BoxFuture<Result<v1::TestVerdict, Fault>> {
        let Some(known) = self.0.namespace.workspace_by_number(workspace) else {
            return failed(Fault::NotFound("there is no such workspace".to_owned()));
        };
        let client = Client {
            number: THE_BOX,
            id: by.who.clone(),
            workspace,
            workspace_name: known.name.clone(),
            publish: Filter::new("#").into_iter().collect(),
            may_create: false,
            retention: None,
            rate_per_s: Some(0),
        };
        let audit = self.0.access.audit(&actor(by), "value.publish", &path);
        let mut session = self.0.gate.open(Arc::new(client));
        session.begin();
        let verdict = verdict(session.offer_path(&path, payload.as_bytes()));
        session.push_record(&Record::Definition(&audit.encode()));
        // A task of its own: whoever asked may go away, the value is on its way.
        let task =
            millrace_supervisor::spawn::task("test-value", submit(Arc::clone(&self.0), session));
        Box::pin(async move {
            match task.await {
                Ok(Ok(())) => Ok(verdict),
                Ok(Err(fault)) => Err(fault),
                Err(_) => Err(Fault::Internal("publishing a value ended".to_owned())),
            }
        })
    }
}

/// Appends what the session has collected, and waits until it is durable.
async fn submit(shared: Arc<Shared>, mut session: Session) -> Result<(), Fault> {
    let mut registration = Registration::default();
    let mut last = None::<Seq>;
    poll_fn(|context| {
        if last.is_none() {
            match session.submit(context.waker(), &mut registration) {
                Submitted::Queued(range) => last = Some(range.last()),
                Submitted::Full => return Poll::Pending,
                Submitted::Empty => return Poll::Ready(Ok(())),
                Submitted::Closed => {
                    let message = "the appliance stops; the value is not stored".to_owned();
                    return Poll::Ready(Err(Fault::Unavailable(message)));
                }
            }
        }
        match last {
            Some(last) if shared.journal.durable() < last => Poll::Pending,
            _ => Poll::Ready(Ok(())),
        }
    })
    .await
}

fn verdict(decision: Decision) -> v1::TestVerdict {
    let (stored, refused, first): (u64, u64, Option<Refusal>) = match decision {
        Decision::Stored { .. } => (1, 0, None),
        Decision::Refused(refusal) => (0, 1, Some(refusal)),
        Decision::Batch(batch) => {
            let stored = batch.admitted_count();
            let refused = batch.elements.len().saturating_sub(stored);
            (stored as u64, refused as u64, batch.first_refusal().cloned())
        }
    };
    v1::TestVerdict {
        stored,
        refused,
        reason: first.as_ref().map(|refusal| refusal.reason.name().to_owned()),
        message: first.map(|refusal| refusal.sentence().to_owned()),
    }
}
