//! The box's two keys: one hashes client secrets, one signs tokens.
//!
//! They are settings of the catalog, so a rebuilt catalog verifies the same secrets. A client's
//! secret is 256 random bits, so a fast keyed hash protects it as well as a slow one would: there
//! is nothing to guess from. The key makes the hashes of one box useless on another.
//!
//! **Invariants**: keys are never printed; comparing takes the same time wherever it differs.

use crate::secret::{RandomError, random};
use millrace_model::Definition;
use std::fmt;
use subtle::ConstantTimeEq;

/// Name of the setting that holds the key of secret hashes.
pub(crate) const SECRET_KEY: &str = "access.secret_key";
/// Name of the setting that holds the key of tokens.
pub(crate) const TOKEN_KEY: &str = "access.token_key";

/// A 256-bit key.
#[derive(Clone)]
pub(crate) struct Key([u8; 32]);

impl Key {
    pub(crate) fn generate() -> Result<Self, RandomError> {
        Ok(Self(random()?))
    }

    pub(crate) fn from_hex(text: &str) -> Option<Self> {
        Some(Self(*blake3::Hash::from_hex(text).ok()?.as_bytes()))
    }

    pub(crate) fn to_hex(&self) -> String {
        blake3::Hash::from_bytes(self.0).to_hex().to_string()
    }

    pub(crate) fn hash(&self, bytes: &[u8]) -> [u8; 32] {
        *blake3::keyed_hash(&self.0, bytes).as_bytes()
    }

    /// The definition that makes this key a setting.
    pub(crate) fn setting(&self, name: &str) -> Definition {
        Definition::Setting { name: name.to_owned(), value: self.to_hex() }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}

/// Whether two byte strings are equal, in a time that depends on their lengths alone.
pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}
