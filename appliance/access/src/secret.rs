//! Secrets: random text that is shown once and never printed by accident.
//!
//! **Invariants**: `Debug` shows no character of it; there is no `Display`; comparing is done on
//! hashes, in constant time, never on the text.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::fmt;
use thiserror::Error;

/// Bytes of a secret before it is written as text: beyond guessing, so a fast hash is enough.
const SECRET_BYTES: usize = 32;

/// The operating system gave no random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the operating system gave no random bytes")]
pub struct RandomError;

/// Text that must not be seen.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes text over.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// A new secret: 32 random bytes as base64url, 43 characters.
    pub(crate) fn generate() -> Result<Self, RandomError> {
        Ok(Self(URL_SAFE_NO_PAD.encode(random::<SECRET_BYTES>()?)))
    }

    /// The text, for the one place that shows or sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

/// Random bytes of the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], RandomError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| RandomError)?;
    Ok(bytes)
}

/// Random characters of an alphabet of at most 256, each as likely as the others.
pub(crate) fn random_text(alphabet: &[u8], count: usize) -> Result<String, RandomError> {
    let size = alphabet.len().clamp(1, 256);
    // Bytes above the last whole multiple would favor the first characters.
    let fair = 256 - 256 % size;
    let mut text = String::with_capacity(count);
    while text.len() < count {
        for byte in random::<32>()?.map(usize::from) {
            if byte < fair
                && text.len() < count
                && let Some(character) = alphabet.get(byte % size)
            {
                text.push(char::from(*character));
            }
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_printed() {
        let secret = Secret::generate().unwrap();
        assert_eq!(secret.reveal().len(), 43);
        assert_eq!(format!("{secret:?}"), "Secret(hidden)");
        assert_eq!(format!("{:?}", Some(&secret)), "Some(Secret(hidden))");
        assert_ne!(secret, Secret::generate().unwrap());
    }

    #[test]
    fn random_text_uses_the_whole_alphabet() {
        let text = random_text(b"ABC", 300).unwrap();
        assert_eq!(text.len(), 300);
        for letter in ['A', 'B', 'C'] {
            assert!(text.matches(letter).count() > 40, "{letter} is far too rare in {text}");
        }
    }
}
