//! The pool: what all steps outside share.
//!
//! **Invariants**: everything here is bounded by [`crate::limits`]; no pipeline owns a connection.

use crate::budget::Budget;
use crate::dial::{Dialer, Resolve, SystemResolver};
use crate::file::Files;
use crate::http::Connections;
use crate::mail::Mails;
use crate::mqtt::Publishers;
use crate::policy::Policy;
use crate::sql::{Postgres, Sqlite};
use crate::targets::{TargetState, Targets};
use millrace_supervisor::{Clock, Issues};
use std::sync::Arc;

/// Clients, connections, limits and the table of targets.
#[derive(Debug)]
pub struct Pool {
    pub(crate) dialer: Arc<Dialer>,
    pub(crate) targets: Arc<Targets>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) http: Connections,
    pub(crate) postgres: Postgres,
    pub(crate) sqlite: Sqlite,
    pub(crate) files: Files,
    pub(crate) mails: Mails,
    pub(crate) mqtt: Publishers,
}

impl Pool {
    /// A pool under a policy, with the operating system's resolver.
    #[must_use]
    pub fn new(policy: Policy, clock: Arc<dyn Clock>, issues: Arc<Issues>) -> Arc<Self> {
        Self::with_resolver(policy, clock, issues, Arc::new(SystemResolver::default()))
    }

    /// The same with another resolver.
    #[must_use]
    pub fn with_resolver(
        policy: Policy,
        clock: Arc<dyn Clock>,
        issues: Arc<Issues>,
        resolver: Arc<dyn Resolve>,
    ) -> Arc<Self> {
        let folder = policy.folder.clone();
        let dialer = Arc::new(Dialer::new(policy, resolver));
        let targets = Arc::new(Targets::new(clock, issues));
        Arc::new(Self {
            http: Connections::new(Arc::clone(&dialer)),
            postgres: Postgres::new(Arc::clone(&dialer)),
            sqlite: Sqlite::new(),
            files: Files::new(folder),
            mails: Mails::new(Arc::clone(&dialer)),
            mqtt: Publishers::new(Arc::clone(&dialer), Arc::clone(&targets)),
            budget: Arc::default(),
            targets,
            dialer,
        })
    }

    /// What is known of each target.
    #[must_use]
    pub fn targets(&self) -> Vec<TargetState> {
        self.targets.list()
    }

    /// Bytes that all steps outside hold now.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.budget.bytes()
    }

    /// Closes what is idle, raises and clears issues of targets. Call it every few seconds, on the
    /// runtime.
    pub fn tick(&self) {
        self.targets.tick();
        self.http.tick();
        self.postgres.tick();
    }
}
