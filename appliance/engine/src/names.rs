//! What the engine asks about tags and clients, as a trait; the service's wiring implements it
//! over the namespace and access.
//!
//! **Invariants**: asked once per tag after each deployment, never per value, but for the name of
//! the client, which is asked once per run that a value starts.

use millrace_model::{ClientNumber, TagId};
use std::sync::Arc;

/// Where a tag is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of its workspace.
    pub workspace: u16,
    /// Its path below the workspace.
    pub path: Arc<str>,
    /// Its live topic: root, workspace and path.
    pub topic: Arc<str>,
}

/// Names of numbers.
pub trait Names: Send + Sync {
    /// Where a tag is; `None` if there is no such tag.
    fn place(&self, tag: TagId) -> Option<Place>;
    /// The name of a client; `None` if there is no such client.
    fn client(&self, client: ClientNumber) -> Option<Arc<str>>;
}
