//! The same servers behind TLS, with a certificate of their own for `localhost`.

use super::Notes;
use super::broker::{Manner, connection};
use super::server::{Request, Server, answer, http_connection, mail_session, serve};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rumqttc::mqttbytes::v4::Packet;
use rustls_pki_types::PrivateKeyDer;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

/// A certificate, and who shows it.
pub(crate) struct Identity {
    /// What clients have to trust.
    pub(crate) pem: String,
    pub(crate) key_pem: String,
    acceptor: TlsAcceptor,
}

impl Identity {
    pub(crate) fn new() -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let key_pem = signing_key.serialize_pem();
        Self { pem: cert.pem(), key_pem, acceptor: TlsAcceptor::from(Arc::new(config)) }
    }

    pub(crate) async fn https(&self) -> Server<Request> {
        let acceptor = self.acceptor.clone();
        serve(move |stream: TcpStream, notes| {
            let acceptor = acceptor.clone();
            async move {
                let stream = acceptor.accept(stream).await.ok()?;
                let respond = |line: &str| match line.contains("/down") {
                    true => answer("302 Found", "Location: http://localhost/\r\n", ""),
                    false => answer("200 OK", "", "secret"),
                };
                http_connection(stream, notes, &respond).await
            }
        })
        .await
    }

    pub(crate) async fn mqtts(&self) -> Server<Packet> {
        let acceptor = self.acceptor.clone();
        serve(move |stream: TcpStream, notes| {
            let acceptor = acceptor.clone();
            async move {
                let stream = acceptor.accept(stream).await.ok()?;
                connection(stream, notes, &Manner::default()).await
            }
        })
        .await
    }

    /// TLS from the first byte, or after STARTTLS.
    pub(crate) async fn smtps(&self, is_implicit: bool) -> Server<String> {
        let acceptor = self.acceptor.clone();
        serve(move |stream: TcpStream, notes: Notes<String>| {
            let acceptor = acceptor.clone();
            async move {
                const PLAIN: &str = "250-STARTTLS\r\n";
                const SECURE: &str = "250-AUTH PLAIN\r\n";
                let stream = match is_implicit {
                    true => stream,
                    false => mail_session(stream, &notes, PLAIN, true).await?,
                };
                let stream = acceptor.accept(stream).await.ok()?;
                mail_session(stream, &notes, SECURE, is_implicit).await.map(drop)
            }
        })
        .await
    }
}
