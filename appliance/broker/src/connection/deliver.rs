//! From the subscriber's queue to the output.
//!
//! **Invariants**: QoS 1 deliveries in flight stay within what the client takes; the client
//! acknowledges them in any order; a message larger than the client takes is dropped and counted.

use std::task::Waker;

use hashbrown::HashSet;

use crate::codec::{Outgoing, Version};
use crate::config::OUT_BYTES_MAX;
use crate::fanout::Subscriber;

/// QoS 1 deliveries that the client has not acknowledged.
#[derive(Debug)]
pub(crate) struct InFlightDeliveries {
    packet_ids: HashSet<u16, foldhash::fast::RandomState>,
    next: u16,
    max: usize,
}

impl InFlightDeliveries {
    pub(crate) fn new(max: u16) -> Self {
        Self { packet_ids: HashSet::default(), next: 1, max: usize::from(max.max(1)) }
    }

    fn is_full(&self) -> bool {
        self.packet_ids.len() >= self.max
    }

    fn take(&mut self) -> u16 {
        // Ends: `max` is below the number of packet ids and `is_full` was asked before.
        while self.next == 0 || !self.packet_ids.insert(self.next) {
            self.next = self.next.wrapping_add(1);
        }
        let packet_id = self.next;
        self.next = self.next.wrapping_add(1);
        packet_id
    }

    /// The client has acknowledged one. An id that is not in flight is ignored, as the standard
    /// asks.
    pub(crate) fn acknowledged(&mut self, packet_id: u16) {
        self.packet_ids.remove(&packet_id);
    }
}

/// What one round of delivering did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    pub(crate) count: u64,
    /// Whether more waits and only the output's size stands in the way.
    pub(crate) has_more: bool,
    /// Whether anything waits, for whatever reason.
    pub(crate) has_left: bool,
}

/// Moves messages into the output until there is none, or no room.
pub(crate) fn deliver(
    subscriber: &Subscriber,
    in_flight: &mut InFlightDeliveries,
    (version, packet_bytes_max): (Version, usize),
    waker: &Waker,
    out: &mut Vec<u8>,
) -> Delivered {
    let mut delivered = Delivered::default();
    let mut too_large = 0;
    subscriber.drain(waker, |delivery| {
        if out.len() >= OUT_BYTES_MAX {
            delivered.has_more = true;
            delivered.has_left = true;
            return false;
        }
        let mut packet = Outgoing {
            topic: &delivery.topic,
            payload: &delivery.payload,
            packet_id: (delivery.qos > 0).then_some(0),
            correlation: delivery.correlation.as_deref(),
        };
        if packet.packet_bytes(version) > packet_bytes_max {
            too_large += 1;
            return true;
        }
        if delivery.qos > 0 {
            if in_flight.is_full() {
                delivered.has_left = true;
                return false;
            }
            packet.packet_id = Some(in_flight.take());
        }
        packet.encode(version, out);
        delivered.count += 1;
        true
    });
    subscriber.count_dropped(too_large);
    delivered
}
