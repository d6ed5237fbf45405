//! The catalog's SQLite file.
//!
//! One connection writes, in one transaction for everything that waits; the audit trail is read
//! on a connection of its own. WAL mode, and `synchronous = FULL`: the journal's cursor moves on
//! after a commit here and lets segments be recycled, so a commit must survive a power cut
//! (`NORMAL` could roll back to before the cursor). Grouping makes that a few syncs a second at
//! most, on a thread where nobody waits.
//!
//! **Invariants**: the checkpoint is written in the transaction of its data; tables have primary
//! keys only, no other constraint, so no definition can ever be refused and stop the reader.

mod audit;
mod load;
mod pipelines;
mod schema;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use audit::read as read_audit;
pub use audit::{AUDIT_ROWS_MAX, AuditLine};
pub use pipelines::{REVISIONS_MAX, RevisionLine};
pub(crate) use pipelines::{read_revision, read_revisions};

use millrace_journal::Seq;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// How long to wait for a person who looks into the file with another program.
const BUSY_WAIT: Duration = Duration::from_millis(250);

/// Why the file cannot be used.
#[derive(Debug, Error)]
pub(crate) enum StoreError {
    /// Its content is not what was written: to be moved aside and rebuilt.
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

/// Checks the file of a stopped appliance without changing it; the sentence says what is wrong.
///
/// # Errors
/// What SQLite finds.
pub fn verify(path: &Path) -> Result<(), String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let check = || -> rusqlite::Result<String> {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.pragma_query_value(None, "integrity_check", |row| row.get(0))
    };
    match check() {
        Ok(verdict) if verdict == "ok" => Ok(()),
        Ok(verdict) => Err(verdict),
        Err(error) => Err(error.to_string()),
    }
}

/// The open file.
#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
    path: PathBuf,
    /// Audit entries since the table was last trimmed.
    audit_since_trim: usize,
    audit_rows_max: usize,
}

impl Store {
    /// Opens or makes the file, checks it and brings it to this version's tables.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_WAIT)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        let verdict: String =
            connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
        if verdict != "ok" {
            return Err(StoreError::Damaged(verdict));
        }
        let (path, audit_rows_max) = (path.to_owned(), AUDIT_ROWS_MAX);
        let mut store = Self { connection, path, audit_since_trim: 0, audit_rows_max };
        schema::migrate(&mut store.connection)?;
        Ok(store)
    }

    /// Up to which record the file holds everything; `None` if it was never filled.
    pub(crate) fn checkpoint(&self) -> Result<Option<Seq>, StoreError> {
        let sql = "SELECT value FROM meta WHERE name = 'checkpoint'";
        let value: Option<i64> = self.connection.query_row(sql, [], |row| row.get(0)).optional()?;
        value
            .map(|value| u64::try_from(value).map(Seq))
            .transpose()
            .map_err(|_| StoreError::Damaged("the checkpoint is negative".to_owned()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
