//! Stories of the run history on a real file: what is kept, found, dropped, lost and said.

use super::worker::drops::ISSUE_DROPPED;
use super::worker::{ISSUE_CANNOT_WRITE, ISSUE_DAMAGED, ISSUE_UNREADABLE};
use super::*;
use crate::file::PlainFiles;
use crate::run::{
    Detail, Fault, ITEM_BYTES_MAX, Item, RUN_BYTES_MAX, Status, StepRun, StepStatus, Trace,
};
use millrace_supervisor::TestClock;
use std::fs;
use tempfile::TempDir;

const NOON: Timestamp = Timestamp(1_800_000_000_000_000_000);
const LIMIT: Duration = Duration::from_secs(60);

struct World {
    folder: TempDir,
    clock: Arc<TestClock>,
    issues: Arc<Issues>,
    config: Config,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let clock = Arc::new(TestClock::new(NOON));
        let issues = Arc::new(Issues::new(clock.clone()));
        let mut config = Config::new(folder.path());
        config.group_interval = Duration::from_millis(20);
        config.retry_interval = Duration::from_millis(20);
        Self { folder, clock, issues, config }
    }

    fn open(&self) -> History {
        let (issues, clock) = (self.issues.clone(), self.clock.clone());
        History::open(self.config.clone(), Arc::new(PlainFiles), issues, clock).expect("a thread")
    }

    fn text_of(&self, key: &str) -> String {
        let list = self.issues.list();
        list.iter()
            .find(|issue| issue.key == key)
            .map(|issue| issue.what.clone())
            .unwrap_or_default()
    }
}

fn run(pipeline: u32, seq: u64, status: Status) -> Run {
    let is_failed = status == Status::Failed;
    Run {
        workspace: 1,
        pipeline,
        seq,
        name: Arc::from(format!("pipeline-{pipeline}")),
        revision: 3,
        trigger: Arc::from("source"),
        started: NOON.plus_nanos(i64::try_from(seq).expect("small") * 1_000_000_000),
        duration: Duration::from_micros(1_500),
        waited: Duration::from_micros(40),
        cpu: Duration::from_micros(31),
        status,
        fault: is_failed.then(|| Fault {
            code: Arc::from("script"),
            text: Arc::from("x is not defined"),
            step: Arc::from("scale"),
        }),
        attempt: 1,
        by: None,
        detail: Detail::Standard,
        trace: None,
    }
}

fn step(name: &str, input: Option<Item>) -> StepRun {
    StepRun {
        step: Arc::from(name),
        status: StepStatus::Ok,
        count: 2,
        began: Duration::from_micros(7),
        took: Duration::from_micros(9),
        fault: None,
        input,
        output: Some(Item::new("{\"ok\":true}")),
    }
}

