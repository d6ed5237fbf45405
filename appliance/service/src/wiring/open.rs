//! Opens the parts in order and brings them up to the journal's end.

use super::follower::Follower;
use super::ledger_snapshot::LedgerSnapshot;
use super::names::{Classes, Names, Reclassify};
use super::pipelines::{self, Ground, Works};
use super::replay;
use super::sizing::Sizing;
use super::state::Shared;
use crate::config::{Config, Durability, Loaded};
use anyhow::Context as _;
use millrace_access::Access;
use millrace_admission::{self as admission, Applier, Gate, Ledger};
use millrace_broker::Fanout;
use millrace_catalog::{
    Catalog, Definitions, JournalSource, Marks, Namespace, Pipelines, SecretKey, Secrets,
    Snapshotter,
};
use millrace_historian::{Around, Historian, Intake};
use millrace_journal::{Cursor, Disk, Journal, RealDisk, Recovery, Seq};
use millrace_model::{Definition, Retention};
use millrace_supervisor::{Clock, Issue, Issues, Metrics, Severity, Shutdown, SystemClock};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const MIB: u64 = 1 << 20;

/// The parts, open and up to date.
pub(super) struct Opened {
    pub(super) shared: Arc<Shared>,
    pub(super) ledger_cursor: Cursor,
    pub(super) snapshotter: Snapshotter,
    pub(super) pipelines: Workshop,
}

/// What the engine needs while it runs and after it has ended.
pub(super) struct Workshop {
    pub(super) keeper: Arc<pipelines::Keeper>,
    pub(super) pool: Arc<millrace_actions::Pool>,
    pub(super) cursor: Cursor,
}

/// Opens everything below the listeners.
pub(super) fn open(loaded: Loaded, data: &Path, shutdown: Shutdown) -> anyhow::Result<Opened> {
    let config = &loaded.config;
    let base = Base::open(config, data)?;
    // Every cursor is registered before anything is recycled.
    let ledger_cursor = base.journal.register_cursor("ledger");
    let engine_cursor = base.journal.register_cursor("engine");
    let source = Arc::new(JournalSource::new(&base.journal));
    let (catalog, state) = Catalog::open(
        millrace_catalog::Config::new(data),
        Arc::clone(&base.disk),
        Arc::clone(&source) as _,
        Arc::clone(&base.issues),
        Arc::clone(&base.clock),
    )
    .context("open the catalog")?;
    let known = Known::open(config, data, &base, &state.definitions)?;
    let gate = Arc::new(gate(config, &base, &known.namespace));
    let past = bring_up(config, data, &base, &known, &gate, &engine_cursor)?;
    let Works { engine, history: run_history, keeper, pool } = past.works;
    let Base { clock, issues, journal, ledger, .. } = base;
    let Known { namespace, access, pipelines, secrets, secret_key } = known;
    let live_qos = config.broker.live_qos;
    let fanout = Fanout::new(&config.broker.root);
    let shared = Arc::new(Shared {
        started: clock.now(),
        metrics: Metrics::default(),
        ledger_snapshot: LedgerSnapshot::new(data),
        sizing: Arc::new(Sizing::open(data, &clock, &issues)),
        broker: OnceLock::new(),
        bound: OnceLock::new(),
        claim_code: parking_lot::Mutex::new(None),
        loaded,
        clock,
        issues,
        shutdown,
        journal: journal.clone(),
        namespace,
        access,
        catalog,
        historian: past.historian,
        gate,
        pipelines,
        secrets,
        secret_key,
        engine,
        run_history,
        ledger: Arc::clone(&ledger),
        fanout,
        live_qos,
    });
    let follower = Follower {
        shared: Arc::clone(&shared),
        intake: past.intake,
        applier: Applier::new(ledger),
        marks: Marks::default(),
    };
    journal.start(Box::new(follower));
    let snapshotter = snapshotter(&shared, source);
    let pipelines = Workshop { keeper, pool, cursor: engine_cursor };
    Ok(Opened { shared, ledger_cursor, snapshotter, pipelines })
}

/// What all parts stand on.
struct Base {
    clock: Arc<dyn Clock>,
    disk: Arc<dyn Disk>,
    issues: Arc<Issues>,
    ledger: Arc<Ledger>,
    journal: Journal,
    recovery: Recovery,
}

