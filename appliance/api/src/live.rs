//! Live values over a WebSocket.
//!
//! The journal's thread offers each stored value to the queues of the subscriptions that match;
//! a queue is bounded and drops its oldest, so that a slow reader costs the appliance nothing but
//! its queue. The socket's task takes what is queued and writes it in batches.

mod queue;
mod socket;

use crate::error::{ApiError, Result};
use crate::extract::bearer;
use crate::limits::LIVE_FRAME_BYTES_MAX;
use crate::state::Api;
use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use millrace_contract::v1::ErrorCode;
use std::time::Duration;

/// Live values. A WebSocket: sign in with the `Authorization` header or a first frame
/// `{"type":"authenticate","token":...}`, then send
/// `{"type":"subscribe","workspace":"main","filters":["press-4/#"]}`.
#[utoipa::path(
    get, path = "/api/v1/live", tag = "history", security((), ("bearer" = [])),
    responses((status = 101, description = "Frames as in the schemas FromClient and ToClient."))
)]
pub(crate) async fn live(
    State(api): State<Api>,
    headers: HeaderMap,
    upgrade: std::result::Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response> {
    let signed_in = match headers.contains_key(header::AUTHORIZATION) {
        true => {
            let token = bearer(&headers).ok_or_else(ApiError::unauthorized)?;
            Some((api.backend().principal(token)?, token.to_owned()))
        }
        false => None,
    };
    let upgrade = upgrade.map_err(|_| {
        ApiError::new(ErrorCode::BadRequest, "This address takes WebSocket connections only.")
    })?;
    let Ok(permit) = api.live_permits().try_acquire_owned() else {
        return Err(ApiError::rate_limited(Duration::from_secs(5)));
    };
    let upgrade =
        upgrade.max_message_size(LIVE_FRAME_BYTES_MAX).max_frame_size(LIVE_FRAME_BYTES_MAX);
    Ok(upgrade.on_upgrade(async move |socket| {
        socket::run(api, socket, signed_in).await;
        drop(permit);
    }))
}
