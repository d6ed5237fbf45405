//! TLS: the generated certificate serves, and a plain request on its port gets nothing.

use crate::backend::Fake;
use millrace_api::tls::ensure_certificate;
use millrace_api::{Backend, Listener, Settings, router, serve};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::io::Write as _;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

#[tokio::test]
async fn the_generated_certificate_serves_https() {
    // Given an API on a TLS listener with a new certificate
    let folder = tempfile::tempdir().unwrap();
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned()];
    let backend = Arc::new(Fake::new());
    let certificate = ensure_certificate(folder.path(), &names, backend.now(), &|path, bytes| {
        std::fs::File::create(path)?.write_all(bytes)
    })
    .unwrap();
    let listener =
        Listener::bind("127.0.0.1:0".parse().unwrap(), Some(certificate.config)).await.unwrap();
    let address = listener.local_address().unwrap();
    let router = router(backend, Settings::loopback());
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(serve(listener, router, std::future::pending()));
    // When a client that trusts exactly this certificate asks, from the own origin
    let pem = std::fs::read(folder.path().join("certificate.pem")).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&pem).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let mut stream = connector.connect(name, stream).await.unwrap();
    let port = address.port();
    let request = format!(
        "GET /health/live HTTP/1.1\r\nHost: localhost:{port}\r\n\
         Origin: https://localhost:{port}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let _end = stream.read_to_string(&mut answer).await.is_ok();
    // Then it is answered
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    // And a plain request is not
    let mut plain = TcpStream::connect(address).await.unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _end = plain.read_to_end(&mut answer).await.is_ok();
    assert!(!answer.starts_with(b"HTTP"));
}
