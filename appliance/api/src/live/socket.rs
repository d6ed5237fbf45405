//! One live connection: sign-in, subscriptions, and the writing of what is queued.
//!
//! **Invariants**: nothing is sent before the sign-in; the token is looked at again with every
//! ping, so that a revoked one is cut off within [`LIVE_PING_INTERVAL`] even if the backend does
//! not close the queue; a peer that neither answers nor reads is cut off.

use super::queue::{Queue, Taken};
use crate::backend::{LiveGuard, Principal};
use crate::convert;
use crate::endpoints::find_workspace;
use crate::error::{ApiError, Result};
use crate::limits::{
    LIVE_AUTHENTICATE_TIMEOUT, LIVE_PING_INTERVAL, LIVE_SEND_TIMEOUT, TOKEN_BYTES_MAX,
};
use crate::state::Api;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::SinkExt as _;
use millrace_contract::v1::{ErrorCode, FromClient, ToClient};
use serde_json::value::RawValue;
use std::sync::Arc;

/// Messages written before the socket is flushed.
const BATCH_MESSAGES: usize = 256;
/// Pings without any answer after which the peer is gone.
const SILENT_PINGS_MAX: u32 = 3;

/// The connection is over; nothing more can or should be said.
struct Over;

type Step<T> = std::result::Result<T, Over>;

struct Subscription {
    queue: Arc<Queue>,
    dropped_total: u64,
    _guard: LiveGuard,
}

struct Connection {
    api: Api,
    socket: WebSocket,
    principal: Principal,
    token: String,
    subscription: Option<Subscription>,
}

pub(super) async fn run(api: Api, mut socket: WebSocket, signed_in: Option<(Principal, String)>) {
    let signed_in = match signed_in {
        Some(signed_in) => Some(signed_in),
        None => sign_in(&api, &mut socket).await,
    };
    let Some((principal, token)) = signed_in else { return };
    let mut connection = Connection { api, socket, principal, token, subscription: None };
    let Err(Over) = connection.serve().await else { return };
}

/// Waits for the first frame to sign in; tells why not and closes otherwise.
async fn sign_in(api: &Api, socket: &mut WebSocket) -> Option<(Principal, String)> {
    let first = tokio::time::timeout(LIVE_AUTHENTICATE_TIMEOUT, socket.recv()).await;
    let text = match first {
        Ok(Some(Ok(Message::Text(text)))) => text,
        Ok(None | Some(Err(_))) => return None,
        Ok(Some(Ok(_))) | Err(_) => {
            return refuse(socket, ApiError::unauthorized()).await;
        }
    };
    let Ok(FromClient::Authenticate { token }) = serde_json::from_str(&text) else {
        return refuse(socket, ApiError::unauthorized()).await;
    };
    if token.len() > TOKEN_BYTES_MAX {
        return refuse(socket, ApiError::unauthorized()).await;
    }
    match api.backend().principal(&token) {
        Ok(principal) => Some((principal, token)),
        Err(fault) => refuse(socket, fault.into()).await,
    }
}

async fn refuse<T>(socket: &mut WebSocket, error: ApiError) -> Option<T> {
    if say(socket, &ToClient::Error { error: error.detail() }).await.is_ok() {
        close(socket, close_code::POLICY, "not signed in").await;
    }
    None
}

impl Connection {
    async fn serve(&mut self) -> Step<()> {
        say(&mut self.socket, &ToClient::Authenticated).await?;
        let mut ping = tokio::time::interval(LIVE_PING_INTERVAL);
        ping.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        ping.reset();
        let mut silent_pings = 0;
        loop {
            let queue = self.subscription.as_ref().map(|subscription| subscription.queue.clone());
            tokio::select! {
                frame = self.socket.recv() => {
                    silent_pings = 0;
                    self.receive(frame.ok_or(Over)?.map_err(|_| Over)?).await?;
                }
                taken = take(queue) => self.deliver(taken).await?,
                _ = ping.tick() => {
                    silent_pings += 1;
                    if silent_pings > SILENT_PINGS_MAX {
                        return Err(Over);
                    }
                    self.check_token().await?;
                    send(&mut self.socket, Message::Ping(Bytes::new())).await?;
                }
            }
        }
    }

    async fn check_token(&mut self) -> Step<()> {
        match self.api.backend().principal(&self.token) {
            Ok(principal) => {
                self.principal = principal;
                Ok(())
            }
            Err(fault) => {
                self.subscription = None;
                refuse(&mut self.socket, fault.into()).await.ok_or(Over)
            }
        }
    }

