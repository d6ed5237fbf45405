//! Plain paths: `$trigger.value`, `$step["scale"].value`, `$item.list[0].name`.
//!
//! They are followed in Rust, in tens of nanoseconds, so that a pipeline of nothing else needs no
//! script runtime at all. What they give is what JavaScript would give: a member that is not
//! there is `undefined`, a member of `undefined` or `null` is an error, a list and a text have a
//! `length`.
//!
//! **Invariants**: a text that is not clearly a plain path is none, and becomes an expression.

use crate::script::Root;
use millrace_flow::Data;
use std::sync::Arc;

/// A plain path, compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accessor {
    root: Start,
    keys: Box<[Key]>,
}

/// Where a path starts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Start {
    Trigger,
    Item,
    Run,
    Step(Arc<str>),
    Variable(Arc<str>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    Name(Arc<str>),
    Index(usize),
}

/// A member of what is not there, as JavaScript's TypeError.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot read `{member}` of {of}; check that what stands before it is there")]
pub struct NotThere {
    /// The member that was asked for.
    pub member: String,
    /// `undefined` or `null`.
    pub of: &'static str,
}

impl Accessor {
    /// Reads a path; `None` if the text is anything else.
    #[must_use]
    pub fn parse(source: &str) -> Option<Self> {
        let mut rest = source.trim();
        let name = take_name(&mut rest)?;
        let mut keys = Vec::new();
        while !rest.is_empty() {
            keys.push(take_key(&mut rest)?);
        }
        let mut keys = keys.into_iter();
        let root = match name {
            "$trigger" => Start::Trigger,
            "$item" => Start::Item,
            "$run" => Start::Run,
            "$step" => Start::Step(named(keys.next()?)?),
            "$variable" => Start::Variable(named(keys.next()?)?),
            _ => return None,
        };
        Some(Self { root, keys: keys.collect() })
    }

    /// The root that it starts from.
    #[must_use]
    pub fn root(&self) -> Root<'_> {
        match &self.root {
            Start::Trigger => Root::Trigger,
            Start::Item => Root::Item,
            Start::Run => Root::Run,
            Start::Step(name) => Root::Step(name),
            Start::Variable(name) => Root::Variable(name),
        }
    }

    /// Follows the path from what its root holds.
    ///
    /// # Errors
    /// A member of what is not there.
    pub fn follow(&self, root: &Data) -> Result<Data, NotThere> {
        let mut at = root;
        let mut keys = self.keys.iter();
        while let Some(key) = keys.next() {
            at = match (at, key) {
                (Data::Missing, key) => return Err(not_there(key, "undefined")),
                (Data::Null, key) => return Err(not_there(key, "null")),
                (Data::Map(map), Key::Name(name)) => match map.get(name) {
                    Some(member) => member,
                    None => &Data::Missing,
                },
                (Data::Map(map), Key::Index(index)) => match map.get(&index.to_string()) {
                    Some(member) => member,
                    None => &Data::Missing,
                },
                (Data::List(items), Key::Index(index)) => {
                    items.get(*index).unwrap_or(&Data::Missing)
                }
                (Data::List(items), Key::Name(name)) if &**name == "length" => {
                    return end(items.len(), keys.as_slice());
                }
                (Data::Text(text), Key::Name(name)) if &**name == "length" => {
                    return end(text.encode_utf16().count(), keys.as_slice());
                }
                (Data::Text(text), Key::Index(index)) if keys.as_slice().is_empty() => {
                    return Ok(letter(text, *index));
                }
                _ => &Data::Missing,
            };
        }
        Ok(at.clone())
    }
}

/// A length is a number; nothing can be followed further from it.
fn end(length: usize, rest: &[Key]) -> Result<Data, NotThere> {
    match rest {
        [] => Ok(Data::Int(i64::try_from(length).unwrap_or(i64::MAX))),
        [_] => Ok(Data::Missing),
        [_, further, ..] => Err(not_there(further, "undefined")),
    }
}

fn letter(text: &str, index: usize) -> Data {
    match text.encode_utf16().nth(index) {
        Some(unit) => Data::Text(String::from_utf16_lossy(&[unit]).into()),
        None => Data::Missing,
    }
}

fn not_there(key: &Key, of: &'static str) -> NotThere {
    let member = match key {
        Key::Name(name) => name.to_string(),
        Key::Index(index) => index.to_string(),
    };
    NotThere { member, of }
}

fn named(key: Key) -> Option<Arc<str>> {
    match key {
        Key::Name(name) => Some(name),
        Key::Index(_) => None,
    }
}

fn take_name<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let is_first = |c: char| c.is_alphabetic() || c == '_' || c == '$';
    if !rest.starts_with(is_first) {
        return None;
    }
    let end =
        rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
    let (name, after) = rest.split_at_checked(end)?;
    *rest = after;
    Some(name)
}

fn take_key(rest: &mut &str) -> Option<Key> {
    if let Some(after) = rest.strip_prefix('.') {
        *rest = after;
        let name = take_name(rest)?;
        return Some(Key::Name(name.into()));
    }
    let after = rest.strip_prefix('[')?;
    if let Some(quoted) = after.strip_prefix(['"', '\'']) {
        let quote = after.chars().next()?;
        let (name, after) = quoted.split_once(quote)?;
        // With an escape in it, it is for JavaScript to read.
        if name.contains('\\') {
            return None;
        }
        *rest = after.strip_prefix(']')?;
        return Some(Key::Name(name.into()));
    }
    let (digits, after) = after.split_once(']')?;
    if digits.is_empty() || digits.len() > 9 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    *rest = after;
    digits.parse().ok().map(Key::Index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(json: &str) -> Data {
        crate::json::data_of(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn reads_plain_paths_and_leaves_the_rest_to_scripts() {
        for plain in [
            "$trigger",
            "$trigger.value",
            " $item.list[0].name ",
            "$step[\"scale a\"].value",
            "$step.scale",
            "$variable['x'].y",
            "$run.id",
        ] {
            assert!(Accessor::parse(plain).is_some(), "{plain}");
        }
        for other in [
            "",
            "1",
            "$trigger.value + 1",
            "$trigger.value()",
            "$trigger?.value",
            "$step",
            "$step[0]",
            "$item[-1]",
            "$item[i]",
            "$item[\"a\\\"b\"]",
            "Math.PI",
            "$trigger.value.",
            "$trigger value",
        ] {
            assert!(Accessor::parse(other).is_none(), "{other}");
        }
    }

    #[test]
    fn follows_as_javascript_does() {
        let root = data(r#"{"a":[1,{"b":null}],"t":"Öl"}"#);
        let check = |path: &str, expected: Result<Data, &'static str>| {
            let found = Accessor::parse(path).unwrap().follow(&root);
            assert_eq!(found.map_err(|fault| fault.of), expected, "{path}");
        };
        check("$item.a[0]", Ok(Data::Int(1)));
        check("$item.a[7]", Ok(Data::Missing));
        check("$item.a.length", Ok(Data::Int(2)));
        check("$item.a.length.x", Ok(Data::Missing));
        check("$item.a.length.x.y", Err("undefined"));
        check("$item.a[1].b", Ok(Data::Null));
        check("$item.a[1].b.c", Err("null"));
        check("$item.x", Ok(Data::Missing));
        check("$item.x.y", Err("undefined"));
        check("$item.t.length", Ok(Data::Int(2)));
        check("$item.t[0]", Ok(Data::Text("Ö".into())));
        check("$item.t.x", Ok(Data::Missing));
    }
}
