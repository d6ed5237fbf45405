//! The SQLite files of this crate: why one cannot be used, how one is made and set aside.
//!
//! **Invariants**: a damaged file goes together with its `-wal` and `-shm`; the file itself goes
//! last, so that a stop half way is finished by the next start.

use millrace_model::Timestamp;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// How long to wait for a person who looks into the file with another program.
const BUSY_WAIT: Duration = Duration::from_millis(250);

/// What this crate asks of folders and files beside SQLite. The appliance gives its own, which
/// makes files readable by their owner only.
pub trait Files: Send + Sync {
    /// Makes a folder and those above it; one that is there is as good.
    ///
    /// # Errors
    /// What the operating system says.
    fn create_folder(&self, path: &Path) -> io::Result<()>;
    /// Makes an empty file if there is none.
    ///
    /// # Errors
    /// What the operating system says.
    fn create(&self, path: &Path) -> io::Result<()>;
    /// Gives a file another name, lastingly.
    ///
    /// # Errors
    /// What the operating system says.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
}

/// The operating system's files with its default rights: for tests and benches.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlainFiles;

impl Files for PlainFiles {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn create(&self, path: &Path) -> io::Result<()> {
        OpenOptions::new().append(true).create(true).open(path).map(drop)
    }

    #[expect(clippy::disallowed_methods, reason = "a lost rename is done again by the next start")]
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
}

/// Why a file cannot be used.
#[derive(Debug, Error)]
pub(crate) enum StoreError {
    /// Its content is not what was written.
    #[error("{0}")]
    Damaged(String),
    /// The operating system says no at the moment.
    #[error("{0}")]
    Unavailable(String),
    /// A later version of the product wrote it.
    #[error("it has format {found}, this version knows up to {known}")]
    Newer {
        /// Its format.
        found: u32,
        /// Ours.
        known: u32,
    },
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let text = error.to_string();
        match error.sqlite_error_code() {
            Some(
                ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::PermissionDenied
                | ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::OutOfMemory
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::NoLargeFileSupport,
            ) => Self::Unavailable(text),
            // Not a database, corrupt, a table that is missing, a value of another type.
            _ => Self::Damaged(text),
        }
    }
}

impl From<io::Error> for StoreError {
    fn from(error: io::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}

/// How a file is laid out and synced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// Taken when the file is made.
    pub(crate) page_bytes: u32,
    /// `normal` or `full`: whether a commit survives a power cut.
    pub(crate) synchronous: &'static str,
    /// Pages in the file beside it before they are moved.
    pub(crate) checkpoint_pages: u32,
    /// Tables of version 1.
    pub(crate) tables: &'static str,
}

const FORMAT: u32 = 1;

/// Opens or makes a file and its tables.
pub(crate) fn open(
    path: &Path,
    files: &dyn Files,
    layout: &Layout,
) -> Result<Connection, StoreError> {
    if !path.try_exists()? {
        if let Some(folder) = path.parent() {
            files.create_folder(folder)?;
        }
        files.create(path)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_WAIT)?;
    connection.pragma_update(None, "page_size", layout.page_bytes)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", layout.synchronous)?;
    connection.pragma_update(None, "wal_autocheckpoint", layout.checkpoint_pages)?;
    connection.pragma_update(None, "secure_delete", "off")?;
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if found > FORMAT {
        return Err(StoreError::Newer { found, known: FORMAT });
    }
    if found == 0 {
        let transaction = connection.transaction()?;
        transaction.execute_batch(layout.tables)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
        transaction.commit()?;
    }
    Ok(connection)
}

/// Reads the whole file and says whether it is in order.
pub(crate) fn check(connection: &Connection) -> Result<(), StoreError> {
    let verdict: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if verdict == "ok" {
        return Ok(());
    }
    // One finding a line, below a heading; the first says enough.
    let first = verdict.lines().find(|line| !line.starts_with("***")).unwrap_or_default();
    Err(StoreError::Damaged(first.to_owned()))
}

/// Opens a file for reading beside its writer; `None` if there is none yet.
pub(crate) fn open_to_read(path: &Path) -> Result<Option<Connection>, StoreError> {
    if !path.try_exists()? {
        return Ok(None);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_WAIT)?;
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    // Its writer has not come to make the tables.
    Ok((found == FORMAT).then_some(connection))
}

/// Moves a file into quarantine and gives its new name. No connection may be open.
pub(crate) fn set_aside(
    path: &Path,
    quarantine: &Path,
    files: &dyn Files,
    now: Timestamp,
) -> io::Result<PathBuf> {
    files.create_folder(quarantine)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut number = 0u32;
    let target = loop {
        let target = quarantine.join(format!("{stem}-{}-{number}.db", now.0));
        if !target.try_exists()? {
            break target;
        }
        number += 1;
    };
    for suffix in ["-wal", "-shm", ""] {
        let from = with_suffix(path, suffix);
        if from.try_exists()? {
            files.rename(&from, &with_suffix(&target, suffix))?;
        }
    }
    Ok(target)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
