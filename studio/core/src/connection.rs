//! The connection to one appliance: looked at all the time, renewed by itself, told to the pages.
//!
//! A watch asks the appliance every few seconds who it is and how it is; when it is gone, the watch
//! waits longer and longer (with some chance in it, so that a plant's studios do not all come at
//! once), and every page shows since when. A session that ends is renewed with the password from
//! the vault, if its owner wanted that; otherwise the pages are told that nobody is signed in.
//!
//! **Invariants**: a certificate that is not accepted stops the watch until a person decides; a
//! password that was refused is not sent again; tokens are in memory only.

mod backoff;
mod session;

pub(crate) use backoff::BackOff;
pub(crate) use session::{Session, with_vault};

use crate::call::ApiAnswer;
use crate::clock::Clock;
use crate::event::{Event, Outbox};
use crate::fault::{Fault, FaultCode, Result};
use crate::http::{Ask, Http, Reply};
use crate::limits::{PROBE_TIMEOUT, WATCH_INTERVAL};
use crate::profile::{Profile, ProfileId};
use crate::trust::Fingerprint;
use crate::vault::{Secret, Vault};
use bytes::Bytes;
use hyper::Method;
use jiff::Timestamp;
use millrace_contract::v1;
use parking_lot::Mutex;
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How an appliance's connection is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ConnectionState {
    /// Nobody asked for it.
    Offline,
    /// The first attempt is under way.
    Connecting,
    /// The certificate has to be accepted by a person first.
    NotTrusted {
        /// What the appliance shows.
        presented: Fingerprint,
        /// What was accepted before: then the certificate has changed, and that is loud.
        #[serde(skip_serializing_if = "Option::is_none")]
        pinned: Option<Fingerprint>,
    },
    /// It answers, and nobody is signed in.
    SignedOut {
        /// The appliance's version.
        version: String,
        /// Why a session ended that was there.
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// Somebody is signed in and the appliance answers.
    Online {
        /// The appliance's version.
        version: String,
        /// Who.
        name: String,
        /// What that person may do.
        role: v1::Role,
        /// The appliance's clock against this computer's.
        #[serde(skip_serializing_if = "Option::is_none")]
        clock: Option<ClockDifference>,
    },
    /// It cannot be reached; tried again by itself. What the pages show is stale.
    Waiting {
        /// Since when.
        since: String,
        /// Why.
        why: String,
    },
}

/// A clock difference as it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ClockDifference {
    /// Positive: the appliance is ahead.
    pub milliseconds: i64,
    /// The measurement's error, half the round trip.
    pub error_milliseconds: i64,
    /// Whether it is more than a studio should keep silent about.
    pub is_large: bool,
}

/// One appliance's connection.
pub(crate) struct Link {
    profile: Profile,
    http: Http,
    vault: Arc<dyn Vault>,
    clock: Arc<dyn Clock>,
    outbox: Arc<Outbox>,
    state: Mutex<ConnectionState>,
    session: Mutex<Option<Arc<Session>>>,
    /// Whether the vault has the password.
    remembers: AtomicBool,
    /// One renewal at a time; what is inside says that the kept password was refused.
    renewal: tokio::sync::Mutex<bool>,
    /// Why the last session ended.
    ended: Mutex<Option<String>>,
    kicked: Notify,
    settled: Notify,
}

impl Link {
    pub(crate) fn new(
        profile: Profile,
        vault: Arc<dyn Vault>,
        clock: Arc<dyn Clock>,
        outbox: Arc<Outbox>,
    ) -> Result<Arc<Self>> {
        profile.address.check_plain(profile.plain_allowed)?;
        let pinned = profile.pin.as_ref().map(|pin| pin.fingerprint);
        let http = Http::new(profile.address.clone(), pinned)?;
        let remembers = AtomicBool::new(profile.remembered);
        Ok(Arc::new(Self {
            profile,
            http,
            vault,
            clock,
            outbox,
            state: Mutex::new(ConnectionState::Connecting),
            session: Mutex::default(),
            remembers,
            renewal: tokio::sync::Mutex::default(),
            ended: Mutex::default(),
            kicked: Notify::new(),
            settled: Notify::new(),
        }))
    }

    pub(crate) fn profile(&self) -> &ProfileId {
        &self.profile.id
    }

    pub(crate) fn http(&self) -> &Http {
        &self.http
    }

    pub(crate) fn state(&self) -> ConnectionState {
        self.state.lock().clone()
    }

    pub(crate) fn session(&self) -> Option<Arc<Session>> {
        self.session.lock().clone()
    }

    /// Makes the watch look now.
    pub(crate) fn kick(&self) {
        self.kicked.notify_one();
    }

    /// Waits until the watch has looked again, at most for so long.
    pub(crate) async fn settled(&self, most: Duration) {
        // Either is a reason to go on.
        let (Ok(()) | Err(_)) = tokio::time::timeout(most, self.settled.notified()).await;
    }

    /// The first state that is known, waiting for it at most for so long.
    pub(crate) async fn first_state(&self, most: Duration) -> ConnectionState {
        let until = Instant::now() + most;
        loop {
            let mut settled = std::pin::pin!(self.settled.notified());
            // From here on no change is missed.
            settled.as_mut().enable();
            let state = self.state();
            let is_known = state != ConnectionState::Connecting;
            if is_known || tokio::time::timeout_at(until, settled).await.is_err() {
                return state;
            }
        }
    }

    fn set_state(&self, state: ConnectionState) {
        let mut current = self.state.lock();
        if *current != state {
            tracing::info!(appliance = %self.profile.name, state = state.word(), "A connection changed.");
            *current = state.clone();
            drop(current);
            let profile = self.profile.id.clone();
            self.outbox.tell_all(&Event::Connection { profile, state });
        }
        self.settled.notify_waiters();
    }

