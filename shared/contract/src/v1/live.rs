//! Live updates over a WebSocket at `/api/v1/live`, one JSON object per text frame.
//!
//! The first frame authenticates, unless the request had an `Authorization` header (browsers
//! cannot set one). A second `subscribe` replaces the first. A slow reader loses the oldest
//! messages and is told how many.

use crate::v1::error::ErrorDetail;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// What the client sends.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromClient {
    /// Signs in.
    Authenticate {
        /// A bearer token.
        token: String,
    },
    /// Asks for live values.
    Subscribe {
        /// The workspace.
        workspace: String,
        /// Filters below the workspace: `press-4/#`.
        filters: Vec<String>,
    },
    /// Ends the subscription; the connection stays.
    Unsubscribe,
}

/// What the appliance sends.
#[derive(Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToClient<'a> {
    /// The token was good.
    Authenticated,
    /// The subscription is in force: every value stored from now on comes.
    Subscribed {
        /// The filters.
        filters: &'a [String],
    },
    /// The subscription ended.
    Unsubscribed,
    /// A live value.
    Message {
        /// The whole topic.
        topic: &'a str,
        /// The payload, when it is JSON.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<Value>)]
        payload: Option<&'a RawValue>,
        /// The payload in Base64, when it is not JSON.
        #[serde(skip_serializing_if = "Option::is_none")]
        payload_base64: Option<String>,
    },
    /// Messages that this reader was too slow for.
    Dropped {
        /// Since the last such notice.
        count: u64,
        /// Since the subscription began.
        total: u64,
    },
    /// What was asked for was refused; the connection stays unless a close frame follows.
    Error {
        /// Why.
        error: ErrorDetail,
    },
}

/// [`ToClient`] as a client reads it: one flat frame, with what goes with its type.
#[derive(Debug, Deserialize)]
pub struct LiveFrame {
    /// The type.
    #[serde(rename = "type")]
    pub kind: LiveFrameKind,
    /// With `message`: the whole topic.
    #[serde(default)]
    pub topic: Option<String>,
    /// With `message`: the payload, when it is JSON.
    #[serde(default)]
    pub payload: Option<Box<RawValue>>,
    /// With `message`: the payload in Base64, when it is not JSON.
    #[serde(default)]
    pub payload_base64: Option<String>,
    /// With `dropped`: how many since the last such notice.
    #[serde(default)]
    pub count: Option<u64>,
    /// With `dropped`: how many since the subscription began.
    #[serde(default)]
    pub total: Option<u64>,
    /// With `error`: why.
    #[serde(default)]
    pub error: Option<ErrorDetail>,
}

/// The types of [`LiveFrame`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiveFrameKind {
    /// The token was good.
    Authenticated,
    /// The subscription is in force.
    Subscribed,
    /// The subscription ended.
    Unsubscribed,
    /// A live value.
    Message,
    /// Messages that this reader was too slow for.
    Dropped,
    /// What was asked for was refused.
    Error,
    /// A type that a later version has; to be left out.
    #[serde(other)]
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(frame: &ToClient<'_>) -> LiveFrame {
        serde_json::from_str(&serde_json::to_string(frame).unwrap()).unwrap()
    }

    #[test]
    fn a_client_reads_what_the_appliance_sends() {
        let payload = RawValue::from_string("{\"value\":9223372036854775807}".to_owned()).unwrap();
        let frame = read(&ToClient::Message {
            topic: "mr/v1/main/a",
            payload: Some(&payload),
            payload_base64: None,
        });
        assert_eq!(frame.kind, LiveFrameKind::Message);
        assert_eq!(frame.topic.as_deref(), Some("mr/v1/main/a"));
        assert_eq!(frame.payload.unwrap().get(), payload.get());
        let frame = read(&ToClient::Dropped { count: 3, total: 5 });
        assert_eq!((frame.count, frame.total), (Some(3), Some(5)));
        assert_eq!(read(&ToClient::Authenticated).kind, LiveFrameKind::Authenticated);
    }

    #[test]
    fn a_client_passes_over_what_a_later_version_sends() {
        let frame: LiveFrame = serde_json::from_str("{\"type\":\"later\",\"x\":1}").unwrap();
        assert_eq!(frame.kind, LiveFrameKind::Unknown);
    }
}
