//! One consistent view of a tag: rows of both memtables, and the parts.
//!
//! Rows of the active memtable are copied some thousand at a time, so that the journal's thread
//! waits for no longer than that. If the memtable is swapped in between, the copy begins again.
//!
//! **Invariants**: each value is in the view once; values that come while the view is taken may
//! or may not be in it.

use crate::memtable::{Memtable, Row, Walk};
use crate::part::PartList;
use crate::sample::Item;
use crate::shared::Shared;
use millrace_model::TagId;
use std::sync::Arc;

/// Rows that are looked at under one lock.
const PIECE_ROWS: usize = 8_192;
/// Swaps after which the copy is made under one lock.
const TRIES_MAX: usize = 3;

pub(super) struct Snapshot {
    /// By (source time, seq).
    pub(super) rows: Vec<Item>,
    pub(super) parts: Arc<PartList>,
}

pub(super) fn snapshot(shared: &Shared, tag: TagId, from: i64, to: i64) -> Snapshot {
    let mut piece = PIECE_ROWS;
    for attempt in 0.. {
        if attempt == TRIES_MAX {
            piece = usize::MAX;
        }
        if let Some(snapshot) = attempt_snapshot(shared, tag, (from, to), piece) {
            return snapshot;
        }
    }
    unreachable!("an attempt under one lock cannot be overtaken")
}

fn attempt_snapshot(
    shared: &Shared,
    tag: TagId,
    window: (i64, i64),
    piece: usize,
) -> Option<Snapshot> {
    let mut rows = Vec::new();
    let mut memory = shared.memory.read();
    let parts = Arc::clone(&memory.parts);
    let sealing = memory.sealing.clone();
    let generation = memory.active.generation;
    let slot = memory.slots.get(tag);
    if let Some(slot) = slot {
        let series = memory.active.series(slot).copied();
        for chain in series.iter().flat_map(|series| [series.main, series.late]) {
            let mut walk = Walk::default();
            loop {
                let before = walk;
                let active = &memory.active;
                active.resume(&chain, &mut walk, piece, |row| keep(active, row, window, &mut rows));
                if walk == before {
                    break;
                }
                drop(memory);
                memory = shared.memory.read();
                if memory.active.generation != generation {
                    return None;
                }
            }
        }
    }
    drop(memory);
    if let (Some(slot), Some(sealing)) = (slot, &sealing) {
        sealing.for_each(slot, |row| keep(sealing, row, window, &mut rows));
    }
    rows.sort_by_key(|item| (item.time, item.seq));
    Some(Snapshot { rows, parts })
}

fn keep(table: &Memtable, row: &Row, window: (i64, i64), rows: &mut Vec<Item>) {
    if row.time < window.0 || row.time >= window.1 {
        return;
    }
    let value = table.value(row);
    rows.push(Item {
        time: row.time,
        seq: table.seq(row),
        rank: u64::MAX,
        receive: row.receive,
        bits: value.bits(),
        quality: row.quality,
        kind: value.kind(),
        has_source_time: row.has_source_time(),
        text: value.text().map(Into::into),
    });
}
