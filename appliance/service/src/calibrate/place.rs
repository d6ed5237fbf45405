//! The folder of the private box: below the data folder, so that it is on the same disk.
//!
//! **Invariants**
//! - It goes when this is dropped; what a killed process left is removed by whoever comes next.
//! - A folder that another calibration holds is left alone.

use crate::wiring::{self, Folder};
use anyhow::{Context as _, bail};
use millrace_journal::{Disk as _, RealDisk};
use std::path::{Path, PathBuf};

/// Name of the folder below the data folder.
const NAME: &str = "calibration";

/// The claimed folder.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
}

impl Place {
    /// Makes the folder, after removing what a killed calibration left.
    pub(super) fn claim(data: &Path) -> anyhow::Result<Self> {
        RealDisk.create_folder(data).with_context(|| format!("make {}", data.display()))?;
        if !sweep(data) {
            bail!("a calibration runs on {} already; wait for it or cancel it", data.display());
        }
        Ok(Self { path: data.join(NAME) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the folder for the private box, as any box takes its own.
    pub(super) fn folder(&self) -> anyhow::Result<Folder> {
        wiring::claim_folder(&self.path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!("{} was not removed: {error}.", self.path.display());
        }
    }
}

/// Removes what a killed calibration left; `false` when one is running there.
pub(crate) fn sweep(data: &Path) -> bool {
    let path = data.join(NAME);
    if !path.exists() {
        return true;
    }
    let Ok(lock) = wiring::claim_folder(&path) else { return false };
    drop(lock);
    // What cannot be removed shows when the folder is taken.
    let _gone = std::fs::remove_dir_all(&path).is_ok();
    true
}

#[cfg(test)]
mod tests {
    use super::{NAME, Place, sweep};

    #[test]
    fn the_folder_goes_with_its_claim_and_leftovers_go_at_the_next() {
        let data = tempfile::tempdir().unwrap();
        let left = data.path().join(NAME).join("journal");
        std::fs::create_dir_all(&left).unwrap();
        let place = Place::claim(data.path()).unwrap();
        assert!(!left.exists(), "the leftovers are gone");
        let lock = place.folder().unwrap();
        // While it runs nobody sweeps it away, and no second one begins.
        assert!(!sweep(data.path()));
        let error = Place::claim(data.path()).unwrap_err();
        assert!(error.to_string().contains("runs on"), "{error:#}");
        drop(lock);
        drop(place);
        assert!(!data.path().join(NAME).exists());
        assert!(sweep(data.path()));
    }
}
