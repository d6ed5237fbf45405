//! Tests of `window`: stories, and random values against a plain oracle.

use super::*;
use crate::steps::testing::{FakeContext, START, assert_is, data, listed, name_of};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SECOND: i64 = 1_000_000_000;

/// START is a whole number of minutes since 1970.
fn at(seconds: i64) -> i64 {
    START + seconds * SECOND
}

/// A pipeline of one window, with its runs that wait.
struct Story {
    run: FakeContext,
    step: Arc<dyn Step>,
    waiting: Vec<(Timestamp, Data)>,
    out: Vec<Data>,
}

impl Story {
    fn new(fields: Value) -> Self {
        let mut run = FakeContext::new();
        let step = run.step("window", fields);
        Self { run, step, waiting: Vec::new(), out: Vec::new() }
    }

    fn take(&mut self, outcome: Result<Outcome, StepFault>) {
        match outcome {
            Ok(Outcome::Pause { until, carry }) => self.waiting.push((until, carry)),
            outcome => self.out.extend(listed(outcome).into_iter().map(|(_, data)| data)),
        }
    }

    /// A value of a tag, measured `seconds` after the start and come at once.
    fn value(&mut self, seconds: i64, value: Value) {
        self.until(seconds);
        self.late(seconds, value);
    }

    /// A value that was measured earlier than now.
    fn late(&mut self, seconds: i64, value: Value) {
        let input = self.run.value_at("tag", data(value), at(seconds));
        let outcome = self.run.run(&self.step, input);
        self.take(outcome);
    }

    /// Lets time pass; runs go on whose wait has ended.
    fn until(&mut self, seconds: i64) {
        loop {
            let due = self.waiting.iter().enumerate().min_by_key(|(_, (until, _))| until.0);
            match due {
                Some((place, (until, _))) if until.0 <= at(seconds) => {
                    self.run.now = self.run.now.max(until.0);
                    let pause = self.waiting.remove(place);
                    let step = Arc::clone(&self.step);
                    let outcome = self.run.resume(&step, pause);
                    self.take(outcome);
                }
                _ => break,
            }
        }
        self.run.now = at(seconds);
    }

    /// What went out: second of the end, and the value.
    fn went(&self) -> Vec<(i64, Value)> {
        self.out
            .iter()
            .map(|data| {
                let end = read::time_of(&get(data, "end"), "end").expect("a time").expect("there");
                ((end.0 - START) / SECOND, crate::json::value_of(&get(data, "value")))
            })
            .collect()
    }
}

#[test]
fn a_tumbling_window_goes_out_when_it_ends() {
    let fields = json!({"size_ms": 60000, "aggregates": ["mean", "min", "max", "count", "first", "last", "sum"]});
    let mut story = Story::new(fields);
    for (second, value) in [(5, 1), (20, 6), (30, 2)] {
        story.value(second, json!(value));
    }
    story.until(59);
    assert!(story.out.is_empty(), "it is still open");
    story.until(60);
    let wanted = json!({
        "key": "tag", "start": Timestamp(at(0)).to_rfc3339(), "end": Timestamp(at(60)).to_rfc3339(),
        "time": Timestamp(at(60)).to_rfc3339(),
        "value": 3, "mean": 3, "min": 1, "max": 6, "count": 3, "first": 1, "last": 2, "sum": 9, "late": 0,
    });
    assert_eq!(story.out.len(), 1);
    assert_is(&story.out[0], wanted);
    let open = story.run.states.get(OPEN_KEYS).cloned();
    assert_eq!(open, Some(Data::Int(0)), "no key has an open window");
    assert!(!story.run.states.keys().any(|key| key.starts_with("p:")), "no tally is left behind");
}

#[test]
fn a_window_goes_out_without_a_further_value_and_only_once() {
    let mut story = Story::new(json!({"size_ms": 10000, "aggregates": ["sum"]}));
    for second in 0..35 {
        story.value(second, json!(1));
    }
    story.until(300);
    let wanted = [(10, json!(10)), (20, json!(10)), (30, json!(10)), (40, json!(5))];
    assert_eq!(story.went(), wanted);
    assert!(story.waiting.is_empty(), "nobody waits for nothing");
}

#[test]
fn late_values_count_while_the_window_waits_for_them() {
    let fields = json!({"size_ms": 10000, "lateness_ms": 5000, "aggregates": ["count"]});
    let mut story = Story::new(fields);
    story.value(3, json!(1));
    story.value(12, json!(1));
    story.late(8, json!(1));
    story.value(16, json!(1));
    assert_eq!(story.went(), [(10, json!(2))], "closed at 15, with the late one");
    story.late(9, json!(1));
    story.until(60);
    assert_eq!(story.went(), [(10, json!(2)), (20, json!(2))], "what came too late is dropped");
    assert_is(&get(&story.out[1], "late"), json!(1));
}

