//! Where secrets are: in a vault that the system guards, and in memory while they are used.
//!
//! **Invariants**: a [`Secret`] cannot be serialized, and its debug form says nothing; only
//! [`Secret::expose`] gives its text, so that every use can be found.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;

/// A password or a token.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a text as a secret.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text, for the one who sends or keeps it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Why the vault gave or took nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the keyring does not work: {0}")]
pub struct VaultError(
    /// What the system says; never a secret.
    pub String,
);

/// Keeps one secret for each key, guarded by the system.
///
/// Calls may block (a keyring asks a person to unlock it), so they are made on threads that may.
pub trait Vault: Send + Sync {
    /// The secret; `None` when there is none.
    ///
    /// # Errors
    /// When the vault does not work or was not unlocked.
    fn get(&self, key: &str) -> Result<Option<Secret>, VaultError>;

    /// Keeps a secret in the place of an earlier one.
    ///
    /// # Errors
    /// When the vault does not work or was not unlocked.
    fn set(&self, key: &str, secret: &Secret) -> Result<(), VaultError>;

    /// Forgets a secret; none is fine.
    ///
    /// # Errors
    /// When the vault does not work or was not unlocked.
    fn remove(&self, key: &str) -> Result<(), VaultError>;
}

/// A vault that forgets everything when the program ends: for tests, and for computers without a
/// keyring.
#[derive(Debug, Default)]
pub struct MemoryVault(Mutex<BTreeMap<String, Secret>>);

impl Vault for MemoryVault {
    fn get(&self, key: &str) -> Result<Option<Secret>, VaultError> {
        Ok(self.0.lock().get(key).cloned())
    }

    fn set(&self, key: &str, secret: &Secret) -> Result<(), VaultError> {
        self.0.lock().insert(key.to_owned(), secret.clone());
        Ok(())
    }

    fn remove(&self, key: &str) -> Result<(), VaultError> {
        self.0.lock().remove(key);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_itself_nowhere() {
        let vault = MemoryVault::default();
        vault.set("k", &Secret::new("pa55word")).unwrap();
        let shown = format!("{vault:?} {:?}", vault.get("k").unwrap());
        assert!(!shown.contains("pa55word"), "{shown}");
        assert_eq!(vault.get("k").unwrap().unwrap().expose(), "pa55word");
    }

    #[test]
    fn forgets_what_it_is_told_to() {
        let vault = MemoryVault::default();
        vault.set("k", &Secret::new("x")).unwrap();
        vault.remove("k").unwrap();
        vault.remove("k").unwrap();
        assert_eq!(vault.get("k"), Ok(None));
    }
}
