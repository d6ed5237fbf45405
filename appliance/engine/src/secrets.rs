//! The secrets that a run has used, so that nothing that is kept or shown holds them.
//!
//! A step that goes outside asks for a secret's value by [`Context::secret`]; from then on the value
//! is looked for in everything that leaves the run for people: history, log, faults, issues. What the
//! run computes with is not touched: an answer that holds the secret passes on as it came.
//!
//! A value is found as it is, within JSON text, and percent-encoded as in URLs; a number that is
//! written like it counts too. It is not found in other disguises (base64, a part of it, reversed).
//!
//! **Invariants**: what [`Secrets::scrub`] gives holds none of the values; values shorter than
//! [`SECRET_BYTES_MIN`] are not looked for: they cannot be told from ordinary text, and replacing them
//! everywhere would give them away.
//!
//! [`Context::secret`]: crate::step::Context::secret

use millrace_flow::{Data, Map};
use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

/// Shortest secret that is looked for in texts, bytes.
pub const SECRET_BYTES_MIN: usize = 4;

/// Names and values of secrets; each value in all forms that are looked for, the longest first.
#[derive(Clone, Default)]
pub struct Secrets(Vec<(Arc<str>, Arc<str>)>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

impl Secrets {
    /// Remembers a value that must not be shown.
    pub fn add(&mut self, name: &str, value: &Arc<str>) {
        if value.len() < SECRET_BYTES_MIN || self.0.iter().any(|(_, known)| known == value) {
            return;
        }
        let name: Arc<str> = name.into();
        for form in [in_json(value), in_url(value)].into_iter().flatten() {
            self.0.push((Arc::clone(&name), form.into()));
        }
        self.0.push((name, Arc::clone(value)));
        // The longest first: a secret may be a part of another.
        self.0.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text with each value replaced by `<secret name>`.
    #[must_use]
    pub fn scrub(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, value)| match text.contains(&**value) {
            true => text.replace(&**value, &format!("<secret {name}>")),
            false => text,
        })
    }

    /// The datum with each value replaced in its texts, names of fields included.
    #[must_use]
    pub fn scrub_data(&self, data: &Data) -> Data {
        match data {
            Data::Missing | Data::Null | Data::Bool(_) => data.clone(),
            Data::Int(_) | Data::UInt(_) | Data::Float(_) => {
                let text = data.to_json_text();
                let found = self.0.iter().find(|(_, value)| **value == *text);
                found.map_or_else(|| data.clone(), |(name, _)| shown(name))
            }
            Data::Text(text) if self.is_in(text) => Data::Text(self.scrub(text).into()),
            Data::Text(_) => data.clone(),
            Data::List(items) => {
                Data::List(items.iter().map(|item| self.scrub_data(item)).collect())
            }
            Data::Map(fields) => {
                let mut map = Map::with_capacity(fields.len());
                for (name, field) in fields.iter() {
                    let field = self.scrub_data(field);
                    match self.is_in(name) {
                        true => map.set(self.scrub(name), field),
                        false => map.set(Arc::clone(name), field),
                    }
                }
                Data::Map(Arc::new(map))
            }
        }
    }

    fn is_in(&self, text: &str) -> bool {
        self.0.iter().any(|(_, value)| text.contains(&**value))
    }
}

fn shown(name: &str) -> Data {
    Data::Text(format!("<secret {name}>").into())
}

/// The value as it stands within JSON text, if it is another there.
fn in_json(value: &str) -> Option<String> {
    let quoted = Data::text(value).to_json_text();
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    (inner != value).then(|| inner.to_owned())
}

/// The value percent-encoded, if it is another then.
fn in_url(value: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    if value.bytes().all(is_plain) {
        return None;
    }
    let mut out = String::with_capacity(value.len() * 2);
    for byte in value.bytes() {
        if is_plain(byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _infallible = write!(out, "%{byte:02X}");
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn replaces_secrets_by_their_names() {
        let mut secrets = Secrets::default();
        secrets.add("short", &"abcd".into());
        secrets.add("long", &"abcdef".into());
        secrets.add("empty", &"".into());
        secrets.add("letter", &"f".into());
        secrets.add("three", &"log".into());
        let text = secrets.scrub("login abcdef failed for abcd");
        assert_eq!(text, "login <secret long> failed for <secret short>");
        assert!(!format!("{secrets:?}").contains("abcd"));
    }

    #[test]
    fn finds_a_value_in_the_forms_that_servers_give_back() {
        let mut secrets = Secrets::default();
        secrets.add("token", &"p\"ss/wörd".into());
        secrets.add("pin", &"4711081".into());
        for text in ["p\"ss/wörd", r#"{"got":"p\"ss/wörd"}"#, "?key=p%22ss%2Fw%C3%B6rd"] {
            assert!(secrets.scrub(text).contains("<secret token>"), "{text}");
        }
        let data = Data::from(&json!({
            "echo": ["Bearer p\"ss/wörd", 4_711_081, 47_110_810, true, null],
            "p\"ss/wörd": {"pin": "is 4711081."},
        }));
        let shown = crate::json::value_of(&secrets.scrub_data(&data));
        let wanted = json!({
            "echo": ["Bearer <secret token>", "<secret pin>", 47_110_810, true, null],
            "<secret token>": {"pin": "is <secret pin>."},
        });
        assert_eq!(shown, wanted);
    }
}
