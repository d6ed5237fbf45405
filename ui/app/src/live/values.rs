//! A live value as pages get it: path, value, time, quality.
//!
//! **Invariants**
//! - The value keeps its digits: it is the text that the appliance sent, not a double.

use crate::api::Api;
use millrace_contract::v1;
use millrace_model::{Quality, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;

/// One value that was just stored.
#[derive(Clone, Debug)]
pub struct LiveValue {
    /// The tag's path below the workspace.
    pub path: String,
    /// The value as JSON text.
    pub value: String,
    /// When it was measured.
    pub timestamp: Timestamp,
    /// What the device says about it.
    pub quality: Quality,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow)]
    value: &'a RawValue,
    timestamp: &'a str,
    #[serde(default)]
    quality: u32,
}

/// What topics begin with on this appliance.
#[derive(Default)]
pub(super) struct Root(Option<String>);

impl Root {
    /// Asks the appliance, until it has answered once.
    pub(super) async fn learn(&mut self, api: &Api) {
        if self.0.is_some() {
            return;
        }
        let settings: Result<v1::Page<v1::ConfigEntry>, _> = api.get(&["config"], &[]).await;
        let Ok(settings) = settings else { return };
        let entry = settings.items.into_iter().find(|entry| entry.key == "broker.root");
        self.0 = entry.map(|entry| entry.value.trim_matches('"').to_owned());
    }

    /// The value in a frame, if it is one below the workspace.
    pub(super) fn value(&self, workspace: &str, frame: v1::LiveFrame) -> Option<LiveValue> {
        let topic = frame.topic?;
        let root = self.0.as_deref().unwrap_or("mr/v1");
        let below = topic.strip_prefix(root)?.strip_prefix('/')?;
        let path = below.strip_prefix(workspace)?.strip_prefix('/')?;
        let payload = frame.payload?;
        let payload: Payload<'_> = serde_json::from_str(payload.get()).ok()?;
        Some(LiveValue {
            path: path.to_owned(),
            value: payload.value.get().to_owned(),
            timestamp: Timestamp::from_rfc3339(payload.timestamp)?,
            quality: Quality(payload.quality),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(frame: &str) -> Option<LiveValue> {
        Root(None).value("main", serde_json::from_str(frame).expect("a frame"))
    }

    #[test]
    fn keeps_all_digits() {
        let frame = r#"{"type":"message","topic":"mr/v1/main/a/b","payload":{"value":9223372036854775807,"timestamp":"2026-11-30T12:00:00Z","received":"2026-11-30T12:00:00Z","quality":0}}"#;
        let value = value(frame).expect("a value");
        assert_eq!((value.path.as_str(), value.value.as_str()), ("a/b", "9223372036854775807"));
    }

    #[test]
    fn leaves_out_what_is_no_value_of_the_workspace() {
        assert!(value(r#"{"type":"message","topic":"mr/v1/mainland/a","payload":{}}"#).is_none());
        assert!(
            value(r#"{"type":"message","topic":"mr/v1/main/a","payload":{"value":1}}"#).is_none()
        );
    }
}
