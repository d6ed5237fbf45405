//! Samples as CSV (RFC 4180): `source_time,receive_time,quality,kind,value`.
//!
//! Times are RFC 3339 in UTC with nine digits, quality is the OPC UA status code, and the kind
//! tells text `1` from the number 1 and null from empty text. Numbers are the shortest text that
//! reads back to the same value, so that reading the file gives every value bit by bit (a NaN's
//! payload aside).

use crate::backend::Sample;
use millrace_model::{Timestamp, Value};
use std::fmt::Write as _;

/// The first line.
pub(crate) const HEAD: &str = "source_time,receive_time,quality,kind,value\r\n";

/// Appends one line.
pub(crate) fn write_line(sample: &Sample, out: &mut String) {
    write_time(sample.source_time, out);
    out.push(',');
    write_time(sample.receive_time, out);
    let value = sample.value.as_ref();
    // Writing to a String cannot fail.
    let _infallible = write!(out, ",{},{},", sample.quality.0, value.kind().name());
    match &sample.value {
        Value::Text(text) | Value::Json(text) => write_quoted(text, out),
        _ => {
            let _infallible = write!(out, "{value}");
        }
    }
    out.push_str("\r\n");
}

fn write_time(time: Timestamp, out: &mut String) {
    let text = time.to_rfc3339();
    let text = text.strip_suffix('Z').unwrap_or(&text);
    match text.split_once('.') {
        Some((seconds, fraction)) => {
            let _infallible = write!(out, "{seconds}.{fraction:0<9}Z");
        }
        None => {
            let _infallible = write!(out, "{text}.000000000Z");
        }
    }
}

/// Appends a cell, in quotes where it needs them.
pub(crate) fn write_quoted(text: &str, out: &mut String) {
    if !text.contains(['"', ',', '\r', '\n']) && text.trim().len() == text.len() {
        out.push_str(text);
        return;
    }
    out.push('"');
    for part in text.split_inclusive('"') {
        out.push_str(part);
        if part.ends_with('"') {
            out.push('"');
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_model::Quality;

    #[test]
    fn writes_each_kind_so_that_it_reads_back() {
        let check = |value: Value, expected: &str| {
            let sample = Sample {
                source_time: Timestamp(1),
                receive_time: Timestamp(1_500_000_000),
                quality: Quality::BAD,
                value,
                seq: 1,
            };
            let mut line = String::new();
            write_line(&sample, &mut line);
            let front = "1970-01-01T00:00:00.000000001Z,1970-01-01T00:00:01.500000000Z,2147483648,";
            assert_eq!(line, format!("{front}{expected}\r\n"));
        };
        check(Value::Null, "null,");
        check(Value::Bool(true), "bool,true");
        check(Value::Int(i64::MIN), "int,-9223372036854775808");
        check(Value::UInt(u64::MAX), "uint,18446744073709551615");
        check(Value::Float(32.0), "float,32.0");
        check(Value::Float(0.1), "float,0.1");
        check(Value::Float(f64::NAN), "float,NaN");
        check(Value::Float(f64::NEG_INFINITY), "float,-Infinity");
        check(Value::Text("1".into()), "text,1");
        check(Value::Text("".into()), "text,");
        check(Value::Text(" a".into()), "text,\" a\"");
        check(Value::Text("a,\"b\"\n".into()), "text,\"a,\"\"b\"\"\n\"");
        check(Value::Json("{\"a\":1}".into()), "json,\"{\"\"a\"\":1}\"");
    }
}
