//! A disk in an image on tmpfs that can be copied as it lies.
//!
//! **Invariants**
//! - Everything that is mounted is unmounted by the guard, the inner one first.
//! - `commit=30` keeps the file system from syncing by itself within a round.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::launch::own_program;
use crate::output;

/// A mounted image.
pub(crate) struct Image {
    // Dropped in this order: the disk, the memory under it, the folder.
    disk: Option<Mount>,
    _memory: Mount,
    folder: TempDir,
}

/// Something mounted.
struct Mount(PathBuf);

impl Drop for Mount {
    fn drop(&mut self) {
        let plain = Command::new("umount").arg(&self.0).output();
        if !plain.is_ok_and(|output| output.status.success()) {
            // A process that is still ending may hold it: lazily, it goes with that process.
            let _gone_later = Command::new("umount").arg("-l").arg(&self.0).output();
        }
    }
}

impl Image {
    /// Makes and mounts an empty disk of `mib` MiB.
    pub(crate) fn create(mib: u64) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("millrace-powercut-").tempdir()?;
        let (ram, live) = (folder.path().join("ram"), folder.path().join("live"));
        std::fs::create_dir(&ram)?;
        std::fs::create_dir(&live)?;
        let size = format!("size={}m", mib * 2 + 64);
        tool(
            "mount",
            &[
                "-t".as_ref(),
                "tmpfs".as_ref(),
                "-o".as_ref(),
                size.as_ref(),
                "millrace".as_ref(),
                &ram,
            ],
        )?;
        let memory = Mount(ram);
        let mut image = Self { disk: None, _memory: memory, folder };
        let file = std::fs::File::create(image.file()).context("create the image")?;
        file.set_len(mib * 1024 * 1024).context("size the image")?;
        tool("mkfs.ext4", &["-q".as_ref(), &image.file()])?;
        image.mount()?;
        Ok(image)
    }

    /// Where the disk's files are.
    pub(crate) fn mounted_at(&self) -> PathBuf {
        self.folder.path().join("live")
    }

    /// Copies the image without any sync: what a power cut at this moment would leave.
    pub(crate) fn copy_as_it_lies(&self) -> Result<()> {
        tool("cp", &["--sparse=always".as_ref(), &self.file(), &self.copy()])
    }

    /// Puts the copy in the image's place; its file system replays its journal.
    pub(crate) fn boot_from_copy(&mut self) -> Result<()> {
        self.disk = None;
        rustix::fs::rename(self.copy(), self.file()).context("take the copy as the disk")?;
        self.mount()
    }

    fn mount(&mut self) -> Result<()> {
        let live = self.mounted_at();
        tool("mount", &["-o".as_ref(), "loop,commit=30".as_ref(), &self.file(), &live])?;
        self.disk = Some(Mount(live));
        Ok(())
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("ram/disk.img")
    }

    fn copy(&self) -> PathBuf {
        self.folder.path().join("ram/copy.img")
    }
}

/// Becomes the same program in a mount namespace of its own, where mounts end with the process.
/// Returns where that is not possible: then the guards alone unmount.
pub(crate) fn enter_namespace() -> Result<()> {
    let error = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "--"])
        .arg(own_program()?)
        .args(std::env::args_os().skip(1))
        .arg("--in-own-namespace")
        .exec();
    output::complain(&format!("lab: mounting without a namespace of its own: {error}"));
    Ok(())
}

fn tool(name: &str, arguments: &[&Path]) -> Result<()> {
    let output = Command::new(name).args(arguments).output().with_context(|| {
        format!("run {name}: install it with `apt-get install mount e2fsprogs coreutils`")
    })?;
    if !output.status.success() {
        bail!("{name} said: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
