//! The topics that one session has used, and what was found out about each.
//!
//! Devices send their topics in the same order again and again. So each entry remembers which one
//! followed it last time; comparing that guess costs less than hashing. A wrong guess costs one
//! look into the hash table.
//!
//! **Invariants**: only topics that the client may write are kept; at most [`TOPICS_KEPT_MAX`],
//! then all are forgotten and found out again.

use crate::judge::Judged;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Topics that a session keeps; twice the tags that a client may create by default.
pub(crate) const TOPICS_KEPT_MAX: usize = 20_000;

/// A topic that the client may write.
#[derive(Debug)]
pub(crate) struct Entry {
    topic: Box<str>,
    /// Where the tag path begins in the topic.
    path_at: usize,
    /// The entry that followed this one last time.
    next: usize,
    /// The namespace's generation in which `tag` was found.
    pub(crate) generation: u64,
    /// The tag; `None` while it has not been found or does not exist.
    pub(crate) tag: Option<Judged>,
}

impl Entry {
    /// The tag path.
    pub(crate) fn path(&self) -> &str {
        self.topic.get(self.path_at..).unwrap_or_default()
    }
}

#[derive(Debug, Default)]
pub(crate) struct Topics {
    entries: Vec<Entry>,
    index: HashTable<usize>,
    hasher: RandomState,
    last: usize,
    /// The entry that is expected next: the last one's `next`, copied while that was at hand.
    expected: usize,
}

impl Topics {
    /// The place of a topic that is kept.
    pub(crate) fn find(&mut self, topic: &str) -> Option<usize> {
        let guess = self.expected;
        if let Some(entry) = self.entries.get(guess)
            && *entry.topic == *topic
        {
            self.last = guess;
            self.expected = entry.next;
            return Some(guess);
        }
        let hash = self.hasher.hash_one(topic.as_bytes());
        let entries = &self.entries;
        let is_it = |place: &usize| entries.get(*place).is_some_and(|entry| *entry.topic == *topic);
        let place = *self.index.find(hash, is_it)?;
        self.follow(place);
        Some(place)
    }

    /// Keeps a topic that is not kept yet, and returns its place.
    pub(crate) fn keep(&mut self, topic: &str, path_at: usize) -> usize {
        if self.entries.len() >= TOPICS_KEPT_MAX {
            self.forget();
        }
        let place = self.entries.len();
        self.entries.push(Entry {
            topic: topic.into(),
            path_at,
            next: 0,
            generation: 0,
            tag: None,
        });
        let Self { entries, index, hasher, .. } = self;
        let hash = |topic: &str| hasher.hash_one(topic.as_bytes());
        let rehash = |place: &usize| entries.get(*place).map_or(0, |entry| hash(&entry.topic));
        index.insert_unique(hash(topic), place, rehash);
        self.follow(place);
        place
    }

    /// The entry at a place that `find` or `keep` has just given.
    pub(crate) fn entry(&mut self, place: usize) -> &mut Entry {
        self.entries.get_mut(place).expect("a place is used before anything else is kept")
    }

    pub(crate) fn forget(&mut self) {
        self.entries.clear();
        self.index.clear();
        self.last = 0;
        self.expected = 0;
    }

    fn follow(&mut self, place: usize) {
        if let Some(last) = self.entries.get_mut(self.last) {
            last.next = place;
        }
        self.last = place;
        self.expected = self.entries.get(place).map_or(0, |entry| entry.next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_topic_in_any_order() {
        let mut topics = Topics::default();
        let name = |i: usize| format!("plant/{i}");
        for i in 0..500 {
            assert_eq!(topics.find(&name(i)), None);
            topics.keep(&name(i), 6);
        }
        for step in [1, 7, 499, 250] {
            for i in (0..2_000).map(|n| n * step % 500) {
                let place = topics.find(&name(i)).unwrap();
                assert_eq!(topics.entry(place).path(), i.to_string());
            }
        }
    }

    #[test]
    fn forgets_all_when_full_and_goes_on() {
        let mut topics = Topics::default();
        for i in 0..=TOPICS_KEPT_MAX {
            topics.keep(&i.to_string(), 0);
        }
        assert_eq!(topics.find("0"), None);
        assert!(topics.find(&TOPICS_KEPT_MAX.to_string()).is_some());
    }
}
