//! The key of all secrets: a file of its own beside the catalog, readable by the owner only.
//!
//! **Invariants**: a key file that cannot be read is never replaced: the secrets sealed with it
//! would be lost.

use crate::wiring::folder::keep;
use anyhow::{Context as _, bail};
use millrace_catalog::SecretKey;
use std::io::ErrorKind;
use std::path::Path;

const FILE: &str = "secret.key";

/// The box's key; the first start makes it.
pub(in crate::wiring) fn load_or_make(data: &Path) -> anyhow::Result<SecretKey> {
    let path = data.join(FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => SecretKey::from_hex(&text).with_context(|| {
            format!(
                "read {}: restore it from a backup, or move it away to begin with a new key; \
                 secrets sealed with the old one must then be set again",
                path.display()
            )
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let key = SecretKey::generate_with_system().context("make the key of secrets")?;
            keep(data, FILE, key.to_hex().as_bytes())?;
            Ok(key)
        }
        Err(error) => bail!("read {}: {error}", path.display()),
    }
}
