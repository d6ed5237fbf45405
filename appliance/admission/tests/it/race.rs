//! Goal: every sample has its definition before it in the journal, whoever created the tag.
//! Method: threads send first values of the same topics at once, some of them give up while
//! their journal is full; the list of all that was appended is read in order.

use crate::plant::{self, Tags};
use millrace_admission::{Append, Gate, Ledger, Submitted};
use millrace_journal::{AppendError, RecordBuf, Registration, Seq, SeqRange};
use millrace_model::{Definition, Record, Retention};
use millrace_supervisor::SystemClock;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Waker;

const THREADS: u32 = 4;
const TOPICS: usize = 300;

type List = Arc<Mutex<Vec<Vec<u8>>>>;

/// A journal that refuses every third submit.
#[derive(Default)]
struct Moody {
    calls: AtomicU64,
    list: List,
}

impl Append for Moody {
    fn append(
        &self,
        records: &mut RecordBuf,
        _waiter: (&Waker, &mut Registration),
    ) -> Result<SeqRange, AppendError> {
        // Two calls of three fail together: a submit tries twice.
        if self.calls.fetch_add(1, Ordering::SeqCst) % 6 < 2 {
            return Err(AppendError::Full);
        }
        let mut list = self.list.lock().unwrap();
        let first = Seq(list.len() as u64 + 1);
        list.extend(records.iter().map(<[u8]>::to_vec));
        let count = records.count();
        records.clear();
        Ok(SeqRange { first, count })
    }

    fn wait_for_space(&self, _waker: &Waker) {}
}

#[test]
fn a_definition_always_stands_before_its_first_sample() {
    let list = List::default();
    let journal = Moody { list: Arc::clone(&list), ..Moody::default() };
    let ledger = Ledger::new();
    let gate = Arc::new(Gate::new(
        plant::config(Retention::Days1),
        journal,
        Arc::new(Tags::default()),
        Arc::clone(&ledger),
        Arc::new(SystemClock::new()),
    ));
    std::thread::scope(|scope| {
        for number in 1..=THREADS {
            let gate = &gate;
            scope.spawn(move || {
                let mut session = gate.open(Arc::new(plant::client(number)));
                let mut registration = Registration::default();
                for i in 0..TOPICS {
                    session.begin();
                    session.offer(&format!("mr/v1/main/_ingress/c{number}/press/{i}"), b"1");
                    let submitted = session.submit(Waker::noop(), &mut registration);
                    if submitted == Submitted::Full && i % 2 == 0 {
                        // The device goes away with its value; a new connection comes.
                        session = gate.open(Arc::new(plant::client(number)));
                    }
                }
                while session.submit(Waker::noop(), &mut registration) == Submitted::Full {}
            });
        }
    });

    let mut defined = HashSet::new();
    let mut samples = 0;
    for bytes in list.lock().unwrap().iter() {
        match Record::decode(bytes).unwrap() {
            Record::Definition(json) => match Definition::decode(json).unwrap() {
                Definition::Tag(tag) => drop(defined.insert(tag.id)),
                other => panic!("nobody defined {other:?}"),
            },
            Record::Sample(sample) => {
                assert!(defined.contains(&sample.tag), "{:?} has no name", sample.tag);
                samples += 1;
            }
            other => panic!("nothing else was sent: {other:?}"),
        }
    }
    let total = ledger.totals();
    let sent = u64::from(THREADS) * TOPICS as u64;
    assert_eq!((total.received, total.interrupted), (sent, sent - samples));
    assert!(samples > sent / 2, "{samples} of {sent} got through");
    assert!(total.interrupted > 0, "nobody gave up: the scenario does not test what it says");
}
