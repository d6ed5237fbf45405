//! Sealing secrets: ChaCha20-Poly1305 under a key that lies in a file of its own.
//!
//! The text form is `v1.` and the URL-safe Base64 of nonce (12 bytes), ciphertext and tag. The
//! workspace and the name are authenticated too, so a sealed value cannot be put under another
//! name. A catalog file or a journal alone, a backup of either included, tells no secret.
//!
//! **Invariants**: a nonce is random and used once; neither key nor value is in any `Debug`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use millrace_model::WorkspaceNumber;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::SecureRandom;
use std::fmt;
use thiserror::Error;

const VERSION: &str = "v1.";
const KEY_BYTES: usize = 32;

/// Why something cannot be sealed or opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SealError {
    /// The key file holds no key.
    #[error("the key is not 64 hexadecimal digits")]
    KeyInvalid,
    /// The operating system gives no random bytes.
    #[error("the operating system gives no random bytes")]
    NoRandom,
    /// Sealed with another key, for another name, or damaged.
    #[error("the secret was sealed with another key, or is damaged")]
    CannotOpen,
    /// The box has no key, because its file cannot be read.
    #[error("secret.key cannot be read, so no secret can be opened or set; see the issues")]
    NoKey,
}

/// The key of all secrets of a box, or that there is none.
pub struct SecretKey(Option<(LessSafeKey, [u8; KEY_BYTES])>);

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey")
    }
}

impl SecretKey {
    /// No key: nothing can be sealed or opened.
    #[must_use]
    pub const fn none() -> Self {
        Self(None)
    }

    /// Whether there is a key.
    #[must_use]
    pub const fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// A new key.
    ///
    /// # Errors
    /// [`SealError::NoRandom`].
    pub fn generate(random: &dyn SecureRandom) -> Result<Self, SealError> {
        let mut bytes = [0; KEY_BYTES];
        random.fill(&mut bytes).map_err(|_| SealError::NoRandom)?;
        Self::from_bytes(bytes)
    }

    /// The key with the operating system's own random bytes.
    ///
    /// # Errors
    /// [`SealError::NoRandom`].
    pub fn generate_with_system() -> Result<Self, SealError> {
        Self::generate(&ring::rand::SystemRandom::new())
    }

    /// Reads the content of a key file: 64 hexadecimal digits.
    ///
    /// # Errors
    /// [`SealError::KeyInvalid`].
    pub fn from_hex(text: &str) -> Result<Self, SealError> {
        let text = text.trim();
        if text.len() != 2 * KEY_BYTES || !text.is_ascii() {
            return Err(SealError::KeyInvalid);
        }
        let mut bytes = [0; KEY_BYTES];
        for (place, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| SealError::KeyInvalid)?;
            if digits.contains(['+', '-']) {
                return Err(SealError::KeyInvalid);
            }
            *place = u8::from_str_radix(digits, 16).map_err(|_| SealError::KeyInvalid)?;
        }
        Self::from_bytes(bytes)
    }

    /// The content of the key file; for nothing else.
    #[must_use]
    pub fn to_hex(&self) -> String {
        use std::fmt::Write as _;
        let mut text = String::with_capacity(2 * KEY_BYTES + 1);
        for byte in self.0.iter().flat_map(|(_, bytes)| bytes) {
            // A string never refuses a write.
            let _written = write!(text, "{byte:02x}").is_ok();
        }
        text.push('\n');
        text
    }

    fn from_bytes(bytes: [u8; KEY_BYTES]) -> Result<Self, SealError> {
        let key = UnboundKey::new(&CHACHA20_POLY1305, &bytes).map_err(|_| SealError::KeyInvalid)?;
        Ok(Self(Some((LessSafeKey::new(key), bytes))))
    }

    pub(crate) fn seal(
        &self,
        workspace: WorkspaceNumber,
        name: &str,
        value: &str,
        random: &dyn SecureRandom,
    ) -> Result<String, SealError> {
        let (key, _) = self.0.as_ref().ok_or(SealError::NoKey)?;
        let mut nonce = [0; NONCE_LEN];
        random.fill(&mut nonce).map_err(|_| SealError::NoRandom)?;
        let mut text = value.as_bytes().to_vec();
        let aad = Aad::from(bound_to(workspace, name));
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut text)
            .map_err(|_| SealError::CannotOpen)?;
        let mut bytes = nonce.to_vec();
        bytes.append(&mut text);
        Ok(format!("{VERSION}{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    pub(crate) fn open(
        &self,
        workspace: WorkspaceNumber,
        name: &str,
        sealed: &str,
    ) -> Result<String, SealError> {
        let (key, _) = self.0.as_ref().ok_or(SealError::NoKey)?;
        let open = || {
            let bytes = URL_SAFE_NO_PAD.decode(sealed.strip_prefix(VERSION)?).ok()?;
            let (nonce, text) = bytes.split_first_chunk::<NONCE_LEN>()?;
            let mut text = text.to_vec();
            let aad = Aad::from(bound_to(workspace, name));
            let nonce = Nonce::assume_unique_for_key(*nonce);
            let value = key.open_in_place(nonce, aad, &mut text).ok()?;
            String::from_utf8(value.to_vec()).ok()
        };
        open().ok_or(SealError::CannotOpen)
    }
}

