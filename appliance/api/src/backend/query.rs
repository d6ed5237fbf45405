//! Questions about tags and history, and their answers.

use millrace_model::{Quality, Tag, TagId, Timestamp, Value, WorkspaceNumber};

/// A page of anything.
#[derive(Clone, Debug)]
pub struct PageOf<T> {
    /// The entries.
    pub items: Vec<T>,
    /// Whether there are more after the last.
    pub more: bool,
}

/// Which tags to list. All conditions hold together.
pub struct TagQuery<'a> {
    /// The workspace.
    pub workspace: WorkspaceNumber,
    /// The path begins with this text.
    pub prefix: &'a str,
    /// The path, unit or description contains this text, letter case aside; empty = all.
    pub search: &'a str,
    /// The path comes after this one in byte order.
    pub after: Option<&'a str>,
    /// At most so many.
    pub limit: usize,
    /// The path is one that the caller may see and asked for.
    pub visible: &'a (dyn Fn(&str) -> bool + Sync),
}

/// Which levels to list: what stands directly below a branch.
pub struct LevelQuery<'a> {
    /// The workspace.
    pub workspace: WorkspaceNumber,
    /// Empty for the root, else the branch's path with a `/` at its end.
    pub branch: &'a str,
    /// Only what comes behind this key, see [`Level::key`].
    pub after: Option<&'a str>,
    /// At most so many.
    pub limit: usize,
}

/// What stands directly below a branch.
#[derive(Clone, Debug, PartialEq)]
pub enum Level {
    /// A tag.
    Tag(Tag),
    /// A further branch.
    Branch {
        /// Its own level of the path.
        name: String,
        /// Tags anywhere below it.
        tags: u64,
    },
}

impl Level {
    /// Its own level of the path; a branch has a `/` at the end.
    #[must_use]
    pub fn key(&self, branch: &str) -> String {
        match self {
            Self::Tag(tag) => tag.path.strip_prefix(branch).unwrap_or(&tag.path).to_owned(),
            Self::Branch { name, .. } => format!("{name}/"),
        }
    }
}

/// One sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// When it was measured.
    pub source_time: Timestamp,
    /// When it was taken in.
    pub receive_time: Timestamp,
    /// Its quality.
    pub quality: Quality,
    /// Its value.
    pub value: Value,
    /// The journal's number of it.
    pub seq: u64,
}

/// A place between two samples of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SamplePosition {
    /// Source time of the sample before it.
    pub source_time: Timestamp,
    /// Seq of the sample before it.
    pub seq: u64,
}

/// Which samples to read.
#[derive(Clone, Debug)]
pub struct RawQuery {
    /// The tag.
    pub tag: TagId,
    /// Source time from here, included.
    pub from: Timestamp,
    /// Source time to here, not included.
    pub to: Timestamp,
    /// Only what lies after this place.
    pub after: Option<SamplePosition>,
    /// At most so many.
    pub limit: usize,
    /// The page ends early, after at least one sample, once its text values take this much.
    pub bytes_max: usize,
}

/// A page of samples.
#[derive(Clone, Debug)]
pub struct RawPage {
    /// In the order of (source time, seq).
    pub samples: Vec<Sample>,
    /// Whether there are more after the last.
    pub more: bool,
    /// Whether a damaged or missing part may have held more.
    pub incomplete: bool,
}

/// What to condense.
#[derive(Clone, Debug)]
pub struct RangeQuery {
    /// The tag.
    pub tag: TagId,
    /// From here, included.
    pub from: Timestamp,
    /// To here, not included.
    pub to: Timestamp,
    /// How many intervals of equal length.
    pub points: usize,
}

/// One interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    /// Where it starts.
    pub start: Timestamp,
    /// Samples in it, of whatever kind.
    pub count: u64,
    /// Its smallest number; `None` without numbers.
    pub min: Option<f64>,
    /// Its largest number.
    pub max: Option<f64>,
    /// Its first number.
    pub first: Option<f64>,
    /// Its last number.
    pub last: Option<f64>,
    /// Mean of its numbers; `None` also when the historian does not compute it.
    pub mean: Option<f64>,
}

/// A condensed range.
#[derive(Clone, Debug, PartialEq)]
pub struct Buckets {
    /// The intervals that have samples, in time order.
    pub items: Vec<Bucket>,
    /// Whether a damaged or missing part may have held more.
    pub incomplete: bool,
}
