//! The data folder: taken by one process at a time, readable by its owner only.

use anyhow::Context as _;
use millrace_journal::{Disk as _, LockError, LockGuard, RealDisk, lock_folder};
use std::path::{Path, PathBuf};

/// The folder, held until this is dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    _lock: LockGuard,
}

/// Takes the folder for this process.
///
/// # Errors
/// When another appliance runs on it, or it cannot be made or written.
pub(crate) fn claim_folder(path: &Path) -> anyhow::Result<Folder> {
    match lock_folder(path) {
        Ok(lock) => Ok(Folder { path: path.to_owned(), _lock: lock }),
        Err(error @ LockError::Held { .. }) => Err(error).context(
            "stop the appliance that runs there first, or name another folder with --data",
        ),
        Err(error) => Err(error).context("take the data folder"),
    }
}

impl Folder {
    /// Keeps a small file, readable by the owner only.
    pub(crate) fn keep(&self, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        keep(&self.path, name, bytes)
    }

    /// Removes a small file; one that is gone already is as good.
    pub(crate) fn forget(&self, name: &str) {
        let _gone = RealDisk.remove(&self.path.join(name)).is_err();
    }
}

/// Writes a small file of the data folder, readable by the owner only.
pub(super) fn keep(folder: &Path, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let path = folder.join(name);
    RealDisk.durable_write(&path, bytes).with_context(|| format!("write {}", path.display()))
}
