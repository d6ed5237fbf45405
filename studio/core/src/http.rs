//! HTTP/1.1 to one appliance: dialing, a few kept connections, bounded answers.
//!
//! **Invariants**: every byte travels over a stream whose certificate was accepted (or over plain
//! TCP where the profile says so); redirects are not followed, so a token goes to this address
//! only; a request is sent a second time only if nothing of the first was.

use crate::address::Address;
use crate::fault::{Fault, FaultCode, Result};
use crate::limits::{
    ANSWER_BYTES_MAX, CONNECT_TIMEOUT, EXCHANGE_TIMEOUT, HANDSHAKE_TIMEOUT, HEADERS_MAX,
    IDLE_AGE_MAX, IDLE_CONNECTIONS_MAX, READ_TIMEOUT,
};
use crate::trust::{Fingerprint, client_config, untrusted};
use crate::vault::Secret;
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response};
use hyper_util::rt::TokioIo;
use millrace_contract::v1::ErrorBody;
use parking_lot::Mutex;
use rustls_pki_types::ServerName;
use serde::de::DeserializeOwned;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;

/// A connected stream, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

type Sender = SendRequest<Full<Bytes>>;

/// One appliance's HTTP.
pub(crate) struct Http {
    address: Address,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    idle: Mutex<Vec<(Sender, Instant)>>,
    /// Drives the connections; they end with this.
    drivers: Mutex<JoinSet<()>>,
}

/// A question.
pub(crate) struct Ask<'a> {
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) path: &'a str,
    pub(crate) token: Option<&'a Secret>,
    /// JSON.
    pub(crate) body: Option<Bytes>,
    /// Time for head and pieces of the body.
    pub(crate) patience: Duration,
}

impl<'a> Ask<'a> {
    pub(crate) fn get(path: &'a str, token: Option<&'a Secret>) -> Self {
        Self { method: Method::GET, path, token, body: None, patience: READ_TIMEOUT }
    }

    pub(crate) fn with_json(
        method: Method,
        path: &'a str,
        token: Option<&'a Secret>,
        body: &impl serde::Serialize,
    ) -> Result<Self> {
        let body = serde_json::to_vec(body)
            .map_err(|error| Fault::new(FaultCode::Invalid, format!("No JSON: {error}.")))?;
        Ok(Self { method, path, token, body: Some(body.into()), patience: READ_TIMEOUT })
    }

    pub(crate) fn within(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }
}

/// An answer.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    /// The body of a success; the appliance's words of anything else.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T> {
        self.check()?;
        serde_json::from_slice(&self.body).map_err(|_| foreign(self.status))
    }

    pub(crate) fn check(&self) -> Result<()> {
        if (200..300).contains(&self.status) {
            return Ok(());
        }
        match serde_json::from_slice::<ErrorBody>(&self.body) {
            Ok(body) => Err(Fault::refused(body.error)),
            Err(_) => Err(foreign(self.status)),
        }
    }
}

fn foreign(status: u16) -> Fault {
    let message =
        format!("What answers there (HTTP {status}) is no Millrace appliance of this version.");
    Fault::new(FaultCode::Foreign, message)
}

impl Http {
    pub(crate) fn new(address: Address, pinned: Option<Fingerprint>) -> Result<Self> {
        let tls = match address.is_tls() {
            false => None,
            true => {
                let config = client_config(pinned)
                    .map_err(|error| Fault::new(FaultCode::Offline, format!("No TLS: {error}.")))?;
                let name = ServerName::try_from(address.host().to_owned())
                    .map_err(|_| Fault::invalid("address", "This host's name is not valid."))?;
                Some((TlsConnector::from(Arc::new(config)), name))
            }
        };
        let (idle, drivers) = (Mutex::default(), Mutex::default());
        Ok(Self { address, tls, idle, drivers })
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// A fresh stream to the appliance.
    pub(crate) async fn dial(&self) -> Result<Box<dyn Stream>> {
        let place = (self.address.host(), self.address.port());
        let stream = match timeout(CONNECT_TIMEOUT, TcpStream::connect(place)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(unreachable(&self.address, &error.to_string())),
            Err(_) => return Err(unreachable(&self.address, "it does not answer")),
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "A connection's delay could not be turned off.");
        }
        let Some((connector, name)) = &self.tls else { return Ok(Box::new(stream)) };
        match timeout(HANDSHAKE_TIMEOUT, connector.connect(name.clone(), stream)).await {
            Ok(Ok(stream)) => Ok(Box::new(stream)),
            Ok(Err(error)) => Err(self.handshake_fault(&error)),
            Err(_) => Err(unreachable(&self.address, "its TLS handshake takes too long")),
        }
    }

