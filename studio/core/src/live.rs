//! A live subscription of a page: one WebSocket, renewed for as long as the page wants it.
//!
//! **Invariants**: the token goes in the request's head, never in a frame that a page sees; what
//! the page hears of are the appliance's own frames and whether they flow; a silent connection is
//! given up, because the appliance pings every ten seconds.

use crate::connection::{BackOff, Link};
use crate::event::Queue;
use crate::fault::{Fault, FaultCode, Result};
use crate::http::bearer;
use crate::limits::{FRAME_BYTES_MAX, HANDSHAKE_TIMEOUT};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::header::AUTHORIZATION;
use millrace_contract::v1::FromClient;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

/// Without a frame or a ping for so long the connection is dead.
const SILENCE_MAX: Duration = Duration::from_secs(35);

type Socket = WebSocketStream<Box<dyn crate::http::Stream>>;

/// What a page asked for.
pub(crate) struct Wanted {
    pub(crate) stream: u32,
    pub(crate) workspace: String,
    pub(crate) filters: Vec<String>,
}

/// Serves a subscription until the page has no such stream any more.
pub(crate) async fn serve(link: Arc<Link>, queue: Arc<Queue>, wanted: Wanted) {
    let mut back_off = BackOff::default();
    loop {
        match connect(&link, &wanted).await {
            Ok(socket) => {
                back_off = BackOff::default();
                if !queue.stream_state(wanted.stream, true) {
                    return;
                }
                if !pass_on(socket, &queue, wanted.stream).await {
                    return;
                }
            }
            Err(fault) => {
                tracing::debug!(%fault, "A live subscription is not connected.");
            }
        }
        if !queue.stream_state(wanted.stream, false) {
            return;
        }
        link.settled(back_off.next()).await;
    }
}

async fn connect(link: &Link, wanted: &Wanted) -> Result<Socket> {
    let session = link.session().ok_or_else(Fault::signed_out)?;
    let stream = link.http().dial().await?;
    let uri = format!("ws://{}/api/v1/live", link.http().address().authority());
    let mut request = uri
        .into_client_request()
        .map_err(|_| Fault::invalid("address", "This host's name is not valid."))?;
    request.headers_mut().insert(AUTHORIZATION, bearer(&session.token)?);
    let config = WebSocketConfig::default()
        .max_message_size(Some(FRAME_BYTES_MAX))
        .max_frame_size(Some(FRAME_BYTES_MAX));
    let handshake = client_async_with_config(request, stream, Some(config));
    let mut socket = match timeout(HANDSHAKE_TIMEOUT, handshake).await {
        Ok(Ok((socket, _))) => socket,
        Ok(Err(SocketError::Http(response))) if response.status().as_u16() == 401 => {
            link.refused_token(&session.token).await;
            return Err(Fault::signed_out());
        }
        Ok(Err(error)) => return Err(broken(&error)),
        Err(_) => return Err(Fault::offline("The live connection took too long.")),
    };
    let subscribe = FromClient::Subscribe {
        workspace: wanted.workspace.clone(),
        filters: wanted.filters.clone(),
    };
    let text = serde_json::to_string(&subscribe)
        .map_err(|error| Fault::new(FaultCode::Invalid, format!("No JSON: {error}.")))?;
    socket.send(Message::text(text)).await.map_err(|error| broken(&error))?;
    Ok(socket)
}

/// Hands frames on until the connection or the stream ends; gives whether the page still wants it.
async fn pass_on(mut socket: Socket, queue: &Queue, stream: u32) -> bool {
    loop {
        let message = match timeout(SILENCE_MAX, socket.next()).await {
            Ok(Some(Ok(message))) => message,
            Ok(Some(Err(error))) => {
                tracing::debug!(%error, "A live connection broke off.");
                return true;
            }
            Ok(None) | Err(_) => return true,
        };
        let wanted = match message {
            Message::Text(text) => queue.frame(stream, text.as_str().to_owned()),
            Message::Close(_) => return true,
            // Looking at the stream's state finds out whether anybody still wants it.
            _ => queue.stream_state(stream, true),
        };
        if !wanted {
            return false;
        }
    }
}

fn broken(error: &SocketError) -> Fault {
    Fault::offline(format!("The live connection broke off: {error}."))
}
