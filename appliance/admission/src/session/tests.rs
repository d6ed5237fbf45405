//! The gate: every check in its order, batches, receive times, a journal that is full.
//!
//! The journal is a list and the namespace a table; the clock stands until a test moves it.

use super::desk::RECEIVE_GRAIN_NANOS;
use super::*;
use crate::append::Append;
use crate::gate::Config;
use crate::ledger::{Ledger, Outcome, THE_BOX};
use crate::namespace::{CreateError, Created, Namespace, NewTag};
use crate::refused::REFUSED_PAYLOAD_BYTES_MAX;
use millrace_journal::{AppendError, RecordBuf, Seq, SeqRange};
use millrace_model::{
    Definition, Filter, Kind, Quality, Reason, Record, Retention, Schema, Tag, TagId, Timestamp,
    Value, WorkspaceNumber,
};
use millrace_supervisor::{Clock, TestClock};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// A journal that is a list.
#[derive(Default)]
struct List {
    is_full: AtomicBool,
    waits: AtomicU64,
    records: Mutex<Vec<Vec<u8>>>,
}

impl Append for Arc<List> {
    fn append(
        &self,
        records: &mut RecordBuf,
        _waiter: (&Waker, &mut Registration),
    ) -> Result<SeqRange, AppendError> {
        if self.is_full.load(Ordering::SeqCst) {
            return Err(AppendError::Full);
        }
        let mut list = self.records.lock();
        let first = Seq(list.len() as u64 + 1);
        list.extend(records.iter().map(<[u8]>::to_vec));
        let count = records.count();
        records.clear();
        Ok(SeqRange { first, count })
    }

    fn wait_for_space(&self, _waker: &Waker) {
        self.waits.fetch_add(1, Ordering::SeqCst);
    }
}

/// The tags of one workspace, with a quota.
#[derive(Default)]
struct Tags {
    generation: AtomicU64,
    by_path: Mutex<HashMap<String, Arc<Tag>>>,
    limit: u32,
}

impl Tags {
    fn put(&self, tag: Tag) {
        self.by_path.lock().insert(tag.path.clone(), Arc::new(tag));
        self.generation.fetch_add(1, Ordering::SeqCst);
    }
}

impl Namespace for Tags {
    fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }
    fn find(&self, _workspace: WorkspaceNumber, path: &str) -> Option<Arc<Tag>> {
        self.by_path.lock().get(path).cloned()
    }
    fn create(&self, request: NewTag<'_>) -> Result<Created, CreateError> {
        let mut tags = self.by_path.lock();
        if let Some(tag) = tags.get(request.path) {
            return Ok(Created { tag: Arc::clone(tag), is_new: false });
        }
        let count = u32::try_from(tags.len()).unwrap();
        if count >= self.limit {
            return Err(CreateError::ClientQuota { limit: self.limit });
        }
        let tag = Arc::new(Tag {
            kind: request.kind,
            retention: request.retention,
            created: request.at,
            created_by: request.client,
            ..tag(count + 1, request.path)
        });
        tags.insert(request.path.into(), Arc::clone(&tag));
        Ok(Created { tag, is_new: true })
    }
}

fn tag(id: u32, path: &str) -> Tag {
    Tag {
        id: TagId(id),
        workspace: WorkspaceNumber(1),
        path: path.into(),
        kind: Kind::Float,
        unit: String::new(),
        description: String::new(),
        retention: Retention::Days1,
        schema: Schema::default(),
        created: Timestamp(0),
        created_by: ClientNumber(0),
    }
}

/// 2026-11-30T00:00:00Z.
const NOW: Timestamp = Timestamp(1_795_996_800_000_000_000);
const INBOX: &str = "mr/v1/main/_ingress/c4/press-4/temperature";

struct Plant {
    journal: Arc<List>,
    tags: Arc<Tags>,
    ledger: Arc<Ledger>,
    clock: Arc<TestClock>,
    gate: Arc<Gate>,
}

