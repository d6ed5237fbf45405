//! A historian on a disk in memory, with a list of records as its journal.

use crate::{
    Around, Checkpoint, Config, Historian, Intake, Opened, Outcome, RawQuery, Reclassified, Sample,
    Tags,
};
use millrace_journal::disk::testing::{FaultyDisk, ForgetfulDisk};
use millrace_journal::{Disk, Seq};
use millrace_model::{
    ClientNumber, Quality, Retention, SampleRecord, TagId, Timestamp, Value, ValueRef,
};
use millrace_supervisor::{Issues, TestClock};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

pub(super) const SECOND: i64 = 1_000_000_000;
pub(super) const HOUR: i64 = 3_600 * SECOND;
pub(super) const DAY: i64 = 24 * HOUR;
/// 2026-11-30T14:00:00Z
pub(super) const START: i64 = 1_796_047_200 * SECOND;

/// A record of the journal that these tests have.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) seq: u64,
    pub(super) tag: u32,
    pub(super) time: i64,
    pub(super) receive: i64,
    pub(super) quality: u32,
    pub(super) given: bool,
    pub(super) value: Value,
}

impl Record {
    pub(super) fn sample(&self) -> SampleRecord<'_> {
        SampleRecord {
            tag: TagId(self.tag),
            client: ClientNumber(self.tag % 3),
            source_time: Timestamp(self.time),
            receive_time: Timestamp(self.receive),
            quality: Quality(self.quality),
            has_source_time: self.given,
            hops: 0,
            value: self.value.as_ref(),
        }
    }
}

#[derive(Default)]
pub(super) struct FakeCursor(Mutex<u64>);

impl Checkpoint for FakeCursor {
    fn position(&self) -> Seq {
        Seq(*self.0.lock())
    }

    fn checkpoint(&self, seq: Seq) -> Result<(), String> {
        *self.0.lock() = seq.0;
        Ok(())
    }
}

impl FakeCursor {
    pub(super) fn set(&self, position: u64) {
        *self.0.lock() = position;
    }
}

#[derive(Default)]
pub(super) struct FakeTags(Mutex<BTreeMap<u32, Retention>>);

impl Tags for FakeTags {
    fn retention(&self, tag: TagId) -> Retention {
        self.0.lock().get(&tag.0).copied().unwrap_or_default()
    }
}

impl FakeTags {
    pub(super) fn set(&self, tag: u32, class: Retention) {
        self.0.lock().insert(tag, class);
    }
}

/// (redelivered, superseded)
#[derive(Default)]
pub(super) struct FakeLedger(pub(super) Mutex<(u64, u64)>);

impl Reclassified for FakeLedger {
    fn reclassified(&self, _client: ClientNumber, redelivered: u64, superseded: u64) {
        let mut counts = self.0.lock();
        counts.0 += redelivered;
        counts.1 += superseded;
    }
}

pub(super) struct Rig {
    pub(super) disk: ForgetfulDisk,
    pub(super) faulty: FaultyDisk,
    pub(super) clock: Arc<TestClock>,
    pub(super) issues: Arc<Issues>,
    pub(super) cursor: Arc<FakeCursor>,
    pub(super) tags: Arc<FakeTags>,
    pub(super) ledger: Arc<FakeLedger>,
    pub(super) config: Config,
    pub(super) records: Vec<Record>,
    open: Option<(Arc<Historian>, Intake)>,
}

impl Rig {
    pub(super) fn new() -> Self {
        Self::on(ForgetfulDisk::new(7))
    }

    pub(super) fn on(disk: ForgetfulDisk) -> Self {
        let clock = Arc::new(TestClock::new(Timestamp(START)));
        let mut config = Config::new("/history");
        config.seal_age = std::time::Duration::from_secs(1_000_000_000);
        let mut rig = Self {
            faulty: FaultyDisk::new(Arc::new(disk.clone())),
            disk,
            issues: Arc::new(Issues::new(clock.clone())),
            clock,
            cursor: Arc::default(),
            tags: Arc::default(),
            ledger: Arc::default(),
            config,
            records: Vec::new(),
            open: None,
        };
        rig.open();
        rig
    }

    pub(super) fn try_open(&mut self) -> crate::Result<Opened> {
        self.config.journal_last_seq = Seq(self.last_seq());
        let around = Around {
            disk: Arc::new(self.faulty.clone()),
            clock: self.clock.clone(),
            issues: self.issues.clone(),
            tags: self.tags.clone(),
            reclassified: self.ledger.clone(),
            cursor: self.cursor.clone(),
        };
        let (historian, mut intake, opened) = Historian::open(self.config.clone(), around)?;
        let mut guard = intake.lock();
        for record in self.records.iter().filter(|record| record.seq > opened.checkpoint.0) {
            guard.append(Seq(record.seq), &record.sample());
        }
        guard.done(Seq(self.last_seq()));
        self.open = Some((historian, intake));
        Ok(opened)
    }

    pub(super) fn open(&mut self) -> Opened {
        self.try_open().expect("opens")
    }

    /// The process dies and starts again; what was written stays.
    pub(super) fn restart(&mut self) -> Opened {
        self.open = None;
        self.issues = Arc::new(Issues::new(self.clock.clone()));
        self.open()
    }

    /// Stops in an orderly way and starts again.
    pub(super) fn close_and_open(&mut self) -> Opened {
        self.history().close().expect("seals a last time");
        self.restart()
    }

