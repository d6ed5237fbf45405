//! File systems of a test's own, so that a disk can be full or read-only. Only root may mount.
//!
//! **Invariants**: what was mounted is taken away with the value, even while it is in use.

use anyhow::Context as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A mounted file system in memory.
#[derive(Debug)]
pub struct Mount {
    at: PathBuf,
}

impl Mount {
    /// Mounts an empty one of this size; `None` where that is not allowed.
    #[must_use]
    pub fn memory(at: &Path, size_mib: u32) -> Option<Self> {
        Self::with_options(at, &format!("size={size_mib}m,mode=700"))
    }

    /// Mounts one that cannot be written.
    #[must_use]
    pub fn read_only(at: &Path) -> Option<Self> {
        Self::with_options(at, "ro,size=1m")
    }

    fn with_options(at: &Path, options: &str) -> Option<Self> {
        std::fs::create_dir_all(at).ok()?;
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", options, "millrace-test"]).arg(at);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
        status.success().then(|| Self { at: at.to_owned() })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily: the appliance may still run on it.
        let _gone = Command::new("umount").arg("-l").arg(&self.at).status().is_ok();
    }
}

/// Writes zeros until the disk is full; answers how many bytes.
///
/// # Errors
/// When the file cannot be made at all.
pub fn fill_disk(file: &Path) -> anyhow::Result<u64> {
    let mut out = std::fs::File::create(file).context("make the ballast")?;
    let mut written = 0;
    for piece in [1 << 20, 4096] {
        let zeros = vec![0; piece];
        while out.write_all(&zeros).is_ok() {
            written += zeros.len() as u64;
        }
    }
    Ok(written)
}
