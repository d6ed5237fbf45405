//! What the gate costs a value: 1,000 sessions of 10 topics each, `{"value": n}`, one submit per
//! round of a session, into a journal that takes and forgets.
//!
//! Sessions come in random order, so that their memory is as cold as it is in the plant; topics
//! of one session follow one another, as devices send them. 25 rounds, the best counts.
//! Run with `cargo bench -p millrace-admission --bench offer`.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]

use millrace_admission::{
    Append, Client, Config, CreateError, Created, Decision, Gate, Ledger, Namespace, NewTag,
    Session,
};
use millrace_journal::{AppendError, RecordBuf, Registration, Seq, SeqRange};
use millrace_model::{
    ClientNumber, Filter, Retention, Schema, Tag, TagId, Timestamp, WorkspaceNumber,
};
use millrace_supervisor::SystemClock;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Waker;
use std::time::Instant;

const SESSIONS: u32 = 1_000;
const TOPICS: usize = 10;
const ROUNDS: usize = 25;

struct Forget;

impl Append for Forget {
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

#[derive(Default)]
struct Maker(AtomicU32);

impl Namespace for Maker {
    fn generation(&self) -> u64 {
        1
    }
    fn find(&self, _workspace: WorkspaceNumber, _path: &str) -> Option<Arc<Tag>> {
        None
    }
    fn create(&self, request: NewTag<'_>) -> Result<Created, CreateError> {
        let tag = Tag {
            id: TagId(self.0.fetch_add(1, Ordering::Relaxed) + 1),
            workspace: request.workspace,
            path: request.path.into(),
            kind: request.kind,
            unit: String::new(),
            description: String::new(),
            retention: request.retention,
            schema: Schema::default(),
            created: Timestamp(0),
            created_by: request.client,
        };
        Ok(Created { tag: Arc::new(tag), is_new: true })
    }
}

struct Device {
    session: Session,
    topics: Vec<String>,
}

fn main() {
    measure("rates off", 0);
    measure("rates on", 1_000_000_000);
}

fn measure(name: &str, rate_per_s: u32) {
    let config = Config {
        root: "mr/v1".into(),
        client_rate_per_s: rate_per_s,
        workspace_rate_per_s: rate_per_s,
        retention: Retention::Days1,
        submit_bytes_max: 7 << 20,
    };
    let clock = Arc::new(SystemClock::new());
    let gate = Gate::new(config, Forget, Arc::new(Maker::default()), Ledger::new(), clock);
    let gate = Arc::new(gate);
    let mut devices: Vec<_> = (1..=SESSIONS).map(|number| device(&gate, number)).collect();
    shuffle(&mut devices);
    let payloads: Vec<_> = (0..TOPICS).map(|i| format!("{{\"value\": {i}.{i}25}}")).collect();
    let mut registration = Registration::default();
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for Device { session, topics } in &mut devices {
            session.begin();
            for (topic, payload) in topics.iter().zip(&payloads) {
                let decision = session.offer(black_box(topic), black_box(payload.as_bytes()));
                assert!(matches!(decision, Decision::Stored { .. }));
            }
            black_box(session.submit(Waker::noop(), &mut registration));
        }
        let values = f64::from(SESSIONS) * 10.0;
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / values);
    }
    println!("{name}: {best:.1} ns per value (begin and submit shared by {TOPICS})");
}

fn device(gate: &Arc<Gate>, number: u32) -> Device {
    let client = Client {
        number: ClientNumber(number),
        id: format!("device-{number}"),
        workspace: WorkspaceNumber(1),
        workspace_name: "main".into(),
        publish: Filter::new("#").into_iter().collect(),
        may_create: true,
        retention: None,
        rate_per_s: None,
    };
    let topic = |i| format!("mr/v1/main/_ingress/device-{number}/press-{number}/signal-{i}");
    Device { session: gate.open(Arc::new(client)), topics: (0..TOPICS).map(topic).collect() }
}

fn shuffle(devices: &mut [Device]) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for last in (1..devices.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let place = usize::try_from(state >> 11).unwrap_or(0) % (last + 1);
        devices.swap(last, place);
    }
}
