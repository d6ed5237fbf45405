//! The system's keyring: the Secret Service on Linux, the Credential Manager on Windows.
//!
//! **Invariants**: the store is opened when it is first needed, so that the program starts without
//! one; an error's text is the system's and holds no secret.

use keyring_core::{CredentialStore, Entry, Error};
use millrace_studio_core::{Secret, Vault, VaultError};
use std::sync::{Arc, Mutex, PoisonError};

/// Under which name the entries are kept.
const SERVICE: &str = "millrace-studio";

/// The system's keyring.
pub(crate) struct Keyring {
    store: Mutex<Option<Arc<CredentialStore>>>,
}

impl Keyring {
    pub(crate) fn new() -> Self {
        Self { store: Mutex::new(None) }
    }

    fn entry(&self, key: &str) -> Result<Entry, VaultError> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = match store.as_ref() {
            Some(opened) => Arc::clone(opened),
            None => {
                let opened = open()?;
                *store = Some(Arc::clone(&opened));
                opened
            }
        };
        drop(store);
        Entry::new_in_store(&opened, SERVICE, key).map_err(|error| said(&error))
    }
}

#[cfg(target_os = "linux")]
fn open() -> Result<Arc<CredentialStore>, VaultError> {
    let store = dbus_secret_service_keyring_store::Store::new().map_err(|error| said(&error))?;
    Ok(store)
}

#[cfg(windows)]
fn open() -> Result<Arc<CredentialStore>, VaultError> {
    let store = windows_native_keyring_store::Store::new().map_err(|error| said(&error))?;
    Ok(store)
}

#[cfg(not(any(target_os = "linux", windows)))]
fn open() -> Result<Arc<CredentialStore>, VaultError> {
    Err(VaultError("this system's keyring is not supported".to_owned()))
}

impl Vault for Keyring {
    fn get(&self, key: &str) -> Result<Option<Secret>, VaultError> {
        match self.entry(key)?.get_password() {
            Ok(text) => Ok(Some(Secret::new(text))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(said(&error)),
        }
    }

    fn set(&self, key: &str, secret: &Secret) -> Result<(), VaultError> {
        self.entry(key)?.set_password(secret.expose()).map_err(|error| said(&error))
    }

    fn remove(&self, key: &str) -> Result<(), VaultError> {
        match self.entry(key)?.delete_credential() {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(said(&error)),
        }
    }
}

/// What the system says. An error that carries the bytes of an entry is told without them.
fn said(error: &Error) -> VaultError {
    match error {
        Error::BadEncoding(_) | Error::BadDataFormat(..) => {
            VaultError("its entry cannot be read".to_owned())
        }
        other => VaultError(other.to_string()),
    }
}
