//! The only way to the operating system: files, folders, syncs, locks.
//!
//! [`RealDisk`] is the operating system; the disks in `testing` fail, tear and forget. The
//! historian and the catalog use this too, so that their tests can do the same.
//!
//! **Invariants**
//! - What is created is readable by its owner only (where the system knows owners).
//! - A write is whole or an error: short writes are continued.
//! - `durable_write` leaves the old file or the new one, never a mixture.

mod lock;
mod open_files;
mod read_only;
mod real;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use lock::{LockError, LockGuard, lock_folder};
pub use open_files::allow_open_files;
pub(crate) use read_only::ReadOnly;
pub use real::RealDisk;

use std::ffi::OsString;
use std::io;
use std::path::Path;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// It is there; to read.
    Read,
    /// It is there; to read and write.
    Write,
    /// It must not be there yet.
    CreateNew,
    /// Made or emptied.
    Truncate,
}

/// A place with files.
pub trait Disk: Send + Sync + 'static {
    /// Makes a folder and its parents, for the owner only; fine if it is there.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;
    /// Names of the files in a folder (not of folders), sorted.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
    /// Opens a file.
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>>;
    /// Gives a file a new name, replacing what has that name. Durable after `sync_folder`.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file. Durable after `sync_folder`.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a folder durable. Nothing to do on Windows.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    /// Bytes of a file, `None` if there is no such file.
    fn len(&self, path: &Path) -> io::Result<Option<u64>>;

    /// The whole file, which must not be larger than `limit_bytes`.
    fn read(&self, path: &Path, limit_bytes: u64) -> io::Result<Vec<u8>> {
        let file = self.open(path, OpenMode::Read)?;
        let length = file.len()?;
        if length > limit_bytes {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("{length} bytes, at most {limit_bytes} are read"),
            ));
        }
        let mut bytes = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        let read = read_full(file.as_ref(), &mut bytes, 0)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Replaces a file: write a new one beside it, sync it, rename it, sync the folder.
    fn durable_write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut name = path.file_name().map_or_else(OsString::new, ToOwned::to_owned);
        name.push(".new");
        let beside = path.with_file_name(name);
        let file = self.open(&beside, OpenMode::Truncate)?;
        file.write_all_at(bytes, 0)?;
        file.sync_data()?;
        drop(file);
        self.rename(&beside, path)?;
        // Without this a power cut can lose the new name and with it the new content.
        match path.parent() {
            Some(folder) => self.sync_folder(folder),
            None => Ok(()),
        }
    }
}

/// An open file. Positions are explicit: there is no shared file pointer.
#[expect(clippy::len_without_is_empty, reason = "a file's length is a question to the system")]
pub trait DiskFile: Send + Sync {
    /// Writes all bytes at a position, growing the file if needed.
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()>;
    /// Reads what is there, up to the length of `into`; 0 at the end.
    fn read_at(&self, into: &mut [u8], position: u64) -> io::Result<usize>;
    /// Makes content and length durable.
    fn sync_data(&self) -> io::Result<()>;
    /// Bytes of the file.
    fn len(&self) -> io::Result<u64>;
    /// Cuts or grows the file (with zeros).
    fn set_len(&self, length: u64) -> io::Result<()>;
}

/// Reads until `into` is full or the file ends; answers how much was read.
///
/// # Errors
/// What the system says.
pub fn read_full(file: &dyn DiskFile, into: &mut [u8], position: u64) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = into.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, position + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
