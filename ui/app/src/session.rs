//! Who is signed in, and how that ended.
//!
//! **Invariants**
//! - A token is held here and in the host's storage for this window, nowhere else.
//! - A session that the appliance no longer takes is forgotten at once, and the person is told why.

use crate::host::{Kept, SharedHost};
use leptos::prelude::*;
use millrace_contract::v1;
use serde::{Deserialize, Serialize};

/// A signed-in person.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct SignedIn {
    /// The person's name.
    pub name: String,
    /// What the person may do.
    pub role: v1::Role,
    /// Goes with every request.
    pub token: String,
}

/// Why nobody is signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignedOut {
    /// Nobody has signed in yet.
    NotYet,
    /// The person signed out.
    ByPerson,
    /// The appliance no longer takes the token: it has expired or was revoked.
    Expired,
}

/// The session of this window.
#[derive(Clone)]
pub struct Sessions {
    host: SharedHost,
    current: RwSignal<Option<SignedIn>>,
    ended: RwSignal<SignedOut>,
}

impl Sessions {
    pub(crate) fn resume(host: SharedHost) -> Self {
        let kept = host.kept(Kept::Session);
        let current = kept.and_then(|text| serde_json::from_str(&text).ok());
        let (current, ended) = (RwSignal::new(current), RwSignal::new(SignedOut::NotYet));
        Self { host, current, ended }
    }

    /// Who is signed in.
    #[must_use]
    pub fn current(&self) -> RwSignal<Option<SignedIn>> {
        self.current
    }

    /// Why nobody is.
    #[must_use]
    pub fn ended(&self) -> RwSignal<SignedOut> {
        self.ended
    }

    /// Whether somebody with at least this role is signed in; for showing, not for deciding: the
    /// appliance decides.
    #[must_use]
    pub fn may(&self, role: v1::Role) -> bool {
        self.current.with(|current| current.as_ref().is_some_and(|person| person.role >= role))
    }

    /// Begins a session.
    pub fn begin(&self, session: v1::Session) {
        let person =
            SignedIn { name: session.name, role: session.role, token: session.access_token };
        if let Ok(text) = serde_json::to_string(&person) {
            self.host.keep(Kept::Session, Some(&text));
        }
        self.current.set(Some(person));
    }

    /// Ends the session here; the appliance is told by whoever calls this.
    pub fn end(&self, why: SignedOut) {
        self.host.keep(Kept::Session, None);
        self.ended.set(why);
        self.current.set(None);
    }
}