impl Plant {
    fn with_rates(client_rate_per_s: u32, workspace_rate_per_s: u32) -> Self {
        let journal = Arc::new(List::default());
        let tags = Arc::new(Tags { limit: 100, ..Tags::default() });
        let ledger = Ledger::new();
        let clock = Arc::new(TestClock::new(NOW));
        let config = Config {
            root: "mr/v1".into(),
            client_rate_per_s,
            workspace_rate_per_s,
            retention: Retention::Days1,
            submit_bytes_max: 4 * 1024 * 1024,
        };
        let gate = Gate::new(
            config,
            Arc::clone(&journal),
            Arc::clone(&tags) as Arc<dyn Namespace>,
            Arc::clone(&ledger),
            Arc::clone(&clock) as Arc<dyn Clock>,
        );
        Self { journal, tags, ledger, clock, gate: Arc::new(gate) }
    }

    fn new() -> Self {
        Self::with_rates(0, 0)
    }

    fn open(&self) -> Session {
        self.gate.open(Arc::new(client()))
    }

    fn records(&self) -> Vec<Vec<u8>> {
        self.journal.records.lock().clone()
    }

    /// Plays the journal's follower: everything appended so far is durable.
    fn commit(&self) {
        for bytes in self.journal.records.lock().drain(..) {
            match Record::decode(&bytes).unwrap() {
                Record::Sample(sample) => {
                    self.ledger.applied_sample(sample.client, Outcome::Stored);
                }
                Record::Refused { reason, client, count, .. } => {
                    self.ledger.applied_refused(client, reason, count);
                }
                _ => {}
            }
        }
    }
}

fn client() -> Client {
    Client {
        number: ClientNumber(4),
        id: "c4".into(),
        workspace: WorkspaceNumber(1),
        workspace_name: "main".into(),
        publish: vec![Filter::new("press-4/#").unwrap()],
        may_create: true,
        retention: None,
        rate_per_s: None,
    }
}

fn submit(session: &mut Session) -> Submitted {
    session.submit(Waker::noop(), &mut Registration::default())
}

fn reason_of(decision: Decision) -> Reason {
    match decision {
        Decision::Refused(refusal) => refusal.reason,
        other => panic!("not refused: {other:?}"),
    }
}

fn stored(decision: Decision) -> u32 {
    match decision {
        Decision::Stored { first_record } => first_record,
        other => panic!("not stored: {other:?}"),
    }
}

#[test]
fn the_first_value_creates_its_tag_and_the_definition_stands_before_it() {
    let plant = Plant::new();
    let mut session = plant.open();

    assert_eq!(stored(session.offer(INBOX, b"{\"value\": 42.7}")), 1);
    assert_eq!(stored(session.offer(INBOX, b"43")), 2);
    let submitted = submit(&mut session);

    assert_eq!(submitted, Submitted::Queued(SeqRange { first: Seq(1), count: 3 }));
    let records = plant.records();
    let Record::Definition(json) = Record::decode(&records[0]).unwrap() else {
        panic!("{records:?}")
    };
    let Definition::Tag(tag) = Definition::decode(json).unwrap() else { panic!("{json:?}") };
    assert_eq!((tag.path.as_str(), tag.kind), ("press-4/temperature", Kind::Float));
    let Record::Sample(first) = Record::decode(&records[1]).unwrap() else { panic!("{records:?}") };
    assert_eq!((first.tag, first.client), (tag.id, ClientNumber(4)));
    assert_eq!((first.source_time, first.receive_time, first.has_source_time), (NOW, NOW, false));
    assert_eq!((first.value.to_value(), first.quality), (Value::Float(42.7), Quality::GOOD));
    let Record::Sample(second) = Record::decode(&records[2]).unwrap() else {
        panic!("{records:?}")
    };
    assert_eq!(second.value.to_value(), Value::Int(43));
    assert_eq!(
        second.receive_time,
        NOW.plus_nanos(RECEIVE_GRAIN_NANOS),
        "two values of one read stay apart"
    );
}

