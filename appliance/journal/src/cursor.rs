//! Named durable positions: how far each reader has taken over.
//!
//! A checkpoint is taken in memory at once and saved by the keeper, at most once a second, because
//! a position that is a second old only means a second of records read twice. Segments are
//! recycled by *saved* positions, so that no crash finds a cursor below the oldest record.
//!
//! **Invariants**
//! - A position never moves back and never passes what is durable.
//! - A registered cursor that was never saved stands at 0 and keeps everything.
//! - Without any registered cursor nothing is recycled.
//! - A file whose sync failed is replaced, not written again.

mod file;

use crate::core::Core;
use crate::disk::{Disk, DiskFile, OpenMode};
use crate::error::{Error, Result};
use crate::frame::PAGE_BYTES;
use crate::seq::Seq;
use file::{CURSORS_MAX, NAME_BYTES_MAX, Positions};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tracing::error;

pub(crate) const CURSOR_FILE: &str = "cursors";

/// A named position below which its owner needs no records. Clones are the same cursor.
#[derive(Clone)]
pub struct Cursor {
    core: Arc<Core>,
    name: &'static str,
    position: Arc<AtomicU64>,
}

impl Cursor {
    pub(crate) fn new(core: Arc<Core>, name: &'static str) -> Self {
        let position = core.cursors.register(name);
        Self { core, name, position }
    }

    /// The owner has durably taken over everything up to here. A lower seq than before changes
    /// nothing. It is saved within about a second, and when the journal is closed.
    ///
    /// # Errors
    /// [`Error::CheckpointAhead`] above what is durable.
    pub fn checkpoint(&self, seq: Seq) -> Result<()> {
        let durable = self.core.queue.durable();
        if seq > durable {
            return Err(Error::CheckpointAhead { name: self.name, wanted: seq, durable });
        }
        if self.position.fetch_max(seq.0, Ordering::AcqRel) < seq.0 {
            self.core.cursors.is_dirty.store(true, Ordering::Release);
            self.core.signal.raise();
        }
        Ok(())
    }

    /// The highest checkpoint.
    #[must_use]
    pub fn position(&self) -> Seq {
        Seq(self.position.load(Ordering::Acquire))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl std::fmt::Debug for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cursor").field("name", &self.name).field("at", &self.position()).finish()
    }
}

struct Entry {
    position: Arc<AtomicU64>,
    saved: Seq,
    /// `None`: known from the file, and nobody has asked for it in this run.
    registered: Option<&'static str>,
}

struct Saving {
    generation: u64,
    /// `None`: the next save writes a new file.
    file: Option<Box<dyn DiskFile>>,
}

/// What may be wrong with the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// One page is torn, as by a power cut during a save: the positions are one save older.
    OlderPage,
    /// All positions are lost, for this reason.
    Lost(String),
}

pub(crate) struct Cursors {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    entries: Mutex<BTreeMap<String, Entry>>,
    /// Held over the write: the keeper and `close` take turns.
    saving: Mutex<Saving>,
    is_dirty: AtomicBool,
}

impl Cursors {
    /// Reads the file; the second part is what is wrong with it.
    pub(crate) fn load(disk: Arc<dyn Disk>, dir: &Path) -> (Self, Option<Trouble>) {
        let path = dir.join(CURSOR_FILE);
        let (found, trouble) = match disk.len(&path) {
            Ok(None) => (Positions::default(), None),
            _ => match disk.read(&path, 2 * PAGE_BYTES) {
                Ok(bytes) => judge(&bytes),
                Err(error) => (Positions::default(), Some(Trouble::Lost(error.to_string()))),
            },
        };
        let file = if trouble.is_none() { disk.open(&path, OpenMode::Write).ok() } else { None };
        let entries = found.of.into_iter().map(|(name, seq)| {
            let position = Arc::new(AtomicU64::new(seq.0));
            (name, Entry { position, saved: seq, registered: None })
        });
        let entries = Mutex::new(entries.collect());
        let saving = Mutex::new(Saving { generation: found.generation, file });
        (Self { disk, path, entries, saving, is_dirty: AtomicBool::new(false) }, trouble)
    }

