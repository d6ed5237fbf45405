//! Data into JavaScript, field by field.
//!
//! | datum | in JavaScript |
//! |---|---|
//! | missing | `undefined`; as a field it is left out |
//! | integer within +-(2^53 - 1) | number |
//! | any other integer | `BigInt`, exactly |
//! | float, NaN and infinities too | number |
//! | text, list, map | text, list, plain object |
//!
//! **Invariants**
//! - No integer is rounded.
//! - A field named `__proto__` is a field.

use std::sync::Arc;

use millrace_flow::Data;
use rquickjs::object::Property;
use rquickjs::{Array, BigInt, Ctx, Exception, IntoJs, Object, Result, String, Value};

use crate::roots::Want;

/// The largest integer that a number holds exactly with all its neighbors.
pub(crate) const SAFE_INTEGER_MAX: i64 = (1 << 53) - 1;
/// Deeper data are refused: they were not made by anything that Millrace reads.
const DEPTH_MAX: usize = 200;

/// Converts all of a datum.
pub(crate) fn whole<'js>(ctx: &Ctx<'js>, data: &Data) -> Result<Value<'js>> {
    deep(ctx, data, 0)
}

/// Converts what a source can reach of a datum.
pub(crate) fn wanted<'js>(ctx: &Ctx<'js>, data: &Data, want: &Want) -> Result<Value<'js>> {
    let (Want::Fields(fields), Data::Map(map)) = (want, data) else { return whole(ctx, data) };
    let object = Object::new(ctx.clone())?;
    for (name, want) in fields {
        if let Some(data) = map.get(name).filter(|data| !matches!(data, Data::Missing)) {
            set(&object, name, wanted(ctx, data, want)?)?;
        }
    }
    Ok(object.into_value())
}

/// Sets a field of a plain object.
pub(crate) fn set<'js>(object: &Object<'js>, name: &Arc<str>, value: Value<'js>) -> Result<()> {
    if &**name == "__proto__" {
        let all = Property::from(value).configurable().enumerable().writable();
        return object.prop("__proto__", all);
    }
    object.set(&**name, value)
}

fn deep<'js>(ctx: &Ctx<'js>, data: &Data, depth: usize) -> Result<Value<'js>> {
    if depth > DEPTH_MAX {
        let text = format!("the input is nested deeper than {DEPTH_MAX}");
        return Err(Exception::throw_range(ctx, &text));
    }
    match data {
        Data::Missing => Ok(Value::new_undefined(ctx.clone())),
        Data::Null => Ok(Value::new_null(ctx.clone())),
        Data::Bool(is_true) => Ok(Value::new_bool(ctx.clone(), *is_true)),
        Data::Int(number) => integer(ctx, *number),
        Data::UInt(number) => match i64::try_from(*number) {
            Ok(number) => integer(ctx, number),
            Err(_) => Ok(BigInt::from_u64(ctx.clone(), *number)?.into_value()),
        },
        Data::Float(number) => Ok(Value::new_float(ctx.clone(), *number)),
        Data::Text(text) => Ok(String::from_str(ctx.clone(), text)?.into_value()),
        Data::List(entries) => {
            let array = Array::new(ctx.clone())?;
            for (place, entry) in entries.iter().enumerate() {
                array.set(place, deep(ctx, entry, depth + 1)?)?;
            }
            Ok(array.into_value())
        }
        Data::Map(map) => {
            let object = Object::new(ctx.clone())?;
            for (name, data) in map.iter().filter(|(_, data)| !matches!(data, Data::Missing)) {
                set(&object, name, deep(ctx, data, depth + 1)?)?;
            }
            Ok(object.into_value())
        }
    }
}

fn integer<'js>(ctx: &Ctx<'js>, number: i64) -> Result<Value<'js>> {
    if let Ok(small) = i32::try_from(number) {
        return small.into_js(ctx);
    }
    if (-SAFE_INTEGER_MAX..=SAFE_INTEGER_MAX).contains(&number) {
        #[expect(clippy::cast_precision_loss, reason = "within 53 bits it is exact")]
        return Ok(Value::new_float(ctx.clone(), number as f64));
    }
    Ok(BigInt::from_i64(ctx.clone(), number)?.into_value())
}
