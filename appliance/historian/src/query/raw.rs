//! Samples of a tag, page by page.
//!
//! **Invariants**: pages that follow one another give each sample once; a page ends at its limit
//! of samples or of text bytes.

use crate::config::{RAW_LIMIT_MAX, RAW_TEXT_BYTES_MAX};
use crate::error::{Error, Result};
use crate::query::Merge;
use crate::query::snapshot::snapshot;
use crate::sample::{After, Page, RawQuery};
use crate::shared::Shared;

pub(crate) fn raw(shared: &Shared, query: &RawQuery) -> Result<Page> {
    if query.limit == 0 || query.limit > RAW_LIMIT_MAX {
        return Err(Error::Query { field: "limit", must: "be between 1 and 100000" });
    }
    if query.from > query.to {
        return Err(Error::Query { field: "from", must: "not be after to" });
    }
    let from = query.after.map_or(query.from, |after| query.from.max(after.source_time));
    let view = snapshot(shared, query.tag, from.0, query.to.0);
    let mut merge = Merge::of_parts(shared, query.tag, &view.parts, from.0, query.to.0);
    merge.add(view.rows);
    let mut samples = Vec::new();
    let mut text_bytes = 0;
    let mut next = None;
    'pages: loop {
        let group = merge.next_group();
        if group.is_empty() {
            break;
        }
        for item in group {
            let sample = item.into_sample();
            let place = After { source_time: sample.source_time, seq: sample.seq };
            if query.after.is_some_and(|after| place <= after) {
                continue;
            }
            if samples.len() >= query.limit || text_bytes >= RAW_TEXT_BYTES_MAX {
                next = samples.last().map(place_of);
                break 'pages;
            }
            text_bytes += sample.value.as_ref().text().map_or(0, str::len);
            samples.push(sample);
        }
    }
    Ok(Page { samples, next, incomplete: merge.is_incomplete() })
}

fn place_of(sample: &crate::sample::Sample) -> After {
    After { source_time: sample.source_time, seq: sample.seq }
}
