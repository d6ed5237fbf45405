//! Trust: the certificate that a person accepted for an appliance, and nothing else.
//!
//! An appliance makes its own certificate, so no authority vouches for it. At the first connection
//! its SHA-256 fingerprint is shown to be compared with the one that `millrace` prints on the box;
//! accepted, it is pinned. From then on the handshake succeeds with exactly that certificate.
//! Names and dates in it are not looked at: the pin says more than they could.
//!
//! **Invariants**: nothing is sent to an appliance, a password least of all, before its certificate
//! was accepted; another certificate than the pinned one ends the handshake; the owner of the
//! certificate proves in the handshake that it has the key.

mod verifier;

pub(crate) use verifier::{client_config, untrusted};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use std::fmt;

/// SHA-256 of a certificate, as browsers and the appliance show it: `AB:CD:...`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Of a certificate in DER form.
    #[must_use]
    pub fn of(certificate: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, certificate).as_ref());
        Self(bytes)
    }

    /// Reads `AB:CD:...`, with or without colons, in any case.
    ///
    /// # Errors
    /// When it is not 64 hexadecimal digits.
    pub fn parse(text: &str) -> Result<Self, String> {
        let digits = text.chars().filter(|c| !matches!(c, ':' | ' '));
        let digits: Option<Vec<u8>> =
            digits.map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
        let refused = || "A fingerprint is 64 hexadecimal digits.".to_owned();
        let digits = digits.ok_or_else(refused)?;
        let bytes: Vec<u8> = digits
            .chunks_exact(2)
            .filter_map(|pair| Some(pair.first()? * 16 + pair.last()?))
            .collect();
        if digits.len() != 64 {
            return Err(refused());
        }
        bytes.try_into().map(Self).map_err(|_| refused())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, byte) in self.0.iter().enumerate() {
            let colon = if at == 0 { "" } else { ":" };
            write!(f, "{colon}{byte:02X}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        fingerprint.to_string()
    }
}

/// A certificate that a person accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// The certificate.
    pub fingerprint: Fingerprint,
    /// When it was accepted.
    pub since: String,
    /// The one before, when a change was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Fingerprint>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_reads_as_it_is_shown() {
        let fingerprint = Fingerprint::of(b"certificate");
        let text = fingerprint.to_string();
        assert_eq!(text.len(), 95);
        assert_eq!(Fingerprint::parse(&text), Ok(fingerprint));
        let typed = text.replace(':', " ").to_lowercase();
        assert_eq!(Fingerprint::parse(&typed), Ok(fingerprint));
        let short: String = text.chars().skip(1).collect();
        for wrong in ["", "AB", &short, &format!("{text}:00"), &format!("G{short}")] {
            assert!(Fingerprint::parse(wrong).unwrap_err().contains("64"), "{wrong}");
        }
    }
}
