//! Reading one tag's rows of one part in order of source time, some thousand at a time.
//!
//! **Invariants**: only rows whose row group has passed its checksum; a part that was removed in
//! the meantime is [`Error::Removed`], not damage.

use crate::error::{Error, Result};
use crate::part::column::{ColumnRun, read_column};
use crate::part::file::PartFile;
use crate::part::index::PartIndex;
use crate::part::list::{Part, Standing};
use crate::part::schema::{column, join_nanos};
use crate::sample::Item;
use crate::shared::Shared;
use millrace_model::Kind;
use parquet::data_type::{BoolType, ByteArrayType, DoubleType, Int32Type, Int64Type};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Rows that are decoded at once.
const BATCH_ROWS: usize = 4_096;

/// An open part at work.
pub(crate) struct PartCursor {
    part: Arc<Part>,
    file: Arc<PartFile>,
    index: Arc<PartIndex>,
    /// Row groups and rows that are still to be read.
    runs: VecDeque<(usize, Range<usize>)>,
}

impl PartCursor {
    /// Opens a part without choosing rows.
    pub(crate) fn open(shared: &Shared, part: &Arc<Part>) -> Result<Self> {
        let facts = &part.facts;
        if part.standing() == Standing::Removed {
            return Err(Error::Removed { part: facts.name.clone() });
        }
        let path = shared.config.dir.join("parts").join(&facts.name);
        let opened = PartFile::open(shared.around.disk.as_ref(), &path, &facts.name, facts.bytes)
            .and_then(|file| {
                let index = shared.cache.get(&facts.name, || PartIndex::load(&file, facts))?;
                Ok((Arc::new(file), index))
            });
        let (file, index) = match opened {
            // Retention may have come between.
            Err(_) if part.standing() == Standing::Removed => {
                return Err(Error::Removed { part: facts.name.clone() });
            }
            other => other?,
        };
        Ok(Self { part: Arc::clone(part), file, index, runs: VecDeque::new() })
    }

    /// Chooses the rows of a tag whose source time lies in a window.
    pub(crate) fn select(&mut self, tag: u32, from: i64, to: i64) -> Result<()> {
        self.runs.clear();
        for group in 0..self.index.group_count() {
            if !self.index.may_have(group, tag) {
                continue;
            }
            let mut rows = self.index.rows_of(&self.file, &self.part.facts.name, group, tag)?;
            let facts = &self.part.facts;
            if !rows.is_empty() && (facts.time_min < from || facts.time_max >= to) {
                let times = self.times(group, rows.clone())?;
                let first = times.partition_point(|time| *time < from);
                let end = times.partition_point(|time| *time < to);
                rows = rows.start + first..rows.start + end.max(first);
            }
            if !rows.is_empty() {
                self.runs.push_back((group, rows));
            }
        }
        Ok(())
    }

    /// The next rows that were chosen; empty at the end.
    pub(crate) fn next_batch(&mut self) -> Result<Vec<Item>> {
        let Some((group, rows)) = self.runs.pop_front() else { return Ok(Vec::new()) };
        let batch = rows.start..rows.end.min(rows.start + BATCH_ROWS);
        if batch.end < rows.end {
            self.runs.push_front((group, batch.end..rows.end));
        }
        self.rows(group, &[batch])
    }

    /// The last row of each of these tags (ascending) that are in the part.
    pub(crate) fn last_of(&self, tags: &[u32]) -> Result<Vec<(u32, Item)>> {
        let mut found: Vec<(u32, Item)> = Vec::new();
        for group in 0..self.index.group_count() {
            let mut wanted = Vec::new();
            let mut runs = Vec::new();
            for tag in tags.iter().filter(|tag| self.index.may_have(group, **tag)) {
                let rows = self.index.rows_of(&self.file, &self.part.facts.name, group, *tag)?;
                if let Some(last) = rows.end.checked_sub(1).filter(|_| !rows.is_empty()) {
                    wanted.push(*tag);
                    runs.push(last..rows.end);
                }
            }
            if !runs.is_empty() {
                found.extend(wanted.into_iter().zip(self.rows(group, &runs)?));
            }
        }
        Ok(found)
    }

    fn times(&self, group: usize, rows: Range<usize>) -> Result<Vec<i64>> {
        let runs = [rows];
        let ms = self.ints64(group, column::SOURCE_MS, &runs)?;
        let us = self.ints32(group, column::SOURCE_US, &runs)?;
        let ns = self.ints32(group, column::SOURCE_NS, &runs)?;
        let joined = ms.into_iter().zip(us).zip(ns);
        Ok(joined.map(|((ms, us), ns)| join_nanos(ms, us, ns)).collect())
    }

