//! One appliance per folder.
//!
//! **Invariants**: the lock ends with the process, however it ends; the lock file stays.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

const LOCK_FILE: &str = "lock";

/// Why a folder cannot be locked.
#[derive(Debug, Error)]
pub enum LockError {
    /// Somebody else has it.
    #[error("{} is in use by another running instance", folder.display())]
    Held {
        /// The folder.
        folder: PathBuf,
    },
    /// The operating system said no.
    #[error("cannot lock {}", folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// Its answer.
        source: io::Error,
    },
}

/// Holds the folder until it is dropped.
#[derive(Debug)]
pub struct LockGuard {
    _file: File,
}

/// Makes the folder if needed and takes it for this process.
///
/// # Errors
/// [`LockError::Held`] if another process (or this one) has it.
pub fn lock_folder(folder: &Path) -> Result<LockGuard, LockError> {
    let io = |source| LockError::Io { folder: folder.to_owned(), source };
    super::real::create_owned_folder(folder).map_err(io)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    super::real::for_owner_only(&mut options);
    let file = options.open(folder.join(LOCK_FILE)).map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(LockGuard { _file: file }),
        Err(TryLockError::WouldBlock) => Err(LockError::Held { folder: folder.to_owned() }),
        Err(TryLockError::Error(source)) => Err(io(source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_a_second_instance_until_the_first_ends() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("data");
        let first = lock_folder(&path).expect("nobody has it");
        assert!(matches!(lock_folder(&path), Err(LockError::Held { folder }) if folder == path));
        drop(first);
        drop(lock_folder(&path).expect("free again"));
    }
}
