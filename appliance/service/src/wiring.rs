//! Wires the parts together: opens them in order, replays what a crash left, serves, stops.
//!
//! Order of a start: folder lock, journal (always opens), catalog (or its rebuilding from the
//! journal), namespace and access from it, historian, then one pass over the journal that brings
//! memory, ledger and definitions up to its end, and only then the journal's writer, the
//! listeners and the background work. A stop goes the other way round: listeners first, then what
//! is in flight becomes durable, then the ledger's last counts, then the files.
//!
//! **Invariants**: nothing is acknowledged before the journal's follower is in place; the parts
//! do not know one another, only this folder knows all of them.

mod announce;
mod backend;
mod background;
mod folder;
mod follower;
mod kept_issues;
mod ledger_snapshot;
mod live_payload;
mod local_files;
mod measures;
mod mqtt;
mod names;
mod open;
mod pipelines;
mod relief;
mod replay;
mod serve;
mod sizing;
mod state;
mod verify;
mod watch;

pub(crate) use backend::case_report;
pub(crate) use folder::{Folder, claim_folder};
pub(crate) use pipelines::engine_config;
pub(crate) use verify::{Finding, verify};

use crate::cli::local::{RUNNING_FILE, Running, TOKEN_FILE};
use crate::config::Loaded;
use anyhow::{Context as _, anyhow};
use millrace_access::{Actor, LocalToken, NewClient};
use millrace_broker::Broker;
use millrace_journal::{Cursor, RecordBuf, State};
use millrace_model::{Filter, Record, WorkspaceNumber};
use millrace_supervisor::Shutdown;
use serve::Listeners;
use state::Shared;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long connections have to become durable and acknowledged at a stop.
const STOP_LIMIT: Duration = Duration::from_secs(10);
/// The same while the journal cannot commit: nobody waits for a disk that is full.
const STOP_LIMIT_DEGRADED: Duration = Duration::from_secs(1);

/// The running appliance.
pub(crate) struct Appliance {
    shared: Arc<Shared>,
    folder: Folder,
    broker: Arc<Broker>,
    listeners: Listeners,
    ledger_cursor: Cursor,
    background: background::Background,
    pipelines: open::Workshop,
    threads: millrace_engine::Threads,
    watchers: watch::Watchers,
}

/// Counts for the status line.
pub(crate) struct Rates {
    pub(crate) stored: u64,
    pub(crate) refused: u64,
    pub(crate) commits: u64,
    pub(crate) connections: u64,
    pub(crate) tags: u32,
    pub(crate) issues: usize,
}

/// Reads [`Rates`].
pub(crate) struct RateReader(Arc<Shared>);

impl RateReader {
    /// The counts now.
    pub(crate) fn read(&self) -> Rates {
        let counts = self.0.ledger.totals();
        Rates {
            stored: counts.stored,
            refused: counts.refused_total(),
            commits: self.0.journal.stats().commits,
            connections: self.0.broker.get().map_or(0, |broker| broker.stats().connected),
            tags: self.0.namespace.tag_count(),
            issues: self.0.issues.list().len(),
        }
    }
}

impl Appliance {
    /// Starts everything; when this returns, values are taken.
    ///
    /// # Errors
    /// When a part cannot be opened; the text says what to do.
    pub(crate) async fn start(
        loaded: Loaded,
        folder: Folder,
        shutdown: Shutdown,
    ) -> anyhow::Result<Self> {
        let opened = {
            let path = folder.path.clone();
            let shutdown = shutdown.clone();
            // Opening replays the journal: seconds of work that must not stand on a socket's thread.
            tokio::task::spawn_blocking(move || open::open(loaded, &path, shutdown))
                .await
                .context("open the appliance's files")??
        };
        let open::Opened { shared, ledger_cursor, snapshotter, pipelines } = opened;
        // Before the first record: a journal that is full from before needs its readers hurried.
        let background =
            background::start(&shared, snapshotter, ledger_cursor.clone(), &pipelines)?;
        let mut buf = RecordBuf::new();
        buf.push_with(|out| Record::Started { at: shared.started }.encode(out));
        shared.journal.append_durable(&mut buf).await.context("write the first record")?;
        let first = shared.access.first_definitions().context("make the box's keys")?;
        if !first.is_empty() {
            shared.make_durable(&first).await.context("set the box up")?;
        }
        let token = LocalToken::generate().context("make the local token")?;
        shared.access.set_local_token(&token);
        // Weak: access is a part of what it would hold.
        let claim = Arc::downgrade(&shared);
        shared.access.open_claim(move |code| {
            if let Some(shared) = claim.upgrade() {
                let before = shared.claim_code.lock().replace(code.reveal().to_owned());
                if before.is_some() {
                    tell_new_code(code.reveal());
                }
            }
        })?;
        // Before the listeners: whoever finds the box ready finds its token too.
        let token = vec![(TOKEN_FILE, token.reveal().as_bytes().to_vec())];
        local_files::write_soon(&shared, &folder, token);
        shared.engine.start();
        let threads = shared.engine.run_threads().context("start the engine's threads")?;
        let (broker, listeners) = serve::start(&shared).await?;
        let watchers = watch::start(&shared)?;
        measures::register(&shared);
        let running = Running {
            http: listeners.http,
            mqtt: listeners.mqtt,
            root: shared.loaded.config.broker.root.clone(),
        };
        let running = vec![(RUNNING_FILE, serde_json::to_vec(&running)?)];
        local_files::write_soon(&shared, &folder, running);
        Ok(Self {
            shared,
            folder,
            broker,
            listeners,
            ledger_cursor,
            background,
            pipelines,
            threads,
            watchers,
        })
    }

