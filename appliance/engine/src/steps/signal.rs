//! A signal that is on or off, read from a value: by its truth, or by two thresholds.
//!
//! **Invariants**: between the thresholds the signal stays what it was (hysteresis); before the
//! first value outside of them it is neither.

use super::number::Number;
use super::read;
use super::text::{bad_input, describe};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, StepFault};
use millrace_flow::Data;
use std::cmp::Ordering;

/// The fields `value`, `rise_at` and `fall_at`.
#[derive(Debug)]
pub(super) struct Signal {
    work: Work,
    thresholds: Option<(Field, Field)>,
}

impl Signal {
    pub(super) fn compile(compiler: &mut Compiler<'_>) -> Result<Self, CompileFault> {
        let thresholds = match (compiler.optional("rise_at")?, compiler.optional("fall_at")?) {
            (Some(rise), Some(fall)) => Some((rise, fall)),
            (None, None) => None,
            _ => return Err(compiler.fault("rise_at", "goes together with `fall_at`")),
        };
        Ok(Self { work: Work::compile(compiler)?, thresholds })
    }

    /// Whether the signal is on, given what it was.
    pub(super) fn read(
        &self,
        context: &mut dyn Context,
        input: &Data,
        before: Option<bool>,
    ) -> Result<Option<bool>, StepFault> {
        let value = self.work.value(context, input)?;
        let Some((rise, fall)) = &self.thresholds else { return Ok(Some(value.is_true())) };
        let number = Number::of(&value).ok_or_else(|| {
            bad_input(format!("with thresholds the signal is a number, not {}", describe(&value)))
        })?;
        let nothing = |name: &str| bad_input(format!("`{name}` is nothing"));
        let rise = read::number(context, rise, "rise_at")?.ok_or_else(|| nothing("rise_at"))?;
        let fall = read::number(context, fall, "fall_at")?.ok_or_else(|| nothing("fall_at"))?;
        if fall.compare(rise) != Some(Ordering::Less) {
            return Err(bad_input("`fall_at` must be below `rise_at`"));
        }
        Ok(match (number.compare(rise), number.compare(fall)) {
            (Some(Ordering::Greater | Ordering::Equal), _) => Some(true),
            (_, Some(Ordering::Less | Ordering::Equal)) => Some(false),
            // Between the two, or NaN.
            _ => before,
        })
    }
}
