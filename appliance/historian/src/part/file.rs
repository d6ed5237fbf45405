//! A part's bytes, through the journal's `Disk`.
//!
//! **Invariants**: reads are bounded by the length that the manifest knows; a shorter file is an
//! error, never zeros.

use crate::error::{Error, Result};
use bytes::Bytes;
use millrace_journal::disk::{OpenMode, read_full};
use millrace_journal::{Disk, DiskFile};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Bytes that are read at once when a checksum is computed.
const PIECE_BYTES: usize = 256 * 1024;

/// An open part.
pub(crate) struct PartFile {
    file: Arc<dyn DiskFile>,
    bytes: u64,
    name: String,
}

impl PartFile {
    /// Opens the file, which must be as long as it was when it was written.
    pub(crate) fn open(disk: &dyn Disk, path: &Path, name: &str, bytes: u64) -> Result<Self> {
        let file = disk.open(path, OpenMode::Read).map_err(Error::io("open", path))?;
        let length = file.len().map_err(Error::io("measure", path))?;
        if length != bytes {
            let what = format!("it has {length} bytes instead of {bytes}");
            return Err(Error::damaged(name, what));
        }
        Ok(Self { file: Arc::from(file), bytes, name: name.to_owned() })
    }

    pub(crate) fn read(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.bytes) {
            let what = format!("{length} bytes at {start} reach beyond its {} bytes", self.bytes);
            return Err(Error::damaged(&self.name, what));
        }
        let mut bytes = vec![0; length];
        let read = read_full(self.file.as_ref(), &mut bytes, start)
            .map_err(Error::io("read", &self.name))?;
        if read < length {
            return Err(Error::damaged(
                &self.name,
                format!("it ends at byte {}", start + read as u64),
            ));
        }
        Ok(bytes.into())
    }

    /// CRC-32C of a range, read piece by piece.
    pub(crate) fn checksum(&self, start: u64, end: u64) -> Result<u32> {
        let mut crc = 0;
        let mut position = start;
        while position < end {
            let length = usize::try_from(end - position).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
            crc = crc32c::crc32c_append(crc, &self.read(position, length)?);
            position += length as u64;
        }
        Ok(crc)
    }
}

impl Length for PartFile {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for PartFile {
    type T = PartRead;

    fn get_read(&self, start: u64) -> parquet::errors::Result<PartRead> {
        Ok(PartRead { file: Arc::clone(&self.file), position: start })
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.read(start, length).map_err(|error| ParquetError::External(Box::new(error)))
    }
}

/// A reader that goes on from a position.
pub(crate) struct PartRead {
    file: Arc<dyn DiskFile>,
    position: u64,
}

impl Read for PartRead {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read_at(into, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}
