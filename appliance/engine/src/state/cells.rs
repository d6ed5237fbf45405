//! Lasting state in memory: a cell per step, the variables of the workspaces, and what changed.
//!
//! A step changes its cell at once, so that the next run sees it; the change stands in the
//! journal with the run's end. Only what the journal's follower has seen goes into the group that
//! is written to the store ([`Dirty`]): the store never knows of a run that a crash can undo.
//!
//! **Invariants**: the bytes of all cells and variables stay below the limit; a refused change
//! changes nothing.

use super::{STATE_BYTES_MAX, STATE_TOTAL_BYTES_MAX, STEP_STATE_BYTES_MAX, StateEntry};
use crate::codec;
use millrace_flow::Data;
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whose an entry is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// A step of a pipeline.
    Step(u32, Arc<str>),
    /// A trigger of a pipeline.
    Trigger(u32, Arc<str>),
    /// The variables of a workspace.
    Variables(u16),
}

impl Owner {
    /// As the store knows it.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Step(pipeline, step) => format!("step/{pipeline}/{step}"),
            Self::Trigger(pipeline, step) => format!("trigger/{pipeline}/{step}"),
            Self::Variables(workspace) => format!("variable/{workspace}"),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (kind, rest) = text.split_once('/')?;
        if kind == "variable" {
            return rest.parse().ok().map(Self::Variables);
        }
        let (pipeline, step) = rest.split_once('/')?;
        let pipeline = pipeline.parse().ok()?;
        match kind {
            "step" => Some(Self::Step(pipeline, step.into())),
            "trigger" => Some(Self::Trigger(pipeline, step.into())),
            _ => None,
        }
    }

    fn pipeline(&self) -> Option<u32> {
        match self {
            Self::Step(pipeline, _) | Self::Trigger(pipeline, _) => Some(*pipeline),
            Self::Variables(_) => None,
        }
    }
}

/// The state of one step, or the variables of one workspace.
#[derive(Debug, Default)]
pub(crate) struct Cell {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    entries: HashMap<Arc<str>, Data>,
    bytes: usize,
}

/// What an entry held before it was set.
#[derive(Debug)]
pub(crate) struct Set {
    pub(crate) key: Arc<str>,
    pub(crate) old: Data,
}

impl Held {
    /// Sets an entry; [`Data::Missing`] removes it.
    fn put(&mut self, key: &str, data: Data) -> Set {
        if data == Data::Missing {
            let removed = self.entries.remove_entry(key);
            let (key, old) = removed.unwrap_or_else(|| (key.into(), Data::Missing));
            return Set { key, old };
        }
        let Some((known, _)) = self.entries.get_key_value(key) else {
            let key: Arc<str> = key.into();
            self.entries.insert(Arc::clone(&key), data);
            return Set { key, old: Data::Missing };
        };
        let key = Arc::clone(known);
        let old = self.entries.insert(Arc::clone(&key), data).unwrap_or_default();
        Set { key, old }
    }
}

impl Cell {
    pub(crate) fn get(&self, key: &str) -> Data {
        self.held.lock().entries.get(key).cloned().unwrap_or_default()
    }
}

/// Changed entries, encoded, that wait for the store.
pub(crate) type Dirty = HashMap<(Owner, Arc<str>), Option<Vec<u8>>>;

/// What a trigger remembers, encoded, by key.
type Remembered = HashMap<Arc<str>, Vec<u8>>;

/// All lasting state.
#[derive(Debug, Default)]
pub(crate) struct States {
    cells: RwLock<HashMap<Owner, Arc<Cell>>>,
    /// What triggers remember, encoded; read when a pipeline is deployed.
    triggers: Mutex<HashMap<Owner, Remembered>>,
    bytes: AtomicUsize,
    pub(crate) dirty: Mutex<Dirty>,
}

impl States {
    /// The cell of an owner; made if it is not there.
    pub(crate) fn cell(&self, owner: &Owner) -> Arc<Cell> {
        if let Some(cell) = self.cells.read().get(owner) {
            return Arc::clone(cell);
        }
        Arc::clone(self.cells.write().entry(owner.clone()).or_default())
    }

    /// The cell of an owner, if it is there.
    pub(crate) fn find(&self, owner: &Owner) -> Option<Arc<Cell>> {
        self.cells.read().get(owner).map(Arc::clone)
    }

    /// Sets an entry; [`Data::Missing`] removes it. Gives what was there.
    pub(crate) fn set(&self, cell: &Cell, key: &str, data: Data) -> Result<Set, String> {
        let size =
            if data == Data::Missing { 0 } else { key.len() + codec::size(&data, STATE_BYTES_MAX) };
        if size > STATE_BYTES_MAX {
            return Err(format!(
                "the state `{}` takes more than {STATE_BYTES_MAX} bytes",
                shortened(key)
            ));
        }
        let mut held = cell.held.lock();
        let old = held.entries.get(key).map_or(0, |old| key.len() + codec::size(old, usize::MAX));
        let bytes = (held.bytes + size).saturating_sub(old);
        if size > old && bytes > STEP_STATE_BYTES_MAX {
            return Err(format!("the step's state takes more than {STEP_STATE_BYTES_MAX} bytes"));
        }
        if size > old && self.bytes.load(Ordering::Relaxed) + size - old > STATE_TOTAL_BYTES_MAX {
            return Err(format!(
                "all lasting state together takes more than {STATE_TOTAL_BYTES_MAX} bytes"
            ));
        }
        let before = held.put(key, data);
        held.bytes = bytes;
        drop(held);
        self.bytes.fetch_add(size, Ordering::Relaxed);
        self.bytes.fetch_sub(old, Ordering::Relaxed);
        Ok(before)
    }

