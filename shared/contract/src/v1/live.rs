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
