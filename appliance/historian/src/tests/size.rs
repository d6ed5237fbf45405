//! Bytes on disk per value, for plant data at 1 Hz.

use super::rig::{Rig, SECOND, START};
use millrace_journal::Seq;
use millrace_model::{ClientNumber, Quality, SampleRecord, TagId, Timestamp, ValueRef};

/// Small, seeded, and good enough for jitter.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Bytes per value of 200 tags at 1 Hz over ten minutes: a temperature in steps of 0.1 that
/// changes slowly. `unit` is the grain of our clock in nanoseconds.
fn bytes_per_value(given: bool, unit: i64) -> f64 {
    const TAGS: u32 = 200;
    const SECONDS: i64 = 600;
    let mut rig = Rig::new();
    let mut random = Random(42);
    let mut tenths: Vec<i64> = (0..TAGS).map(|tag| 200 + i64::from(tag)).collect();
    let mut seq = 0;
    let mut guard = rig.intake().lock();
    for second in 0..SECONDS {
        let mut arrivals: Vec<(i64, i64, u32, f64)> = Vec::new();
        for (tag, tenths) in (1u32..).zip(&mut tenths) {
            if random.below(10) == 0 {
                *tenths += if random.below(2) == 0 { 1 } else { -1 };
            }
            // 10,000 values a second: what arrives in the same 20 ms changes places.
            let due = START + second * SECOND + i64::from(tag) * 100_000;
            let sent = due / 1_000_000 * 1_000_000 + random.below(20) as i64 * 1_000_000;
            let received = (sent + random.below(1_500_000) as i64) / unit * unit;
            arrivals.push((received, sent, tag, *tenths as f64 / 10.0));
        }
        arrivals.sort_by_key(|arrival| arrival.0);
        for (received, sent, tag, value) in arrivals {
            seq += 1;
            guard.append(
                Seq(seq),
                &SampleRecord {
                    tag: TagId(tag),
                    client: ClientNumber(1),
                    source_time: Timestamp(if given { sent } else { received }),
                    receive_time: Timestamp(received),
                    quality: Quality::GOOD,
                    has_source_time: given,
                    hops: 0,
                    value: ValueRef::Float(value),
                },
            );
        }
    }
    drop(guard);
    rig.seal();
    let stats = rig.history().stats();
    assert_eq!(stats.part_rows, u64::from(TAGS) * SECONDS as u64);
    stats.part_bytes as f64 / stats.part_rows as f64
}

#[test]
fn a_slowly_changing_number_takes_few_bytes() {
    let cases = [
        ("device time in ms, our clock in ns", true, 1, 7.0),
        ("device time in ms, our clock in us", true, 1_000, 6.0),
        ("device time in ms, our clock in ms", true, 1_000_000, 4.0),
        ("no device time, our clock in ns", false, 1, 7.0),
        ("no device time, our clock in us", false, 1_000, 6.0),
        ("no device time, our clock in ms", false, 1_000_000, 4.0),
    ];
    for (case, given, unit, limit) in cases {
        let bytes = bytes_per_value(given, unit);
        println!("{case}: {bytes:.2} bytes per value");
        assert!(bytes < limit, "{case}: {bytes:.2} bytes per value, at most {limit}");
    }
}
