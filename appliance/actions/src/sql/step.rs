//! The steps `sql.query` (`{ rows, is_cut }`) and `sql.execute` (`{ affected }`).
//!
//! Rows are objects by column name; if two columns have the same name, the last one counts.
//!
//! **Invariants**: the statement is fixed text of the document; a stub records it with its
//! parameters and asks nobody.

use super::postgres::{Login, Security};
use super::{Task, affected};
use crate::call::Call;
use crate::dial::{Endpoint, Tls};
use crate::fields::{Fields, Reader, SecretName, reveal};
use crate::limits::{PARAMETERS_MAX, ROWS, ROWS_MAX, STATEMENT_BYTES_MAX};
use crate::pool::Pool;
use millrace_engine::step::{Context, Outcome, Step, StepFault};
use millrace_engine::{CompileFault, Compiler};
use millrace_flow::{Data, Map, document};
use std::sync::Arc;

/// Lists of parameters of one execution.
const LISTS_MAX: usize = 10_000;

#[derive(Debug)]
struct Sql {
    pool: Arc<Pool>,
    fields: Fields,
    driver: Driver,
    sql: Arc<str>,
    /// `None`: it executes.
    rows_max: Option<usize>,
}

#[derive(Debug)]
enum Driver {
    Postgres { login: Login, password: Option<SecretName> },
    Sqlite { file: String },
}

pub(crate) fn compile_query(
    step: &document::Step,
    compiler: &mut Compiler<'_>,
    pool: &Arc<Pool>,
) -> Result<Arc<dyn Step>, CompileFault> {
    compile(step, compiler, pool, true)
}

pub(crate) fn compile_execute(
    step: &document::Step,
    compiler: &mut Compiler<'_>,
    pool: &Arc<Pool>,
) -> Result<Arc<dyn Step>, CompileFault> {
    compile(step, compiler, pool, false)
}

fn compile(
    step: &document::Step,
    compiler: &mut Compiler<'_>,
    pool: &Arc<Pool>,
    is_query: bool,
) -> Result<Arc<dyn Step>, CompileFault> {
    let mut reader = Reader::new(step, compiler)?;
    let is_postgres = reader.choice("driver", &[("postgres", true), ("sqlite", false)])?;
    let driver = match is_postgres {
        true => postgres(&mut reader, is_query)?,
        false => Driver::Sqlite { file: reader.needed_text("file")? },
    };
    let sql = reader.needed_text("sql")?;
    if sql.len() > STATEMENT_BYTES_MAX {
        return Err(reader.fault("sql", format!("is longer than {STATEMENT_BYTES_MAX} bytes")));
    }
    reader.evaluated("parameters")?;
    let rows_max = if is_query {
        let most = reader.whole("rows_max")?.map(usize::try_from).and_then(Result::ok);
        Some(most.unwrap_or(ROWS).min(ROWS_MAX))
    } else {
        reader.evaluated("parameter_lists")?;
        None
    };
    let fields = reader.finish();
    Ok(Arc::new(Sql { pool: Arc::clone(pool), fields, driver, sql: sql.into(), rows_max }))
}

fn postgres(reader: &mut Reader<'_, '_>, is_read_only: bool) -> Result<Driver, CompileFault> {
    let host = reader.needed_text("host")?;
    let port = reader.whole("port")?.and_then(|port| u16::try_from(port).ok()).unwrap_or(5432);
    let database = reader.needed_text("database")?;
    let user = reader.needed_text("user")?;
    let password = reader.secret("password")?;
    let words =
        [("verify", Security::Verify), ("require", Security::Require), ("off", Security::Off)];
    let security = reader.choice("tls", &words)?;
    let tls = if security == Security::Verify { reader.trust()? } else { Tls::Off };
    let endpoint = Endpoint { host: host.into(), port, tls };
    let login = Login { endpoint, security, database, user, password: None, is_read_only };
    Ok(Driver::Postgres { login, password })
}

impl Step for Sql {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let values = self.fields.evaluate(context, input)?;
        if context.is_stubbed() {
            let answer = context.stub(Data::Map(Arc::new(values)))?;
            return Ok(Outcome::Out(0, self.or_empty(answer)));
        }
        let task = self.task(&values)?;
        let (pool, sql) = (Arc::clone(&self.pool), Arc::clone(&self.sql));
        let mut held = pool.budget.take(0)?;
        match &self.driver {
            Driver::Postgres { login, password } => {
                let target = login.endpoint.target("postgres");
                let mut call = Call::new(&pool.targets, target, context);
                let mut login = login.clone();
                if let Some(name) = password {
                    login.password = Some(reveal(context, name, &mut call.secrets)?);
                }
                Ok(call.wait(move |until| async move {
                    pool.postgres.run(&login, &sql, task, until, &mut held).await
                }))
            }
            Driver::Sqlite { file } => {
                let place = pool.files.place(file)?;
                let call = Call::new(&pool.targets, format!("sqlite {file}"), context);
                Ok(call.wait(move |until| async move {
                    pool.sqlite.run(place, sql, task, until, held).await
                }))
            }
        }
    }
}

impl Sql {
    fn task(&self, values: &Map) -> Result<Task, StepFault> {
        if let Some(rows_max) = self.rows_max {
            return Ok(Task::Query { parameters: list(values, "parameters")?, rows_max });
        }
        let Some(lists) = values.get("parameter_lists").filter(|lists| **lists != Data::Missing)
        else {
            return Ok(Task::Execute { lists: vec![list(values, "parameters")?] });
        };
        let bad =
            || StepFault::lasting("bad_input", "the field `parameter_lists` is no list of lists");
        let Data::List(lists) = lists else { return Err(bad()) };
        if lists.len() > LISTS_MAX {
            let message = format!("{} lists of parameters, {LISTS_MAX} at most", lists.len());
            return Err(StepFault::lasting("limit", message));
        }
        let lists = lists.iter().map(|list| match list {
            Data::List(items) => Ok(items.to_vec()),
            _ => Err(bad()),
        });
        Ok(Task::Execute { lists: lists.collect::<Result<_, _>>()? })
    }

    /// What a stub answers that nobody gave an answer.
    fn or_empty(&self, answer: Data) -> Data {
        match (answer, self.rows_max) {
            (Data::Missing, Some(rows_max)) => super::Rows::new(rows_max).into_data(),
            (Data::Missing, None) => affected(0),
            (answer, _) => answer,
        }
    }
}

fn list(values: &Map, name: &'static str) -> Result<Vec<Data>, StepFault> {
    match values.get(name) {
        None | Some(Data::Missing | Data::Null) => Ok(Vec::new()),
        Some(Data::List(items)) if items.len() <= PARAMETERS_MAX => Ok(items.to_vec()),
        Some(Data::List(_)) => {
            let message = format!("the field `{name}` holds more than {PARAMETERS_MAX} values");
            Err(StepFault::lasting("limit", message))
        }
        Some(_) => Err(StepFault::lasting("bad_input", format!("the field `{name}` is no list"))),
    }
}
