//! SUBSCRIBE and UNSUBSCRIBE.
//!
//! **Invariants**: a client gets only what its grant covers, in its own workspace, and its own
//! verdicts; each filter gets its own answer; a filter is kept once, however often it is sent.
//! No-local and the retain options are read and have no effect: a client never publishes to a
//! topic that it can receive, and nothing is retained in this version.

use std::sync::atomic::Ordering;

use millrace_model::Filter;

use crate::codec::subscribe::{encode_suback, encode_unsuback};
use crate::codec::{Fault, Subscribe, SubscribeItem, Unsubscribe, Version, reason};
use crate::connection::Connection;
use crate::connection::open::Open;
use crate::fanout::Fanout;
use crate::shared::Shared;

/// Highest QoS that is granted.
const QOS_MAX: u8 = 1;

impl Connection {
    pub(in crate::connection) fn subscribe(&mut self, body: &[u8]) -> Result<(), Fault> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let subscribe = Subscribe::decode(body, open.version)?;
        let codes: Vec<u8> =
            subscribe.items.iter().map(|item| open.subscribe(item, &self.shared)).collect();
        self.link.subscriptions.store(count(open), Ordering::Relaxed);
        encode_suback(open.version, subscribe.packet_id, &codes, self.out.buffer());
        Ok(())
    }

    pub(in crate::connection) fn unsubscribe(&mut self, body: &[u8]) -> Result<(), Fault> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let unsubscribe = Unsubscribe::decode(body, open.version)?;
        let fanout = &self.shared.wiring.fanout;
        let codes: Vec<u8> =
            unsubscribe.filters.iter().map(|filter| open.unsubscribe(filter, fanout)).collect();
        self.link.subscriptions.store(count(open), Ordering::Relaxed);
        encode_unsuback(open.version, unsubscribe.packet_id, &codes, self.out.buffer());
        Ok(())
    }
}

fn count(open: &Open) -> u32 {
    u32::try_from(open.filters.len()).unwrap_or(u32::MAX)
}

impl Open {
    fn subscribe(&mut self, item: &SubscribeItem, shared: &Shared) -> u8 {
        match self.permit(item, shared) {
            Ok(filter) => {
                let qos = item.qos.min(QOS_MAX);
                shared.wiring.fanout.subscribe(&self.subscriber, &filter, qos);
                if !self.filters.contains(&filter) {
                    self.filters.push(filter);
                }
                // The first look at the queue registers the task there.
                self.subscriber.ring();
                qos
            }
            Err(_) if self.version == Version::V311 => reason::V311_SUBSCRIBE_FAILURE,
            Err(code) => code,
        }
    }

    fn permit(&self, item: &SubscribeItem, shared: &Shared) -> Result<Filter, u8> {
        if item.filter.starts_with("$share/") {
            return Err(reason::SHARED_NOT_SUPPORTED);
        }
        let filter = Filter::new(&item.filter).map_err(|_| reason::TOPIC_FILTER_INVALID)?;
        let Some(path) = filter.as_str().strip_prefix(&*self.namespace) else {
            let root = &shared.config.root;
            let reaches_in = filter.as_str().starts_with(['+', '#'])
                || filter
                    .as_str()
                    .strip_prefix(&**root)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
            // Outside of the root there are only plain topics, which are not built yet.
            return Err(if reaches_in {
                reason::NOT_AUTHORIZED
            } else {
                reason::IMPLEMENTATION_SPECIFIC
            });
        };
        if !self.may_receive(filter.as_str(), path) {
            return Err(reason::NOT_AUTHORIZED);
        }
        let is_new = !self.filters.contains(&filter);
        if is_new && self.filters.len() >= shared.config.subscriptions_max {
            return Err(reason::QUOTA_EXCEEDED);
        }
        Ok(filter)
    }

    fn may_receive(&self, filter: &str, path: &str) -> bool {
        if path.starts_with(['_', '$']) {
            return filter
                .strip_prefix(&*self.verdict_topic)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        }
        // A wildcard at the front of `path` does not reach inboxes and verdicts: see the tree.
        Filter::new(path)
            .is_ok_and(|path| self.grant.subscribe.iter().any(|granted| granted.covers(&path)))
    }

    fn unsubscribe(&mut self, text: &str, fanout: &Fanout) -> u8 {
        let Ok(filter) = Filter::new(text) else { return reason::TOPIC_FILTER_INVALID };
        let Some(position) = self.filters.iter().position(|known| *known == filter) else {
            return reason::NO_SUBSCRIPTION_EXISTED;
        };
        self.filters.swap_remove(position);
        fanout.unsubscribe(&self.subscriber, &filter);
        reason::SUCCESS
    }
}
