//! Goal: the ledger adds up and nothing acknowledged is lost, with the real journal under faults
//! and power cuts. Method: random lives of one appliance on a disk in memory; at the end of each
//! only what was synced goes on. The oracle knows what was acknowledged, and counts the records
//! of the journal itself.

use crate::plant::{self, Tags};
use millrace_admission::{Applier, Gate, Ledger, Outcome, Session, Submitted};
use millrace_journal::disk::testing::{Fault, FaultyDisk, ForgetfulDisk};
use millrace_journal::{
    Committed, Config, Disk, Durability, Error, Follower, Journal, RecordBuf, Registration, Seq,
};
use millrace_model::{
    ClientNumber, Definition, LedgerCounts, Record, Retention, Timestamp, ValueRef,
};
use millrace_supervisor::SystemClock;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::Duration;

const LIVES: u64 = 4;
const STEPS: u64 = 40;

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state >> 11
}

/// Counts what is durable, and keeps the ledger as it stood after the last commit.
struct Follow {
    ledger: Arc<Ledger>,
    applier: Applier,
    taken: Arc<Mutex<Option<Vec<u8>>>>,
}

impl Follower for Follow {
    fn committed(&mut self, batch: &Committed<'_>) {
        for (_, bytes) in batch.records() {
            apply(&mut self.applier, &Record::decode(bytes).unwrap());
        }
        *self.taken.lock().unwrap() = Some(self.ledger.to_record_json(batch.last().0));
    }
}

fn apply(applier: &mut Applier, record: &Record<'_>) {
    match record {
        Record::Sample(sample) => applier.sample(sample.client, Outcome::Stored),
        Record::Refused { reason, client, count, .. } => applier.refused(*client, *reason, *count),
        _ => {}
    }
}

/// What the journal's records say, without the ledger.
#[derive(Default)]
struct Found {
    values: HashSet<u64>,
    samples: u64,
    refused: u64,
    note: u64,
}

