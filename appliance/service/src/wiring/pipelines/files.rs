//! The files of `runs` through the journal's disk, which makes them readable by the owner only.

use millrace_journal::disk::OpenMode;
use millrace_journal::{Disk as _, RealDisk};
use millrace_runs::Files;
use std::io;
use std::path::Path;

/// The appliance's files.
pub(in crate::wiring) struct OwnerFiles;

impl Files for OwnerFiles {
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_folder(path)
    }

    fn create(&self, path: &Path) -> io::Result<()> {
        if RealDisk.len(path)?.is_none() {
            RealDisk.open(path, OpenMode::CreateNew).map(drop)?;
        }
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)?;
        to.parent().map_or(Ok(()), |folder| RealDisk.sync_folder(folder))
    }
}
