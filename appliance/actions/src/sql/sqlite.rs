//! SQLite files in the allowed folder.
//!
//! Each call opens the file, runs one statement (or one for each list of parameters, in one
//! transaction) on a thread for blocking work, and closes it: a file that was replaced meanwhile
//! is seen at once. Integers, floats and text pass as they are, blobs as hexadecimal text; true and
//! false are bound as 1 and 0, lists and objects as JSON.
//!
//! **Invariants**: nothing outside the folder is opened: no symbolic links, no `ATTACH`, no
//! `VACUUM INTO`, no settings of the library; a call ends in its time or when it is given up;
//! [`SQLITE_CALLS_MAX`] at once.

use super::{Rows, Task, affected, bytes_of};
use crate::budget::Held;
use crate::file::place::Place;
use crate::limits::{COLUMNS_MAX, SQLITE_BUSY, SQLITE_CALLS_MAX};
use millrace_engine::step::StepFault;
use millrace_flow::{Data, Map};
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Batch, Connection, ErrorCode, OpenFlags, Statement};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// Steps of SQLite's machine between two looks at the clock.
const PROGRESS_STEPS: i32 = 5_000;
/// Bytes of one value, and of one row.
const VALUE_BYTES_MAX: i32 = 16 << 20;

/// All calls to SQLite files.
#[derive(Debug)]
pub(crate) struct Sqlite {
    calls: Arc<Semaphore>,
}

/// Tells the thread that nobody waits for it any longer.
struct Leash(Arc<AtomicBool>);

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Sqlite {
    pub(crate) fn new() -> Self {
        Self { calls: Arc::new(Semaphore::new(SQLITE_CALLS_MAX)) }
    }

    /// Executes a statement in a file.
    pub(crate) async fn run(
        &self,
        place: Place,
        sql: Arc<str>,
        task: Task,
        until: Instant,
        mut held: Held,
    ) -> Result<Data, StepFault> {
        let stopping = |_| StepFault::passing("limit", "the box is stopping");
        let call = Arc::clone(&self.calls).acquire_owned().await.map_err(stopping)?;
        let given_up = Arc::new(AtomicBool::new(false));
        let leash = Leash(Arc::clone(&given_up));
        let done = tokio::task::spawn_blocking(move || {
            let result = execute(&place, &sql, &task, until, &given_up, &mut held);
            drop(call);
            result
        });
        let result = done.await.map_err(|error| StepFault::passing("answer", error.to_string()))?;
        drop(leash);
        result
    }
}

fn execute(
    place: &Place,
    sql: &str,
    task: &Task,
    until: Instant,
    given_up: &Arc<AtomicBool>,
    held: &mut Held,
) -> Result<Data, StepFault> {
    let is_query = matches!(task, Task::Query { .. });
    let mut connection = open(place, is_query)?;
    let stop = Arc::clone(given_up);
    connection
        .progress_handler(
            PROGRESS_STEPS,
            Some(move || stop.load(Ordering::Relaxed) || Instant::now() >= until),
        )
        .map_err(|error| fault_of(&error))?;
    match task {
        Task::Query { parameters, rows_max } => {
            held.grow(parameters.iter().map(bytes_of).sum())?;
            let mut statement = only_statement(&connection, sql)?;
            bind(&mut statement, parameters)?;
            query(&mut statement, *rows_max, held)
        }
        Task::Execute { lists } => {
            let transaction = connection.transaction().map_err(|error| fault_of(&error))?;
            let mut count = 0_u64;
            {
                let mut statement = only_statement(&transaction, sql)?;
                for list in lists {
                    bind(&mut statement, list)?;
                    count += change(&transaction, &mut statement)?;
                }
            }
            transaction.commit().map_err(|error| fault_of(&error))?;
            Ok(affected(count))
        }
    }
}

fn open(place: &Place, is_query: bool) -> Result<Connection, StepFault> {
    let path = place.checked()?;
    let mode = match is_query {
        true => OpenFlags::SQLITE_OPEN_READ_ONLY,
        false => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
    };
    let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let open = || -> rusqlite::Result<Connection> {
        let mut connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(SQLITE_BUSY)?;
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
        connection.authorizer(Some(authorize))?;
        Ok(connection)
    };
    open().map_err(|error| fault_of(&error))
}

/// What a statement may do: everything with the tables of its own file.
fn authorize(context: AuthContext<'_>) -> Authorization {
    const READABLE: [&str; 12] = [
        "application_id",
        "foreign_key_list",
        "foreign_keys",
        "index_info",
        "index_list",
        "index_xinfo",
        "integrity_check",
        "quick_check",
        "table_info",
        "table_list",
        "table_xinfo",
        "user_version",
    ];
    const SETTABLE: [&str; 3] = ["application_id", "foreign_keys", "user_version"];
    let is_allowed = match context.action {
        AuthAction::Attach { .. } | AuthAction::Detach { .. } | AuthAction::Unknown { .. } => false,
        AuthAction::Pragma { pragma_name, pragma_value } => {
            let name = pragma_name.to_ascii_lowercase();
            // Some take the name of a table or index as their value.
            let is_about =
                name.ends_with("_list") || name.contains("info") || name.ends_with("check");
            READABLE.contains(&name.as_str())
                && (pragma_value.is_none() || is_about || SETTABLE.contains(&name.as_str()))
        }
        AuthAction::Function { function_name } => {
            !function_name.eq_ignore_ascii_case("load_extension")
        }
        _ => true,
    };
    if is_allowed { Authorization::Allow } else { Authorization::Deny }
}

