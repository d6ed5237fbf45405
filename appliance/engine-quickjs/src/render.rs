//! Values as people read them: lines of the console, and what a script threw.
//!
//! Texts stand as they are at the top and in quotes inside; objects and lists look like JSON, cut
//! at a depth, a number of entries and a length, each cut marked with `…`.
//!
//! **Invariants**
//! - Never fails: what cannot be read is shown as `<unreadable>`.
//! - The work is bounded by [`LINE_BYTES_MAX`], whatever the value.

use rquickjs::{Atom, Coerced, Ctx, Filter, Type, Value};

use crate::from_js::Tools;

/// Longest line.
pub(crate) const LINE_BYTES_MAX: usize = 4096;
const DEPTH_MAX: usize = 4;
const ENTRIES_MAX: usize = 100;
const UNREADABLE: &str = "<unreadable>";

/// Shows values in one line, a blank in between.
pub(crate) fn line<'js>(
    ctx: &Ctx<'js>,
    tools: &Tools,
    values: impl Iterator<Item = Value<'js>>,
) -> String {
    let mut text = String::new();
    for (place, value) in values.enumerate() {
        if place > 0 {
            text.push(' ');
        }
        if show(&mut text, tools, &value, 0).is_err() {
            // What was thrown while reading must not be taken for the script's own.
            drop(ctx.catch());
            text.push_str(UNREADABLE);
        }
        if text.len() > LINE_BYTES_MAX {
            break;
        }
    }
    cut(text, LINE_BYTES_MAX)
}

/// Cuts a text to so many bytes, at a character.
pub(crate) fn cut(mut text: String, bytes_max: usize) -> String {
    if text.len() > bytes_max {
        let end = (0..=bytes_max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

fn show<'js>(
    out: &mut String,
    tools: &Tools,
    value: &Value<'js>,
    depth: usize,
) -> rquickjs::Result<()> {
    match value.type_of() {
        Type::Undefined | Type::Uninitialized => out.push_str("undefined"),
        Type::Null => out.push_str("null"),
        Type::Bool | Type::Int | Type::Float => {
            let text: Coerced<String> = value.get()?;
            out.push_str(&text.0);
        }
        Type::String => {
            let text = tools.text(value)?;
            if depth == 0 {
                out.push_str(&text);
            } else {
                quote(out, &cut(text, LINE_BYTES_MAX));
            }
        }
        Type::BigInt => {
            // The text of a long one would take long.
            if tools.form(value)? == 0 {
                out.push_str("<long integer>");
            } else {
                let text: Coerced<String> = value.get()?;
                out.push_str(&text.0);
                out.push('n');
            }
        }
        Type::Symbol => out.push_str("<symbol>"),
        Type::Function | Type::Constructor => {
            let name: Option<String> = value
                .as_object()
                .and_then(|object| object.get::<_, Value<'js>>("name").ok())
                .and_then(|name| tools.text(&name).ok());
            out.push_str(&format!("<function {}>", cut(name.unwrap_or_default(), 100)));
        }
        Type::Promise => out.push_str("<promise>"),
        Type::Proxy | Type::Module | Type::Unknown => out.push_str("<object>"),
        Type::Exception => error(out, tools, value)?,
        Type::Array => array(out, tools, value, depth)?,
        Type::Object => object(out, tools, value, depth)?,
    }
    Ok(())
}

fn error(out: &mut String, tools: &Tools, value: &Value<'_>) -> rquickjs::Result<()> {
    let Some(object) = value.as_object() else { return Ok(()) };
    for (place, field) in ["name", "message"].into_iter().enumerate() {
        let value: Value<'_> = object.get(field)?;
        if place > 0 {
            out.push_str(": ");
        }
        if value.is_string() {
            out.push_str(&cut(tools.text(&value)?, LINE_BYTES_MAX));
        }
    }
    Ok(())
}

fn array(out: &mut String, tools: &Tools, value: &Value<'_>, depth: usize) -> rquickjs::Result<()> {
    let Some(array) = value.as_array() else { return Ok(()) };
    if depth >= DEPTH_MAX {
        out.push_str("[…]");
        return Ok(());
    }
    out.push('[');
    let Some(count) = crate::from_js::length(array)? else {
        out.push_str("…]");
        return Ok(());
    };
    for place in 0..count {
        if place > 0 {
            out.push_str(", ");
        }
        if place >= ENTRIES_MAX || out.len() > LINE_BYTES_MAX {
            out.push('…');
            break;
        }
        show(out, tools, &array.get(place)?, depth + 1)?;
    }
    out.push(']');
    Ok(())
}

fn object<'js>(
    out: &mut String,
    tools: &Tools,
    value: &Value<'js>,
    depth: usize,
) -> rquickjs::Result<()> {
    let Some(object) = value.as_object() else { return Ok(()) };
    if depth >= DEPTH_MAX {
        out.push_str("{…}");
        return Ok(());
    }
    let taken = tools.unwrap(value)?;
    if let Some(taken) = taken.as_array() {
        return show(out, tools, &taken.get(0)?, depth + 1);
    }
    out.push('{');
    for (place, name) in object.own_keys::<Atom<'js>>(Filter::default()).enumerate() {
        let name = name?;
        if place > 0 {
            out.push_str(", ");
        }
        if place >= ENTRIES_MAX || out.len() > LINE_BYTES_MAX {
            out.push('…');
            break;
        }
        out.push_str(&cut(tools.text(name.to_js_string()?.as_value())?, 200));
        out.push_str(": ");
        show(out, tools, &object.get(name)?, depth + 1)?;
    }
    out.push('}');
    Ok(())
}

fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}
