//! A part's footer, parsed, and where each tag's rows are.
//!
//! The tail is compared with its checksum before it is parsed; a row group is compared with its
//! own before its first row is read, and its directory (tag -> first row) is made then, from the
//! tag column.
//!
//! **Invariants**: what this answers is covered by checksums; bytes in memory are counted.

use crate::error::{Error, Result};
use crate::part::column::read_column;
use crate::part::facts::{PART_FORMAT, PartFacts};
use crate::part::file::PartFile;
use crate::part::schema::column;
use parquet::data_type::Int32Type;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::statistics::Statistics;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Keys of the file's metadata.
pub(super) const KEY_FORMAT: &str = "millrace.format";
pub(super) const KEY_FACTS: &str = "millrace.facts";
pub(super) const KEY_GROUPS: &str = "millrace.row_groups";

struct Group {
    start: u64,
    end: u64,
    crc: u32,
    rows: usize,
    tags: (u32, u32),
    directory: OnceLock<Vec<(u32, u32)>>,
}

/// The parsed tail of a part.
pub(crate) struct PartIndex {
    pub(super) metadata: ParquetMetaData,
    groups: Vec<Group>,
    bytes: AtomicUsize,
}

impl PartIndex {
    /// Reads the tail of a part and compares it with its checksum.
    pub(crate) fn load(file: &PartFile, facts: &PartFacts) -> Result<Self> {
        let name = &facts.name;
        if file.checksum(facts.tail_start, facts.bytes)? != facts.tail_crc {
            return Err(Error::damaged(name, "the checksum of its tail is wrong"));
        }
        let metadata = parse(file, name)?;
        Self::from_metadata(metadata, name)
    }

    pub(super) fn from_metadata(metadata: ParquetMetaData, name: &str) -> Result<Self> {
        if metadata.file_metadata().schema_descr().num_columns() < column::COUNT {
            return Err(Error::damaged(name, "columns are missing"));
        }
        if value(&metadata, KEY_FORMAT) != Some(PART_FORMAT.to_string().as_str()) {
            return Err(Error::damaged(name, "its format is not known to this version"));
        }
        let groups = parse_groups(&metadata, name)?;
        let bytes = metadata.memory_size() + groups.len() * size_of::<Group>();
        Ok(Self { metadata, groups, bytes: AtomicUsize::new(bytes) })
    }

    /// Bytes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn group_count(&self) -> usize {
        self.groups.len()
    }

    pub(crate) fn group_rows(&self, group: usize) -> usize {
        self.groups.get(group).map_or(0, |group| group.rows)
    }

    /// Whether a group's range of tags has this one.
    pub(crate) fn may_have(&self, group: usize, tag: u32) -> bool {
        self.groups.get(group).is_some_and(|g| g.tags.0 <= tag && tag <= g.tags.1)
    }

    /// The rows of a tag in a group; checks the group if that has not been done.
    pub(crate) fn rows_of(
        &self,
        file: &Arc<PartFile>,
        name: &str,
        group: usize,
        tag: u32,
    ) -> Result<Range<usize>> {
        let directory = self.directory(file, name, group)?;
        let place = directory.partition_point(|(other, _)| *other < tag);
        let Some((_, start)) = directory.get(place).filter(|(other, _)| *other == tag) else {
            return Ok(0..0);
        };
        let end = directory.get(place + 1).map_or(self.group_rows(group), |(_, row)| *row as usize);
        Ok(*start as usize..end)
    }

    /// Compares all row groups with their checksums and decodes their tags.
    pub(crate) fn check_all(&self, file: &Arc<PartFile>, name: &str) -> Result<()> {
        (0..self.groups.len()).try_for_each(|group| self.directory(file, name, group).map(drop))
    }

    fn directory(
        &self,
        file: &Arc<PartFile>,
        name: &str,
        group: usize,
    ) -> Result<&Vec<(u32, u32)>> {
        let Some(entry) = self.groups.get(group) else {
            return Err(Error::damaged(name, format!("there is no row group {group}")));
        };
        if let Some(directory) = entry.directory.get() {
            return Ok(directory);
        }
        if file.checksum(entry.start, entry.end)? != entry.crc {
            let what = format!("the checksum of its row group {group} is wrong");
            return Err(Error::damaged(name, what));
        }
        let tags = read_column::<Int32Type>(self, file, group, column::TAG, 0..entry.rows)
            .map_err(|error| Error::damaged(name, error))?
            .0;
        let mut directory: Vec<(u32, u32)> = Vec::new();
        for (row, tag) in (0u32..).zip(tags) {
            let tag = tag.cast_unsigned();
            if directory.last().is_none_or(|(last, _)| *last != tag) {
                directory.push((tag, row));
            }
        }
        directory.shrink_to_fit();
        let bytes = directory.len() * size_of::<(u32, u32)>();
        if entry.directory.set(directory).is_ok() {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        Ok(entry.directory.get_or_init(Vec::new))
    }
}

