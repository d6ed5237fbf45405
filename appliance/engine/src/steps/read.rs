//! Typed readers of evaluated fields.
//!
//! **Invariants**: what a field holds is taken as it is or refused with the field's name; nothing
//! is rounded or guessed.

use super::number::Number;
use super::text::{bad_input, describe};
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, StepFault};
use millrace_flow::Data;
use millrace_model::time::NANOS_PER_MILLI;
use millrace_model::{Quality, Timestamp};
use std::sync::Arc;

/// The field as text.
///
/// # Errors
/// It is none, or could not be evaluated.
pub(super) fn text(
    context: &mut dyn Context,
    field: &Field,
    name: &str,
) -> Result<Arc<str>, StepFault> {
    match context.evaluate(field)? {
        Data::Text(text) => Ok(text),
        number @ (Data::Int(_) | Data::UInt(_) | Data::Float(_) | Data::Bool(_)) => {
            Ok(number.to_js_text().into())
        }
        other => Err(wrong(name, "text", &other)),
    }
}

/// The field as a number; `None` if it is missing or null.
///
/// # Errors
/// It is something else, NaN, or could not be evaluated.
pub(super) fn number(
    context: &mut dyn Context,
    field: &Field,
    name: &str,
) -> Result<Option<Number>, StepFault> {
    match context.evaluate(field)? {
        Data::Missing | Data::Null => Ok(None),
        other => match Number::of(&other) {
            Some(number) if !number.is_nan() => Ok(Some(number)),
            _ => Err(wrong(name, "a number", &other)),
        },
    }
}

/// The field as a whole number within bounds.
///
/// # Errors
/// It is something else or out of bounds.
pub(super) fn whole(
    context: &mut dyn Context,
    field: &Field,
    name: &str,
    least: i64,
    most: i64,
) -> Result<i64, StepFault> {
    let data = context.evaluate(field)?;
    let found = match Number::of(&data) {
        Some(Number::Int(value)) => i64::try_from(value).ok(),
        // A script's 5.0 is a whole number too.
        Some(Number::Float(value)) if value.fract() == 0.0 && value.abs() < 9e15 => {
            Some(value as i64)
        }
        _ => None,
    };
    match found {
        Some(value) if (least..=most).contains(&value) => Ok(value),
        Some(value) => {
            Err(bad_input(format!("`{name}` is {value}, but must be between {least} and {most}")))
        }
        None => Err(wrong(name, "a whole number", &data)),
    }
}

/// The field as nanoseconds, from whole milliseconds.
///
/// # Errors
/// It is no whole number between zero and `most_ms`.
pub(super) fn nanos(
    context: &mut dyn Context,
    field: &Field,
    name: &str,
) -> Result<i64, StepFault> {
    Ok(whole(context, field, name, 0, LONGEST_MS)?.saturating_mul(NANOS_PER_MILLI))
}

/// A fixed span of a step in nanoseconds, if it is there.
///
/// # Errors
/// It is no whole number of milliseconds.
pub(super) fn span(compiler: &Compiler<'_>, name: &str) -> Result<Option<i64>, CompileFault> {
    let Some(span) = compiler.duration(name)? else { return Ok(None) };
    Ok(Some(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)))
}

/// Longest span of a step, milliseconds: 400 days.
pub(super) const LONGEST_MS: i64 = 400 * 24 * 3_600 * 1_000;

/// A point of time: RFC 3339 text, or an epoch number in seconds, milliseconds, microseconds or
/// nanoseconds as its size tells. `None` if missing or null.
///
/// # Errors
/// It is something else.
pub(super) fn time_of(data: &Data, name: &str) -> Result<Option<Timestamp>, StepFault> {
    let found = match data {
        Data::Missing | Data::Null => return Ok(None),
        Data::Text(text) => Timestamp::from_rfc3339(text),
        Data::Int(number) => Timestamp::from_epoch_number(*number),
        // Date.now() may have a fraction of a millisecond.
        Data::Float(number) if number.is_finite() && number.abs() < 9e15 => {
            let nanos = (number.fract() * 1e6).round() as i64;
            Timestamp::from_epoch_number(number.trunc() as i64).map(|whole| {
                if number.abs() >= 1e11 {
                    whole.plus_nanos(nanos)
                } else {
                    whole.plus_nanos((number.fract() * 1e9).round() as i64)
                }
            })
        }
        _ => None,
    };
    found
        .map(Some)
        .ok_or_else(|| wrong(name, "a time (RFC 3339 text, or a number since 1970)", data))
}

/// A quality: `good`, `uncertain`, `bad`, or an OPC UA status code. `None` if missing or null.
///
/// # Errors
/// It is something else.
pub(super) fn quality_of(data: &Data, name: &str) -> Result<Option<Quality>, StepFault> {
    let found = match data {
        Data::Missing | Data::Null => return Ok(None),
        Data::Text(text) => Quality::from_text(text),
        Data::Int(code) => u32::try_from(*code).ok().map(Quality),
        Data::Float(code) if code.fract() == 0.0 && (0.0..=4_294_967_295.0).contains(code) => {
            Some(Quality(*code as u32))
        }
        _ => None,
    };
    found
        .map(Some)
        .ok_or_else(|| wrong(name, "`good`, `uncertain`, `bad` or an OPC UA status code", data))
}

/// The fault of a field that holds something else.
pub(super) fn wrong(name: &str, wanted: &str, found: &Data) -> StepFault {
    bad_input(format!("`{name}` must be {wanted}, but is {}", describe(found)))
}
