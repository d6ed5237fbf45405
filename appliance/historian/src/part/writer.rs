//! Writing a part: rows in, bytes out.
//!
//! Rows are gathered column by column until a row group is full; the file is made in memory (a
//! memtable of scalars gives some megabytes), so that its checksums are known before a byte is
//! on disk and its name can carry one.
//!
//! **Invariants**: rows come sorted by (tag, source time, seq); the same rows give the same bytes.

use crate::error::{Error, Result};
use crate::part::facts::{PART_FORMAT, PartFacts};
use crate::part::index::{KEY_FACTS, KEY_FORMAT, KEY_GROUPS};
use crate::part::schema::{GROUP_ROWS_MAX, GROUP_TEXT_BYTES_MAX, properties, schema, split_nanos};
use bytes::Bytes;
use millrace_model::{Kind, Retention, TagId, ValueRef};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};

/// A part as bytes.
pub(crate) struct WrittenPart {
    pub(crate) facts: PartFacts,
    pub(crate) bytes: Vec<u8>,
}

/// One row as it is given to the writer.
pub(crate) struct PartRow<'a> {
    pub(crate) time: i64,
    pub(crate) receive: i64,
    pub(crate) quality: u32,
    pub(crate) has_source_time: bool,
    pub(crate) value: ValueRef<'a>,
    pub(crate) seq: u64,
}

#[derive(Default)]
struct Columns {
    tag: Vec<i32>,
    source: (Vec<i64>, Vec<i32>, Vec<i32>),
    delay: (Vec<i64>, Vec<i32>, Vec<i32>),
    kind: Vec<i32>,
    quality: Vec<i32>,
    given: Vec<bool>,
    f64: (Vec<f64>, Vec<i16>),
    i64: (Vec<i64>, Vec<i16>),
    text: (Vec<ByteArray>, Vec<i16>),
    seq: Vec<i64>,
    text_bytes: usize,
}

/// A part in the making.
pub(crate) struct PartWriter {
    file: SerializedFileWriter<Vec<u8>>,
    columns: Columns,
    groups: Vec<u64>,
    facts: PartFacts,
    span_start: i64,
}

/// Which seal writes, and what it covers.
#[derive(Clone, Copy)]
pub(crate) struct SealFacts {
    pub(crate) seal: u64,
    pub(crate) epoch: u64,
    pub(crate) first_seq: u64,
    pub(crate) last_seq: u64,
}

fn encode(error: ParquetError) -> Error {
    Error::Encode(error.to_string())
}

impl PartWriter {
    pub(crate) fn new(class: Retention, span_start: i64, seal: SealFacts) -> Result<Self> {
        let file = SerializedFileWriter::new(Vec::new(), schema()?, properties()?);
        Ok(Self {
            file: file.map_err(encode)?,
            columns: Columns::default(),
            groups: Vec::new(),
            facts: PartFacts {
                name: String::new(),
                class,
                seal: seal.seal,
                epoch: seal.epoch,
                first_seq: seal.first_seq,
                last_seq: seal.last_seq,
                time_min: i64::MAX,
                time_max: i64::MIN,
                tag_min: u32::MAX,
                tag_max: 0,
                rows: 0,
                bytes: 0,
                tail_start: 0,
                tail_crc: 0,
            },
            span_start,
        })
    }

    pub(crate) fn push(&mut self, tag: TagId, row: &PartRow<'_>) -> Result<()> {
        let facts = &mut self.facts;
        facts.time_min = facts.time_min.min(row.time);
        facts.time_max = facts.time_max.max(row.time);
        facts.tag_min = facts.tag_min.min(tag.0);
        facts.tag_max = facts.tag_max.max(tag.0);
        facts.rows += 1;
        self.columns.push(tag, row);
        if self.columns.seq.len() >= GROUP_ROWS_MAX
            || self.columns.text_bytes >= GROUP_TEXT_BYTES_MAX
        {
            self.end_group()?;
        }
        Ok(())
    }

