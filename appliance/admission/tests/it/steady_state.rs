//! Goal: a publish in the steady state allocates nothing. Method: an allocator that counts for
//! the thread that asks; ten topics are made known, then sent again and again.
//!
//! **Invariants**: the counter itself is seen to count.

use crate::ALLOCATION_COUNT;
use crate::plant;
use millrace_admission::{Append, Config, Decision, Gate, Ledger, Session, Submitted};
use millrace_journal::{AppendError, RecordBuf, Registration, Seq, SeqRange};
use millrace_model::Retention;
use millrace_supervisor::SystemClock;
use std::sync::Arc;
use std::task::Waker;

/// Takes everything and keeps nothing.
struct Sink;

impl Append for Sink {
    fn append(
        &self,
        records: &mut RecordBuf,
        _waiter: (&Waker, &mut Registration),
    ) -> Result<SeqRange, AppendError> {
        let count = records.count();
        records.clear();
        Ok(SeqRange { first: Seq(1), count })
    }
    fn wait_for_space(&self, _waker: &Waker) {}
}

fn open() -> Session {
    let tags = Arc::new(plant::Tags::default());
    // Source times of any age are taken, and a rate that is never reached is paid all the same.
    let config = Config { client_rate_per_s: 1_000_000_000, ..plant::config(Retention::Keep) };
    let clock = Arc::new(SystemClock::new());
    let gate = Gate::new(config, Sink, tags, Ledger::new(), clock);
    Arc::new(gate).open(Arc::new(plant::client(1)))
}

#[test]
fn a_known_topic_and_a_value_allocate_nothing() {
    let mut session = open();
    let topics: Vec<_> = (0..10).map(|i| format!("mr/v1/main/_ingress/c1/press/{i}")).collect();
    let payloads: [&[u8]; 5] = [
        br#"{"value": 42.7}"#,
        b"484.81953300000004",
        br#"{"value": 1, "timestamp": "2024-11-30T14:05:37Z", "quality": "good"}"#,
        br#"{"value": "an \u00e4 and a \"quote\""}"#,
        br#"{"x": [1, 2], "y": {"z": null}}"#,
    ];
    let mut registration = Registration::default();
    let mut round = |session: &mut Session| {
        session.begin();
        for topic in &topics {
            for payload in payloads {
                let decision = session.offer(topic, payload);
                assert!(matches!(decision, Decision::Stored { .. }), "{decision:?}");
            }
        }
        assert!(matches!(session.submit(Waker::noop(), &mut registration), Submitted::Queued(_)));
    };
    for _ in 0..3 {
        round(&mut session);
    }
    let before = ALLOCATION_COUNT.get();
    for _ in 0..20 {
        round(&mut session);
    }
    assert_eq!(ALLOCATION_COUNT.get() - before, 0, "allocations in 1,000 publishes");
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATION_COUNT.get();
    drop(vec![1_u8; 100]);
    assert_eq!(ALLOCATION_COUNT.get() - before, 1);
}
