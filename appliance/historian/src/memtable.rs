//! Values that are not in a part yet: rows per tag in chunks from an arena.
//!
//! A tag has two chains of rows. *Main* takes what comes in order of source time and is therefore
//! sorted; *late* takes the rest, in order of arrival, with a hash index by (tag, source time).
//! So a value in order costs one write into a chunk, and a value that may be there already is
//! found without walking what is not about it. Chunks grow with their chain (a quarter of it, 4
//! to 512 rows), so that neither 250,000 tags with few rows nor one tag with a million waste
//! much. Texts lie in an arena of their own. 41 bytes per scalar value and no allocation once the
//! slabs exist; `clear` keeps them.
//!
//! **Invariants**: rows are only appended; main is sorted by (source time, seq); a row's seq is
//! `base_seq + seq_delta`.

mod arena;
mod row;
mod text;

pub(crate) use arena::{Chain, Walk};
pub(crate) use row::{FLAG_SOURCE_TIME, FLAG_UNRESOLVED, Row};

use arena::Arena;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use millrace_model::{Kind, SampleRecord, ValueRef};
use text::Texts;

/// Bytes that an entry of the late index takes with its share of empty places.
const LATE_ENTRY_BYTES: usize = 32;

/// The rows of one tag.
#[derive(Clone, Copy, Default)]
pub(crate) struct Series {
    pub(crate) main: Chain,
    pub(crate) late: Chain,
    /// Source time of the last row of main.
    newest: i64,
}

/// Rows of many tags.
pub(crate) struct Memtable {
    /// Never reused; tells which memtable a text lies in.
    pub(crate) generation: u64,
    base_seq: u64,
    series: Vec<Series>,
    /// Slots that have rows, in order of their first one.
    pub(crate) touched: Vec<u32>,
    arena: Arena,
    texts: Texts,
    /// The last late row with a source time given by the device.
    late: HashMap<(u32, i64), u32, FixedState>,
    /// Rows that parts may hold already.
    pub(crate) unresolved: u32,
    pub(crate) rows: u32,
}

impl Memtable {
    pub(crate) fn new(generation: u64) -> Self {
        Self {
            generation,
            base_seq: 0,
            series: Vec::new(),
            touched: Vec::new(),
            arena: Arena::new(),
            texts: Texts::new(),
            late: HashMap::with_hasher(FixedState::default()),
            unresolved: 0,
            rows: 0,
        }
    }

    /// Forgets all rows and keeps the memory.
    pub(crate) fn clear(&mut self, generation: u64) {
        for slot in self.touched.drain(..) {
            if let Some(series) = self.series.get_mut(slot as usize) {
                *series = Series::default();
            }
        }
        self.arena.clear();
        self.texts.clear();
        self.late.clear();
        self.generation = generation;
        self.unresolved = 0;
        self.rows = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.arena.bytes() + self.texts.bytes() + self.late.len() * LATE_ENTRY_BYTES
    }

    /// Whether the seqs of the next batch may be so far from the first one that their difference
    /// does not fit a row.
    pub(crate) fn is_out_of_reach(&self, seq: u64) -> bool {
        self.rows > 0 && seq.wrapping_sub(self.base_seq) > u64::from(u32::MAX / 2)
    }

    pub(crate) fn seq(&self, row: &Row) -> u64 {
        self.base_seq + u64::from(row.seq_delta)
    }

    #[inline]
    pub(crate) fn append(&mut self, slot: u32, seq: u64, sample: &SampleRecord<'_>, flags: u8) {
        if self.rows == 0 {
            self.base_seq = seq;
        }
        let bits = match sample.value.text() {
            None => sample.value.bits(),
            Some(text) => self.texts.push(text),
        };
        let time = sample.source_time.0;
        let row = Row {
            time,
            receive: sample.receive_time.0,
            bits,
            quality: sample.quality.0,
            client: sample.client.0,
            // `is_out_of_reach` has been asked: the difference fits.
            seq_delta: u32::try_from(seq.wrapping_sub(self.base_seq)).unwrap_or(u32::MAX),
            kind: sample.value.kind() as u8,
            flags,
        };
        let place = slot as usize;
        if self.series.len() <= place {
            self.series.resize((place + 1).next_power_of_two(), Series::default());
        }
        let Some(series) = self.series.get_mut(place) else { return };
        if series.main.count() == 0 {
            // A late row needs an earlier one in main, so this is the tag's first row here.
            self.touched.push(slot);
            series.newest = i64::MIN;
        }
        self.rows += 1;
        if flags & FLAG_UNRESOLVED != 0 {
            self.unresolved += 1;
        }
        if time >= series.newest {
            series.newest = time;
            series.main.push(&mut self.arena, row);
        } else {
            let place = series.late.push(&mut self.arena, row);
            if flags & FLAG_SOURCE_TIME != 0 {
                self.late.insert((slot, time), place);
            }
        }
    }

