//! The audit trail: appended by seq, read newest first, trimmed to its limit.
//!
//! It is the one part that only the file holds; a rebuilt catalog has the entries that are still
//! in the journal.
//!
//! **Invariants**: an entry that is written twice is there once (its seq is its key); at most
//! [`AUDIT_ROWS_MAX`] and a thousand are kept, the oldest go first.

use crate::store::{StoreError, write::number};
use millrace_journal::Seq;
use millrace_model::{AuditEntry, Timestamp};
use rusqlite::{Connection, OpenFlags, params};
use std::path::Path;

/// Entries that are kept.
pub const AUDIT_ROWS_MAX: usize = 200_000;
/// Entries between two trimmings: walking to the limit costs about a millisecond.
const TRIM_EVERY: usize = 1_000;

/// An entry and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditLine {
    /// The seq of its record: what `before` of the next page takes.
    pub seq: Seq,
    /// The entry.
    pub entry: AuditEntry,
}

pub(super) fn write(db: &Connection, seq: Seq, entry: &AuditEntry) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO audit (seq, at_ns, who, action, subject, from_address)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let (at, who, action, subject) = (entry.at.0, &entry.who, &entry.action, &entry.subject);
    let row = params![number(seq.0), at, who, action, subject, entry.from];
    db.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

/// Trims when so many entries were added since; how many are since the last trimming then.
pub(super) fn trim_if_due(
    db: &Connection,
    added: usize,
    rows_max: usize,
) -> Result<usize, StoreError> {
    if added < TRIM_EVERY {
        return Ok(added);
    }
    let sql = "DELETE FROM audit WHERE seq <=
               (SELECT seq FROM audit ORDER BY seq DESC LIMIT 1 OFFSET ?1)";
    db.execute(sql, [number(rows_max as u64)])?;
    Ok(0)
}

/// Entries before a seq, newest first.
pub(crate) fn read(
    path: &Path,
    before: Option<Seq>,
    limit: usize,
) -> Result<Vec<AuditLine>, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(super::BUSY_WAIT)?;
    let sql = "SELECT seq, at_ns, who, action, subject, from_address FROM audit
               WHERE seq < ?1 ORDER BY seq DESC LIMIT ?2";
    let mut statement = db.prepare(sql)?;
    let before = number(before.map_or(u64::MAX, |seq| seq.0));
    let rows = statement.query_map([before, number(limit as u64)], |row| {
        Ok(AuditLine {
            seq: Seq(u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0)),
            entry: AuditEntry {
                at: Timestamp(row.get(1)?),
                who: row.get(2)?,
                action: row.get(3)?,
                subject: row.get(4)?,
                from: row.get(5)?,
            },
        })
    })?;
    rows.collect::<Result<_, _>>().map_err(StoreError::from)
}
