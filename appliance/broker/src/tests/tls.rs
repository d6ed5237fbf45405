//! The same poll loop behind TLS.

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::device::{connect5, inbox, publish5};
use super::*;

#[tokio::test]
async fn takes_a_publish_through_tls_and_refuses_plain_bytes_there() {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let certificate = made.cert.der().clone();
    let server = rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    let stand = stand_with(|config| {
        config.tls = Some((SocketAddr::from(([127, 0, 0, 1], 0)), Arc::new(server)));
    })
    .await;
    let address = stand.broker.local_addr_tls().unwrap();

    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client =
        rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(client));
    let mut stream = connector.connect(name, socket).await.unwrap();
    let mut bytes = connect5("press", "press", b"secret");
    // Larger than a TLS record and than the read buffer.
    bytes.extend(publish5(&inbox("press", "t"), 1, &vec![b'7'; 100_000]));
    bytes.extend(publish5(&inbox("press", "t"), 2, b"2"));
    stream.write_all(&bytes).await.unwrap();
    stream.flush().await.unwrap();
    stand.until("both offered", |stand| stand.plant.offered() == 2).await;
    stand.plant.commit();
    let mut got = Vec::new();
    while !got.ends_with(&[0x40, 2, 0, 1, 0x40, 2, 0, 2]) {
        let read = tokio::time::timeout(DEADLINE, stream.read_buf(&mut got)).await;
        assert!(read.expect("no bytes within the deadline").unwrap() > 0);
    }
    assert!(stand.broker.connections()[0].is_tls);

    let mut plain = Device::open(address).await;
    plain.send(&connect5("x", "press", b"secret")).await;
    while plain.stream.read_u8().await.is_ok() {}
    stand.until("counted", |stand| stand.broker.stats().refused_connects[11] == 1).await;
}
