//! What a value costs: taken in, sealed, read back.
//!
//! `cargo bench -p millrace-historian`. Plain CPU-bound loops over plant-like data; the figures
//! are for comparing two versions on one machine.
#![expect(clippy::print_stdout, reason = "a bench tells its figures")]
#![expect(clippy::unwrap_used, reason = "a bench may end at trouble")]

use millrace_historian::{
    Around, Checkpoint, Config, Historian, RangeQuery, RawQuery, Reclassified, Tags,
};
use millrace_journal::{RealDisk, Seq};
use millrace_model::{ClientNumber, Quality, Retention, SampleRecord, TagId, Timestamp, ValueRef};
use millrace_supervisor::{Clock, Issues, SystemClock};
use std::sync::Arc;
use std::time::Instant;

const TAGS: u32 = 10_000;
const SECONDS: i64 = 120;
const BATCH: usize = 500;

struct Nothing;

impl Tags for Nothing {
    fn retention(&self, _tag: TagId) -> Retention {
        Retention::Days1
    }
}

impl Reclassified for Nothing {
    fn reclassified(&self, _client: ClientNumber, _redelivered: u64, _superseded: u64) {}
}

impl Checkpoint for Nothing {
    fn position(&self) -> Seq {
        Seq::ZERO
    }

    fn checkpoint(&self, _seq: Seq) -> Result<(), String> {
        Ok(())
    }
}

fn sample(tag: u32, time: i64, value: f64) -> SampleRecord<'static> {
    SampleRecord {
        tag: TagId(tag),
        client: ClientNumber(1),
        source_time: Timestamp(time),
        receive_time: Timestamp(time + 1_000_000),
        quality: Quality::GOOD,
        has_source_time: true,
        hops: 0,
        value: ValueRef::Float(value),
    }
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let around = Around {
        disk: Arc::new(RealDisk),
        clock: Arc::clone(&clock),
        issues: Arc::new(Issues::new(Arc::clone(&clock))),
        tags: Arc::new(Nothing),
        reclassified: Arc::new(Nothing),
        cursor: Arc::new(Nothing),
    };
    let mut config = Config::new(folder.path());
    config.memtable_bytes = 256 << 20;
    let (historian, mut intake, _) = Historian::open(config, around).unwrap();
    let start = clock.now().0 / 1_000_000_000 * 1_000_000_000;
    let count = (i64::from(TAGS) * SECONDS) as f64;
    for round in 0..3i64 {
        let round_start = start + round * SECONDS * 1_000_000_000;
        let mut samples = Vec::new();
        for second in 0..SECONDS {
            for tag in 0..TAGS {
                // A fixed order that is not that of the tags.
                let tag = tag.wrapping_mul(7_919) % TAGS + 1;
                let jitter = i64::from(tag.wrapping_mul(31) + second as u32 * 7) % 20 * 1_000_000;
                let time = round_start + second * 1_000_000_000 + jitter;
                samples.push(sample(tag, time, f64::from(tag / 3) / 10.0));
            }
        }
        let before = Instant::now();
        let mut seq = round as u64 * samples.len() as u64;
        for batch in samples.chunks(BATCH) {
            let mut guard = intake.lock();
            for sample in batch {
                seq += 1;
                guard.append(Seq(seq), sample);
            }
            guard.done(Seq(seq));
        }
        let took = before.elapsed().as_nanos() as f64;
        println!("round {round}: intake {:.0} ns a value", took / count);
        let before = Instant::now();
        historian.seal_now().unwrap();
        let took = before.elapsed().as_nanos() as f64;
        let stats = historian.stats();
        println!(
            "round {round}: seal {:.0} ns a value, {:.2} bytes a value",
            took / count,
            stats.part_bytes as f64 / stats.part_rows as f64
        );
    }
    query(&historian, start);
    historian.close().unwrap();
}

fn query(historian: &Historian, start: i64) {
    let (tag, from, to) = (TagId(77), Timestamp(start), Timestamp(start + 3_600_000_000_000));
    for attempt in ["first", "second"] {
        let before = Instant::now();
        let page = historian.raw(&RawQuery { tag, from, to, limit: 100_000, after: None }).unwrap();
        println!("raw, {attempt}: {} samples in {:?}", page.samples.len(), before.elapsed());
        let before = Instant::now();
        let range = historian.range(&RangeQuery { tag, from, to, buckets: 1_000 }).unwrap();
        println!("range, {attempt}: {} buckets in {:?}", range.buckets.len(), before.elapsed());
        let tags: Vec<TagId> = (1..=TAGS).map(TagId).collect();
        let before = Instant::now();
        let last = historian.last_many(&tags);
        println!("last, {attempt}: {} tags in {:?}", last.len(), before.elapsed());
    }
}
