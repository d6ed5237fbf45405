//! Goal: a publish in the steady state allocates nothing. Method: an allocator that counts for
//! the thread that asks; ten topics are made known, then sent again and again.
//!
//! **Invariants**: the count is per thread, so that the test harness cannot disturb it.
#![expect(
    unsafe_code,
    reason = "counting allocations takes an allocator, and that trait is unsafe"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATION_COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

fn count() {
    // A thread that is ending has no counter any more; it is not the one that is measured.
    let _counted = ALLOCATION_COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(place, layout) }
    }
    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[cfg(test)]
mod steady_state {
    use super::ALLOCATION_COUNT;
    use millrace_admission::{
        Append, Client, Config, CreateError, Created, Decision, Gate, Ledger, Namespace, NewTag,
        Session, Submitted,
    };
    use millrace_journal::{AppendError, RecordBuf, Registration, Seq, SeqRange};
    use millrace_model::{
        ClientNumber, Filter, Retention, Schema, Tag, TagId, Timestamp, WorkspaceNumber,
    };
    use millrace_supervisor::SystemClock;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
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

    /// Makes every tag that is asked for.
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
                id: TagId(self.0.fetch_add(1, Ordering::SeqCst) + 1),
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

    fn open() -> Session {
        let config = Config {
            root: "mr/v1".into(),
            client_rate_per_s: 1_000_000_000,
            workspace_rate_per_s: 1_000_000_000,
            // Source times of any age are taken.
            retention: Retention::Keep,
            submit_bytes_max: 4 << 20,
        };
        let clock = Arc::new(SystemClock::new());
        let gate = Gate::new(config, Sink, Arc::new(Maker::default()), Ledger::new(), clock);
        Arc::new(gate).open(Arc::new(Client {
            number: ClientNumber(1),
            id: "c1".into(),
            workspace: WorkspaceNumber(1),
            workspace_name: "main".into(),
            publish: vec![Filter::new("#").unwrap()],
            may_create: true,
            retention: None,
            rate_per_s: None,
        }))
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
            assert!(matches!(
                session.submit(Waker::noop(), &mut registration),
                Submitted::Queued(_)
            ));
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
}