    fn handshake_fault(&self, error: &io::Error) -> Fault {
        let Some(untrusted) = untrusted(error) else {
            return unreachable(&self.address, &format!("no TLS there ({error})"));
        };
        let presented = Some(untrusted.presented);
        match untrusted.pinned {
            None => Fault {
                presented,
                ..Fault::new(
                    FaultCode::NotTrusted,
                    "The certificate of this appliance has not been accepted yet.",
                )
            },
            Some(pinned) => {
                tracing::error!(address = %self.address, %pinned, presented = %untrusted.presented,
                    "An appliance shows another certificate than the accepted one.");
                Fault {
                    presented,
                    ..Fault::new(
                        FaultCode::CertificateChanged,
                        "This appliance shows another certificate than the one that was accepted. \
                         Somebody may be in between. Nothing was sent.",
                    )
                }
            }
        }
    }

    /// Asks, and reads the whole answer.
    pub(crate) async fn ask(&self, ask: Ask<'_>) -> Result<Reply> {
        match timeout(EXCHANGE_TIMEOUT, self.exchange(ask)).await {
            Ok(answer) => answer,
            Err(_) => Err(Fault::offline("The appliance took too long.")),
        }
    }

    async fn exchange(&self, ask: Ask<'_>) -> Result<Reply> {
        let patience = ask.patience;
        let mut request = self.request(ask)?;
        let (response, sender) = loop {
            let kept = self.kept();
            let is_fresh = kept.is_none();
            let mut sender = match kept {
                Some(sender) => sender,
                None => self.connect().await?,
            };
            match timeout(patience, sender.try_send_request(request)).await {
                Ok(Ok(response)) => break (response, sender),
                Ok(Err(mut failed)) => match failed.take_message() {
                    // The appliance closed a kept connection: nothing was sent on it.
                    Some(unsent) if !is_fresh => request = unsent,
                    _ => return Err(broken(failed.error())),
                },
                Err(_) => return Err(Fault::offline("The appliance does not answer in time.")),
            }
        };
        let reply = read(response, patience).await?;
        self.keep(sender);
        Ok(reply)
    }

    fn request(&self, ask: Ask<'_>) -> Result<Request<Full<Bytes>>> {
        let mut builder = Request::builder()
            .method(ask.method)
            .uri(ask.path)
            .header(HOST, self.address.authority())
            .header("accept", "application/json, */*;q=0.5");
        if let Some(token) = ask.token {
            builder = builder.header(AUTHORIZATION, bearer(token)?);
        }
        if ask.body.is_some() {
            builder = builder.header(CONTENT_TYPE, "application/json");
        }
        let body = Full::new(ask.body.unwrap_or_default());
        builder.body(body).map_err(|_| Fault::invalid("path", "This is no path of a request."))
    }

    fn kept(&self) -> Option<Sender> {
        let mut idle = self.idle.lock();
        while let Some((sender, since)) = idle.pop() {
            if sender.is_ready() && since.elapsed() < IDLE_AGE_MAX {
                return Some(sender);
            }
        }
        None
    }

    fn keep(&self, sender: Sender) {
        let mut idle = self.idle.lock();
        if !sender.is_closed() && idle.len() < IDLE_CONNECTIONS_MAX {
            idle.push((sender, Instant::now()));
        }
    }

    async fn connect(&self) -> Result<Sender> {
        let stream = self.dial().await?;
        let handshake =
            Builder::new().max_headers(HEADERS_MAX).handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(|error| broken(&error))?;
        self.drive(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "A connection to an appliance ended early.");
            }
        });
        sender.ready().await.map_err(|error| broken(&error))?;
        Ok(sender)
    }

    fn drive(&self, connection: impl Future<Output = ()> + Send + 'static) {
        let mut drivers = self.drivers.lock();
        while drivers.try_join_next().is_some() {}
        drivers.spawn(connection);
    }
}

/// The header of a token.
pub(crate) fn bearer(token: &Secret) -> Result<HeaderValue> {
    let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
        .map_err(|_| Fault::new(FaultCode::Foreign, "The appliance gave a token that is none."))?;
    value.set_sensitive(true);
    Ok(value)
}

async fn read(response: Response<hyper::body::Incoming>, patience: Duration) -> Result<Reply> {
    let (head, mut incoming) = response.into_parts();
    let mut body = BytesMut::new();
    loop {
        let frame = match timeout(patience, incoming.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(error))) => return Err(broken(&error)),
            Err(_) => return Err(Fault::offline("The appliance stopped in its answer.")),
        };
        if let Some(data) = frame.data_ref() {
            if body.len() + data.len() > ANSWER_BYTES_MAX {
                let message = format!("The answer is larger than {ANSWER_BYTES_MAX} bytes.");
                return Err(Fault::new(FaultCode::TooLarge, message));
            }
            body.extend_from_slice(data);
        }
    }
    Ok(Reply { status: head.status.as_u16(), headers: head.headers, body: body.freeze() })
}

fn unreachable(address: &Address, why: &str) -> Fault {
    Fault::offline(format!("{address} cannot be reached: {why}."))
}

fn broken(error: &hyper::Error) -> Fault {
    tracing::debug!(%error, "An exchange with an appliance broke off.");
    Fault::offline(format!("The connection to the appliance broke off: {error}."))
}
