//! Schema and time window: whether a value fits its tag.
//!
//! A strict schema refuses; a soft one stores with Uncertain quality, unless the device itself
//! said something worse. A source time must lie within the tag's retention (`keep` has no limit)
//! and at most 10 minutes ahead of the box's clock.
//!
//! **Invariants**: the value itself is never touched.

use crate::shape::Sent;
use millrace_model::limits::SOURCE_TIME_AHEAD_NANOS_MAX;
use millrace_model::quality::Grade;
use millrace_model::schema::Mismatch;
use millrace_model::{
    Quality, Reason, Refusal, Retention, Schema, Tag, TagId, Timestamp, ValueRef,
};
use std::sync::Arc;

/// What the gate keeps of a tag for each topic of a session.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    pub(crate) id: TagId,
    age_nanos: Option<i64>,
    /// Only where there is a schema that says something.
    schema_of: Option<Arc<Tag>>,
}

impl Judged {
    pub(crate) fn new(tag: &Arc<Tag>) -> Self {
        Self {
            id: tag.id,
            age_nanos: tag.retention.age_nanos(),
            schema_of: has_rules(&tag.schema).then(|| Arc::clone(tag)),
        }
    }

    /// The quality to store, or why the value does not fit.
    pub(crate) fn judge(&self, sent: &Sent<'_>, now: Timestamp) -> Result<Quality, Refusal> {
        let mut quality = sent.quality.unwrap_or(Quality::GOOD);
        if let Some(tag) = &self.schema_of
            && let Err(mismatch) = tag.schema.check(sent.value)
        {
            if tag.schema.strict {
                return Err(misfit(&tag.schema, mismatch, sent.value));
            }
            if quality.grade() == Grade::Good {
                quality = match mismatch {
                    Mismatch::Range => Quality::UNCERTAIN_RANGE,
                    Mismatch::Kind | Mismatch::Choice => Quality::UNCERTAIN,
                };
            }
        }
        check_window(sent.source_time, now, self.age_nanos)?;
        Ok(quality)
    }
}

/// Holds a source time against the window of a tag that does not exist yet.
pub(crate) fn check_new(
    sent: &Sent<'_>,
    now: Timestamp,
    retention: Retention,
) -> Result<(), Refusal> {
    check_window(sent.source_time, now, retention.age_nanos())
}

fn check_window(
    source_time: Option<Timestamp>,
    now: Timestamp,
    age_nanos: Option<i64>,
) -> Result<(), Refusal> {
    let Some(source_time) = source_time else { return Ok(()) };
    if source_time.nanos_since(now) > SOURCE_TIME_AHEAD_NANOS_MAX {
        let detail = format!(
            "the source time {} lies more than 10 minutes ahead of {}",
            source_time.to_rfc3339(),
            now.to_rfc3339()
        );
        return Err(Refusal::with(Reason::SourceTimeAhead, detail));
    }
    if age_nanos.is_some_and(|age_nanos| now.nanos_since(source_time) > age_nanos) {
        let detail = format!(
            "the source time {} is older than the topic's history",
            source_time.to_rfc3339()
        );
        return Err(Refusal::with(Reason::SourceTimeTooOld, detail));
    }
    Ok(())
}

fn has_rules(schema: &Schema) -> bool {
    let Schema { kinds, min, max, choices, strict: _ } = schema;
    !kinds.is_empty() || min.is_some() || max.is_some() || !choices.is_empty()
}

fn misfit(schema: &Schema, mismatch: Mismatch, value: ValueRef<'_>) -> Refusal {
    match mismatch {
        Mismatch::Kind => {
            let kinds: Vec<_> = schema.kinds.iter().map(|kind| kind.name()).collect();
            let detail =
                format!("the topic takes {}, not {}", kinds.join(", "), value.kind().name());
            Refusal::with(Reason::WrongKind, detail)
        }
        Mismatch::Range => {
            let bound = |bound: Option<f64>| bound.map_or_else(|| "any".into(), |b| b.to_string());
            let (min, max) = (bound(schema.min), bound(schema.max));
            let detail = format!("{value} is outside of the topic's range {min} to {max}");
            Refusal::with(Reason::OutOfRange, detail)
        }
        Mismatch::Choice => Refusal::plain(Reason::NotAChoice),
    }
}