fn parse(file: &PartFile, name: &str) -> Result<ParquetMetaData> {
    ParquetMetaDataReader::new()
        .with_page_index_policy(PageIndexPolicy::Optional)
        .parse_and_finish(file)
        .map_err(|error| Error::damaged(name, error))
}

fn value<'a>(metadata: &'a ParquetMetaData, key: &str) -> Option<&'a str> {
    let pairs = metadata.file_metadata().key_value_metadata()?;
    pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
}

/// `end:crc` of each row group, joined by blanks, as the writer put them.
fn parse_groups(metadata: &ParquetMetaData, name: &str) -> Result<Vec<Group>> {
    let bad = || Error::damaged(name, "the list of its row groups does not fit");
    let list = value(metadata, KEY_GROUPS).ok_or_else(bad)?;
    let mut start = 0;
    let mut groups = Vec::with_capacity(metadata.num_row_groups());
    for (text, group) in list.split_ascii_whitespace().zip(metadata.row_groups()) {
        let (end, crc) = text.split_once(':').ok_or_else(bad)?;
        let end: u64 = end.parse().map_err(|_not_a_number| bad())?;
        let crc = u32::from_str_radix(crc, 16).map_err(|_not_a_number| bad())?;
        let rows = usize::try_from(group.num_rows()).map_err(|_negative| bad())?;
        let tags = match group.column(column::TAG).statistics() {
            Some(Statistics::Int32(stats)) => (
                stats.min_opt().map_or(0, |tag| tag.cast_unsigned()),
                stats.max_opt().map_or(u32::MAX, |tag| tag.cast_unsigned()),
            ),
            _ => (0, u32::MAX),
        };
        groups.push(Group { start, end, crc, rows, tags, directory: OnceLock::new() });
        start = end;
    }
    if groups.len() == metadata.num_row_groups() { Ok(groups) } else { Err(bad()) }
}

impl PartFacts {
    /// Finds the facts of a file again that no manifest knows: its name tells the checksum of
    /// the tail, and the tail tells the rest.
    pub(crate) fn recover(
        disk: &dyn millrace_journal::Disk,
        path: &std::path::Path,
        name: &str,
    ) -> Result<Self> {
        let (class, tail_crc) = Self::parse_name(name)?;
        let bytes = disk.len(path).map_err(Error::io("measure", path))?.unwrap_or(0);
        let file = PartFile::open(disk, path, name, bytes)?;
        let metadata = parse(&file, name)?;
        let index = PartIndex::from_metadata(metadata, name)?;
        let facts = value(&index.metadata, KEY_FACTS)
            .and_then(|text| serde_json::from_str::<Self>(text).ok())
            .ok_or_else(|| Error::damaged(name, "its facts cannot be read"))?;
        let tail_start = index.groups.last().map_or(0, |group| group.end);
        if file.checksum(tail_start, bytes)? != tail_crc {
            return Err(Error::damaged(name, "the checksum of its tail is wrong"));
        }
        let facts = Self { name: name.to_owned(), bytes, tail_start, tail_crc, ..facts };
        if facts.class != class {
            return Err(Error::damaged(name, "it lies in the folder of another class"));
        }
        Ok(facts)
    }
}
