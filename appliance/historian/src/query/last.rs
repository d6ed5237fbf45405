//! Last values: from memory where the tag was seen since the start, else from parts, newest
//! first, once.
//!
//! **Invariants**: the last value is the one with the greatest source time, of equal ones the one
//! with the highest seq.

use crate::error::chain;
use crate::memory::{Last, Memory};
use crate::part::{Part, PartCursor, PartList, Standing};
use crate::sample::{Item, Sample};
use crate::shared::Shared;
use millrace_model::TagId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Tags that are looked up under one lock.
const PIECE_TAGS: usize = 1_024;
/// Tags that are remembered though nothing was ever seen of them.
const SLOTS_MAX: usize = 1_000_000;

enum Known {
    Yes(Option<Item>),
    /// The parts must be asked; this is what memory knows.
    No(Option<Item>),
}

pub(crate) fn last(shared: &Shared, tag: TagId) -> Option<Sample> {
    last_many(shared, &[tag]).pop().flatten()
}

pub(crate) fn last_many(shared: &Shared, tags: &[TagId]) -> Vec<Option<Sample>> {
    let mut answers: Vec<Option<Item>> = Vec::with_capacity(tags.len());
    let mut unknown: BTreeMap<u32, Option<Item>> = BTreeMap::new();
    let mut parts = Arc::default();
    for piece in tags.chunks(PIECE_TAGS) {
        let memory = shared.memory.read();
        for tag in piece {
            match known(&memory, *tag) {
                Known::Yes(item) => answers.push(item),
                Known::No(item) => {
                    unknown.insert(tag.0, item);
                    answers.push(None);
                }
            }
        }
        parts = Arc::clone(&memory.parts);
    }
    if unknown.is_empty() {
        return answers.into_iter().map(|item| item.map(Item::into_sample)).collect();
    }
    search(shared, &parts, &mut unknown);
    remember(shared, &unknown);
    let tagged = tags.iter().zip(answers);
    let found = tagged.map(|(tag, item)| match item {
        Some(item) => Some(item),
        None => unknown.get(&tag.0).cloned().flatten(),
    });
    found.map(|item| item.map(Item::into_sample)).collect()
}

fn known(memory: &Memory, tag: TagId) -> Known {
    let Some(state) = memory.state(tag) else { return Known::No(None) };
    let Some(last) = &state.last else {
        return if state.knows_parts { Known::Yes(None) } else { Known::No(None) };
    };
    match last.item(&memory.active, memory.sealing.as_deref()) {
        Some(item) if state.knows_parts || last.time > memory.opened_time_max() => {
            Known::Yes(Some(item))
        }
        other => Known::No(other),
    }
}

/// Fills in what the parts know, newest part first.
fn search(shared: &Shared, parts: &PartList, wanted: &mut BTreeMap<u32, Option<Item>>) {
    let mut order: Vec<&Arc<Part>> = parts.iter().collect();
    order.sort_by_key(|part| std::cmp::Reverse((part.facts.time_max, part.facts.seal)));
    for part in order.into_iter().filter(|part| part.standing() == Standing::Live) {
        let facts = &part.facts;
        let tags: Vec<u32> = wanted
            .range(facts.tag_min..=facts.tag_max)
            .filter(|(_, best)| best.as_ref().is_none_or(|item| item.time <= facts.time_max))
            .map(|(tag, _)| *tag)
            .collect();
        if tags.is_empty() {
            continue;
        }
        match PartCursor::open(shared, part).and_then(|cursor| cursor.last_of(&tags)) {
            Ok(found) => {
                for (tag, item) in found {
                    let Some(best) = wanted.get_mut(&tag) else { continue };
                    let newer = best.as_ref().is_none_or(|best| {
                        (item.time, item.rank, item.seq) > (best.time, best.rank, best.seq)
                    });
                    if newer {
                        *best = Some(item);
                    }
                }
            }
            Err(crate::error::Error::Removed { .. }) => {}
            Err(error) => shared.set_aside(part, &chain(&error)),
        }
    }
}

/// Keeps what was found, so that the parts are asked once per tag.
fn remember(shared: &Shared, found: &BTreeMap<u32, Option<Item>>) {
    let found: Vec<_> = found.iter().collect();
    for piece in found.chunks(PIECE_TAGS) {
        let mut memory = shared.memory.write();
        for (tag, item) in piece {
            if memory.slots.get(TagId(**tag)).is_none() && memory.slots.len() >= SLOTS_MAX {
                continue;
            }
            let slot = memory.slot(TagId(**tag));
            let Some(state) = memory.states.get_mut(slot as usize) else { continue };
            state.knows_parts = true;
            if let Some(item) = item
                && state.last.as_ref().is_none_or(|last| last.time < item.time)
            {
                state.last = Some(Last::from_item(item));
            }
        }
    }
}
