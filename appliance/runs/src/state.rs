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
//! - A file that a start finds damaged is set aside and an empty one begun; an issue names the
//!   pipelines that lost their state, as far as the file still tells. One that is damaged while the
//!   box runs is written anew from the copy that is held here, and nothing is lost.
//! - [`ENTRY_BYTES_MAX`] an entry, [`TOTAL_BYTES_MAX`] in all; what is over it is refused alone,
//!   and an issue says whose it is.

mod table;
#[cfg(test)]
mod tests;

use crate::file::{Files, StoreError, set_aside};
use crate::state::table::{Row, Table};
use millrace_supervisor::{Clock, Issue, Issues, Severity};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Most bytes of one entry's text: the engine's 64 KiB, and half as much for how it is written.
pub const ENTRY_BYTES_MAX: usize = 96 * 1024;
/// Most bytes of all entries, their names included: the engine's 64 MiB, and half as much.
pub const TOTAL_BYTES_MAX: u64 = 96 * 1024 * 1024;

pub(crate) const ISSUE_LOST: &str = "pipeline-state-lost";
pub(crate) const ISSUE_REWRITTEN: &str = "pipeline-state-rewritten";
pub(crate) const ISSUE_REFUSED: &str = "pipeline-state-refused";
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
    /// Whether the box has run before, so that a file that is not there was lost.
    pub is_expected: bool,
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
        Self {
            path: data.join("state.db"),
            quarantine: data.join("quarantine"),
            names,
            is_expected: false,
        }
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
    /// The file was damaged and was written anew.
    pub is_rewritten: bool,
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
    held: Mutex<Held>,
    total_bytes_max: u64,
}

/// The open file, and what is in it.
#[derive(Debug, Default)]
struct Held {
    table: Option<Table>,
    copy: HashMap<Scope, String>,
    through: u64,
    /// What was refused and has not been stored since.
    refused: BTreeSet<Scope>,
}

impl Held {
    fn apply(&mut self, changes: &[Change], refused: &[Refused], through: u64) {
        self.through = self.through.max(through);
        for change in changes {
            self.refused.remove(&change.scope);
            match &change.json {
                Some(json) => self.copy.insert(change.scope.clone(), json.clone()),
                None => self.copy.remove(&change.scope),
            };
        }
        for over in refused {
            self.refused.insert(over.scope.clone());
        }
    }
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
        let (held, total_bytes_max) = (Mutex::default(), TOTAL_BYTES_MAX);
        Self { config, files, issues, clock, held, total_bytes_max }
    }

    /// Everything that is remembered, and through which seq it counts.
    ///
    /// # Errors
    /// A file of a later version, or one that cannot be read now.
    pub fn load(&self) -> Result<Loaded, StateError> {
        let mut held = self.held.lock();
        let is_missing =
            self.config.is_expected && matches!(self.config.path.try_exists(), Ok(false));
        let opened = self.open().and_then(|table| Ok((table.load()?, table)));
        let (rows, opened, lost) = match opened {
            Ok((rows, opened)) => (rows, opened, None),
            Err(StoreError::Damaged(reason)) => {
                let (opened, why) = self.begin_anew(&reason)?;
                (table::Rows::default(), opened, Some(why))
            }
            Err(error) => return Err(self.error(error)),
        };
        let lost = lost.or_else(|| self.report_bad_rows(&rows.bad));
        let lost = lost.or_else(|| is_missing.then(|| self.report_missing()));
        let copy = rows.entries.iter().map(|entry| (entry.scope.clone(), entry.json.clone()));
        let copy = copy.collect();
        let refused = BTreeSet::new();
        *held = Held { table: Some(opened), copy, through: rows.through, refused };
        Ok(Loaded { entries: rows.entries, through: rows.through, lost })
    }

    /// Stores changes and the seq through which they count, in one transaction. After
    /// [`StateStore::load`].
    ///
    /// # Errors
    /// When the file cannot be written now: nothing of the call is stored; try again, with what
    /// has changed since.
    pub fn store(&self, changes: &[Change], through: u64) -> Result<Stored, StateError> {
        let mut held = self.held.lock();
        let written = held.table.take().map_or_else(|| self.open(), Ok).and_then(|mut table| {
            let refused = table.store(changes, through, self.total_bytes_max);
            if !matches!(refused, Err(StoreError::Damaged(_))) {
                held.table = Some(table);
            }
            refused
        });
        let (refused, is_rewritten) = match written {
            Ok(refused) => (refused, false),
            // The connection is closed, so the file can be moved.
            Err(StoreError::Damaged(reason)) => {
                let refused = self.rewrite(&mut held, &reason, changes, through);
                (refused.map_err(|error| self.error(error))?, true)
            }
            Err(error) => return Err(self.error(error)),
        };
        self.issues.clear(ISSUE_CANNOT_WRITE);
        let is_stored = |change: &&Change| !refused.iter().any(|over| over.scope == change.scope);
        let stored: Vec<Change> = changes.iter().filter(is_stored).cloned().collect();
        held.apply(&stored, &refused, through);
        self.report_refused(&held.refused);
        Ok(Stored { refused, is_rewritten })
    }

    /// Sets the damaged file aside and writes everything into a new one.
    fn rewrite(
        &self,
        held: &mut Held,
        reason: &str,
        changes: &[Change],
        through: u64,
    ) -> Result<Vec<Refused>, StoreError> {
        let (config, files) = (&self.config, self.files.as_ref());
        let aside = set_aside(&config.path, &config.quarantine, files, self.clock.now())?;
        let mut table = self.open()?;
        let copied = held.copy.iter();
        let change = |(scope, json): (&Scope, &String)| Change {
            scope: scope.clone(),
            json: Some(json.clone()),
        };
        let all: Vec<Change> = copied.map(change).chain(changes.iter().cloned()).collect();
        let refused = table.store(&all, through.max(held.through), self.total_bytes_max)?;
        held.table = Some(table);
        self.issues.raise(Issue {
            key: ISSUE_REWRITTEN.to_owned(),
            severity: Severity::Warning,
            what: format!(
                "The file of the pipelines' lasting state was damaged ({reason}) and has been \
                 moved to {}. A new one was written from memory.",
                aside.display()
            ),
            effect: "Nothing was lost.".to_owned(),
            remedy: "Check the disk of the box, then acknowledge this; it goes at the next start."
                .to_owned(),
        });
        Ok(refused)
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

    fn report_missing(&self) -> String {
        let why = format!(
            "The pipelines' lasting state begins empty, because {} is not there although this box \
             has run before. All that remember something begin anew, but for what the journal still \
             holds.",
            self.config.path.display()
        );
        self.raise_lost(why.clone());
        why
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

    fn report_refused(&self, refused: &BTreeSet<Scope>) {
        if refused.is_empty() {
            self.issues.clear(ISSUE_REFUSED);
            return;
        }
        let of_step = |scope: &Scope| match scope {
            Scope::Step { pipeline, .. } => Some(*pipeline),
            Scope::Variable { .. } => None,
        };
        let pipelines = refused.iter().filter_map(of_step).collect();
        self.issues.raise(Issue {
            key: ISSUE_REFUSED.to_owned(),
            severity: Severity::Warning,
            what: format!(
                "{} entries of the pipelines' lasting state are over a limit and were not stored. \
                 Pipelines: {}.",
                refused.len(),
                self.names(&pipelines)
            ),
            effect: "After a restart they have the value of the last time that they fitted."
                .to_owned(),
            remedy: "Let these pipelines remember less.".to_owned(),
        });
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
