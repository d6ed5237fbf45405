//! `sql.query` and `sql.execute`: PostgreSQL over the network, SQLite files in the allowed folder.
//!
//! **Invariants**: the statement is the document's own, values are bound as parameters; rows are
//! bounded in number and bytes; a query cannot change anything (it runs read-only).

mod decimal;
mod postgres;
mod postgres_value;
mod sqlite;
pub(crate) mod step;
mod time;

#[cfg(test)]
mod tests;

pub(crate) use postgres::Postgres;
pub(crate) use sqlite::Sqlite;

use millrace_engine::step::StepFault;
use millrace_flow::{Data, Map};
use std::sync::Arc;

/// What a statement is to do.
#[derive(Debug)]
pub(crate) enum Task {
    /// Read at most so many rows.
    Query { parameters: Vec<Data>, rows_max: usize },
    /// Change something, once per list, all or nothing.
    Execute { lists: Vec<Vec<Data>> },
}

/// Rows as they are read, bounded.
#[derive(Debug)]
pub(crate) struct Rows {
    rows: Vec<Data>,
    bytes: usize,
    rows_max: usize,
    is_cut: bool,
}

impl Rows {
    fn new(rows_max: usize) -> Self {
        Self { rows: Vec::new(), bytes: 0, rows_max, is_cut: false }
    }

    /// Whether another row is wanted; if not, the result is cut.
    fn wants(&mut self) -> bool {
        self.is_cut = self.rows.len() >= self.rows_max;
        !self.is_cut
    }

    fn add(&mut self, row: Map, bytes: usize) -> Result<(), StepFault> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > crate::limits::ROWS_BYTES_MAX {
            let most = crate::limits::ROWS_BYTES_MAX >> 20;
            let message = format!("the rows hold more than {most} MiB; ask for fewer or smaller");
            return Err(StepFault::lasting("limit", message));
        }
        self.rows.push(Data::Map(Arc::new(row)));
        Ok(())
    }

    /// `{ rows, is_cut }`.
    fn into_data(self) -> Data {
        let mut map = Map::new();
        map.set("rows", Data::List(self.rows.into()));
        map.set("is_cut", Data::Bool(self.is_cut));
        Data::Map(Arc::new(map))
    }
}

/// `{ affected }`.
fn affected(count: u64) -> Data {
    let mut map = Map::new();
    map.set("affected", i64::try_from(count).map_or(Data::UInt(count), Data::Int));
    Data::Map(Arc::new(map))
}

/// Bytes of a parameter, for the budget.
fn bytes_of(data: &Data) -> usize {
    match data {
        Data::Text(text) => text.len(),
        Data::List(items) => items.iter().map(bytes_of).sum(),
        Data::Map(map) => map.iter().map(|(name, data)| name.len() + bytes_of(data)).sum(),
        _ => 8,
    }
}
