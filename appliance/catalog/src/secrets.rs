//! The secrets of the box, in memory, sealed.
//!
//! Steps name a secret; its value is opened when a step runs and is nowhere kept in clear.
//! Listing tells names, never values, not even their length.
//!
//! **Invariants**: a value goes in through [`Secrets::set`] and out through [`Secrets::reveal`]
//! alone.

use crate::pipelines::{By, Place};
use crate::sealed::{SealError, SecretKey};
use millrace_model::{AuditEntry, Definition, Secret, Timestamp, WorkspaceNumber};
use parking_lot::RwLock;
use ring::rand::SystemRandom;
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

/// Most secrets of the box.
const SECRETS_MAX: usize = 10_000;
/// Longest value in bytes: room for a private key in PEM form.
const VALUE_BYTES_MAX: usize = 16 * 1024;
/// Longest name in bytes.
const NAME_BYTES_MAX: usize = 64;

/// A secret without its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretLine {
    /// Its name.
    pub name: String,
    /// When it was set.
    pub at: Timestamp,
    /// Who set it.
    pub by: String,
}

/// Why a secret is not changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SecretError {
    /// There is none.
    #[error("there is no secret '{name}'")]
    Unknown {
        /// The name.
        name: String,
    },
    /// A name that none can have.
    #[error("a secret's name has 1 to 64 letters, digits, hyphens, dots and underscores")]
    NameInvalid,
    /// A value that none can have.
    #[error("a secret's value has 1 to {VALUE_BYTES_MAX} bytes")]
    ValueInvalid,
    /// The box is full.
    #[error("the box has {SECRETS_MAX} secrets, which is the most")]
    TooMany,
    /// It cannot be sealed.
    #[error(transparent)]
    Seal(#[from] SealError),
}

/// All secrets of the box.
#[derive(Debug, Default)]
pub struct Secrets(RwLock<BTreeMap<(WorkspaceNumber, String), Arc<Secret>>>);

impl Secrets {
    /// Brings a change into force; what is no secret is passed over.
    pub fn apply(&self, definition: &Definition) {
        let Definition::Secret(secret) = definition else { return };
        let key = (secret.workspace, secret.name.clone());
        let mut all = self.0.write();
        if secret.sealed.is_some() {
            all.insert(key, Arc::new(secret.clone()));
        } else {
            all.remove(&key);
        }
    }

    /// The definitions that set a secret.
    ///
    /// # Errors
    /// What is wrong with name or value.
    pub fn set(
        &self,
        place: Place<'_>,
        value: &str,
        key: &SecretKey,
        by: &By,
    ) -> Result<Vec<Definition>, SecretError> {
        if !is_name(place.name) {
            return Err(SecretError::NameInvalid);
        }
        if !(1..=VALUE_BYTES_MAX).contains(&value.len()) {
            return Err(SecretError::ValueInvalid);
        }
        if self.0.read().len() >= SECRETS_MAX {
            return Err(SecretError::TooMany);
        }
        let sealed = key.seal(place.workspace, place.name, value, &SystemRandom::new())?;
        Ok(change(place, Some(sealed), "secret.set", by))
    }

    /// The definitions that remove a secret.
    ///
    /// # Errors
    /// [`SecretError::Unknown`].
    pub fn remove(&self, place: Place<'_>, by: &By) -> Result<Vec<Definition>, SecretError> {
        if !self.is_there(place.workspace, place.name) {
            return Err(SecretError::Unknown { name: place.name.to_owned() });
        }
        Ok(change(place, None, "secret.remove", by))
    }

    /// Whether a workspace has a secret of this name.
    #[must_use]
    pub fn is_there(&self, workspace: WorkspaceNumber, name: &str) -> bool {
        self.0.read().contains_key(&(workspace, name.to_owned()))
    }

    /// The names of a workspace's secrets, in order.
    #[must_use]
    pub fn list(&self, workspace: WorkspaceNumber) -> Vec<SecretLine> {
        let all = self.0.read();
        let of_workspace = all.range((workspace, String::new())..);
        of_workspace
            .take_while(|((of, _), _)| *of == workspace)
            .map(|((_, name), secret)| SecretLine {
                name: name.clone(),
                at: secret.at,
                by: secret.by.clone(),
            })
            .collect()
    }

    /// The value of a secret, for the step that uses it; `None` if there is none.
    ///
    /// # Errors
    /// When it was sealed with another key.
    pub fn reveal(
        &self,
        workspace: WorkspaceNumber,
        name: &str,
        key: &SecretKey,
    ) -> Result<Option<Arc<str>>, SealError> {
        let found = self.0.read().get(&(workspace, name.to_owned())).cloned();
        let Some(secret) = found else { return Ok(None) };
        let sealed = secret.sealed.as_deref().unwrap_or_default();
        key.open(workspace, name, sealed).map(|value| Some(Arc::from(value)))
    }

