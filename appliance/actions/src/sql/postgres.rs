//! PostgreSQL: connections shared by all pipelines, and statements with bound parameters.
//!
//! The server says which types the parameters have; each value is encoded as exactly that. The
//! host's addresses are judged by the dialer and the connection goes to the judged address. With
//! `tls: verify` the library must be given the name, so it resolves it again: then the server has
//! to prove by its certificate that it is the one of that name before anything else is sent.
//!
//! **Invariants**: a query runs in a read-only session; a connection whose statement did not end
//! well, or whose rows were not all read, is closed; the server ends a statement by itself soon
//! after the step's time is over.

use super::postgres_value::{Shape, decode, encode};
use super::{Rows, Task, affected, bytes_of};
use crate::budget::Held;
use crate::dial::{DialFault, Dialer, Endpoint, Tls};
use crate::limits::COLUMNS_MAX;
use crate::pooled::Pooled;
use futures_util::StreamExt;
use millrace_engine::step::StepFault;
use millrace_flow::{Data, Map};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::{
    PgArgumentBuffer, PgArguments, PgConnectOptions, PgConnection, PgRow, PgSslMode, PgStatement,
    PgTypeInfo, PgTypeKind, Postgres as Database,
};
use sqlx::{
    Arguments, AssertSqlSafe, Column, ConnectOptions, Either, Encode, Executor, Row, SqlSafeStr,
    Statement, Type, TypeInfo, ValueRef,
};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The server gets so much longer than the step: whoever is first should be the step.
const SERVER_MARGIN: Duration = Duration::from_millis(500);

/// Whether the server's certificate is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Security {
    Verify,
    Require,
    Off,
}

/// Who connects to what.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Login {
    pub(crate) endpoint: Endpoint,
    pub(crate) security: Security,
    pub(crate) database: String,
    pub(crate) user: String,
    pub(crate) password: Option<Arc<str>>,
    pub(crate) is_read_only: bool,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// All connections to PostgreSQL.
pub(crate) struct Postgres {
    dialer: Arc<Dialer>,
    pooled: Pooled<Login, Session>,
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Postgres")
    }
}

/// A connection, and statements in it.
struct Session {
    connection: PgConnection,
}

impl Postgres {
    pub(crate) fn new(dialer: Arc<Dialer>) -> Self {
        Self { dialer, pooled: Pooled::new() }
    }

    pub(crate) fn tick(&self) {
        self.pooled.tick();
    }

    /// Executes a statement.
    pub(crate) async fn run(
        &self,
        login: &Login,
        sql: &str,
        task: Task,
        until: Instant,
        held: &mut Held,
    ) -> Result<Data, StepFault> {
        let lease = self.pooled.enter(login).await?;
        let mut session = match lease.take_idle(|_| true) {
            // An idle connection may have ended meanwhile (a restart, a firewall); nothing of the
            // task was sent yet.
            Some(mut idle) => match idle.limit_time(until).await {
                Ok(()) => idle,
                Err(_) => self.open(login, until).await?,
            },
            None => self.open(login, until).await?,
        };
        let (data, is_ready) = session.run(sql, &task, held).await?;
        if is_ready {
            lease.give_back(session);
        }
        Ok(data)
    }

    async fn open(&self, login: &Login, until: Instant) -> Result<Session, StepFault> {
        let endpoint = &login.endpoint;
        let addresses = self.dialer.addresses(&endpoint.host, endpoint.port, until).await?;
        let until = until.min(Instant::now() + crate::limits::CONNECT_MAX);
        let mut last = None;
        for address in addresses {
            let options = options(login, address.ip());
            match timeout_at(until, options.connect()).await {
                Err(_) => {
                    let host = endpoint.host.to_string();
                    return Err(DialFault::Timeout { host, port: endpoint.port }.into());
                }
                Ok(Ok(mut connection)) => {
                    if login.is_read_only {
                        set(&mut connection, "SET default_transaction_read_only = on".to_owned())
                            .await?;
                    }
                    let mut session = Session { connection };
                    session.limit_time(until).await?;
                    return Ok(session);
                }
                Ok(Err(error)) => {
                    let fault = fault_of(&error);
                    if fault.code != "unreachable" {
                        return Err(fault);
                    }
                    last = Some(fault);
                }
            }
        }
        Err(last.unwrap_or_else(|| StepFault::passing("unreachable", "the host has no address")))
    }
}