    /// Where the text of the last appended row lies.
    pub(crate) fn last_text_place(&self) -> u64 {
        self.texts.last()
    }

    pub(crate) fn series(&self, slot: u32) -> Option<&Series> {
        self.series.get(slot as usize).filter(|series| series.main.count() > 0)
    }

    /// Source time of a tag's newest row.
    pub(crate) fn newest(&self, slot: u32) -> Option<i64> {
        self.series(slot).map(|series| series.newest)
    }

    /// The latest row of a tag with this source time that the device gave.
    pub(crate) fn find(&self, slot: u32, time: i64) -> Option<&Row> {
        let series = self.series(slot)?;
        let mut best: Option<&Row> = None;
        if series.newest >= time {
            for rows in series.main.walk(&self.arena) {
                if rows.last().is_none_or(|row| row.time < time) {
                    continue;
                }
                let from = rows.partition_point(|row| row.time < time);
                let same = rows.get(from..).unwrap_or_default();
                let same = same.iter().take_while(|row| row.time == time);
                best = same.filter(|row| row.has_source_time()).last().or(best);
                if rows.last().is_some_and(|row| row.time > time) {
                    break;
                }
            }
        }
        let late = self.late.get(&(slot, time)).and_then(|place| self.arena.row(*place));
        match (best, late) {
            (Some(a), Some(b)) => Some(if a.seq_delta > b.seq_delta { a } else { b }),
            (a, b) => a.or(b),
        }
    }

    /// Whether a row holds this value with this quality.
    pub(crate) fn is_same(&self, row: &Row, sample: &SampleRecord<'_>) -> bool {
        row.quality == sample.quality.0 && self.value(row) == sample.value
    }

    pub(crate) fn value(&self, row: &Row) -> ValueRef<'_> {
        let kind = row.kind();
        let text = if kind.is_scalar() { "" } else { self.texts.get(row.bits) };
        ValueRef::from_parts(kind, row.bits, text)
    }

    /// The text behind a last value's bits.
    pub(crate) fn text(&self, kind: Kind, bits: u64) -> &str {
        if kind.is_scalar() { "" } else { self.texts.get(bits) }
    }

    /// Visits a tag's rows: all of main in order, then all of late in order of arrival.
    pub(crate) fn for_each(&self, slot: u32, mut visit: impl FnMut(&Row)) {
        if let Some(series) = self.series(slot) {
            for rows in series.main.walk(&self.arena).chain(series.late.walk(&self.arena)) {
                rows.iter().for_each(&mut visit);
            }
        }
    }

    /// A tag's rows by (source time, seq).
    pub(crate) fn sorted<'a>(&'a self, slot: u32, into: &mut Vec<&'a Row>) {
        into.clear();
        let Some(series) = self.series(slot) else { return };
        for rows in series.main.walk(&self.arena).chain(series.late.walk(&self.arena)) {
            into.extend(rows);
        }
        if series.late.count() > 0 {
            into.sort_unstable_by_key(|row| (row.time, row.seq_delta));
        }
    }

    /// Goes on with a walk that was begun before, for at most about `rows_max` rows.
    pub(crate) fn resume(
        &self,
        chain: &Chain,
        walk: &mut Walk,
        rows_max: usize,
        mut visit: impl FnMut(&Row),
    ) {
        let mut visited = 0;
        while visited < rows_max
            && let Some(rows) = walk.next(chain, &self.arena)
        {
            rows.iter().for_each(&mut visit);
            visited += rows.len();
        }
    }
}

#[cfg(test)]
mod tests;