    async fn receive(&mut self, frame: Message) -> Step<()> {
        let text = match frame {
            Message::Text(text) => text,
            Message::Ping(_) | Message::Pong(_) => return Ok(()),
            Message::Close(_) => return Err(Over),
            Message::Binary(_) => {
                close(&mut self.socket, close_code::UNSUPPORTED, "text frames only").await;
                return Err(Over);
            }
        };
        let outcome = match serde_json::from_str(&text) {
            Ok(FromClient::Subscribe { workspace, filters }) => {
                self.subscribe(&workspace, &filters).map(|()| Some(filters))
            }
            Ok(FromClient::Unsubscribe) => {
                self.subscription = None;
                Ok(None)
            }
            Ok(FromClient::Authenticate { .. }) => {
                Err(ApiError::new(ErrorCode::Conflict, "This connection is signed in already."))
            }
            Err(error) => {
                let message = format!("The frame is none that is known here: {error}.");
                Err(ApiError::new(ErrorCode::BadRequest, message))
            }
        };
        let answer = match &outcome {
            Ok(Some(filters)) => ToClient::Subscribed { filters },
            Ok(None) => ToClient::Unsubscribed,
            Err(error) => ToClient::Error { error: error.clone().detail() },
        };
        say(&mut self.socket, &answer).await
    }

    /// Replaces the subscription; the one before stays when this one is refused.
    fn subscribe(&mut self, workspace: &str, texts: &[String]) -> Result<()> {
        let workspace = find_workspace(&self.api, &self.principal, workspace)?;
        let filters = convert::filters("filters", texts)?;
        if filters.is_empty() {
            return Err(ApiError::invalid("filters", "Give at least one filter."));
        }
        for (at, filter) in filters.iter().enumerate() {
            if !self.principal.subscribes(workspace, filter) {
                let error = ApiError::forbidden("This client may not subscribe to this filter.");
                return Err(error.at(format!("filters[{at}]")));
            }
        }
        let settings = self.api.settings();
        let queue = Queue::new(settings.live_queue_messages, settings.live_queue_bytes);
        let queue = Arc::new(queue);
        let sink = Arc::clone(&queue);
        let guard = self.api.backend().live(&self.principal, workspace, &filters, sink)?;
        self.subscription = Some(Subscription { queue, dropped_total: 0, _guard: guard });
        Ok(())
    }

    async fn deliver(&mut self, taken: Taken) -> Step<()> {
        if taken.dropped > 0
            && let Some(subscription) = &mut self.subscription
        {
            subscription.dropped_total += taken.dropped;
            let total = subscription.dropped_total;
            say(&mut self.socket, &ToClient::Dropped { count: taken.dropped, total }).await?;
        }
        for (topic, payload) in &taken.messages {
            let json: Option<&RawValue> = serde_json::from_slice(payload).ok();
            let message = ToClient::Message {
                topic,
                payload: json,
                payload_base64: json.is_none().then(|| STANDARD.encode(payload)),
            };
            feed(&mut self.socket, &message).await?;
        }
        flush(&mut self.socket).await?;
        if taken.closed {
            close(&mut self.socket, close_code::AWAY, "the subscription was ended").await;
            return Err(Over);
        }
        Ok(())
    }
}

/// What is queued; waits for ever without a subscription.
async fn take(queue: Option<Arc<Queue>>) -> Taken {
    match queue {
        Some(queue) => queue.take(BATCH_MESSAGES).await,
        None => std::future::pending().await,
    }
}

fn frame(message: &ToClient<'_>) -> Step<Message> {
    serde_json::to_string(message).map(|text| Message::Text(text.into())).map_err(|_| Over)
}

async fn say(socket: &mut WebSocket, message: &ToClient<'_>) -> Step<()> {
    let frame = frame(message)?;
    send(socket, frame).await
}

async fn send(socket: &mut WebSocket, frame: Message) -> Step<()> {
    within(socket.send(frame)).await
}

async fn feed(socket: &mut WebSocket, message: &ToClient<'_>) -> Step<()> {
    let frame = frame(message)?;
    within(socket.feed(frame)).await
}

async fn flush(socket: &mut WebSocket) -> Step<()> {
    within(socket.flush()).await
}

async fn within(writing: impl Future<Output = std::result::Result<(), axum::Error>>) -> Step<()> {
    match tokio::time::timeout(LIVE_SEND_TIMEOUT, writing).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(Over),
    }
}

async fn close(socket: &mut WebSocket, code: u16, reason: &'static str) {
    let frame = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
    // The peer may be gone already; there is nobody to tell.
    let (Ok(()) | Err(Over)) = send(socket, frame).await;
}
