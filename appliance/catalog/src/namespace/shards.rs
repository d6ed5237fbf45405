//! Tags by (workspace, path): 64 small hash tables, each behind its own lock.
//!
//! Creating locks one shard for well under a microsecond, so thousands of first values from many
//! connections pass each other. A table holds only the `Arc`: the path is stored once, in the
//! tag.
//!
//! **Invariants**: one entry per (workspace, path); `durable` never goes back to false.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use millrace_model::{Tag, WorkspaceNumber};
use parking_lot::RwLock;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

/// Enough that two of a few threads rarely meet in one.
const SHARDS: usize = 64;

#[derive(Debug)]
struct Entry {
    tag: Arc<Tag>,
    /// Whether the definition is in the journal for good.
    durable: bool,
}

impl Entry {
    fn is_at(&self, workspace: WorkspaceNumber, path: &str) -> bool {
        self.tag.workspace == workspace && self.tag.path == path
    }
}

/// The 64 tables.
#[derive(Debug)]
pub(super) struct Shards {
    hash: foldhash::fast::RandomState,
    shards: [RwLock<HashTable<Entry>>; SHARDS],
}

impl Default for Shards {
    fn default() -> Self {
        Self {
            hash: foldhash::fast::RandomState::default(),
            shards: std::array::from_fn(|_| RwLock::default()),
        }
    }
}

impl Shards {
    /// The tag at this place if its definition is durable.
    pub(super) fn find(&self, workspace: WorkspaceNumber, path: &str) -> Option<Arc<Tag>> {
        let hash = self.hash_of(workspace, path);
        let shard = self.shard(hash).read();
        let entry = shard.find(hash, |entry| entry.is_at(workspace, path))?;
        entry.durable.then(|| Arc::clone(&entry.tag))
    }

    /// The tag at this place, or the one that `make` makes; and whether it is still pending.
    pub(super) fn find_or_insert<E>(
        &self,
        workspace: WorkspaceNumber,
        path: &str,
        make: impl FnOnce() -> Result<Arc<Tag>, E>,
    ) -> Result<(Arc<Tag>, bool), E> {
        let hash = self.hash_of(workspace, path);
        let mut shard = self.shard(hash).write();
        let rehash = |entry: &Entry| self.hash_of(entry.tag.workspace, &entry.tag.path);
        match shard.entry(hash, |entry| entry.is_at(workspace, path), rehash) {
            Slot::Occupied(slot) => Ok((Arc::clone(&slot.get().tag), !slot.get().durable)),
            Slot::Vacant(slot) => {
                let tag = make()?;
                slot.insert(Entry { tag: Arc::clone(&tag), durable: false });
                Ok((tag, true))
            }
        }
    }

    /// Puts a tag whose definition is durable; whether it was not durable before.
    pub(super) fn put_durable(&self, tag: &Arc<Tag>) -> bool {
        let hash = self.hash_of(tag.workspace, &tag.path);
        let mut shard = self.shard(hash).write();
        let rehash = |entry: &Entry| self.hash_of(entry.tag.workspace, &entry.tag.path);
        match shard.entry(hash, |entry| entry.is_at(tag.workspace, &tag.path), rehash) {
            Slot::Occupied(mut slot) => {
                let entry = slot.get_mut();
                let before = std::mem::replace(&mut entry.durable, true);
                entry.tag = Arc::clone(tag);
                !before
            }
            Slot::Vacant(slot) => {
                slot.insert(Entry { tag: Arc::clone(tag), durable: true });
                true
            }
        }
    }

    fn hash_of(&self, workspace: WorkspaceNumber, path: &str) -> u64 {
        let mut hasher = self.hash.build_hasher();
        workspace.hash(&mut hasher);
        path.hash(&mut hasher);
        hasher.finish()
    }

    fn shard(&self, hash: u64) -> &RwLock<HashTable<Entry>> {
        // hashbrown uses the lowest and the highest bits; these are neither.
        let index = usize::try_from(hash >> 40).unwrap_or_default() % SHARDS;
        self.shards.get(index).expect("the remainder is below the number of shards")
    }
}