/// What a sealed value belongs to.
fn bound_to(workspace: WorkspaceNumber, name: &str) -> Vec<u8> {
    let mut bytes = b"millrace secret\0".to_vec();
    bytes.extend_from_slice(&workspace.0.to_le_bytes());
    bytes.extend_from_slice(name.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::rand::SystemRandom;

    const MAIN: WorkspaceNumber = WorkspaceNumber(1);

    #[test]
    fn opens_what_it_sealed_and_nothing_else() {
        let random = SystemRandom::new();
        let key = SecretKey::generate(&random).unwrap();
        let sealed = key.seal(MAIN, "mes-token", "hunter2 ü", &random).unwrap();
        assert!(!sealed.contains("hunter2"), "{sealed}");
        assert_eq!(key.open(MAIN, "mes-token", &sealed).unwrap(), "hunter2 ü");
        // Put under another name or into another workspace it is worthless.
        assert_eq!(key.open(MAIN, "other", &sealed), Err(SealError::CannotOpen));
        assert_eq!(key.open(WorkspaceNumber(2), "mes-token", &sealed), Err(SealError::CannotOpen));
        let other = SecretKey::generate(&random).unwrap();
        assert_eq!(other.open(MAIN, "mes-token", &sealed), Err(SealError::CannotOpen));
        for bad in [
            "",
            "v1.",
            "v1.AAAA",
            "v2.AAAA",
            "v1.ä",
            sealed.trim_end_matches(char::is_alphanumeric),
        ] {
            assert_eq!(key.open(MAIN, "mes-token", bad), Err(SealError::CannotOpen), "{bad}");
        }
        let again = key.seal(MAIN, "mes-token", "hunter2 ü", &random).unwrap();
        assert_ne!(again, sealed, "a nonce of its own each time");
    }

    #[test]
    fn the_key_survives_its_file_and_is_in_no_debug_text() {
        let key = SecretKey::generate_with_system().unwrap();
        let file = key.to_hex();
        assert_eq!(file.len(), 65);
        let read = SecretKey::from_hex(&file).unwrap();
        let sealed = key.seal(MAIN, "a", "b", &SystemRandom::new()).unwrap();
        assert_eq!(read.open(MAIN, "a", &sealed).unwrap(), "b");
        assert_eq!(format!("{key:?}"), "SecretKey");
        for bad in ["", "00", &"0g".repeat(32), &"+1".repeat(32), &"ää".repeat(16)] {
            assert_eq!(SecretKey::from_hex(bad).unwrap_err(), SealError::KeyInvalid, "{bad}");
        }
    }
}
