//! The namespace: every workspace and tag of the box, in memory, shared by all threads.
//!
//! Tags are found by (workspace, path) in 64 shards and by number in lock-free pages
//! ([`table`]); an ordered list is merged only when somebody asks for one ([`ordered`]). A new
//! tag is *pending* until its definition record is durable and has come back through
//! [`Namespace::apply`].
//!
//! **Invariants**
//! - `find` returns only tags whose definition is durable; `create` on a pending tag returns it
//!   with `created = true` again. So whoever stores a sample of a pending tag writes its
//!   definition into the same append, and no durable sample ever lacks its tag's definition.
//! - A number is never given out twice, nor one at or below any number seen in `apply`.
//! - A tag's path and workspace never change.
//! - Lock order: shard, then counts, then ordered. No lock is held while another file is read.

mod ordered;
mod shards;
mod table;
#[cfg(test)]
mod tests;

use crate::namespace::ordered::Ordered;
use crate::namespace::shards::Shards;
use crate::namespace::table::Table;
use arc_swap::ArcSwap;
use hashbrown::HashMap;
use millrace_model::{
    ClientNumber, Definition, Kind, Retention, Schema, Tag, TagId, Timestamp, Workspace,
    WorkspaceNumber,
};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use thiserror::Error;

pub use ordered::Level;
pub use table::TAG_NUMBER_MAX;

/// What a first value says about its tag.
#[derive(Clone, Copy, Debug)]
pub struct NewTag<'a> {
    /// Where.
    pub workspace: WorkspaceNumber,
    /// The checked path below the workspace.
    pub path: &'a str,
    /// The kind of the first value.
    pub kind: Kind,
    /// How long its history is kept.
    pub retention: Retention,
    /// Who creates it.
    pub by: ClientNumber,
    /// When.
    pub now: Timestamp,
    /// Most tags that this client may have created.
    pub client_tags_max: u32,
}

/// Why a tag was not created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CreateError {
    /// The box has as many tags as it may.
    #[error("the box has its limit of {max} topics")]
    BoxQuota {
        /// The limit.
        max: u32,
    },
    /// The client has created as many tags as it may.
    #[error("this client has created its limit of {max} topics")]
    ClientQuota {
        /// The limit.
        max: u32,
    },
    /// All tag numbers were given out.
    #[error("all {TAG_NUMBER_MAX} topic numbers have been given out")]
    NumbersExhausted,
}

/// Every workspace and tag of the box.
#[derive(Debug)]
pub struct Namespace {
    shards: Shards,
    by_id: Table,
    ordered: Ordered,
    counts: Mutex<HashMap<ClientNumber, u32, foldhash::fast::RandomState>>,
    total: AtomicU32,
    next: AtomicU32,
    generation: AtomicU64,
    workspaces: ArcSwap<Vec<Arc<Workspace>>>,
    tags_max: u32,
}

impl Namespace {
    /// An empty namespace that holds at most `tags_max` tags.
    #[must_use]
    pub fn new(tags_max: u32) -> Self {
        Self {
            shards: Shards::default(),
            by_id: Table::default(),
            ordered: Ordered::default(),
            counts: Mutex::default(),
            total: AtomicU32::new(0),
            next: AtomicU32::new(1),
            generation: AtomicU64::new(1),
            workspaces: ArcSwap::default(),
            tags_max,
        }
    }

    /// Changes whenever something that a reader may have cached has changed: an existing tag's
    /// definition, or the workspaces. A new tag does not change it, since nothing of it can be
    /// cached yet.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The number of the workspace with this name.
    #[must_use]
    pub fn workspace(&self, name: &str) -> Option<WorkspaceNumber> {
        self.workspaces.load().iter().find(|workspace| workspace.name == name).map(|w| w.number)
    }

    /// The workspace with this number.
    #[must_use]
    pub fn workspace_by_number(&self, number: WorkspaceNumber) -> Option<Arc<Workspace>> {
        self.workspaces.load().iter().find(|workspace| workspace.number == number).cloned()
    }

    /// All workspaces, by number.
    #[must_use]
    pub fn workspaces(&self) -> Arc<Vec<Arc<Workspace>>> {
        self.workspaces.load_full()
    }

    /// The durable tag at this place.
    #[must_use]
    pub fn find(&self, workspace: WorkspaceNumber, path: &str) -> Option<Arc<Tag>> {
        self.shards.find(workspace, path)
    }

    /// The durable tag at `workspace/path`, as people write it.
    #[must_use]
    pub fn find_text(&self, text: &str) -> Option<Arc<Tag>> {
        let (workspace, path) = text.split_once('/')?;
        self.find(self.workspace(workspace)?, path)
    }

    /// The tag with this number, pending ones too.
    #[must_use]
    pub fn get(&self, id: TagId) -> Option<Arc<Tag>> {
        self.by_id.get(id)
    }

    /// `workspace/path` of a tag.
    #[must_use]
    pub fn path(&self, id: TagId) -> Option<String> {
        let tag = self.get(id)?;
        let workspace = self.workspace_by_number(tag.workspace)?;
        Some(format!("{}/{}", workspace.name, tag.path))
    }

    /// The retention class of a tag; the default class for a number that is not known. Two loads
    /// and no lock: it is asked once per value when history is sealed.
    #[must_use]
    pub fn retention(&self, id: TagId) -> Retention {
        self.by_id.retention(id)
    }

    /// Tags of the box, pending ones included.
    #[must_use]
    pub fn tag_count(&self) -> u32 {
        self.total.load(Ordering::Relaxed)
    }

