//! The key of all secrets: a file of its own beside the catalog, readable by the owner only.
//!
//! **Invariants**: a key file that cannot be read is never replaced: the secrets sealed with it
//! would be lost. The box starts without it, and what needs a secret fails and says so.

use crate::wiring::folder::keep;
use anyhow::Context as _;
use millrace_catalog::SecretKey;
use millrace_supervisor::{Issue, Issues, Severity};
use std::io::ErrorKind;
use std::path::Path;

const FILE: &str = "secret.key";
const ISSUE: &str = "secret-key-unreadable";

/// The box's key; the first start makes it. None if its file cannot be read, with an issue.
pub(in crate::wiring) fn load_or_make(data: &Path, issues: &Issues) -> anyhow::Result<SecretKey> {
    let path = data.join(FILE);
    let reason = match std::fs::read_to_string(&path) {
        Ok(text) => match SecretKey::from_hex(&text) {
            Ok(key) => return Ok(key),
            Err(error) => error.to_string(),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let key = SecretKey::generate_with_system().context("make the key of secrets")?;
            keep(data, FILE, key.to_hex().as_bytes())?;
            return Ok(key);
        }
        Err(error) => error.to_string(),
    };
    issues.raise(Issue {
        key: ISSUE.to_owned(),
        severity: Severity::Critical,
        what: format!("The key of all secrets, {}, cannot be read: {reason}.", path.display()),
        effect:
            "No secret can be opened or set: steps, triggers and webhooks that use one fail and \
                 say so. Everything else runs."
                .to_owned(),
        remedy:
            "Restore secret.key from a copy and start again. If there is none, move it away and \
                 start again: a new key is made, and the secrets must be set anew."
                .to_owned(),
    });
    Ok(SecretKey::none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_supervisor::{Clock, SystemClock};
    use std::sync::Arc;

    #[test]
    fn a_damaged_key_is_told_and_left_as_it_is() {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let issues = Issues::new(clock);
        let folder = tempfile::tempdir().unwrap();
        // Given a key that the first start made
        let first = load_or_make(folder.path(), &issues).unwrap();
        assert!(first.is_there() && issues.list().is_empty());
        let again = load_or_make(folder.path(), &issues).unwrap();
        assert_eq!(again.to_hex(), first.to_hex());
        for damage in [&b"0123"[..], b"", b"\xff\xfe\xfd"] {
            // When its file is damaged
            let mut file = std::fs::File::create(folder.path().join(FILE)).unwrap();
            std::io::Write::write_all(&mut file, damage).unwrap();
            // Then the box has none, says so, and the file stays
            assert!(!load_or_make(folder.path(), &issues).unwrap().is_there());
            assert!(issues.is_open(ISSUE));
            assert_eq!(std::fs::read(folder.path().join(FILE)).unwrap(), damage);
        }
    }
}
