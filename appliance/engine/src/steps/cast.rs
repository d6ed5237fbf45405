//! `cast`: turns a value into another type, or says why not.
//!
//! | to | takes |
//! |---|---|
//! | `bool` | bools; numbers, of which 0 is false; the texts `true false on off yes no 1 0` |
//! | `int` | numbers, fractions as `rounding` says; bools as 1 and 0; texts of numbers |
//! | `float` | numbers; bools as 1 and 0; texts of numbers |
//! | `text` | everything but null and what is missing; lists and objects as JSON |
//!
//! **Invariants**: integers of 64 bits stay exact; with `exact` no digit is lost in any direction;
//! a refusal says what the value is and why it does not become the type.

use super::number::{Number, integer};
use super::text::{bad_input, describe, plain_text};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Field, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::cmp::Ordering;
use std::sync::Arc;

struct Cast {
    work: Work,
    to: Target,
    rounding: Rounding,
    decimal_comma: bool,
    fallback: Option<Field>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Bool,
    Int,
    Float,
    Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounding {
    Nearest,
    Down,
    Up,
    TowardZero,
    Exact,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let to = [
        ("bool", Target::Bool),
        ("int", Target::Int),
        ("float", Target::Float),
        ("text", Target::Text),
    ];
    let rounding = [
        ("nearest", Rounding::Nearest),
        ("down", Rounding::Down),
        ("up", Rounding::Up),
        ("toward_zero", Rounding::TowardZero),
        ("exact", Rounding::Exact),
    ];
    Ok(Arc::new(Cast {
        work: Work::compile(compiler)?,
        to: compiler.choice("to", &to)?,
        rounding: compiler.choice("rounding", &rounding)?,
        decimal_comma: compiler.flag("decimal_comma")?,
        fallback: fallback(compiler)?,
    }))
}

/// The field `fallback`, if `on_failure` says so.
pub(super) fn fallback(compiler: &mut Compiler<'_>) -> Result<Option<Field>, CompileFault> {
    match compiler.choice("on_failure", &[("fail", false), ("fallback", true)])? {
        true => compiler.field_or("fallback", Data::Null).map(Some),
        false => Ok(None),
    }
}

impl Step for Cast {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let value = self.work.value(context, input)?;
        let result = match (self.convert(&value), &self.fallback) {
            (Ok(result), _) => result,
            (Err(_), Some(fallback)) => context.evaluate(fallback)?,
            (Err(fault), None) => return Err(fault),
        };
        Ok(Outcome::Out(0, self.work.output(input, result)))
    }
}

impl Cast {
    fn convert(&self, data: &Data) -> Result<Data, StepFault> {
        match self.to {
            Target::Bool => to_bool(data),
            Target::Int => to_int(data, self.number(data, "an int")?, self.rounding),
            Target::Float => to_float(data, self.number(data, "a float")?, self.rounding),
            Target::Text => match data {
                Data::Missing | Data::Null => {
                    Err(refuse(data, "text", "there is nothing to write"))
                }
                other => Ok(Data::Text(plain_text(other).into())),
            },
        }
    }

    fn number(&self, data: &Data, target: &str) -> Result<Number, StepFault> {
        match data {
            Data::Bool(value) => Ok(Number::Int(i128::from(*value))),
            Data::Text(text) => read_number(text, self.decimal_comma)
                .ok_or_else(|| refuse(data, target, "it is no number")),
            other => Number::of(other)
                .ok_or_else(|| refuse(data, target, "only numbers, texts and bools do")),
        }
    }
}

fn to_int(data: &Data, number: Number, rounding: Rounding) -> Result<Data, StepFault> {
    let whole = match number {
        Number::Int(value) => value,
        Number::Float(value) if !value.is_finite() => {
            return Err(refuse(data, "an int", "it is not finite"));
        }
        Number::Float(value) => {
            let rounded = match rounding {
                Rounding::Exact if value.fract() != 0.0 => {
                    return Err(refuse(
                        data,
                        "an int",
                        "it has a fraction, and `rounding` is `exact`",
                    ));
                }
                Rounding::Exact | Rounding::TowardZero => value.trunc(),
                Rounding::Nearest => value.round(),
                Rounding::Down => value.floor(),
                Rounding::Up => value.ceil(),
            };
            // The cast stops at the ends of 128 bits, which 64 bits refuse.
            rounded as i128
        }
    };
    integer(whole).ok_or_else(|| refuse(data, "an int", "64 bits do not hold it"))
}

fn to_float(data: &Data, number: Number, rounding: Rounding) -> Result<Data, StepFault> {
    let nearest = number.to_f64();
    let is_exact =
        number.is_nan() || number.compare(Number::Float(nearest)) == Some(Ordering::Equal);
    if rounding == Rounding::Exact && !is_exact {
        return Err(refuse(
            data,
            "a float",
            "its last digits would be lost, and `rounding` is `exact`",
        ));
    }
    Ok(Data::Float(nearest))
}

fn to_bool(data: &Data) -> Result<Data, StepFault> {
    let found = match data {
        Data::Bool(value) => Some(*value),
        Data::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "on" | "yes" => Some(true),
            "false" | "0" | "off" | "no" => Some(false),
            _ => None,
        },
        other => match Number::of(other) {
            Some(number) if number.is_nan() => None,
            Some(number) => Some(number.to_f64() != 0.0),
            None => None,
        },
    };
    let why = "only bools, numbers, and the texts true, false, on, off, yes, no, 1, 0 do";
    found.map(Data::Bool).ok_or_else(|| refuse(data, "a bool", why))
}

/// Reads the text of a number: a sign, digits, one point, an exponent; spaces around it are passed
/// over. Integers stay exact. With a decimal comma, dots between digits are for the eye only.
pub(super) fn read_number(text: &str, decimal_comma: bool) -> Option<Number> {
    let text = text.trim();
    if decimal_comma {
        let plain: String = text
            .chars()
            .filter(|found| *found != '.')
            .map(|found| if found == ',' { '.' } else { found })
            .collect();
        return read_plain(&plain);
    }
    read_plain(text)
}

fn read_plain(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let digits = unsigned.strip_prefix('-').unwrap_or(unsigned);
    if !digits.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return match unsigned.parse().ok() {
            Some(whole) => Some(Number::Int(whole)),
            None => unsigned.parse().ok().map(Number::Float),
        };
    }
    // `inf` and `nan` are words, not numbers.
    let is_plain =
        |byte: u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-');
    if !digits.bytes().all(is_plain) {
        return None;
    }
    unsigned.parse().ok().filter(|value: &f64| value.is_finite()).map(Number::Float)
}

fn refuse(data: &Data, target: &str, why: &str) -> StepFault {
    bad_input(format!("{} does not become {target}: {why}", describe(data)))
}

#[cfg(test)]
mod tests;
