//! A slow disk: a loop device on a file, whose writes the kernel throttles for one process.
//!
//! A control group limits the write operations a second of the processes in it on that device, as
//! an SD card or a shared disk would. Root only.
//!
//! **Invariants**
//! - Dropped means unmounted, detached and without its control group; the processes in it must have
//!   ended before.
//! - What the machine lacks is a sentence, not an error.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

/// Write operations a second.
pub(crate) const WRITES_PER_S: u32 = 100;
/// Room for the journal's segments.
const BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// Where the kernel's control groups for disks may be: version 1, version 2.
const GROUPS: [(&str, &str); 2] =
    [("/sys/fs/cgroup/blkio", "blkio.throttle.write_iops_device"), ("/sys/fs/cgroup", "io.max")];

/// A mounted slow disk.
#[derive(Debug)]
pub(crate) struct SlowDisk {
    device: Option<String>,
    is_mounted: bool,
    group: PathBuf,
    /// The file of the limit.
    limit: PathBuf,
    folder: TempDir,
}

impl SlowDisk {
    /// Makes and mounts it in `folder`; the sentence says what this machine has not.
    pub(crate) fn create(folder: TempDir) -> Result<Result<Self, String>> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Err("a throttled loop device needs root: not run".into()));
        }
        let Some((group, limit)) = find_group() else {
            return Ok(Err(
                "this machine's kernel throttles no disks: it offers neither blkio.throttle \
                           nor io.max to its control groups"
                    .into(),
            ));
        };
        let file = folder.path().join("disk.img");
        let made = File::create(&file).and_then(|image| image.set_len(BYTES));
        made.with_context(|| format!("create {}", file.display()))?;
        let mut disk = Self { device: None, is_mounted: false, group, limit, folder };
        let device = match tool("losetup", &["--find".as_ref(), "--show".as_ref(), &file]) {
            Ok(device) => device,
            Err(error) => return Ok(Err(format!("this machine has no loop device: {error:#}"))),
        };
        disk.device = Some(device.clone());
        tool("mkfs.ext4", &["-q".as_ref(), device.as_ref()])?;
        fs::create_dir(disk.mounted_at()).context("create the mount's folder")?;
        tool("mount", &[device.as_ref(), &disk.mounted_at()])?;
        disk.is_mounted = true;
        let what = throttle_line(&disk.limit, Path::new(&device))?;
        put(&disk.limit, &what)?;
        Ok(Ok(disk))
    }

    pub(crate) fn mounted_at(&self) -> PathBuf {
        self.folder.path().join("slow")
    }

    /// Puts a process under the limit.
    pub(crate) fn slow_down(&self, pid: u32) -> Result<()> {
        put(&self.group.join("cgroup.procs"), &pid.to_string())
    }
}

impl Drop for SlowDisk {
    fn drop(&mut self) {
        if self.is_mounted {
            let plain = Command::new("umount").arg(self.mounted_at()).output();
            if !plain.is_ok_and(|output| output.status.success()) {
                // A process that is still ending may hold it: lazily, it goes with that process.
                let _later = Command::new("umount").arg("-l").arg(self.mounted_at()).output();
            }
        }
        if let Some(device) = &self.device {
            let _detached = Command::new("losetup").arg("--detach").arg(device).output();
        }
        let _removed = fs::remove_dir(&self.group);
    }
}

/// A new control group that offers a limit of writes: its folder and the limit's file.
fn find_group() -> Option<(PathBuf, PathBuf)> {
    GROUPS.iter().find_map(|(root, limit)| {
        let group = Path::new(root).join(format!("millrace-lab-{}", std::process::id()));
        fs::create_dir(&group).ok()?;
        let limit = group.join(limit);
        if limit.is_file() {
            return Some((group, limit));
        }
        let _empty = fs::remove_dir(&group);
        None
    })
}

/// `7:0 100`, or with words in version 2.
fn throttle_line(limit: &Path, device: &Path) -> Result<String> {
    let number = fs::metadata(device).with_context(|| format!("look at {}", device.display()))?;
    let (major, minor) = (rustix::fs::major(number.rdev()), rustix::fs::minor(number.rdev()));
    Ok(match limit.file_name().is_some_and(|name| name == "io.max") {
        true => format!("{major}:{minor} wiops={WRITES_PER_S}"),
        false => format!("{major}:{minor} {WRITES_PER_S}"),
    })
}

fn put(file: &Path, text: &str) -> Result<()> {
    fs::OpenOptions::new()
        .write(true)
        .open(file)
        .and_then(|mut out| out.write_all(text.as_bytes()))
        .with_context(|| format!("write '{text}' to {}", file.display()))
}

fn tool(name: &str, arguments: &[&Path]) -> Result<String> {
    let output = Command::new(name).args(arguments).output().with_context(|| {
        format!("run {name}: install it with `apt-get install mount e2fsprogs`")
    })?;
    if !output.status.success() {
        bail!("{name} said: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
