//! The conversation with an SMTP server, over a connection of the dialer.
//!
//! **Invariants**: what the server says is bounded in bytes and time; a password is sent only over
//! TLS; at most [`MAILS_MAX`] mails are under way.

use crate::dial::{DialFault, Dialer, Endpoint, Stream, Tls};
use crate::limits::{MAIL_ANSWER_BYTES_MAX, MAILS_MAX};
use lettre::address::Envelope;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{
    AsyncSmtpConnection, AsyncTokioStream, Certificate, CertificateStore, TlsParameters,
};
use lettre::transport::smtp::extension::ClientId;
use millrace_engine::step::StepFault;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// When a connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Security {
    /// After a greeting.
    StartTls,
    /// From the first byte, or never, as the endpoint says.
    AsDialed,
}

/// A mail server and how to sign in.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) endpoint: Endpoint,
    pub(crate) security: Security,
    /// What is trusted with [`Security::StartTls`].
    pub(crate) trust: Tls,
}

/// All mails under way.
#[derive(Debug)]
pub(crate) struct Mails {
    dialer: Arc<Dialer>,
    calls: Semaphore,
}

impl Mails {
    pub(crate) fn new(dialer: Arc<Dialer>) -> Self {
        Self { dialer, calls: Semaphore::new(MAILS_MAX) }
    }

    /// Sends a mail.
    pub(crate) async fn send(
        &self,
        server: &Server,
        login: Option<(String, Arc<str>)>,
        envelope: &Envelope,
        mail: &str,
        until: Instant,
    ) -> Result<(), StepFault> {
        let stopping = |_| StepFault::passing("limit", "the box is stopping");
        let _call = self.calls.acquire().await.map_err(stopping)?;
        let stream = self.dialer.connect(&server.endpoint, until).await?;
        let is_plain = matches!(stream, Stream::Plain(_));
        let hello = hello(&stream);
        let metered = Metered { stream, left: MAIL_ANSWER_BYTES_MAX };
        let connected =
            AsyncSmtpConnection::connect_with_transport(Box::new(metered), &hello).await;
        let mut connection = connected.map_err(|error| fault_of(&error))?;
        if server.security == Security::StartTls {
            let parameters = self.tls_parameters(server).await?;
            let secured = connection.starttls(parameters, &hello).await;
            secured.map_err(|error| fault_of(&error))?;
        }
        if let Some((user, password)) = login {
            if is_plain && server.security != Security::StartTls {
                return Err(StepFault::lasting("refused", "a password is not sent without TLS"));
            }
            let credentials = Credentials::new(user, password.to_string());
            let mechanisms = [Mechanism::Plain, Mechanism::Login];
            let signed_in = connection.auth(&mechanisms, &credentials).await;
            signed_in.map_err(|error| fault_of(&error))?;
        }
        let sent = connection.send(envelope, mail.as_bytes()).await;
        sent.map_err(|error| fault_of(&error))?;
        // It is sent; whether the server says good-bye does not matter.
        if let Err(error) = connection.quit().await {
            tracing::debug!(%error, "A mail server did not say good-bye.");
        }
        Ok(())
    }

    async fn tls_parameters(&self, server: &Server) -> Result<TlsParameters, StepFault> {
        let endpoint = Endpoint { tls: server.trust.clone(), ..server.endpoint.clone() };
        let broken = |error: String| {
            StepFault::from(DialFault::Tls {
                host: endpoint.host.to_string(),
                port: endpoint.port,
                error,
            })
        };
        let trust = self.dialer.trust(&endpoint).await?;
        let trust = trust.ok_or_else(|| broken("nothing is trusted".to_owned()))?;
        let name = crate::dial::bare_host(&endpoint.host).unwrap_or_default().to_owned();
        let mut builder = TlsParameters::builder(name).certificate_store(CertificateStore::None);
        for root in trust.roots() {
            if let Ok(root) = Certificate::from_der(root.to_vec()) {
                builder = builder.add_root_certificate(root);
            }
        }
        builder.build_rustls().map_err(|error| broken(error.to_string()))
    }
}

/// How we greet: by our own address, as a client without a name of its own does.
fn hello(stream: &Stream) -> ClientId {
    match stream.local().map(|address| address.ip()) {
        Ok(IpAddr::V4(ip)) => ClientId::Ipv4(ip),
        Ok(IpAddr::V6(ip)) => ClientId::Ipv6(ip),
        Err(_) => ClientId::Domain("localhost".to_owned()),
    }
}

fn fault_of(error: &lettre::transport::smtp::Error) -> StepFault {
    use std::error::Error;
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    let message = format!("the mail server: {error}{cause}");
    if error.is_permanent() {
        return StepFault::lasting("answer", message);
    }
    if error.is_transient() {
        return StepFault::passing("answer", message);
    }
    if error.is_client() {
        return StepFault::lasting("answer", message);
    }
    if error.is_response() {
        return StepFault::passing("bad_answer", message);
    }
    if error.is_tls() {
        return StepFault::passing("tls", message);
    }
    StepFault::passing("unreachable", message)
}

/// A stream that ends with an error when the server has said too much.
#[derive(Debug)]
struct Metered {
    stream: Stream,
    left: u64,
}

impl AsyncTokioStream for Metered {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.peer()
    }
}

impl AsyncRead for Metered {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buf.filled().len();
        let read = AsyncRead::poll_read(Pin::new(&mut this.stream), cx, buf);
        if matches!(read, Poll::Ready(Ok(()))) {
            let count = u64::try_from(buf.filled().len() - before).unwrap_or(u64::MAX);
            match this.left.checked_sub(count) {
                Some(left) => this.left = left,
                None => return Poll::Ready(Err(io::Error::other("the server says too much"))),
            }
        }
        read
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        AsyncWrite::poll_write(Pin::new(&mut self.get_mut().stream), cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        AsyncWrite::poll_flush(Pin::new(&mut self.get_mut().stream), cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        AsyncWrite::poll_shutdown(Pin::new(&mut self.get_mut().stream), cx)
    }
}
