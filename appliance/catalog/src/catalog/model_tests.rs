//! Random lives of a box against a plain oracle: whatever happens, a start finds every committed
//! definition in its newest state.

use super::tests::{Bench, LIMIT, client, state, tag};
use super::*;
use crate::snapshot::{Definitions, Snapshotter};
use crate::source::testing::MemoryJournal;
use millrace_model::Timestamp;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Action {
    /// A commit that the catalog hears of.
    Define(Vec<u32>),
    /// A commit right before a crash.
    Crash(Vec<u32>),
    /// A snapshot during which so many definitions change.
    Snapshot(Vec<u32>),
    /// A snapshot that ends after so many appends.
    Torn(usize),
    /// Segments below both cursors go.
    Recycle,
    Restart,
    /// The file is deleted while the box is off.
    Delete,
    /// The file is overwritten from this byte on while the box is off.
    Damage(usize),
}

fn action() -> impl Strategy<Value = Action> {
    let some = || proptest::collection::vec(0u32..12, 1..6);
    prop_oneof![
        4 => some().prop_map(Action::Define),
        2 => some().prop_map(Action::Crash),
        2 => some().prop_map(Action::Snapshot),
        1 => (0usize..3).prop_map(Action::Torn),
        2 => Just(Action::Recycle),
        1 => Just(Action::Restart),
        2 => Just(Action::Delete),
        1 => (0usize..30_000).prop_map(Action::Damage),
    ]
}

/// Changes some definitions after the state was read.
struct Racing {
    journal: Arc<MemoryJournal>,
    state: Vec<Definition>,
    during: Vec<Definition>,
}

impl Definitions for Racing {
    fn all(&self) -> Vec<Definition> {
        if !self.during.is_empty() {
            self.journal.define(&self.during);
        }
        self.state.clone()
    }
}

struct Life {
    bench: Bench,
    catalog: Option<Catalog>,
    /// Every definition ever committed, in order.
    oracle: Vec<Definition>,
    version: i64,
}

impl Life {
    fn make(&mut self, numbers: &[u32]) -> Vec<Definition> {
        let mut made = Vec::new();
        for number in numbers {
            self.version += 1;
            made.push(if number % 2 == 0 {
                client(number + 1, Some(Timestamp(self.version)))
            } else {
                tag(number + 1, &format!("version/{}", self.version))
            });
        }
        self.oracle.extend(made.iter().cloned());
        made
    }

    fn snapshot(&self, during: Vec<Definition>, before: usize) -> bool {
        let journal = self.bench.journal.clone();
        let state = self.oracle.iter().take(before).cloned().collect();
        let racing = Arc::new(Racing { journal: journal.clone(), state: newest(state), during });
        let clock = self.bench.clock.clone();
        Snapshotter::new(journal, racing, clock, 1_000, 0).write().is_ok()
    }

    fn start(&mut self) {
        let (catalog, loaded) = self.bench.open();
        assert_eq!(state(&loaded.definitions), state(&self.oracle));
        self.catalog = Some(catalog);
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Define(numbers) => {
                let made = self.make(&numbers);
                self.bench.commit(self.catalog.as_ref().unwrap(), &made);
            }
            Action::Crash(numbers) => {
                let made = self.make(&numbers);
                self.bench.journal.define(&made);
                self.catalog = None;
                self.start();
            }
            Action::Snapshot(numbers) => {
                let before = self.oracle.len();
                let during = self.make(&numbers);
                assert!(self.snapshot(during, before));
                // The catalog has not heard of the changes: a start finds them.
                self.catalog = None;
                self.start();
            }
            Action::Torn(appends) => {
                self.bench.journal.fail_appends_after(Some(appends));
                let _is_written: bool = self.snapshot(Vec::new(), self.oracle.len());
                self.bench.journal.fail_appends_after(None);
            }
            Action::Recycle => {
                assert!(self.catalog.as_ref().unwrap().settle(LIMIT));
                let (catalog, snapshot) = self.bench.journal.cursors();
                self.bench.journal.recycle_through(catalog.min(snapshot));
            }
            Action::Restart => {
                self.catalog = None;
                self.start();
            }
            Action::Delete => {
                self.catalog = None;
                std::fs::remove_file(self.bench.config().path).unwrap();
                self.start();
            }
            Action::Damage(place) => {
                self.catalog = None;
                self.bench.overwrite(place, &[0xee; 3_000]);
                self.start();
            }
        }
    }
}

/// Only the newest of each, as memory holds them.
fn newest(definitions: Vec<Definition>) -> Vec<Definition> {
    let mut kept: Vec<Definition> = Vec::new();
    for definition in definitions {
        kept.retain(|old| match (old, &definition) {
            (Definition::Tag(a), Definition::Tag(b)) => a.id != b.id,
            (Definition::Client(a), Definition::Client(b)) => a.number != b.number,
            _ => true,
        });
        kept.push(definition);
    }
    kept
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 200, ..Default::default() })]
    #[test]
    fn a_start_finds_every_committed_definition(
        actions in proptest::collection::vec(action(), 1..10),
    ) {
        let (bench, catalog) = (Bench::new(), None);
        let mut life = Life { bench, catalog, oracle: Vec::new(), version: 0 };
        life.start();
        for action in actions {
            life.perform(action);
        }
        life.perform(Action::Restart);
    }
}
