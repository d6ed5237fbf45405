//! The box's certificate: generated at the first start, kept, replaced by the operator's own.
//!
//! The folder holds `key.pem`, `certificate.pem` and `generated.txt`. The last one has the
//! fingerprint and the names of the certificate that we generated. When the names have changed
//! since, a new one is generated; a certificate with another fingerprint was put there by the
//! operator and is left alone.
//!
//! **Invariants**: the caller's `write` makes the file durable and readable by its owner only;
//! the key is written before the certificate, so that a crash between leaves nothing that is
//! used.

mod validity;

pub use validity::Validity;

use millrace_model::Timestamp;
use rcgen::{CertificateParams, DnType, KeyPair};
use ring::digest::{SHA256, digest};
use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// How long a generated certificate is valid.
const VALID_YEARS: i32 = 10;

/// Why there is no certificate.
#[derive(Debug, Error)]
pub enum TlsError {
    /// A file cannot be read or written.
    #[error("{path}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file is not PEM, or not of the kind that it should be.
    #[error("{path} holds no {expected} in PEM form")]
    NotPem {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        expected: &'static str,
    },
    /// Key and certificate do not fit together, or are of a kind that is not supported.
    #[error("the key and the certificate cannot be used")]
    Unusable(#[from] rustls::Error),
    /// A name cannot be put in a certificate.
    #[error("the certificate cannot be generated")]
    Generate(#[from] rcgen::Error),
}

/// A certificate ready to serve.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// For a listener.
    pub config: Arc<ServerConfig>,
    /// SHA-256 of the certificate, `AB:CD:...`, as browsers show it.
    pub fingerprint: String,
    /// Whether it was generated just now.
    pub is_new: bool,
    /// Whether the appliance generated it, now or before; else the operator put it there.
    pub is_own: bool,
    /// From when to when it is valid, as far as that can be read.
    pub validity: Validity,
}

/// Reads the certificate in `folder`, or generates one for `names` (host names and addresses).
///
/// # Errors
/// See [`TlsError`]. A damaged file is an error, never a reason to generate over it.
pub fn ensure_certificate(
    folder: &Path,
    names: &[String],
    now: Timestamp,
    write: &dyn Fn(&Path, &[u8]) -> io::Result<()>,
) -> Result<Certificate, TlsError> {
    let files = Files {
        key: folder.join("key.pem"),
        certificate: folder.join("certificate.pem"),
        generated: folder.join("generated.txt"),
    };
    if let Some(certificate) = files.load()? {
        let generated = read(&files.generated)?.unwrap_or_default();
        let ours = String::from_utf8_lossy(&generated);
        let is_ours = ours.lines().next() == Some(certificate.fingerprint.as_str());
        if !is_ours || ours == description(&certificate.fingerprint, names) {
            return Ok(Certificate { is_own: is_ours, ..certificate });
        }
    }
    files.generate(names, now, write)
}

struct Files {
    key: PathBuf,
    certificate: PathBuf,
    generated: PathBuf,
}

impl Files {
    fn load(&self) -> Result<Option<Certificate>, TlsError> {
        let (Some(key), Some(chain)) = (read(&self.key)?, read(&self.certificate)?) else {
            return Ok(None);
        };
        let bad = |path: &Path, expected| TlsError::NotPem { path: path.to_owned(), expected };
        let key = PrivateKeyDer::from_pem_slice(&key).map_err(|_| bad(&self.key, "private key"))?;
        let chain = CertificateDer::pem_slice_iter(&chain)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| bad(&self.certificate, "certificate"))?;
        let first = chain.first().ok_or_else(|| bad(&self.certificate, "certificate"))?;
        let fingerprint = fingerprint(first);
        let validity = validity::read(first);
        let config = config(chain, key)?;
        Ok(Some(Certificate { config, fingerprint, is_new: false, is_own: false, validity }))
    }

    fn generate(
        &self,
        names: &[String],
        now: Timestamp,
        write: &dyn Fn(&Path, &[u8]) -> io::Result<()>,
    ) -> Result<Certificate, TlsError> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(names)?;
        params.distinguished_name.push(DnType::CommonName, "Millrace appliance");
        let year = year_of(now);
        // A day of yesterday's year, so that a client whose clock is behind takes it too.
        params.not_before = rcgen::date_time_ymd(year - 1, 1, 1);
        params.not_after = rcgen::date_time_ymd(year + VALID_YEARS, 1, 1);
        let certificate = params.self_signed(&key)?;
        let fingerprint = fingerprint(certificate.der());
        let save = |path: &Path, text: &str| {
            write(path, text.as_bytes())
                .map_err(|source| TlsError::File { path: path.to_owned(), source })
        };
        save(&self.key, &key.serialize_pem())?;
        save(&self.certificate, &certificate.pem())?;
        save(&self.generated, &description(&fingerprint, names))?;
        let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes())
            .map_err(|_| TlsError::NotPem { path: self.key.clone(), expected: "private key" })?;
        let validity = validity::read(certificate.der());
        let config = config(vec![certificate.der().clone()], key)?;
        Ok(Certificate { config, fingerprint, is_new: true, is_own: true, validity })
    }
}

fn description(fingerprint: &str, names: &[String]) -> String {
    format!("{fingerprint}\n{}\n", names.join("\n"))
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, TlsError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(TlsError::File { path: path.to_owned(), source }),
    }
}

fn config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<ServerConfig>, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn fingerprint(certificate: &CertificateDer<'_>) -> String {
    let mut text = String::new();
    for byte in digest(&SHA256, certificate).as_ref() {
        if !text.is_empty() {
            text.push(':');
        }
        // Writing to a String cannot fail.
        let _infallible = write!(text, "{byte:02X}");
    }
    text
}

fn year_of(now: Timestamp) -> i32 {
    let text = now.to_rfc3339();
    let year = text.split('-').next().and_then(|year| year.parse().ok());
    year.unwrap_or(1970)
}

#[cfg(test)]
mod tests;
