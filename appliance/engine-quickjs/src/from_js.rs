//! JavaScript into data, field by field; the way back of [`into_js`](crate::into_js).
//!
//! | in JavaScript | datum |
//! |---|---|
//! | `undefined` | missing; as a field it is dropped, in a list it is null |
//! | number without fraction within +-(2^53 - 1) | integer |
//! | any other number; NaN, infinities, -0 | float |
//! | `BigInt` that 64 bits hold | integer, exactly |
//! | text | text; half a surrogate pair becomes U+FFFD |
//! | list; `Set`, typed array, `ArrayBuffer` | list |
//! | object, instance of a class, `Map` | map of its own enumerable fields |
//! | `Date` | RFC 3339 text in UTC; null if invalid |
//! | `Error` | map of `name` and `message` |
//! | `RegExp`; boxed primitives | their text; the primitive |
//! | function, symbol, promise, longer `BigInt` | refused |
//!
//! Reading runs a script's code (getters), so it is inside the call's budget like everything else.
//!
//! **Invariants**
//! - Every entry costs bytes, so a result that refers to itself ends at the depth or at the bytes.
//! - No integer is rounded.

use std::sync::Arc;

use millrace_engine::script::FaultKind;
use millrace_flow::{Data, Map};
use rquickjs::{
    Array, Atom, BigInt, Ctx, Error, Filter, Function, Object, Persistent, Type, Value,
};

use crate::into_js::SAFE_INTEGER_MAX;
use crate::meter::Meter;
use crate::prelude::Sandbox;

/// Results nest so deep.
pub(crate) use millrace_flow::data::DEPTH_MAX;
/// What an entry counts beside its text.
const ENTRY_BYTES: usize = 8;
/// The budget is asked once per so many entries.
const ENTRIES_PER_ASK: u32 = 256;

/// Functions of the sandbox that conversions need, kept between calls.
pub(crate) struct Tools {
    unwrap: Persistent<Function<'static>>,
    fit: Persistent<Function<'static>>,
    well_formed: Persistent<Function<'static>>,
    plain: Persistent<Object<'static>>,
}

impl Tools {
    pub(crate) fn new<'js>(ctx: &Ctx<'js>, sandbox: &Sandbox<'js>) -> rquickjs::Result<Self> {
        let plain = Object::new(ctx.clone())?.get_prototype().ok_or(Error::Unknown)?;
        Ok(Self {
            unwrap: Persistent::save(ctx, sandbox.unwrap.clone()),
            fit: Persistent::save(ctx, sandbox.fit.clone()),
            well_formed: Persistent::save(ctx, sandbox.well_formed.clone()),
            plain: Persistent::save(ctx, plain),
        })
    }

    /// What stands for an object that is not plain; see `unwrap` in `guards.js`.
    pub(crate) fn unwrap<'js>(&self, value: &Value<'js>) -> rquickjs::Result<Value<'js>> {
        self.unwrap.clone().restore(value.ctx())?.call((value.clone(),))
    }

    /// Which 64-bit form holds a `BigInt`: 1 signed, 2 unsigned, 0 none.
    pub(crate) fn form(&self, value: &Value<'_>) -> rquickjs::Result<i32> {
        self.fit.clone().restore(value.ctx())?.call((value.clone(),))
    }

    /// A text, whatever its surrogates.
    pub(crate) fn text(&self, value: &Value<'_>) -> rquickjs::Result<String> {
        let text = value.as_string().ok_or(Error::Unknown)?;
        match text.to_string() {
            Err(Error::Utf8(_)) => {
                self.well_formed.clone().restore(value.ctx())?.call((value.clone(),))
            }
            // The engine gives no bytes when it has no memory for them.
            read => read,
        }
    }
}

/// Why a value cannot be data.
#[derive(Debug)]
pub(crate) enum ReadFault {
    /// Reading it threw.
    Thrown(Error),
    /// The budget is used up.
    Over,
    /// It is not allowed.
    Refused(FaultKind, String),
}

