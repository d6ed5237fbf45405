//! A client's connection: plain TCP, or TLS over it.
//!
//! TLS is driven by the same epoll as plain sockets: a read takes all that the socket has, a write
//! leaves in the session what the socket did not take.
//!
//! **Invariants**
//! - `read` fills the buffer or reads the socket to its end: sockets tell of changes only.
//! - Only the certificate that the run named is trusted, and the handshake's signature is checked.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme,
};

/// Plain bytes that wait in a TLS session: more than a window of large values.
const WAITING_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A connection.
#[derive(Debug)]
pub(crate) enum Wire {
    Plain(TcpStream),
    Tls(Box<Session>),
}

/// A TLS session over its socket.
#[derive(Debug)]
pub(crate) struct Session {
    socket: TcpStream,
    connection: ClientConnection,
}

impl Wire {
    pub(crate) fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(session) => &session.socket,
        }
    }

    /// Writes what the socket takes; gives how many bytes that were.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => match send(socket, bytes, SendFlags::NOSIGNAL) {
                Ok(written) => Ok(written),
                Err(Errno::AGAIN | Errno::INTR) => Ok(0),
                Err(error) => Err(error.into()),
            },
            Self::Tls(session) => {
                session.connection.writer().write_all(bytes)?;
                session.flush()?;
                Ok(bytes.len())
            }
        }
    }

    /// Writes what an earlier write left in the session.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(session) => session.flush(),
        }
    }

    /// Whether the session holds something that the socket did not take.
    pub(crate) fn has_rest(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(session) => session.connection.wants_write(),
        }
    }

    /// Reads into `buffer`; zero at the end, `WouldBlock` when nothing is there.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(session) => session.read(buffer),
        }
    }
}

impl Session {
    fn flush(&mut self) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut self.socket) {
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        loop {
            let room = buffer.get_mut(filled..).unwrap_or_default();
            if room.is_empty() {
                return Ok(filled);
            }
            match self.connection.reader().read(room) {
                Ok(0) => return Ok(filled),
                Ok(got) => {
                    filled += got;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // An end without its notice; what came before it counts.
                Err(_) => return Ok(filled),
            }
            match self.connection.read_tls(&mut self.socket) {
                Ok(0) => return Ok(filled),
                Ok(_) => {
                    self.connection.process_new_packets().map_err(io::Error::other)?;
                    self.flush()?;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock && filled > 0 => {
                    return Ok(filled);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// How this run speaks TLS.
#[derive(Debug)]
pub(crate) struct Tls {
    config: Arc<ClientConfig>,
}

impl Tls {
    /// Trusts the certificate in a PEM file, and no other.
    pub(crate) fn trusting(file: &Path) -> Result<Self> {
        let certificate = CertificateDer::from_pem_file(file)
            .with_context(|| format!("read the certificate {}", file.display()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier = Arc::new(Pinned { certificate, provider: Arc::clone(&provider) });
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .context("choose versions of TLS")?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(Self { config: Arc::new(config) })
    }

    /// A session over a connected socket; its handshake is driven by reads and writes.
    pub(crate) fn wire(&self, socket: TcpStream) -> Result<Wire> {
        let name = ServerName::try_from("localhost").context("name the server")?;
        let mut connection =
            ClientConnection::new(Arc::clone(&self.config), name).context("begin TLS")?;
        connection.set_buffer_limit(Some(WAITING_BYTES_MAX));
        Ok(Wire::Tls(Box::new(Session { socket, connection })))
    }
}

/// Knows one certificate.
#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if *end_entity == self.certificate {
            return Ok(ServerCertVerified::assertion());
        }
        Err(rustls::Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
