//! From a tag's number to its place in dense tables.
//!
//! Tag numbers are given in order, so a vector answers in one step; numbers beyond
//! [`DENSE_TAGS_MAX`] (there are none unless bytes were damaged) go to a map, so that no number
//! can make the vector grow without bound.
//!
//! **Invariants**: a slot is given once and stays; slots are 0, 1, 2, ...

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use millrace_model::TagId;

/// Tag numbers below this are looked up in a vector of 4 bytes each.
const DENSE_TAGS_MAX: u32 = 1 << 20;
const NONE: u32 = u32::MAX;

/// Slots of tags.
pub(crate) struct Slots {
    dense: Vec<u32>,
    sparse: HashMap<u32, u32, FixedState>,
    tags: Vec<TagId>,
}

impl Slots {
    pub(crate) fn new() -> Self {
        Self {
            dense: Vec::new(),
            sparse: HashMap::with_hasher(FixedState::default()),
            tags: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn get(&self, tag: TagId) -> Option<u32> {
        if tag.0 < DENSE_TAGS_MAX {
            self.dense.get(tag.0 as usize).copied().filter(|slot| *slot != NONE)
        } else {
            self.sparse.get(&tag.0).copied()
        }
    }

    /// A slot for a tag that has none; the caller has asked [`Self::get`].
    pub(crate) fn add(&mut self, tag: TagId) -> u32 {
        let slot = u32::try_from(self.tags.len()).expect("memory ends before 4 billion tags");
        if tag.0 < DENSE_TAGS_MAX {
            let place = tag.0 as usize;
            if self.dense.len() <= place {
                self.dense.resize((place + 1).next_power_of_two(), NONE);
            }
            if let Some(entry) = self.dense.get_mut(place) {
                *entry = slot;
            }
        } else {
            self.sparse.insert(tag.0, slot);
        }
        self.tags.push(tag);
        slot
    }

    pub(crate) fn tag(&self, slot: u32) -> Option<TagId> {
        self.tags.get(slot as usize).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.tags.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_each_tag_one_slot_whatever_its_number() {
        let mut slots = Slots::new();
        for number in [7, 0, 1 << 20, u32::MAX, 8] {
            assert_eq!(slots.get(TagId(number)), None);
            let slot = slots.add(TagId(number));
            assert_eq!(slots.get(TagId(number)), Some(slot));
            assert_eq!(slots.tag(slot), Some(TagId(number)));
        }
        assert_eq!(slots.len(), 5);
    }
}
