//! A disk in memory that forgets what was not synced.
//!
//! [`ForgetfulDisk::crash`] is the power cut: of each sector of 512 bytes written since the last
//! sync of its file either the old or the new content stays, by a seeded choice; names made,
//! changed or removed since the last sync of their folder stay or go per folder.
//!
//! **Invariants**: what was synced stays; a sector is never a mixture; the same seed gives the
//! same outcome for the same operations; files opened before a crash write nothing after it.

use crate::disk::{Disk, DiskFile, OpenMode};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SECTOR_BYTES: usize = 512;

#[derive(Debug, Default)]
struct Content {
    now: Vec<u8>,
    synced: Vec<u8>,
    dirty: BTreeSet<usize>,
}

type Shared = Arc<Mutex<Content>>;

#[derive(Debug, Default)]
struct Names {
    now: BTreeMap<PathBuf, Shared>,
    synced: BTreeMap<PathBuf, Shared>,
    life: u64,
    random: u64,
}

/// A disk in memory.
#[derive(Clone, Debug)]
pub struct ForgetfulDisk {
    names: Arc<Mutex<Names>>,
}

struct MemoryFile {
    names: Arc<Mutex<Names>>,
    content: Shared,
    life: u64,
}

impl ForgetfulDisk {
    /// Empty; the seed decides what a crash leaves.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let names = Names { random: seed ^ 0x9e37_79b9_7f4a_7c15, ..Names::default() };
        Self { names: Arc::new(Mutex::new(names)) }
    }

    /// The power goes: unsynced sectors and names stay or go by chance.
    pub fn crash(&self) {
        self.lose(|random| next(random).is_multiple_of(2));
    }

    /// The power goes and takes everything that was not synced.
    pub fn crash_hard(&self) {
        self.lose(|_| false);
    }

    /// What a file holds, for a test to look at or damage.
    #[must_use]
    pub fn content(&self, path: &Path) -> Option<Vec<u8>> {
        let names = self.names.lock();
        names.now.get(path).map(|content| content.lock().now.clone())
    }

    /// Puts content on the disk as if it had been synced there.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let content =
            Content { now: bytes.to_vec(), synced: bytes.to_vec(), dirty: BTreeSet::new() };
        let content = Arc::new(Mutex::new(content));
        let mut names = self.names.lock();
        names.now.insert(path.to_owned(), Arc::clone(&content));
        names.synced.insert(path.to_owned(), content);
    }

    /// Takes a file away as if it had never been.
    pub fn take(&self, path: &Path) {
        let mut names = self.names.lock();
        names.now.remove(path);
        names.synced.remove(path);
    }

    /// All files.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        self.names.lock().now.keys().cloned().collect()
    }

    /// A copy with the same content, all of it synced.
    #[must_use]
    pub fn copy(&self, seed: u64) -> Self {
        let copy = Self::new(seed);
        for (path, content) in &self.names.lock().now {
            copy.put(path, &content.lock().now);
        }
        copy
    }

    /// What a power cut that takes everything unsynced would leave; this disk goes on.
    #[must_use]
    pub fn synced_copy(&self, seed: u64) -> Self {
        let copy = Self::new(seed);
        for (path, content) in &self.names.lock().synced {
            copy.put(path, &content.lock().synced);
        }
        copy
    }

    fn lose(&self, mut keep: impl FnMut(&mut u64) -> bool) {
        let mut names = self.names.lock();
        let names = &mut *names;
        names.life += 1;
        let folders: BTreeSet<PathBuf> = names
            .now
            .keys()
            .chain(names.synced.keys())
            .filter_map(|path| path.parent().map(Path::to_owned))
            .collect();
        for folder in folders {
            let in_folder = |path: &PathBuf| path.parent() == Some(folder.as_path());
            let kept = if keep(&mut names.random) { &names.now } else { &names.synced };
            let kept: Vec<_> = kept
                .iter()
                .filter(|(path, _)| in_folder(path))
                .map(|(path, content)| (path.clone(), Arc::clone(content)))
                .collect();
            names.now.retain(|path, _| !in_folder(path));
            names.now.extend(kept);
        }
        names.synced = names.now.clone();
        for content in names.now.values() {
            content.lock().lose(&mut names.random, &mut keep);
        }
    }
}

