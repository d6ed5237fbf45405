//! Many tags changed by one CSV file.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The file inside of a JSON body, for those who cannot send `text/csv`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TagFile {
    /// The CSV text.
    pub text: String,
}

/// What a file changes, or has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TagImport {
    /// Lines with a topic.
    pub rows: u64,
    /// Topics that change.
    pub topics: u64,
    /// The changes, in the order of the file; the first 1,000.
    pub changes: Vec<TagImportChange>,
    /// Changes in all.
    pub changes_in_all: u64,
    /// What is wrong; nothing is written while there is one. The first 100.
    pub faults: Vec<TagImportFault>,
    /// Faults in all.
    pub faults_in_all: u64,
    /// Whether the changes are written.
    pub written: bool,
}

/// One field of one tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TagImportChange {
    /// The file's line, from 1.
    pub line: u64,
    /// The tag's path.
    pub path: String,
    /// The column.
    pub field: String,
    /// As it is.
    pub from: String,
    /// As it will be.
    pub to: String,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TagImportFault {
    /// The file's line, from 1.
    pub line: u64,
    /// The column; empty = the whole line.
    pub field: String,
    /// A sentence.
    pub message: String,
}