fn options(login: &Login, ip: IpAddr) -> PgConnectOptions {
    let mut options = PgConnectOptions::new_without_pgpass()
        .port(login.endpoint.port)
        .username(&login.user)
        .database(&login.database)
        .application_name("millrace")
        .statement_cache_capacity(32);
    // The default host of the library may be a socket; `host` replaces it.
    options = match login.security {
        Security::Verify => options.host(&login.endpoint.host).ssl_mode(PgSslMode::VerifyFull),
        Security::Require => options.host(&ip.to_string()).ssl_mode(PgSslMode::Require),
        Security::Off => options.host(&ip.to_string()).ssl_mode(PgSslMode::Disable),
    };
    if let (Security::Verify, Tls::Own(trust)) = (login.security, &login.endpoint.tls) {
        options = options.ssl_root_cert_from_pem(trust.pem().as_bytes().to_vec());
    }
    if let Some(password) = &login.password {
        options = options.password(password);
    }
    options.disable_statement_logging()
}

async fn set(connection: &mut PgConnection, sql: String) -> Result<(), StepFault> {
    let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await;
    done.map(drop).map_err(|error| fault_of(&error))
}

impl Session {
    /// The result, and whether the connection is ready for another statement.
    async fn run(
        &mut self,
        sql: &str,
        task: &Task,
        held: &mut Held,
    ) -> Result<(Data, bool), StepFault> {
        let sql = AssertSqlSafe(sql.to_owned()).into_sql_str();
        let prepared = (&mut self.connection).prepare(sql).await;
        let statement = prepared.map_err(|error| fault_of(&error))?;
        let shapes = parameter_shapes(&statement);
        match task {
            Task::Query { parameters, rows_max } => {
                let arguments = bind(parameters, &shapes)?;
                held.grow(parameters.iter().map(bytes_of).sum())?;
                self.query(&statement, arguments, *rows_max, held).await
            }
            Task::Execute { lists } => match lists.as_slice() {
                [one] => {
                    let arguments = bind(one, &shapes)?;
                    held.grow(one.iter().map(bytes_of).sum())?;
                    Ok((affected(self.execute(&statement, arguments).await?), true))
                }
                many => self.execute_all(&statement, &shapes, many).await,
            },
        }
    }

    /// Tells the server when to give up by itself: a step that is gone cannot tell it any more.
    async fn limit_time(&mut self, until: Instant) -> Result<(), StepFault> {
        let left = until.saturating_duration_since(Instant::now()) + SERVER_MARGIN;
        set(&mut self.connection, format!("SET statement_timeout = {}", left.as_millis())).await
    }

    async fn query(
        &mut self,
        statement: &PgStatement,
        arguments: PgArguments,
        rows_max: usize,
        held: &mut Held,
    ) -> Result<(Data, bool), StepFault> {
        let mut rows = Rows::new(rows_max);
        let columns = columns(statement)?;
        let mut stream = statement.query_with(arguments).fetch(&mut self.connection);
        let mut is_ready = true;
        while let Some(row) = stream.next().await {
            let row = row.map_err(|error| fault_of(&error))?;
            if !rows.wants() {
                // What the server still sends would have to be read: closing is cheaper.
                is_ready = false;
                break;
            }
            let (map, bytes) = row_data(&row, &columns)?;
            held.grow(bytes)?;
            rows.add(map, bytes)?;
        }
        drop(stream);
        Ok((rows.into_data(), is_ready))
    }

    async fn execute(
        &mut self,
        statement: &PgStatement,
        arguments: PgArguments,
    ) -> Result<u64, StepFault> {
        let mut count = 0;
        let mut stream = self.connection.fetch_many(statement.query_with(arguments));
        while let Some(item) = stream.next().await {
            // Rows of a RETURNING are not wanted.
            if let Either::Left(done) = item.map_err(|error| fault_of(&error))? {
                count += done.rows_affected();
            }
        }
        Ok(count)
    }

    async fn execute_all(
        &mut self,
        statement: &PgStatement,
        shapes: &[Shape],
        lists: &[Vec<Data>],
    ) -> Result<(Data, bool), StepFault> {
        set(&mut self.connection, "BEGIN".to_owned()).await?;
        let mut count = 0;
        for (place, list) in lists.iter().enumerate() {
            let arguments = bind(list, shapes).map_err(|mut fault| {
                fault.message = format!("list {place} of `parameter_lists`: {}", fault.message);
                fault
            })?;
            count += self.execute(statement, arguments).await?;
        }
        // A fault above drops the connection, which rolls everything back.
        set(&mut self.connection, "COMMIT".to_owned()).await?;
        Ok((affected(count), true))
    }
}

/// One encoded parameter.
struct Bound {
    bytes: Option<Vec<u8>>,
}