#[test]
fn an_hour_sent_late_gives_the_windows_of_that_hour() {
    let mut story = Story::new(json!({"size_ms": 60000, "aggregates": ["count"]}));
    story.until(7200);
    for minute in 0..60 {
        for second in [0, 30] {
            story.late(minute * 60 + second, json!(1));
        }
    }
    assert_eq!(story.out.len(), 59, "each as soon as the next one begins");
    story.until(7200 + 59);
    assert_eq!(story.out.len(), 59, "the last one is open as long as it would be live");
    story.until(7200 + 121);
    assert_eq!(story.out.len(), 60);
    assert!(story.out.iter().all(|data| get(data, "count") == Data::Int(2)), "none is cut in two");
}

#[test]
fn sliding_windows_overlap_and_run_out() {
    let fields =
        json!({"mode": "sliding", "size_ms": 30000, "every_ms": 10000, "aggregates": ["sum"]});
    let mut story = Story::new(fields);
    for (second, value) in [(1, 1), (11, 10), (21, 100), (31, 1000)] {
        story.value(second, json!(value));
    }
    story.until(120);
    let wanted: Vec<(i64, Value)> =
        [(10, 1), (20, 11), (30, 111), (40, 1110), (50, 1100), (60, 1000)]
            .map(|(end, sum)| (end, json!(sum)))
            .into();
    assert_eq!(story.went(), wanted);
    assert!(story.waiting.is_empty() && !story.run.states.keys().any(|key| key.starts_with("p:")));
}

#[test]
fn a_session_ends_when_it_is_quiet() {
    let fields =
        json!({"mode": "session", "gap_ms": 10000, "aggregates": ["count"], "lateness_ms": 20000});
    let mut story = Story::new(fields);
    for second in [0, 5, 12, 30, 35] {
        story.value(second, json!(1));
    }
    // Late, and between the two sessions: they were one.
    story.late(21, json!(1));
    story.until(300);
    assert_eq!(story.went(), [(35, json!(6))]);
    let mut apart =
        Story::new(json!({"mode": "session", "gap_ms": 10000, "aggregates": ["count"]}));
    for second in [0, 5, 12, 30, 35] {
        apart.value(second, json!(1));
    }
    apart.until(300);
    assert_eq!(apart.went(), [(12, json!(3)), (35, json!(2))]);
}

#[test]
fn values_that_are_no_numbers_count_but_do_not_add() {
    let fields = json!({"size_ms": 10000, "aggregates": ["mean", "count", "last", "stddev"]});
    let mut story = Story::new(fields);
    for value in [json!(2), json!(null), json!("x"), json!(4)] {
        story.value(1, value);
    }
    story.until(10);
    assert_is(&get(&story.out[0], "mean"), json!(3));
    assert_is(&get(&story.out[0], "stddev"), json!(1));
    assert_is(&get(&story.out[0], "count"), json!(4));
    let mut empty = Story::new(json!({"size_ms": 10000, "aggregates": ["mean", "first"]}));
    empty.value(1, json!("x"));
    empty.until(10);
    assert_is(&get(&empty.out[0], "mean"), json!(null));
    assert_is(&get(&empty.out[0], "first"), json!("x"));
}

#[test]
fn sums_of_integers_are_exact_beyond_64_bits_of_sum() {
    let mut story = Story::new(json!({"size_ms": 10000, "aggregates": ["sum", "max"]}));
    for _ in 0..3 {
        story.value(1, json!(i64::MAX));
    }
    story.value(2, json!(i64::MIN));
    story.value(2, json!(i64::MIN));
    story.until(10);
    assert_is(&get(&story.out[0], "sum"), json!(i64::MAX - 2));
    assert_is(&get(&story.out[0], "max"), json!(i64::MAX));
}

#[test]
fn a_clock_set_back_loses_nothing() {
    let fields = json!({"size_ms": 10000, "time": "receive", "aggregates": ["count"]});
    let mut story = Story::new(fields);
    story.value(5, json!(1));
    story.until(10);
    assert_eq!(story.went(), [(10, json!(1))]);
    // An hour back; the next window goes on from where the last one ended.
    story.run.now = at(-3600);
    story.late(-3600, json!(1));
    story.run.now = at(-3595);
    story.late(-3595, json!(1));
    story.until(-3580);
    assert_eq!(story.went(), [(10, json!(1)), (20, json!(2))]);
    assert_is(&get(&story.out[1], "late"), json!(0));
}