impl Content {
    fn lose(&mut self, random: &mut u64, keep: &mut impl FnMut(&mut u64) -> bool) {
        // The length is one fact of its own.
        let length = if keep(random) { self.now.len() } else { self.synced.len() };
        let mut left = self.synced.clone();
        left.resize(length, 0);
        for &sector in &self.dirty {
            if keep(random) {
                let start = sector * SECTOR_BYTES;
                let new = self.now.get(start..).unwrap_or_default();
                copy(new.get(..SECTOR_BYTES).unwrap_or(new), &mut left, start);
            }
        }
        self.now.clone_from(&left);
        self.synced = left;
        self.dirty.clear();
    }

    fn write(&mut self, bytes: &[u8], start: usize) {
        let end = start + bytes.len();
        if self.now.len() < end {
            self.now.resize(end, 0);
        }
        copy(bytes, &mut self.now, start);
        self.dirty.extend(start / SECTOR_BYTES..end.div_ceil(SECTOR_BYTES));
    }
}

/// Copies as much as there is place for.
fn copy(from: &[u8], into: &mut [u8], start: usize) {
    let place = into.get_mut(start..).unwrap_or_default();
    let count = from.len().min(place.len());
    if let (Some(place), Some(from)) = (place.get_mut(..count), from.get(..count)) {
        place.copy_from_slice(from);
    }
}

fn next(random: &mut u64) -> u64 {
    // SplitMix64: small, seeded and good enough to toss coins.
    *random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *random;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) >> 8
}

fn missing(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("no file {}", path.display()))
}

impl Disk for ForgetfulDisk {
    fn create_folder(&self, _folder: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let names = self.names.lock();
        let inside = names.now.keys().filter(|path| path.parent() == Some(folder));
        Ok(inside.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        let mut names = self.names.lock();
        let found = names.now.get(path).cloned();
        let content = match (mode, found) {
            (OpenMode::Read | OpenMode::Write, found) => found.ok_or_else(|| missing(path))?,
            (OpenMode::CreateNew, Some(_)) => return Err(io::ErrorKind::AlreadyExists.into()),
            (OpenMode::CreateNew, None) | (OpenMode::Truncate, _) => {
                let content = Shared::default();
                names.now.insert(path.to_owned(), Arc::clone(&content));
                content
            }
        };
        let life = names.life;
        Ok(Box::new(MemoryFile { names: Arc::clone(&self.names), content, life }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut names = self.names.lock();
        let content = names.now.remove(from).ok_or_else(|| missing(from))?;
        names.now.insert(to.to_owned(), content);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.names.lock().now.remove(path).map(drop).ok_or_else(|| missing(path))
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut names = self.names.lock();
        let names = &mut *names;
        names.synced.retain(|path, _| path.parent() != Some(folder));
        let inside = names.now.iter().filter(|(path, _)| path.parent() == Some(folder));
        names.synced.extend(inside.map(|(path, content)| (path.clone(), Arc::clone(content))));
        Ok(())
    }

    fn len(&self, path: &Path) -> io::Result<Option<u64>> {
        let names = self.names.lock();
        Ok(names.now.get(path).map(|content| content.lock().now.len() as u64))
    }
}

impl MemoryFile {
    fn change(&self, work: impl FnOnce(&mut Content)) -> io::Result<()> {
        if self.names.lock().life != self.life {
            return Err(io::Error::other("this file was opened before the power cut"));
        }
        work(&mut self.content.lock());
        Ok(())
    }
}

fn place(position: u64) -> io::Result<usize> {
    usize::try_from(position).map_err(io::Error::other)
}

impl DiskFile for MemoryFile {
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        let start = place(position)?;
        self.change(|content| content.write(bytes, start))
    }

    fn read_at(&self, into: &mut [u8], position: u64) -> io::Result<usize> {
        let start = place(position)?;
        let content = self.content.lock();
        let there = content.now.get(start..).unwrap_or_default();
        let count = there.len().min(into.len());
        copy(there.get(..count).unwrap_or_default(), into, 0);
        Ok(count)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.change(|content| {
            content.synced.resize(content.now.len(), 0);
            for sector in std::mem::take(&mut content.dirty) {
                let start = sector * SECTOR_BYTES;
                let new = content.now.get(start..).unwrap_or_default();
                copy(new.get(..SECTOR_BYTES).unwrap_or(new), &mut content.synced, start);
            }
        })
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.content.lock().now.len() as u64)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let length = place(length)?;
        self.change(|content| content.now.resize(length, 0))
    }
}
