//! Where damaged bytes and foreign files go: the folder `quarantine` inside the journal's.
//!
//! **Invariants**: nothing is overwritten and nothing is deleted; copies stop at a byte limit,
//! setting a file aside is a rename and has none; a failure here never stops the start.

use crate::disk::{Disk, DiskFile, read_full};
use crate::frame::PAGE_BYTES;
use crate::segment::{Gap, Segment};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Copies of damaged stretches together; a dying disk must not fill itself with evidence.
const COPIES_BYTES_MAX: u64 = 256 << 20;
/// Files of the same name.
const NAMES_MAX: u32 = 1000;

pub(super) struct Quarantine {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    folder: PathBuf,
    /// Known once the folder was looked at.
    copied_bytes: Option<u64>,
    pub(super) files: Vec<PathBuf>,
}

impl Quarantine {
    pub(super) fn new(disk: Arc<dyn Disk>, dir: &Path) -> Self {
        let folder = dir.join("quarantine");
        Self { disk, dir: dir.to_owned(), folder, copied_bytes: None, files: Vec::new() }
    }

    /// Copies a damaged stretch; answers what became of it, for the report, or nothing if there
    /// are only zeros.
    pub(super) fn copy(&mut self, segment: &Segment, gap: Gap) -> Option<String> {
        let name = format!("{}-{}-{}.damaged", segment.name(), segment.first(), gap.start);
        let path = self.folder.join(name);
        let bytes = match evidence(segment, gap) {
            Ok(bytes) if bytes.is_empty() => return None,
            Ok(bytes) => bytes,
            Err(error) => return Some(format!("it cannot be read ({error})")),
        };
        Some(match self.try_copy(&bytes, &path) {
            Ok(true) => {
                self.files.push(path.clone());
                format!("a copy is in {}", path.display())
            }
            Ok(false) => format!("no copy, {} is at its limit", self.folder.display()),
            Err(error) => format!("it could not be copied ({error})"),
        })
    }

    fn try_copy(&mut self, bytes: &[u8], path: &Path) -> io::Result<bool> {
        let used = self.used()?;
        // The same damage is found at each start until the segment is recycled.
        if self.disk.len(path)?.is_some() {
            return Ok(true);
        }
        if used + bytes.len() as u64 > COPIES_BYTES_MAX {
            return Ok(false);
        }
        self.disk.durable_write(path, bytes)?;
        self.copied_bytes = Some(used + bytes.len() as u64);
        Ok(true)
    }

    fn used(&mut self) -> io::Result<u64> {
        if let Some(used) = self.copied_bytes {
            return Ok(used);
        }
        self.disk.create_folder(&self.folder)?;
        let mut used = 0;
        for name in self.disk.list(&self.folder)? {
            if name.ends_with(".damaged") {
                used += self.disk.len(&self.folder.join(name))?.unwrap_or(0);
            }
        }
        self.copied_bytes = Some(used);
        Ok(used)
    }

    /// Moves a file that is no segment out of the way; answers its new place.
    pub(super) fn set_aside(&mut self, name: &str) -> io::Result<PathBuf> {
        self.used()?;
        for number in 1..=NAMES_MAX {
            let to = self.folder.join(format!("{name}-{number}"));
            if self.disk.len(&to)?.is_none() {
                self.disk.rename(&self.dir.join(name), &to)?;
                self.disk.sync_folder(&self.folder)?;
                self.disk.sync_folder(&self.dir)?;
                self.files.push(to.clone());
                return Ok(to);
            }
        }
        Err(io::Error::other("too many files of this name in quarantine"))
    }
}

/// The bytes of a stretch without the zeros at its end.
fn evidence(segment: &Segment, gap: Gap) -> io::Result<Vec<u8>> {
    // A file may be cut: what is not there is not allocated.
    let end = gap.end.min(segment.file.len()?);
    let length = usize::try_from(end.saturating_sub(gap.start)).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    read_readable(segment.file.as_ref(), &mut bytes, gap.start);
    let kept = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bytes.truncate(kept);
    Ok(bytes)
}

/// Pages that cannot be read stay zero.
fn read_readable(file: &dyn DiskFile, into: &mut [u8], start: u64) {
    if read_full(file, into, start).is_ok() {
        return;
    }
    let mut position = start;
    for page in into.chunks_mut(PAGE_BYTES as usize) {
        if read_full(file, page, position).is_err() {
            page.fill(0);
        }
        position += page.len() as u64;
    }
}