#[test]
fn refuses_by_permission_before_it_looks_at_the_payload() {
    let plant = Plant::new();
    let mut session = plant.open();
    let garbage = b"\xff\xff";
    for (topic, reason) in [
        ("mr/v1/main/_ingress/c4/press-5/t", Reason::NotAuthorized),
        ("mr/v1/main/_ingress/c5/press-4/t", Reason::NotAuthorized),
        ("mr/v1/other/_ingress/c4/press-4/t", Reason::NotAuthorized),
        ("mr/v1/main/press-4/t", Reason::NotAuthorized),
        ("mr/v1/main/_ingress/c4/press-4//t", Reason::TopicInvalid),
        ("mr/v1/main/_ingress/c4/_x", Reason::TopicInvalid),
        ("mr/v1/main/_ingress/c4/press-4/a\u{1}", Reason::TopicInvalid),
        ("mr/v1/main/_ingress/c4", Reason::TopicInvalid),
        ("mr/v1/main/_verdict/c4", Reason::TopicInvalid),
        ("factory/line", Reason::NotSupported),
        ("", Reason::NotSupported),
    ] {
        assert_eq!(reason_of(session.offer(topic, garbage)), reason, "{topic}");
        assert_eq!(reason_of(session.offer(topic, b"1")), reason, "{topic}");
    }
    let long = format!("mr/v1/main/_ingress/c4/press-4/{}", "x".repeat(600));
    assert_eq!(reason_of(session.offer(&long, b"1")), Reason::TopicInvalid);
    let deep = format!("mr/v1/main/_ingress/c4/press-4{}", "/x".repeat(32));
    assert_eq!(reason_of(session.offer(&deep, b"1")), Reason::TopicInvalid);
}

#[test]
fn refusals_of_one_submit_become_one_record_per_reason() {
    let plant = Plant::new();
    let mut session = plant.open();
    for _ in 0..5 {
        session.offer("mr/v1/main/_ingress/c4/other", b"1");
    }
    session.offer(INBOX, b"1");
    session.offer(INBOX, b"oops");
    submit(&mut session);

    let records = plant.records();
    let refused: Vec<_> = records
        .iter()
        .filter_map(|bytes| match Record::decode(bytes).unwrap() {
            Record::Refused { reason, client, count, at } => Some((reason, client.0, count, at)),
            _ => None,
        })
        .collect();
    let at = NOW.plus_nanos(RECEIVE_GRAIN_NANOS);
    assert_eq!(refused, [(Reason::NotAuthorized, 4, 5, at), (Reason::PayloadInvalid, 4, 1, at)]);
    assert_eq!(plant.ledger.totals().in_flight(), 7);
    plant.commit();
    let total = plant.ledger.totals();
    assert_eq!((total.received, total.stored, total.refused_total()), (7, 1, 6));
}

#[test]
fn refuses_publish_over_rate_until_time_passes() {
    let plant = Plant::with_rates(10, 0);
    let mut session = plant.open();
    let mut other = plant.open();
    for _ in 0..10 {
        stored(session.offer(INBOX, b"1"));
    }
    // The payload is not looked at, and a second connection of the client has no second budget.
    assert_eq!(reason_of(session.offer(INBOX, b"garbage")), Reason::RateLimited);
    assert_eq!(reason_of(other.offer(INBOX, b"1")), Reason::RateLimited);

    plant.clock.advance(Duration::from_millis(100));
    assert_eq!(
        reason_of(session.offer(INBOX, b"1")),
        Reason::RateLimited,
        "the wake's time stands"
    );
    session.begin();
    stored(session.offer(INBOX, b"1"));
    assert_eq!(reason_of(session.offer(INBOX, b"1")), Reason::RateLimited);
}

#[test]
fn a_clients_own_rate_comes_before_the_boxs() {
    let plant = Plant::with_rates(1, 0);
    let mut session = plant.gate.open(Arc::new(Client { rate_per_s: Some(0), ..client() }));
    for _ in 0..1_000 {
        stored(session.offer(INBOX, b"1"));
    }
}

