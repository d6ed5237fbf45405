//! Reading a run of rows of one column, decoding no page that is not needed.
//!
//! **Invariants**: answers exactly the rows that were asked for, or an error.

use crate::part::file::PartFile;
use crate::part::index::PartIndex;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::file::serialized_reader::SerializedPageReader;
use std::ops::Range;
use std::sync::Arc;

/// Values of a column, and for an optional one whether each row has one (1) or not (0).
pub(super) fn read_column<T: DataType>(
    index: &PartIndex,
    file: &Arc<PartFile>,
    group: usize,
    column: usize,
    rows: Range<usize>,
) -> Result<(Vec<T::T>, Vec<i16>)> {
    let mut reader = ColumnRun::<T>::open(index, file, group, column)?;
    let mut values = Vec::with_capacity(rows.len());
    let mut levels = Vec::new();
    reader.read(rows, &mut values, &mut levels)?;
    Ok((values, levels))
}

/// One column of one row group, read from front to back.
pub(super) struct ColumnRun<T: DataType> {
    reader: ColumnReaderImpl<T>,
    row: usize,
}

impl<T: DataType> ColumnRun<T> {
    pub(super) fn open(
        index: &PartIndex,
        file: &Arc<PartFile>,
        group: usize,
        column: usize,
    ) -> Result<Self> {
        let metadata = index.metadata.row_group(group);
        let pages = index.metadata.page_index_for_row_group(group);
        let pages = SerializedPageReader::new(
            Arc::clone(file),
            metadata.column(column),
            index.group_rows(group),
            pages.page_locations(column).cloned(),
        )?;
        let descriptor = metadata.column(column).column_descr_ptr();
        Ok(Self { reader: ColumnReaderImpl::new(descriptor, Box::new(pages)), row: 0 })
    }

    /// Appends these rows, which lie behind those that were read before.
    pub(super) fn read(
        &mut self,
        rows: Range<usize>,
        values: &mut Vec<T::T>,
        levels: &mut Vec<i16>,
    ) -> Result<()> {
        let short = || ParquetError::General("a column is shorter than its row group".to_owned());
        let skip = rows.start.checked_sub(self.row).ok_or_else(short)?;
        if skip > 0 && self.reader.skip_records(skip)? != skip {
            return Err(short());
        }
        let mut wanted = rows.len();
        while wanted > 0 {
            let (read, _, _) = self.reader.read_records(wanted, Some(levels), None, values)?;
            if read == 0 {
                return Err(short());
            }
            wanted -= read;
        }
        self.row = rows.end;
        Ok(())
    }
}
