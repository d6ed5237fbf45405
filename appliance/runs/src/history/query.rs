//! Reading the history: newest first, page by page; one run with its trace; counts.
//!
//! Each question opens a connection of its own beside the writer and sees one state of the file.
//! Chunks are walked from the newest; their heads (statuses, times, pipelines) tell which need not
//! be unpacked at all. The two tables are merged by the runs' numbers.
//!
//! **Invariants**: a question unpacks at most [`CHUNKS_MAX`] chunks a table and then answers with what it
//! has and where to go on; a damaged chunk is passed over and reported, never an error.

use crate::file::StoreError;
use crate::history::chunk::{self, Row, RowHead, Unpacked, names_pipeline, status_bit, unpack};
use crate::history::store::{NOTABLE, QUIET, hour_of, signed, trace_id};
use crate::history::tally::{self, ByPipeline};
use crate::run::{Run, Status};
use millrace_model::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, Rows, params};

/// Chunks of each table unpacked for one page: about half a second's work.
pub(crate) const CHUNKS_MAX: usize = 1_000;
/// Runs of one page at most.
pub(crate) const PAGE_MAX: usize = 1_000;

/// Which runs are asked for; nothing named is everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// Of this workspace.
    pub workspace: Option<u16>,
    /// Of this pipeline.
    pub pipeline: Option<u32>,
    /// With one of these statuses; with any if there are none.
    pub statuses: Vec<Status>,
    /// Started by this trigger step.
    pub trigger: Option<String>,
    /// Begun at this time or later.
    pub from: Option<Timestamp>,
    /// Begun before this time.
    pub to: Option<Timestamp>,
    /// Behind this number: where the page before ended.
    pub before: Option<u64>,
    /// Most runs; at most 1,000, and 100 if it is 0.
    pub limit: usize,
}

/// A run, and its number in the history: the later it ended, the higher.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// Its number.
    pub number: u64,
    /// The run; with its trace only where one run was asked for.
    pub run: Run,
}

/// Some runs, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// They.
    pub runs: Vec<Kept>,
    /// What to give as `before` for the next page; none at the end. There may be a next page
    /// though this one is not full: much had to be looked through.
    pub next: Option<u64>,
    /// Chunks that are damaged and were passed over.
    pub damaged: u64,
}

const HEAD: &str = "SELECT id, last, started_min_ns, started_max_ns, seq_min, seq_max, statuses,
                           pipelines, rows";

/// One page.
pub(crate) fn list(connection: &Connection, query: &Query) -> Result<Page, StoreError> {
    let limit = if query.limit == 0 { 100 } else { query.limit.min(PAGE_MAX) };
    let wanted = Wanted { query, seq: None };
    walk(connection, &wanted, limit, CHUNKS_MAX)
}

/// The newest run of this id, with its trace.
pub(crate) fn find(
    connection: &Connection,
    pipeline: u32,
    seq: u64,
) -> Result<Option<Kept>, StoreError> {
    let query = Query { pipeline: Some(pipeline), ..Query::default() };
    let page = walk(connection, &Wanted { query: &query, seq: Some(seq) }, 1, usize::MAX)?;
    let Some(kept) = page.runs.into_iter().next() else { return Ok(None) };
    with_trace(connection, kept).map(Some)
}

/// Counts of the hours from and to, both included.
pub(crate) fn counts(
    connection: &Connection,
    from: Timestamp,
    to: Timestamp,
) -> Result<ByPipeline, StoreError> {
    let mut select = connection.prepare("SELECT body FROM hours WHERE hour >= ? AND hour <= ?")?;
    let mut rows = select.query(params![hour_of(from), hour_of(to)])?;
    let mut sum = ByPipeline::new();
    while let Some(row) = rows.next()? {
        let body = row.get_ref(0)?.as_blob().unwrap_or_default();
        if let Some(counts) = tally::decode(body) {
            tally::merge(&mut sum, &counts);
        }
    }
    Ok(sum)
}

struct Wanted<'a> {
    query: &'a Query,
    seq: Option<u64>,
}

impl Wanted<'_> {
    fn statuses(&self) -> u32 {
        if self.query.statuses.is_empty() {
            return u32::MAX;
        }
        self.query.statuses.iter().fold(0, |bits, status| bits | status_bit(*status))
    }

    /// Whether a chunk may hold any, by its head.
    fn may_hold(&self, head: &SqlRow<'_>) -> rusqlite::Result<bool> {
        let query = self.query;
        let (started_min, started_max): (i64, i64) = (head.get(2)?, head.get(3)?);
        let is_in_time = query.from.is_none_or(|from| started_max >= from.0)
            && query.to.is_none_or(|to| started_min < to.0);
        let (seq_min, seq_max): (i64, i64) = (head.get(4)?, head.get(5)?);
        let is_in_seq = self.seq.is_none_or(|seq| (seq_min..=seq_max).contains(&signed(seq)));
        let statuses: u32 = head.get(6)?;
        if !(is_in_time && is_in_seq && statuses & self.statuses() != 0) {
            return Ok(false);
        }
        Ok(match query.pipeline {
            None => true,
            Some(pipeline) => {
                names_pipeline(head.get_ref(7)?.as_blob().unwrap_or_default(), pipeline)
            }
        })
    }

    fn is(&self, run: &RowHead<'_>) -> bool {
        let query = self.query;
        query.before.is_none_or(|before| run.number < before)
            && query.workspace.is_none_or(|workspace| run.workspace == workspace)
            && query.pipeline.is_none_or(|pipeline| run.pipeline == pipeline)
            && self.seq.is_none_or(|seq| run.seq == seq)
            && status_bit(run.status) & self.statuses() != 0
            && query.trigger.as_deref().is_none_or(|trigger| run.trigger == trigger)
            && query.from.is_none_or(|from| run.started >= from)
            && query.to.is_none_or(|to| run.started < to)
    }
}

