//! Signing in, and staying so.
//!
//! **Invariants**: the password goes to the vault only if its owner wants that, and nowhere else;
//! one renewal runs at a time, and all who wait for it take its outcome.

use super::Link;
use crate::fault::{Fault, FaultCode, Result};
use crate::http::Ask;
use crate::limits::PROBE_TIMEOUT;
use crate::vault::{Secret, Vault, VaultError};
use hyper::Method;
use millrace_contract::v1;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;

/// Somebody is signed in.
pub(crate) struct Session {
    pub(crate) token: Secret,
    pub(crate) name: String,
    pub(crate) role: v1::Role,
    /// A kept password renews it from then on, before it ends.
    renew_at: Instant,
}

/// What the vault keeps of a profile, as JSON.
#[derive(Serialize, Deserialize)]
struct Kept {
    name: String,
    password: String,
}

impl Session {
    fn new(session: v1::Session) -> Arc<Self> {
        let lifetime = Duration::from_secs(session.expires_in);
        Arc::new(Self {
            token: Secret::new(session.access_token),
            name: session.name,
            role: session.role,
            renew_at: Instant::now() + lifetime * 3 / 4,
        })
    }
}

/// Runs what may block on a thread that may.
pub(crate) async fn with_vault<T: Send + 'static>(
    vault: &Arc<dyn Vault>,
    work: impl FnOnce(&dyn Vault) -> std::result::Result<T, VaultError> + Send + 'static,
) -> Result<T> {
    let vault = Arc::clone(vault);
    let done = tokio::task::spawn_blocking(move || work(vault.as_ref())).await;
    match done {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(Fault::new(FaultCode::Vault, format!("{error}."))),
        Err(_) => Err(Fault::new(FaultCode::Vault, "The keyring's thread ended.")),
    }
}

impl Link {
    /// Signs a person in; keeps the password in the vault if that is wanted.
    pub(crate) async fn sign_in(
        &self,
        name: &str,
        password: &Secret,
        remember: bool,
    ) -> Result<()> {
        let mut was_refused = self.renewal.lock().await;
        let session = self.log_in(name, password).await?;
        *was_refused = false;
        self.keep(&session, password, remember).await
    }

    /// Makes the first admin of a new appliance and signs in as such.
    pub(crate) async fn claim(&self, claim: v1::Claim, remember: bool) -> Result<()> {
        let mut was_refused = self.renewal.lock().await;
        let password = Secret::new(claim.password.clone());
        let ask = Ask::with_json(Method::POST, "/api/v1/claim", None, &claim)?;
        let session = Session::new(self.http.ask(ask).await?.read()?);
        *was_refused = false;
        self.keep(&session, &password, remember).await
    }

    async fn keep(&self, session: &Arc<Session>, password: &Secret, remember: bool) -> Result<()> {
        *self.session.lock() = Some(Arc::clone(session));
        *self.ended.lock() = None;
        self.kick();
        let key = self.profile.id.to_string();
        self.remembers.store(remember, Ordering::Relaxed);
        if !remember {
            return with_vault(&self.vault, move |vault| vault.remove(&key)).await;
        }
        let kept = Kept { name: session.name.clone(), password: password.expose().to_owned() };
        let text = serde_json::to_string(&kept)
            .map_err(|error| Fault::new(FaultCode::Vault, format!("No JSON: {error}.")))?;
        with_vault(&self.vault, move |vault| vault.set(&key, &Secret::new(text))).await
    }

    /// Ends the session here and there, and forgets the password.
    pub(crate) async fn sign_out(&self) -> Result<()> {
        let session = self.session.lock().take();
        *self.ended.lock() = None;
        self.remembers.store(false, Ordering::Relaxed);
        self.kick();
        let key = self.profile.id.to_string();
        let forgotten = with_vault(&self.vault, move |vault| vault.remove(&key)).await;
        if let Some(session) = session {
            let ask =
                Ask { method: Method::POST, ..Ask::get("/api/v1/logout", Some(&session.token)) };
            // The session ends by itself there when nobody can be told now.
            if let Err(fault) = self.http.ask(ask.within(PROBE_TIMEOUT)).await {
                tracing::info!(%fault, "An appliance could not be told of a sign-out.");
            }
        }
        forgotten
    }

    /// A token was refused: the session is over, unless a kept password makes a new one.
    pub(crate) async fn refused_token(&self, token: &Secret) {
        {
            let mut session = self.session.lock();
            match session.as_ref() {
                Some(current) if current.token == *token => *session = None,
                // Another renewal has been faster.
                _ => return,
            }
        }
        *self.ended.lock() = Some("The session was ended by the appliance.".to_owned());
        if let Err(fault) = self.renew().await {
            tracing::info!(%fault, "A session could not be renewed.");
        }
        self.kick();
    }

    /// Makes a session from a kept password when there is none, or when it ends soon.
    pub(super) async fn renew_in_time(&self) -> Result<()> {
        let is_due = self.session().is_none_or(|session| Instant::now() >= session.renew_at);
        if is_due { self.renew().await } else { Ok(()) }
    }

    async fn renew(&self) -> Result<()> {
        let mut was_refused = self.renewal.lock().await;
        let is_fresh = self.session().is_some_and(|session| Instant::now() < session.renew_at);
        if is_fresh || *was_refused || !self.remembers.load(Ordering::Relaxed) {
            return Ok(());
        }
        // Whatever goes wrong from here on goes wrong again until somebody signs in, but for an
        // appliance that cannot be reached.
        let kept = match self.kept().await {
            Ok(kept) => kept,
            Err(why) => {
                *was_refused = true;
                *self.ended.lock() = Some(why);
                return Ok(());
            }
        };
        match self.log_in(&kept.name, &Secret::new(kept.password)).await {
            Ok(session) => {
                *self.session.lock() = Some(session);
                *self.ended.lock() = None;
                Ok(())
            }
            Err(fault) if fault.is_refusal_of(v1::ErrorCode::Unauthorized) => {
                *was_refused = true;
                *self.ended.lock() = Some("The kept password is not right any more.".to_owned());
                Ok(())
            }
            Err(fault) => Err(fault),
        }
    }

    async fn kept(&self) -> std::result::Result<Kept, String> {
        let key = self.profile.id.to_string();
        match with_vault(&self.vault, move |vault| vault.get(&key)).await {
            Ok(Some(kept)) => serde_json::from_str(kept.expose())
                .map_err(|_| "The keyring's entry cannot be read.".to_owned()),
            Ok(None) => Err("The password is not in the keyring any more.".to_owned()),
            Err(fault) => Err(fault.message),
        }
    }

    async fn log_in(&self, name: &str, password: &Secret) -> Result<Arc<Session>> {
        let login = v1::Login { name: name.to_owned(), password: password.expose().to_owned() };
        let ask = Ask::with_json(Method::POST, "/api/v1/login", None, &login)?;
        Ok(Session::new(self.http.ask(ask).await?.read()?))
    }
}
