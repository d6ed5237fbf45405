//! PostgreSQL's values in its binary format, from and to [`Data`].
//!
//! | PostgreSQL | Data |
//! |---|---|
//! | `bool`, `int2/4/8`, `oid`, `float4/8` | the same, exactly |
//! | `numeric` | integer, float or text: never a digit less ([`super::decimal`]) |
//! | `text`, `varchar`, `char`, `name`, enums, `uuid`, `inet`, `macaddr`, `interval` | text |
//! | `timestamptz` | RFC 3339 in UTC; `timestamp` without the `Z`; `date`, `time` |
//! | `bytea` | hexadecimal text |
//! | `json`, `jsonb` | what it holds |
//! | arrays | lists |
//!
//! As parameters, times are also taken as milliseconds since 1970; lists and objects are bound as
//! JSON where the parameter is no array; text goes into `json` as a JSON string. Any other type:
//! cast it in the statement (`$1::text::money`, `amount::text`).
//!
//! **Invariants**: no bytes of a server make this panic; a number that would change its value
//! (out of range, a fraction into an integer) is refused.

use super::{decimal, time};
use millrace_flow::Data;

/// A type of PostgreSQL, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Bool,
    Int2,
    Int4,
    Int8,
    Oid,
    Float4,
    Float8,
    Numeric,
    Text,
    Bytea,
    Uuid,
    Date,
    Time,
    Timestamp,
    TimestampTz,
    Interval,
    Inet,
    MacAddr,
    Json,
    Jsonb,
    Void,
    /// Of these, with this number.
    Array(Box<Self>, u32),
    Other(String),
}

impl Shape {
    /// The shape of a simple type, by the name that PostgreSQL's client library gives it.
    pub(super) fn of_name(name: &str) -> Self {
        match name {
            "BOOL" => Self::Bool,
            "INT2" => Self::Int2,
            "INT4" => Self::Int4,
            "INT8" => Self::Int8,
            "OID" => Self::Oid,
            "FLOAT4" => Self::Float4,
            "FLOAT8" => Self::Float8,
            "NUMERIC" => Self::Numeric,
            "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "UNKNOWN" | "\"CHAR\"" | "XML" | "CITEXT"
            | "citext" => Self::Text,
            "BYTEA" => Self::Bytea,
            "UUID" => Self::Uuid,
            "DATE" => Self::Date,
            "TIME" => Self::Time,
            "TIMESTAMP" => Self::Timestamp,
            "TIMESTAMPTZ" => Self::TimestampTz,
            "INTERVAL" => Self::Interval,
            "INET" | "CIDR" => Self::Inet,
            "MACADDR" => Self::MacAddr,
            "JSON" => Self::Json,
            "JSONB" => Self::Jsonb,
            "VOID" => Self::Void,
            other => Self::Other(other.to_owned()),
        }
    }
}

/// The datum of a value's bytes.
pub(super) fn decode(bytes: &[u8], shape: &Shape) -> Result<Data, String> {
    let broken = || format!("the server sent a broken value of type {shape:?}");
    let text = |text: String| Ok(Data::Text(text.into()));
    match shape {
        Shape::Bool => Ok(Data::Bool(bytes != [0])),
        Shape::Int2 => Ok(Data::Int(i16::from_be_bytes(fixed(bytes).ok_or_else(broken)?).into())),
        Shape::Int4 => Ok(Data::Int(i32::from_be_bytes(fixed(bytes).ok_or_else(broken)?).into())),
        Shape::Int8 => Ok(Data::Int(i64::from_be_bytes(fixed(bytes).ok_or_else(broken)?))),
        Shape::Oid => Ok(Data::Int(u32::from_be_bytes(fixed(bytes).ok_or_else(broken)?).into())),
        Shape::Float4 => {
            // By its shortest text: 0.1 stays 0.1.
            let float = f32::from_be_bytes(fixed(bytes).ok_or_else(broken)?);
            Ok(Data::Float(float.to_string().parse().unwrap_or(f64::from(float))))
        }
        Shape::Float8 => Ok(Data::Float(f64::from_be_bytes(fixed(bytes).ok_or_else(broken)?))),
        Shape::Numeric => decimal::data_of(bytes).ok_or_else(broken),
        Shape::Text => {
            std::str::from_utf8(bytes).map(|text| Data::Text(text.into())).map_err(|_| broken())
        }
        Shape::Bytea => text(hex(bytes)),
        Shape::Uuid => {
            let number = u128::from_be_bytes(fixed(bytes).ok_or_else(broken)?);
            let (a, b, c) = (number >> 96, (number >> 80) & 0xffff, (number >> 64) & 0xffff);
            let (d, e) = ((number >> 48) & 0xffff, number & 0xffff_ffff_ffff);
            text(format!("{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}"))
        }
        Shape::Date => text(time::date_text(i32::from_be_bytes(fixed(bytes).ok_or_else(broken)?))),
        Shape::Time => text(time::clock_text(i64::from_be_bytes(fixed(bytes).ok_or_else(broken)?))),
        Shape::Timestamp | Shape::TimestampTz => {
            let zone = if *shape == Shape::TimestampTz { "Z" } else { "" };
            let micros = i64::from_be_bytes(fixed(bytes).ok_or_else(broken)?);
            text(time::timestamp_text(micros, zone))
        }
        Shape::Interval => {
            let mut rest = Bytes(bytes);
            let parts = (rest.take(8), rest.int(), rest.int());
            let (Some(micros), Some(days), Some(months)) = parts else { return Err(broken()) };
            let micros = i64::from_be_bytes(fixed(micros).ok_or_else(broken)?);
            text(time::interval_text(months, days, micros))
        }
        Shape::Inet => text(address(bytes).ok_or_else(broken)?),
        Shape::MacAddr => {
            text(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":"))
        }
        Shape::Json => json_data(bytes),
        Shape::Jsonb => match bytes.split_first() {
            Some((1, rest)) => json_data(rest),
            _ => Err(broken()),
        },
        Shape::Void => Ok(Data::Null),
        Shape::Array(of, _) => array(bytes, of).ok_or_else(broken)?,
        Shape::Other(name) => Err(format!(
            "the type {name} is not read; cast the column in the statement, as in `amount::text`"
        )),
    }
}