impl From<Error> for ReadFault {
    fn from(error: Error) -> Self {
        Self::Thrown(error)
    }
}

/// Reads one value.
pub(crate) struct Reader<'a, 'js> {
    meter: &'a Meter,
    tools: &'a Tools,
    bytes_left: usize,
    bytes_max: usize,
    entries: u32,
    plain: Option<Object<'js>>,
    /// Names on the way to a fault, innermost first.
    way: Vec<String>,
}

impl<'a, 'js> Reader<'a, 'js> {
    pub(crate) fn new(meter: &'a Meter, tools: &'a Tools, bytes_max: usize) -> Self {
        Self {
            meter,
            tools,
            bytes_left: bytes_max,
            bytes_max,
            entries: 0,
            plain: None,
            way: Vec::new(),
        }
    }

    /// Reads a value; `root` is what a fault calls it.
    pub(crate) fn read(mut self, root: &str, value: &Value<'js>) -> Result<Data, ReadFault> {
        self.value(value, 0).map_err(|fault| match fault {
            // The way into what contains itself says nothing.
            ReadFault::Refused(FaultKind::Output, text) => {
                ReadFault::Refused(FaultKind::Output, format!("{root} {text}"))
            }
            ReadFault::Refused(kind, text) => {
                let way: String = self.way.iter().rev().map(String::as_str).collect();
                ReadFault::Refused(kind, format!("{root}{way} {text}"))
            }
            other => other,
        })
    }

    fn value(&mut self, value: &Value<'js>, depth: usize) -> Result<Data, ReadFault> {
        self.take(ENTRY_BYTES)?;
        match value.type_of() {
            Type::Undefined | Type::Uninitialized => Ok(Data::Missing),
            Type::Null => Ok(Data::Null),
            Type::Bool => Ok(Data::Bool(value.as_bool().unwrap_or_default())),
            Type::Int => Ok(Data::Int(value.as_int().unwrap_or_default().into())),
            Type::Float => Ok(number(value.as_float().unwrap_or(f64::NAN))),
            Type::BigInt => self.big(value),
            Type::String => {
                let text = self.tools.text(value)?;
                self.take(text.len())?;
                Ok(Data::Text(text.into()))
            }
            Type::Array | Type::Object | Type::Exception => self.object(value, depth),
            Type::Function | Type::Constructor => refused("is a function"),
            Type::Symbol => refused("is a symbol"),
            Type::Promise => refused("is a promise: await it"),
            Type::Proxy => refused("is $step or $variable as a whole: name what you need"),
            Type::Module | Type::Unknown => refused("cannot be data"),
        }
    }

    fn object(&mut self, value: &Value<'js>, depth: usize) -> Result<Data, ReadFault> {
        if depth >= DEPTH_MAX {
            let text = format!("is nested deeper than {DEPTH_MAX}, or contains itself");
            return Err(ReadFault::Refused(FaultKind::Output, text));
        }
        if let Some(array) = value.as_array() {
            return self.list(array, depth);
        }
        let Some(object) = value.as_object() else { return refused("cannot be data") };
        if value.is_error() {
            return self.error(object);
        }
        if self.is_plain(object)? {
            return self.map(object, depth);
        }
        let taken = self.tools.unwrap(value)?;
        if let Some(what) = taken.as_string() {
            return refused(&format!("is {}", what.to_string()?));
        }
        match taken.as_array() {
            Some(taken) => self.value(&taken.get(0)?, depth + 1),
            None => self.map(object, depth),
        }
    }

    /// Whether an object has the prototype of `{}`, or none.
    fn is_plain(&mut self, object: &Object<'js>) -> Result<bool, ReadFault> {
        if self.plain.is_none() {
            self.plain = Some(self.tools.plain.clone().restore(object.ctx())?);
        }
        let prototype = object.get_prototype();
        Ok(prototype.is_none() || prototype == self.plain)
    }

