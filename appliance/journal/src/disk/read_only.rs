//! A disk that is only looked at.
//!
//! **Invariants**: nothing on the inner disk changes; files are opened for reading only.

use super::{Disk, DiskFile, OpenMode};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Refuses every change.
pub(crate) struct ReadOnly(pub(crate) Arc<dyn Disk>);

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "only looking, nothing is changed")
}

impl Disk for ReadOnly {
    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        // It must be there already: listing it tells.
        self.0.list(folder).map(drop)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.0.list(folder)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        match mode {
            OpenMode::Read => self.0.open(path, mode),
            OpenMode::Write | OpenMode::CreateNew | OpenMode::Truncate => Err(refused()),
        }
    }

    fn rename(&self, _from: &Path, _to: &Path) -> io::Result<()> {
        Err(refused())
    }

    fn remove(&self, _path: &Path) -> io::Result<()> {
        Err(refused())
    }

    fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
        Err(refused())
    }

    fn len(&self, path: &Path) -> io::Result<Option<u64>> {
        self.0.len(path)
    }
}
