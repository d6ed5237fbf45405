//! Tags that exist in memory while no definition of theirs has been appended yet.
//!
//! The session that makes a tag appends its definition with the first sample. If another session
//! finds the tag in between (or the first one ends while the journal is full), the other's sample
//! would stand in the journal without a name. So whoever finds a tag that is listed here appends
//! its definition as well; applying a definition twice changes nothing.
//!
//! **Invariants**: a tag is listed before any session can find it, and until an append with its
//! definition has gone through.

use crate::namespace::{CreateError, Created, Namespace, NewTag};
use foldhash::fast::RandomState;
use hashbrown::HashSet;
use millrace_model::TagId;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug, Default)]
pub(crate) struct Undefined {
    /// At least the length of the list: spares the lock when nothing is there, as nearly always.
    count: AtomicUsize,
    tags: Mutex<HashSet<TagId, RandomState>>,
}

impl Undefined {
    /// Makes a tag and lists it.
    pub(crate) fn create(
        &self,
        namespace: &dyn Namespace,
        request: NewTag<'_>,
    ) -> Result<Created, CreateError> {
        let mut tags = self.tags.lock();
        // Raised before the tag can be found, so that whoever finds it takes the lock.
        self.count.store(tags.len() + 1, Ordering::SeqCst);
        let created = namespace.create(request);
        if let Ok(created) = &created
            && created.is_new
        {
            tags.insert(created.tag.id);
        }
        self.count.store(tags.len(), Ordering::SeqCst);
        created
    }

    /// Whether a tag that was found lacks its definition.
    pub(crate) fn contains(&self, tag: TagId) -> bool {
        self.count.load(Ordering::SeqCst) > 0 && self.tags.lock().contains(&tag)
    }

    /// An append with the definitions of these tags has gone through.
    pub(crate) fn defined(&self, tags_defined: &mut Vec<TagId>) {
        if tags_defined.is_empty() {
            return;
        }
        let mut tags = self.tags.lock();
        for tag in tags_defined.drain(..) {
            tags.remove(&tag);
        }
        self.count.store(tags.len(), Ordering::SeqCst);
    }
}
