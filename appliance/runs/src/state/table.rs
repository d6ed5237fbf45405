//! The state's SQLite file: entries by their scope, each with a checksum, and the seq.
//!
//! **Invariants**: the sum of bytes that is held beside the file is that of the file's rows.

use crate::file::{self, Files, Layout, StoreError, open_to_read};
use crate::state::{Change, ENTRY_BYTES_MAX, Entry, Refused, Scope};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::collections::BTreeSet;
use std::path::Path;

const LAYOUT: Layout = Layout {
    page_bytes: 16 * 1024,
    synchronous: "full",
    checkpoint_pages: 256,
    // A pipeline of -1 is the workspace's own: its variables; `step` is empty then.
    tables: "
    CREATE TABLE entries (
        workspace INTEGER NOT NULL,
        pipeline INTEGER NOT NULL,
        step TEXT NOT NULL,
        name TEXT NOT NULL,
        json TEXT NOT NULL,
        checksum INTEGER NOT NULL,
        PRIMARY KEY (pipeline, workspace, step, name)
    ) WITHOUT ROWID;
    CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    ",
};
const NO_PIPELINE: i64 = -1;

/// Whose row it is, for a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) pipeline: Option<u32>,
    pub(crate) name: String,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) entries: Vec<Entry>,
    pub(crate) through: u64,
    /// Rows that did not read back as written.
    pub(crate) bad: Vec<Row>,
}

/// The open file.
#[derive(Debug)]
pub(crate) struct Table {
    connection: Connection,
    bytes: u64,
}