fn json_data(bytes: &[u8]) -> Result<Data, String> {
    Data::from_json_bytes(bytes)
        .map_err(|error| format!("the server sent JSON that cannot be read: {error}"))
}

fn fixed<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn address(bytes: &[u8]) -> Option<String> {
    let [_, bits, _, _, rest @ ..] = bytes else { return None };
    let (ip, full): (std::net::IpAddr, u8) = match rest.len() {
        4 => (fixed::<4>(rest)?.into(), 32),
        16 => (fixed::<16>(rest)?.into(), 128),
        _ => return None,
    };
    Some(if *bits == full { ip.to_string() } else { format!("{ip}/{bits}") })
}

/// Bytes that are read from the front.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn int(&mut self) -> Option<i32> {
        self.take(4).and_then(fixed).map(i32::from_be_bytes)
    }
}

/// An array; `None` if it is broken, an error if an element is.
fn array(bytes: &[u8], of: &Shape) -> Option<Result<Data, String>> {
    const DIMENSIONS_MAX: i32 = 6;
    let mut rest = Bytes(bytes);
    let dimensions = rest.int().filter(|count| (0..=DIMENSIONS_MAX).contains(count))?;
    rest.int()?;
    rest.int()?;
    let mut lengths = Vec::new();
    for _ in 0..dimensions {
        lengths.push(usize::try_from(rest.int()?).ok()?);
        rest.int()?;
    }
    if lengths.is_empty() {
        return Some(Ok(Data::List(Vec::new().into())));
    }
    elements(&mut rest, &lengths, of)
}

fn elements(rest: &mut Bytes<'_>, lengths: &[usize], of: &Shape) -> Option<Result<Data, String>> {
    let (length, inner) = lengths.split_first()?;
    let mut list = Vec::new();
    for _ in 0..*length {
        let element = if inner.is_empty() {
            match rest.int()? {
                -1 => Ok(Data::Null),
                size => decode(rest.take(usize::try_from(size).ok()?)?, of),
            }
        } else {
            elements(rest, inner, of)?
        };
        match element {
            Ok(data) => list.push(data),
            Err(error) => return Some(Err(error)),
        }
    }
    Some(Ok(Data::List(list.into())))
}