fn walk(
    connection: &Connection,
    wanted: &Wanted<'_>,
    limit: usize,
    chunks_max: usize,
) -> Result<Page, StoreError> {
    // Both tables as they are at one moment.
    let snapshot = connection.unchecked_transaction()?;
    let before = wanted.query.before.map_or(i64::MAX, signed);
    let select = |table| format!("{HEAD} FROM {table} WHERE id < ? ORDER BY id DESC");
    let mut quiet = snapshot.prepare(&select(QUIET))?;
    let mut notable = snapshot.prepare(&select(NOTABLE))?;
    // Each table has a budget of its own, so that every page moves on in both.
    let mut quiet = Walk::new(quiet.query([before])?, chunks_max);
    let mut notable = Walk::new(notable.query([before])?, chunks_max);
    let mut page = Page::default();
    loop {
        let left = quiet.head(wanted)?;
        let right = notable.head(wanted)?;
        let (walk, head) = if left.position() >= right.position() {
            (&mut quiet, left)
        } else {
            (&mut notable, right)
        };
        match head {
            Head::End => break,
            Head::TooFar(number) => {
                page.next = Some(number);
                break;
            }
            Head::Row(_) if page.runs.len() >= limit => {
                page.next = page.runs.last().map(|kept| kept.number);
                break;
            }
            Head::Row(_) => page.runs.extend(walk.take()),
        }
    }
    page.damaged = quiet.damaged + notable.damaged;
    Ok(page)
}

/// What comes next in a table.
#[derive(Clone, Copy)]
enum Head {
    /// A run of this number.
    Row(u64),
    /// The budget is used up; below this number nothing was looked at.
    TooFar(u64),
    End,
}

impl Head {
    fn position(self) -> u64 {
        match self {
            Self::Row(number) | Self::TooFar(number) => number,
            Self::End => 0,
        }
    }
}

struct Walk<'a> {
    rows: Option<Rows<'a>>,
    /// Runs of the last chunk that are still to be given, the newest at the end.
    found: Vec<Row>,
    /// First number of the last chunk.
    reached: u64,
    /// Chunks that may still be unpacked.
    budget: usize,
    damaged: u64,
}

impl<'a> Walk<'a> {
    fn new(rows: Rows<'a>, budget: usize) -> Self {
        Self { rows: Some(rows), found: Vec::new(), reached: u64::MAX, budget, damaged: 0 }
    }

    fn head(&mut self, wanted: &Wanted<'_>) -> Result<Head, StoreError> {
        loop {
            if let Some(row) = self.found.last() {
                return Ok(Head::Row(row.number));
            }
            let Some(rows) = &mut self.rows else { return Ok(Head::End) };
            if self.budget == 0 {
                return Ok(Head::TooFar(self.reached));
            }
            let Some(head) = rows.next()? else {
                self.rows = None;
                return Ok(Head::End);
            };
            self.reached = u64::try_from(head.get::<_, i64>(0)?).unwrap_or(0);
            if !wanted.may_hold(head)? {
                continue;
            }
            self.budget -= 1;
            let body = head.get_ref(8)?.as_blob().unwrap_or_default();
            match unpack(body, |row| wanted.is(row)) {
                Some(unpacked) => self.found = unpacked.rows,
                None => self.damaged += 1,
            }
        }
    }

    fn take(&mut self) -> Option<Kept> {
        self.found.pop().map(|row| Kept { number: row.number, run: row.run })
    }
}

/// Reads the trace of a run that was found.
fn with_trace(connection: &Connection, mut kept: Kept) -> Result<Kept, StoreError> {
    for table in [QUIET, NOTABLE] {
        let sql = format!("SELECT id, rows FROM {table} WHERE id <= ? ORDER BY id DESC LIMIT 1");
        let found: Option<(i64, Vec<u8>)> = connection
            .query_row(&sql, [signed(kept.number)], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((chunk, body)) = found else { continue };
        let Some(unpacked) = unpack(&body, |row| row.number == kept.number) else { continue };
        let Unpacked { words, rows } = unpacked;
        let Some(row) = rows.into_iter().next() else { continue };
        let Some(place) = row.trace else { break };
        let chunk = u64::try_from(chunk).unwrap_or(0);
        kept.run.trace = trace(connection, table, chunk, place, &words)?.map(Box::new);
        break;
    }
    Ok(kept)
}

fn trace(
    connection: &Connection,
    table: &str,
    chunk: u64,
    place: chunk::TracePlace,
    words: &[&str],
) -> Result<Option<crate::run::Trace>, StoreError> {
    let sql = format!("SELECT body FROM {table}_traces WHERE id = ?");
    let id = trace_id(chunk, place.part);
    let body: Option<Vec<u8>> = connection.query_row(&sql, [id], |row| row.get(0)).optional()?;
    Ok(body.and_then(|body| chunk::read_trace(&body, place, words)))
}