    fn register(&self, name: &'static str) -> Arc<AtomicU64> {
        let mut entries = self.entries.lock();
        if let Some(entry) = entries.get_mut(name) {
            entry.registered = Some(name);
            return Arc::clone(&entry.position);
        }
        let position = Arc::new(AtomicU64::new(0));
        let forgotten = entries
            .iter()
            .find(|(_, entry)| entry.registered.is_none())
            .map(|(name, _)| name.clone());
        if let (true, Some(forgotten)) = (entries.len() >= CURSORS_MAX, forgotten) {
            entries.remove(&forgotten);
        }
        if entries.len() >= CURSORS_MAX || name.len() > NAME_BYTES_MAX {
            // It would not fit the page. It works and is not saved: its owner begins anew.
            error!(name, "This cursor cannot be saved: too many, or its name is too long.");
            return position;
        }
        let entry =
            Entry { position: Arc::clone(&position), saved: Seq::ZERO, registered: Some(name) };
        entries.insert(name.to_owned(), entry);
        position
    }

    pub(crate) fn is_dirty(&self) -> bool {
        self.is_dirty.load(Ordering::Acquire)
    }

    /// Saves all positions.
    pub(crate) fn save(&self) -> Result<()> {
        let mut saving = self.saving.lock();
        // Before the positions are read: a checkpoint that comes now makes it dirty again.
        self.is_dirty.store(false, Ordering::Release);
        let positions = Positions { generation: saving.generation + 1, of: self.positions() };
        let page = positions.encode();
        let written = match saving.file.take() {
            Some(file) => file
                .write_all_at(&page, positions.page_start())
                .and_then(|()| file.sync_data())
                .map(|()| Some(file)),
            None => self
                .write_new(&positions, &page)
                .map(|()| self.disk.open(&self.path, OpenMode::Write).ok()),
        };
        match written {
            Ok(file) => {
                *saving = Saving { generation: positions.generation, file };
                let mut entries = self.entries.lock();
                for (name, seq) in positions.of {
                    if let Some(entry) = entries.get_mut(&name) {
                        entry.saved = seq;
                    }
                }
                Ok(())
            }
            Err(source) => {
                self.is_dirty.store(true, Ordering::Release);
                Err(Error::Io { action: "save", path: self.path.clone(), source })
            }
        }
    }

    fn positions(&self) -> BTreeMap<String, Seq> {
        let entries = self.entries.lock();
        let at = |entry: &Entry| Seq(entry.position.load(Ordering::Acquire));
        entries.iter().map(|(name, entry)| (name.clone(), at(entry))).collect()
    }

    fn write_new(&self, positions: &Positions, page: &[u8]) -> std::io::Result<()> {
        let zeros = [0; PAGE_BYTES as usize];
        let pages: [&[u8]; 2] =
            if positions.page_start() == 0 { [page, &zeros] } else { [&zeros, page] };
        self.disk.durable_write(&self.path, &pages.concat())
    }

    /// The registered ones with their positions, saved or not.
    pub(crate) fn all(&self) -> Vec<(&'static str, Seq)> {
        let entries = self.entries.lock();
        let at = |entry: &Entry| Seq(entry.position.load(Ordering::Acquire));
        entries.values().filter_map(|entry| Some((entry.registered?, at(entry)))).collect()
    }

    /// The registered cursor whose saved position is lowest.
    pub(crate) fn lowest(&self) -> Option<(&'static str, Seq)> {
        let entries = self.entries.lock();
        let registered =
            entries.values().filter_map(|entry| Some((entry.registered?, entry.saved)));
        registered.min_by_key(|(_, saved)| *saved)
    }

    /// Lowest and highest of all that the file knows, registered or not.
    pub(crate) fn bounds(&self) -> (Seq, Seq) {
        let entries = self.entries.lock();
        let saved = || entries.values().map(|entry| entry.saved);
        (saved().min().unwrap_or_default(), saved().max().unwrap_or_default())
    }
}

fn judge(bytes: &[u8]) -> (Positions, Option<Trouble>) {
    let (found, damaged) = Positions::of_file(bytes);
    let trouble = match damaged {
        0 => None,
        1 if found.generation > 0 => Some(Trouble::OlderPage),
        _ => Some(Trouble::Lost("it is damaged".to_owned())),
    };
    (found, trouble)
}
