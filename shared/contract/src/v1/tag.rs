//! Workspaces and tags.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Workspace {
    /// Its name, one topic level.
    pub name: String,
    /// When it was created.
    pub created: String,
}

/// The kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// No value.
    Null,
    /// True or false.
    Bool,
    /// A signed 64-bit integer.
    Int,
    /// An unsigned 64-bit integer above the signed ones.
    Uint,
    /// A double.
    Float,
    /// Text.
    Text,
    /// A structured value.
    Json,
}

/// How long a topic's history is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub enum Retention {
    /// One day.
    #[serde(rename = "1d")]
    Days1,
    /// Seven days.
    #[serde(rename = "7d")]
    Days7,
    /// Fourteen days.
    #[serde(rename = "14d")]
    Days14,
    /// Thirty-two days.
    #[serde(rename = "32d")]
    Days32,
    /// No age limit, a byte budget instead.
    #[serde(rename = "keep")]
    Keep,
}

/// Limits on a tag's values; an empty schema takes anything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Schema {
    /// The kinds that are taken; empty = all. A float tag also takes integers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    /// The smallest number that is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The largest number that is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The texts that are taken; empty = all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Strict refuses what does not fit; soft stores it with Uncertain quality.
    pub strict: bool,
}

/// A tag.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Tag {
    /// Its number.
    pub id: u32,
    /// The workspace that it belongs to.
    pub workspace: String,
    /// Its path below the workspace.
    pub path: String,
    /// The kind of its first value.
    pub kind: Kind,
    /// Unit of measure; empty = none given.
    pub unit: String,
    /// What it is, in the plant's words.
    pub description: String,
    /// How long its history is kept.
    pub retention: Retention,
    /// What its values must look like.
    pub schema: Schema,
    /// When it was created.
    pub created: String,
}

/// What stands directly below a branch of the tree of topics: a topic, or a further branch. A place
/// that is both comes twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Level {
    /// Its own level of the path.
    pub name: String,
    /// Of a branch: how many topics lie anywhere below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topics: Option<u64>,
    /// Of a topic: its tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<Tag>,
}

/// Creates a tag before its first value.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTag {
    /// Its path below the workspace.
    pub path: String,
    /// The kind of its values.
    pub kind: Kind,
    /// Unit of measure.
    #[serde(default)]
    pub unit: String,
    /// What it is.
    #[serde(default)]
    pub description: String,
    /// How long its history is kept; absent = the box's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// What its values must look like.
    #[serde(default)]
    pub schema: Schema,
}

/// Changes a tag; what is absent stays.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TagChange {
    /// Unit of measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How long its history is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// What its values must look like, whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Schema>,
}