impl Type<Database> for Bound {
    fn type_info() -> PgTypeInfo {
        // Not looked at: the statement is prepared already, with the server's own types.
        <str as Type<Database>>::type_info()
    }
}

impl Encode<'_, Database> for Bound {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        match &self.bytes {
            None => Ok(IsNull::Yes),
            Some(bytes) => {
                buffer.extend_from_slice(bytes);
                Ok(IsNull::No)
            }
        }
    }
}

fn bind(parameters: &[Data], shapes: &[Shape]) -> Result<PgArguments, StepFault> {
    if parameters.len() != shapes.len() {
        let message = format!(
            "the statement has {} parameters, {} are given",
            shapes.len(),
            parameters.len()
        );
        return Err(StepFault::lasting("bad_input", message));
    }
    let mut arguments = PgArguments::default();
    for (number, (data, shape)) in (1..).zip(parameters.iter().zip(shapes)) {
        let bad = |what: &dyn std::fmt::Display| {
            StepFault::lasting("bad_input", format!("parameter ${number}: {what}"))
        };
        let bytes = encode(data, shape).map_err(|what| bad(&what))?;
        arguments.add(Bound { bytes }).map_err(|what| bad(&what))?;
    }
    Ok(arguments)
}

fn parameter_shapes(statement: &PgStatement) -> Vec<Shape> {
    match statement.parameters() {
        Some(Either::Left(types)) => types.iter().map(shape_of).collect(),
        _ => Vec::new(),
    }
}

fn shape_of(info: &PgTypeInfo) -> Shape {
    match info.kind() {
        PgTypeKind::Enum(_) => Shape::Text,
        PgTypeKind::Domain(of) => shape_of(of),
        PgTypeKind::Array(of) => match of.oid() {
            Some(oid) => Shape::Array(Box::new(shape_of(of)), oid.0),
            None => Shape::Other(info.name().to_owned()),
        },
        _ => Shape::of_name(info.name()),
    }
}

fn columns(statement: &PgStatement) -> Result<Vec<(Arc<str>, Shape)>, StepFault> {
    let columns = statement.columns();
    if columns.len() > COLUMNS_MAX {
        let message = format!("the statement gives more than {COLUMNS_MAX} columns");
        return Err(StepFault::lasting("limit", message));
    }
    Ok(columns.iter().map(|column| (column.name().into(), shape_of(column.type_info()))).collect())
}

fn row_data(row: &PgRow, columns: &[(Arc<str>, Shape)]) -> Result<(Map, usize), StepFault> {
    let mut map = Map::new();
    let mut bytes = 0;
    for (place, (name, shape)) in columns.iter().enumerate() {
        let bad = |what: &dyn std::fmt::Display| {
            StepFault::lasting("answer", format!("column `{name}`: {what}"))
        };
        let value = row.try_get_raw(place).map_err(|error| bad(&error))?;
        let data = if value.is_null() {
            Data::Null
        } else {
            let raw = value.as_bytes().map_err(|error| bad(&error))?;
            bytes += raw.len();
            decode(raw, shape).map_err(|error| bad(&error))?
        };
        bytes += name.len() + 16;
        map.set(Arc::clone(name), data);
    }
    Ok((map, bytes))
}

/// What went wrong, and whether it may pass.
fn fault_of(error: &sqlx::Error) -> StepFault {
    match error {
        sqlx::Error::Database(answer) => {
            let state = answer.code().unwrap_or_default();
            let message = format!("the database answers: {} ({state})", answer.message());
            // Resources, deadlocks, shutdown, lost connections, locks: all may pass.
            let may_pass = ["08", "40", "53", "57"].iter().any(|class| state.starts_with(class))
                || state == "55P03";
            match (state.as_ref(), may_pass) {
                ("57014", _) => StepFault::passing("timeout", message),
                (_, true) => StepFault::passing("answer", message),
                (_, false) => StepFault::lasting("answer", message),
            }
        }
        // A handshake that fails comes as an error of the socket.
        sqlx::Error::Io(error)
            if error.get_ref().is_some_and(|cause| cause.is::<rustls::Error>()) =>
        {
            StepFault::passing("tls", format!("no TLS with the database: {error}"))
        }
        sqlx::Error::Io(error) => {
            StepFault::passing("unreachable", format!("no connection to the database: {error}"))
        }
        sqlx::Error::Tls(error) => {
            StepFault::passing("tls", format!("no TLS with the database: {error}"))
        }
        sqlx::Error::Protocol(what) => StepFault::passing(
            "bad_answer",
            format!("the server does not answer as PostgreSQL: {what}"),
        ),
        other => StepFault::lasting("answer", format!("the database cannot be used: {other}")),
    }
}
