//! Opening the file in whatever state it is: whole, behind, missing, damaged, not to be opened.
//!
//! **Invariants**: a damaged file and its `-wal` and `-shm` are moved aside together, never
//! deleted; a file without a checkpoint was never filled and is filled from the journal.

use crate::catalog::{Error, Loaded, Surroundings};
use crate::marks::Marks;
use crate::rebuild::{Collected, collect, decode};
use crate::source::Take;
use crate::store::{Store, StoreError};
use millrace_journal::Seq;
use millrace_journal::disk::OpenMode;
use millrace_model::{Definition, Record};
use millrace_supervisor::{Issue, Severity};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

pub(crate) const ISSUE_REBUILT: &str = "catalog-rebuilt";
pub(crate) const ISSUE_CANNOT_WRITE: &str = "catalog-cannot-write";

/// An opened catalog.
pub(crate) struct Opened {
    /// `None` while the file cannot be opened.
    pub(crate) store: Option<Store>,
    pub(crate) loaded: Loaded,
    /// The last change that is not in the file yet.
    pub(crate) missed: Option<Seq>,
}

/// Opens the file and loads everything up to the journal's end.
pub(crate) fn open(around: &Surroundings) -> Result<Opened, Error> {
    let opened = prepare(around).and_then(|prepared| {
        let definitions = prepared.store.load()?;
        Ok((prepared, definitions))
    });
    let opened = match opened {
        // Rows that cannot be understood show only now.
        Err(PrepareError::Store(StoreError::Damaged(reason))) => {
            replace(around, &reason).and_then(|prepared| {
                let definitions = prepared.store.load()?;
                Ok((prepared, definitions))
            })
        }
        other => other,
    };
    match opened {
        Ok((prepared, definitions)) => catch_up(around, prepared, definitions),
        Err(PrepareError::Journal(error)) => Err(Error::Journal(error)),
        Err(PrepareError::Store(StoreError::Newer { found, known })) => {
            Err(Error::Newer { path: around.config.path.clone(), found, known })
        }
        Err(PrepareError::Store(StoreError::Unavailable(reason) | StoreError::Damaged(reason))) => {
            raise_cannot_write(around, &reason);
            let collected = collect(around.source.as_ref())?;
            let rebuilt = format!("the catalog file cannot be opened ({reason})");
            Ok(Opened {
                store: None,
                missed: Some(collected.last.max(Seq(1))),
                loaded: Loaded {
                    definitions: without_seqs(collected.definitions),
                    checkpoint: Seq::ZERO,
                    rebuilt: Some(rebuilt),
                },
            })
        }
    }
}

/// A file that is filled up to its checkpoint.
pub(crate) struct Prepared {
    pub(crate) store: Store,
    pub(crate) checkpoint: Seq,
    pub(crate) rebuilt: Option<String>,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrepareError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Journal(#[from] millrace_journal::Error),
}

/// Opens the file, or moves it aside and builds it anew.
pub(crate) fn prepare(around: &Surroundings) -> Result<Prepared, PrepareError> {
    let path = &around.config.path;
    let was_there = around.disk.len(path).map_err(unavailable)?.is_some();
    if !was_there {
        create(around).map_err(unavailable)?;
    }
    let opened = Store::open(path).and_then(|store| Ok((store.checkpoint()?, store)));
    match opened {
        Ok((Some(checkpoint), store)) => {
            // The journal was lost or replaced: what is stored stays, new records come after it.
            if checkpoint > around.source.durable() {
                around.source.skip_past(checkpoint);
            }
            Ok(Prepared { store, checkpoint, rebuilt: None })
        }
        Ok((None, store)) if around.source.durable() == Seq::ZERO => {
            let mut store = store;
            store.write(&[], Seq::ZERO)?;
            Ok(Prepared { store, checkpoint: Seq::ZERO, rebuilt: None })
        }
        Ok((None, store)) => {
            let what = if was_there { "was never filled" } else { "was missing" };
            fill(around, store, &format!("the catalog file {what}"))
        }
        Err(StoreError::Damaged(reason)) => replace(around, &reason),
        Err(error) => Err(error.into()),
    }
}

/// Moves the file aside and builds a new one. No connection may be open.
pub(crate) fn replace(around: &Surroundings, reason: &str) -> Result<Prepared, PrepareError> {
    let aside = quarantine(around).map_err(unavailable)?;
    create(around).map_err(unavailable)?;
    let store = Store::open(&around.config.path)?;
    let text = format!(
        "the catalog file was damaged ({reason}) and has been moved to {}",
        aside.display()
    );
    fill(around, store, &text)
}

/// Fills a file from the journal alone, over what is in it.
pub(crate) fn fill(
    around: &Surroundings,
    mut store: Store,
    why: &str,
) -> Result<Prepared, PrepareError> {
    let collected = collect(around.source.as_ref())?;
    store.write(&collected.definitions, collected.last)?;
    raise_rebuilt(around, why, &collected);
    Ok(Prepared { store, checkpoint: collected.last, rebuilt: Some(why.to_owned()) })
}

/// Reads what the journal has after the checkpoint, into memory and the file.
fn catch_up(
    around: &Surroundings,
    mut prepared: Prepared,
    mut definitions: Vec<Definition>,
) -> Result<Opened, Error> {
    let mut changes = Changes::default();
    let report = around.source.read(prepared.checkpoint, &mut changes)?;
    for place in &report.damaged {
        tracing::error!(place, "The journal is damaged where changes may have been.");
    }
    if let Some(oldest) = report.overrun
        && oldest > prepared.checkpoint.next()
    {
        let why = format!(
            "the catalog file ends at record {} and the journal begins at {oldest}",
            prepared.checkpoint
        );
        let collected = collect(around.source.as_ref())?;
        raise_rebuilt(around, &why, &collected);
        prepared.rebuilt = Some(why);
        changes.found = collected.definitions;
    }
    let end = changes.last.max(prepared.checkpoint);
    let mut missed = None;
    if end > prepared.checkpoint {
        match prepared.store.write(&changes.found, end) {
            Ok(()) => prepared.checkpoint = end,
            Err(error) => {
                raise_cannot_write(around, &error.to_string());
                missed = Some(end);
            }
        }
    }
    definitions.extend(without_seqs(changes.found));
    let loaded = Loaded { definitions, checkpoint: prepared.checkpoint, rebuilt: prepared.rebuilt };
    Ok(Opened { store: Some(prepared.store), loaded, missed })
}

/// Collects changes of definitions.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    marks: Marks,
    pub(crate) found: Vec<(Seq, Definition)>,
    pub(crate) last: Seq,
}