    /// How many tags a client has created.
    #[must_use]
    pub fn tags_created_by(&self, client: ClientNumber) -> u32 {
        self.counts.lock().get(&client).copied().unwrap_or(0)
    }

    /// The tag at this place, created if it is not there. The flag says whether its definition
    /// must be written with the sample: `true` until the definition is durable.
    ///
    /// # Errors
    /// The quota that is used up; nothing is created then.
    pub fn create(&self, new: NewTag<'_>) -> Result<(Arc<Tag>, bool), CreateError> {
        self.shards.find_or_insert(new.workspace, new.path, || {
            let id = self.take_number(&new)?;
            let tag = Arc::new(Tag {
                id,
                workspace: new.workspace,
                path: new.path.to_owned(),
                kind: new.kind,
                unit: String::new(),
                description: String::new(),
                retention: new.retention,
                schema: Schema::default(),
                created: new.now,
                created_by: new.by,
            });
            self.by_id.set(&tag);
            Ok(tag)
        })
    }

    /// Takes over the new state of a workspace or tag; other definitions are not its business.
    /// Applying the same state again changes nothing.
    pub fn apply(&self, definition: &Definition) {
        match definition {
            Definition::Workspace(workspace) => self.apply_workspace(workspace),
            Definition::Tag(tag) => self.apply_tag(tag),
            _ => {}
        }
    }

    /// Keeps new numbers above `highest`: history may hold tags whose definitions are lost.
    pub fn reserve_through(&self, highest: TagId) {
        self.next.fetch_max(highest.0.saturating_add(1), Ordering::Relaxed);
    }

    /// Durable tags of a workspace whose path starts with `prefix`, in byte order of their
    /// paths, from the first after `after`.
    #[must_use]
    pub fn list(
        &self,
        workspace: WorkspaceNumber,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Vec<Arc<Tag>> {
        self.ordered.list(workspace, prefix, after, limit, |id| self.get(id))
    }

    /// What stands directly below a branch (empty, or ending in `/`), in byte order, from the first
    /// behind `after` (a [`Level::key`]); and whether there is more.
    #[must_use]
    pub fn levels(
        &self,
        workspace: WorkspaceNumber,
        branch: &str,
        after: Option<&str>,
        limit: usize,
    ) -> (Vec<Level>, bool) {
        self.ordered.levels(workspace, branch, after, limit, |id| self.get(id))
    }

    /// Durable tags of all workspaces that have every word of `text` in their path, description
    /// or unit, without regard to case.
    #[must_use]
    pub fn search(&self, text: &str, limit: usize) -> Vec<Arc<Tag>> {
        self.ordered.search(text, limit, |id| self.get(id))
    }

    /// The durable state, for a snapshot.
    #[must_use]
    pub fn definitions(&self) -> Vec<Definition> {
        let workspaces = self.workspaces.load();
        let workspaces = workspaces.iter().map(|w| Definition::Workspace(Workspace::clone(w)));
        let mut all: Vec<_> = workspaces.collect();
        let tags = self.ordered.all(|id| self.get(id));
        all.extend(tags.into_iter().map(|tag| Definition::Tag(Tag::clone(&tag))));
        all
    }

    fn take_number(&self, new: &NewTag<'_>) -> Result<TagId, CreateError> {
        let mut counts = self.counts.lock();
        if self.total.load(Ordering::Relaxed) >= self.tags_max {
            return Err(CreateError::BoxQuota { max: self.tags_max });
        }
        let count = counts.entry(new.by).or_insert(0);
        if *count >= new.client_tags_max {
            return Err(CreateError::ClientQuota { max: new.client_tags_max });
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        if id > TAG_NUMBER_MAX {
            self.next.store(TAG_NUMBER_MAX.saturating_add(1), Ordering::Relaxed);
            return Err(CreateError::NumbersExhausted);
        }
        *count += 1;
        self.total.fetch_add(1, Ordering::Relaxed);
        Ok(TagId(id))
    }

    fn apply_workspace(&self, workspace: &Workspace) {
        self.workspaces.rcu(|known| {
            let mut next: Vec<_> =
                known.iter().filter(|w| w.number != workspace.number).cloned().collect();
            next.push(Arc::new(workspace.clone()));
            next.sort_by_key(|workspace| workspace.number);
            next
        });
        self.generation.fetch_add(1, Ordering::Release);
    }

    fn apply_tag(&self, tag: &Tag) {
        if tag.id.0 == 0 || tag.id.0 > TAG_NUMBER_MAX {
            tracing::error!(id = tag.id.0, path = tag.path, "Left out a tag: its number is none.");
            return;
        }
        self.reserve_through(tag.id);
        let known = self.by_id.get(tag.id);
        if let Some(known) = &known
            && (known.workspace != tag.workspace || known.path != tag.path)
        {
            tracing::error!(id = tag.id.0, "Left out a tag definition: it would rename the tag.");
            return;
        }
        let tag = Arc::new(tag.clone());
        self.by_id.set(&tag);
        let became_durable = self.shards.put_durable(&tag);
        if known.is_none() {
            *self.counts.lock().entry(tag.created_by).or_insert(0) += 1;
            self.total.fetch_add(1, Ordering::Relaxed);
        }
        if became_durable {
            self.ordered.add(&tag);
        }
        if known.is_some_and(|known| known != tag) {
            self.generation.fetch_add(1, Ordering::Release);
        }
    }
}
