//! Which rows go to which part.
//!
//! By retention class and hour of source time, so that retention can remove whole files on time;
//! `keep` by day. Old data in one go (a replay of years) would give a file per hour: when a class
//! would get more than [`PARTS_PER_SEAL_MAX`] parts, its spans become days, then 32 days, then
//! one span of all time. A wider part only lives longer, never shorter, than its samples' age.
//!
//! **Invariants**: each row belongs to exactly one group.

use crate::config::PARTS_PER_SEAL_MAX;
use crate::memtable::Memtable;
use crate::shared::Tags;
use crate::slots::Slots;
use foldhash::fast::FixedState;
use hashbrown::HashSet;
use millrace_model::{Retention, TagId};

const HOUR: i64 = 3_600 * 1_000_000_000;
const DAY: i64 = 24 * HOUR;
const SPANS: [i64; 4] = [HOUR, DAY, 32 * DAY, i64::MAX];

/// A tag with rows to seal.
pub(super) struct TagPlan {
    pub(super) tag: TagId,
    pub(super) slot: u32,
    pub(super) class: Retention,
    time_min: i64,
    time_max: i64,
}

/// A part to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) class: Retention,
    span: i64,
    index: i64,
}

impl Group {
    pub(super) fn has(&self, time: i64) -> bool {
        index(time, self.span) == self.index
    }

    pub(super) fn may_have(&self, tag: &TagPlan) -> bool {
        tag.class == self.class
            && index(tag.time_min, self.span) <= self.index
            && self.index <= index(tag.time_max, self.span)
    }

    /// Where the span starts, for the part's name.
    pub(super) fn start(&self) -> i64 {
        self.index.saturating_mul(self.span)
    }
}

fn index(time: i64, span: i64) -> i64 {
    // The widest span is all time, also before 1970.
    if span == i64::MAX { 0 } else { time.div_euclid(span) }
}

/// The tags of a memtable with their slots, in no order: called under the memory lock.
pub(super) fn tags(table: &Memtable, slots: &Slots) -> Vec<(TagId, u32)> {
    table.touched.iter().filter_map(|slot| Some((slots.tag(*slot)?, *slot))).collect()
}

/// Tags ascending, with what decides where their rows go.
pub(super) fn classify(
    table: &Memtable,
    mut tags: Vec<(TagId, u32)>,
    classes: &dyn Tags,
) -> Vec<TagPlan> {
    tags.sort_unstable();
    let plan = |(tag, slot)| {
        let (mut time_min, mut time_max) = (i64::MAX, i64::MIN);
        table.for_each(slot, |row| {
            time_min = time_min.min(row.time);
            time_max = time_max.max(row.time);
        });
        TagPlan { tag, slot, class: classes.retention(tag), time_min, time_max }
    };
    tags.into_iter().map(plan).collect()
}

pub(super) fn groups(table: &Memtable, tags: &[TagPlan]) -> Vec<Group> {
    let mut groups = Vec::new();
    for class in Retention::ALL {
        let spans = if class == Retention::Keep { SPANS.get(1..) } else { SPANS.get(..) };
        for span in spans.unwrap_or_default() {
            let indexes = indexes(table, tags, class, *span);
            if indexes.len() <= PARTS_PER_SEAL_MAX {
                groups.extend(indexes.into_iter().map(|index| Group { class, span: *span, index }));
                break;
            }
        }
    }
    groups
}

/// The spans that have rows, ascending; ends early when there are too many.
fn indexes(table: &Memtable, tags: &[TagPlan], class: Retention, span: i64) -> Vec<i64> {
    let mut found: HashSet<i64, FixedState> = HashSet::with_hasher(FixedState::default());
    for tag in tags.iter().filter(|tag| tag.class == class) {
        if found.len() > PARTS_PER_SEAL_MAX {
            break;
        }
        let (first, last) = (index(tag.time_min, span), index(tag.time_max, span));
        if last - first <= 1 {
            found.extend([first, last]);
            continue;
        }
        let mut before = None;
        table.for_each(tag.slot, |row| {
            let index = index(row.time, span);
            if before != Some(index) {
                before = Some(index);
                found.insert(index);
            }
        });
    }
    let mut indexes: Vec<i64> = found.into_iter().collect();
    indexes.sort_unstable();
    indexes
}