fn only_statement<'c>(connection: &'c Connection, sql: &str) -> Result<Statement<'c>, StepFault> {
    let bad = |what: &str| StepFault::lasting("bad_input", what.to_owned());
    let mut batch = Batch::new(connection, sql);
    let first = batch.next().map_err(|error| fault_of(&error))?;
    let first = first.ok_or_else(|| bad("the field `sql` holds no statement"))?;
    match batch.next() {
        Ok(None) => Ok(first),
        _ => Err(bad("the field `sql` holds more than one statement")),
    }
}

fn bind(statement: &mut Statement<'_>, parameters: &[Data]) -> Result<(), StepFault> {
    let bad = |what: String| StepFault::lasting("bad_input", what);
    let mut highest = 0;
    for index in 1..=statement.parameter_count() {
        // `$2` and `?2` mean the second value wherever they stand; `?` the next one.
        let number = match statement.parameter_name(index) {
            None => index,
            Some(name) => name
                .strip_prefix(['$', '?'])
                .and_then(|digits| digits.parse().ok())
                .filter(|number| *number > 0)
                .ok_or_else(|| {
                    bad(format!("the parameter {name} has no number: write $1, $2, ..."))
                })?,
        };
        highest = highest.max(number);
        let data = parameters.get(number - 1).ok_or_else(|| {
            bad(format!("the statement has a parameter ${number}, {} are given", parameters.len()))
        })?;
        let value = value_of(data).map_err(|what| bad(format!("parameter ${number}: {what}")))?;
        statement
            .raw_bind_parameter(index, ToSqlOutput::Owned(value))
            .map_err(|error| fault_of(&error))?;
    }
    if highest < parameters.len() {
        let given = parameters.len();
        return Err(bad(format!("the statement has {highest} parameters, {given} are given")));
    }
    Ok(())
}

fn value_of(data: &Data) -> Result<Value, String> {
    Ok(match data {
        Data::Missing | Data::Null => Value::Null,
        Data::Bool(flag) => Value::Integer(i64::from(*flag)),
        Data::Int(int) => Value::Integer(*int),
        Data::UInt(uint) => return Err(format!("{uint} is larger than SQLite's integers")),
        Data::Float(float) if float.is_nan() => return Err("NaN cannot be stored".to_owned()),
        Data::Float(float) => Value::Real(*float),
        Data::Text(text) => Value::Text(text.to_string()),
        Data::List(_) | Data::Map(_) => Value::Text(data.to_json_text()),
    })
}

fn query(
    statement: &mut Statement<'_>,
    rows_max: usize,
    held: &mut Held,
) -> Result<Data, StepFault> {
    if !statement.readonly() {
        let message = "a query cannot change anything; use `sql.execute`";
        return Err(StepFault::lasting("bad_input", message));
    }
    let names: Vec<Arc<str>> = statement.column_names().map(Into::into).collect();
    if names.len() > COLUMNS_MAX {
        let message = format!("the statement gives more than {COLUMNS_MAX} columns");
        return Err(StepFault::lasting("limit", message));
    }
    let mut rows = Rows::new(rows_max);
    let mut cursor = statement.raw_query();
    while let Some(row) = cursor.next().map_err(|error| fault_of(&error))? {
        if !rows.wants() {
            break;
        }
        let mut map = Map::new();
        let mut bytes = 0;
        for (place, name) in names.iter().enumerate() {
            let value = row.get_ref(place).map_err(|error| fault_of(&error))?;
            let (data, size) = data_of(value);
            bytes += name.len() + size;
            map.set(Arc::clone(name), data);
        }
        held.grow(bytes)?;
        rows.add(map, bytes)?;
    }
    Ok(rows.into_data())
}

fn data_of(value: ValueRef<'_>) -> (Data, usize) {
    match value {
        ValueRef::Null => (Data::Null, 16),
        ValueRef::Integer(int) => (Data::Int(int), 16),
        ValueRef::Real(float) => (Data::Float(float), 16),
        ValueRef::Text(text) => (Data::Text(String::from_utf8_lossy(text).into()), 16 + text.len()),
        ValueRef::Blob(blob) => {
            let hex: String = blob.iter().map(|byte| format!("{byte:02x}")).collect();
            (Data::Text(hex.into()), 16 + 2 * blob.len())
        }
    }
}

/// Executes to the end, rows of a `RETURNING` included; how many rows were changed.
fn change(connection: &Connection, statement: &mut Statement<'_>) -> Result<u64, StepFault> {
    let before = connection.total_changes();
    let mut rows = statement.raw_query();
    while rows.next().map_err(|error| fault_of(&error))?.is_some() {}
    Ok(connection.total_changes().saturating_sub(before))
}

/// What went wrong, and whether it may pass.
fn fault_of(error: &rusqlite::Error) -> StepFault {
    let message = format!("the SQLite file answers: {error}");
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StepFault::passing("answer", message)
        }
        Some(ErrorCode::OperationInterrupted) => {
            StepFault::passing("timeout", "the statement took longer than its time")
        }
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => {
            StepFault::passing("unreachable", message)
        }
        Some(ErrorCode::AuthorizationForStatementDenied) => StepFault::lasting(
            "refused",
            "the statement would reach beyond its own file (ATTACH, a PRAGMA, VACUUM INTO): not allowed",
        ),
        _ => StepFault::lasting("answer", message),
    }
}