    /// All columns of these rows of a group, in ascending order.
    fn rows(&self, group: usize, runs: &[Range<usize>]) -> Result<Vec<Item>> {
        let ms = self.ints64(group, column::SOURCE_MS, runs)?;
        let us = self.ints32(group, column::SOURCE_US, runs)?;
        let ns = self.ints32(group, column::SOURCE_NS, runs)?;
        let delay_ms = self.ints64(group, column::DELAY_MS, runs)?;
        let delay_us = self.ints32(group, column::DELAY_US, runs)?;
        let delay_ns = self.ints32(group, column::DELAY_NS, runs)?;
        let kinds = self.ints32(group, column::KIND, runs)?;
        let qualities = self.ints32(group, column::QUALITY, runs)?;
        let given = self.values::<BoolType>(group, column::SOURCE_GIVEN, runs)?.0;
        let seqs = self.ints64(group, column::SEQ, runs)?;
        let rank = self.part.facts.seal;
        let mut items = Vec::with_capacity(ms.len());
        let times = ms.into_iter().zip(us).zip(ns);
        let delays = delay_ms.into_iter().zip(delay_us).zip(delay_ns);
        let rest = kinds.into_iter().zip(qualities).zip(given).zip(seqs);
        for ((((ms, us), ns), ((dms, dus), dns)), (((kind, quality), given), seq)) in
            times.zip(delays).zip(rest)
        {
            let time = join_nanos(ms, us, ns);
            let kind = u8::try_from(kind).ok().and_then(Kind::from_code);
            let Some(kind) = kind else { return Err(self.damaged("a value's kind is not known")) };
            items.push(Item {
                time,
                seq: seq.cast_unsigned(),
                rank,
                receive: time.wrapping_add(join_nanos(dms, dus, dns)),
                bits: 0,
                quality: quality.cast_unsigned(),
                kind,
                has_source_time: given,
                text: None,
            });
        }
        self.fill_values(group, runs, &mut items)?;
        Ok(items)
    }

    fn fill_values(&self, group: usize, runs: &[Range<usize>], items: &mut [Item]) -> Result<()> {
        let has = |items: &[Item], test: fn(Kind) -> bool| items.iter().any(|i| test(i.kind));
        if has(items, |kind| kind == Kind::Float) {
            let (values, levels) = self.values::<DoubleType>(group, column::F64, runs)?;
            spread(values, &levels, items, |item, value| item.bits = value.to_bits());
        }
        if has(items, |kind| matches!(kind, Kind::Bool | Kind::Int | Kind::UInt)) {
            let (values, levels) = self.values::<Int64Type>(group, column::I64, runs)?;
            spread(values, &levels, items, |item, value| item.bits = value.cast_unsigned());
        }
        if has(items, |kind| !kind.is_scalar()) {
            let (values, levels) = self.values::<ByteArrayType>(group, column::TEXT, runs)?;
            let mut is_text = true;
            spread(values, &levels, items, |item, value| match std::str::from_utf8(value.data()) {
                Ok(text) => item.text = Some(text.into()),
                Err(_) => is_text = false,
            });
            if !is_text {
                return Err(self.damaged("a text is not UTF-8"));
            }
        }
        Ok(())
    }

    fn values<T: parquet::data_type::DataType>(
        &self,
        group: usize,
        column: usize,
        runs: &[Range<usize>],
    ) -> Result<(Vec<T::T>, Vec<i16>)> {
        if let [rows] = runs {
            return read_column::<T>(&self.index, &self.file, group, column, rows.clone())
                .map_err(|error| self.damaged(error));
        }
        let mut values = Vec::new();
        let mut levels = Vec::new();
        let mut read = || {
            let mut run = ColumnRun::<T>::open(&self.index, &self.file, group, column)?;
            runs.iter().try_for_each(|rows| run.read(rows.clone(), &mut values, &mut levels))
        };
        read().map_err(|error| self.damaged(error))?;
        Ok((values, levels))
    }

    fn ints32(&self, group: usize, column: usize, runs: &[Range<usize>]) -> Result<Vec<i32>> {
        Ok(self.values::<Int32Type>(group, column, runs)?.0)
    }

    fn ints64(&self, group: usize, column: usize, runs: &[Range<usize>]) -> Result<Vec<i64>> {
        Ok(self.values::<Int64Type>(group, column, runs)?.0)
    }

    fn damaged(&self, what: impl ToString) -> Error {
        Error::damaged(&self.part.facts.name, what)
    }
}

/// Gives the values of an optional column to the rows that have one.
fn spread<V>(values: Vec<V>, levels: &[i16], items: &mut [Item], give: impl FnMut(&mut Item, V)) {
    let mut give = give;
    let mut values = values.into_iter();
    for (item, level) in items.iter_mut().zip(levels) {
        if *level > 0
            && let Some(value) = values.next()
        {
            give(item, value);
        }
    }
}
