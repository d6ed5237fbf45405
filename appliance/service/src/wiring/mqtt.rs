//! The broker's questions answered by access and admission.
//!
//! Thin adaptors: each method forwards and translates a result. They live here because the
//! broker, access and admission do not know one another.

use millrace_access::{Access, ClientGrant};
use millrace_admission as admission;
use millrace_broker as broker;
use millrace_catalog::Namespace;
use millrace_journal::Registration;
use millrace_model::Refusal;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Waker;

/// Signs MQTT clients in.
pub(super) struct SignIn {
    pub(super) access: Arc<Access>,
    pub(super) namespace: Arc<Namespace>,
}

impl broker::SignIn for SignIn {
    fn sign_in(
        &self,
        user: &str,
        password: &[u8],
        from: SocketAddr,
    ) -> Result<Arc<broker::Grant>, broker::SignInError> {
        let secret =
            std::str::from_utf8(password).map_err(|_| broker::SignInError::BadCredentials)?;
        let grant = self
            .access
            .sign_in_client(user, secret, Some(from.ip()))
            .map_err(|error| translate(&error))?;
        let workspace = self
            .namespace
            .workspace_by_number(grant.workspace)
            .ok_or(broker::SignInError::NotAuthorized)?;
        Ok(Arc::new(broker::Grant::new(
            grant.number,
            grant.id.as_str(),
            workspace.name.as_str(),
            grant.subscribe.clone(),
        )))
    }

    fn is_valid(&self, grant: &broker::Grant) -> bool {
        self.access.grant(grant.number).is_some()
    }
}

fn translate(error: &millrace_access::SignInError) -> broker::SignInError {
    use millrace_access::SignInError as From;
    match error {
        From::Refused | From::Expired => broker::SignInError::BadCredentials,
        From::Limited(limited) => {
            broker::SignInError::TooManyAttempts { retry_after: limited.retry_after }
        }
        From::Unavailable => broker::SignInError::Unavailable,
    }
}

/// Opens admission sessions for MQTT connections.
pub(super) struct Gate {
    pub(super) access: Arc<Access>,
    pub(super) gate: Arc<admission::Gate>,
    pub(super) namespace: Arc<Namespace>,
}

impl Gate {
    fn client(&self, grant: &broker::Grant) -> admission::Client {
        let rights = self.access.grant(grant.number);
        let rights: Option<&ClientGrant> = rights.as_deref();
        admission::Client {
            number: grant.number,
            id: grant.id.to_string(),
            workspace: self
                .namespace
                .workspace(&grant.workspace)
                .unwrap_or(millrace_model::WorkspaceNumber(0)),
            workspace_name: grant.workspace.to_string(),
            // A client that was revoked meanwhile may publish nowhere.
            publish: rights.map(|rights| rights.publish.clone()).unwrap_or_default(),
            may_create: rights.is_some_and(|rights| rights.may_create),
            retention: rights.and_then(|rights| rights.retention),
            rate_per_s: rights.and_then(|rights| rights.rate_per_s),
        }
    }
}

impl broker::Gate for Gate {
    fn open(&self, grant: &Arc<broker::Grant>) -> Box<dyn broker::IngestSession> {
        Box::new(Session(self.gate.open(Arc::new(self.client(grant)))))
    }
}

struct Session(admission::Session);

impl broker::IngestSession for Session {
    fn begin(&mut self) {
        self.0.begin();
    }

    fn offer(&mut self, topic: &str, payload: &[u8]) -> broker::Decision {
        match self.0.offer(topic, payload) {
            admission::Decision::Stored { first_record } => {
                broker::Decision::Stored { first_record }
            }
            admission::Decision::Refused(refusal) => broker::Decision::Refused(refusal),
            admission::Decision::Batch(batch) => {
                let elements = batch.elements.into_iter().map(|element| broker::ElementDecision {
                    path: element.path,
                    verdict: element.verdict,
                });
                let elements = elements.collect();
                broker::Decision::Batch(Box::new(broker::BatchDecision { elements }))
            }
        }
    }

    fn refuse(&mut self, _topic: &str, _payload_bytes: usize, refusal: &Refusal) {
        self.0.refuse(refusal.clone());
    }

    fn submit(&mut self, waker: &Waker, registration: &mut Registration) -> broker::Submitted {
        match self.0.submit(waker, registration) {
            admission::Submitted::Queued(range) => broker::Submitted::Queued(range),
            admission::Submitted::Full => broker::Submitted::Full,
            admission::Submitted::Empty => broker::Submitted::Empty,
            admission::Submitted::Closed => broker::Submitted::Closed,
        }
    }
}
