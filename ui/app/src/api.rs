//! The appliance's HTTP API, as pages use it: by the contract's types, with the session's token.
//!
//! A page asks with [`Api::get`] and its relatives; nothing has to be registered here. The command
//! line's client (`shared/client`) is not used: it stands on time limits and streams that do not
//! exist in a browser, and its parser of addresses alone is as large as a page.
//!
//! **Invariants**
//! - Every segment and parameter is percent-encoded as a whole: no name can change the address.
//! - An answer of 401 to a request with a token ends the session.

mod address;
mod fault;

pub use fault::Fault;

use crate::host::{ANSWER_TIMEOUT, Answer, Method, Request, SharedHost};
use crate::session::{Sessions, SignedOut};
use leptos::prelude::*;
use millrace_contract::v1;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;

/// What a request gives.
pub type Result<T> = std::result::Result<T, Fault>;

/// The appliance's API.
#[derive(Clone)]
pub struct Api {
    host: SharedHost,
    sessions: Sessions,
    reachable: RwSignal<bool>,
}

impl Api {
    pub(crate) fn new(host: SharedHost, sessions: Sessions) -> Self {
        Self { host, sessions, reachable: RwSignal::new(true) }
    }

    /// Whether the last request got through to the appliance.
    #[must_use]
    pub fn reachable(&self) -> Signal<bool> {
        self.reachable.into()
    }

    /// Reads: `api.get(&["workspaces", "main", "tags"], &[("limit", "100")])`.
    ///
    /// # Errors
    /// See [`Fault`]; so for every method.
    pub async fn get<T: DeserializeOwned>(
        &self,
        segments: &[&str],
        query: &[(&str, &str)],
    ) -> Result<T> {
        let answer = self.ask(Method::Get, segments, query, None, ANSWER_TIMEOUT).await?;
        parse(&answer)
    }

    /// Reads what is not JSON, or is passed on as it is: an export.
    ///
    /// # Errors
    /// See [`Fault`].
    pub async fn get_bytes(&self, segments: &[&str], query: &[(&str, &str)]) -> Result<Vec<u8>> {
        Ok(self.ask(Method::Get, segments, query, None, ANSWER_TIMEOUT).await?.body)
    }

    /// Creates or does, and reads the answer.
    ///
    /// # Errors
    /// See [`Fault`].
    pub async fn post<B: Serialize, T: DeserializeOwned>(
        &self,
        segments: &[&str],
        body: &B,
    ) -> Result<T> {
        parse(&self.change(Method::Post, segments, &[], Some(body), ANSWER_TIMEOUT).await?)
    }

    /// Replaces, and reads the answer.
    ///
    /// # Errors
    /// See [`Fault`].
    pub async fn put<B: Serialize, T: DeserializeOwned>(
        &self,
        segments: &[&str],
        body: &B,
    ) -> Result<T> {
        parse(&self.change(Method::Put, segments, &[], Some(body), ANSWER_TIMEOUT).await?)
    }

    /// Changes, and reads the answer.
    ///
    /// # Errors
    /// See [`Fault`].
    pub async fn patch<B: Serialize, T: DeserializeOwned>(
        &self,
        segments: &[&str],
        query: &[(&str, &str)],
        body: &B,
    ) -> Result<T> {
        parse(&self.change(Method::Patch, segments, query, Some(body), ANSWER_TIMEOUT).await?)
    }

    /// Any request whose answer is not needed, or has a longer time limit. Gives the body.
    ///
    /// # Errors
    /// See [`Fault`].
    pub async fn change<B: Serialize>(
        &self,
        method: Method,
        segments: &[&str],
        query: &[(&str, &str)],
        body: Option<&B>,
        timeout: Duration,
    ) -> Result<Answer> {
        let body = body.map(serde_json::to_string).transpose().map_err(|_| Fault::Unsent)?;
        self.ask(method, segments, query, body, timeout).await
    }

    /// Does something that takes no body and answers nothing.
    ///
    /// # Errors
    /// See [`Fault`].
    pub async fn act(&self, method: Method, segments: &[&str]) -> Result<()> {
        self.ask(method, segments, &[], None, ANSWER_TIMEOUT).await.map(drop)
    }

    /// Signs out: the appliance forgets the token, whatever it answers the session ends here.
    pub async fn sign_out(&self) {
        // A token that the appliance does not take any more is signed out already.
        let _refused = self.act(Method::Post, &["logout"]).await.is_err();
        self.sessions.end(SignedOut::ByPerson);
    }

    async fn ask(
        &self,
        method: Method,
        segments: &[&str],
        query: &[(&str, &str)],
        body: Option<String>,
        timeout: Duration,
    ) -> Result<Answer> {
        let token = self
            .sessions
            .current()
            .with_untracked(|current| current.as_ref().map(|person| person.token.clone()));
        let had_token = token.is_some();
        let address = address::below_api(segments, query);
        let request = Request { method, address, token, body, timeout };
        let answer = self.host.send(request).await;
        self.reachable.set(answer.is_ok());
        let answer = answer?;
        if (200..300).contains(&answer.status) {
            return Ok(answer);
        }
        if answer.status == 401 && had_token {
            self.sessions.end(SignedOut::Expired);
        }
        Err(match serde_json::from_slice::<v1::ErrorBody>(&answer.body) {
            Ok(body) => Fault::Refused { status: answer.status, detail: body.error },
            Err(_) => Fault::Foreign { status: answer.status },
        })
    }
}

pub(crate) fn parse<T: DeserializeOwned>(answer: &Answer) -> Result<T> {
    serde_json::from_slice(&answer.body).map_err(|_| Fault::Foreign { status: answer.status })
}
