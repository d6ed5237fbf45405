//! Calls that reach an appliance: connecting, signing in, its API, live values.

use super::{Linked, Studio};
use crate::call::{Answer, check_api};
use crate::connection::{ConnectionState, Link};
use crate::event::Event;
use crate::fault::{Fault, FaultCode, Result};
use crate::limits::{
    CONNECT_TIMEOUT, FILTERS_MAX, HANDSHAKE_TIMEOUT, NAME_BYTES_MAX, PASSWORD_BYTES_MAX,
    STREAMS_MAX,
};
use crate::live::{Wanted, serve};
use crate::profile::ProfileId;
use crate::vault::Secret;
use bytes::Bytes;
use millrace_contract::v1;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::task::AbortHandle;

/// The live subscriptions that were begun.
#[derive(Default)]
pub(super) struct Streams {
    last: u32,
    begun: BTreeMap<u32, Begun>,
}

struct Begun {
    window: String,
    profile: ProfileId,
    task: AbortHandle,
}

impl Streams {
    fn end(&mut self, is_over: impl Fn(u32, &Begun) -> bool) {
        self.begun.retain(|number, begun| {
            let over = is_over(*number, begun);
            if over {
                begun.task.abort();
            }
            !over
        });
    }

    pub(super) fn end_window(&mut self, window: &str) {
        self.end(|_, begun| begun.window == window);
    }
}

impl Studio {
    pub(super) fn link(&self, id: &ProfileId) -> Result<Arc<Link>> {
        self.profile(id)?;
        let links = self.0.links.lock();
        let linked = links.get(id);
        linked
            .map(|linked| Arc::clone(&linked.link))
            .ok_or_else(|| Fault::offline("This appliance is not connected."))
    }

    /// Connects, if nobody has yet, and waits for the first state.
    pub(super) async fn connect(&self, id: &ProfileId) -> Result<Answer> {
        let profile = self.profile(id)?;
        let link = match self.link(id) {
            Ok(link) => {
                link.kick();
                link
            }
            Err(_) => {
                let vault = Arc::clone(&self.0.parts.vault);
                let clock = Arc::clone(&self.0.parts.clock);
                let link = Link::new(profile, vault, clock, Arc::clone(&self.0.outbox))?;
                let watch = self.spawn(Arc::clone(&link).watch());
                let linked = Linked { link: Arc::clone(&link), watch };
                if let Some(other) = self.0.links.lock().insert(id.clone(), linked) {
                    other.watch.abort();
                }
                link
            }
        };
        let state = link.first_state(CONNECT_TIMEOUT + HANDSHAKE_TIMEOUT).await;
        Ok(Answer::Connection { state })
    }

    pub(super) fn disconnect(&self, id: &ProfileId) {
        let Some(linked) = self.0.links.lock().remove(id) else { return };
        linked.watch.abort();
        self.0.streams.lock().end(|_, begun| begun.profile == *id);
        let (profile, state) = (id.clone(), ConnectionState::Offline);
        self.0.outbox.tell_all(&Event::Connection { profile, state });
    }

    pub(super) async fn sign_in(
        &self,
        id: &ProfileId,
        name: String,
        password: Secret,
        remember: bool,
    ) -> Result<Answer> {
        if name.len() > NAME_BYTES_MAX || password.expose().len() > PASSWORD_BYTES_MAX {
            return Err(Fault::invalid("password", "The name or password is too long."));
        }
        let link = self.link(id)?;
        let kept = link.sign_in(&name, &password, remember).await;
        self.signed_in(&link, remember && kept.is_ok(), kept).await
    }

    pub(super) async fn claim(
        &self,
        id: &ProfileId,
        claim: v1::Claim,
        remember: bool,
    ) -> Result<Answer> {
        let link = self.link(id)?;
        let kept = link.claim(claim, remember).await;
        self.signed_in(&link, remember && kept.is_ok(), kept).await
    }

    /// Notes who signed in. A keyring that does not work is told, but the session stands.
    async fn signed_in(&self, link: &Link, kept: bool, outcome: Result<()>) -> Result<Answer> {
        if let Err(fault) = &outcome
            && fault.code != FaultCode::Vault
        {
            return Err(fault.clone());
        }
        let session = link.session().ok_or_else(Fault::signed_out)?;
        let (id, name) = (link.profile().clone(), session.name.clone());
        self.edit_profiles(move |profiles| profiles.signed_in(&id, &name, kept)).await?;
        link.look_once().await?;
        outcome?;
        Ok(Answer::Connection { state: link.state() })
    }

    pub(super) async fn sign_out(&self, id: &ProfileId) -> Result<Answer> {
        let link = self.link(id)?;
        let forgotten = link.sign_out().await;
        let id = id.clone();
        self.edit_profiles(move |profiles| profiles.forgotten(&id)).await?;
        forgotten?;
        // What it finds is told as a state.
        let (Ok(()) | Err(_)) = link.look_once().await;
        Ok(Answer::Connection { state: link.state() })
    }

    pub(super) async fn api(
        &self,
        id: &ProfileId,
        method: &str,
        path: &str,
        body: Option<String>,
    ) -> Result<Answer> {
        let method = check_api(method, path, body.as_deref())?;
        let reply = self.link(id)?.api(method, path, body.map(Bytes::from)).await?;
        Ok(Answer::Api(reply.into()))
    }

    pub(super) fn live(
        &self,
        window: &str,
        session: u64,
        id: &ProfileId,
        workspace: String,
        filters: Vec<String>,
    ) -> Result<Answer> {
        if filters.is_empty() || filters.len() > FILTERS_MAX {
            let message = format!("Give 1 to {FILTERS_MAX} filters.");
            return Err(Fault::invalid("filters", message));
        }
        let link = self.link(id)?;
        link.session().ok_or_else(Fault::signed_out)?;
        let queue = self.0.outbox.window(window)?;
        let mut streams = self.0.streams.lock();
        streams.end(|_, begun| begun.task.is_finished());
        if streams.begun.values().filter(|begun| begun.window == window).count() >= STREAMS_MAX {
            let message = format!("A window has at most {STREAMS_MAX} live subscriptions.");
            return Err(Fault::new(FaultCode::TooLarge, message));
        }
        streams.last = streams.last.wrapping_add(1);
        let stream = streams.last;
        queue.open_stream(session, stream)?;
        let task = self.spawn(serve(link, queue, Wanted { stream, workspace, filters }));
        let (window, profile) = (window.to_owned(), id.clone());
        streams.begun.insert(stream, Begun { window, profile, task });
        Ok(Answer::Live { stream })
    }

    pub(super) fn end_live(&self, window: &str, stream: u32) -> Result<Answer> {
        self.0.outbox.window(window)?.end_stream(stream);
        self.0.streams.lock().end(|number, begun| number == stream && begun.window == window);
        Ok(Answer::Done)
    }
}