#[test]
fn the_boxs_own_values_are_in_nobodys_rate() {
    let plant = Plant::with_rates(0, 1);
    let of_the_box = Client { number: THE_BOX, rate_per_s: Some(0), ..client() };
    let mut session = plant.gate.open(Arc::new(of_the_box));
    for _ in 0..10 {
        assert!(matches!(session.offer_path("press-4/t", b"1"), Decision::Stored { .. }));
    }
    // A device's values still are.
    let mut device = plant.gate.open(Arc::new(client()));
    assert!(matches!(device.offer_path("press-4/t", b"1"), Decision::Stored { .. }));
    assert!(matches!(device.offer_path("press-4/t", b"1"), Decision::Refused(_)));
}

#[test]
fn hops_and_a_record_of_the_entrance_stand_with_the_values() {
    let plant = Plant::with_rates(0, 0);
    let mut session = plant.gate.open(Arc::new(client()));
    session.begin();
    session.set_hops(3);
    session.offer_path("press-4/t", b"1");
    session.push_record(&Record::Ledger(b"mine"));
    submit(&mut session);
    let records = plant.records();
    let hops = records.iter().find_map(|bytes| match Record::decode(bytes) {
        Ok(Record::Sample(sample)) => Some(sample.hops),
        _ => None,
    });
    assert_eq!(hops, Some(3));
    assert_eq!(Record::decode(records.last().unwrap()), Ok(Record::Ledger(b"mine")));
}

#[test]
fn a_workspace_over_its_rate_refuses_all_and_takes_nothing_from_the_client() {
    let plant = Plant::with_rates(10, 2);
    let mut session = plant.open();
    stored(session.offer(INBOX, b"1"));
    stored(session.offer(INBOX, b"1"));
    for _ in 0..100 {
        assert_eq!(reason_of(session.offer(INBOX, b"1")), Reason::WorkspaceRateLimited);
    }
    plant.gate.set_workspace_rate(WorkspaceNumber(1), 0);
    for _ in 0..8 {
        stored(session.offer(INBOX, b"1"));
    }
    assert_eq!(reason_of(session.offer(INBOX, b"1")), Reason::RateLimited);
}

