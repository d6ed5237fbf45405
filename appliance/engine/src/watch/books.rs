//! Which runs are open, by the seq that they need to be found again.
//!
//! **Invariants**: the cursor never passes a seq that an open run needs.

use crate::queued::RunId;
use millrace_model::Timestamp;
use std::collections::{HashMap, VecDeque};

/// The books.
#[derive(Debug, Default)]
pub(crate) struct Books {
    /// Seqs in rising order, how many open runs need each, and since when.
    window: VecDeque<(u64, u32, Timestamp)>,
    /// Every open run and the seq that it needs: its own, or that of the record that carried it.
    needs: HashMap<RunId, u64>,
    seen: u64,
}

impl Books {
    pub(super) fn new(seen: u64) -> Self {
        Self { seen, ..Self::default() }
    }

    /// A run is open from its record on.
    pub(super) fn open(&mut self, id: RunId, asked: Timestamp) {
        let seq = id.seq;
        if self.needs.insert(id, seq).is_some() {
            return;
        }
        match self.window.back_mut() {
            Some((last, count, _)) if *last == seq => *count += 1,
            Some((last, ..)) if *last > seq => {
                // Records come in order; only a repetition could come here, and it is known.
                self.insert(seq, asked);
            }
            _ => self.window.push_back((seq, 1, asked)),
        }
    }

    fn insert(&mut self, seq: u64, asked: Timestamp) {
        match self.window.binary_search_by_key(&seq, |(seq, ..)| *seq) {
            Ok(place) => {
                if let Some((_, count, _)) = self.window.get_mut(place) {
                    *count += 1;
                }
            }
            Err(place) => self.window.insert(place, (seq, 1, asked)),
        }
    }

    /// A run has ended for good.
    pub(super) fn end(&mut self, id: RunId) {
        if let Some(seq) = self.needs.remove(&id) {
            self.close(seq);
        }
    }

    fn close(&mut self, seq: u64) {
        if let Ok(place) = self.window.binary_search_by_key(&seq, |(seq, ..)| *seq)
            && let Some((_, count, _)) = self.window.get_mut(place)
        {
            *count = count.saturating_sub(1);
        }
        while self.window.front().is_some_and(|(_, count, _)| *count == 0) {
            self.window.pop_front();
        }
    }

    /// A run is found again in this record from now on.
    pub(super) fn carry(&mut self, id: RunId, seq: u64, now: Timestamp) {
        let Some(needs) = self.needs.get_mut(&id) else { return };
        let old = std::mem::replace(needs, seq);
        // From now it is as old as the record, so that it is carried again only after a while.
        self.insert(seq, now);
        self.close(old);
    }

    /// A run that was triggered before what is known.
    pub(super) fn carried_in(&mut self, id: RunId, seq: u64, now: Timestamp) {
        self.needs.insert(id, seq);
        self.insert(seq, now);
    }

    pub(super) fn seen(&mut self, last: u64) {
        self.seen = self.seen.max(last);
    }

    pub(crate) fn seen_through(&self) -> u64 {
        self.seen
    }

    /// Everything up to here is needed by no run.
    pub(crate) fn cursor(&self) -> u64 {
        self.window.front().map_or(self.seen, |(seq, ..)| seq.saturating_sub(1))
    }

    /// The last seq that an open run has needed since before a time, if the cursor is held back by
    /// so many records at least.
    pub(crate) fn older_than(&self, time: Timestamp, records: u64) -> Option<u64> {
        if self.seen.saturating_sub(self.cursor()) < records {
            return None;
        }
        let old = self.window.iter().take_while(|(_, _, asked)| *asked < time);
        old.last().map(|(seq, ..)| *seq)
    }

    pub(super) fn is_open(&self, id: RunId) -> bool {
        self.needs.contains_key(&id)
    }

    /// Whether a run is open and needs a seq up to this one.
    pub(crate) fn is_before(&self, id: RunId, through: u64) -> bool {
        self.needs.get(&id).is_some_and(|seq| *seq <= through)
    }

    /// How many runs are open.
    pub(crate) fn open_count(&self) -> usize {
        self.needs.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(seq: u64) -> RunId {
        RunId { pipeline: 1, seq }
    }

    #[test]
    fn the_cursor_waits_for_the_oldest_open_run() {
        let mut books = Books::new(10);
        assert_eq!(books.cursor(), 10);
        let other = RunId { pipeline: 2, seq: 12 };
        for id in [id(11), id(12), other, id(15)] {
            books.open(id, Timestamp(0));
        }
        books.seen(20);
        assert_eq!((books.cursor(), books.open_count()), (10, 4));
        books.end(id(12));
        assert_eq!(books.cursor(), 10);
        books.end(id(11));
        assert_eq!(books.cursor(), 11);
        books.end(id(12));
        assert_eq!(books.cursor(), 11, "an end counts once");
        books.end(other);
        assert_eq!(books.cursor(), 14);
        books.carry(id(15), 18, Timestamp(5));
        assert_eq!(books.cursor(), 17);
        books.carry(id(15), 20, Timestamp(5));
        assert_eq!(books.cursor(), 19);
        books.end(id(15));
        assert_eq!((books.cursor(), books.open_count()), (20, 0));
    }
}
