//! What a message holds, as data and back.
//!
//! **Invariants**: every payload has a datum in the form `auto`; topics are checked before they
//! reach the codec.

use crate::fields::bytes_of;
use crate::limits::MQTT_PAYLOAD_BYTES_MAX;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use millrace_engine::step::StepFault;
use millrace_flow::{Data, Map};
use std::sync::Arc;

/// How payloads are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Auto,
    Json,
    Text,
    Base64,
}

/// The bytes of a value.
pub(crate) fn payload(value: &Data, form: Form) -> Result<Vec<u8>, StepFault> {
    let bytes = match (form, value) {
        (Form::Base64, Data::Text(text)) => STANDARD.decode(text.trim()).map_err(|error| {
            StepFault::lasting("bad_input", format!("the value is no base64: {error}"))
        })?,
        (Form::Base64, _) => {
            return Err(StepFault::lasting("bad_input", "the value is no base64 text"));
        }
        (Form::Json, Data::Text(_)) => value.to_json_text().into_bytes(),
        _ => bytes_of(value),
    };
    if bytes.len() > MQTT_PAYLOAD_BYTES_MAX {
        let message =
            format!("the payload has {} bytes, {MQTT_PAYLOAD_BYTES_MAX} at most", bytes.len());
        return Err(StepFault::lasting("limit", message));
    }
    Ok(bytes)
}

/// A topic that can be published to.
pub(crate) fn check_topic(topic: &str) -> Result<(), StepFault> {
    let is_good = !topic.is_empty()
        && topic.len() <= usize::from(u16::MAX)
        && !topic.contains(['+', '#', '\0']);
    if is_good {
        return Ok(());
    }
    let shown = crate::text::cut(topic, 100);
    Err(StepFault::lasting("bad_input", format!("\"{shown}\" is no topic to publish to")))
}

/// `$trigger` of a message: `{ topic, payload, json, qos, retain }`; `json` only if it is JSON.
/// `None` if it should be JSON and is not.
pub(crate) fn message(
    topic: &str,
    bytes: &[u8],
    qos: u8,
    retain: bool,
    form: Form,
) -> Option<Data> {
    let parsed = match form {
        Form::Auto | Form::Json => Data::from_json_bytes(bytes).ok(),
        Form::Text | Form::Base64 => None,
    };
    let base64 = || Data::Text(STANDARD.encode(bytes).into());
    let payload = match (form, &parsed) {
        (Form::Json, None) => return None,
        (_, Some(parsed)) => parsed.clone(),
        (Form::Base64, None) => base64(),
        (Form::Text, None) => Data::Text(String::from_utf8_lossy(bytes).into()),
        (Form::Auto, None) => match std::str::from_utf8(bytes) {
            Ok(text) => Data::Text(text.into()),
            Err(_) => base64(),
        },
    };
    let mut map = Map::new();
    map.set("topic", Data::Text(topic.into()));
    map.set("payload", payload);
    if let Some(parsed) = parsed {
        map.set("json", parsed);
    }
    map.set("qos", Data::Int(i64::from(qos)));
    map.set("retain", Data::Bool(retain));
    Some(Data::Map(Arc::new(map)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], form: Form) -> Option<(Data, bool)> {
        match message("a/b", bytes, 1, false, form)? {
            Data::Map(map) => {
                Some((map.get("payload").unwrap().clone(), map.get("json").is_some()))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_payload_has_a_datum() {
        let text = |text: &str| Data::Text(text.into());
        assert_eq!(read(b"21.5", Form::Auto), Some((Data::Float(21.5), true)));
        assert_eq!(
            read(b"9007199254740993", Form::Auto),
            Some((Data::Int(9_007_199_254_740_993), true))
        );
        assert_eq!(read(b"on", Form::Auto), Some((text("on"), false)));
        assert_eq!(read(b"", Form::Auto), Some((text(""), false)));
        assert_eq!(read(&[0xff, 0], Form::Auto), Some((text("/wA="), false)));
        assert_eq!(read(b"{", Form::Json), None);
        assert_eq!(read(b"5", Form::Text), Some((text("5"), false)));
        assert_eq!(read(b"5", Form::Base64), Some((text("NQ=="), false)));
        let deep = "[".repeat(100_000);
        assert!(read(deep.as_bytes(), Form::Auto).is_some());
    }

    #[test]
    fn values_become_bytes_and_topics_are_checked() {
        let text = |text: &str| Data::Text(text.into());
        assert_eq!(payload(&text("on"), Form::Auto).unwrap(), b"on");
        assert_eq!(payload(&text("on"), Form::Json).unwrap(), b"\"on\"");
        assert_eq!(payload(&Data::Float(1.5), Form::Auto).unwrap(), b"1.5");
        assert_eq!(payload(&text("NQ=="), Form::Base64).unwrap(), b"5");
        payload(&text("!"), Form::Base64).unwrap_err();
        payload(&Data::Int(5), Form::Base64).unwrap_err();
        let big = text(&"x".repeat(MQTT_PAYLOAD_BYTES_MAX + 1));
        assert_eq!(payload(&big, Form::Auto).unwrap_err().code, "limit");
        check_topic("plant/line-1").unwrap();
        for topic in ["", "a/#", "+/a", "a\0"] {
            check_topic(topic).unwrap_err();
        }
    }
}
