//! The journal against a plain oracle, under random commits, crashes, kills, faults and recycling.
//!
//! After each restart everything that was announced and not yet taken over by the cursor must be
//! there once, in order, with its bytes; what follows may only be what was appended next.

use super::*;
use crate::disk::testing::{Fault, FaultyDisk};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Action {
    Append {
        records: u8,
        bytes: u16,
    },
    Commit,
    /// Power cut with a seeded outcome, then a restart.
    Crash {
        hard: bool,
    },
    /// The process dies; the operating system lives.
    Kill,
    Checkpoint {
        back: u8,
    },
    Keep,
    Fault {
        after: u8,
        fault: Fault,
    },
    Heal,
}

fn action() -> impl Strategy<Value = Action> {
    let fault = prop_oneof![Just(Fault::Error), Just(Fault::ShortWrite), Just(Fault::DoneButError)];
    prop_oneof![
        8 => (1..4u8, 8..6000u16).prop_map(|(records, bytes)| Action::Append { records, bytes }),
        8 => Just(Action::Commit),
        1 => any::<bool>().prop_map(|hard| Action::Crash { hard }),
        1 => Just(Action::Kill),
        2 => (0..6u8).prop_map(|back| Action::Checkpoint { back }),
        2 => Just(Action::Keep),
        1 => (1..6u8, fault).prop_map(|(after, fault)| Action::Fault { after, fault }),
        1 => Just(Action::Heal),
    ]
}

struct Oracle {
    /// All that was appended and not known to be lost; seq is the index + 1.
    records: Vec<Vec<u8>>,
    announced: u64,
    cursor: u64,
    made: u64,
}

struct Model {
    forgetful: ForgetfulDisk,
    faulty: FaultyDisk,
    rig: Rig,
    cursor: crate::Cursor,
    oracle: Oracle,
}

impl Model {
    fn new(seed: u64) -> Self {
        let forgetful = ForgetfulDisk::new(seed);
        let faulty = FaultyDisk::new(Arc::new(forgetful.clone()));
        let rig = Rig::open(Arc::new(faulty.clone()));
        let cursor = rig.journal.register_cursor("model");
        let oracle = Oracle { records: Vec::new(), announced: 0, cursor: 0, made: 0 };
        Self { forgetful, faulty, rig, cursor, oracle }
    }

    fn act(&mut self, action: &Action) {
        match action {
            Action::Append { records, bytes } => self.append(*records, *bytes),
            Action::Commit => {
                self.rig.writer.step();
                let durable = self.rig.journal.durable().0;
                assert!(
                    durable >= self.oracle.announced && durable <= self.oracle.records.len() as u64
                );
                self.oracle.announced = durable;
                self.check_reading();
            }
            Action::Crash { hard } => {
                if *hard {
                    self.forgetful.crash_hard();
                } else {
                    self.forgetful.crash();
                }
                self.restart();
            }
            Action::Kill => self.restart(),
            Action::Checkpoint { back } => {
                let seq = self.oracle.announced.saturating_sub(u64::from(*back));
                self.cursor.checkpoint(Seq(seq)).expect("it is durable");
                self.oracle.cursor = self.oracle.cursor.max(seq);
            }
            Action::Keep => {
                crate::keeper::Keeper::new(Arc::clone(self.rig.journal.core())).turn();
            }
            Action::Fault { after, fault } => self.faulty.fail_at(u64::from(*after), *fault, false),
            Action::Heal => self.faulty.heal(),
        }
    }

    fn append(&mut self, count: u8, bytes: u16) {
        let first = self.oracle.made;
        // Each record is unique, so that one that comes back from an earlier life is noticed.
        let records: Vec<_> =
            (0..u64::from(count)).map(|n| record(first + n + 1, usize::from(bytes))).collect();
        self.oracle.made += u64::from(count);
        match self.rig.try_append(&records) {
            Ok(range) => {
                assert_eq!(range.first.0, self.oracle.records.len() as u64 + 1);
                self.oracle.records.extend(records);
            }
            Err(error) => assert_eq!(error, crate::AppendError::Full),
        }
    }

    /// Everything announced is readable in the same life, and nothing else.
    fn check_reading(&self) {
        let after = self.oracle.cursor;
        let read = read_all(&self.rig.journal, Seq(after));
        let expected = &self.oracle.records[after as usize..self.oracle.announced as usize];
        assert_eq!(read.len(), expected.len());
        for ((seq, bytes), (number, expected)) in read.iter().zip((after + 1..).zip(expected)) {
            assert!(seq.0 == number && bytes == expected, "record {number}");
        }
        let seen = self.rig.seen.lock();
        assert!(seen.windows(2).all(|pair| pair[0].0.next() == pair[1].0));
        let last = seen.last();
        assert!(last.is_none_or(|(seq, _)| seq.0 == self.oracle.announced));
    }

    fn restart(&mut self) {
        self.faulty.heal();
        let next = Rig::open(Arc::new(self.faulty.clone()));
        // The life before is dead. Dropped, it would close in good order and save its cursors over
        // the file that the new life has open, which the lock of the folder forbids outside.
        std::mem::forget(std::mem::replace(&mut self.rig, next));
        self.cursor = self.rig.journal.register_cursor("model");
        assert_eq!(self.rig.report.issues, Vec::<String>::new());
        assert!(self.cursor.position().0 <= self.oracle.cursor, "saved before it was said");
        let after = self.oracle.cursor;
        let read = read_all(&self.rig.journal, Seq(after));
        let last = after + read.len() as u64;
        assert!(last >= self.oracle.announced, "announced records are lost");
        assert!(last <= self.oracle.records.len() as u64, "records nobody appended");
        for ((seq, bytes), number) in read.iter().zip(after + 1..) {
            assert_eq!(seq.0, number);
            assert!(*bytes == self.oracle.records[number as usize - 1], "record {number}");
        }
        assert_eq!(self.rig.report.next_seq.0, last + 1, "no seq is left out");
        // What was not found was never announced: its seqs are given again.
        self.oracle.records.truncate(last as usize);
        self.oracle.announced = last;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, max_shrink_iters: 2000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn behaves_like_a_list_that_forgets_only_what_was_not_announced(
        seed in any::<u64>(),
        actions in proptest::collection::vec(action(), 1..60),
    ) {
        let mut model = Model::new(seed);
        for action in &actions {
            model.act(action);
        }
        model.forgetful.crash();
        model.restart();
    }
}
