//! Projects: the pipelines of a workspace as they were last seen, and drafts made from them.
//!
//! Each pipeline has a file with what the appliance had last (*known*) and, if somebody edited it
//! here, a *draft* with the revision it was made from (its *base*). So a plant's pipelines can be
//! opened and changed on a train. Back in reach, a draft is compared with its base and with what
//! the appliance has now, merged by the page if somebody else was there in between, and deployed.
//! The topics, with units, descriptions and a value each, are kept beside them.
//!
//! **Invariants**: a fetch never touches a draft or its base; a draft goes only when it was stored
//! at the appliance or thrown away by name; a file is whole after a kill at any instant, and one
//! that cannot be read is set aside, never overwritten.

mod compare;
mod place;
mod store;
mod topics;

pub use compare::{Comparison, Relation};
pub(crate) use compare::{Theirs, compare};
pub(crate) use place::Place;
pub(crate) use store::Store;
pub(crate) use topics::gather;
pub use topics::{KeptSample, Reading, Topic};

/// Refuses what is no name of a workspace.
pub(crate) fn check_workspace(workspace: &str) -> crate::fault::Result<()> {
    place::check(workspace, "workspace")
}

use serde::{Deserialize, Serialize};

/// The appliance's revision as it was last seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// Its number.
    pub revision: u32,
    /// When it was stored there.
    pub at: String,
    /// By whom.
    pub author: String,
    /// What was new in it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The revision that ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployed: Option<u32>,
    /// Its document as JSON text.
    pub document: String,
    /// When it was fetched, by this computer's clock.
    pub fetched: String,
}

/// What somebody edited here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Draft {
    /// The revision that it was made from; 0 for a new pipeline.
    pub base: u32,
    /// That revision's document; absent for a new pipeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_document: Option<String>,
    /// The document as JSON text.
    pub document: String,
    /// When it was saved last.
    pub saved: String,
}

/// A pipeline in the list of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The appliance's revision as last seen; absent for a new pipeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
    /// The revision that ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployed: Option<u32>,
    /// When it was fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched: Option<String>,
    /// The revision that the draft was made from, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_base: Option<u32>,
    /// When the draft was saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_saved: Option<String>,
}
