//! Lasting state of pipelines: the engine's entries in the store of `runs`.
//!
//! The engine hands changed entries over and goes on; a thread writes all that wait in one
//! transaction. What cannot be written waits and is tried again; newer changes of the same entry
//! take its place.
//!
//! **Invariants**: `stored_through` moves only after the transaction that it speaks of.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use millrace_engine::{StateEntry, StateStore};
use millrace_journal::Seq;
use millrace_runs as runs;
use millrace_runs::Scope;
use millrace_supervisor::spawn;
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time until a write that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// The store, and the thread that writes to it.
pub(in crate::wiring) struct Keeper {
    inner: Arc<Inner>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Inner {
    store: runs::StateStore,
    pending: Mutex<Pending>,
    work: Condvar,
    through: AtomicU64,
}

#[derive(Default)]
struct Pending {
    changes: HashMap<Scope, Option<String>>,
    through: u64,
    is_asked: bool,
    is_closing: bool,
}

impl Keeper {
    /// Starts the thread.
    pub(in crate::wiring) fn start(store: runs::StateStore) -> std::io::Result<Self> {
        let inner = Arc::new(Inner {
            store,
            pending: Mutex::default(),
            work: Condvar::new(),
            through: AtomicU64::new(0),
        });
        let working = Arc::clone(&inner);
        let thread = spawn::thread("pipeline-state", move || working.work())?;
        Ok(Self { inner, thread: Mutex::new(Some(thread)) })
    }

    /// Writes what waits, once more, and ends the thread.
    pub(in crate::wiring) fn close(&self) {
        self.inner.pending.lock().is_closing = true;
        self.inner.work.notify_one();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("The thread of the pipelines' state had panicked.");
        }
    }
}

impl Inner {
    fn work(&self) {
        loop {
            let (changes, through, is_closing) = {
                let mut pending = self.pending.lock();
                while !pending.is_asked && !pending.is_closing {
                    self.work.wait(&mut pending);
                }
                let is_closing = pending.is_closing;
                if !std::mem::take(&mut pending.is_asked) {
                    return;
                }
                (std::mem::take(&mut pending.changes), pending.through, is_closing)
            };
            let rows: Vec<runs::Change> =
                changes.into_iter().map(|(scope, json)| runs::Change { scope, json }).collect();
            match self.store.store(&rows, through) {
                Ok(_) => self.through.store(through, Ordering::Release),
                // The store has raised the issue; the journal keeps what is not written.
                Err(_) if is_closing => return,
                Err(_) => self.again(rows),
            }
        }
    }

    /// Puts back what was not written, below what has changed since, and lets some time pass.
    fn again(&self, rows: Vec<runs::Change>) {
        let mut pending = self.pending.lock();
        for row in rows {
            pending.changes.entry(row.scope).or_insert(row.json);
        }
        pending.is_asked = true;
        if !pending.is_closing {
            // A change that comes meanwhile may try earlier.
            let _timed_out = self.work.wait_for(&mut pending, RETRY).timed_out();
        }
    }
}

impl StateStore for Keeper {
    fn load(&self) -> Result<Vec<StateEntry>, String> {
        let loaded = self.inner.store.load().map_err(|error| error.to_string())?;
        self.inner.through.store(loaded.through, Ordering::Release);
        Ok(loaded.entries.into_iter().filter_map(inward).collect())
    }

    fn store(&self, changed: Vec<StateEntry>, through: Seq) -> Result<(), String> {
        let mut pending = self.inner.pending.lock();
        for entry in changed {
            let value = entry.value.map(|bytes| STANDARD_NO_PAD.encode(bytes));
            if let Some(scope) = scope(&entry.owner, entry.key) {
                pending.changes.insert(scope, value);
            }
        }
        pending.through = pending.through.max(through.0);
        pending.is_asked = true;
        self.inner.work.notify_one();
        Ok(())
    }

    fn stored_through(&self) -> Seq {
        Seq(self.inner.through.load(Ordering::Acquire))
    }
}

/// The engine's `kind/number[/step]` as the store's scope.
fn scope(owner: &str, key: String) -> Option<Scope> {
    let (kind, rest) = owner.split_once('/')?;
    if kind == "variable" {
        return Some(Scope::Variable { workspace: rest.parse().ok()?, name: key });
    }
    let (pipeline, step) = rest.split_once('/')?;
    Some(Scope::Step { pipeline: pipeline.parse().ok()?, step: format!("{kind}/{step}"), key })
}

fn inward(entry: runs::Entry) -> Option<StateEntry> {
    let value = Some(STANDARD_NO_PAD.decode(entry.json).ok()?);
    Some(match entry.scope {
        Scope::Variable { workspace, name } => {
            StateEntry { owner: format!("variable/{workspace}"), key: name, value }
        }
        Scope::Step { pipeline, step, key } => {
            let (kind, step) = step.split_once('/')?;
            StateEntry { owner: format!("{kind}/{pipeline}/{step}"), key, value }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_supervisor::{Clock, Issues, SystemClock};

    fn keeper(folder: &std::path::Path) -> Keeper {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        let issues = Arc::new(Issues::new(Arc::clone(&clock)));
        let config = runs::StateConfig::new(folder, Arc::new(|_| None));
        Keeper::start(runs::StateStore::new(config, Arc::new(runs::PlainFiles), issues, clock))
            .unwrap()
    }

    fn entry(owner: &str, key: &str, value: Option<&[u8]>) -> StateEntry {
        StateEntry { owner: owner.into(), key: key.into(), value: value.map(<[u8]>::to_vec) }
    }

    #[test]
    fn what_was_stored_is_there_after_a_start_with_its_seq() {
        let folder = tempfile::tempdir().unwrap();
        // Given entries of every kind, one of them removed later
        let first = keeper(folder.path());
        assert_eq!(first.load().unwrap(), []);
        let all = [
            entry("step/12/scale", "press-4", Some(&[0, 255, 7])),
            entry("trigger/12/start", "", Some(b"x")),
            entry("variable/1", "order", Some(b"4711")),
        ];
        first.store(all.to_vec(), Seq(5)).unwrap();
        first.store(vec![entry("trigger/12/start", "", None)], Seq(9)).unwrap();
        first.close();
        assert_eq!(first.stored_through(), Seq(9));
        // When it is opened again
        let second = keeper(folder.path());
        let mut loaded = second.load().unwrap();
        loaded.sort_by(|one, other| one.owner.cmp(&other.owner));
        // Then the rest is there
        assert_eq!(loaded, [all[0].clone(), all[2].clone()]);
        assert_eq!(second.stored_through(), Seq(9));
        second.close();
    }
}
