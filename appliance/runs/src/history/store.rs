//! The history's SQLite file as its thread writes it.
//!
//! A transaction a second inserts the second's runs as one row (two if some are notable), with
//! their traces in rows of about 64 KiB, and deletes the oldest rows that are over the age or the
//! byte cap. Insertion and deletion go on side by side, so freed pages are used again at once and
//! there is never a vacuum. `synchronous = NORMAL`: a power cut may take the last seconds, and the
//! file stays whole; the journal, not this file, is where runs are found again.
//!
//! Two tables of the same form: *quiet* runs (successful, skipped) and *notable* ones (everything
//! else, and what a person started). Over the byte cap the quiet ones go first until both take the
//! same, so a fleet's successes cannot push last night's failure out.
//!
//! **Invariants**: everything of one call is one transaction; at most [`DROPS_MAX`] chunks are
//! deleted in one.

use crate::file::{self, Files, Layout, StoreError};
use crate::history::chunk::{Chunk, PARTS};
use crate::history::tally::{self, ByPipeline};
use millrace_model::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::path::Path;

/// Chunks deleted in one transaction: more than are written, so a backlog shrinks.
pub(crate) const DROPS_MAX: usize = 64;
/// Measured with `benches/fleet`: at 2,000 runs/s fewer writes than with 4 KiB, fewer bytes than
/// with 64 KiB.
const PAGE_BYTES: u32 = 16 * 1024;
/// 4 MiB beside the file before they are moved into it.
const CHECKPOINT_PAGES: u32 = 256;

/// The two kinds of runs.
pub(crate) const QUIET: &str = "quiet";
pub(crate) const NOTABLE: &str = "notable";

const LAYOUT: Layout = Layout {
    page_bytes: PAGE_BYTES,
    synchronous: "normal",
    checkpoint_pages: CHECKPOINT_PAGES,
    tables: "
    CREATE TABLE quiet (
        id INTEGER PRIMARY KEY,
        last INTEGER NOT NULL,
        written_ns INTEGER NOT NULL,
        started_min_ns INTEGER NOT NULL,
        started_max_ns INTEGER NOT NULL,
        seq_min INTEGER NOT NULL,
        seq_max INTEGER NOT NULL,
        statuses INTEGER NOT NULL,
        count INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        bytes_through INTEGER NOT NULL,
        pipelines BLOB NOT NULL,
        rows BLOB NOT NULL
    );
    CREATE TABLE quiet_traces (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
    CREATE TABLE notable (
        id INTEGER PRIMARY KEY,
        last INTEGER NOT NULL,
        written_ns INTEGER NOT NULL,
        started_min_ns INTEGER NOT NULL,
        started_max_ns INTEGER NOT NULL,
        seq_min INTEGER NOT NULL,
        seq_max INTEGER NOT NULL,
        statuses INTEGER NOT NULL,
        count INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        bytes_through INTEGER NOT NULL,
        pipelines BLOB NOT NULL,
        rows BLOB NOT NULL
    );
    CREATE TABLE notable_traces (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
    CREATE TABLE hours (hour INTEGER PRIMARY KEY, body BLOB NOT NULL);
    ",
};

/// What one transaction writes.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    pub(crate) quiet: &'a [Chunk],
    pub(crate) notable: &'a [Chunk],
    /// Counts to be added to this hour.
    pub(crate) counts: Option<(i64, &'a ByPipeline)>,
    pub(crate) now: Timestamp,
    /// Chunks written before go; `None` while the clock is not to be believed.
    pub(crate) keep_from: Option<Timestamp>,
    pub(crate) bytes_max: u64,
}

/// The open file.
#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
}

impl Store {
    pub(crate) fn open(path: &Path, files: &dyn Files) -> Result<Self, StoreError> {
        let connection = file::open(path, files, &LAYOUT)?;
        Ok(Self { connection })
    }

    /// The highest number given to a run so far.
    pub(crate) fn last_number(&self) -> Result<u64, StoreError> {
        let sql = "SELECT max(coalesce((SELECT last FROM quiet ORDER BY id DESC LIMIT 1), 0),
                              coalesce((SELECT last FROM notable ORDER BY id DESC LIMIT 1), 0))";
        let last: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        u64::try_from(last).map_err(|_| StoreError::Damaged("a run's number is negative".into()))
    }

    /// Whether the whole file is in order; reads all of it.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        file::check(&self.connection)
    }

    /// Writes a group in one transaction; how many chunks were deleted for it.
    pub(crate) fn write(&mut self, group: &Group<'_>) -> Result<usize, StoreError> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // First, so that their pages serve what is inserted.
        let dropped = drop_old(&transaction, group)?;
        for (table, chunks) in [(QUIET, group.quiet), (NOTABLE, group.notable)] {
            for chunk in chunks {
                insert(&transaction, table, chunk, group.now)?;
            }
        }
        if let Some((hour, counts)) = group.counts {
            add_counts(&transaction, hour, counts)?;
        }
        transaction.commit()?;
        Ok(dropped)
    }

    /// Bytes of the file that hold something.
    pub(crate) fn used_bytes(&self) -> Result<u64, StoreError> {
        used_bytes(&self.connection)
    }

    /// Makes the file refuse to grow, as a full disk does.
    #[cfg(test)]
    pub(crate) fn limit_pages(&self, pages: u32) {
        let set = self.connection.pragma_update(None, "max_page_count", pages);
        set.expect("the pragma is known");
    }
}

