//! Appending lines: whole, synced, rotated at a size.
//!
//! Appends to the same file come one after the other. A line that could not be written whole is
//! taken back; what a crash left of one is ended before the next begins.
//!
//! **Invariants**: when an append has answered, its line is on the disk; a file stays below its
//! size; at most the wanted number of renamed files is kept.

use super::place::Place;
use crate::limits::FILE_CALLS_MAX;
use millrace_engine::step::StepFault;
use parking_lot::Mutex;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Locks of files, by hash: two files seldom share one.
const LOCKS: usize = 16;

/// All appends.
#[derive(Debug)]
pub(crate) struct Files {
    folder: Option<PathBuf>,
    calls: Arc<Semaphore>,
    locks: Arc<[Mutex<()>; LOCKS]>,
    hasher: RandomState,
}

/// One append.
#[derive(Debug)]
pub(crate) struct Append {
    pub(crate) place: Place,
    pub(crate) line: Vec<u8>,
    /// What ends a line; empty if nothing does.
    pub(crate) line_end: &'static str,
    pub(crate) size_bytes_max: u64,
    pub(crate) keep_files: u32,
}

impl Files {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            calls: Arc::new(Semaphore::new(FILE_CALLS_MAX)),
            locks: Arc::new(Default::default()),
            hasher: RandomState::new(),
        }
    }

    /// The place of a file in the allowed folder.
    pub(crate) fn place(&self, file: &str) -> Result<Place, StepFault> {
        let folder = self.folder.as_deref().ok_or_else(|| {
            let message =
                "no folder for files is allowed; an administrator sets it in the settings";
            StepFault::lasting("refused", message)
        })?;
        Place::new(folder, file)
    }

    /// Appends a line.
    pub(crate) async fn append(&self, append: Append) -> Result<(), StepFault> {
        let stopping = |_| StepFault::passing("limit", "the box is stopping");
        let call = Arc::clone(&self.calls).acquire_owned().await.map_err(stopping)?;
        let locks = Arc::clone(&self.locks);
        let hash = self.hasher.hash_one(append.place.folder());
        let done = tokio::task::spawn_blocking(move || {
            let place = usize::try_from(hash % (LOCKS as u64)).unwrap_or(0);
            let _one_at_a_time = locks.get(place).map(Mutex::lock);
            let result = append.run();
            drop(call);
            result
        });
        done.await.map_err(|error| StepFault::passing("answer", error.to_string()))?
    }
}

impl Append {
    fn run(&self) -> Result<(), StepFault> {
        let broken = |error: io::Error| self.place.broken(&error);
        let mut file = self.place.open()?;
        let mut length = file.metadata().map_err(broken)?.len();
        let mut is_new = length == 0;
        let added = u64::try_from(self.line.len() + self.line_end.len()).unwrap_or(u64::MAX);
        if length > 0 && length.saturating_add(added) > self.size_bytes_max {
            drop(file);
            self.rotate().map_err(broken)?;
            file = self.place.open()?;
            (length, is_new) = (0, true);
        }
        let mut bytes = Vec::with_capacity(self.line.len() + 4);
        if length > 0 && !self.line_end.is_empty() && !ends_whole(&mut file).map_err(broken)? {
            bytes.extend_from_slice(self.line_end.as_bytes());
        }
        bytes.extend_from_slice(&self.line);
        bytes.extend_from_slice(self.line_end.as_bytes());
        if let Err(error) = file.write_all(&bytes).and_then(|()| file.sync_data()) {
            // Half a line is worse than none. If that fails too, the next append ends the line.
            if let Err(also) = file.set_len(length) {
                tracing::warn!(error = %also, "Could not take back half a line of a file step.");
            }
            return Err(broken(error));
        }
        if is_new {
            self.sync_folder();
        }
        Ok(())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the folder is synced by `sync_folder`; the journal's disk is not for actions"
    )]
    fn rotate(&self) -> io::Result<()> {
        let path = |number: u32| match number {
            0 => self.place.checked(),
            number => self.place.numbered(number).checked(),
        };
        // A name that became a link or a folder is left alone and ends the rotation.
        let usable = |number| path(number).map_err(|fault| io::Error::other(fault.message));
        let oldest = usable(self.keep_files)?;
        if oldest.exists() {
            fs::remove_file(&oldest)?;
        }
        for number in (0..self.keep_files).rev() {
            let from = usable(number)?;
            if from.exists() {
                fs::rename(&from, usable(number + 1)?)?;
            }
        }
        self.sync_folder();
        Ok(())
    }

    /// Makes a file's name durable, where the system can: without it a power cut can lose it.
    fn sync_folder(&self) {
        if let Err(error) = File::open(self.place.folder()).and_then(|folder| folder.sync_all()) {
            tracing::trace!(%error, "The folder of a file step cannot be synced.");
        }
    }
}

/// Whether the last line has an end.
fn ends_whole(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

#[cfg(test)]
mod tests;
