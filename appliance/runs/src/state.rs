//! What pipelines remember, across restarts: the state of their steps and workspaces' variables.
//!
//! The engine holds all of it in memory, where it is authoritative; now and then it hands over
//! what changed together with the seq of the last record whose effects are in it. Both go into one
//! transaction, so a start loads the entries and replays the journal behind that seq. The commit
//! is synced (`synchronous = FULL`): the engine lets the journal recycle what is behind it.
//!
//! **Invariants**
//! - The seq is in the transaction of its data; it never goes back.
//! - An entry that does not read back as written is not given: each row has a checksum.
//! - A damaged file is set aside and an empty one begun; an issue names the pipelines that lost
//!   their state, as far as the file still tells.
//! - [`ENTRY_BYTES_MAX`] an entry, [`TOTAL_BYTES_MAX`] in all; what is over it is refused alone.

mod table;
#[cfg(test)]
mod tests;

use crate::file::{Files, StoreError, set_aside};
use crate::state::table::{Row, Table};
use millrace_supervisor::{Clock, Issue, Issues, Severity};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Most bytes of one entry's JSON text.
pub const ENTRY_BYTES_MAX: usize = 64 * 1024;
/// Most bytes of all entries, their names included.
pub const TOTAL_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(crate) const ISSUE_LOST: &str = "pipeline-state-lost";
pub(crate) const ISSUE_CANNOT_WRITE: &str = "pipeline-state-cannot-write";
/// Names listed in an issue.
const NAMES_MAX: usize = 20;

/// Gives the name of a pipeline by its number.
pub type Names = Arc<dyn Fn(u32) -> Option<String> + Send + Sync>;

/// Settings of the state's file.
#[derive(Clone)]
pub struct Config {
    /// The SQLite file.
    pub path: PathBuf,
    /// Where damaged files are moved to.
    pub quarantine: PathBuf,
    /// For the issue that says which pipelines lost their state.
    pub names: Names,
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Config {
    /// The appliance's settings for a data folder.
    #[must_use]
    pub fn new(data: &Path, names: Names) -> Self {
        Self { path: data.join("state.db"), quarantine: data.join("quarantine"), names }
    }
}

/// What an entry belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// A step of a pipeline, under a key of its own.
    Step {
        /// The pipeline's number.
        pipeline: u32,
        /// The step's id.
        step: String,
        /// The step's key.
        key: String,
    },
    /// A workspace: a variable.
    Variable {
        /// The workspace's number.
        workspace: u16,
        /// The variable's name.
        name: String,
    },
}

impl Scope {
    /// Bytes of its names.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        match self {
            Self::Step { step, key, .. } => step.len() + key.len(),
            Self::Variable { name, .. } => name.len(),
        }
    }
}

/// One thing that is remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Whose it is.
    pub scope: Scope,
    /// Its value, as the engine writes it.
    pub json: String,
}

/// An entry that is to be set, or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Whose it is.
    pub scope: Scope,
    /// Its new value; none removes it.
    pub json: Option<String>,
}

/// What a start finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Everything that is remembered.
    pub entries: Vec<Entry>,
    /// Effects of the journal's records up to this seq are in the entries; 0 in a new file.
    pub through: u64,
    /// Why entries are missing, if some are.
    pub lost: Option<String>,
}

/// An entry that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Whose it is; its value from before stays.
    pub scope: Scope,
    /// Which limit it is over, in bytes.
    pub limit_bytes: u64,
    /// What it would take, or all would.
    pub bytes: u64,
}

/// What came of storing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// What was over a limit.
    pub refused: Vec<Refused>,
    /// The file was damaged and is a new one, with these changes alone and no seq: hand over
    /// everything with [`StateStore::replace`].
    pub began_anew: bool,
}

/// Why the state cannot be loaded or stored now.
#[derive(Debug, Error)]
pub enum StateError {
    /// A later version of the product wrote the file.
    #[error("{} has format {found}, this version knows up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// The file cannot be used at the moment; the journal has the changes until it can.
    #[error("cannot use {}: {reason}", path.display())]
    Unavailable {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        reason: String,
    },
}

/// Keeps what pipelines remember. Calls wait for the disk: made from one thread of the engine's
/// that is not a worker.
pub struct StateStore {
    config: Config,
    files: Arc<dyn Files>,
    issues: Arc<Issues>,
    clock: Arc<dyn Clock>,
    table: Mutex<Option<Table>>,
    total_bytes_max: u64,
}

impl fmt::Debug for StateStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateStore").field("path", &self.config.path).finish_non_exhaustive()
    }
}

impl StateStore {
    /// The store; its file is opened by [`StateStore::load`].
    #[must_use]
    pub fn new(
        config: Config,
        files: Arc<dyn Files>,
        issues: Arc<Issues>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let (table, total_bytes_max) = (Mutex::new(None), TOTAL_BYTES_MAX);
        Self { config, files, issues, clock, table, total_bytes_max }
    }

    /// Everything that is remembered, and through which seq it counts.
    ///
    /// # Errors
    /// A file of a later version, or one that cannot be read now.
    pub fn load(&self) -> Result<Loaded, StateError> {
        let mut table = self.table.lock();
        let opened = self.open().and_then(|table| Ok((table.load()?, table)));
        let (mut rows, opened, lost) = match opened {
            Ok((rows, opened)) => (rows, opened, None),
            Err(StoreError::Damaged(reason)) => {
                let (opened, why) = self.begin_anew(&reason)?;
                (table::Rows::default(), opened, Some(why))
            }
            Err(error) => return Err(self.error(error)),
        };
        let lost = lost.or_else(|| self.report_bad_rows(&rows.bad));
        *table = Some(opened);
        rows.entries.shrink_to_fit();
        Ok(Loaded { entries: rows.entries, through: rows.through, lost })
    }

