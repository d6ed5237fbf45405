//! One MQTT client of the crowd: its window, its schedule's debt, its bytes.
//!
//! **Invariants**
//! - A packet id is a slot number + 1; slots are used in turn, so that what waits, waits in the
//!   order of sending. One that was answered before its turn is used again when its turn comes.
//! - What could not be written waits in `unsent`; nothing overtakes it.

use super::spec::{Credential, Spec};
use super::wire::Wire;

/// Where a client stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Offline,
    /// CONNECT is sent.
    SigningIn,
    /// SUBSCRIBE is sent.
    Subscribing,
    Ready,
}

/// One value in flight.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    pub(crate) due: u64,
    pub(crate) tag: u32,
    pub(crate) counter: u64,
    pub(crate) source_time: i64,
    pub(crate) book_place: u32,
    /// Set by the window.
    is_waiting: bool,
}

impl Slot {
    pub(crate) fn new(due: u64, tag: u32, counter: u64, source_time: i64, book_place: u32) -> Self {
        Self { due, tag, counter, source_time, book_place, is_waiting: false }
    }
}

/// One client. What each value touches lies in front.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Client {
    pub(crate) stream: Option<Wire>,
    pub(crate) state: State,
    /// When its connection was asked for.
    pub(crate) dialed: u64,
    /// Values that are due in this phase, and how many of them are sent.
    pub(crate) due: u64,
    pub(crate) sent: u64,
    /// Values of the phases before.
    pub(crate) sent_before: u64,
    slots: Vec<Slot>,
    /// The oldest value that waits and the next to be sent, counted from the first ever.
    oldest: u64,
    next: u64,
    pub(crate) topics: Vec<Vec<u8>>,
    /// The beginning of a packet that is not whole yet.
    pub(crate) partial: Vec<u8>,
    pub(crate) unsent: Vec<u8>,
    /// How the MQTT session is called.
    pub(crate) name: String,
    pub(crate) credential: Credential,
    pub(crate) verdict_topic: Vec<u8>,
}

impl Client {
    pub(crate) fn new(number: usize, credential: Credential, spec: &Spec) -> Self {
        let base = &spec.base;
        let (user, prefix) = (&credential.user, &spec.prefix);
        let topics = (0..spec.tags)
            .map(|tag| format!("{base}/_ingress/{user}/{prefix}{}", path(number, tag)).into_bytes())
            .collect();
        Self {
            stream: None,
            state: State::Offline,
            dialed: 0,
            name: format!("lab-{}{number:04}", spec.prefix.replace('/', "-")),
            topics,
            verdict_topic: format!("{base}/_verdict/{user}").into_bytes(),
            credential,
            partial: Vec::new(),
            unsent: Vec::new(),
            due: 0,
            sent: 0,
            sent_before: 0,
            slots: vec![Slot::default(); usize::from(spec.in_flight)],
            oldest: 0,
            next: 0,
        }
    }

    /// How many more values may be in flight.
    pub(crate) fn room(&self) -> usize {
        self.slots.len() - (self.next - self.oldest) as usize
    }

    /// Takes a slot; its packet id, or none when the window is full.
    pub(crate) fn take_slot(&mut self, slot: Slot) -> Option<u16> {
        if self.room() == 0 {
            return None;
        }
        let number = self.slot_of(self.next);
        *self.slots.get_mut(number)? = Slot { is_waiting: true, ..slot };
        self.next += 1;
        u16::try_from(number + 1).ok()
    }

    /// Frees the slot of an acknowledged packet; none for an id that is not in flight.
    pub(crate) fn free_slot(&mut self, packet_id: u16) -> Option<Slot> {
        let number = packet_id.checked_sub(1)?;
        let slot = self.slots.get_mut(usize::from(number)).filter(|slot| slot.is_waiting)?;
        slot.is_waiting = false;
        let freed = *slot;
        while self.oldest < self.next
            && self.slots.get(self.slot_of(self.oldest)).is_some_and(|slot| !slot.is_waiting)
        {
            self.oldest += 1;
        }
        Some(freed)
    }

    /// The slot of the `count`-th value ever.
    fn slot_of(&self, count: u64) -> usize {
        (count % self.slots.len().max(1) as u64) as usize
    }

    /// The values in flight in the order of their sending, with their packet ids.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (u16, Slot)> + '_ {
        (self.oldest..self.next).filter_map(|count| {
            let number = self.slot_of(count);
            let slot = self.slots.get(number).filter(|slot| slot.is_waiting)?;
            Some((u16::try_from(number + 1).ok()?, *slot))
        })
    }

    /// Writes `bytes`, or keeps what did not fit. False when the connection is gone.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> bool {
        let Some(stream) = &mut self.stream else { return false };
        if !self.unsent.is_empty() {
            self.unsent.extend_from_slice(bytes);
            return true;
        }
        match stream.write(bytes) {
            Ok(written) => {
                self.unsent.extend_from_slice(bytes.get(written..).unwrap_or_default());
                true
            }
            Err(_) => false,
        }
    }

    /// Tries again what did not fit. False when the connection is gone.
    pub(crate) fn write_rest(&mut self) -> bool {
        if self.stream.as_mut().is_some_and(|stream| stream.flush().is_err()) {
            return false;
        }
        let rest = std::mem::take(&mut self.unsent);
        rest.is_empty() || self.write(&rest)
    }

    /// Whether something waits for room in the socket.
    pub(crate) fn has_rest(&self) -> bool {
        !self.unsent.is_empty() || self.stream.as_ref().is_some_and(Wire::has_rest)
    }

    /// The socket is gone; what was in flight stays in flight.
    pub(crate) fn disconnected(&mut self) {
        self.stream = None;
        self.state = State::Offline;
        self.partial.clear();
        self.unsent.clear();
    }
}

/// The tag path of tag `tag` of client `number`.
pub(crate) fn path(number: usize, tag: u32) -> String {
    format!("lab/d{number:04}/t{tag}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(in_flight: u16) -> Spec {
        Spec { tags: 2, in_flight, ..Spec::empty("127.0.0.1:1".parse().unwrap()) }
    }

    #[test]
    fn holds_the_window_and_the_order_of_sending() {
        let credential = Credential { user: "u".into(), secret: None };
        let mut client = Client::new(3, credential, &spec(2));
        assert_eq!(client.topics[1], b"mr/v1/main/_ingress/u/lab/d0003/t1");
        // Given a full window
        let first = client.take_slot(Slot { counter: 1, ..Slot::default() }).unwrap();
        let second = client.take_slot(Slot { counter: 2, ..Slot::default() }).unwrap();
        assert_eq!(client.take_slot(Slot::default()), None);
        // When the second is acknowledged first
        assert_eq!(client.free_slot(second).unwrap().counter, 2);
        // Then only the first waits, and an unknown id changes nothing
        assert!(client.free_slot(second).is_none());
        assert!(client.free_slot(0).is_none());
        let waiting: Vec<u64> = client.waiting().map(|(_, slot)| slot.counter).collect();
        assert_eq!(waiting, [1]);
        assert_eq!(client.free_slot(first).unwrap().counter, 1);
        assert_eq!((client.room(), client.waiting().count()), (2, 0));
    }
}
