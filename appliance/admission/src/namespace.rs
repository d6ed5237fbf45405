//! The tags, as the gate needs them; the service implements this over the catalog.

use millrace_model::{ClientNumber, Kind, Retention, Tag, Timestamp, WorkspaceNumber};
use std::sync::Arc;
use thiserror::Error;

/// Finds and creates tags in memory.
pub trait Namespace: Send + Sync {
    /// Changes whenever an existing tag's schema or retention has changed or a tag has gone.
    /// New tags need not change it.
    fn generation(&self) -> u64;
    /// The tag on this path.
    fn find(&self, workspace: WorkspaceNumber, path: &str) -> Option<Arc<Tag>>;
    /// The tag on this path, made now if there is none. The gate appends the definition.
    ///
    /// # Errors
    /// A quota is reached.
    fn create(&self, request: NewTag<'_>) -> Result<Created, CreateError>;
}

/// A tag that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct NewTag<'a> {
    /// The workspace.
    pub workspace: WorkspaceNumber,
    /// The path, already checked.
    pub path: &'a str,
    /// The kind of its first value.
    pub kind: Kind,
    /// How long its history is kept.
    pub retention: Retention,
    /// Who creates it.
    pub client: ClientNumber,
    /// When.
    pub at: Timestamp,
}

/// A tag that is there.
#[derive(Clone, Debug)]
pub struct Created {
    /// The tag.
    pub tag: Arc<Tag>,
    /// Whether it was made by this call.
    pub is_new: bool,
}

/// Why a tag cannot be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CreateError {
    /// The client has as many as it may.
    #[error("this client has created its {limit} topics")]
    ClientQuota {
        /// How many it may have.
        limit: u32,
    },
    /// The box has as many as it may.
    #[error("the box has its {limit} topics")]
    BoxQuota {
        /// How many it may have.
        limit: u32,
    },
}