    pub(super) fn stop(&mut self) {
        self.open = None;
    }

    pub(super) fn history(&self) -> &Historian {
        &self.open.as_ref().expect("is open").0
    }

    pub(super) fn both(&mut self) -> (&Historian, &mut Intake) {
        let (historian, intake) = self.open.as_mut().expect("is open");
        (historian, intake)
    }

    pub(super) fn intake(&mut self) -> &mut Intake {
        &mut self.open.as_mut().expect("is open").1
    }

    pub(super) fn last_seq(&self) -> u64 {
        self.records.last().map_or(0, |record| record.seq)
    }

    /// Records a value with a source time of the device, received 3 ms later.
    pub(super) fn put(&mut self, tag: u32, time: i64, value: ValueRef<'_>) -> Outcome {
        self.record(tag, (time, time + 3_000_000), 0, true, value.to_value())
    }

    pub(super) fn float(&mut self, tag: u32, time: i64, value: f64) -> Outcome {
        self.put(tag, time, ValueRef::Float(value))
    }

    pub(super) fn record(
        &mut self,
        tag: u32,
        (time, receive): (i64, i64),
        quality: u32,
        given: bool,
        value: Value,
    ) -> Outcome {
        let seq = self.last_seq() + 1;
        let record = Record { seq, tag, time, receive, quality, given, value };
        let outcome = self.intake().append(Seq(seq), &record.sample());
        self.records.push(record);
        outcome
    }

    pub(super) fn seal(&self) {
        self.history().seal_now().expect("seals");
    }

    pub(super) fn raw(&self, tag: u32) -> Vec<Sample> {
        let page = self.page(tag);
        assert!(!page.incomplete, "nothing is set aside");
        page.samples
    }

    pub(super) fn page(&self, tag: u32) -> crate::Page {
        let query = RawQuery {
            tag: TagId(tag),
            from: Timestamp::MIN,
            to: Timestamp::MAX,
            limit: crate::config::RAW_LIMIT_MAX,
            after: None,
        };
        self.history().raw(&query).expect("answers")
    }

    /// Everything as (time, text of the value), all tags of the records.
    pub(super) fn assert_is_oracle(&self) {
        let oracle = Oracle::of(&self.records);
        for tag in
            self.records.iter().map(|record| record.tag).collect::<std::collections::BTreeSet<_>>()
        {
            let found = essences(&self.raw(tag));
            let expected = essences(oracle.raw(tag));
            assert_eq!(found, expected, "tag {tag}");
            // Of several samples at the last time, which one came last depends on whether a
            // redelivered one has been told apart yet.
            let last = self.history().last(TagId(tag)).as_ref().map(essence);
            let time = expected.last().map(|essence| essence.0);
            assert_eq!(last.as_ref().map(|essence| essence.0), time, "last of tag {tag}");
            assert!(last.is_none_or(|last| expected.contains(&last)), "last of tag {tag}");
        }
    }

    /// Files of parts, with their lengths.
    pub(super) fn part_files(&self) -> Vec<(PathBuf, u64)> {
        let parts = self.disk.files().into_iter().filter(|path| path.starts_with("/history/parts"));
        parts
            .map(|path| {
                let length = Disk::len(&self.disk, &path).expect("length").expect("is there");
                (path, length)
            })
            .collect()
    }
}

/// Samples of one time may change places with the delivery that is answered.
fn essences(samples: &[Sample]) -> Vec<Essence> {
    assert!(samples.is_sorted_by_key(|sample| (sample.source_time, sample.seq)));
    let mut essences: Vec<_> = samples.iter().map(essence).collect();
    essences.sort_by_key(|essence| (essence.0, essence.4));
    essences
}

type Essence = (i64, u32, bool, Value, Option<(i64, u64)>);

/// What a restart may not change; the seq of a redelivered value may be that of either delivery.
pub(super) fn essence(sample: &Sample) -> Essence {
    let own = (!sample.has_source_time).then_some((sample.receive_time.0, sample.seq.0));
    (sample.source_time.0, sample.quality.0, sample.has_source_time, sample.value.clone(), own)
}

/// History as a plain list.
#[derive(Default)]
pub(super) struct Oracle {
    rows: BTreeMap<u32, Vec<Sample>>,
    pub(super) redelivered: u64,
    pub(super) superseded: u64,
}

impl Oracle {
    pub(super) fn of(records: &[Record]) -> Self {
        let mut oracle = Self::default();
        for record in records {
            let sample = crate::sample_of(Seq(record.seq), &record.sample());
            let rows = oracle.rows.entry(record.tag).or_default();
            let same = |row: &&mut Sample| {
                row.has_source_time
                    && sample.has_source_time
                    && row.source_time == sample.source_time
            };
            match rows.iter_mut().find(same) {
                Some(row) if row.value == sample.value && row.quality == sample.quality => {
                    oracle.redelivered += 1;
                }
                Some(row) => {
                    oracle.superseded += 1;
                    *row = sample;
                }
                None => rows.push(sample),
            }
        }
        for rows in oracle.rows.values_mut() {
            rows.sort_by_key(|row| (row.source_time, row.seq));
        }
        oracle
    }

    pub(super) fn raw(&self, tag: u32) -> &[Sample] {
        self.rows.get(&tag).map_or(&[], Vec::as_slice)
    }
}
