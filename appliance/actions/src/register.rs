//! The kinds of this crate, for the engine's registry.
//!
//! **Invariants**: every kind that `flow` marks as outside is registered here.

use crate::pool::Pool;
use crate::{file, http, mail, mqtt, sql};
use millrace_engine::step::Step;
use millrace_engine::{CompileFault, Compiler, Registry};
use millrace_flow::document;
use std::sync::{Arc, OnceLock};

/// The pool of this process: the registry takes plain functions, which cannot hold one.
static POOL: OnceLock<Arc<Pool>> = OnceLock::new();

type Compile =
    fn(&document::Step, &mut Compiler<'_>, &Arc<Pool>) -> Result<Arc<dyn Step>, CompileFault>;

/// Adds all kinds that go outside; they share the pool. The first pool of a process counts.
pub fn register(registry: &mut Registry, pool: &Arc<Pool>) {
    if POOL.set(Arc::clone(pool)).is_err() {
        tracing::debug!("The steps outside share the pool that was registered first.");
    }
    registry.add("http.request", |step, compiler| shared(http::step::compile, step, compiler));
    registry.add("sql.query", |step, compiler| shared(sql::step::compile_query, step, compiler));
    registry
        .add("sql.execute", |step, compiler| shared(sql::step::compile_execute, step, compiler));
    registry.add("mqtt.publish", |step, compiler| shared(mqtt::step::compile, step, compiler));
    registry.add("file.append", |step, compiler| shared(file::step::compile, step, compiler));
    registry.add("mail", |step, compiler| shared(mail::step::compile, step, compiler));
}

fn shared(
    compile: Compile,
    step: &document::Step,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    match POOL.get() {
        Some(pool) => compile(step, compiler, pool),
        None => Err(compiler.step_fault("steps that go outside are not set up")),
    }
}

/// The function of a kind, for tests, which have a pool each.
#[cfg(test)]
pub(crate) fn compile_of(kind: &str) -> Option<Compile> {
    Some(match kind {
        "http.request" => http::step::compile,
        "sql.query" => sql::step::compile_query,
        "sql.execute" => sql::step::compile_execute,
        "mqtt.publish" => mqtt::step::compile,
        "file.append" => file::step::compile,
        "mail" => mail::step::compile,
        _ => return None,
    })
}