fn used_bytes(connection: &Connection) -> Result<u64, StoreError> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let pages = pragma("page_count")?.saturating_sub(pragma("freelist_count")?);
    let page_bytes = pragma("page_size")?;
    Ok(u64::try_from(pages.saturating_mul(page_bytes)).unwrap_or(0))
}

fn insert(
    transaction: &Transaction<'_>,
    table: &str,
    chunk: &Chunk,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = format!("SELECT bytes_through FROM {table} ORDER BY id DESC LIMIT 1");
    let through: Option<i64> =
        transaction.prepare_cached(&sql)?.query_row([], |row| row.get(0)).optional()?;
    let bytes = signed(chunk.size_bytes());
    let sql = format!("INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    transaction.prepare_cached(&sql)?.execute(params![
        signed(chunk.first),
        signed(chunk.last),
        now.0,
        chunk.started_min,
        chunk.started_max,
        signed(chunk.seq_min),
        signed(chunk.seq_max),
        chunk.statuses,
        signed(chunk.count),
        bytes,
        through.unwrap_or(0).saturating_add(bytes),
        chunk.pipelines,
        chunk.rows,
    ])?;
    let sql = format!("INSERT INTO {table}_traces VALUES (?, ?)");
    let mut insert = transaction.prepare_cached(&sql)?;
    for (part, body) in (0..PARTS).zip(&chunk.traces) {
        insert.execute(params![trace_id(chunk.first, part), body])?;
    }
    Ok(())
}

/// The row of a chunk's trace part.
pub(crate) fn trace_id(chunk: u64, part: u64) -> i64 {
    signed(chunk.saturating_mul(PARTS).saturating_add(part))
}

fn drop_old(transaction: &Transaction<'_>, group: &Group<'_>) -> Result<usize, StoreError> {
    let mut dropped = 0;
    while dropped < DROPS_MAX {
        let quiet = Oldest::of(transaction, QUIET)?;
        let notable = Oldest::of(transaction, NOTABLE)?;
        let is_over_age =
            |oldest: &Oldest| group.keep_from.is_some_and(|from| oldest.written_ns < from.0);
        let victim = if let Some(quiet) = quiet.as_ref().filter(|oldest| is_over_age(oldest)) {
            Some((QUIET, quiet))
        } else if let Some(notable) = notable.as_ref().filter(|oldest| is_over_age(oldest)) {
            Some((NOTABLE, notable))
        } else if used_bytes(transaction)? > group.bytes_max {
            match (&quiet, &notable) {
                (Some(quiet), Some(notable)) if quiet.table_bytes < notable.table_bytes => {
                    Some((NOTABLE, notable))
                }
                (Some(quiet), _) => Some((QUIET, quiet)),
                (None, notable) => notable.as_ref().map(|notable| (NOTABLE, notable)),
            }
        } else {
            None
        };
        let Some((table, oldest)) = victim else { break };
        oldest.remove(transaction, table)?;
        dropped += 1;
    }
    if let Some(from) = group.keep_from {
        let sql = "DELETE FROM hours WHERE hour < ?";
        transaction.prepare_cached(sql)?.execute([hour_of(from)])?;
    }
    Ok(dropped)
}

/// The hour of a time, counted from 1970.
pub(crate) fn hour_of(time: Timestamp) -> i64 {
    time.0.div_euclid(3600 * millrace_model::time::NANOS_PER_SECOND)
}

struct Oldest {
    id: i64,
    written_ns: i64,
    /// Bytes of all its table's chunks.
    table_bytes: i64,
}

impl Oldest {
    fn of(transaction: &Transaction<'_>, table: &str) -> Result<Option<Self>, StoreError> {
        let sql = format!(
            "SELECT id, written_ns, bytes,
                    (SELECT bytes_through FROM {table} ORDER BY id DESC LIMIT 1) - bytes_through
             FROM {table} ORDER BY id LIMIT 1"
        );
        let mut oldest = transaction.prepare_cached(&sql)?;
        let found = oldest.query_row([], |row| {
            let (own, behind): (i64, i64) = (row.get(2)?, row.get(3)?);
            let (id, written_ns) = (row.get(0)?, row.get(1)?);
            Ok(Self { id, written_ns, table_bytes: own.saturating_add(behind) })
        });
        Ok(found.optional()?)
    }

    fn remove(&self, transaction: &Transaction<'_>, table: &str) -> Result<(), StoreError> {
        let sql = format!("DELETE FROM {table} WHERE id = ?");
        transaction.prepare_cached(&sql)?.execute([self.id])?;
        let chunk = u64::try_from(self.id).unwrap_or(0);
        let sql = format!("DELETE FROM {table}_traces WHERE id >= ? AND id < ?");
        let range = [trace_id(chunk, 0), trace_id(chunk.saturating_add(1), 0)];
        transaction.prepare_cached(&sql)?.execute(range)?;
        Ok(())
    }
}

fn add_counts(
    transaction: &Transaction<'_>,
    hour: i64,
    counts: &ByPipeline,
) -> Result<(), StoreError> {
    let mut select = transaction.prepare_cached("SELECT body FROM hours WHERE hour = ?")?;
    let body: Option<Vec<u8>> = select.query_row([hour], |row| row.get(0)).optional()?;
    // Counts that cannot be read begin anew: there is nothing better to add to.
    let mut sum = body.and_then(|body| tally::decode(&body)).unwrap_or_default();
    tally::merge(&mut sum, counts);
    let mut replace = transaction.prepare_cached("INSERT OR REPLACE INTO hours VALUES (?, ?)")?;
    replace.execute(params![hour, tally::encode(&sum)])?;
    Ok(())
}

/// Numbers in SQLite are signed; ours never come near.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
