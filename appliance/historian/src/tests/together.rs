//! Taking in, sealing and asking at the same time.

use super::rig::{Rig, SECOND, START};
use millrace_journal::Seq;
use millrace_model::{ClientNumber, Quality, SampleRecord, TagId, Timestamp, Value, ValueRef};
use std::sync::atomic::{AtomicI64, Ordering};

const VALUES: i64 = 20_000;
const BATCH: i64 = 50;

/// While values come in and memtables are sealed again and again, every answer has all values
/// that were in before it was asked, each once and in order, and the last value never goes back.
#[test]
fn no_answer_misses_or_doubles_a_value_while_sealing() {
    let mut rig = Rig::new();
    rig.stop();
    rig.config.memtable_bytes = 100_000;
    rig.open();
    let done = AtomicI64::new(0);
    let (history, intake) = rig.both();
    let (history, done) = (history, &done);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for first in (0..VALUES).step_by(BATCH as usize) {
                let mut guard = intake.lock();
                for number in first..first + BATCH {
                    let text = number.to_string();
                    let value =
                        if number % 2 == 0 { ValueRef::Text(&text) } else { ValueRef::Int(number) };
                    let sample = SampleRecord {
                        tag: TagId(1),
                        client: ClientNumber(1),
                        source_time: Timestamp(START + number * SECOND),
                        receive_time: Timestamp(START),
                        quality: Quality::GOOD,
                        has_source_time: true,
                        hops: 0,
                        value,
                    };
                    guard.append(Seq(number as u64 + 1), &sample);
                }
                guard.done(Seq((first + BATCH) as u64));
                done.store(first + BATCH, Ordering::Release);
            }
        });
        scope.spawn(move || {
            while done.load(Ordering::Acquire) < VALUES {
                history.seal_now().expect("seals");
            }
        });
        let mut rounds = 0;
        while done.load(Ordering::Acquire) < VALUES || rounds < 3 {
            rounds += 1;
            let known = done.load(Ordering::Acquire);
            if let Some(last) = history.last(TagId(1)) {
                let number = (last.source_time.0 - START) / SECOND;
                assert!(number >= known - 1);
                match last.value {
                    Value::Text(text) => assert_eq!(*text, *number.to_string()),
                    value => assert_eq!(value, Value::Int(number)),
                }
            }
            let query = crate::RawQuery {
                tag: TagId(1),
                from: Timestamp((START + (known - 500) * SECOND).max(START)),
                to: Timestamp::MAX,
                limit: 100_000,
                after: None,
            };
            let page = history.raw(&query).expect("answers");
            let first = (query.from.0 - START) / SECOND;
            for (expected, sample) in (first..).zip(&page.samples) {
                assert_eq!(sample.source_time.0, START + expected * SECOND);
            }
            assert!(page.samples.len() as i64 >= known - first, "{known} values are in");
        }
    });
    assert_eq!(rig.page(1).samples.len(), VALUES as usize);
    assert!(rig.history().stats().seals > 3);
}
