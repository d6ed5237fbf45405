//! What queries and the intake share under one lock: memtables, last values, the list of parts.
//!
//! The journal's thread takes the lock once per batch to write; readers take it for as long as
//! copying some thousand rows takes. The sealing memtable and the list of parts are immutable
//! behind `Arc`s, so that most of a query runs without the lock.
//!
//! **Invariants**
//! - A value is in the active memtable, in the sealing one, or in a part of `parts`; the change
//!   from one to the next happens under the write lock, so no query sees it twice or not at all.
//! - The last value of a tag is the one with the greatest source time; of equal ones the one with
//!   the highest seq. It outlives retention while the appliance runs.

mod last;

pub(crate) use last::{Last, LastText};

use crate::memtable::{FLAG_SOURCE_TIME, FLAG_UNRESOLVED, Memtable};
use crate::part::PartList;
use crate::sample::Outcome;
use crate::slots::Slots;
use millrace_model::{SampleRecord, TagId};
use std::sync::Arc;

/// What is known of a tag.
#[derive(Default)]
pub(crate) struct TagState {
    pub(crate) last: Option<Last>,
    /// Parts may hold values of the tag up to this source time.
    pub(crate) sealed_time_max: i64,
    /// Whether `last` accounts for the parts that were there at the start.
    pub(crate) knows_parts: bool,
}

/// The part of the historian that lives in memory.
pub(crate) struct Memory {
    pub(crate) slots: Slots,
    pub(crate) states: Vec<TagState>,
    pub(crate) active: Memtable,
    pub(crate) sealing: Option<Arc<Memtable>>,
    spare: Option<Memtable>,
    generation: u64,
    pub(crate) parts: Arc<PartList>,
    /// Everything up to this seq has passed the intake.
    pub(crate) last_seq: u64,
    /// `last_seq` when the sealing memtable was closed.
    pub(crate) sealing_seq: u64,
    /// Source time of the newest sample of any part at the start.
    opened_time_max: i64,
    memtable_bytes: usize,
}

impl Memory {
    pub(crate) fn new(parts: PartList, last_seq: u64, memtable_bytes: usize) -> Self {
        Self {
            slots: Slots::new(),
            states: Vec::new(),
            active: Memtable::new(1),
            sealing: None,
            spare: None,
            generation: 1,
            opened_time_max: parts.time_max(),
            parts: Arc::new(parts),
            last_seq,
            sealing_seq: last_seq,
            memtable_bytes,
        }
    }

    /// The slot of a tag, made if it is new.
    #[inline]
    pub(crate) fn slot(&mut self, tag: TagId) -> u32 {
        match self.slots.get(tag) {
            Some(slot) => slot,
            None => self.new_slot(tag),
        }
    }

    #[cold]
    fn new_slot(&mut self, tag: TagId) -> u32 {
        self.states.push(TagState {
            last: None,
            sealed_time_max: self.opened_time_max,
            knows_parts: self.opened_time_max == i64::MIN,
        });
        self.slots.add(tag)
    }

    pub(crate) fn state(&self, tag: TagId) -> Option<&TagState> {
        self.states.get(self.slots.get(tag)? as usize)
    }

    /// No part that was there at the start has a later source time.
    pub(crate) fn opened_time_max(&self) -> i64 {
        self.opened_time_max
    }

    /// Whether the active memtable must be sealed before it takes more.
    pub(crate) fn is_full(&self) -> bool {
        self.active.bytes() >= self.memtable_bytes || self.active.is_out_of_reach(self.last_seq)
    }

    /// Closes the active memtable and begins another. Only while none is sealing.
    pub(crate) fn swap(&mut self) {
        debug_assert!(self.sealing.is_none(), "one seal at a time");
        self.generation += 1;
        let mut fresh = self.spare.take().unwrap_or_else(|| Memtable::new(0));
        fresh.clear(self.generation);
        self.sealing = Some(Arc::new(std::mem::replace(&mut self.active, fresh)));
        self.sealing_seq = self.last_seq;
    }

    /// The sealing memtable is in parts now: gives it up for the next swap.
    pub(crate) fn finish_seal(&mut self, parts: Arc<PartList>) -> Option<Arc<Memtable>> {
        self.parts = parts;
        self.sealing.take()
    }

    pub(crate) fn keep_spare(&mut self, memtable: Memtable) {
        self.spare = Some(memtable);
    }

    /// Takes a value in.
    #[inline]
    pub(crate) fn append(&mut self, seq: u64, sample: &SampleRecord<'_>) -> Outcome {
        self.last_seq = seq;
        let slot = self.slot(sample.tag);
        let Some(state) = self.states.get_mut(slot as usize) else { return Outcome::Stored };
        let time = sample.source_time.0;
        let newest = state.last.as_ref().map_or(i64::MIN, |last| last.time);
        let mut flags = if sample.has_source_time { FLAG_SOURCE_TIME } else { 0 };
        let mut outcome = Outcome::Stored;
        if sample.has_source_time && (time <= newest || time <= state.sealed_time_max) {
            let active = self.active.find(slot, time).map(|row| (&self.active, row));
            let found = active.or_else(|| {
                let sealing = self.sealing.as_deref()?;
                sealing.find(slot, time).map(|row| (sealing, row))
            });
            match found {
                Some((table, row)) if table.is_same(row, sample) => return Outcome::Redelivered,
                Some(_) => outcome = Outcome::Superseded,
                None if time <= state.sealed_time_max => flags |= FLAG_UNRESOLVED,
                None => {}
            }
        }
        self.active.append(slot, seq, sample, flags);
        if time >= newest {
            let text = LastText::In(self.active.generation);
            match &mut state.last {
                Some(last) => last.replace(seq, sample, text),
                None => state.last = Some(Last::new(seq, sample, text)),
            }
            // What bits a text has is known to the memtable only.
            if !sample.value.kind().is_scalar()
                && let Some(last) = &mut state.last
            {
                last.bits = self.active.last_text_place();
            }
        }
        outcome
    }
}
