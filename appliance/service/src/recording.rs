//! Recordings: CSV files of a time column and a column per tag, read as a device would have sent.
//!
//! The whole file is checked before the first value leaves: a doubled column, a row of another
//! width, a cell that is NaN, a local hour that exists twice are refused with the row's number
//! (the line in the file, the header being line 1).
//!
//! **Invariants**: a cell goes out as the text that stands in the file whenever that text is a
//! JSON number, so nothing is rounded on the way; an empty cell is a gap, not a value.

mod cell;
mod error;
mod sample_file;
mod time_column;

pub(crate) use error::RecordingError;
pub(crate) use sample_file::write_sample;
pub(crate) use time_column::Zone;

use millrace_model::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

/// How to read a file.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) file: PathBuf,
    pub(crate) time_column: String,
    pub(crate) separator: u8,
    pub(crate) zone: Zone,
}

/// What the first pass found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Survey {
    /// Names of the value columns.
    pub(crate) columns: Vec<String>,
    /// Rows with values.
    pub(crate) rows: u64,
    /// Cells with a value.
    pub(crate) values: u64,
    /// The first cell of each column that holds text.
    pub(crate) texts: BTreeMap<String, String>,
    pub(crate) first: Timestamp,
    pub(crate) last: Timestamp,
}

/// One row: its line in the file, its time, and the JSON text of each column's value.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) line: u64,
    pub(crate) time: Timestamp,
    pub(crate) values: Vec<Option<String>>,
}

impl Reading {
    /// Reads the whole file once and finds the first fault.
    ///
    /// # Errors
    /// [`RecordingError`] with the line.
    pub(crate) fn survey(&self) -> Result<Survey, RecordingError> {
        let mut rows = self.rows()?;
        let columns = rows.columns.clone();
        let mut survey = Survey {
            columns,
            rows: 0,
            values: 0,
            texts: BTreeMap::new(),
            first: Timestamp::MAX,
            last: Timestamp::MIN,
        };
        while let Some(row) = rows.next()? {
            survey.rows += 1;
            survey.values += row.values.iter().flatten().count() as u64;
            survey.first = survey.first.min(row.time);
            survey.last = survey.last.max(row.time);
            for (column, value) in survey.columns.iter().zip(row.values) {
                let text = value.filter(|json| json.starts_with('"'));
                if let Some(text) = text.filter(|_| !survey.texts.contains_key(column)) {
                    survey.texts.insert(column.clone(), text);
                }
            }
        }
        if survey.rows == 0 {
            return Err(RecordingError::Empty { file: self.file.clone() });
        }
        Ok(survey)
    }

    /// Starts a pass over the rows.
    ///
    /// # Errors
    /// When the file cannot be opened or its header is at fault.
    pub(crate) fn rows(&self) -> Result<Rows, RecordingError> {
        let file = File::open(&self.file)
            .map_err(|source| RecordingError::Open { file: self.file.clone(), source })?;
        let mut reader =
            csv::ReaderBuilder::new().delimiter(self.separator).has_headers(true).from_reader(file);
        let header = reader.headers()?.clone();
        let (time_index, columns) = check_header(&header, &self.time_column, &self.file)?;
        Ok(Rows {
            reader,
            header,
            time_index,
            columns,
            zone: self.zone.clone(),
            record: csv::StringRecord::new(),
        })
    }
}

/// A pass over a file.
#[derive(Debug)]
pub(crate) struct Rows {
    reader: csv::Reader<File>,
    header: csv::StringRecord,
    time_index: usize,
    columns: Vec<String>,
    zone: Zone,
    record: csv::StringRecord,
}

impl Rows {
    /// The next row, or `None` at the end.
    ///
    /// # Errors
    /// [`RecordingError`] with the line.
    pub(crate) fn next(&mut self) -> Result<Option<Row>, RecordingError> {
        if !self.reader.read_record(&mut self.record)? {
            return Ok(None);
        }
        let line = self.record.position().map_or(0, csv::Position::line);
        if self.record == self.header {
            return Err(RecordingError::HeaderAgain { line });
        }
        let time_text = self.record.get(self.time_index).unwrap_or_default();
        let time = self.zone.read(time_text, line)?;
        let mut values = Vec::with_capacity(self.columns.len());
        for (index, text) in self.record.iter().enumerate() {
            if index != self.time_index {
                let column = self.columns.get(values.len()).map_or("", String::as_str);
                values.push(cell::to_json(text, line, column)?);
            }
        }
        Ok(Some(Row { line, time, values }))
    }
}

fn check_header(
    header: &csv::StringRecord,
    time_column: &str,
    file: &Path,
) -> Result<(usize, Vec<String>), RecordingError> {
    let mut seen = BTreeSet::new();
    for name in header {
        if name.trim().is_empty() {
            return Err(RecordingError::NamelessColumn);
        }
        if !seen.insert(name) {
            return Err(RecordingError::DoubledColumn { column: name.to_owned() });
        }
    }
    let time_index = header.iter().position(|name| name == time_column).ok_or_else(|| {
        RecordingError::NoTimeColumn {
            column: time_column.to_owned(),
            file: file.to_owned(),
            found: header.iter().collect::<Vec<_>>().join(", "),
        }
    })?;
    let columns: Vec<String> =
        header.iter().filter(|name| *name != time_column).map(str::to_owned).collect();
    for column in &columns {
        millrace_model::topic::check_path(column)
            .map_err(|source| RecordingError::ColumnName { column: column.clone(), source })?;
    }
    Ok((time_index, columns))
}

#[cfg(test)]
mod tests;
