//! What JavaScript makes of data: truth, text, sameness; and how people read it.
//!
//! **Invariants**: [`Data::is_true`] and [`Data::to_js_text`] agree with `Boolean(x)` and
//! `String(x)` of the script that would see the same data.

use super::{Data, push};
use std::fmt;

impl Data {
    /// Whether it counts as true in JavaScript: not missing, null, false, 0, NaN or empty text.
    #[must_use]
    pub fn is_true(&self) -> bool {
        match self {
            Self::Missing | Self::Null => false,
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::UInt(value) => *value != 0,
            Self::Float(value) => *value != 0.0 && !value.is_nan(),
            Self::Text(text) => !text.is_empty(),
            Self::List(_) | Self::Map(_) => true,
        }
    }

    /// Whether both are the same for steps: numbers by value across their types, exactly; NaN is
    /// the same as NaN; objects in whatever order.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Float(one), Self::Float(other)) => {
                one == other || (one.is_nan() && other.is_nan())
            }
            (Self::Float(float), whole @ (Self::Int(_) | Self::UInt(_)))
            | (whole @ (Self::Int(_) | Self::UInt(_)), Self::Float(float)) => {
                whole_equals(whole, *float)
            }
            (Self::List(one), Self::List(other)) => {
                one.len() == other.len()
                    && one.iter().zip(other.iter()).all(|(one, other)| one.is_same(other))
            }
            (Self::Map(one), Self::Map(other)) => {
                one.len() == other.len()
                    && one
                        .iter()
                        .all(|(name, data)| other.get(name).is_some_and(|same| same.is_same(data)))
            }
            _ => self == other,
        }
    }

    /// The text that a template literal makes of it.
    #[must_use]
    pub fn to_js_text(&self) -> String {
        let mut text = String::new();
        self.write_js_text(&mut text);
        text
    }

    /// Appends the text that a template literal makes of it.
    pub fn write_js_text(&self, out: &mut String) {
        match self {
            Self::Missing => out.push_str("undefined"),
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Int(value) => push(out, format_args!("{value}")),
            Self::UInt(value) => push(out, format_args!("{value}")),
            Self::Float(value) => write_js_number(*value, out),
            Self::Text(text) => out.push_str(text),
            Self::List(list) => {
                for (at, item) in list.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    if !item.is_nothing() {
                        item.write_js_text(out);
                    }
                }
            }
            Self::Map(_) => out.push_str("[object Object]"),
        }
    }
}

fn whole_equals(whole: &Data, float: f64) -> bool {
    match whole {
        // A float is whole and in range, or equals no integer; then the comparison is exact.
        Data::Int(value) => Data::Float(float).as_i64() == Some(*value),
        // Above i64::MAX: 2^63 to 2^64, where doubles are whole.
        Data::UInt(value) => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "within the range of u64"
            )]
            let is_equal = (9_223_372_036_854_775_808.0..18_446_744_073_709_551_616.0)
                .contains(&float)
                && float as u64 == *value;
            is_equal
        }
        _ => false,
    }
}

/// ECMAScript's `Number::toString`: the shortest digits, plain from 1e-6 to below 1e21.
fn write_js_number(value: f64, out: &mut String) {
    if value.is_nan() {
        return out.push_str("NaN");
    }
    if value.is_infinite() {
        return out.push_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    }
    if value == 0.0 {
        return out.push('0');
    }
    let shortest = format!("{:e}", value.abs());
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value < 0.0 {
        out.push('-');
    }
    if (-6..21).contains(&exponent) {
        // Rust's plain form has the same shortest digits and no exponent.
        push(out, format_args!("{}", value.abs()));
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        push(out, format_args!("{digits}e{sign}{}", exponent.unsigned_abs()));
    }
}

/// For people: text as it is, NaN as NaN, what is missing as `undefined`, the rest as JSON.
impl fmt::Display for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::List(_) | Self::Map(_) => f.write_str(&self.to_json_text()),
            scalar => f.write_str(&scalar.to_js_text()),
        }
    }
}
