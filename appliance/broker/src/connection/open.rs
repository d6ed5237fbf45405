//! The state of a connection that is signed in.
//!
//! **Invariants**: the session's scratch holds the publishes of at most one read; while a submit
//! waits for room nothing is offered.

use std::sync::Arc;
use std::task::Waker;

use millrace_journal::Registration;
use millrace_model::Filter;

use super::acknowledge::{Inflight, Peer};
use super::aliases::Aliases;
use super::deliver::{Delivered, InFlightDeliveries, deliver};
use crate::codec::Version;
use crate::config::Config;
use crate::fanout::Subscriber;
use crate::ingest::{Grant, IngestSession, Submitted};
use crate::shared::Shared;

/// The state. In this order, because what a wake touches lies together in front: each further
/// cache line costs as much as all that is computed with it.
#[repr(C)]
pub(super) struct Open {
    /// Whether the session knows the time of this read.
    pub(super) has_begun: bool,
    /// Whether anything was offered since the last submit.
    pub(super) has_offered: bool,
    /// Whether the last submit found no room.
    pub(super) is_full: bool,
    /// Whether deliveries were left in the queue though it was looked at.
    pub(super) has_backlog: bool,
    pub(super) wants_problem_information: bool,
    pub(super) version: Version,
    pub(super) publish_count: u64,
    pub(super) registration: Registration,
    pub(super) subscriber_id: u64,
    /// Largest packet that the client takes.
    pub(super) packet_bytes_max: usize,
    pub(super) session: Box<dyn IngestSession>,
    pub(super) inflight: Inflight,
    /// `<root>/<workspace>/_ingress/<client id>/`
    pub(super) inbox: Box<str>,
    /// `<root>/<workspace>/_verdict/<client id>`
    pub(super) verdict_topic: Box<str>,
    pub(super) aliases: Aliases,
    pub(super) grant: Arc<Grant>,
    /// `<root>/<workspace>/`
    pub(super) namespace: Box<str>,
    pub(super) subscriber: Arc<Subscriber>,
    pub(super) filters: Vec<Filter>,
    pub(super) deliveries: InFlightDeliveries,
}

impl Open {
    #[inline]
    pub(super) fn begin_read(&mut self) {
        self.has_begun = false;
    }

    #[inline]
    pub(super) fn take_publish_count(&mut self) -> u64 {
        std::mem::take(&mut self.publish_count)
    }

    /// Gives what was offered to the journal.
    #[inline]
    pub(super) fn submit(&mut self, waker: &Waker, shared: &Shared) {
        if !self.has_offered {
            return;
        }
        let mut submitted = self.session.submit(waker, &mut self.registration);
        if submitted == Submitted::Full {
            // Room may have come between the answer and the registration: ask once more.
            shared.wiring.durable.wait_for_space(waker);
            submitted = self.session.submit(waker, &mut self.registration);
        }
        let range = match submitted {
            Submitted::Queued(range) => Some(range),
            Submitted::Empty => None,
            Submitted::Full | Submitted::Closed => {
                self.is_full = true;
                return;
            }
        };
        self.inflight.submitted(range);
        self.has_offered = false;
        self.is_full = false;
    }

    /// Answers what is durable.
    #[inline]
    pub(super) fn acknowledge(&mut self, shared: &Shared, out: &mut Vec<u8>) {
        if self.inflight.is_empty() {
            return;
        }
        let peer = Peer {
            version: self.version,
            wants_problem_information: self.wants_problem_information,
            packet_bytes_max: self.packet_bytes_max,
            fanout: &shared.wiring.fanout,
            subscriber: self.subscriber_id,
            verdict_topic: &self.verdict_topic,
        };
        self.inflight.acknowledge(shared.wiring.durable.durable(), &peer, out);
    }

    /// Takes deliveries from the queue, when its bell was rung or something was left there.
    #[inline]
    pub(super) fn deliver(&mut self, is_rung: bool, waker: &Waker, out: &mut Vec<u8>) -> Delivered {
        if !is_rung && !self.has_backlog {
            return Delivered::default();
        }
        let takes = (self.version, self.packet_bytes_max);
        let delivered = deliver(&self.subscriber, &mut self.deliveries, takes, waker, out);
        self.has_backlog = delivered.has_left;
        delivered
    }

    /// Whether the client may send more. MQTT 5 clients keep to the receive maximum themselves
    /// (and are disconnected otherwise), so that only what has no packet id counts here.
    #[inline]
    pub(super) fn may_read(&self, config: &Config) -> bool {
        let max = usize::from(config.receive_maximum);
        let waiting_max = if self.version == Version::V5 { 2 * max } else { max };
        !self.is_full && self.inflight.len() < waiting_max
    }

    pub(super) fn has_in_flight(&self) -> bool {
        self.has_offered || !self.inflight.is_empty()
    }
}
