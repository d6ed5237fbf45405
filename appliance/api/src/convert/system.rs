//! What the box tells of its listeners, limits and next start, as the contract has it.

use super::time;
use crate::backend;
use millrace_contract::v1;
use millrace_model::Timestamp;

pub(crate) fn system(system: backend::System, version: &str, now: Timestamp) -> v1::System {
    let change = |(key, in_force, next)| v1::SettingChange { key, in_force, next };
    v1::System {
        version: version.to_owned(),
        build: system.build.to_owned(),
        platform: system.platform,
        now: time(now),
        started: time(system.started),
        config_file: system.config_file,
        listeners: system.listeners.iter().map(listener).collect(),
        certificate: system.certificate.map(certificate),
        limits: system.limits.into_iter().map(limit).collect(),
        near_percent: system.near_percent,
        next_start: v1::NextStart {
            changes: system.changes.into_iter().map(change).collect(),
            faults: system.faults,
        },
    }
}

fn listener(listener: &backend::BoundListener) -> v1::Listener {
    v1::Listener {
        protocol: listener.protocol.to_owned(),
        address: listener.address.to_string(),
        tls: listener.tls,
        off_the_box: !listener.address.ip().to_canonical().is_loopback(),
        setting: listener.setting.to_owned(),
    }
}

fn certificate(certificate: backend::ServedCertificate) -> v1::Certificate {
    v1::Certificate {
        fingerprint: certificate.fingerprint,
        not_before: certificate.not_before.map(time),
        not_after: certificate.not_after.map(time),
        own: certificate.own,
    }
}

fn limit(limit: backend::LimitUse) -> v1::Limit {
    v1::Limit {
        setting: limit.setting,
        what: limit.what,
        used: limit.used,
        most: limit.most,
        unit: match limit.unit {
            backend::LimitUnit::Count => v1::LimitUnit::Count,
            backend::LimitUnit::Bytes => v1::LimitUnit::Bytes,
            backend::LimitUnit::Percent => v1::LimitUnit::Percent,
        },
    }
}
