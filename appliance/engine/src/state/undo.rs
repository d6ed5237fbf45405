//! What the run in hand changed of lasting state, so that it can be taken back.
//!
//! Changes are in the cells at once: a step sees its own, and nobody else executes runs of a
//! pipeline that keeps state. A step that fails takes its own back, an attempt that does not count
//! all of them. The list serves one run after the other; it is of one stay in a worker's hands, since
//! what a run changed before it waited stands in the journal.
//!
//! **Invariants**: after [`Undo::back`] each entry holds what it held at the mark, but for
//! what somebody else has set meanwhile.

use super::cells::{Cell, Set, States};
use millrace_flow::Data;
use std::sync::Arc;

/// The changes since the run was taken in hand.
#[derive(Debug, Default)]
pub(crate) struct Undo {
    changes: Vec<Change>,
    /// Where those of the step begin that is executed.
    mark: usize,
    /// How many bytes of changes the run had noted for its record then.
    noted_bytes: usize,
}

#[derive(Debug)]
struct Change {
    cell: Arc<Cell>,
    key: Arc<str>,
    old: Data,
    new: Data,
    /// Others may change it too.
    is_shared: bool,
}

impl Undo {
    /// A run is taken in hand.
    pub(crate) fn begin(&mut self) {
        self.changes.clear();
        self.begin_step(0);
    }

    /// A step is executed; the run has noted so many bytes of changes for its record.
    pub(crate) fn begin_step(&mut self, noted_bytes: usize) {
        self.mark = self.changes.len();
        self.noted_bytes = noted_bytes;
    }

    /// Takes back what the step changed that is executed; how many bytes of noted changes remain.
    pub(crate) fn back_step(&mut self, states: &States) -> usize {
        self.back_to(self.mark, states, true);
        self.noted_bytes
    }

    /// Notes what was set; `new` is what it holds now.
    pub(crate) fn note(&mut self, cell: &Arc<Cell>, set: Set, new: Data, is_shared: bool) {
        let Set { key, old } = set;
        // A script that counts in a loop is one change.
        if self.changes.len() > self.mark
            && let Some(last) = self.changes.last_mut()
            && Arc::ptr_eq(&last.cell, cell)
            && last.key == key
        {
            last.new = new;
            return;
        }
        self.changes.push(Change { cell: Arc::clone(cell), key, old, new, is_shared });
    }

    /// Takes back all that the run changed. `is_alone`: nobody else has run it meanwhile, so that
    /// what its steps keep is as it left it.
    pub(crate) fn back(&mut self, states: &States, is_alone: bool) {
        self.back_to(0, states, is_alone);
        self.mark = 0;
    }

    fn back_to(&mut self, mark: usize, states: &States, is_alone: bool) {
        while self.changes.len() > mark
            && let Some(Change { cell, key, old, new, is_shared }) = self.changes.pop()
        {
            if (is_alone && !is_shared) || cell.get(&key) == new {
                states.put_back(&cell, &key, old);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::cells::Owner;

    fn set(states: &States, undo: &mut Undo, cell: &Arc<Cell>, (key, data): (&str, Data)) {
        let set = states.set(cell, key, data.clone()).unwrap();
        undo.note(cell, set, data, false);
    }

    #[test]
    fn everything_is_as_it_was_and_its_bytes_are_counted() {
        let states = States::default();
        let cell = states.cell(&Owner::Step(1, "a".into()));
        let mut undo = Undo::default();
        set(&states, &mut undo, &cell, ("kept", Data::Int(1)));
        set(&states, &mut undo, &cell, ("removed", Data::text("text")));
        let bytes = states.bytes();
        undo.begin();
        for data in [Data::Int(2), Data::Int(3), Data::Missing] {
            set(&states, &mut undo, &cell, ("removed", data));
        }
        set(&states, &mut undo, &cell, ("kept", Data::text("longer than before")));
        set(&states, &mut undo, &cell, ("new", Data::Null));
        undo.back(&states, true);
        assert_eq!(cell.get("kept"), Data::Int(1));
        assert_eq!(cell.get("removed"), Data::text("text"));
        assert_eq!((cell.get("new"), states.bytes()), (Data::Missing, bytes));
    }

    #[test]
    fn a_step_takes_back_its_own_changes_alone() {
        let states = States::default();
        let cell = states.cell(&Owner::Step(1, "a".into()));
        let mut undo = Undo::default();
        undo.begin();
        set(&states, &mut undo, &cell, ("k", Data::Int(1)));
        undo.begin_step(7);
        set(&states, &mut undo, &cell, ("k", Data::Int(2)));
        set(&states, &mut undo, &cell, ("other", Data::Int(2)));
        assert_eq!(undo.back_step(&states), 7);
        assert_eq!((cell.get("k"), cell.get("other")), (Data::Int(1), Data::Missing));
        undo.back(&states, true);
        assert_eq!(cell.get("k"), Data::Missing);
    }

    #[test]
    fn a_variable_that_somebody_else_has_set_meanwhile_stays() {
        let states = States::default();
        let cell = states.cell(&Owner::Variables(1));
        let mut undo = Undo::default();
        for name in ["ours", "theirs"] {
            let set = states.set(&cell, name, Data::Int(1)).unwrap();
            undo.note(&cell, set, Data::Int(1), true);
        }
        states.set(&cell, "theirs", Data::Int(2)).unwrap();
        undo.back(&states, true);
        assert_eq!((cell.get("ours"), cell.get("theirs")), (Data::Missing, Data::Int(2)));
    }
}