/// The bytes of a parameter; `None` is NULL.
pub(super) fn encode(data: &Data, shape: &Shape) -> Result<Option<Vec<u8>>, String> {
    if matches!(data, Data::Missing | Data::Null) {
        return Ok(None);
    }
    let wrong = || format!("{} cannot be bound as {shape:?}", word(data));
    let int = || whole(data).ok_or_else(wrong);
    let bytes = match shape {
        Shape::Bool => match data {
            Data::Bool(flag) => vec![u8::from(*flag)],
            Data::Int(0) => vec![0],
            Data::Int(1) => vec![1],
            _ => return Err(wrong()),
        },
        Shape::Int2 => i16::try_from(int()?).map_err(|_| wrong())?.to_be_bytes().to_vec(),
        Shape::Int4 => i32::try_from(int()?).map_err(|_| wrong())?.to_be_bytes().to_vec(),
        Shape::Int8 => int()?.to_be_bytes().to_vec(),
        Shape::Oid => u32::try_from(int()?).map_err(|_| wrong())?.to_be_bytes().to_vec(),
        Shape::Float4 => {
            #[expect(clippy::cast_possible_truncation, reason = "the column is that narrow")]
            let float = float(data).ok_or_else(wrong)? as f32;
            float.to_be_bytes().to_vec()
        }
        Shape::Float8 => float(data).ok_or_else(wrong)?.to_be_bytes().to_vec(),
        Shape::Numeric => {
            let text = match data {
                Data::Float(float) => float.to_string(),
                Data::Bool(_) => return Err(wrong()),
                other => crate::fields::plain_text(other).ok_or_else(wrong)?,
            };
            decimal::bytes_of(text.trim()).ok_or_else(wrong)?
        }
        Shape::Text => crate::fields::bytes_of(data),
        Shape::Bytea => unhex(text(data).ok_or_else(wrong)?).ok_or_else(wrong)?,
        Shape::Uuid => {
            let digits: String =
                text(data).ok_or_else(wrong)?.chars().filter(|c| *c != '-').collect();
            unhex(&digits).filter(|bytes| bytes.len() == 16).ok_or_else(wrong)?
        }
        Shape::Date => {
            let days = text(data).and_then(time::parse_date).ok_or_else(wrong)?;
            days.to_be_bytes().to_vec()
        }
        Shape::Time => {
            text(data).and_then(time::parse_clock).ok_or_else(wrong)?.to_be_bytes().to_vec()
        }
        Shape::Timestamp | Shape::TimestampTz => {
            let micros = match data {
                Data::Text(text) if *shape == Shape::Timestamp => time::parse_timestamp(text),
                Data::Text(text) => time::parse_timestamp_tz(text),
                other => number(other).and_then(time::from_epoch_millis),
            };
            micros.ok_or_else(wrong)?.to_be_bytes().to_vec()
        }
        Shape::Json => json_bytes(data),
        Shape::Jsonb => std::iter::once(1).chain(json_bytes(data)).collect(),
        Shape::Array(of, number) => match data {
            Data::List(items) => array_bytes(items, of, *number)?,
            _ => return Err(wrong()),
        },
        Shape::Interval | Shape::Inet | Shape::MacAddr | Shape::Void | Shape::Other(_) => {
            let message = "a parameter of this type is not bound; write `$1::text::<type>` in the \
                           statement";
            return Err(message.to_owned());
        }
    };
    Ok(Some(bytes))
}

fn word(data: &Data) -> &'static str {
    match data {
        Data::Missing | Data::Null => "null",
        Data::Bool(_) => "true or false",
        Data::Int(_) | Data::UInt(_) | Data::Float(_) => "this number",
        Data::Text(_) => "this text",
        Data::List(_) => "a list",
        Data::Map(_) => "an object",
    }
}

fn text(data: &Data) -> Option<&str> {
    match data {
        Data::Text(text) => Some(text),
        _ => None,
    }
}

/// A whole number that keeps its value.
fn whole(data: &Data) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match data {
        Data::Int(int) => Some(*int),
        Data::UInt(uint) => i64::try_from(*uint).ok(),
        #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
        Data::Float(float) => {
            (float.fract() == 0.0 && float.abs() <= EXACT).then_some(*float as i64)
        }
        Data::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn number(data: &Data) -> Option<f64> {
    match data {
        #[expect(clippy::cast_precision_loss, reason = "the column is a double")]
        Data::Int(int) => Some(*int as f64),
        #[expect(clippy::cast_precision_loss, reason = "the column is a double")]
        Data::UInt(uint) => Some(*uint as f64),
        Data::Float(float) => Some(*float),
        _ => None,
    }
}

fn float(data: &Data) -> Option<f64> {
    number(data).or_else(|| text(data).and_then(|text| text.trim().parse().ok()))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let text = text.strip_prefix("\\x").unwrap_or(text);
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let digit =
        |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes()
        .chunks_exact(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(high)? * 16 + digit(low)?),
            _ => None,
        })
        .collect()
}

fn json_bytes(data: &Data) -> Vec<u8> {
    data.to_json_text().into_bytes()
}

fn array_bytes(items: &[Data], of: &Shape, number: u32) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut put = |int: i32| bytes.extend_from_slice(&int.to_be_bytes());
    put(i32::from(!items.is_empty()));
    put(i32::from(items.iter().any(|item| matches!(item, Data::Missing | Data::Null))));
    put(number.cast_signed());
    if !items.is_empty() {
        put(i32::try_from(items.len()).map_err(|_| "the list is too long".to_owned())?);
        put(1);
    }
    for item in items {
        match encode(item, of)? {
            None => bytes.extend_from_slice(&(-1_i32).to_be_bytes()),
            Some(value) => {
                let size =
                    i32::try_from(value.len()).map_err(|_| "an element is too long".to_owned())?;
                bytes.extend_from_slice(&size.to_be_bytes());
                bytes.extend_from_slice(&value);
            }
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