    /// The finished file.
    pub(crate) fn finish(mut self) -> Result<WrittenPart> {
        if !self.columns.seq.is_empty() {
            self.end_group()?;
        }
        self.file.flush().map_err(|error| Error::Encode(error.to_string()))?;
        let mut start = 0;
        let mut groups = Vec::new();
        for end in &self.groups {
            let from = usize::try_from(start).unwrap_or(usize::MAX);
            let to = usize::try_from(*end).unwrap_or(usize::MAX);
            let bytes = self.file.inner().get(from..to).unwrap_or_default();
            groups.push(format!("{end}:{:08x}", crc32c::crc32c(bytes)));
            start = *end;
        }
        self.facts.tail_start = start;
        // The name, the length and the tail's own checksum are not known to the tail.
        let facts =
            serde_json::to_string(&self.facts).map_err(|error| Error::Encode(error.to_string()))?;
        for (key, value) in [
            (KEY_FORMAT, PART_FORMAT.to_string()),
            (KEY_FACTS, facts),
            (KEY_GROUPS, groups.join(" ")),
        ] {
            self.file.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
        // Writes the footer too.
        let bytes = self.file.into_inner().map_err(encode)?;
        let tail_start = usize::try_from(start).unwrap_or(usize::MAX);
        let tail_crc = crc32c::crc32c(bytes.get(tail_start..).unwrap_or_default());
        let mut facts = self.facts;
        facts.bytes = bytes.len() as u64;
        facts.tail_crc = tail_crc;
        facts.name = PartFacts::name_for(facts.class, self.span_start, facts.seal, tail_crc);
        Ok(WrittenPart { facts, bytes })
    }

    fn end_group(&mut self) -> Result<()> {
        let mut group = self.file.next_row_group().map_err(encode)?;
        let columns = &mut self.columns;
        write::<Int32Type>(&mut group, &columns.tag, None)?;
        for (ms, us, ns) in [&columns.source, &columns.delay] {
            write::<Int64Type>(&mut group, ms, None)?;
            write::<Int32Type>(&mut group, us, None)?;
            write::<Int32Type>(&mut group, ns, None)?;
        }
        write::<Int32Type>(&mut group, &columns.kind, None)?;
        write::<Int32Type>(&mut group, &columns.quality, None)?;
        write::<BoolType>(&mut group, &columns.given, None)?;
        write::<DoubleType>(&mut group, &columns.f64.0, Some(&columns.f64.1))?;
        write::<Int64Type>(&mut group, &columns.i64.0, Some(&columns.i64.1))?;
        write::<ByteArrayType>(&mut group, &columns.text.0, Some(&columns.text.1))?;
        write::<Int64Type>(&mut group, &columns.seq, None)?;
        group.close().map_err(encode)?;
        self.groups.push(self.file.bytes_written() as u64);
        columns.clear();
        Ok(())
    }
}

fn write<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<()> {
    let mut column = group
        .next_column()
        .map_err(encode)?
        .ok_or_else(|| Error::Encode("the schema has too few columns".to_owned()))?;
    column.typed::<T>().write_batch(values, levels, None).map_err(encode)?;
    column.close().map_err(encode)
}

impl Columns {
    fn push(&mut self, tag: TagId, row: &PartRow<'_>) {
        self.tag.push(tag.0.cast_signed());
        for (nanos, columns) in
            [(row.time, &mut self.source), (row.receive.wrapping_sub(row.time), &mut self.delay)]
        {
            let (ms, us, ns) = split_nanos(nanos);
            columns.0.push(ms);
            columns.1.push(us);
            columns.2.push(ns);
        }
        let kind = row.value.kind();
        self.kind.push(i32::from(kind as u8));
        self.quality.push(row.quality.cast_signed());
        self.given.push(row.has_source_time);
        let is_integer = matches!(kind, Kind::Bool | Kind::Int | Kind::UInt);
        self.f64.1.push(i16::from(kind == Kind::Float));
        self.i64.1.push(i16::from(is_integer));
        if kind == Kind::Float {
            self.f64.0.push(f64::from_bits(row.value.bits()));
        } else if is_integer {
            self.i64.0.push(row.value.bits().cast_signed());
        }
        let text = row.value.text();
        self.text.1.push(i16::from(text.is_some()));
        if let Some(text) = text {
            self.text_bytes += text.len();
            self.text.0.push(Bytes::copy_from_slice(text.as_bytes()).into());
        }
        self.seq.push(row.seq.cast_signed());
    }

    fn clear(&mut self) {
        self.tag.clear();
        for columns in [&mut self.source, &mut self.delay] {
            columns.0.clear();
            columns.1.clear();
            columns.2.clear();
        }
        self.kind.clear();
        self.quality.clear();
        self.given.clear();
        self.f64.0.clear();
        self.f64.1.clear();
        self.i64.0.clear();
        self.i64.1.clear();
        self.text.0.clear();
        self.text.1.clear();
        self.seq.clear();
        self.text_bytes = 0;
    }
}
