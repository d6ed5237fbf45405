//! Samples, and what is asked about them.
//!
//! **Invariants**: a sample comes back as it went in, bit by bit; times are never altered.

use millrace_journal::Seq;
use millrace_model::{Kind, Quality, SampleRecord, TagId, Timestamp, Value, ValueRef};

/// A value with its times and quality.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// When it was measured; the receive time where the device gave none.
    pub source_time: Timestamp,
    /// When we took it in.
    pub receive_time: Timestamp,
    /// Its quality.
    pub quality: Quality,
    /// The value.
    pub value: Value,
    /// Its record in the journal.
    pub seq: Seq,
    /// Whether the device gave the source time.
    pub has_source_time: bool,
}

/// Samples of one tag in a time window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawQuery {
    /// Whose.
    pub tag: TagId,
    /// The first source time that counts.
    pub from: Timestamp,
    /// The first source time that does not count any more.
    pub to: Timestamp,
    /// Most samples of the answer, 1 to [`crate::config::RAW_LIMIT_MAX`].
    pub limit: usize,
    /// Where the page before this one ended.
    pub after: Option<After>,
}

/// A place between two samples of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct After {
    /// Source time of the last sample before it.
    pub source_time: Timestamp,
    /// Seq of the last sample before it.
    pub seq: Seq,
}

/// An answer to a [`RawQuery`].
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Samples by source time, then seq.
    pub samples: Vec<Sample>,
    /// Where to go on; `None` at the end.
    pub next: Option<After>,
    /// Whether a damaged or missing part may have held more.
    pub incomplete: bool,
}

/// A time window of one tag in equal intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeQuery {
    /// Whose.
    pub tag: TagId,
    /// The first source time that counts.
    pub from: Timestamp,
    /// The first source time that does not count any more.
    pub to: Timestamp,
    /// How many intervals, 1 to [`crate::config::BUCKETS_MAX`].
    pub buckets: usize,
}

/// A number at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Its source time.
    pub time: Timestamp,
    /// The number as a chart shows it.
    pub value: f64,
}

/// One interval of a range; a gap is a bucket with all counts 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bucket {
    /// Where it starts; it ends where the next one starts.
    pub start: Timestamp,
    /// Finite numbers (and bools) whose quality is not bad; the points are of these.
    pub count: u64,
    /// The smallest.
    pub min: Option<Point>,
    /// The largest.
    pub max: Option<Point>,
    /// The earliest.
    pub first: Option<Point>,
    /// The latest.
    pub last: Option<Point>,
    /// Samples of bad quality, whatever their value.
    pub bad_count: u64,
    /// NaN and infinities that are not of bad quality.
    pub non_finite_count: u64,
    /// Texts, structured values and nulls that are not of bad quality.
    pub other_count: u64,
}

/// An answer to a [`RangeQuery`].
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// As many as were asked for.
    pub buckets: Vec<Bucket>,
    /// Whether a damaged or missing part may have held more.
    pub incomplete: bool,
}

/// A sample inside the crate: scalars as bits, so that moving one costs no allocation.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) time: i64,
    pub(crate) seq: u64,
    /// Which seal wrote it; memtables rank above all parts. Decides where seqs began anew.
    pub(crate) rank: u64,
    pub(crate) receive: i64,
    pub(crate) bits: u64,
    pub(crate) quality: u32,
    pub(crate) kind: Kind,
    pub(crate) has_source_time: bool,
    pub(crate) text: Option<Box<str>>,
}

impl Item {
    pub(crate) fn value(&self) -> ValueRef<'_> {
        ValueRef::from_parts(self.kind, self.bits, self.text.as_deref().unwrap_or(""))
    }

    pub(crate) fn into_sample(self) -> Sample {
        let value = match (self.kind, self.text) {
            (Kind::Text, text) => Value::Text(text.unwrap_or_default()),
            (Kind::Json, text) => Value::Json(text.unwrap_or_default()),
            (kind, _) => ValueRef::from_parts(kind, self.bits, "").to_value(),
        };
        Sample {
            source_time: Timestamp(self.time),
            receive_time: Timestamp(self.receive),
            quality: Quality(self.quality),
            value,
            seq: Seq(self.seq),
            has_source_time: self.has_source_time,
        }
    }
}

/// What the intake did with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in history.
    Stored,
    /// History has it already: same tag, same source time, same value and quality.
    Redelivered,
    /// It is in history and replaces an earlier value of the same source time.
    Superseded,
}

/// The sample of a record, as the tests' oracle and the service's replay need it.
#[must_use]
pub fn sample_of(seq: Seq, record: &SampleRecord<'_>) -> Sample {
    Sample {
        source_time: record.source_time,
        receive_time: record.receive_time,
        quality: record.quality,
        value: record.value.to_value(),
        seq,
        has_source_time: record.has_source_time,
    }
}