#[test]
fn holds_values_against_the_schema() {
    let plant = Plant::new();
    let schema = Schema {
        kinds: vec![Kind::Float, Kind::Text],
        min: Some(0.0),
        max: Some(100.0),
        choices: vec!["on".into(), "off".into()],
        strict: true,
    };
    plant.tags.put(Tag { schema: schema.clone(), ..tag(7, "press-4/strict") });
    plant.tags.put(Tag { schema: Schema { strict: false, ..schema }, ..tag(8, "press-4/soft") });
    let mut session = plant.open();
    for (payload, reason) in [
        ("true", Reason::WrongKind),
        ("[1]", Reason::WrongKind),
        ("100.5", Reason::OutOfRange),
        ("-1", Reason::OutOfRange),
        ("\"maybe\"", Reason::NotAChoice),
    ] {
        let strict = session.offer("mr/v1/main/_ingress/c4/press-4/strict", payload.as_bytes());
        assert_eq!(reason_of(strict), reason, "{payload}");
    }
    for payload in ["100", "0.0", "\"on\"", "null"] {
        stored(session.offer("mr/v1/main/_ingress/c4/press-4/strict", payload.as_bytes()));
    }
    submit(&mut session);
    plant.journal.records.lock().clear();

    for (payload, quality) in [
        ("true", Quality::UNCERTAIN),
        ("100.5", Quality::UNCERTAIN_RANGE),
        ("\"maybe\"", Quality::UNCERTAIN),
        ("50", Quality::GOOD),
        (r#"{"value": 500, "quality": "bad"}"#, Quality::BAD),
    ] {
        stored(session.offer("mr/v1/main/_ingress/c4/press-4/soft", payload.as_bytes()));
        submit(&mut session);
        let bytes = plant.journal.records.lock().pop().unwrap();
        let Record::Sample(sample) = Record::decode(&bytes).unwrap() else { panic!("{bytes:?}") };
        assert_eq!(sample.quality, quality, "{payload}");
    }
}

#[test]
fn holds_source_times_to_the_window_of_the_retention() {
    let plant = Plant::new();
    plant.tags.put(tag(7, "press-4/day"));
    plant.tags.put(Tag { retention: Retention::Keep, ..tag(8, "press-4/keep") });
    let mut session = plant.open();
    let mut offer = |name: &str, nanos: i64| {
        let payload =
            format!("{{\"value\":1,\"timestamp\":\"{}\"}}", Timestamp(nanos).to_rfc3339());
        session.offer(&format!("mr/v1/main/_ingress/c4/press-4/{name}"), payload.as_bytes())
    };
    let day = 86_400_000_000_000;
    let ten_minutes = 600_000_000_000;
    stored(offer("day", NOW.0 - day));
    assert_eq!(reason_of(offer("day", NOW.0 - day - 1_000_000)), Reason::SourceTimeTooOld);
    assert_eq!(reason_of(offer("day", 0)), Reason::SourceTimeTooOld);
    stored(offer("keep", 0));
    stored(offer("keep", -day));
    for name in ["day", "keep"] {
        stored(offer(name, NOW.0 + ten_minutes));
        assert_eq!(
            reason_of(offer(name, NOW.0 + ten_minutes + 1_000_000)),
            Reason::SourceTimeAhead
        );
        let year_2100 = 4_102_444_800_000_000_000;
        assert_eq!(reason_of(offer(name, year_2100)), Reason::SourceTimeAhead);
    }
    // Judged before the tag is made: a value that is refused leaves none behind.
    assert_eq!(reason_of(offer("new", 0)), Reason::SourceTimeTooOld);
    assert!(plant.tags.find(WorkspaceNumber(1), "press-4/new").is_none());
}

#[test]
fn refuses_new_topics_without_the_right_and_above_the_quota() {
    let plant = Plant::new();
    let mut session = plant.gate.open(Arc::new(Client { may_create: false, ..client() }));
    assert_eq!(reason_of(session.offer(INBOX, b"1")), Reason::UnknownTopic);
    plant.tags.put(tag(1, "press-4/temperature"));
    stored(session.offer(INBOX, b"1"));

    let mut session = plant.open();
    let mut refused = 0;
    for i in 0..10_000 {
        let topic = format!("mr/v1/main/_ingress/c4/press-4/{i}");
        match session.offer(&topic, b"1") {
            Decision::Stored { .. } => {}
            Decision::Refused(refusal) => {
                assert_eq!(refusal.reason, Reason::TopicQuota);
                assert!(refusal.sentence().contains("100 topics"));
                refused += 1;
            }
            Decision::Batch(_) => panic!("no batch was sent"),
        }
    }
    assert_eq!(refused, 10_000 - 99);
}

#[test]
fn each_payload_refusal_reaches_the_device_and_the_journal() {
    let plant = Plant::new();
    let mut session = plant.open();
    for (payload, reason) in [
        ("", Reason::PayloadInvalid),
        (r#"{"value": 1e400}"#, Reason::NumberOutOfRange),
        (r#"{"value": 1, "timestamp": "soon"}"#, Reason::TimeInvalid),
        (r#"{"value": 1, "quality": -1}"#, Reason::QualityInvalid),
    ] {
        assert_eq!(reason_of(session.offer(INBOX, payload.as_bytes())), reason, "{payload}");
    }
    let huge = format!("\"{}\"", "x".repeat(1024 * 1024 + 1));
    assert_eq!(reason_of(session.offer(INBOX, huge.as_bytes())), Reason::TooLarge);
    assert_eq!(plant.tags.by_path.lock().len(), 0, "nothing was admitted, nothing was created");
    submit(&mut session);
    plant.commit();
    assert_eq!(plant.ledger.totals().refused_total(), 5);
}

#[test]
fn a_change_of_the_tag_reaches_the_sessions_that_know_it() {
    let plant = Plant::new();
    plant.tags.put(tag(7, "press-4/temperature"));
    let mut session = plant.open();
    stored(session.offer(INBOX, b"500"));

    let schema = Schema { max: Some(100.0), strict: true, ..Schema::default() };
    plant.tags.put(Tag { schema, ..tag(7, "press-4/temperature") });
    session.begin();
    assert_eq!(reason_of(session.offer(INBOX, b"500")), Reason::OutOfRange);
    stored(session.offer(INBOX, b"50"));
}

#[test]
fn a_change_of_the_client_reaches_its_session() {
    let plant = Plant::new();
    let mut session = plant.open();
    stored(session.offer(INBOX, b"1"));
    session.set_client(Arc::new(Client { publish: Vec::new(), ..client() }));
    assert_eq!(reason_of(session.offer(INBOX, b"1")), Reason::NotAuthorized);
}

#[test]
fn judges_the_elements_of_a_batch_one_by_one() {
    let plant = Plant::with_rates(6, 0);
    let only = vec![Filter::new("press-4").unwrap(), Filter::new("press-4/a/#").unwrap()];
    let mut session = plant.gate.open(Arc::new(Client { publish: only, ..client() }));
    let payload = br#"{"values": {"a": 1, "b": 2, "a/x": 1e400, "a//y": 3, "a/z": "t", "": 1}}"#;
    let Decision::Batch(batch) = session.offer("mr/v1/main/_ingress/c4/press-4", payload) else {
        panic!("a batch is decided element by element");
    };
    let verdicts: Vec<_> = batch
        .elements
        .iter()
        .map(|element| {
            (element.path.as_deref().unwrap(), element.verdict.clone().map_err(|r| r.reason))
        })
        .collect();
    assert_eq!(
        verdicts,
        [
            ("a", Ok(1)),
            ("b", Err(Reason::NotAuthorized)),
            ("a/x", Err(Reason::NumberOutOfRange)),
            ("a//y", Err(Reason::TopicInvalid)),
            ("a/z", Ok(3)),
            ("", Err(Reason::TopicInvalid)),
        ]
    );
    assert_eq!(
        (batch.admitted_count(), batch.first_refusal().unwrap().reason),
        (2, Reason::NotAuthorized)
    );
    submit(&mut session);
    plant.commit();
    let total = plant.ledger.totals();
    assert_eq!((total.received, total.stored, total.in_flight()), (6, 2, 0));

    // Three are left of the rate of six: the elements beyond are refused, not the batch.
    let payload = br#"[{"value": 1}, {"value": 2}, {"value": 3}, {"value": 4}, {"value": 5}]"#;
    let Decision::Batch(batch) = session.offer("mr/v1/main/_ingress/c4/press-4", payload) else {
        panic!("a batch is decided element by element");
    };
    assert_eq!(batch.admitted_count(), 3);
    assert_eq!(batch.first_refusal().unwrap().reason, Reason::RateLimited);
}

#[test]
fn samples_of_one_list_without_times_all_stay() {
    let plant = Plant::new();
    let mut session = plant.open();
    session.offer(INBOX, br#"[{"value": 1}, {"value": 2}, {"value": 3}]"#);
    submit(&mut session);
    let times: Vec<_> = plant
        .records()
        .iter()
        .filter_map(|bytes| match Record::decode(bytes).unwrap() {
            Record::Sample(sample) => Some(sample.source_time.0 - NOW.0),
            _ => None,
        })
        .collect();
    assert_eq!(times, [0, RECEIVE_GRAIN_NANOS, 2 * RECEIVE_GRAIN_NANOS]);
}

#[test]
fn receive_times_never_repeat_unless_somebody_sets_the_clock() {
    let plant = Plant::new();
    let mut session = plant.open();
    let mut last = || {
        session.begin();
        stored(session.offer(INBOX, b"1"));
        submit(&mut session);
        let bytes = plant.journal.records.lock().pop().unwrap();
        let Record::Sample(sample) = Record::decode(&bytes).unwrap() else { panic!("{bytes:?}") };
        sample.receive_time
    };
    assert_eq!(last(), NOW);
    assert_eq!(last(), NOW.plus_nanos(RECEIVE_GRAIN_NANOS), "the clock stands");
    plant.clock.jump_to(NOW.plus_nanos(-1_000));
    assert_eq!(last(), NOW.plus_nanos(2 * RECEIVE_GRAIN_NANOS), "noise");
    let hour_ago = NOW.plus_nanos(-3_600_000_000_000);
    plant.clock.jump_to(hour_ago);
    assert_eq!(last(), hour_ago, "set back");
}

#[test]
fn a_full_journal_keeps_what_was_collected_and_counts_it_once() {
    let plant = Plant::new();
    let mut session = plant.open();
    session.offer(INBOX, b"1");
    session.offer(INBOX, b"garbage");
    plant.journal.is_full.store(true, Ordering::SeqCst);
    assert_eq!(submit(&mut session), Submitted::Full);
    assert_eq!(submit(&mut session), Submitted::Full);
    assert_eq!(plant.journal.waits.load(Ordering::SeqCst), 2);
    assert_eq!(plant.ledger.totals().in_flight(), 2);

    plant.journal.is_full.store(false, Ordering::SeqCst);
    assert_eq!(submit(&mut session), Submitted::Queued(SeqRange { first: Seq(1), count: 3 }));
    assert_eq!(submit(&mut session), Submitted::Empty);
    plant.commit();
    drop(session);
    let total = plant.ledger.totals();
    assert_eq!(
        (total.received, total.stored, total.refused_total(), total.interrupted),
        (2, 1, 1, 0)
    );
}

#[test]
fn a_session_that_ends_while_the_journal_is_full_counts_as_interrupted() {
    let plant = Plant::new();
    let mut first = plant.open();
    first.offer(INBOX, b"1");
    plant.journal.is_full.store(true, Ordering::SeqCst);
    submit(&mut first);
    drop(first);
    assert_eq!(plant.ledger.totals().interrupted, 1);
    assert_eq!(plant.ledger.totals().in_flight(), 0);

    // The tag is there in memory and its definition was never appended: the next one does it.
    plant.journal.is_full.store(false, Ordering::SeqCst);
    let mut second = plant.open();
    assert_eq!(stored(second.offer(INBOX, b"2")), 1);
    submit(&mut second);
    assert!(matches!(Record::decode(&plant.records()[0]), Ok(Record::Definition(_))));
    // From now on it is known.
    let mut third = plant.open();
    assert_eq!(stored(third.offer(INBOX, b"3")), 0);
}

#[test]
fn a_batch_larger_than_a_submit_is_refused_where_the_room_ends() {
    let plant = Plant::new();
    let mut session = plant.open();
    let text = "x".repeat(1024 * 1024 - 100);
    let list: Vec<_> = (0..5).map(|_| format!("{{\"value\":\"{text}\"}}")).collect();
    let payload = format!("[{}]", list.join(","));
    let Decision::Batch(batch) = session.offer(INBOX, payload.as_bytes()) else {
        panic!("a batch")
    };
    assert_eq!(batch.admitted_count(), 3);
    assert_eq!(batch.first_refusal().unwrap().reason, Reason::TooLarge);
    assert!(session.should_submit());
    submit(&mut session);
    assert!(!session.should_submit());
}

#[test]
fn other_entrances_write_by_path() {
    let plant = Plant::new();
    let mut session = plant.open();
    stored(session.offer_path("press-4/temperature", b"1"));
    assert_eq!(reason_of(session.offer_path("press-5/x", b"1")), Reason::NotAuthorized);
    assert_eq!(reason_of(session.offer_path("", b"1")), Reason::TopicInvalid);
    assert_eq!(reason_of(session.offer_path(INBOX, b"1")), Reason::NotAuthorized);
}

#[test]
fn a_refusal_of_the_entrance_is_counted_like_one_of_the_gate() {
    let plant = Plant::new();
    let mut session = plant.open();
    let decision = session.refuse(Refusal::plain(Reason::TooLarge));
    assert_eq!(reason_of(decision), Reason::TooLarge);
    assert_eq!(submit(&mut session), Submitted::Queued(SeqRange { first: Seq(1), count: 1 }));
    plant.commit();
    assert_eq!(plant.ledger.totals().refused[usize::from(Reason::TooLarge.code())], 1);
}

#[test]
fn an_elements_path_above_the_limit_is_refused_alone() {
    let plant = Plant::new();
    let mut session = plant.open();
    let payload = format!("{{\"values\":{{\"{}\":1,\"ok\":2}}}}", "x".repeat(100_000));
    let decision = session.offer(INBOX, payload.as_bytes());
    let Decision::Batch(batch) = decision else { panic!("{decision:?}") };
    let reasons: Vec<_> = batch
        .elements
        .iter()
        .map(|element| element.verdict.as_ref().err().map(|r| r.reason))
        .collect();
    assert_eq!(reasons, [Some(Reason::TopicInvalid), None]);
    assert!(session.joined.capacity() < 10_000);
}

#[test]
fn what_is_taken_back_was_never_offered_and_what_was_refused_stays_refused() {
    let plant = Plant::new();
    let mut session = plant.open();
    // Given a value, and behind a mark two more, one on a new topic, and a refusal
    stored(session.offer_path("press-4/a", b"1"));
    let mark = session.mark();
    stored(session.offer_path("press-4/b", b"2"));
    stored(session.offer_path("press-4/a", b"3"));
    assert_eq!(reason_of(session.offer_path("press-5/x", b"4")), Reason::NotAuthorized);
    // When they are taken back
    session.undo(&mark);
    // Then the new topic is defined by whoever uses it next
    stored(session.offer_path("press-4/b", b"5"));
    submit(&mut session);
    let records = plant.records();
    let kinds: Vec<_> = records
        .iter()
        .map(|bytes| match Record::decode(bytes).unwrap() {
            Record::Definition(json) => match Definition::decode(json).unwrap() {
                Definition::Tag(tag) => tag.path,
                other => panic!("{other:?}"),
            },
            Record::Sample(sample) => format!("{:?}", sample.value.to_value()),
            Record::Refused { count, .. } => format!("{count} refused"),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(kinds, ["press-4/a", "Int(1)", "press-4/b", "Int(5)", "1 refused"]);
    plant.commit();
    let totals = plant.ledger.totals();
    assert_eq!((totals.received, totals.stored, totals.in_flight()), (3, 2, 0));
}

#[test]
fn the_last_refusals_of_a_topic_are_told_with_what_was_sent() {
    let plant = Plant::new();
    let schema = Schema { max: Some(10.0), strict: true, ..Schema::default() };
    plant.tags.put(Tag { schema, ..tag(1, "press-4/temperature") });
    let mut session = plant.open();
    let long = format!("\"{}", "x".repeat(2 * REFUSED_PAYLOAD_BYTES_MAX));
    assert_eq!(reason_of(session.offer(INBOX, b"42.5")), Reason::OutOfRange);
    reason_of(session.offer(INBOX, long.as_bytes()));
    stored(session.offer(INBOX, b"7"));
    let batch = br#"[{"path": "a", "value": 1}, {"value": 99}]"#;
    assert!(matches!(session.offer(INBOX, batch), Decision::Batch(_)));

    let kept = plant.gate.last_refusals(WorkspaceNumber(1), "press-4/temperature");
    let said: Vec<(&[u8], usize)> =
        kept.iter().map(|refused| (&*refused.payload, refused.payload_bytes)).collect();
    let cut = long.as_bytes().get(..REFUSED_PAYLOAD_BYTES_MAX).unwrap();
    assert_eq!(said, [(&b"99"[..], 2), (cut, long.len()), (&b"42.5"[..], 4)]);
    let oldest = kept.last().unwrap();
    assert_eq!((oldest.client, oldest.refusal.reason), (ClientNumber(4), Reason::OutOfRange));
    assert!(oldest.refusal.sentence().contains("42.5"), "{oldest:?}");

    // What the client may not write is kept at its path; another's inbox is nobody's topic.
    reason_of(session.offer("mr/v1/main/_ingress/c4/press-5/t", b"1"));
    reason_of(session.offer("mr/v1/main/_ingress/c5/press-4/u", b"1"));
    let of = |path| plant.gate.last_refusals(WorkspaceNumber(1), path).len();
    assert_eq!((of("press-5/t"), of("press-4/u")), (1, 0));
    assert!(plant.gate.last_refusals(WorkspaceNumber(2), "press-5/t").is_empty());
}
