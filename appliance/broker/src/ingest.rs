//! What the broker asks of the rest: who may come in, what becomes of a publish, what is durable.
//!
//! The service implements these traits over access, admission and the journal; tests implement
//! them with a few lines. One [`IngestSession`] belongs to one connection and is called from its
//! task alone.
//!
//! **Invariants**: a session's scratch keeps the order of its offers; everything offered between
//! two submits becomes durable together; a refusal is recorded in the same way as a value and
//! waits in the same queue. Stands between the codec and the journal in the way of one value.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;
use std::time::Duration;

use millrace_journal::{Journal, Registration, Seq, SeqRange};
use millrace_model::{ClientNumber, Filter, Refusal};
use thiserror::Error;

/// What a signed-in API client may do.
#[derive(Debug)]
pub struct Grant {
    /// The API client's number.
    pub number: ClientNumber,
    /// Its id: the user name, one topic level.
    pub id: Box<str>,
    /// The name of the workspace that it works in.
    pub workspace: Box<str>,
    /// What it may subscribe to: filters of paths *below the workspace*, e.g. `press-4/#`.
    pub subscribe: Vec<Filter>,
    is_revoked: AtomicBool,
}

impl Grant {
    /// A grant that holds.
    #[must_use]
    pub fn new(
        number: ClientNumber,
        id: impl Into<Box<str>>,
        workspace: impl Into<Box<str>>,
        subscribe: Vec<Filter>,
    ) -> Self {
        let is_revoked = AtomicBool::new(false);
        Self { number, id: id.into(), workspace: workspace.into(), subscribe, is_revoked }
    }

    /// Takes the grant back: a connection that is just being made with it fails. Connections
    /// that stand are ended by [`crate::Broker::disconnect_client`].
    pub fn revoke(&self) {
        self.is_revoked.store(true, Ordering::Release);
    }

    /// Whether it was taken back.
    #[must_use]
    pub fn is_revoked(&self) -> bool {
        self.is_revoked.load(Ordering::Acquire)
    }
}

/// Why a sign-in fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SignInError {
    /// Unknown user or wrong secret; which of the two is not told.
    #[error("wrong user name or secret")]
    BadCredentials,
    /// The client or its token was revoked.
    #[error("this client was revoked")]
    Revoked,
    /// Too many failed attempts from here.
    #[error("too many failed attempts to sign in")]
    TooManyAttempts {
        /// When it may try again.
        retry_after: Duration,
    },
    /// Known, but may not use this entrance.
    #[error("this client may not connect here")]
    NotAuthorized,
    /// Cannot be judged now.
    #[error("the appliance is not ready")]
    Unavailable,
}

/// Signs clients in. Synchronous and fast: a keyed hash or a token check.
pub trait SignIn: Send + Sync {
    /// Judges a user name and secret (or bearer token as the password).
    ///
    /// # Errors
    /// Why not.
    fn sign_in(
        &self,
        user: &str,
        password: &[u8],
        from: SocketAddr,
    ) -> Result<Arc<Grant>, SignInError>;

    /// Whether a grant of this client still holds: asked once more after the connection is in
    /// the table, so that a revocation in between is not missed.
    fn is_valid(&self, grant: &Grant) -> bool {
        !grant.is_revoked()
    }
}

/// Opens ingest sessions.
pub trait Gate: Send + Sync {
    /// A session for a new connection.
    fn open(&self, grant: &Arc<Grant>) -> Box<dyn IngestSession>;
}

/// One connection's way into the journal.
pub trait IngestSession: Send {
    /// Begins one wake: the clock is read once for all publishes of a read.
    fn begin(&mut self);

    /// Judges one publish into the client's own inbox and appends a record (or a refusal record)
    /// to the scratch. `topic` is the whole topic, `<root>/<workspace>/_ingress/<client>/<path>`.
    fn offer(&mut self, topic: &str, payload: &[u8]) -> Decision;

    /// Records a refusal that the broker itself decided (a topic that is not the client's inbox,
    /// a response topic that it may not use), so that the ledger adds up.
    fn refuse(&mut self, topic: &str, payload_bytes: usize, refusal: &Refusal);

    /// Appends the scratch to the journal; `waker` is woken when it is durable.
    fn submit(&mut self, waker: &Waker, registration: &mut Registration) -> Submitted;
}

/// What became of one publish.
#[derive(Debug)]
pub enum Decision {
    /// Admitted; the index of its first record within the scratch.
    Stored {
        /// Counted from 0 at the last submit.
        first_record: u32,
    },
    /// Refused.
    Refused(Refusal),
    /// A batch: a verdict per element.
    Batch(Box<BatchDecision>),
}

/// What became of a batch payload.
#[derive(Debug, Default)]
pub struct BatchDecision {
    /// Element by element, in the payload's order.
    pub elements: Vec<ElementDecision>,
}

impl BatchDecision {
    /// How many elements were admitted.
    #[must_use]
    pub fn stored_count(&self) -> usize {
        self.elements.iter().filter(|element| element.verdict.is_ok()).count()
    }

    /// The first refusal, if there is one.
    #[must_use]
    pub fn first_refusal(&self) -> Option<&Refusal> {
        self.elements.iter().find_map(|element| element.verdict.as_ref().err())
    }
}

/// What became of one element of a batch.
#[derive(Debug)]
pub struct ElementDecision {
    /// Its path below the topic's own, as it was sent; `None` = the topic itself.
    pub path: Option<Box<str>>,
    /// Index of its record within the scratch, or why it is not admitted.
    pub verdict: Result<u32, Refusal>,
}

/// What became of a submit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// Queued for the next commit, all in the same one: record `i` has seq `first + i`.
    Queued(SeqRange),
    /// No room, or the journal is degraded: the scratch stays, try again after
    /// [`Durable::wait_for_space`].
    Full,
    /// There was nothing to append.
    Empty,
    /// The journal is closed: the appliance stops. Nothing is acknowledged any more.
    Closed,
}

/// What the broker needs to know of the journal.
pub trait Durable: Send + Sync {
    /// The highest durable seq that readers have seen.
    fn durable(&self) -> Seq;
    /// Wakes `waker` once when a full journal has room again.
    fn wait_for_space(&self, waker: &Waker);
    /// Calls `hook` after each commit, when all that waited for it have been woken. Who cannot
    /// tell need not: then pauses last as long as they may.
    fn after_commits(&self, hook: Box<dyn Fn() + Send + Sync>) {
        drop(hook);
    }
}

impl Durable for Journal {
    fn durable(&self) -> Seq {
        Self::durable(self)
    }

    fn wait_for_space(&self, waker: &Waker) {
        Self::wait_for_space(self, waker);
    }

    fn after_commits(&self, hook: Box<dyn Fn() + Send + Sync>) {
        Self::after_commits(self, hook);
    }
}
