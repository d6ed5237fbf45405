//! The last refusals of each topic, with what was sent: for whoever asks why a value is missing.
//!
//! In memory, gone with a restart: the ledger is what counts. The newest few of each topic are kept;
//! when there are too many topics or bytes, the topic that was refused first makes room.
//!
//! **Invariants**: at most [`REFUSED_TOPICS_MAX`] topics, [`REFUSED_PER_TOPIC_MAX`] of each and
//! [`REFUSED_BYTES_MAX`] bytes; nothing is kept of a text that is no path.

use foldhash::fast::RandomState;
use hashbrown::{Equivalent, HashMap};
use millrace_model::{ClientNumber, Refusal, Timestamp, WorkspaceNumber};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// Topics whose refusals are kept.
pub const REFUSED_TOPICS_MAX: usize = 1_000;
/// Refusals kept of one topic.
pub const REFUSED_PER_TOPIC_MAX: usize = 10;
/// Bytes kept of what was sent.
pub const REFUSED_PAYLOAD_BYTES_MAX: usize = 1_024;
/// Bytes of all that is kept: paths, payloads, sentences, and a fixed part of each.
pub const REFUSED_BYTES_MAX: usize = 4 * 1024 * 1024;
/// What an entry costs beside its texts.
const ENTRY_BYTES: usize = 128;

/// One value that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// When.
    pub at: Timestamp,
    /// Who sent it.
    pub client: ClientNumber,
    /// Why.
    pub refusal: Refusal,
    /// The beginning of what was sent; of an element of a batch its value alone.
    pub payload: Box<[u8]>,
    /// How long it was, in bytes.
    pub payload_bytes: usize,
}

impl Refused {
    fn bytes(&self) -> usize {
        ENTRY_BYTES + self.payload.len() + self.refusal.detail.as_ref().map_or(0, |text| text.len())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Topic(u16, Arc<str>);

#[derive(Hash)]
struct Asked<'a>(u16, &'a str);

impl Equivalent<Topic> for Asked<'_> {
    fn equivalent(&self, topic: &Topic) -> bool {
        self.0 == topic.0 && *self.1 == *topic.1
    }
}

/// The last refusals of all topics.
#[derive(Debug, Default)]
pub(crate) struct LastRefusals(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    topics: HashMap<Topic, VecDeque<Refused>, RandomState>,
    /// The topics, the one that was refused first in front.
    order: VecDeque<Topic>,
    bytes: usize,
}

impl LastRefusals {
    /// Keeps a refusal of a checked path.
    pub(crate) fn keep(&self, workspace: WorkspaceNumber, path: &str, refused: Refused) {
        let mut kept = self.0.lock();
        let kept = &mut *kept;
        kept.bytes += refused.bytes();
        if let Some(own) = kept.topics.get_mut(&Asked(workspace.0, path)) {
            if own.len() >= REFUSED_PER_TOPIC_MAX
                && let Some(oldest) = own.pop_front()
            {
                kept.bytes = kept.bytes.saturating_sub(oldest.bytes());
            }
            own.push_back(refused);
        } else {
            let topic = Topic(workspace.0, path.into());
            kept.bytes += ENTRY_BYTES + path.len();
            kept.order.push_back(topic.clone());
            kept.topics.insert(topic, VecDeque::from([refused]));
        }
        kept.make_room((workspace.0, path));
    }

    /// What is kept of a topic, the newest first.
    pub(crate) fn of(&self, workspace: WorkspaceNumber, path: &str) -> Vec<Refused> {
        let kept = self.0.lock();
        let own = kept.topics.get(&Asked(workspace.0, path));
        own.map(|own| own.iter().rev().cloned().collect()).unwrap_or_default()
    }
}

impl Kept {
    /// Forgets topics until the limits hold; never the one that was refused just now.
    fn make_room(&mut self, (workspace, path): (u16, &str)) {
        while self.order.len() > REFUSED_TOPICS_MAX || self.bytes > REFUSED_BYTES_MAX {
            let Some(first) = self.order.pop_front() else { return };
            if first.0 == workspace && *first.1 == *path {
                if self.order.is_empty() {
                    return self.order.push_front(first);
                }
                self.order.push_back(first);
                continue;
            }
            let gone = self.topics.remove(&first).unwrap_or_default();
            let gone_bytes: usize = gone.iter().map(Refused::bytes).sum();
            self.bytes = self.bytes.saturating_sub(gone_bytes + ENTRY_BYTES + first.1.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_model::Reason;

    const MAIN: WorkspaceNumber = WorkspaceNumber(1);

    fn refused(at: i64, payload_bytes: usize) -> Refused {
        Refused {
            at: Timestamp(at),
            client: ClientNumber(7),
            refusal: Refusal::plain(Reason::OutOfRange),
            payload: vec![b'x'; payload_bytes].into(),
            payload_bytes,
        }
    }

    fn times(all: &LastRefusals, workspace: WorkspaceNumber, path: &str) -> Vec<i64> {
        all.of(workspace, path).iter().map(|refused| refused.at.0).collect()
    }

    #[test]
    fn a_topic_keeps_its_newest_and_no_other_topics() {
        let all = LastRefusals::default();
        for at in 1..=REFUSED_PER_TOPIC_MAX as i64 + 2 {
            all.keep(MAIN, "press/a", refused(at, 3));
        }
        all.keep(WorkspaceNumber(2), "press/a", refused(99, 3));
        let expected: Vec<i64> = (3..=REFUSED_PER_TOPIC_MAX as i64 + 2).rev().collect();
        assert_eq!(times(&all, MAIN, "press/a"), expected);
        assert_eq!(times(&all, WorkspaceNumber(2), "press/a"), [99]);
        assert!(all.of(MAIN, "press").is_empty());
    }

    #[test]
    fn the_topic_that_was_refused_first_makes_room_by_count() {
        let all = LastRefusals::default();
        for at in 0..=REFUSED_TOPICS_MAX as i64 {
            all.keep(MAIN, &at.to_string(), refused(at, 3));
        }
        assert!(all.of(MAIN, "0").is_empty());
        assert_eq!(times(&all, MAIN, "1"), [1]);
        assert_eq!(all.0.lock().topics.len(), REFUSED_TOPICS_MAX);
    }

    #[test]
    fn bytes_are_bounded_and_come_back_to_nothing() {
        let all = LastRefusals::default();
        let topics = REFUSED_TOPICS_MAX - 1;
        for round in 0..REFUSED_PER_TOPIC_MAX as i64 {
            for topic in 0..topics {
                all.keep(MAIN, &topic.to_string(), refused(round, REFUSED_PAYLOAD_BYTES_MAX));
                assert!(all.0.lock().bytes <= REFUSED_BYTES_MAX);
            }
        }
        let kept = all.0.lock();
        assert!(kept.topics.len() < topics, "the limit of bytes was reached first");
        let counted: usize = kept
            .topics
            .iter()
            .map(|(topic, own)| {
                ENTRY_BYTES + topic.1.len() + own.iter().map(Refused::bytes).sum::<usize>()
            })
            .sum();
        assert_eq!((kept.bytes, kept.order.len()), (counted, kept.topics.len()));
    }
}
