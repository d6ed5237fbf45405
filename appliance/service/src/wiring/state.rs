//! What the parts of the wiring share.

use super::follower::read_definition;
use super::ledger_snapshot::LedgerSnapshot;
use super::serve::Bound;
use super::sizing::Sizing;
use crate::config::Loaded;
use millrace_access::Access;
use millrace_admission::Gate;
use millrace_admission::Ledger;
use millrace_broker::{Broker, Fanout};
use millrace_catalog::{Catalog, Namespace, Pipelines, SecretKey, Secrets};
use millrace_engine::Engine;
use millrace_historian::Historian;
use millrace_journal::{AppendError, Journal, RecordBuf, Seq, SeqRange};
use millrace_model::record::RecordError;
use millrace_model::{Definition, Record, TagId, Timestamp};
use millrace_runs::History;
use millrace_supervisor::{Clock, Issue, Issues, Metrics, Severity, Shutdown};
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

/// All parts, once they are open.
pub(crate) struct Shared {
    pub(super) loaded: Loaded,
    pub(super) started: Timestamp,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) issues: Arc<Issues>,
    pub(super) metrics: Metrics,
    pub(super) shutdown: Shutdown,
    pub(super) journal: Journal,
    pub(super) namespace: Arc<Namespace>,
    pub(super) access: Arc<Access>,
    pub(super) catalog: Catalog,
    pub(super) historian: Arc<Historian>,
    pub(super) ledger: Arc<Ledger>,
    pub(super) ledger_snapshot: LedgerSnapshot,
    pub(super) gate: Arc<Gate>,
    pub(super) pipelines: Arc<Pipelines>,
    pub(super) secrets: Arc<Secrets>,
    pub(super) secret_key: Arc<SecretKey>,
    pub(super) engine: Engine,
    pub(super) run_history: Arc<History>,
    pub(super) fanout: Fanout,
    pub(super) live_qos: u8,
    pub(super) broker: OnceLock<Arc<Broker>>,
    /// Where it listens, once it does.
    pub(super) bound: OnceLock<Bound>,
    pub(super) sizing: Arc<Sizing>,
    pub(super) claim_code: Mutex<Option<String>>,
}

impl Shared {
    /// Brings a committed definition into force and hands it to the catalog.
    pub(super) fn define(&self, seq: Seq, json: &[u8]) {
        if let Some(definition) = read_definition(json) {
            self.namespace.apply(&definition);
            self.access.apply(&definition);
            self.pipelines.apply(&definition);
            self.secrets.apply(&definition);
            self.catalog.store(seq, definition);
        }
    }

    /// Makes definitions durable; when this returns they are in force.
    pub(super) async fn make_durable(
        &self,
        definitions: &[Definition],
    ) -> Result<SeqRange, AppendError> {
        let mut buf = records_of(definitions);
        self.journal.append_durable(&mut buf).await
    }

    /// The same on a thread that may wait.
    pub(super) fn make_durable_blocking(
        &self,
        definitions: &[Definition],
    ) -> Result<(), AppendError> {
        let mut buf = records_of(definitions);
        self.journal.append_durable_blocking(&mut buf).map(|_| ())
    }

    /// The live topic of a tag.
    pub(super) fn live_topic(&self, tag: TagId) -> String {
        let root = &self.loaded.config.broker.root;
        let Some(tag) = self.namespace.get(tag) else { return String::new() };
        let workspace = self.namespace.workspace_by_number(tag.workspace);
        let workspace = workspace.as_ref().map_or("", |workspace| workspace.name.as_str());
        format!("{root}/{workspace}/{}", tag.path)
    }

    /// A record that this version cannot read.
    pub(super) fn unreadable(&self, seq: Seq, error: &RecordError) {
        self.issues.raise(Issue {
            key: "journal-record-unreadable".to_owned(),
            severity: Severity::Warning,
            what: format!("Record {} of the journal cannot be read: {error}.", seq.0),
            effect: "What it held is not in history or the catalog.".to_owned(),
            remedy: "If the appliance was downgraded, go back to the newer version.".to_owned(),
        });
    }
}

fn records_of(definitions: &[Definition]) -> RecordBuf {
    let mut buf = RecordBuf::new();
    for definition in definitions {
        let json = definition.encode();
        buf.push_with(|out| Record::Definition(&json).encode(out));
    }
    buf
}
