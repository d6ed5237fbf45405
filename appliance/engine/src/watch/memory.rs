//! What triggers on changes and deadbands remember of each tag, over restarts.
//!
//! A memory counts up to the record that it was stored with. At a start older records come again:
//! one that had started a run is told by the list of runs that were open when the memory was
//! stored; all others are known to have started none, or to have ended.
//!
//! **Invariants**: a value that a trigger did not want starts no run after a crash either.

use crate::queued::RunId;
use crate::state::cells::{Owner, States};
use crate::trigger::change::{Rule, Seen};
use millrace_model::{SampleRecord, TagId};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The key of the list of open runs, and of the record up to which a memory counts.
const OPEN: &str = "open";

#[derive(Debug, Default)]
pub(super) struct Memories {
    all: Vec<Memory>,
    places: HashMap<(u32, Arc<str>), usize>,
    has_changed: bool,
}

#[derive(Debug)]
struct Memory {
    owner: Owner,
    pipeline: u32,
    tags: HashMap<TagId, Option<Seen>>,
    changed: BTreeSet<TagId>,
    open: BTreeSet<u64>,
    /// Up to here it counted when it was stored, and what was open then.
    stored_through: u64,
    seen: u64,
    is_changed: bool,
}

impl Memories {
    /// The memory of a trigger; read from the lasting state the first time.
    pub(super) fn place(&mut self, states: &States, pipeline: u32, trigger: &Arc<str>) -> usize {
        if let Some(place) = self.places.get(&(pipeline, Arc::clone(trigger))) {
            return *place;
        }
        let owner = Owner::Trigger(pipeline, Arc::clone(trigger));
        let mut memory = Memory {
            owner: owner.clone(),
            pipeline,
            tags: HashMap::new(),
            changed: BTreeSet::new(),
            open: BTreeSet::new(),
            stored_through: 0,
            seen: 0,
            is_changed: false,
        };
        for (key, value) in states.remembered(&owner) {
            if &*key == OPEN {
                memory.read_open(&value);
            } else if let Ok(tag) = key.parse() {
                memory.tags.insert(TagId(tag), Seen::decode(&value));
            }
        }
        self.all.push(memory);
        let place = self.all.len() - 1;
        self.places.insert((pipeline, Arc::clone(trigger)), place);
        place
    }

    pub(super) fn admits(
        &mut self,
        place: usize,
        rule: Rule,
        seq: u64,
        sample: &SampleRecord<'_>,
        is_recovering: bool,
    ) -> bool {
        let Some(memory) = self.all.get_mut(place) else { return false };
        if is_recovering && seq <= memory.stored_through {
            return memory.open.contains(&seq);
        }
        memory.seen = seq;
        let seen = memory.tags.entry(sample.tag).or_default();
        let (value, quality) = (sample.value, sample.quality);
        let is_admitted = rule.admits(seen, seq, value, quality, sample.receive_time);
        if is_admitted {
            memory.changed.insert(sample.tag);
            memory.open.insert(seq);
            memory.is_changed = true;
            self.has_changed = true;
        }
        is_admitted
    }

    /// Whether something changed since it was last asked.
    pub(super) fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    pub(super) fn ended(&mut self, id: RunId) {
        if self.all.is_empty() {
            return;
        }
        for memory in self.all.iter_mut().filter(|memory| memory.pipeline == id.pipeline) {
            memory.is_changed |= memory.open.remove(&id.seq);
        }
    }

    /// Marks what changed, to be stored as of now.
    pub(super) fn mark(&mut self, states: &States) {
        for memory in self.all.iter_mut().filter(|memory| memory.is_changed) {
            memory.is_changed = false;
            for tag in std::mem::take(&mut memory.changed) {
                if let Some(Some(seen)) = memory.tags.get(&tag) {
                    let value = Some(seen.encode());
                    states.mark(memory.owner.clone(), &tag.0.to_string(), value);
                }
            }
            let mut value = memory.seen.to_le_bytes().to_vec();
            for seq in &memory.open {
                value.extend_from_slice(&seq.to_le_bytes());
            }
            states.mark(memory.owner.clone(), OPEN, Some(value));
        }
    }

    pub(super) fn forget(&mut self, pipeline: u32) {
        self.places.retain(|(number, _), _| *number != pipeline);
        for memory in self.all.iter_mut().filter(|memory| memory.pipeline == pipeline) {
            memory.tags.clear();
            memory.changed.clear();
            memory.open.clear();
            memory.is_changed = false;
        }
    }
}

impl Memory {
    fn read_open(&mut self, value: &[u8]) {
        let (chunks, _) = value.as_chunks::<8>();
        let mut seqs = chunks.iter().map(|chunk| u64::from_le_bytes(*chunk));
        self.stored_through = seqs.next().unwrap_or_default();
        self.seen = self.stored_through;
        self.open = seqs.collect();
    }
}
