//! `debounce`: passes a datum on when no other of its key came for a while.
//!
//! Each datum's run waits for its own quiet time; one that finds a later datum in its place ends.
//! So the run that goes on is the last datum's own, with its trigger and its source time. Data
//! that follow one another closer than a [`WAITING_MAX`]th of the quiet time share one waiting
//! run: it takes the last of them along.
//!
//! **Invariants**: of a burst exactly one datum goes on, the last; at most about [`WAITING_MAX`]
//! runs wait per key; after a restart the waits go on.

use super::read;
use super::state::{Key, get, get_int, map_of, needs_later_runs};
use super::text::bad_input;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Outcome, Step, StepFault};
use millrace_flow::Data;
use millrace_model::Timestamp;
use std::sync::Arc;

/// Most runs of a key that wait at the same time, but for rounding.
const WAITING_MAX: i64 = 64;

pub(super) struct Debounce {
    key: Key,
    quiet: i64,
    most: Option<i64>,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let quiet = read::span(compiler, "quiet_ms")?;
    let quiet = quiet.ok_or_else(|| compiler.fault("quiet_ms", "is missing"))?;
    let most = read::span(compiler, "most_ms")?;
    Ok(Arc::new(Debounce::new(compiler, quiet, most)?))
}

impl Debounce {
    /// One that waits for so much quiet, nanoseconds, but not longer than `most`.
    pub(super) fn new(
        compiler: &mut Compiler<'_>,
        quiet: i64,
        most: Option<i64>,
    ) -> Result<Self, CompileFault> {
        needs_later_runs(compiler)?;
        Ok(Self { key: Key::compile(compiler)?, quiet, most })
    }
}

impl Step for Debounce {
    fn waits_for_runs(&self) -> bool {
        true
    }

    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let key = self.key.text(context)?;
        let state = context.state(&key);
        let now = context.now().0;
        let first = get_int(&state, "first").unwrap_or(now).min(now);
        let latest = self.most.map_or(i64::MAX, |most| first.saturating_add(most));
        let due = now.saturating_add(self.quiet).min(latest);
        let waiting_since = get_int(&state, "waiting_since");
        let is_close = waiting_since
            .is_some_and(|since| since <= now && now - since < self.quiet / WAITING_MAX);
        if is_close {
            let state = map_of([
                ("token", get(&state, "token")),
                ("first", Data::Int(first)),
                ("due", Data::Int(due)),
                ("waiting_since", get(&state, "waiting_since")),
                ("item", input.clone()),
            ]);
            context.set_state(&key, state)?;
            return Ok(Outcome::Nothing);
        }
        let token = super::state::token(context);
        let state = map_of([
            ("token", token.clone()),
            ("first", Data::Int(first)),
            ("due", Data::Int(due)),
            ("waiting_since", Data::Int(now)),
        ]);
        context.set_state(&key, state)?;
        Ok(pause(due, key, token, input.clone()))
    }

    fn resume(&self, context: &mut dyn Context, done: Data) -> Result<Outcome, StepFault> {
        let (Data::Text(key), token) = (get(&done, "key"), get(&done, "token")) else {
            return Err(bad_input("the wait gave back something else"));
        };
        let state = context.state(&key);
        if get(&state, "token") != token {
            return Ok(Outcome::Nothing);
        }
        let item = match get(&state, "item") {
            Data::Missing => get(&done, "item"),
            later => later,
        };
        // The time of the wait's end counts, if the run's own time stood still meanwhile.
        let now = context.now().0.max(get_int(&done, "until").unwrap_or(i64::MIN));
        match get_int(&state, "due") {
            Some(due) if due > now => Ok(pause(due, key.to_string(), token, item)),
            _ => {
                context.set_state(&key, Data::Missing)?;
                Ok(Outcome::Out(0, item))
            }
        }
    }
}

fn pause(due: i64, key: String, token: Data, item: Data) -> Outcome {
    let carry = map_of([
        ("key", Data::Text(key.into())),
        ("token", token),
        ("until", Data::Int(due)),
        ("item", item),
    ]);
    Outcome::Pause { until: Timestamp(due), carry }
}

#[cfg(test)]
mod tests {
    use crate::step::Outcome;
    use crate::steps::testing::{FakeContext, OnTime, START, listed, name_of};
    use millrace_flow::Data;
    use serde_json::json;

