//! Which certificates of targets are trusted: the operating system's, or those of the step.
//!
//! **Invariants**: a certificate that does not fit the host's name is never accepted; there is no
//! setting to skip the check (give the plant's own authority in `tls_ca_pem` instead).

use super::Stream;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Whether and how a connection is encrypted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Tls {
    Off,
    /// With the operating system's certificates.
    System,
    /// With the step's own.
    Own(Arc<Trust>),
}

/// Trusted certificates, ready for use.
pub(crate) struct Trust {
    /// As the step gave them; empty for the system's.
    pem: String,
    config: Arc<ClientConfig>,
    roots: Vec<CertificateDer<'static>>,
}

impl std::fmt::Debug for Trust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trust").field("roots", &self.roots.len()).finish_non_exhaustive()
    }
}

impl PartialEq for Trust {
    fn eq(&self, other: &Self) -> bool {
        self.pem == other.pem
    }
}
impl Eq for Trust {}

impl std::hash::Hash for Trust {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.pem.hash(state);
    }
}

impl Trust {
    /// The operating system's certificates. Blocks: they are files.
    pub(crate) fn of_system() -> Result<Self, String> {
        let system = rustls_native_certs::load_native_certs();
        for error in system.errors.iter().take(3) {
            tracing::warn!(%error, "A certificate of the operating system cannot be read.");
        }
        Self::new(String::new(), system.certs)
    }

    /// The certificates of a step.
    pub(crate) fn of_pem(pem: &str) -> Result<Self, String> {
        let roots: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
        let roots = roots.map_err(|error| format!("is no PEM: {error}"))?;
        if roots.is_empty() {
            return Err("holds no certificate in PEM form".to_owned());
        }
        Self::new(pem.to_owned(), roots)
    }

    fn new(pem: String, roots: Vec<CertificateDer<'static>>) -> Result<Self, String> {
        let mut store = RootCertStore::empty();
        // What cannot be parsed is left out: the system's store often holds some.
        let (good, _) = store.add_parsable_certificates(roots.iter().cloned());
        if good == 0 {
            return Err("no certificate is trusted: none can be read".to_owned());
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(store)
            .with_no_client_auth();
        Ok(Self { pem, config: Arc::new(config), roots })
    }

    /// As the step gave them; empty for the system's.
    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    /// The trusted certificates, for libraries that encrypt by themselves.
    pub(crate) fn roots(&self) -> &[CertificateDer<'static>] {
        &self.roots
    }

    /// Encrypts a connection.
    pub(crate) async fn secure(&self, host: &str, tcp: TcpStream) -> Result<Stream, String> {
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        let connector = TlsConnector::from(Arc::clone(&self.config));
        let tls = connector.connect(name, tcp).await.map_err(|error| error.to_string())?;
        Ok(Stream::Tls(Box::new(tls)))
    }
}