    /// Sets an entry to what it held before, whatever the limits.
    pub(crate) fn put_back(&self, cell: &Cell, key: &str, data: Data) {
        let size = |data: &Data| match data {
            Data::Missing => 0,
            data => key.len() + codec::size(data, usize::MAX),
        };
        let mut held = cell.held.lock();
        let new = size(&data);
        let old = size(&held.put(key, data).old);
        held.bytes = (held.bytes + new).saturating_sub(old);
        drop(held);
        self.bytes.fetch_add(new, Ordering::Relaxed);
        self.bytes.fetch_sub(old, Ordering::Relaxed);
    }

    /// Takes an entry of the store or of a record into memory, whatever the limits.
    pub(crate) fn restore(&self, owner: &Owner, key: &str, value: Option<&[u8]>) {
        if let Owner::Trigger(..) = owner {
            let mut triggers = self.triggers.lock();
            let remembered = triggers.entry(owner.clone()).or_default();
            match value {
                Some(value) => drop(remembered.insert(key.into(), value.to_vec())),
                None => drop(remembered.remove(key)),
            }
            return;
        }
        let data = value.and_then(codec::read).unwrap_or_default();
        self.put_back(&self.cell(owner), key, data);
    }

    /// Takes everything that the store holds.
    pub(crate) fn load(&self, entries: &[StateEntry]) {
        for entry in entries {
            match Owner::parse(&entry.owner) {
                Some(owner) => self.restore(&owner, &entry.key, entry.value.as_deref()),
                None => tracing::warn!(owner = entry.owner, "Lasting state of an unknown owner."),
            }
        }
    }

    /// Notes that the journal holds this change for good.
    pub(crate) fn mark(&self, owner: Owner, key: &str, value: Option<Vec<u8>>) {
        self.dirty.lock().insert((owner, key.into()), value);
    }

    /// What a trigger remembers.
    pub(crate) fn remembered(&self, owner: &Owner) -> Remembered {
        self.triggers.lock().get(owner).cloned().unwrap_or_default()
    }

    /// All entries of an owner.
    pub(crate) fn entries(&self, owner: &Owner) -> Vec<(Arc<str>, Data)> {
        let Some(cell) = self.cells.read().get(owner).map(Arc::clone) else { return Vec::new() };
        let held = cell.held.lock();
        let mut entries: Vec<_> =
            held.entries.iter().map(|(key, data)| (Arc::clone(key), data.clone())).collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries
    }

    /// Forgets a pipeline that is there no more; gives what the store must forget.
    pub(crate) fn forget(&self, pipeline: u32) {
        let mut removed: Vec<(Owner, Arc<str>)> = Vec::new();
        self.cells.write().retain(|owner, cell| {
            if owner.pipeline() != Some(pipeline) {
                return true;
            }
            let held = cell.held.lock();
            self.bytes.fetch_sub(held.bytes, Ordering::Relaxed);
            removed.extend(held.entries.keys().map(|key| (owner.clone(), Arc::clone(key))));
            false
        });
        self.triggers.lock().retain(|owner, entries| {
            if owner.pipeline() != Some(pipeline) {
                return true;
            }
            removed.extend(entries.keys().map(|key| (owner.clone(), Arc::clone(key))));
            false
        });
        let mut dirty = self.dirty.lock();
        for place in removed {
            dirty.insert(place, None);
        }
    }

    /// Bytes of all lasting state.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

fn shortened(key: &str) -> String {
    key.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_keeps_no_more_than_its_limit() {
        let states = States::default();
        let cell = states.cell(&Owner::Step(1, "a".into()));
        let big = Data::Text("x".repeat(STATE_BYTES_MAX).into());
        let fault = states.set(&cell, "k", big).unwrap_err();
        assert!(fault.contains("65536"), "{fault}");
        assert_eq!((cell.get("k"), states.bytes()), (Data::Missing, 0));
        states.set(&cell, "k", Data::Int(1)).unwrap();
        assert!(states.bytes() > 0);
        states.set(&cell, "k", Data::Missing).unwrap();
        assert_eq!(states.bytes(), 0);
    }

    #[test]
    fn what_is_loaded_is_there_and_a_removed_pipeline_is_forgotten() {
        let states = States::default();
        let mut value = Vec::new();
        codec::write(&Data::Int(5), &mut value);
        let entry = |owner: &str| StateEntry {
            owner: owner.into(),
            key: "k".into(),
            value: Some(value.clone()),
        };
        states.load(&[entry("step/3/a"), entry("variable/1"), entry("trigger/3/t"), entry("?")]);
        assert_eq!(states.cell(&Owner::Step(3, "a".into())).get("k"), Data::Int(5));
        assert_eq!(states.remembered(&Owner::Trigger(3, "t".into())).len(), 1);
        states.forget(3);
        assert_eq!(states.cell(&Owner::Step(3, "a".into())).get("k"), Data::Missing);
        assert_eq!(states.cell(&Owner::Variables(1)).get("k"), Data::Int(5));
        assert_eq!(states.dirty.lock().len(), 2);
    }
}