    fn list(&mut self, array: &Array<'js>, depth: usize) -> Result<Data, ReadFault> {
        let Some(count) = length(array)? else { return Err(self.too_large()) };
        if count.saturating_mul(ENTRY_BYTES) > self.bytes_left {
            return Err(self.too_large());
        }
        let mut entries = Vec::with_capacity(count);
        for place in 0..count {
            let entry: Value<'js> = array.get(place)?;
            entries.push(match self.value(&entry, depth + 1) {
                Ok(Data::Missing) => Data::Null,
                Ok(data) => data,
                Err(fault) => {
                    self.way.push(format!("[{place}]"));
                    return Err(fault);
                }
            });
        }
        Ok(Data::List(entries.into()))
    }

    fn map(&mut self, object: &Object<'js>, depth: usize) -> Result<Data, ReadFault> {
        let mut map = Map::new();
        for name in object.own_keys::<Atom<'js>>(Filter::default()) {
            let name = name?;
            let entry: Value<'js> = object.get(name.clone())?;
            if entry.is_undefined() {
                self.take(ENTRY_BYTES)?;
                continue;
            }
            let name = self.tools.text(name.to_js_string()?.as_value())?;
            self.take(name.len())?;
            match self.value(&entry, depth + 1) {
                Ok(data) => map.set(name, data),
                Err(fault) => {
                    self.way.push(format!(".{name}"));
                    return Err(fault);
                }
            }
        }
        Ok(Data::Map(Arc::new(map)))
    }

    fn error(&mut self, object: &Object<'js>) -> Result<Data, ReadFault> {
        let mut map = Map::new();
        for name in ["name", "message"] {
            let value: Value<'js> = object.get(name)?;
            if value.is_string() {
                let text = self.tools.text(&value)?;
                self.take(text.len())?;
                map.set(name, Data::Text(text.into()));
            }
        }
        Ok(Data::Map(Arc::new(map)))
    }

    fn big(&mut self, value: &Value<'js>) -> Result<Data, ReadFault> {
        let low = |value: &Value<'js>| -> Result<i64, Error> {
            BigInt::from_value(value.clone())?.to_i64()
        };
        match self.tools.form(value)? {
            1 => Ok(Data::Int(low(value)?)),
            // The low 64 bits, which are all of it.
            2 => Ok(Data::UInt(low(value)?.cast_unsigned())),
            _ => refused("is an integer of more than 64 bits"),
        }
    }

    fn take(&mut self, bytes: usize) -> Result<(), ReadFault> {
        self.entries += 1;
        if self.entries.is_multiple_of(ENTRIES_PER_ASK) && self.meter.is_over() {
            return Err(ReadFault::Over);
        }
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or_else(|| self.too_large())?;
        Ok(())
    }

    fn too_large(&self) -> ReadFault {
        let text = format!("is larger than {} bytes, or contains itself", self.bytes_max);
        ReadFault::Refused(FaultKind::Output, text)
    }
}

fn refused(what: &str) -> Result<Data, ReadFault> {
    Err(ReadFault::Refused(FaultKind::Unusable, what.to_owned()))
}

fn number(number: f64) -> Data {
    #[expect(clippy::cast_precision_loss, reason = "2^53 - 1 is exact")]
    let is_safe = number.abs() <= SAFE_INTEGER_MAX as f64;
    if is_safe
        && number.trunc().to_bits() == number.to_bits()
        && number.to_bits() != (-0.0_f64).to_bits()
    {
        #[expect(clippy::cast_possible_truncation, reason = "an integer within 53 bits")]
        return Data::Int(number as i64);
    }
    Data::Float(number)
}

/// The length of a list; none for one that is too long to be looked at (an array may say that it
/// has 4 billion entries, most of which are not there).
pub(crate) fn length(array: &Array<'_>) -> rquickjs::Result<Option<usize>> {
    let length: f64 = array.as_object().get("length")?;
    Ok((length <= f64::from(i32::MAX)).then(|| array.len()))
}