#[test]
fn a_waiting_run_that_was_lost_is_replaced() {
    let mut story = Story::new(json!({"size_ms": 10000, "aggregates": ["count"]}));
    story.value(1, json!(1));
    story.value(2, json!(1));
    assert_eq!(story.waiting.len(), 2, "no more than two wait");
    story.waiting.clear();
    story.value(75, json!(1));
    assert_eq!(story.went(), [(10, json!(2))], "the next value sends what is over");
    story.value(76, json!(1));
    story.until(100);
    assert_eq!(story.went(), [(10, json!(2)), (80, json!(2))]);
}

#[test]
fn times_at_the_ends_of_time_do_no_harm() {
    let mut story = Story::new(
        json!({"mode": "sliding", "size_ms": 86400000, "every_ms": 3600000, "zone": "Europe/Berlin"}),
    );
    for time in [i64::MIN, i64::MIN + 1, -1, 0, START, i64::MAX - 1, i64::MAX, START] {
        let input = story.run.value_at("tag", Data::Int(1), time);
        let outcome = story.run.run(&Arc::clone(&story.step), input);
        story.take(outcome);
    }
    story.until(100_000);
    let mut session = Story::new(json!({"mode": "session", "gap_ms": 1000}));
    for time in [i64::MIN, i64::MAX, 0] {
        let input = session.run.value_at("tag", Data::Int(1), time);
        let outcome = session.run.run(&Arc::clone(&session.step), input);
        session.take(outcome);
    }
}

#[test]
fn refuses_more_keys_than_it_may_have() {
    let mut story = Story::new(json!({"size_ms": 1000, "keys_max": 2, "key": "{{ $item.id }}"}));
    for id in ["a", "b"] {
        let outcome = story.run.run(&Arc::clone(&story.step), data(json!({"id": id, "value": 1})));
        story.take(outcome);
    }
    let third = data(json!({"id": "c", "value": 1}));
    let fault = story.run.fault(&Arc::clone(&story.step), third.clone());
    assert_eq!(
        (fault.code, fault.message.as_str()),
        ("limit", "2 keys have an open window; `keys_max` is 2")
    );
    story.until(5);
    let outcome = story.run.run(&Arc::clone(&story.step), third);
    assert!(matches!(outcome, Ok(Outcome::Pause { .. })), "room again: {}", name_of(&outcome));
}

#[test]
fn days_begin_at_midnight_of_the_zone_also_when_clocks_change() {
    let zone = TimeZone::get("Europe/Berlin").expect("the zones are in the program");
    let day = 86_400 * SECOND;
    let grid = Grid::new(day, day, Some(zone.clone()));
    let time = |text: &str| Timestamp::from_rfc3339(text).expect("a time").0;
    // The day on which summer time begins has 23 hours.
    let pane = grid.pane_of(time("2026-03-29T10:00:00+02:00"));
    assert_eq!(pane.start, time("2026-03-29T00:00:00+01:00"));
    assert_eq!(pane.end, time("2026-03-30T00:00:00+02:00"));
    assert_eq!(pane.end - pane.start, 23 * 3_600 * SECOND);
    let shift = Grid::new(8 * 3_600 * SECOND, 8 * 3_600 * SECOND, Some(zone));
    let last = shift.pane_of(time("2026-03-29T23:00:00+02:00"));
    assert_eq!(last.end, pane.end, "the last shift of a short day ends at midnight");
    let odd = Grid::new(7 * SECOND, 7 * SECOND, None);
    assert_eq!(odd.pane_of(8 * SECOND), Span { start: 7 * SECOND, end: 14 * SECOND });
    assert_eq!(odd.pane_of(-SECOND), Span { start: -7 * SECOND, end: 0 });
}

#[test]
fn percentiles_range_and_delta_of_a_window() {
    let fields =
        json!({"size_ms": 60000, "aggregates": ["median", "p95", "p05", "range", "delta"]});
    let mut story = Story::new(fields);
    // A meter that counts, and says once that it is broken.
    for second in 0..21 {
        story.value(second, json!(9_007_199_254_740_993_i64 + second));
    }
    story.value(30, json!("broken"));
    story.value(31, json!(9_007_199_254_741_000_i64));
    story.until(60);
    let out = &story.out[0];
    assert_eq!(get(out, "range"), Data::Int(20), "exact beyond 2^53");
    assert_eq!(get(out, "delta"), Data::Int(7));
    let mut story = Story::new(json!({"size_ms": 60000, "aggregates": ["median", "p95", "p05"]}));
    for second in 0..21 {
        story.value(second, json!(second));
    }
    story.until(60);
    let out = &story.out[0];
    assert_eq!(get(out, "median"), Data::Float(10.0));
    assert_eq!(get(out, "value"), Data::Float(10.0), "the first that was asked for");
    assert_eq!(get(out, "p95"), Data::Float(19.0));
    assert_eq!(get(out, "p05"), Data::Float(1.0));
}

