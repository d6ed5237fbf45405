//! When the issue *target unreachable* comes and goes.

use super::*;
use millrace_supervisor::TestClock;

const TARGET: &str = "http mes.plant:443";
const KEY: &str = "target-unreachable:http mes.plant:443";

fn table() -> (Arc<TestClock>, Arc<Issues>, Targets) {
    let clock = Arc::new(TestClock::new(Timestamp(0)));
    let issues = Arc::new(Issues::new(clock.clone()));
    let targets = Targets::new(clock.clone(), issues.clone());
    (clock, issues, targets)
}

#[test]
fn raises_at_the_third_failure_in_a_row_and_clears_at_the_first_answer() {
    let (_, issues, targets) = table();
    targets.failed(TARGET, "refused");
    targets.failed(TARGET, "refused");
    assert!(!issues.is_open(KEY));
    targets.failed(TARGET, "refused");
    assert!(issues.is_open(KEY));
    let state = targets.list().remove(0);
    assert_eq!((state.ok, state.failed), (0, 3));
    assert!(state.unreachable_since.is_some());
    assert_eq!(state.last_error.as_deref(), Some("refused"));
    // An answer that reports an error still shows that the target is there.
    targets.answered_badly(TARGET, "status 500");
    assert!(!issues.is_open(KEY));
    assert_eq!(targets.list().remove(0).unreachable_since, None);
}

#[test]
fn a_success_between_ends_the_row() {
    let (_, issues, targets) = table();
    for _ in 0..5 {
        targets.failed(TARGET, "slow");
        targets.failed(TARGET, "slow");
        targets.succeeded(TARGET);
    }
    assert!(!issues.is_open(KEY));
}

#[test]
fn raises_after_a_minute_of_a_single_failure() {
    let (clock, issues, targets) = table();
    targets.failed(TARGET, "refused");
    clock.advance(Duration::from_secs(59));
    targets.tick();
    assert!(!issues.is_open(KEY));
    clock.advance(Duration::from_secs(1));
    targets.tick();
    assert!(issues.is_open(KEY));
    let what = issues.list().remove(0).what;
    assert!(what.contains(TARGET) && what.contains("refused"), "{what}");
}

#[test]
fn is_bounded_and_takes_issues_of_the_forgotten_with_it() {
    let (clock, issues, targets) = table();
    for _ in 0..3 {
        targets.failed(TARGET, &"x".repeat(100_000));
    }
    assert!(targets.list().remove(0).last_error.unwrap().len() <= ERROR_TEXT_BYTES_MAX + 4);
    for number in 0..TARGETS_MAX {
        clock.advance(Duration::from_millis(1));
        targets.succeeded(&format!("http h{number}:80"));
    }
    assert_eq!(targets.list().len(), TARGETS_MAX);
    assert!(!issues.is_open(KEY), "the quietest was forgotten");
    clock.advance(TARGET_FORGOTTEN_AFTER);
    targets.tick();
    assert!(targets.list().is_empty());
}
