//! Parsed tails of parts, the least recently used given up first.
//!
//! **Invariants**: at most [`INDEX_CACHE_BYTES_MAX`] bytes, and one entry whatever its size.

use crate::config::INDEX_CACHE_BYTES_MAX;
use crate::error::Result;
use crate::part::index::PartIndex;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use parking_lot::Mutex;
use std::sync::Arc;

#[derive(Default)]
struct Entries {
    by_name: HashMap<String, (Arc<PartIndex>, u64), FixedState>,
    clock: u64,
}

/// The cache.
#[derive(Default)]
pub(crate) struct IndexCache {
    entries: Mutex<Entries>,
}

impl IndexCache {
    /// The index of a part, loaded if it is not here.
    pub(crate) fn get(
        &self,
        name: &str,
        load: impl FnOnce() -> Result<PartIndex>,
    ) -> Result<Arc<PartIndex>> {
        {
            let mut entries = self.entries.lock();
            entries.clock += 1;
            let now = entries.clock;
            if let Some((index, used)) = entries.by_name.get_mut(name) {
                *used = now;
                return Ok(Arc::clone(index));
            }
        }
        // Loading reads the disk: not under the lock. Two may load the same; one stays.
        let index = Arc::new(load()?);
        let mut entries = self.entries.lock();
        let now = entries.clock;
        entries.by_name.insert(name.to_owned(), (Arc::clone(&index), now));
        entries.shrink();
        Ok(index)
    }

    pub(crate) fn forget(&self, name: &str) {
        self.entries.lock().by_name.remove(name);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.entries.lock().bytes()
    }
}

impl Entries {
    fn bytes(&self) -> usize {
        self.by_name.values().map(|(index, _)| index.bytes()).sum()
    }

    fn shrink(&mut self) {
        let mut bytes = self.bytes();
        while bytes > INDEX_CACHE_BYTES_MAX && self.by_name.len() > 1 {
            let oldest = self.by_name.iter().min_by_key(|(_, (_, used))| *used);
            let Some(name) = oldest.map(|(name, _)| name.clone()) else { return };
            if let Some((index, _)) = self.by_name.remove(&name) {
                bytes = bytes.saturating_sub(index.bytes());
            }
        }
    }
}
