//! From the model's types to the contract's.

use crate::backend::{self, Backend};
use millrace_contract::v1;
use millrace_model as model;
use millrace_model::{LedgerCounts, Reason, Timestamp, Value, ValueRef, WorkspaceNumber};
use millrace_supervisor::issues::{IssueState, Severity};
use serde_json::value::RawValue;

/// Names of workspaces by their numbers, taken once per answer.
pub(crate) struct Workspaces(Vec<model::Workspace>);

impl Workspaces {
    pub(crate) fn of(backend: &dyn Backend) -> Self {
        Self(backend.workspaces())
    }

    pub(crate) fn name(&self, number: WorkspaceNumber) -> String {
        let found = self.0.iter().find(|workspace| workspace.number == number);
        found.map_or_else(|| number.0.to_string(), |workspace| workspace.name.clone())
    }

    pub(crate) fn number(&self, name: &str) -> Option<WorkspaceNumber> {
        self.0.iter().find(|workspace| workspace.name == name).map(|workspace| workspace.number)
    }
}

pub(crate) fn time(time: Timestamp) -> String {
    time.to_rfc3339()
}

pub(crate) fn workspace(workspace: &model::Workspace) -> v1::Workspace {
    v1::Workspace { name: workspace.name.clone(), created: time(workspace.created) }
}

pub(crate) fn role(role: model::Role) -> v1::Role {
    match role {
        model::Role::Viewer => v1::Role::Viewer,
        model::Role::Engineer => v1::Role::Engineer,
        model::Role::Admin => v1::Role::Admin,
    }
}

pub(crate) fn person(person: &model::Person) -> v1::Person {
    v1::Person {
        name: person.name.clone(),
        role: role(person.role),
        created: time(person.created),
        disabled: person.disabled.map(time),
    }
}

pub(crate) fn client(client: &model::ApiClient, workspaces: &Workspaces) -> v1::Client {
    let texts = |filters: &[model::Filter]| filters.iter().map(ToString::to_string).collect();
    v1::Client {
        id: client.id.clone(),
        name: client.name.clone(),
        workspace: workspaces.name(client.workspace),
        publish: texts(&client.publish),
        subscribe: texts(&client.subscribe),
        may_create: client.may_create,
        retention: client.retention.map(retention),
        rate_per_s: client.rate_per_s,
        created: time(client.created),
        revoked: client.revoked.map(time),
    }
}

fn retention(class: model::Retention) -> v1::Retention {
    match class {
        model::Retention::Days1 => v1::Retention::Days1,
        model::Retention::Days7 => v1::Retention::Days7,
        model::Retention::Days14 => v1::Retention::Days14,
        model::Retention::Days32 => v1::Retention::Days32,
        model::Retention::Keep => v1::Retention::Keep,
    }
}

fn kind(kind: model::Kind) -> v1::Kind {
    match kind {
        model::Kind::Null => v1::Kind::Null,
        model::Kind::Bool => v1::Kind::Bool,
        model::Kind::Int => v1::Kind::Int,
        model::Kind::UInt => v1::Kind::Uint,
        model::Kind::Float => v1::Kind::Float,
        model::Kind::Text => v1::Kind::Text,
        model::Kind::Json => v1::Kind::Json,
    }
}

pub(crate) fn tag(tag: &model::Tag, workspace: &str) -> v1::Tag {
    v1::Tag {
        id: tag.id.0,
        workspace: workspace.to_owned(),
        path: tag.path.clone(),
        kind: kind(tag.kind),
        unit: tag.unit.clone(),
        description: tag.description.clone(),
        retention: retention(tag.retention),
        schema: v1::Schema {
            kinds: tag.schema.kinds.iter().copied().map(kind).collect(),
            min: tag.schema.min,
            max: tag.schema.max,
            choices: tag.schema.choices.clone(),
            strict: tag.schema.strict,
        },
        created: time(tag.created),
    }
}

pub(crate) fn level(level: backend::Level, branch: &str, workspace: &str) -> v1::Level {
    match level {
        backend::Level::Branch { name, tags } => v1::Level { name, topics: Some(tags), tag: None },
        backend::Level::Tag(own) => {
            let name = own.path.strip_prefix(branch).unwrap_or(&own.path).to_owned();
            v1::Level { name, topics: None, tag: Some(tag(&own, workspace)) }
        }
    }
}

pub(crate) fn sample(sample: &backend::Sample) -> v1::Sample {
    v1::Sample {
        source_time: time(sample.source_time),
        receive_time: time(sample.receive_time),
        quality: sample.quality.0,
        kind: kind(sample.value.as_ref().kind()),
        value: value(&sample.value),
    }
}