    /// Names of secrets that this key does not open: the key file was lost or replaced.
    #[must_use]
    pub fn unreadable(&self, key: &SecretKey) -> Vec<(WorkspaceNumber, String)> {
        let all = self.0.read();
        let bad = all.iter().filter(|((workspace, name), secret)| {
            let sealed = secret.sealed.as_deref().unwrap_or_default();
            key.open(*workspace, name, sealed).is_err()
        });
        bad.map(|(place, _)| place.clone()).collect()
    }

    /// The state, for a snapshot.
    #[must_use]
    pub fn definitions(&self) -> Vec<Definition> {
        let all = self.0.read();
        all.values().map(|secret| Definition::Secret(Secret::clone(secret))).collect()
    }
}

fn change(place: Place<'_>, sealed: Option<String>, action: &str, by: &By) -> Vec<Definition> {
    let secret = Secret {
        workspace: place.workspace,
        name: place.name.to_owned(),
        sealed,
        at: by.at,
        by: by.who.clone(),
    };
    let entry = AuditEntry {
        at: by.at,
        who: by.who.clone(),
        action: action.to_owned(),
        subject: format!("{}/{}", place.workspace_name, place.name),
        from: by.from.clone(),
    };
    vec![Definition::Secret(secret), Definition::Audit(entry)]
}

fn is_name(name: &str) -> bool {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_good)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: WorkspaceNumber = WorkspaceNumber(1);

    fn place(name: &str) -> Place<'_> {
        Place { workspace: MAIN, workspace_name: "main", name }
    }

    fn by() -> By {
        By { who: "user:anna".into(), from: Some("10.0.0.7".into()), at: Timestamp(5) }
    }

    #[test]
    fn a_secret_is_set_revealed_listed_without_its_value_and_removed() {
        let key = SecretKey::generate_with_system().unwrap();
        let secrets = Secrets::default();
        let definitions = secrets.set(place("mes"), "hunter2", &key, &by()).unwrap();
        assert_eq!(secrets.list(MAIN), [], "not before it is durable");
        definitions.iter().for_each(|definition| secrets.apply(definition));
        let revealed = secrets.reveal(MAIN, "mes", &key).unwrap().unwrap();
        assert_eq!(&*revealed, "hunter2");
        assert_eq!(secrets.reveal(WorkspaceNumber(2), "mes", &key).unwrap(), None);
        let line = SecretLine { name: "mes".into(), at: Timestamp(5), by: "user:anna".into() };
        assert_eq!(secrets.list(MAIN), [line]);
        let everything = format!("{definitions:?}{secrets:?}{:?}", secrets.definitions());
        assert!(!everything.contains("hunter2"), "{everything}");
        let Definition::Audit(entry) = &definitions[1] else { panic!("{definitions:?}") };
        assert_eq!((entry.action.as_str(), entry.subject.as_str()), ("secret.set", "main/mes"));
        for definition in secrets.remove(place("mes"), &by()).unwrap() {
            secrets.apply(&definition);
        }
        assert_eq!(secrets.reveal(MAIN, "mes", &key).unwrap(), None);
        let unknown = SecretError::Unknown { name: "mes".into() };
        assert_eq!(secrets.remove(place("mes"), &by()), Err(unknown));
    }

    #[test]
    fn a_lost_key_is_told_by_name() {
        let key = SecretKey::generate_with_system().unwrap();
        let secrets = Secrets::default();
        for definition in secrets.set(place("mes"), "hunter2", &key, &by()).unwrap() {
            secrets.apply(&definition);
        }
        assert_eq!(secrets.unreadable(&key), []);
        assert_eq!(secrets.reveal(MAIN, "mes", &SecretKey::none()), Err(SealError::NoKey));
        let refused = secrets.set(place("new"), "v", &SecretKey::none(), &by());
        assert_eq!(refused, Err(SecretError::Seal(SealError::NoKey)));
        let other = SecretKey::generate_with_system().unwrap();
        assert_eq!(secrets.unreadable(&other), [(MAIN, "mes".to_owned())]);
        assert_eq!(secrets.reveal(MAIN, "mes", &other), Err(SealError::CannotOpen));
    }

    #[test]
    fn refuses_names_and_values_that_none_can_have() {
        let key = SecretKey::generate_with_system().unwrap();
        let secrets = Secrets::default();
        for bad in ["", "a b", "ä", "a/b", &"x".repeat(65)] {
            let refused = secrets.set(place(bad), "v", &key, &by()).unwrap_err();
            assert_eq!(refused, SecretError::NameInvalid, "{bad}");
        }
        for bad in ["", &"x".repeat(VALUE_BYTES_MAX + 1)] {
            let refused = secrets.set(place("a"), bad, &key, &by()).unwrap_err();
            assert_eq!(refused, SecretError::ValueInvalid);
        }
    }
}
