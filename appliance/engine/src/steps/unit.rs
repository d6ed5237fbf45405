//! `unit`: converts a number to another unit, or scales it by a factor and an offset.
//!
//! The table of units is the designer's, in `millrace_flow::kinds::unit`. Its factors are doubles
//! with sixteen digits, of which a product keeps fifteen; the result is rounded to these, so that
//! 212 degrees Fahrenheit are 100 degrees Celsius and not 100.00000000000001.
//!
//! **Invariants**: integers times a whole factor stay integers and exact; never between
//! quantities.

use super::number::{Number, integer};
use super::read;
use super::text::{bad_input, describe, over_limit};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::Data;
use millrace_flow::kinds::unit;
use std::sync::Arc;

struct UnitStep {
    work: Work,
    scale: Scale,
    decimals: Option<i32>,
}

enum Scale {
    Units { factor: f64, offset: f64 },
    Fields { factor: Field, offset: Field },
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let scale = match (compiler.optional_text("from")?, compiler.optional_text("to")?) {
        (Some(from), Some(to)) => {
            for (field, symbol) in [("from", &from), ("to", &to)] {
                if unit::find(symbol).is_none() {
                    return Err(
                        compiler.fault(field, format!("`{symbol}` is no unit of the table"))
                    );
                }
            }
            let (factor, offset) = unit::conversion(&from, &to).ok_or_else(|| {
                compiler.fault("to", format!("`{from}` and `{to}` are not of one quantity"))
            })?;
            Scale::Units { factor: near_whole(factor), offset: near_whole(offset) }
        }
        (None, None) => Scale::Fields {
            factor: compiler.field("factor")?,
            offset: compiler.field_or("offset", Data::Int(0))?,
        },
        _ => return Err(compiler.step_fault("needs both `from` and `to`")),
    };
    let decimals = compiler.whole("decimals")?;
    let decimals = decimals.map(|places| i32::try_from(places.min(15)).unwrap_or(15));
    Ok(Arc::new(UnitStep { work: Work::compile(compiler)?, scale, decimals }))
}

impl Step for UnitStep {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let value = self.work.value(context, input)?;
        let number = Number::of(&value).ok_or_else(|| {
            bad_input(format!(
                "only a number has a unit, not {}; `cast` makes one",
                describe(&value)
            ))
        })?;
        let (factor, offset) = match &self.scale {
            Scale::Units { factor, offset } => (Number::Float(*factor), Number::Float(*offset)),
            Scale::Fields { factor, offset } => {
                let factor = read::number(context, factor, "factor")?
                    .ok_or_else(|| bad_input("`factor` is nothing"))?;
                let offset = read::number(context, offset, "offset")?.unwrap_or(Number::Int(0));
                (factor, offset)
            }
        };
        let result = scale(number, factor, offset)?;
        let result = match (result, self.decimals) {
            (Data::Float(value), Some(places)) => Data::Float(round_to(value, places)),
            (result, _) => result,
        };
        Ok(Outcome::Out(0, self.work.output(input, result)))
    }
}

/// `value x factor + offset`, in integers where all three are whole.
fn scale(value: Number, factor: Number, offset: Number) -> Result<Data, StepFault> {
    if let (Number::Int(value), Some(factor), Some(offset)) = (value, whole(factor), whole(offset))
    {
        let result = value.checked_mul(factor).and_then(|scaled| scaled.checked_add(offset));
        return result
            .and_then(integer)
            .ok_or_else(|| over_limit("the result is beyond the integers of 64 bits"));
    }
    let result = value.to_f64() * factor.to_f64() + offset.to_f64();
    Ok(Data::Float(fifteen(result)))
}

/// The number as an integer, if it is one.
fn whole(number: Number) -> Option<i128> {
    match number {
        Number::Int(value) => Some(value),
        Number::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => Some(value as i128),
        Number::Float(_) => None,
    }
}

/// The whole number that a quotient of factors misses by its last bit, else the quotient.
fn near_whole(value: f64) -> f64 {
    let near = fifteen(value);
    if near.fract() == 0.0 { near } else { value }
}

/// Rounds to fifteen significant digits: what is left of sixteen after a product and a sum.
fn fifteen(value: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    format!("{value:.14e}").parse().unwrap_or(value)
}

/// Rounds to so many decimals, halves away from zero.
fn round_to(value: f64, places: i32) -> f64 {
    let scale = 10_f64.powi(places);
    let scaled = value * scale;
    // Beyond 2^53 a double has no decimals left to round.
    if !scaled.is_finite() || scaled.abs() >= 9_007_199_254_740_992.0 {
        return value;
    }
    fifteen(scaled).round() / scale
}

#[cfg(test)]
mod tests;
