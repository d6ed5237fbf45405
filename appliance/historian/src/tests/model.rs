//! Random histories against the oracle: order, duplicates, seals, restarts, crashes.

use super::rig::{HOUR, Oracle, Rig, SECOND, START};
use millrace_model::Value;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Action {
    Put { tag: u32, slot: i64, value: i64, given: bool, is_text: bool },
    Seal,
    Restart,
    Close,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        40 => (1..4u32, 0..40i64, 0..3i64, prop::bool::weighted(0.8), prop::bool::weighted(0.2))
            .prop_map(|(tag, slot, value, given, is_text)| {
                Action::Put { tag, slot, value, given, is_text }
            }),
        2 => Just(Action::Seal),
        1 => Just(Action::Restart),
        1 => Just(Action::Close),
    ]
}

fn put(rig: &mut Rig, number: i64, action: &Action) -> bool {
    let Action::Put { tag, slot, value, given, is_text } = action else { return false };
    // Over some hours, so that a seal writes several parts.
    let time = START - slot * HOUR / 17;
    let value = if *is_text { Value::Text(value.to_string().into()) } else { Value::Int(*value) };
    let times = if *given { (time, START + number * SECOND) } else { (time, time) };
    rig.record(*tag, times, 0, *given, value);
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn answers_what_a_plain_list_would(actions in prop::collection::vec(action(), 1..120)) {
        let mut rig = Rig::new();
        for (number, action) in (0i64..).zip(&actions) {
            if !put(&mut rig, number, action) {
                match action {
                    Action::Seal => rig.seal(),
                    Action::Restart => drop(rig.restart()),
                    _ => drop(rig.close_and_open()),
                }
            }
        }
        rig.assert_is_oracle();
        rig.close_and_open();
        rig.assert_is_oracle();
        prop_assert_eq!(rig.history().verify().damaged, []);
    }

    #[test]
    fn counts_what_a_plain_list_would(actions in prop::collection::vec(action(), 1..120)) {
        let mut rig = Rig::new();
        for (number, action) in (0i64..).zip(&actions) {
            if !put(&mut rig, number, action) {
                rig.seal();
            }
        }
        rig.seal();
        let oracle = Oracle::of(&rig.records);
        let stats = rig.history().stats();
        prop_assert_eq!(stats.redelivered, oracle.redelivered);
        prop_assert_eq!(stats.superseded, oracle.superseded);
    }
}