#[test]
fn a_sliding_window_has_the_percentiles_of_all_its_panes() {
    let fields = json!({
        "mode": "sliding", "size_ms": 20000, "every_ms": 10000, "aggregates": ["median"],
    });
    let mut story = Story::new(fields);
    for (second, value) in [(1, 1), (2, 2), (11, 30), (12, 40), (13, 50)] {
        story.value(second, json!(value));
    }
    story.until(100);
    let went: Vec<_> = story.went();
    assert_eq!(went, [(10, json!(1.5)), (20, json!(30.0)), (30, json!(40.0))]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// In whatever order values come: each counts once, in its window, if it is not late.
    #[test]
    fn tumbling_windows_are_what_a_plain_oracle_says(
        values in prop::collection::vec((0_i64..100, -1000_i64..1000), 1..60),
    ) {
        // So much lateness that none is late.
        let fields = json!({"size_ms": 10000, "lateness_ms": 200000, "aggregates": ["sum", "count", "min", "max"]});
        let mut story = Story::new(fields);
        let mut oracle: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for (second, value) in values {
            story.late(second, json!(value));
            oracle.entry((second / 10 + 1) * 10).or_default().push(value);
        }
        story.until(1000);
        prop_assert_eq!(story.out.len(), oracle.len());
        for (data, (end, values)) in story.out.iter().zip(oracle) {
            let wanted = json!({
                "key": "tag",
                "start": Timestamp(at(end - 10)).to_rfc3339(),
                "end": Timestamp(at(end)).to_rfc3339(),
                "time": Timestamp(at(end)).to_rfc3339(),
                "value": values.iter().sum::<i64>(),
                "sum": values.iter().sum::<i64>(),
                "count": values.len(),
                "min": values.iter().min(),
                "max": values.iter().max(),
                "late": 0,
            });
            assert_is(data, wanted);
        }
    }

    /// Sliding windows, with values in order at the pace of the clock.
    #[test]
    fn sliding_windows_are_what_a_plain_oracle_says(
        gaps in prop::collection::vec((0_i64..25, -1000_i64..1000), 1..40),
        panes in 1_i64..6,
    ) {
        let size = panes * 10;
        let fields = json!({
            "mode": "sliding", "size_ms": size * 1000, "every_ms": 10000, "aggregates": ["sum"],
        });
        let mut story = Story::new(fields);
        let (mut second, mut values) = (0, Vec::new());
        for (gap, value) in gaps {
            second += gap;
            story.value(second, json!(value));
            values.push((second, value));
        }
        story.until(second + 1000);
        let mut wanted = Vec::new();
        let mut end = 10;
        while end < second + 1000 {
            let within = values.iter().filter(|(second, _)| (end - size..end).contains(second));
            let within: Vec<i64> = within.map(|(_, value)| *value).collect();
            if !within.is_empty() {
                wanted.push((end, json!(within.iter().sum::<i64>())));
            }
            end += 10;
        }
        // START is no multiple of every size, but panes of 10 s begin at it.
        prop_assert_eq!(story.went(), wanted);
        prop_assert!(story.waiting.is_empty());
    }

    /// Doubles: sums and spread to the last few digits, through state and joins.
    #[test]
    fn tallies_agree_with_plain_sums(values in prop::collection::vec(-1e9_f64..1e9, 1..200), cut in 0_usize..200) {
        let mut whole = Tally::default();
        let (mut left, mut right) = (Tally::default(), Tally::default());
        for (place, value) in values.iter().enumerate() {
            let time = i64::try_from(place).expect("small");
            whole.add(&Data::Float(*value), time);
            let part = if place < cut { &mut left } else { &mut right };
            part.add(&Data::Float(*value), time);
            // As after a restart.
            *part = Tally::from_data(&part.to_data());
        }
        left.join(&right);
        let number = |data: Data| crate::steps::number::Number::of(&data).expect("a number").to_f64();
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let spread = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        for tally in [&whole, &left] {
            prop_assert!((number(tally.mean()) - mean).abs() <= 1e-6);
            prop_assert!((number(tally.deviation()) - spread.sqrt()).abs() <= 1e-3);
            prop_assert_eq!(tally.first(), Data::Float(values[0]));
            prop_assert_eq!(tally.last(), Data::Float(values[values.len() - 1]));
            prop_assert_eq!(tally.count(), Data::Int(i64::try_from(values.len()).expect("small")));
        }
    }
}