impl Table {
    pub(crate) fn open(path: &Path, files: &dyn Files) -> Result<Self, StoreError> {
        let connection = file::open(path, files, &LAYOUT)?;
        file::check(&connection)?;
        // Bytes, not characters.
        let sql = "SELECT coalesce(sum(octet_length(step) + octet_length(name)
                                       + octet_length(json)), 0) FROM entries";
        let bytes: i64 = connection.query_row(sql, [], |row| row.get(0))?;
        Ok(Self { connection, bytes: u64::try_from(bytes).unwrap_or(0) })
    }

    pub(crate) fn load(&self) -> Result<Rows, StoreError> {
        let sql = "SELECT value FROM meta WHERE name = 'through'";
        let through: Option<i64> =
            self.connection.query_row(sql, [], |row| row.get(0)).optional()?;
        let through = u64::try_from(through.unwrap_or(0))
            .map_err(|_| StoreError::Damaged("its seq is negative".to_owned()))?;
        let mut rows = Rows { through, ..Rows::default() };
        let sql = "SELECT workspace, pipeline, step, name, json, checksum FROM entries";
        let mut select = self.connection.prepare(sql)?;
        let mut found = select.query([])?;
        while let Some(row) = found.next()? {
            let (workspace, pipeline): (i64, i64) = (row.get(0)?, row.get(1)?);
            // Text that is not UTF-8 is damage to this row alone.
            let text = |column| row.get::<_, String>(column).unwrap_or_default();
            let (step, name, json) = (text(2), text(3), text(4));
            let is_right = row.get::<_, i64>(5)? == checksum(&step, &name, &json);
            let scope = match (u16::try_from(workspace), u32::try_from(pipeline)) {
                (_, Ok(pipeline)) => Some(Scope::Step { pipeline, step, key: name.clone() }),
                (Ok(workspace), Err(_)) => Some(Scope::Variable { workspace, name: name.clone() }),
                _ => None,
            };
            match scope.filter(|_| is_right) {
                Some(scope) => rows.entries.push(Entry { scope, json }),
                None => rows.bad.push(Row { pipeline: u32::try_from(pipeline).ok(), name }),
            }
        }
        Ok(rows)
    }

    /// Stores changes and the seq in one transaction; what was refused for its size.
    pub(crate) fn store(
        &mut self,
        changes: &[Change],
        through: u64,
        total_bytes_max: u64,
    ) -> Result<Vec<Refused>, StoreError> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut bytes = self.bytes;
        let mut refused = Vec::new();
        for change in changes {
            match apply(&transaction, change, bytes, total_bytes_max)? {
                Ok(sum) => bytes = sum,
                Err(over) => refused.push(over),
            }
        }
        let sql = "INSERT INTO meta VALUES ('through', ?)
                   ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)";
        let through = i64::try_from(through).unwrap_or(i64::MAX);
        transaction.prepare_cached(sql)?.execute([through])?;
        transaction.commit()?;
        self.bytes = bytes;
        Ok(refused)
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Applies one change; the sum of bytes behind it, or why it was refused.
fn apply(
    transaction: &Transaction<'_>,
    change: &Change,
    sum: u64,
    total_bytes_max: u64,
) -> Result<Result<u64, Refused>, StoreError> {
    let (workspace, pipeline, step, name) = columns(&change.scope);
    let key = params![pipeline, workspace, step, name];
    let is_row = "WHERE pipeline = ? AND workspace = ? AND step = ? AND name = ?";
    let sql = format!("SELECT octet_length(json) FROM entries {is_row}");
    let before: Option<i64> =
        transaction.prepare_cached(&sql)?.query_row(key, |row| row.get(0)).optional()?;
    let names = change.scope.len_bytes() as u64;
    let freed = before.map_or(0, |length| u64::try_from(length).unwrap_or(0) + names);
    let rest = sum.saturating_sub(freed);
    let Some(json) = &change.json else {
        let sql = format!("DELETE FROM entries {is_row}");
        transaction.prepare_cached(&sql)?.execute(key)?;
        return Ok(Ok(rest));
    };
    let needed = json.len() as u64 + names;
    let over = |limit_bytes, bytes| Refused { scope: change.scope.clone(), limit_bytes, bytes };
    if json.len() > ENTRY_BYTES_MAX {
        return Ok(Err(over(ENTRY_BYTES_MAX as u64, json.len() as u64)));
    }
    // One that shrinks always fits.
    if needed > freed && rest.saturating_add(needed) > total_bytes_max {
        return Ok(Err(over(total_bytes_max, rest.saturating_add(needed))));
    }
    let sql = "INSERT OR REPLACE INTO entries (workspace, pipeline, step, name, json, checksum)
               VALUES (?, ?, ?, ?, ?, ?)";
    let checksum = checksum(step, name, json);
    let row = params![workspace, pipeline, step, name, json, checksum];
    transaction.prepare_cached(sql)?.execute(row)?;
    Ok(Ok(rest + needed))
}

fn columns(scope: &Scope) -> (i64, i64, &str, &str) {
    match scope {
        Scope::Step { pipeline, step, key } => (0, i64::from(*pipeline), step, key),
        Scope::Variable { workspace, name } => (i64::from(*workspace), NO_PIPELINE, "", name),
    }
}

fn checksum(step: &str, name: &str, json: &str) -> i64 {
    let sum = crc32c::crc32c(step.as_bytes());
    let sum = crc32c::crc32c_append(sum, name.as_bytes());
    i64::from(crc32c::crc32c_append(sum, json.as_bytes()))
}

/// The pipelines that a damaged file still names.
pub(crate) fn pipelines_of(path: &Path) -> BTreeSet<u32> {
    let mut known = BTreeSet::new();
    // As far as it can be read: the first error ends it.
    let _ends = read_pipelines(path, &mut known).is_err();
    known
}

fn read_pipelines(path: &Path, known: &mut BTreeSet<u32>) -> Result<(), StoreError> {
    let Some(connection) = open_to_read(path)? else { return Ok(()) };
    for order in ["ASC", "DESC"] {
        let sql = format!("SELECT pipeline FROM entries ORDER BY pipeline {order}");
        let mut select = connection.prepare(&sql)?;
        let mut rows = select.query([])?;
        while let Ok(Some(row)) = rows.next() {
            known.extend(row.get::<_, i64>(0).ok().and_then(|number| u32::try_from(number).ok()));
        }
    }
    Ok(())
}
