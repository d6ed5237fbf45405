//! The queue of one live subscription: bounded in messages and bytes, drops its oldest.
//!
//! **Invariants**: `offer` never waits for the reader; every message that was offered is either
//! taken or counted as dropped; a message larger than the whole queue counts as dropped.

use crate::backend::LiveSink;
use bytes::Bytes;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Notify;

/// A queued message.
pub(crate) type Message = (Arc<str>, Bytes);

pub(crate) struct Queue {
    messages_max: usize,
    bytes_max: usize,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    messages: VecDeque<Message>,
    bytes: usize,
    dropped: u64,
    closed: bool,
}

/// What the reader finds.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) messages: Vec<Message>,
    /// Dropped since the last time; they lie before the messages.
    pub(crate) dropped: u64,
    pub(crate) closed: bool,
}

impl Queue {
    pub(crate) fn new(messages_max: usize, bytes_max: usize) -> Self {
        let state = Mutex::new(State::default());
        Self { messages_max, bytes_max, state, changed: Notify::new() }
    }

    /// Waits until there is something to tell, and takes up to `most` messages.
    pub(crate) async fn take(&self, most: usize) -> Taken {
        loop {
            let taken = self.take_now(most);
            if !taken.messages.is_empty() || taken.dropped > 0 || taken.closed {
                return taken;
            }
            // A change between the look and the wait has left its permit in the notify.
            self.changed.notified().await;
        }
    }

    fn take_now(&self, most: usize) -> Taken {
        let mut state = self.state.lock();
        let count = state.messages.len().min(most);
        let messages: Vec<Message> = state.messages.drain(..count).collect();
        state.bytes -= messages.iter().map(size).sum::<usize>();
        Taken { messages, dropped: std::mem::take(&mut state.dropped), closed: state.closed }
    }
}

fn size((topic, payload): &Message) -> usize {
    topic.len() + payload.len()
}

impl LiveSink for Queue {
    fn offer(&self, topic: &Arc<str>, payload: &Bytes) {
        let message = (Arc::clone(topic), payload.clone());
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        let was_silent = state.messages.is_empty() && state.dropped == 0;
        state.bytes += size(&message);
        state.messages.push_back(message);
        while state.messages.len() > self.messages_max || state.bytes > self.bytes_max {
            let Some(oldest) = state.messages.pop_front() else { break };
            state.bytes -= size(&oldest);
            state.dropped += 1;
        }
        drop(state);
        if was_silent {
            self.changed.notify_one();
        }
    }

    fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        state.messages.clear();
        state.bytes = 0;
        drop(state);
        self.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(queue: &Queue, text: &str) {
        queue.offer(&Arc::from("t"), &Bytes::copy_from_slice(text.as_bytes()));
    }

    fn payloads(taken: &Taken) -> Vec<&[u8]> {
        taken.messages.iter().map(|(_, payload)| payload.as_ref()).collect()
    }

    #[test]
    fn drops_the_oldest_and_counts_them() {
        let queue = Queue::new(2, 1_000);
        ["1", "2", "3", "4", "5"].iter().for_each(|text| offer(&queue, text));
        let taken = queue.take_now(10);
        assert_eq!(payloads(&taken), [b"4", b"5"]);
        assert_eq!(taken.dropped, 3);
        assert_eq!(queue.take_now(10).dropped, 0, "each drop is told once");
    }

    #[test]
    fn is_bounded_in_bytes_too() {
        let queue = Queue::new(100, 10);
        ["aaaa", "bbbb", "cccc"].iter().for_each(|text| offer(&queue, text));
        let taken = queue.take_now(10);
        assert_eq!(payloads(&taken), [b"bbbb", b"cccc"]);
        offer(&queue, &"x".repeat(100));
        let taken = queue.take_now(10);
        assert!(taken.messages.is_empty());
        assert_eq!(taken.dropped, 1, "larger than the whole queue");
    }

    #[test]
    fn takes_a_part_and_keeps_the_rest() {
        let queue = Queue::new(10, 1_000);
        ["1", "2", "3"].iter().for_each(|text| offer(&queue, text));
        assert_eq!(payloads(&queue.take_now(2)), [b"1", b"2"]);
        assert_eq!(payloads(&queue.take_now(2)), [b"3"]);
    }

    #[tokio::test]
    async fn wakes_its_reader_for_messages_and_for_the_end() {
        let queue = Arc::new(Queue::new(10, 1_000));
        let writer = Arc::clone(&queue);
        let (taken, ()) = tokio::join!(queue.take(10), async { offer(&writer, "1") });
        assert_eq!(taken.messages.len(), 1);
        let (taken, ()) = tokio::join!(queue.take(10), async { writer.close() });
        assert!(taken.closed);
    }
}
