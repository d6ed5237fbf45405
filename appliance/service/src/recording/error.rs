//! What can be wrong with a recording, with the line and what to do.

use millrace_model::topic::TopicError;
use std::path::PathBuf;
use thiserror::Error;

/// A fault of a recording.
#[derive(Debug, Error)]
pub(crate) enum RecordingError {
    #[error("cannot open {}", file.display())]
    Open { file: PathBuf, source: std::io::Error },
    #[error("{} has no rows below its header", file.display())]
    Empty { file: PathBuf },
    #[error("row 1: a column has no name; give it one, or name the separator with --separator")]
    NamelessColumn,
    #[error("row 1: the column '{column}' stands twice in the header; rename one")]
    DoubledColumn { column: String },
    #[error(
        "row 1: {} has no column '{column}'; it has: {found}. Name the time column with --time, \
         and the separator with --separator", file.display()
    )]
    NoTimeColumn { column: String, file: PathBuf, found: String },
    #[error("row 1: the column '{column}' cannot be a topic; rename it")]
    ColumnName { column: String, source: TopicError },
    #[error("row {line}: the header stands here again; remove this row, or cut the file in two")]
    HeaderAgain { line: u64 },
    #[error(
        "row {line}: {found} cells where the header has {expected}; a gap is an empty cell between \
         its separators"
    )]
    Width { line: u64, expected: u64, found: u64 },
    #[error(
        "row {line}, column '{column}': '{text}' is not a value that can be kept; leave the cell \
         empty for a gap"
    )]
    NotAValue { line: u64, column: String, text: String },
    #[error(
        "row {line}: '{text}' is not a time such as 2026-03-01 12:00:00 or 2026-03-01T12:00:00Z; \
         name the time column with --time"
    )]
    NotATime { line: u64, text: String },
    #[error(
        "row {line}: the local time {text} exists twice in {zone} (clocks were set back); give the \
         times with their offset, such as 2020-10-25T02:30:00+02:00"
    )]
    TimeTwice { line: u64, text: String, zone: String },
    #[error(
        "row {line}: the local time {text} does not exist in {zone} (clocks were set forward); \
         correct it, or name the zone it was taken in with --zone"
    )]
    TimeNever { line: u64, text: String, zone: String },
    #[error("the time zone '{name}' is not known; take a name such as Europe/Berlin or UTC")]
    NoZone { name: String },
    #[error("row {line}: not UTF-8 text")]
    NotText { line: u64 },
    #[error("cannot read the file: {0}")]
    Csv(csv::Error),
}

impl From<csv::Error> for RecordingError {
    fn from(error: csv::Error) -> Self {
        let line = error.position().map_or(0, csv::Position::line);
        match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                Self::Width { line, expected: *expected_len, found: *len }
            }
            csv::ErrorKind::Utf8 { .. } => Self::NotText { line },
            _ => Self::Csv(error),
        }
    }
}