    #[test]
    fn only_the_last_of_a_burst_goes_on() {
        let mut run = FakeContext::new();
        let step = run.step("debounce", json!({"quiet_ms": 1000}));
        let first = run.pause(&step, Data::Int(1));
        run.pass(600);
        let second = run.pause(&step, Data::Int(2));
        assert_eq!(second.0.0, START + 1_600_000_000, "a second after the second");
        assert!(listed(run.resume(&step, first)).is_empty(), "a later one came");
        assert_eq!(listed(run.resume(&step, second)), [(0, Data::Int(2))]);
        assert!(run.states.is_empty(), "nothing is kept after the burst");
    }

    #[test]
    fn an_old_wait_does_not_take_a_new_burst_for_its_own() {
        let mut run = FakeContext::new();
        let step = run.step("debounce", json!({"quiet_ms": 1000, "most_ms": 1500}));
        let first = run.pause(&step, Data::Int(1));
        run.pass(600);
        let second = run.pause(&step, Data::Int(2));
        assert_eq!(second.0.0, START + 1_500_000_000, "never longer than `most_ms`");
        assert_eq!(listed(run.resume(&step, second)), [(0, Data::Int(2))]);
        let third = run.pause(&step, Data::Int(3));
        assert!(listed(run.resume(&step, first)).is_empty(), "of the burst before");
        assert_eq!(listed(run.resume(&step, third)), [(0, Data::Int(3))]);
    }

    #[test]
    fn refuses_a_pipeline_where_later_values_could_not_come() {
        for settings in [json!({"order": "in_order"}), json!({"overlap": "skip"})] {
            let mut run = FakeContext::new();
            run.settings = settings;
            for (kind, fields) in [
                ("debounce", json!({"quiet_ms": 1})),
                ("delay", json!({"on_ms": 1})),
                ("window", json!({"size_ms": 1000})),
            ] {
                let fault = run.compile(kind, fields).err().expect("refused");
                assert!(fault.message.contains("run order to `parallel`"), "{}", fault.message);
            }
        }
    }

    #[test]
    fn data_in_quick_succession_share_a_wait() {
        let mut run = FakeContext::new();
        let step = run.step("debounce", json!({"quiet_ms": 1000}));
        let first = run.pause(&step, Data::Int(1));
        run.pass(10);
        let second = run.run(&step, Data::Int(2));
        assert!(matches!(second, Ok(Outcome::Nothing)), "no wait of its own: {}", name_of(&second));
        let again = run.resume(&step, first);
        let Ok(Outcome::Pause { until, carry }) = again else {
            panic!("it waits on for the second, not {}", name_of(&again));
        };
        assert_eq!(until.0, START + 1_010_000_000);
        assert_eq!(listed(run.resume(&step, (until, carry))), [(0, Data::Int(2))]);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]

        /// Against a plain oracle: what no other datum follows for a second goes on after it.
        #[test]
        fn of_each_burst_the_last_goes_on_at_its_time(
            gaps in proptest::collection::vec(
                proptest::prop_oneof![0_i64..20, 300_i64..700, 990_i64..1010, 1500_i64..3000],
                1..80,
            ),
        ) {
            let mut story = OnTime::new("debounce", json!({"quiet_ms": 1000}));
            let (mut now, mut times) = (0, Vec::new());
            for (number, gap) in (0..).zip(gaps) {
                now += gap;
                times.push(now);
                story.input(now, Data::Int(number));
            }
            story.until(now + 10_000);
            let next = times.iter().skip(1).copied().chain([i64::MAX]);
            let wanted: Vec<(i64, u8, Data)> = (0..)
                .zip(times.iter().zip(next))
                .filter(|(_, (time, next))| next - **time >= 1000)
                .map(|(number, (time, _))| (time + 1000, 0, Data::Int(number)))
                .collect();
            proptest::prop_assert_eq!(&story.out, &wanted);
            proptest::prop_assert!(story.waiting.is_empty() && story.run.states.is_empty());
        }
    }

    #[test]
    fn a_fast_tag_does_not_fill_the_box_with_waiting_runs() {
        let mut story = OnTime::new("debounce", json!({"quiet_ms": 10_000, "most_ms": 15_000}));
        for millis in 0..20_000 {
            story.input(millis, Data::Int(millis));
        }
        assert!(story.most <= 70, "{} runs waited at once", story.most);
        story.until(100_000);
        let went: Vec<i64> = story.out.iter().map(|(at, _, _)| *at).collect();
        assert_eq!(went, [15_000, 29_999], "at the latest, and when it was quiet");
    }
}