impl Base {
    fn open(config: &Config, data: &Path) -> anyhow::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let issues = Arc::new(Issues::new(Arc::clone(&clock)));
        let ledger = Ledger::new();
        let (journal, recovery) = open_journal(config, data, Arc::clone(&disk), &ledger)?;
        raise_recovery(&issues, &recovery);
        Ok(Self { clock, disk, issues, ledger, journal, recovery })
    }
}

/// The definitions, in memory.
struct Known {
    namespace: Arc<Namespace>,
    access: Arc<Access>,
    pipelines: Arc<Pipelines>,
    secrets: Arc<Secrets>,
    secret_key: Arc<SecretKey>,
}

impl Known {
    fn open(
        config: &Config,
        data: &Path,
        base: &Base,
        definitions: &[Definition],
    ) -> anyhow::Result<Self> {
        let known = Self {
            namespace: Arc::new(Namespace::new(config.admission.tags_max)),
            access: Arc::new(Access::new(Arc::clone(&base.clock)).context("prepare access")?),
            pipelines: Arc::new(Pipelines::default()),
            secrets: Arc::new(Secrets::default()),
            secret_key: Arc::new(
                pipelines::load_or_make(data, &base.issues).context("open the secrets")?,
            ),
        };
        for definition in definitions {
            known.namespace.apply(definition);
            known.access.apply(definition);
            known.pipelines.apply(definition);
            known.secrets.apply(definition);
        }
        Ok(known)
    }
}

/// History and engine, at the journal's end.
struct Past {
    historian: Arc<Historian>,
    intake: Intake,
    works: Works,
}

/// Opens history and the engine and replays what the journal holds beyond them.
fn bring_up(
    config: &Config,
    data: &Path,
    base: &Base,
    known: &Known,
    gate: &Arc<Gate>,
    engine_cursor: &Cursor,
) -> anyhow::Result<Past> {
    let around = Around {
        disk: Arc::clone(&base.disk),
        clock: Arc::clone(&base.clock),
        issues: Arc::clone(&base.issues),
        tags: Arc::new(Classes(Arc::clone(&known.namespace))),
        reclassified: Arc::new(Reclassify(Arc::clone(&base.ledger))),
        cursor: Arc::new(base.journal.register_cursor("historian")),
    };
    let (historian, mut intake, history) =
        Historian::open(historian_config(config, data, &base.recovery), around)
            .context("open the historian")?;
    let aside = LedgerSnapshot::saved_aside(data);
    let (counted, since) =
        replay::restore(&base.journal, &base.ledger, aside).context("restore the ledger")?;
    let ground = Ground {
        config,
        data,
        journal: &base.journal,
        gate,
        namespace: &known.namespace,
        access: &known.access,
        historian: &historian,
        pipelines: &known.pipelines,
        secrets: &known.secrets,
        key: &known.secret_key,
        issues: &base.issues,
        clock: &base.clock,
        has_run: base.recovery.last_seq > Seq::ZERO,
    };
    let run_through = engine_cursor.position();
    let works = pipelines::open(&ground, run_through)?;
    raise_unreadable(&base.issues, known);
    super::kept_issues::restore(data, &base.issues, &known.pipelines);
    pipelines::deploy_all(&works.engine, &known.pipelines, &since, &base.issues);
    pipelines::look_for_secrets(&known.pipelines, &known.secrets, &base.issues);
    let replayed = replay::replay(
        &base.journal,
        &base.ledger,
        &mut intake,
        history.checkpoint,
        (&works.engine, run_through),
        counted,
    )
    .context("replay the journal")?;
    known.namespace.reserve_through(replayed.highest_tag);
    known.access.reserve_clients_through(replayed.highest_client);
    Ok(Past { historian, intake, works })
}

/// Most bytes of one submit: below what the journal takes at once, with room for definitions.
const SUBMIT_BYTES_MAX: usize = 4 * 1024 * 1024;

fn gate(config: &Config, base: &Base, namespace: &Arc<Namespace>) -> Gate {
    let names = Arc::new(Names {
        namespace: Arc::clone(namespace),
        client_tags_max: config.admission.client_tags_max,
    });
    Gate::new(
        admission::Config {
            root: config.broker.root.clone(),
            client_rate_per_s: config.admission.client_rate_per_s,
            workspace_rate_per_s: config.admission.workspace_rate_per_s,
            retention: default_retention(config),
            submit_bytes_max: SUBMIT_BYTES_MAX,
        },
        base.journal.clone(),
        names,
        Arc::clone(&base.ledger),
        Arc::clone(&base.clock),
    )
}

