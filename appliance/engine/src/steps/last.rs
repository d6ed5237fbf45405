//! The last known value of a tag, with its age looked at; what `enrich`, `uns.last` and
//! `uns.search` have in common.
//!
//! **Invariants**: a value that is too old is no value.

use super::read;
use super::state::get;
use super::text::bad_input;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, StepFault};
use millrace_flow::Data;

/// The fields `age_max_ms` and `on_missing`.
#[derive(Debug)]
pub(super) struct Fresh {
    age_max: Option<i64>,
    must_be_there: bool,
}

impl Fresh {
    pub(super) fn compile(compiler: &Compiler<'_>) -> Result<Self, CompileFault> {
        Ok(Self {
            age_max: read::span(compiler, "age_max_ms")?,
            must_be_there: compiler.choice("on_missing", &[("null", false), ("fail", true)])?,
        })
    }

    /// `{ path, value, time, received, quality }`; `None` if there is none that counts.
    ///
    /// # Errors
    /// There is none, and there must be one.
    pub(super) fn last(
        &self,
        context: &mut dyn Context,
        path: &str,
    ) -> Result<Option<Data>, StepFault> {
        let last = context.last(path);
        let is_there = !matches!(last, Data::Missing | Data::Null);
        let age = match self.age_max {
            Some(_) if is_there => {
                let received = read::time_of(&get(&last, "received"), "received")?;
                received.map(|received| context.now().nanos_since(received))
            }
            _ => None,
        };
        let is_old = matches!((age, self.age_max), (Some(age), Some(most)) if age > most);
        if is_there && !is_old {
            return Ok(Some(last));
        }
        if !self.must_be_there {
            return Ok(None);
        }
        Err(bad_input(if is_old {
            let seconds = age.unwrap_or(0) / 1_000_000_000;
            format!("the last value of `{path}` was received {seconds} s ago: too old")
        } else {
            format!("`{path}` has no value yet")
        }))
    }
}