    /// Stops in good order: everything that was taken is durable and acknowledged first. Ends
    /// within bounds though nothing can be committed: what is not durable was not acknowledged.
    ///
    /// # Errors
    /// When the last records could not be made durable; the next start then replays more.
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        let Self {
            shared,
            folder,
            broker,
            listeners,
            ledger_cursor,
            background,
            pipelines,
            threads,
            watchers,
        } = self;
        folder.forget(RUNNING_FILE);
        folder.forget(TOKEN_FILE);
        // The journal's thread may be waiting for history, whose disk may be full.
        shared.historian.release();
        let commits = |shared: &Shared| shared.journal.status().state == State::Normal;
        let limit = |shared: &Shared| match commits(shared) {
            true => STOP_LIMIT,
            false => STOP_LIMIT_DEGRADED,
        };
        broker.shutdown(limit(&shared)).await;
        listeners.ended().await;
        // A watcher that failed has said so in the log.
        let _gone = watchers.task.await.is_err();
        // What is being executed ends; what waits goes on at the next start.
        if tokio::task::spawn_blocking(move || threads.stop()).await.is_err() {
            tracing::warn!("The engine did not stop in good order.");
        }
        let written = tokio::time::timeout(limit(&shared), async {
            background.ended().await;
            let last = shared.ledger_snapshot.last(&shared.ledger, &shared.journal, &ledger_cursor);
            last.await.context("write the ledger's last counts")?;
            let mut buf = RecordBuf::new();
            buf.push_with(|out| Record::Stopped { at: shared.clock.now() }.encode(out));
            shared.journal.append_durable(&mut buf).await.context("write the last record")
        })
        .await;
        let closing = Arc::clone(&shared);
        let keeper = Arc::clone(&pipelines.keeper);
        let sealed = tokio::task::spawn_blocking(move || {
            let sealed = closing.historian.close();
            closing.journal.close();
            closing.catalog.close();
            closing.run_history.close();
            keeper.close();
            sealed
        })
        .await
        .context("close the files")?;
        if let Err(error) = sealed {
            // Not lost: the journal holds what is in no part, and the next start replays it.
            tracing::warn!("The last values were not sealed: {error}.");
        }
        drop(folder);
        match written {
            Ok(written) => written.map(|_| ()),
            Err(_) => Err(anyhow!(
                "stopped while the journal could not commit: nothing that was acknowledged is \
                 lost, and devices send again what was not; see the log for the reason"
            )),
        }
    }

    /// Where MQTT listens.
    pub(crate) fn mqtt_address(&self) -> SocketAddr {
        self.listeners.mqtt
    }

    /// Where HTTP listens.
    pub(crate) fn http_address(&self) -> SocketAddr {
        self.listeners.http
    }

    /// Where MQTT over TLS listens, if it does.
    pub(crate) fn mqtts_address(&self) -> Option<SocketAddr> {
        self.listeners.mqtts
    }

    /// Where HTTPS listens, if it does.
    pub(crate) fn https_address(&self) -> Option<SocketAddr> {
        self.listeners.https
    }

    /// SHA-256 of the certificate, as browsers show it.
    pub(crate) fn certificate_fingerprint(&self) -> &str {
        self.listeners.fingerprint.as_deref().unwrap_or("")
    }

    /// The data folder.
    pub(crate) fn data_dir(&self) -> &Path {
        &self.folder.path
    }

    /// First levels of the product's topics.
    pub(crate) fn root(&self) -> &str {
        &self.shared.loaded.config.broker.root
    }

    /// The code that creates the first admin, while there is none.
    pub(crate) fn claim_code(&self) -> Option<String> {
        self.shared.claim_code.lock().clone()
    }

    /// Counts for the status line.
    pub(crate) fn rates(&self) -> RateReader {
        RateReader(Arc::clone(&self.shared))
    }

    /// CPU time that the scripts of all pipelines have taken.
    pub(crate) fn script_cpu(&self) -> Duration {
        let engine = &self.shared.engine;
        let all = engine.deployments().into_iter();
        all.filter_map(|one| Some(engine.pipeline_stats(one.number)?.script_cpu)).sum()
    }

    /// Whether this API client is known and in force.
    pub(crate) fn knows_client(&self, id: &str) -> bool {
        self.shared.access.client(id).is_some_and(|client| client.revoked.is_none())
    }

    /// Keeps a small file in the data folder, readable by the owner only.
    pub(crate) fn keep_owner_only(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        self.folder.keep(name, bytes)
    }

    /// Makes clients `name-1` to `name-<count>` for the demo; gives ids and secrets.
    pub(crate) async fn create_demo_clients(
        &self,
        name: &str,
        count: u32,
        publish: &str,
    ) -> anyhow::Result<Vec<(String, String)>> {
        let actor = Actor { who: "local".to_owned(), from: None };
        let publish = vec![Filter::new(publish).context("read the demo's filter")?];
        let new = (1..=count).map(|number| NewClient {
            name: format!("{name}-{number}"),
            workspace: WorkspaceNumber(1),
            publish: publish.clone(),
            subscribe: Vec::new(),
            may_create: true,
            retention: None,
            rate_per_s: None,
        });
        let (made, definitions) = self.shared.access.new_clients(new.collect(), &actor)?;
        self.shared.make_durable(&definitions).await.context("keep the demo's clients")?;
        Ok(made
            .into_iter()
            .map(|(client, secret)| (client.id, secret.reveal().to_owned()))
            .collect())
    }
}

/// Where the first code was shown, and nowhere else: a code in the log would be one for everybody who
/// may read logs.
fn tell_new_code(code: &str) {
    let text = format!("  claim  {code}  (the code before was tried wrongly too often)");
    // Nobody reads any more: a restart shows a new one.
    let _closed = writeln!(std::io::stdout(), "{text}").is_err();
}