    /// Stores changes and the seq through which they count, in one transaction.
    ///
    /// # Errors
    /// When the file cannot be written now: nothing of the call is stored; try again, with what
    /// has changed since.
    pub fn store(&self, changes: &[Change], through: u64) -> Result<Stored, StateError> {
        let mut held = self.table.lock();
        let written = held.take().map_or_else(|| self.open(), Ok).and_then(|mut table| {
            let refused = table.store(changes, Some(through), self.total_bytes_max);
            if !matches!(refused, Err(StoreError::Damaged(_))) {
                *held = Some(table);
            }
            refused
        });
        match written {
            Ok(refused) => {
                self.issues.clear(ISSUE_CANNOT_WRITE);
                Ok(Stored { refused, began_anew: false })
            }
            // The connection is closed, so the file can be moved.
            Err(StoreError::Damaged(reason)) => {
                let (mut table, _) = self.begin_anew(&reason)?;
                let refused = table
                    .store(changes, None, self.total_bytes_max)
                    .map_err(|error| self.error(error))?;
                *held = Some(table);
                Ok(Stored { refused, began_anew: true })
            }
            Err(error) => Err(self.error(error)),
        }
    }

    /// Stores everything anew, after the file was found damaged while the engine ran.
    ///
    /// # Errors
    /// As [`StateStore::store`].
    pub fn replace(&self, entries: &[Entry], through: u64) -> Result<Stored, StateError> {
        let changes: Vec<Change> = entries
            .iter()
            .map(|entry| Change { scope: entry.scope.clone(), json: Some(entry.json.clone()) })
            .collect();
        let stored = self.store(&changes, through)?;
        // The engine had everything in memory, so nothing was lost after all.
        self.issues.clear(ISSUE_LOST);
        Ok(stored)
    }

    fn open(&self) -> Result<Table, StoreError> {
        Table::open(&self.config.path, self.files.as_ref())
    }

    /// Sets the damaged file aside, begins an empty one and says what is lost.
    fn begin_anew(&self, reason: &str) -> Result<(Table, String), StateError> {
        let known = table::pipelines_of(&self.config.path);
        let (config, files) = (&self.config, self.files.as_ref());
        let begun = set_aside(&config.path, &config.quarantine, files, self.clock.now())
            .map_err(StoreError::from)
            .and_then(|aside| Ok((aside, self.open()?)));
        let (aside, table) = begun.map_err(|error| self.error(error))?;
        let whose = if known.is_empty() {
            "It does not tell any more which pipelines had state in it: all that remember \
             something begin anew."
                .to_owned()
        } else {
            format!("These have lost their state, and maybe others: {}.", self.names(&known))
        };
        let why = format!(
            "The file of the pipelines' lasting state was damaged ({reason}) and has been moved \
             to {}. {whose}",
            aside.display()
        );
        self.raise_lost(why.clone());
        Ok((table, why))
    }

    fn report_bad_rows(&self, bad: &[Row]) -> Option<String> {
        if bad.is_empty() {
            return None;
        }
        let pipelines = bad.iter().filter_map(|row| row.pipeline).collect();
        let variables: Vec<_> =
            bad.iter().filter(|row| row.pipeline.is_none()).map(|row| row.name.as_str()).collect();
        let why = format!(
            "{} entries of the pipelines' lasting state did not read back as written and are \
             gone. Pipelines: {}. Variables: {}.",
            bad.len(),
            self.names(&pipelines),
            list(&variables),
        );
        self.raise_lost(why.clone());
        Some(why)
    }

    fn names(&self, pipelines: &BTreeSet<u32>) -> String {
        let name = |number: &u32| {
            (self.config.names)(*number).unwrap_or_else(|| format!("pipeline {number}"))
        };
        list(&pipelines.iter().map(name).collect::<Vec<_>>())
    }

    fn raise_lost(&self, what: String) {
        self.issues.raise(Issue {
            key: ISSUE_LOST.to_owned(),
            severity: Severity::Critical,
            what,
            effect: "Counters, windows and variables of these pipelines begin anew; what the \
                     journal still has behind is replayed."
                .to_owned(),
            remedy: "Check the disk of the box. Look at what these pipelines publish, then \
                     acknowledge this; it goes at the next start."
                .to_owned(),
        });
    }

    fn error(&self, error: StoreError) -> StateError {
        let path = self.config.path.clone();
        if let StoreError::Newer { found, known } = error {
            return StateError::Newer { path, found, known };
        }
        let reason = error.to_string();
        self.issues.raise(Issue {
            key: ISSUE_CANNOT_WRITE.to_owned(),
            severity: Severity::Warning,
            what: format!("The pipelines' lasting state cannot be written: {reason}."),
            effect: "Nothing is lost: the journal has every change, and grows until this works \
                     again."
                .to_owned(),
            remedy: "Free space on the disk, or make the data folder writable. It goes on by \
                     itself."
                .to_owned(),
        });
        StateError::Unavailable { path, reason }
    }
}

fn list(names: &[impl AsRef<str>]) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<_> = names.iter().take(NAMES_MAX).map(AsRef::as_ref).collect();
    let more = names.len().saturating_sub(NAMES_MAX);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", shown.join(", "))
}
