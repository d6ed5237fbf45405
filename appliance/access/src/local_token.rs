//! The local token: what the command line on the box itself shows instead of a password.
//!
//! The service writes it into the data folder, readable by its owner only; who can read that
//! folder owns the box anyway. It acts as an admin named `local`.
//!
//! **Invariants**: never printed; a new one on each start.

use crate::keys::Key;
use crate::secret::RandomError;
use std::fmt;

/// 32 random bytes, 64 hexadecimal characters.
#[derive(Clone)]
pub struct LocalToken(String);

impl LocalToken {
    /// A new token.
    ///
    /// # Errors
    /// When the operating system gives no random bytes.
    pub fn generate() -> Result<Self, RandomError> {
        Ok(Self(Key::generate()?.to_hex()))
    }

    /// The text to write into the file.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for LocalToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalToken(hidden)")
    }
}