/// The value's own text, so that no digit changes.
fn value(value: &Value) -> Box<RawValue> {
    let mut text = String::new();
    match value.as_ref() {
        ValueRef::Json(json) => text.push_str(json),
        other => other.write_json(&mut text),
    }
    RawValue::from_string(text).unwrap_or_else(|_| {
        // Structured values are checked when they enter; should one not be JSON after all, its
        // text is told as text rather than the whole answer broken.
        let mut quoted = String::new();
        ValueRef::Text(value.as_ref().text().unwrap_or_default()).write_json(&mut quoted);
        RawValue::from_string(quoted).expect("a JSON string is JSON")
    })
}

pub(crate) fn bucket(bucket: &backend::Bucket) -> v1::Bucket {
    // JSON has no infinities; an interval with one has no bound that could be told.
    let finite = |number: Option<f64>| number.filter(|number| number.is_finite());
    v1::Bucket {
        start: time(bucket.start),
        count: bucket.count,
        min: finite(bucket.min),
        max: finite(bucket.max),
        first: finite(bucket.first),
        last: finite(bucket.last),
        mean: finite(bucket.mean),
    }
}

pub(crate) fn counts(counts: &LedgerCounts) -> v1::ledger::Counts {
    let by_reason = Reason::ALL.iter().zip(counts.refused).filter(|(_, count)| *count > 0);
    v1::Counts {
        received: counts.received,
        stored: counts.stored,
        redelivered: counts.redelivered,
        superseded: counts.superseded,
        refused: counts.refused_total(),
        refused_by_reason: by_reason.map(|(why, count)| (why.name().to_owned(), count)).collect(),
        interrupted: counts.interrupted,
        in_flight: counts.in_flight(),
        balanced: counts.is_balanced(),
    }
}

pub(crate) fn issue(issue: IssueState) -> v1::Issue {
    v1::Issue {
        key: issue.key,
        severity: match issue.severity {
            Severity::Notice => v1::Severity::Notice,
            Severity::Warning => v1::Severity::Warning,
            Severity::Critical => v1::Severity::Critical,
        },
        what: issue.what,
        effect: issue.effect,
        remedy: issue.remedy,
        since: time(issue.since),
        last_seen: time(issue.last_seen),
        count: issue.count,
        acknowledged_by: issue.acknowledged_by,
    }
}

pub(crate) fn audit_entry(entry: model::AuditEntry) -> v1::AuditEntry {
    v1::AuditEntry {
        at: time(entry.at),
        who: entry.who,
        action: entry.action,
        subject: entry.subject,
        from: entry.from,
    }
}

pub(crate) fn health(health: backend::Health, with_details: bool) -> v1::Health {
    let part = |part: backend::HealthPart| v1::HealthPart {
        name: part.name,
        ok: part.ok,
        detail: part.detail,
    };
    v1::Health {
        status: if health.ready { v1::HealthStatus::Ready } else { v1::HealthStatus::NotReady },
        parts: with_details.then(|| health.parts.into_iter().map(part).collect()),
    }
}

pub(crate) fn overview(overview: &backend::Overview, now: Timestamp) -> v1::Overview {
    v1::Overview {
        now: time(now),
        started: time(overview.started),
        ready: overview.ready,
        connections: overview.connections,
        clients: overview.clients,
        tags: overview.tags,
        issues: overview.issues,
        received_per_s: overview.received_per_s,
        stored_per_s: overview.stored_per_s,
        refused_per_s: overview.refused_per_s,
        journal_bytes: overview.journal_bytes,
        history_bytes: overview.history_bytes,
    }
}

/// A figure; one that JSON has no number for is left out.
pub(crate) fn measure(measure: millrace_supervisor::Measure) -> Option<v1::Measure> {
    measure.value.is_finite().then(|| v1::Measure {
        name: measure.name.to_owned(),
        label: measure.label.map(|(_, value)| value),
        value: measure.value,
    })
}

pub(crate) fn config_entry(entry: backend::ConfigEntry) -> v1::ConfigEntry {
    v1::ConfigEntry {
        key: entry.key,
        value: entry.value,
        source: match entry.source {
            backend::ConfigSource::Default => v1::ConfigSource::Default,
            backend::ConfigSource::File => v1::ConfigSource::File,
            backend::ConfigSource::Override => v1::ConfigSource::Override,
        },
        default: Some(entry.default),
        about: Some(entry.about).filter(|about| !about.is_empty()),
    }
}