fn each_record(journal: &Journal, mut take: impl FnMut(Seq, u64, Record<'_>)) {
    let mut reader = journal.reader(Seq::ZERO);
    loop {
        match reader.next() {
            Ok(Some(batch)) => {
                for (seq, bytes) in batch.records() {
                    take(seq, batch.note, Record::decode(bytes).unwrap());
                }
            }
            Ok(None) => return,
            Err(Error::Damaged { .. } | Error::Overrun { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

fn recover(journal: &Journal, ledger: &Arc<Ledger>, tags: &Tags) -> Found {
    let mut found = Found::default();
    let mut last_ledger = None;
    each_record(journal, |_, note, record| {
        found.note = note;
        match record {
            Record::Sample(sample) => {
                found.samples += 1;
                let ValueRef::Int(value) = sample.value else { panic!("{sample:?}") };
                found.values.insert(value.cast_unsigned());
            }
            Record::Refused { count, .. } => found.refused += u64::from(count),
            Record::Definition(json) => match Definition::decode(json).unwrap() {
                Definition::Tag(tag) => tags.apply(tag),
                other => panic!("nobody defined {other:?}"),
            },
            Record::Ledger(json) => last_ledger = Some(json.to_vec()),
            _ => {}
        }
    });
    let through = last_ledger.map_or(0, |json| ledger.restore(&json).unwrap());
    let mut applier = Applier::new(Arc::clone(ledger));
    each_record(journal, |seq, _, record| {
        if seq.0 > through {
            apply(&mut applier, &record);
        }
    });
    ledger.finish_recovery(found.note);
    found
}

/// One appliance from its start to its power cut.
struct Life {
    journal: Journal,
    ledger: Arc<Ledger>,
    sessions: Vec<Session>,
    taken: Arc<Mutex<Option<Vec<u8>>>>,
    faulty: FaultyDisk,
    /// Values queued and not known to be durable.
    queued: Vec<u64>,
    /// Values counted as received that are never appended.
    unappended: u64,
}

impl Life {
    fn start(disk: &ForgetfulDisk, acknowledged: &HashSet<u64>, seed: u64) -> Self {
        let faulty = FaultyDisk::new(Arc::new(disk.clone()));
        let ledger = Ledger::new();
        let noted = Arc::clone(&ledger);
        let config = Config {
            segment_bytes: 8 * 4096,
            bytes_max: 8 * 4096 * 64,
            commit_interval: Duration::ZERO,
            durability: Durability::Sync,
            note: Some(Arc::new(move || noted.received_total())),
            ..Config::new("journal")
        };
        let disk: Arc<dyn Disk> = Arc::new(faulty.clone());
        let (journal, _) = Journal::open(config, disk).unwrap();
        let tags = Arc::new(Tags::default());
        let found = recover(&journal, &ledger, &tags);
        check_recovered(&ledger.totals(), &found, seed);
        let lost: Vec<_> = acknowledged.difference(&found.values).collect();
        assert!(lost.is_empty(), "seed {seed}: {lost:?} were acknowledged and are gone");

        let taken = Arc::new(Mutex::new(None));
        journal.start(Box::new(Follow {
            ledger: Arc::clone(&ledger),
            applier: Applier::new(Arc::clone(&ledger)),
            taken: Arc::clone(&taken),
        }));
        let gate = Arc::new(Gate::new(
            plant::config(Retention::Keep),
            journal.clone(),
            tags,
            Arc::clone(&ledger),
            Arc::new(SystemClock::new()),
        ));
        let sessions = (1..=3).map(|number| gate.open(Arc::new(plant::client(number)))).collect();
        Self { journal, ledger, sessions, taken, faulty, queued: Vec::new(), unappended: 0 }
    }

    fn step(&mut self, acknowledged: &mut HashSet<u64>, value: &mut u64, state: &mut u64) {
        let index = usize::try_from(next(state) % 3).unwrap();
        match next(state) % 10 {
            0..=6 => self.send(index, value, state),
            7 => self.wait(acknowledged),
            8 => {
                // The ledger as it stood some commits ago, between what others append.
                if let Some(json) = self.taken.lock().unwrap().take() {
                    let mut buf = RecordBuf::new();
                    buf.push_with(|out| Record::Ledger(&json).encode(out));
                    self.journal.append(&mut buf, None).unwrap();
                }
            }
            _ => {
                let faults = [Fault::Error, Fault::ShortWrite, Fault::DoneButError];
                let fault = faults[usize::try_from(next(state) % 3).unwrap()];
                self.faulty.fail_at(1 + next(state) % 4, fault, false);
            }
        }
        let total = self.ledger.totals();
        assert!(total.is_balanced(), "{total:?}");
        assert_eq!(total.received, total.decided() + total.in_flight());
    }

    fn send(&mut self, index: usize, value: &mut u64, state: &mut u64) {
        let session = &mut self.sessions[index];
        let client = index + 1;
        session.begin();
        let mut sent = Vec::new();
        for _ in 0..1 + next(state) % 6 {
            let topic = format!("mr/v1/main/_ingress/c{client}/press/{}", next(state) % 5);
            if next(state).is_multiple_of(5) {
                session.offer(&topic, b"nonsense");
            } else {
                *value += 1;
                session.offer(&topic, value.to_string().as_bytes());
                sent.push(*value);
            }
        }
        let submitted = session.submit(Waker::noop(), &mut Registration::default());
        assert!(matches!(submitted, Submitted::Queued(_)), "{submitted:?}");
        self.queued.append(&mut sent);
    }

    /// When a later record is durable, so is everything that was queued before.
    fn wait(&mut self, acknowledged: &mut HashSet<u64>) {
        let mut buf = RecordBuf::new();
        buf.push_with(|out| Record::Started { at: Timestamp(0) }.encode(out));
        self.journal.append_durable_blocking(&mut buf).unwrap();
        acknowledged.extend(self.queued.drain(..));
        assert_eq!(self.ledger.totals().in_flight(), self.unappended);
    }
}

fn check_recovered(total: &LedgerCounts, found: &Found, seed: u64) {
    assert!(total.is_balanced(), "seed {seed}: {total:?}");
    assert_eq!(total.in_flight(), 0, "seed {seed}: {total:?}");
    assert_eq!(
        (total.stored, total.refused_total()),
        (found.samples, found.refused),
        "seed {seed}"
    );
    assert!(total.received >= found.note, "seed {seed}: receipts were forgotten");
    assert_eq!(found.samples, found.values.len() as u64, "seed {seed}: a value is there twice");
}

fn one_schedule(seed: u64) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut disk = ForgetfulDisk::new(seed);
    let mut acknowledged = HashSet::new();
    let (mut value, mut interrupted) = (0, 0);
    for _ in 0..LIVES {
        let mut life = Life::start(&disk, &acknowledged, seed);
        for _ in 0..STEPS {
            life.step(&mut acknowledged, &mut value, &mut state);
        }
        if next(&mut state).is_multiple_of(2) {
            // Two values have been counted and the power goes before their append, while a frame
            // that knows of them gets through.
            life.unappended = 2;
            life.ledger.client(ClientNumber(1)).receive(2);
            life.wait(&mut acknowledged);
            interrupted += 2;
        }
        // The power goes; what the old life still writes reaches another disk.
        disk = disk.synced_copy(seed);
        life.faulty.heal();
        life.sessions.clear();
        life.journal.close();
        // A journal that is degraded when it closes leaves its queue undecided.
        let total = life.ledger.totals();
        assert!(total.is_balanced() && total.in_flight() >= life.unappended, "seed {seed}");
    }
    let life = Life::start(&disk, &acknowledged, seed);
    life.journal.close();
    let total = life.ledger.totals();
    assert!(total.interrupted >= interrupted, "seed {seed}: {total:?}, not {interrupted}");
}

#[test]
fn random_lives_add_up() {
    for seed in 1..=25 {
        one_schedule(seed);
    }
}
