//! Values that parts may hold already: compared before they are sealed.
//!
//! The intake cannot read files, so it marks such a value and calls it stored. Here each is looked
//! up in the parts that overlap it: the same value and quality means that it was redelivered and
//! is dropped; another value means that the older one is superseded. The ledger is told.
//!
//! **Invariants**: a part that cannot be read drops nothing; a value is compared with the latest
//! one of its source time.

use crate::memtable::{FLAG_UNRESOLVED, Memtable, Row};
use crate::part::PartList;
use crate::query::Merge;
use crate::sample::Item;
use crate::seal::plan::TagPlan;
use crate::shared::Shared;
use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use millrace_model::ClientNumber;

/// Source times further apart than this are looked up separately.
const GAP: i64 = 3_600 * 1_000_000_000;

/// Counts of a client that change.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) redelivered: u64,
    pub(super) superseded: u64,
}

/// What came out.
#[derive(Default)]
pub(super) struct Resolved {
    /// Rows (by seq) that are not written.
    pub(super) dropped: HashSet<u32, FixedState>,
    pub(super) counts: HashMap<ClientNumber, Counts, FixedState>,
}

pub(super) fn resolve(
    shared: &Shared,
    table: &Memtable,
    tags: &[TagPlan],
    parts: &PartList,
) -> Resolved {
    let mut resolved = Resolved::default();
    if table.unresolved == 0 {
        return resolved;
    }
    let mut rows: Vec<Row> = Vec::new();
    for tag in tags {
        rows.clear();
        table.for_each(tag.slot, |row| {
            if row.flags & FLAG_UNRESOLVED != 0 {
                rows.push(*row);
            }
        });
        rows.sort_unstable_by_key(|row| row.time);
        for cluster in rows.chunk_by(|a, b| b.time.saturating_sub(a.time) <= GAP) {
            compare(shared, table, tag, parts, cluster, &mut resolved);
        }
    }
    resolved
}

fn compare(
    shared: &Shared,
    table: &Memtable,
    tag: &TagPlan,
    parts: &PartList,
    rows: &[Row],
    resolved: &mut Resolved,
) {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return };
    let to = last.time.saturating_add(1);
    let mut merge = Merge::of_parts(shared, tag.tag, parts, first.time, to);
    let mut sealed = merge.next_group();
    for row in rows {
        while sealed.first().is_some_and(|item| item.time < row.time) {
            sealed = merge.next_group();
        }
        let Some(item) = sealed.iter().find(|i| i.time == row.time && i.has_source_time) else {
            continue;
        };
        let counts = resolved.counts.entry(ClientNumber(row.client)).or_default();
        if is_same(table, row, item) {
            counts.redelivered += 1;
            resolved.dropped.insert(row.seq_delta);
        } else {
            counts.superseded += 1;
        }
    }
}

fn is_same(table: &Memtable, row: &Row, item: &Item) -> bool {
    row.quality == item.quality && table.value(row) == item.value()
}
