//! All connections, and the sessions among them.
//!
//! **Invariants**: a session is known by API client *and* MQTT client identifier, so no client
//! takes over another's; a connection's end removes its session only while it is still its own;
//! at most `clients_max` sessions, at most `unauthenticated_max` connections without one.

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashMap;
use millrace_model::ClientNumber;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::link::{Command, Link};

/// The table.
#[derive(Debug, Default)]
pub(crate) struct Table {
    state: Mutex<State>,
    /// Told when the last connection has gone.
    empty: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Without a session, not yet or no more; oldest first.
    waiting: BTreeMap<u64, Arc<Link>>,
    /// Signed in.
    signed_in: HashMap<u64, Arc<Link>, foldhash::fast::RandomState>,
    sessions: HashMap<(ClientNumber, Box<str>), Arc<Link>, foldhash::fast::RandomState>,
}

/// The table is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClientsMax;

impl Table {
    /// Takes a new connection in; answers with the one that is pushed out for it, if any.
    pub(crate) fn add(&self, link: &Arc<Link>, unauthenticated_max: u32) -> Option<Arc<Link>> {
        let mut state = self.state.lock();
        let mut pushed_out = None;
        if state.waiting.len() >= usize::try_from(unauthenticated_max).unwrap_or(usize::MAX) {
            pushed_out = state.waiting.pop_first().map(|(_, oldest)| oldest);
        }
        state.waiting.insert(link.id, Arc::clone(link));
        pushed_out
    }

    /// Makes a connection the one of its session; answers with the connection that had it.
    pub(crate) fn sign_in(
        &self,
        link: &Arc<Link>,
        client: ClientNumber,
        mqtt_id: &str,
        clients_max: u32,
    ) -> Result<Option<Arc<Link>>, ClientsMax> {
        let mut state = self.state.lock();
        let key = (client, Box::from(mqtt_id));
        let is_new = !state.sessions.contains_key(&key);
        if is_new && state.sessions.len() >= usize::try_from(clients_max).unwrap_or(usize::MAX) {
            return Err(ClientsMax);
        }
        state.waiting.remove(&link.id);
        state.signed_in.insert(link.id, Arc::clone(link));
        Ok(state.sessions.insert(key, Arc::clone(link)))
    }

    /// Ends a connection's session, while the connection itself is still closing. From here on it
    /// counts, and is pushed out, like one that has not signed in.
    pub(crate) fn end_session(&self, link: &Link) {
        let mut state = self.state.lock();
        state.end_session(link);
        if let Some(link) = state.signed_in.remove(&link.id) {
            state.waiting.insert(link.id, link);
        }
    }

    /// Forgets a connection that has ended.
    pub(crate) fn remove(&self, link: &Arc<Link>) {
        let is_empty = {
            let mut state = self.state.lock();
            state.waiting.remove(&link.id);
            state.signed_in.remove(&link.id);
            state.end_session(link);
            state.waiting.is_empty() && state.signed_in.is_empty()
        };
        if is_empty {
            self.empty.notify_waiters();
        }
    }

    /// Waits until no connection is left.
    pub(crate) async fn until_empty(&self) {
        loop {
            let emptied = self.empty.notified();
            {
                let state = self.state.lock();
                if state.waiting.is_empty() && state.signed_in.is_empty() {
                    return;
                }
            }
            emptied.await;
        }
    }

    /// All connections, for rare work over all of them.
    pub(crate) fn all(&self) -> Vec<Arc<Link>> {
        let state = self.state.lock();
        state.waiting.values().chain(state.signed_in.values()).cloned().collect()
    }

    /// The connections that have a session.
    pub(crate) fn sessions(&self) -> Vec<Arc<Link>> {
        self.state.lock().sessions.values().cloned().collect()
    }

    /// How many sessions there are, and how many connections without one.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.state.lock();
        let others = state.signed_in.len().saturating_sub(state.sessions.len());
        (state.sessions.len(), state.waiting.len() + others)
    }

    /// Tells every connection the same.
    pub(crate) fn command_all(&self, command: Command) {
        for link in self.all() {
            link.command(command);
        }
    }
}

impl State {
    fn end_session(&mut self, link: &Link) {
        let Some(identity) = link.identity.get() else { return };
        let key = (identity.client, identity.mqtt_id.clone());
        // A newer connection may have the session by now: that one stays.
        if self.sessions.get(&key).is_some_and(|holder| holder.id == link.id) {
            self.sessions.remove(&key);
        }
    }
}