impl Take for Changes {
    fn record(&mut self, seq: Seq, bytes: &[u8]) {
        let Ok(record) = Record::decode(bytes) else { return };
        if self.marks.is_change(&record)
            && let Record::Definition(json) = record
        {
            self.found.extend(decode(seq, json).map(|definition| (seq, definition)));
        }
    }

    fn commit_end(&mut self, last: Seq) -> ControlFlow<()> {
        self.last = last;
        self.marks = Marks::default();
        ControlFlow::Continue(())
    }
}

pub(crate) fn raise_cannot_write(around: &Surroundings, reason: &str) {
    around.issues.raise(Issue {
        key: ISSUE_CANNOT_WRITE.to_owned(),
        severity: Severity::Warning,
        what: format!("The catalog file cannot be written: {reason}."),
        effect: "Nothing is lost: changes stay in the journal, which grows until this works again."
            .to_owned(),
        remedy: "Free space on the disk, or make the data folder writable. It goes on by itself."
            .to_owned(),
    });
}

fn raise_rebuilt(around: &Surroundings, why: &str, collected: &Collected) {
    let count = collected.definitions.len();
    let damaged = &collected.report.damaged;
    let (severity, missing) = if collected.is_complete {
        (Severity::Notice, String::new())
    } else {
        let places = if damaged.is_empty() { String::new() } else { damaged.join("; ") + ". " };
        let text = " The journal has no complete snapshot and does not reach back to its start, \
                    or is damaged itself, so definitions may be missing. ";
        (Severity::Critical, format!("{text}{places}"))
    };
    around.issues.raise(Issue {
        key: ISSUE_REBUILT.to_owned(),
        severity,
        what: format!(
            "The catalog was rebuilt from the journal: {why}. {count} definitions.{missing}"
        ),
        effect: "Audit entries older than the journal are only in the file that was set aside."
            .to_owned(),
        remedy: "Check the disk of the box; keep the file in quarantine until it is understood."
            .to_owned(),
    });
}

/// Makes the empty file: through the disk, so that it is readable by its owner only; SQLite gives
/// the files beside it the same rights.
fn create(around: &Surroundings) -> io::Result<()> {
    if let Some(folder) = around.config.path.parent() {
        around.disk.create_folder(folder)?;
    }
    around.disk.open(&around.config.path, OpenMode::CreateNew).map(drop)
}

fn quarantine(around: &Surroundings) -> io::Result<PathBuf> {
    let config = &around.config;
    around.disk.create_folder(&config.quarantine)?;
    let stamp = around.clock.now().0;
    let mut number = 0;
    let target = loop {
        let target = config.quarantine.join(format!("catalog-{stamp}-{number}.db"));
        if around.disk.len(&target)?.is_none() {
            break target;
        }
        number += 1;
    };
    // The file itself goes last: if this stops half way, the next start goes on.
    for suffix in ["-wal", "-shm", ""] {
        let from = with_suffix(&config.path, suffix);
        if around.disk.len(&from)?.is_some() {
            around.disk.rename(&from, &with_suffix(&target, suffix))?;
        }
    }
    around.disk.sync_folder(&config.quarantine)?;
    if let Some(folder) = config.path.parent() {
        around.disk.sync_folder(folder)?;
    }
    Ok(target)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn unavailable(error: io::Error) -> StoreError {
    StoreError::Unavailable(error.to_string())
}

fn without_seqs(definitions: Vec<(Seq, Definition)>) -> Vec<Definition> {
    definitions.into_iter().map(|(_, definition)| definition).collect()
}