fn seqs(page: &Page) -> Vec<u64> {
    page.runs.iter().map(|kept| kept.run.seq).collect()
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited too long until {what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_run_is_listed_and_opened_with_its_steps() {
    let world = World::new();
    let history = world.open();
    // Given a run at Full with a step that got something
    let mut full = run(7, 42, Status::Failed);
    full.detail = Detail::Full;
    full.trace = Some(Box::new(Trace {
        input: Some(Item::new("{\"value\":1}")),
        steps: vec![step("scale", Some(Item::new("21"))), step("publish", None)],
        ..Trace::default()
    }));
    history.keep(full.clone());
    // When asked at once, it is there without its trace
    let page = history.list(&Query::default()).expect("a page");
    assert_eq!(page.runs.len(), 1);
    assert_eq!(page.runs[0].run, Run { trace: None, ..full.clone() });
    assert_eq!(page.next, None);
    // And with it when opened
    let kept = history.find(7, 42).expect("readable").expect("kept");
    assert_eq!(kept.run, full);
    assert_eq!(history.find(7, 43).expect("readable"), None);
    assert_eq!(history.find(8, 42).expect("readable"), None);
}

#[test]
fn pages_go_from_the_newest_back_over_both_kinds_and_many_chunks() {
    let world = World::new();
    let history = world.open();
    // Given a hundred runs in ten chunks, each fifth a failure
    for seq in 1..=100 {
        let status = if seq % 5 == 0 { Status::Failed } else { Status::Ok };
        history.keep(run(u32::try_from(seq % 3).expect("small"), seq, status));
        if seq % 10 == 0 {
            assert!(history.settle(LIMIT));
        }
    }
    // When read in pages of seven
    let mut all = Vec::new();
    let mut query = Query { limit: 7, ..Query::default() };
    loop {
        let page = history.list(&query).expect("a page");
        all.extend(seqs(&page));
        query.before = page.next;
        if page.next.is_none() {
            break;
        }
        assert_eq!(page.runs.len(), 7);
    }
    // Then all come once, newest first
    assert_eq!(all, (1..=100).rev().collect::<Vec<_>>());
}

#[test]
fn filters_by_pipeline_status_trigger_time_and_workspace() {
    let world = World::new();
    let history = world.open();
    for seq in 1..=20 {
        let status = if seq % 4 == 0 { Status::Failed } else { Status::Ok };
        let mut run = run(u32::try_from(seq % 2).expect("small"), seq, status);
        if seq == 11 {
            run.trigger = Arc::from("by-hand");
            run.by = Some(Arc::from("user:anna"));
        }
        if seq == 13 {
            run.workspace = 2;
        }
        history.keep(run);
    }
    let list = |query: Query| seqs(&history.list(&query).expect("a page"));
    let all = Query::default;
    assert_eq!(list(Query { statuses: vec![Status::Failed], ..all() }), [20, 16, 12, 8, 4]);
    let of_one = Query { pipeline: Some(1), limit: 3, ..all() };
    assert_eq!(list(of_one), [19, 17, 15]);
    assert_eq!(list(Query { trigger: Some("by-hand".into()), ..all() }), [11]);
    assert_eq!(list(Query { workspace: Some(2), ..all() }), [13]);
    let at = |second: i64| Some(NOON.plus_nanos(second * 1_000_000_000));
    assert_eq!(list(Query { from: at(5), to: at(8), ..all() }), [7, 6, 5]);
    let none = Query { pipeline: Some(1), statuses: vec![Status::Failed], ..all() };
    assert_eq!(list(none), [] as [u64; 0]);
}

#[test]
fn numbers_go_on_after_a_restart_and_everything_is_still_there() {
    let world = World::new();
    let history = world.open();
    history.keep(run(1, 1, Status::Ok));
    history.keep(run(1, 2, Status::Stopped));
    history.close();
    let history = world.open();
    history.keep(run(1, 3, Status::Ok));
    let page = history.list(&Query::default()).expect("a page");
    assert_eq!(page.runs.iter().map(|kept| kept.number).collect::<Vec<_>>(), [3, 2, 1]);
}

#[test]
fn counts_all_runs_and_keeps_the_counts_over_a_restart() {
    let world = World::new();
    let finish = |status, millis| Finish {
        pipeline: 5,
        status,
        is_manual: false,
        duration: Duration::from_millis(millis),
        waited: Duration::from_millis(2),
        cpu: Duration::from_millis(1),
    };
    let history = world.open();
    // Given fifty runs of one second, of which one is kept, and a failure
    let wanted = (0..50).filter(|_| history.finished(&finish(Status::Ok, 4))).count();
    assert_eq!(wanted, 1);
    assert!(history.finished(&finish(Status::Failed, 90)));
    assert_eq!(history.stats().thinned, 49);
    let counts = history.counts(NOON, NOON).expect("counts");
    assert_eq!((counts[&5].of(Status::Ok), counts[&5].of(Status::Failed)), (50, 1));
    assert_eq!(counts[&5].longest, Duration::from_millis(90));
    history.close();
    // When the box starts again an hour later and more happen
    world.clock.advance(Duration::from_hours(1));
    let history = world.open();
    assert!(history.finished(&finish(Status::Ok, 4)));
    // Then each hour has its own and both together have all
    let later = world.clock.now();
    let sum = history.counts(NOON, later).expect("counts");
    assert_eq!((sum[&5].of(Status::Ok), sum[&5].executed()), (51, 52));
    assert_eq!(history.counts(later, later).expect("counts")[&5].of(Status::Ok), 1);
    assert_eq!(sum[&5].cpu, Duration::from_millis(52));
}

/// A run that needs pages of its own.
fn huge(seq: u64, status: Status) -> Run {
    let mut run = run(1, seq, status);
    let steps = vec![step("a", Some(Item::new("7".repeat(50_000))))];
    run.detail = Detail::Full;
    run.trace = Some(Box::new(Trace { steps, ..Trace::default() }));
    run
}

#[test]
fn a_full_disk_drops_successes_first_says_so_and_recovers() {
    let mut world = World::new();
    world.config.queue_bytes_max = 10 * huge(1, Status::Ok).size_bytes();
    let history = world.open();
    history.keep(run(1, 1, Status::Ok));
    assert!(history.settle(LIMIT));
    // Given a disk that takes nothing more
    history.shared.pages_max.store(1, Ordering::Relaxed);
    history.keep(huge(2, Status::Ok));
    until("the issue is raised", || world.issues.is_open(ISSUE_CANNOT_WRITE));
    assert!(world.text_of(ISSUE_CANNOT_WRITE).contains("full"), "says why");
    // When far more successes and some failures come than there is room for
    for seq in 3..100 {
        history.keep(huge(seq, if seq % 20 == 0 { Status::Failed } else { Status::Ok }));
    }
    // Then successes were dropped and no failure
    let stats = history.stats();
    assert!(stats.dropped_quiet > 50, "{stats:?}");
    assert_eq!(stats.dropped_notable, 0);
    assert!(stats.queued_bytes <= world.config.queue_bytes_max as u64, "{stats:?}");
    // All of them are: one that is reported later would keep the issue open for another minute.
    until("drops are reported", || {
        let all = format!("{} successful and 0 failed or manual", history.stats().dropped_quiet);
        world.issues.is_open(ISSUE_DROPPED) && world.text_of(ISSUE_DROPPED).starts_with(&all)
    });
    // And when there is room again, it goes on by itself
    history.shared.pages_max.store(0, Ordering::Relaxed);
    until("the issue goes", || !world.issues.is_open(ISSUE_CANNOT_WRITE));
    let failed = Query { statuses: vec![Status::Failed], ..Query::default() };
    assert_eq!(seqs(&history.list(&failed).expect("a page")), [80, 60, 40, 20]);
    world.clock.advance(Duration::from_secs(61));
    history.keep(run(1, 200, Status::Ok));
    until("the drops are forgotten", || !world.issues.is_open(ISSUE_DROPPED));
}

#[test]
fn a_failure_takes_the_room_of_successes_that_are_just_being_written() {
    let size = huge(1, Status::Ok).size_bytes();
    let most = 3 * size;
    let entry = |seq, status| (seq, huge(seq, status));
    let mut queue = Queue { bytes: most, in_hand_bytes: 2 * size, ..Queue::default() };
    // Given two successes and a failure in the thread's hands, which are all that there is room for
    let quiet = vec![entry(1, Status::Ok), entry(3, Status::Ok)];
    let notable = vec![entry(2, Status::Failed)];
    // When another success comes, then it finds no room, and a failure does
    assert_eq!(queue.make_room(size, most, false), 0);
    assert!(queue.bytes + size > most);
    assert_eq!(queue.make_room(size, most, true), 0);
    assert!(queue.bytes + size <= most);
    queue.bytes += size;
    queue.notable.push_back(entry(4, Status::Failed));
    // And if the thread cannot write, the older success is given up
    assert_eq!(queue.give_back(quiet, notable), 1);
    let seqs = |side: &Waiting| side.iter().map(|(number, _)| *number).collect::<Vec<_>>();
    assert_eq!((seqs(&queue.quiet), seqs(&queue.notable)), (vec![3], vec![2, 4]));
    assert_eq!((queue.bytes, queue.owed_bytes, queue.in_hand_bytes), (3 * size, 0, 0));
}

#[test]
fn what_was_written_after_all_is_not_given_up() {
    let size = huge(1, Status::Ok).size_bytes();
    let mut queue = Queue { bytes: 2 * size, in_hand_bytes: 2 * size, ..Queue::default() };
    assert_eq!(queue.make_room(size, 2 * size, true), 0);
    queue.bytes += size;
    queue.notable.push_back((3, huge(3, Status::Failed)));
    queue.written(2 * size);
    assert_eq!((queue.bytes, queue.owed_bytes, queue.in_hand_bytes), (size, 0, 0));
}

#[test]
fn a_queue_full_of_failures_counts_the_failures_it_loses() {
    let mut world = World::new();
    world.config.queue_bytes_max = 3 * huge(1, Status::Failed).size_bytes();
    world.config.retry_interval = Duration::from_hours(1);
    let history = world.open();
    history.shared.pages_max.store(1, Ordering::Relaxed);
    for seq in 1..=5 {
        history.keep(huge(seq, Status::Failed));
    }
    history.keep(huge(6, Status::Ok));
    let stats = history.stats();
    assert_eq!((stats.dropped_notable, stats.dropped_quiet), (2, 1), "{stats:?}");
}

#[test]
fn a_file_that_is_no_database_is_set_aside_and_a_new_one_begun() {
    let world = World::new();
    fs::File::create(&world.config.path).expect("a file");
    let junk = "this is not what was written".repeat(2_000);
    fs::copy(write_new(&world, junk.as_bytes()), &world.config.path).expect("junk in place");
    let history = world.open();
    assert!(world.text_of(ISSUE_DAMAGED).contains("not a database"), "says why");
    history.keep(run(1, 1, Status::Ok));
    assert_eq!(seqs(&history.list(&Query::default()).expect("a page")), [1]);
    let aside: Vec<_> = fs::read_dir(&world.config.quarantine).expect("a folder").collect();
    assert_eq!(aside.len(), 1, "the damaged file is kept");
}

/// A file beside the others with these bytes.
fn write_new(world: &World, bytes: &[u8]) -> PathBuf {
    use std::io::Write as _;
    let path = world.folder.path().join("bytes");
    fs::File::create(&path).and_then(|mut file| file.write_all(bytes)).expect("written");
    path
}

#[test]
fn damage_that_a_reader_meets_is_checked_and_the_file_replaced_while_running() {
    let world = World::new();
    let history = world.open();
    for seq in 1..=300 {
        history.keep(run(1, seq, Status::Failed));
    }
    history.close();
    // Given a running history whose file is overwritten behind its back
    let history = world.open();
    let mut bytes = fs::read(&world.config.path).expect("the file");
    for byte in bytes.iter_mut().skip(16 * 1024) {
        *byte = 0xa5;
    }
    fs::copy(write_new(&world, &bytes), &world.config.path).expect("damaged");
    // When somebody asks, the answer is an error and not a wrong list
    history.list(&Query::default()).expect_err("damaged");
    // Then the file is replaced and the history goes on
    until("the file is set aside", || world.issues.is_open(ISSUE_DAMAGED));
    history.keep(run(1, 400, Status::Ok));
    until("it goes on", || history.list(&Query::default()).is_ok_and(|page| seqs(&page) == [400]));
}

#[test]
fn a_flipped_bit_hides_that_second_alone_and_is_told() {
    let world = World::new();
    let history = world.open();
    history.keep(run(1, 1, Status::Ok));
    assert!(history.settle(LIMIT));
    history.keep(run(2, 2, Status::Ok));
    history.close();
    let mut bytes = fs::read(&world.config.path).expect("the file");
    let name = b"pipeline-2";
    let place = bytes.windows(10).position(|window| window == name).expect("in the file");
    bytes[place] ^= 1;
    fs::copy(write_new(&world, &bytes), &world.config.path).expect("damaged");
    let history = world.open();
    let page = history.list(&Query::default()).expect("a page");
    assert_eq!((seqs(&page), page.damaged), (vec![1], 1));
    until("it is told", || world.issues.is_open(ISSUE_UNREADABLE));
    assert!(!world.issues.is_open(ISSUE_DAMAGED), "the file is used on");
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_opened_at_first_is_used_later_with_numbers_behind_its_own() {
    let world = World::new();
    let history = world.open();
    history.keep(run(1, 1, Status::Ok));
    history.keep(run(1, 2, Status::Ok));
    history.close();
    drop(history);
    // Given a link into nowhere where the file should be: it can be replaced in one step, so that
    // no attempt finds the place empty and begins a new file there
    let path = world.config.path.clone();
    let away = world.folder.path().join("away.db");
    let swap = |from: &Path, to: &Path| PlainFiles.rename(from, to).expect("renamed");
    swap(&path, &away);
    let nowhere = world.folder.path().join("not-there").join("runs.db");
    std::os::unix::fs::symlink(nowhere, &path).expect("a link");
    let history = world.open();
    assert!(world.issues.is_open(ISSUE_CANNOT_WRITE));
    history.keep(run(1, 3, Status::Ok));
    // When the file is back
    swap(&away, &path);
    until("it goes on", || !world.issues.is_open(ISSUE_CANNOT_WRITE));
    // Then nothing is missing and the order is right
    assert_eq!(seqs(&history.list(&Query::default()).expect("a page")), [3, 2, 1]);
    assert!(!world.issues.is_open(ISSUE_DAMAGED));
}

#[test]
fn runs_go_after_a_day_but_not_for_a_clock_that_jumped() {
    let world = World::new();
    let history = world.open();
    let keep = |seq| {
        history.keep(run(1, seq, Status::Failed));
        seqs(&history.list(&Query::default()).expect("a page"))
    };
    keep(1);
    world.clock.advance(Duration::from_hours(23));
    assert_eq!(keep(2), [2, 1]);
    world.clock.advance(Duration::from_hours(2));
    assert_eq!(keep(3), [3, 2], "the first is over a day old");
    // When somebody sets the clock a year ahead
    world.clock.jump_to(world.clock.now().plus_nanos(365 * 86_400 * 1_000_000_000));
    assert_eq!(keep(4), [4, 3, 2], "nothing goes at once");
    world.clock.advance(Duration::from_mins(59));
    assert_eq!(keep(5), [5, 4, 3, 2], "nor within the hour");
    world.clock.advance(Duration::from_mins(2));
    assert_eq!(keep(6), [6, 5, 4], "then it is believed");
}

#[test]
fn over_the_byte_cap_old_successes_go_and_failures_stay() {
    let mut world = World::new();
    world.config.bytes_max = 2 * 1024 * 1024;
    let history = world.open();
    let bulky = |seq, status| {
        let mut run = run(1, seq, status);
        let text = format!("{seq}").repeat(20_000);
        run.detail = Detail::Full;
        let steps = vec![step("a", Some(Item::new(text)))];
        run.trace = Some(Box::new(Trace { steps, ..Trace::default() }));
        run
    };
    // Given a failure, then many times the cap in successes
    history.keep(bulky(1, Status::Failed));
    for seq in 100..300 {
        history.keep(bulky(seq, Status::Ok));
        if seq % 5 == 0 {
            assert!(history.settle(LIMIT));
        }
    }
    // Then the newest successes are there, the oldest are not, and the failure is
    let page = history.list(&Query { limit: 1_000, ..Query::default() }).expect("a page");
    let found = seqs(&page);
    assert_eq!((found.first(), found.last()), (Some(&299), Some(&1)), "{found:?}");
    assert!(!found.contains(&100) && found.len() > 10, "{found:?}");
    let trace = history.find(1, 1).expect("readable").expect("kept").run.trace;
    assert!(trace.is_some(), "with its trace");
    let slack = 1024 * 1024;
    assert!(history.stats().file_bytes <= world.config.bytes_max + slack);
    let file = fs::metadata(&world.config.path).expect("a file").len();
    assert!(file <= world.config.bytes_max + 2 * slack, "freed pages are used again: {file}");
}

#[test]
fn long_items_are_cut_and_say_how_long_they_were() {
    let world = World::new();
    let history = world.open();
    let mut long = run(1, 1, Status::Ok);
    long.detail = Detail::Full;
    let item = || Some(Item { text: "é".repeat(50_000).into(), bytes: 100_000 });
    let steps = (0..8).map(|number| step(&format!("s{number}"), item())).collect();
    long.trace = Some(Box::new(Trace { steps, ..Trace::default() }));
    history.keep(long);
    let trace = history.find(1, 1).expect("readable").expect("kept").run.trace.expect("a trace");
    let first = trace.steps[0].input.as_ref().expect("an input");
    assert_eq!((first.text.len(), first.bytes, first.is_cut()), (ITEM_BYTES_MAX, 100_000, true));
    let items = trace.steps.iter().flat_map(|step| [&step.input, &step.output]).flatten();
    let total: usize = items.map(|item| item.text.len()).sum();
    assert!(total <= RUN_BYTES_MAX, "{total}");
    assert!(trace.left_out > 0, "says that something is missing");
    // And Minimal keeps no steps at all
    let mut minimal = run(1, 2, Status::Ok);
    minimal.detail = Detail::Minimal;
    minimal.trace = Some(Box::default());
    history.keep(minimal);
    assert_eq!(history.find(1, 2).expect("readable").expect("kept").run.trace, None);
}

#[test]
fn executions_of_a_step_add_up() {
    let mut trace = Trace::default();
    let fault = Fault { code: "x".into(), text: "y".into(), step: "".into() };
    let failed = StepRun { status: StepStatus::Failed, fault: Some(fault), ..step("each", None) };
    trace.add(step("split", None));
    trace.add(step("each", Some(Item::new("1"))));
    trace.add(failed);
    trace.add(StepRun { output: Some(Item::new("9")), ..step("each", Some(Item::new("3"))) });
    assert_eq!(trace.steps.len(), 2);
    let each = &trace.steps[1];
    assert_eq!((each.status, each.count), (StepStatus::Failed, 6));
    assert_eq!(each.took, Duration::from_micros(27));
    assert_eq!((&*each.input.as_ref().expect("kept").text, each.fault.is_some()), ("3", true));
}

#[test]
fn a_step_that_waited_counts_once_and_keeps_the_worst_before_its_wait() {
    let mut trace = Trace::default();
    let at = |status, began, took| StepRun {
        status,
        count: 1,
        began: Duration::from_micros(began),
        took: Duration::from_micros(took),
        ..step("call", None)
    };
    // Given a step that waited and ended well
    trace.add(at(StepStatus::Unfinished, 10, 1));
    assert_eq!(trace.steps[0].status, StepStatus::Unfinished);
    trace.add(at(StepStatus::Ok, 5_000, 2));
    let call = &trace.steps[0];
    assert_eq!((call.status, call.count), (StepStatus::Ok, 1));
    assert_eq!(call.took, Duration::from_micros(4_992), "its wait is part of its time");
    // When it waits, is tried again, waits once more and ends well
    trace.add(at(StepStatus::Unfinished, 6_000, 1));
    trace.add(at(StepStatus::Passed, 7_000, 1));
    trace.add(at(StepStatus::Unfinished, 8_000, 1));
    assert_eq!(trace.steps[0].status, StepStatus::Unfinished);
    trace.add(at(StepStatus::Ok, 9_000, 1));
    // Then that it had failed once is not forgotten
    assert_eq!((trace.steps[0].status, trace.steps[0].count), (StepStatus::Passed, 3));
    // And of two that wait at once the first to end does not end the other
    trace.add(at(StepStatus::Unfinished, 10_000, 1));
    trace.add(at(StepStatus::Unfinished, 10_000, 1));
    trace.add(at(StepStatus::Failed, 11_000, 1));
    assert_eq!(trace.steps[0].status, StepStatus::Unfinished);
    trace.add(at(StepStatus::Ok, 12_000, 1));
    assert_eq!(trace.steps[0].status, StepStatus::Failed);
}
