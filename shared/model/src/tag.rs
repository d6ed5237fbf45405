//! Tags: the leaves of the namespace that carry samples.

use crate::definition::{ClientNumber, WorkspaceNumber};
use crate::retention::Retention;
use crate::schema::Schema;
use crate::time::Timestamp;
use crate::value::Kind;
use serde::{Deserialize, Serialize};

/// A tag's number, never reused within an appliance; 0 is not given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TagId(pub u32);

/// The definition of a tag.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tag {
    /// Its number.
    pub id: TagId,
    /// The workspace that it belongs to.
    pub workspace: WorkspaceNumber,
    /// Its path below the workspace: levels joined by `/`, 1 to 512 bytes.
    pub path: String,
    /// The kind of its first value; later values may differ unless a schema says otherwise.
    pub kind: Kind,
    /// Unit of measure as shown to people, e.g. `°C`; empty = none given.
    #[serde(default)]
    pub unit: String,
    /// What it is, in the plant's words.
    #[serde(default)]
    pub description: String,
    /// How long its history is kept.
    #[serde(default)]
    pub retention: Retention,
    /// What its values must look like.
    #[serde(default)]
    pub schema: Schema,
    /// When it was created.
    pub created: Timestamp,
    /// Who created it.
    pub created_by: ClientNumber,
}
