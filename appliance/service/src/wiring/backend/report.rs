//! What the box tells of itself.

use super::Answers;
use crate::config::{Origin, Setting};
use crate::wiring::watch::usages;
use millrace_api::Fault;
use millrace_api::backend as api;
use millrace_journal::{Seq, State};
use millrace_supervisor::watch::Usage;

fn tell_engine(health: &millrace_engine::Health) -> String {
    let still = health.workers - health.moving.min(health.workers);
    match (health.is_clock_moving, still) {
        (false, _) => "the engine's clock stands still; see the issues and the log".to_owned(),
        (true, 0) => "run".to_owned(),
        (true, still) => {
            format!("{still} of {} workers have not moved for a minute", health.workers)
        }
    }
}

/// A limit in a unit that a person can read: MiB are told as bytes.
fn limit(usage: Usage) -> api::LimitUse {
    let (unit, scale) = match usage.name {
        "journal.bytes_max_mib" => (api::LimitUnit::Bytes, 1 << 20),
        "runs.bytes_max_mib" | "state_bytes_max" => (api::LimitUnit::Bytes, 1),
        name if name.ends_with("_mib_max") => (api::LimitUnit::Bytes, 1),
        name if name.ends_with("_percent") => (api::LimitUnit::Percent, 1),
        _ => (api::LimitUnit::Count, 1),
    };
    api::LimitUse {
        setting: usage.name.to_owned(),
        what: usage.what.into_owned(),
        used: usage.used.saturating_mul(scale),
        most: usage.limit.saturating_mul(scale),
        unit,
    }
}

impl Answers {
    pub(super) fn ledger_rows(&self) -> api::Ledger {
        let (each, total) = self.0.ledger.snapshot();
        let mut clients: Vec<_> = each
            .into_iter()
            .map(|(number, counts)| {
                let client = self.0.access.client_by_number(number);
                let id = client.map_or_else(|| format!("#{}", number.0), |client| client.id);
                api::LedgerRow { number, id, counts }
            })
            .collect();
        clients.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        api::Ledger { total, clients }
    }

    pub(super) fn audit_page(
        &self,
        before: Option<u64>,
        limit: usize,
    ) -> Result<api::PageOf<api::AuditLine>, Fault> {
        let mut lines = self
            .0
            .catalog
            .audit(before.map(Seq), limit + 1)
            .map_err(|error| Fault::Internal(format!("audit trail: {error}")))?;
        let more = lines.len() > limit;
        lines.truncate(limit);
        let items =
            lines.into_iter().map(|line| api::AuditLine { number: line.seq.0, entry: line.entry });
        Ok(api::PageOf { items: items.collect(), more })
    }

    pub(super) fn health_report(&self) -> api::Health {
        let status = self.0.journal.status();
        let (journal_ok, journal_detail) = match &status.state {
            State::Normal => (true, "commits".to_owned()),
            State::Degraded { reason, .. } => (false, format!("degraded: {reason}")),
            State::FullByReader { cursor, .. } => {
                (false, format!("full: the reader {} is behind", cursor.unwrap_or("(none)")))
            }
            State::Broken { reason, .. } => (false, format!("stopped: {reason}")),
        };
        let stopping = self.0.shutdown.has_begun();
        // Waiting for a seal that is under way is no trouble; for one that fails it is.
        let is_held_back =
            self.0.historian.is_holding_back() && self.0.issues.is_open("historian-cannot-seal");
        let part = |name: &str, ok: bool, detail: String| api::HealthPart {
            name: name.to_owned(),
            ok,
            detail,
        };
        let open = |key: &str| self.0.issues.is_open(key);
        let (catalog, historian) = (!open("catalog-cannot-write"), !open("historian-cannot-seal"));
        let say =
            |ok: bool, good: &str, bad: &str| if ok { good.to_owned() } else { bad.to_owned() };
        let (journal_ok, journal_detail) = match is_held_back {
            true => (false, "waits for history, whose memory is full".to_owned()),
            false => (journal_ok, journal_detail),
        };
        let engine = self.0.engine.health();
        let pipelines = part("pipelines", engine.is_alive(), tell_engine(&engine));
        let is_alive = engine.is_alive();
        let parts = vec![
            part("journal", journal_ok, journal_detail),
            part("catalog", catalog, say(catalog, "writes", "cannot write; see the issues")),
            part("historian", historian, say(historian, "seals", "cannot seal; see the issues")),
            pipelines,
            part("broker", !stopping, say(!stopping, "listens", "is stopping")),
        ];
        // Catalog and historian may lag without harm to what is acknowledged: the journal holds it.
        api::Health { ready: journal_ok && is_alive && !stopping, parts }
    }

    pub(super) fn overview_report(&self) -> api::Overview {
        let shared = &self.0;
        let clients = shared.access.clients();
        let historian = shared.historian.stats();
        let journal = shared.journal.stats();
        let segment_bytes = shared.loaded.config.journal.segment_mib << 20;
        let segments = (journal.segments_live + journal.segments_free) as u64;
        api::Overview {
            started: shared.started,
            ready: self.health_report().ready,
            connections: shared.broker.get().map_or(0, |broker| broker.stats().connected),
            clients: clients.iter().filter(|client| client.revoked.is_none()).count() as u64,
            tags: u64::from(shared.namespace.tag_count()),
            issues: shared.issues.list().len() as u64,
            received_per_s: None,
            stored_per_s: None,
            refused_per_s: None,
            journal_bytes: Some(segments * segment_bytes),
            history_bytes: Some(historian.part_bytes),
        }
    }

    pub(super) fn system_report(&self) -> api::System {
        let shared = &self.0;
        let bound = shared.bound.get();
        let (changes, faults) = match shared.loaded.next_start() {
            Ok(changes) => (changes, Vec::new()),
            Err(faults) => (Vec::new(), faults),
        };
        let changes = changes.into_iter().map(|change| (change.key, change.in_force, change.next));
        api::System {
            build: if cfg!(debug_assertions) { "debug" } else { "release" },
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            started: shared.started,
            config_file: shared.loaded.path().map(|path| path.display().to_string()),
            listeners: bound.map(|bound| bound.listeners.clone()).unwrap_or_default(),
            certificate: bound.and_then(|bound| bound.certificate.clone()),
            limits: usages(shared).into_iter().map(limit).collect(),
            near_percent: millrace_supervisor::watch::NEAR_PERCENT,
            changes: changes.collect(),
            faults: faults.iter().map(ToString::to_string).collect(),
        }
    }

    pub(super) fn settings(&self) -> Vec<api::ConfigEntry> {
        let entry = |setting: Setting| {
            let Setting { key, value, origin, default, about } = setting;
            let source = match origin {
                Origin::Default => api::ConfigSource::Default,
                Origin::File => api::ConfigSource::File,
                Origin::Override => api::ConfigSource::Override,
            };
            api::ConfigEntry { key, value, source, default, about }
        };
        self.0.loaded.effective().into_iter().map(entry).collect()
    }
}
