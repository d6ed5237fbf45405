//! What every endpoint shares: the backend, the settings, and the limits on work at once.
//!
//! **Invariants**: a blocking call holds its permit until it has ended, even when the asker has
//! gone away, so that the limits hold for work and not for waiting.

use crate::backend::Backend;
use crate::error::{ApiError, Result};
use crate::limits::{
    COMPUTING_AT_ONCE_MAX, FILES_AT_ONCE_MAX, HASHINGS_AT_ONCE_MAX, HASHINGS_WAITING_MAX,
    LIVE_CONNECTIONS_MAX, LIVE_QUEUE_BYTES, LIVE_QUEUE_MESSAGES, QUERIES_AT_ONCE_MAX,
    REHEARSALS_AT_ONCE_MAX,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// What the service configures.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Host names that the box answers to, beside the loopback names and the address that the
    /// connection came in on. Without port.
    pub hosts: Vec<String>,
    /// Web origins that may use the API, beside its own: `https://studio.example:8443`.
    pub origins: Vec<String>,
    /// The folder with the studio's bundle; whether there is one is looked at with each request.
    pub web_folder: Option<PathBuf>,
    /// Messages that wait for one slow live reader.
    pub live_queue_messages: usize,
    /// Bytes that wait for one slow live reader.
    pub live_queue_bytes: usize,
}

impl Settings {
    /// Loopback only, limits as in `limits`.
    #[must_use]
    pub fn loopback() -> Self {
        Self {
            hosts: Vec::new(),
            origins: Vec::new(),
            web_folder: None,
            live_queue_messages: LIVE_QUEUE_MESSAGES,
            live_queue_bytes: LIVE_QUEUE_BYTES,
        }
    }
}

/// Shared by all requests.
#[derive(Clone)]
pub(crate) struct Api(Arc<Inner>);

struct Inner {
    backend: Arc<dyn Backend>,
    settings: Settings,
    queries: Arc<Semaphore>,
    hashings: Arc<Semaphore>,
    hashings_waiting: Arc<Semaphore>,
    live: Arc<Semaphore>,
    computing: Arc<Semaphore>,
    rehearsals: Arc<Semaphore>,
    readings: Arc<Semaphore>,
}

impl Api {
    pub(crate) fn new(backend: Arc<dyn Backend>, settings: Settings) -> Self {
        Self(Arc::new(Inner {
            backend,
            settings,
            queries: Arc::new(Semaphore::new(QUERIES_AT_ONCE_MAX)),
            hashings: Arc::new(Semaphore::new(HASHINGS_AT_ONCE_MAX)),
            hashings_waiting: Arc::new(Semaphore::new(HASHINGS_AT_ONCE_MAX + HASHINGS_WAITING_MAX)),
            live: Arc::new(Semaphore::new(LIVE_CONNECTIONS_MAX)),
            computing: Arc::new(Semaphore::new(COMPUTING_AT_ONCE_MAX)),
            rehearsals: Arc::new(Semaphore::new(REHEARSALS_AT_ONCE_MAX)),
            readings: Arc::new(Semaphore::new(FILES_AT_ONCE_MAX)),
        }))
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        self.0.backend.as_ref()
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn live_permits(&self) -> Arc<Semaphore> {
        Arc::clone(&self.0.live)
    }

    pub(crate) fn rehearsals(&self) -> Arc<Semaphore> {
        Arc::clone(&self.0.rehearsals)
    }

    /// Runs work that takes a core for a while on a blocking thread, a few at once.
    pub(crate) async fn computing<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Backend) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.blocking(&self.0.computing, work).await
    }

    /// Reads a file of the studio's bundle on a blocking thread, a few at once.
    pub(crate) async fn reading<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.blocking(&self.0.readings, move |_| Ok(work())).await
    }

    /// Runs a history query on a blocking thread, a few at once.
    pub(crate) async fn query<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Backend) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.blocking(&self.0.queries, work).await
    }

    /// Runs work that hashes a password; too many at once are answered 429.
    pub(crate) async fn hashing<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Backend) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let Ok(waiting) = Arc::clone(&self.0.hashings_waiting).try_acquire_owned() else {
            return Err(ApiError::rate_limited(Duration::from_secs(5)));
        };
        let result = self.blocking(&self.0.hashings, work).await;
        drop(waiting);
        result
    }

    async fn blocking<T: Send + 'static>(
        &self,
        permits: &Arc<Semaphore>,
        work: impl FnOnce(&dyn Backend) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit =
            Arc::clone(permits).acquire_owned().await.expect("the semaphores are never closed");
        let backend = Arc::clone(&self.0.backend);
        let task = tokio::task::spawn_blocking(move || {
            let result = work(backend.as_ref());
            drop(permit);
            result
        });
        match task.await {
            Ok(result) => result,
            Err(error) => Err(ApiError::internal(&format!("blocking work ended: {error}"))),
        }
    }
}
