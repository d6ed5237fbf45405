//! The verifier of a TLS handshake that knows one certificate.
//!
//! **Invariants**: without a pin every certificate is refused and its fingerprint told; the
//! signature over the handshake is always checked.

use super::Fingerprint;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, OtherError, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use std::io;
use std::sync::Arc;
use thiserror::Error;

/// The certificate is not the pinned one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the certificate {presented} is not the accepted one")]
pub(crate) struct Untrusted {
    pub(crate) presented: Fingerprint,
    pub(crate) pinned: Option<Fingerprint>,
}

#[derive(Debug)]
struct PinVerifier {
    pinned: Option<Fingerprint>,
    provider: Arc<CryptoProvider>,
}

/// The TLS configuration for an appliance with this pin.
pub(crate) fn client_config(pinned: Option<Fingerprint>) -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Arc::new(PinVerifier { pinned, provider: Arc::clone(&provider) });
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // A resumed session shows no certificate; a pin that changed must be seen.
    config.resumption = rustls::client::Resumption::disabled();
    Ok(config)
}

/// What the verifier said, if a handshake failed because of it.
pub(crate) fn untrusted(error: &io::Error) -> Option<Untrusted> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    match error {
        rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(other))) => {
            other.downcast_ref::<Untrusted>().copied()
        }
        _ => None,
    }
}

impl ServerCertVerifier for PinVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let presented = Fingerprint::of(end_entity);
        if self.pinned == Some(presented) {
            return Ok(ServerCertVerified::assertion());
        }
        let untrusted = Untrusted { presented, pinned: self.pinned };
        let other = OtherError(Arc::new(untrusted));
        Err(rustls::Error::InvalidCertificate(CertificateError::Other(other)))
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
