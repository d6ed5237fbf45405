//! Merging one tag's rows from any number of sources in order.
//!
//! Sources are opened when the merge reaches their earliest time, so that a page of a long
//! history opens the parts it needs and no more.
//!
//! **Invariants**: a group holds all rows of one source time; rows whose source time the device
//! gave are collapsed to the latest (highest seal, then seq), the others are all kept.

use crate::error::{Error, chain};
use crate::part::{Part, PartCursor, PartList, Standing};
use crate::sample::Item;
use crate::shared::Shared;
use millrace_model::TagId;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

struct Source {
    rows: std::vec::IntoIter<Item>,
    head: Option<Item>,
    cursor: Option<(Arc<Part>, PartCursor)>,
}

/// Rows of a tag in order.
pub(crate) struct Merge<'a> {
    shared: &'a Shared,
    tag: TagId,
    from: i64,
    to: i64,
    sources: Vec<Source>,
    /// Head of each source: (time, seq, source).
    heads: BinaryHeap<Reverse<(i64, u64, usize)>>,
    /// Parts not opened yet, by earliest time.
    waiting: VecDeque<Arc<Part>>,
    is_incomplete: bool,
}

impl<'a> Merge<'a> {
    /// A merge over parts; `to` does not count any more.
    pub(crate) fn of_parts(
        shared: &'a Shared,
        tag: TagId,
        parts: &PartList,
        from: i64,
        to: i64,
    ) -> Self {
        let mut merge = Self {
            shared,
            tag,
            from,
            to,
            sources: Vec::new(),
            heads: BinaryHeap::new(),
            waiting: VecDeque::new(),
            is_incomplete: false,
        };
        for part in parts.iter().filter(|part| part.facts.overlaps(tag.0, from, to)) {
            match part.standing() {
                Standing::Live => merge.waiting.push_back(Arc::clone(part)),
                Standing::Damaged => merge.is_incomplete = true,
                Standing::Removed => {}
            }
        }
        merge
    }

    /// Adds rows from memory, sorted by (time, seq).
    pub(crate) fn add(&mut self, rows: Vec<Item>) {
        self.push_source(Source { rows: rows.into_iter(), head: None, cursor: None });
    }

    /// Whether something could not be read so far.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }

    /// All rows of the next source time, the latest version of each; empty at the end.
    pub(crate) fn next_group(&mut self) -> Vec<Item> {
        let Some(first) = self.next_item() else { return Vec::new() };
        let time = first.time;
        let mut group = vec![first];
        while self.peek_time() == Some(time) {
            group.extend(self.next_item());
        }
        if group.len() > 1 {
            collapse(&mut group);
        }
        group
    }

    fn peek_time(&mut self) -> Option<i64> {
        loop {
            let head = self.heads.peek().map(|Reverse((time, _, _))| *time);
            let next = self.waiting.front().map(|part| part.facts.time_min);
            match (head, next) {
                (_, None) => return head,
                (Some(time), Some(start)) if time < start => return head,
                // The part may hold rows of this very time.
                _ => self.open_next(),
            }
        }
    }

    fn next_item(&mut self) -> Option<Item> {
        self.peek_time()?;
        let Reverse((_, _, number)) = self.heads.pop()?;
        let item = self.sources.get_mut(number)?.head.take();
        self.refill(number);
        item
    }

    fn open_next(&mut self) {
        let Some(part) = self.waiting.pop_front() else { return };
        let opened = PartCursor::open(self.shared, &part).and_then(|mut cursor| {
            cursor.select(self.tag.0, self.from, self.to)?;
            Ok(cursor)
        });
        match opened {
            Ok(cursor) => {
                let cursor = Some((part, cursor));
                self.push_source(Source { rows: Vec::new().into_iter(), head: None, cursor });
            }
            Err(error) => self.give_up(&part, &error),
        }
    }

    fn push_source(&mut self, source: Source) {
        self.sources.push(source);
        self.refill(self.sources.len() - 1);
    }

    /// Gets the next head of a source, from its next batch if need be.
    fn refill(&mut self, number: usize) {
        let Some(source) = self.sources.get_mut(number) else { return };
        source.head = source.rows.next();
        if source.head.is_none()
            && let Some((part, mut cursor)) = source.cursor.take()
        {
            match cursor.next_batch() {
                Ok(rows) if rows.is_empty() => {}
                Ok(rows) => {
                    source.rows = rows.into_iter();
                    source.head = source.rows.next();
                    source.cursor = Some((part, cursor));
                }
                Err(error) => self.give_up(&part, &error),
            }
        }
        let head = self.sources.get(number).and_then(|source| source.head.as_ref());
        if let Some(item) = head {
            self.heads.push(Reverse((item.time, item.seq, number)));
        }
    }

    fn give_up(&mut self, part: &Part, error: &Error) {
        if matches!(error, Error::Removed { .. }) || part.standing() == Standing::Removed {
            return;
        }
        self.is_incomplete = true;
        self.shared.set_aside(part, &chain(error));
    }
}

/// Leaves the latest of the rows whose source time was given, and all others.
fn collapse(group: &mut Vec<Item>) {
    let latest =
        group.iter().filter(|item| item.has_source_time).map(|item| (item.rank, item.seq)).max();
    group.retain(|item| !item.has_source_time || Some((item.rank, item.seq)) == latest);
}