    /// Looks at the appliance for ever; whoever drops this future ends it.
    pub(crate) async fn watch(self: Arc<Self>) {
        let mut back_off = BackOff::default();
        loop {
            let wait = match self.look().await {
                Ok(()) => {
                    back_off = BackOff::default();
                    Some(WATCH_INTERVAL)
                }
                Err(fault) => self.note(&fault).then(|| back_off.next()),
            };
            match wait {
                None => self.kicked.notified().await,
                Some(wait) => {
                    // A kick is as good a reason to look as the end of the wait.
                    let (Ok(()) | Err(_)) =
                        tokio::time::timeout(wait, self.kicked.notified()).await;
                }
            }
        }
    }

    /// Looks once, and tells the outcome in the state.
    pub(crate) async fn look_once(&self) -> Result<()> {
        let looked = self.look().await;
        if let Err(fault) = &looked {
            self.note(fault);
        }
        looked
    }

    /// Tells a failure; gives whether trying again can help.
    fn note(&self, fault: &Fault) -> bool {
        if let Some(presented) = fault.presented {
            let pinned = match fault.code {
                FaultCode::CertificateChanged => {
                    self.profile.pin.as_ref().map(|pin| pin.fingerprint)
                }
                _ => None,
            };
            self.set_state(ConnectionState::NotTrusted { presented, pinned });
            return false;
        }
        let since = match self.state() {
            ConnectionState::Waiting { since, .. } => since,
            _ => self.clock.now().to_string(),
        };
        self.set_state(ConnectionState::Waiting { since, why: fault.message.clone() });
        true
    }

    async fn look(&self) -> Result<()> {
        let ask = Ask::get("/api/v1/version", None).within(PROBE_TIMEOUT);
        let version: v1::Version = self.http.ask(ask).await?.read()?;
        if version.product != "millrace" || version.api != "v1" {
            let message = format!(
                "{} with API {} answers there; this studio speaks API v1 of millrace.",
                version.product, version.api
            );
            return Err(Fault::new(FaultCode::Foreign, message));
        }
        self.renew_in_time().await?;
        let Some(session) = self.session() else {
            let why = self.ended.lock().clone();
            self.set_state(ConnectionState::SignedOut { version: version.version, why });
            return Ok(());
        };
        let (before, began) = (self.clock.now(), Instant::now());
        let ask = Ask::get("/api/v1/overview", Some(&session.token)).within(PROBE_TIMEOUT);
        let reply = self.http.ask(ask).await?;
        if reply.status == 401 {
            self.refused_token(&session.token).await;
            self.kick();
            return Ok(());
        }
        let overview: v1::Overview = reply.read()?;
        let clock = difference(&overview.now, before, began.elapsed());
        self.set_state(ConnectionState::Online {
            version: version.version,
            name: session.name.clone(),
            role: session.role,
            clock,
        });
        Ok(())
    }

    /// Asks the appliance on behalf of a page. A session that has just ended is renewed once.
    pub(crate) async fn api(
        &self,
        method: Method,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<Reply> {
        let session = self.session();
        let token = session.as_ref().map(|session| &session.token);
        let reply = self.ask(method.clone(), path, token, body.clone()).await?;
        let Some(token) = token.filter(|_| reply.status == 401) else { return Ok(reply) };
        self.refused_token(token).await;
        let Some(session) = self.session() else { return Ok(reply) };
        self.ask(method, path, Some(&session.token), body).await
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        token: Option<&Secret>,
        body: Option<Bytes>,
    ) -> Result<Reply> {
        let ask = Ask { method, body, ..Ask::get(path, token) };
        let reply = self.http.ask(ask).await;
        if reply.is_err() {
            self.kick();
        }
        reply
    }
}

impl ConnectionState {
    /// Its name, for the log.
    fn word(&self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Connecting => "connecting",
            Self::NotTrusted { .. } => "not trusted",
            Self::SignedOut { .. } => "signed out",
            Self::Online { .. } => "online",
            Self::Waiting { .. } => "waiting",
        }
    }
}

/// The appliance's time against the middle of the exchange. Steps of 50 ms, so that noise is no
/// news.
fn difference(theirs: &str, before: Timestamp, took: Duration) -> Option<ClockDifference> {
    let theirs: Timestamp = theirs.parse().ok()?;
    let took = i64::try_from(took.as_millis()).ok()?;
    let middle = before.as_millisecond() + took / 2;
    let exact = theirs.as_millisecond() - middle;
    let round = |value: i64| (value + value.signum() * 25) / 50 * 50;
    let most = i64::try_from(crate::limits::CLOCK_DIFFERENCE_TOLD.as_millis()).ok()?;
    Some(ClockDifference {
        milliseconds: round(exact),
        error_milliseconds: round(took / 2 + 25),
        is_large: exact.abs() > most + took / 2,
    })
}

impl From<Reply> for ApiAnswer {
    fn from(reply: Reply) -> Self {
        Self::new(reply.status, &reply.headers, &reply.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_difference_has_its_error_beside_it() {
        let before: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
        let check = |theirs: &str, took: u64, milliseconds: i64, is_large: bool| {
            let found = difference(theirs, before, Duration::from_millis(took)).unwrap();
            assert_eq!((found.milliseconds, found.is_large), (milliseconds, is_large), "{theirs}");
        };
        check("2026-11-30T12:00:00.05Z", 100, 0, false);
        check("2026-11-30T12:00:03.05Z", 100, 3_000, true);
        check("2026-11-30T11:59:57.05Z", 100, -3_000, true);
        // So slow an exchange proves nothing.
        check("2026-11-30T12:00:03Z", 4_000, 1_000, false);
        assert_eq!(difference("yesterday", before, Duration::ZERO), None);
    }
}