fn snapshotter(shared: &Arc<Shared>, source: Arc<JournalSource>) -> Snapshotter {
    let config = &shared.loaded.config;
    let snapshot_bytes =
        (config.catalog.snapshot_every_mib * MIB).min(config.journal.bytes_max_mib * MIB / 4);
    let held = shared.journal.stats().segments_live as u64 * config.journal.segment_mib * MIB;
    let all = Arc::new(AllDefinitions(Arc::clone(shared)));
    Snapshotter::new(source, all, Arc::clone(&shared.clock), snapshot_bytes, held)
}

fn open_journal(
    config: &Config,
    data: &Path,
    disk: Arc<dyn Disk>,
    ledger: &Arc<Ledger>,
) -> anyhow::Result<(Journal, Recovery)> {
    let noted = Arc::clone(ledger);
    let settings = millrace_journal::Config {
        note: Some(Arc::new(move || noted.received_total())),
        ..journal_config(config, data)
    };
    Journal::open(settings, disk).context("open the journal")
}

/// The journal's settings.
pub(super) fn journal_config(config: &Config, data: &Path) -> millrace_journal::Config {
    millrace_journal::Config {
        segment_bytes: config.journal.segment_mib * MIB,
        bytes_max: config.journal.bytes_max_mib * MIB,
        commit_interval: Duration::from_millis(config.journal.commit_interval_ms),
        durability: match config.journal.durability {
            Durability::Sync => millrace_journal::Durability::Sync,
            Durability::Interval => millrace_journal::Durability::Interval(Duration::from_millis(
                config.journal.interval_ms,
            )),
        },
        ..millrace_journal::Config::new(data.join("journal"))
    }
}

fn historian_config(
    config: &Config,
    data: &Path,
    recovery: &Recovery,
) -> millrace_historian::Config {
    millrace_historian::Config {
        memtable_bytes: usize::try_from(config.historian.memtable_mib * MIB).unwrap_or(usize::MAX),
        seal_age: Duration::from_secs(config.historian.seal_age_s),
        keep_bytes_max: config.historian.keep_bytes_max_mib * MIB,
        journal_last_seq: Seq(recovery.next_seq.0.saturating_sub(1)),
        ..millrace_historian::Config::new(data.join("history"))
    }
}

/// The class of topics whose creator has none of its own.
pub(super) fn default_retention(config: &Config) -> Retention {
    Retention::from_name(&config.historian.default_retention).unwrap_or_default()
}

/// Secrets that the key file does not open: it was lost or replaced.
fn raise_unreadable(issues: &Issues, known: &Known) {
    if !known.secret_key.is_there() {
        // That has an issue of its own.
        return;
    }
    let unreadable = known.secrets.unreadable(&known.secret_key);
    let Some((_, first)) = unreadable.first() else { return };
    issues.raise(Issue {
        key: "secrets-unreadable".to_owned(),
        severity: Severity::Critical,
        what: format!(
            "{} secrets cannot be opened with secret.key, the first is '{first}': the file was \
             lost or replaced.",
            unreadable.len()
        ),
        effect: "Steps and webhooks that use them fail.".to_owned(),
        remedy: "Restore secret.key from a copy and start again, or set the secrets anew."
            .to_owned(),
    });
}

fn raise_recovery(issues: &Issues, recovery: &Recovery) {
    for (number, text) in recovery.issues.iter().enumerate() {
        issues.raise(Issue {
            key: format!("journal-recovered-{number}"),
            severity: Severity::Warning,
            what: text.clone(),
            effect: "The appliance started with everything that could be read.".to_owned(),
            remedy: "Look at the disk; what was set aside lies in journal/quarantine.".to_owned(),
        });
    }
}

/// The whole state for a snapshot.
struct AllDefinitions(Arc<Shared>);

impl Definitions for AllDefinitions {
    fn all(&self) -> Vec<Definition> {
        let mut all = self.0.namespace.definitions();
        all.extend(self.0.access.definitions());
        all.extend(self.0.pipelines.definitions());
        all.extend(self.0.secrets.definitions());
        all
    }
}
