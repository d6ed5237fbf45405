//! Edits undo exactly. The documents and edits here are made at random; other tests use them too.

use super::*;
use crate::document::FORMAT;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::json;

/// Few ids, so that edits meet what is there.
pub(crate) fn id() -> impl Strategy<Value = String> {
    proptest::sample::select(vec!["a", "b", "c-1", "d_2", "gone"]).prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    let text = proptest::sample::select(vec![
        "{{ $step.a.value }}",
        "{{ $step['a'] + $step[\"c-1\"].x }} and {{ $step?.b }}",
        "{{ $step.gone }} {{ $step[\"gone\"] }}",
        "{{ broken",
        "`$step.a`",
        "plain",
    ]);
    prop_oneof![
        text.prop_map(Value::from),
        Just(json!(1)),
        Just(Value::Null),
        Just(json!({"in": ["{{ $step.b }}", {"deep": "{{ `${$step.a}` }}"}]})),
    ]
}

fn on_error() -> impl Strategy<Value = OnError> {
    prop_oneof![Just(OnError::Stop), Just(OnError::Continue), id().prop_map(OnError::GoTo)]
}

fn retry() -> impl Strategy<Value = Option<Retry>> {
    proptest::option::of((1..9_u32).prop_map(|times| Retry {
        times,
        first_ms: 5,
        factor: 1.5,
        most_ms: 50,
    }))
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let kind = proptest::sample::select(vec!["map", "javascript", "unknown.kind"]);
    let fields = btree_map("output|code|x", value(), 0..3);
    (kind, fields, on_error(), retry(), any::<bool>(), proptest::option::of(1..9_u64)).prop_map(
        |(kind, fields, on_error, retry, disabled, timeout_ms)| Step {
            kind: kind.into(),
            label: if disabled { "Off".into() } else { String::new() },
            fields,
            timeout_ms,
            retry,
            on_error,
            disabled,
        },
    )
}

fn wire() -> impl Strategy<Value = Wire> {
    (id(), proptest::sample::select(vec!["out", "done"]), id()).prop_map(|(from, port, to)| Wire {
        from,
        port: port.into(),
        to,
    })
}

fn case() -> impl Strategy<Value = Case> {
    ("[a-c]", id(), id(), id()).prop_map(|(name, trigger, step, answer)| {
        serde_json::from_value(json!({
            "name": name, "given": {"answers": {answer: 1, "a": 2}},
            "when": [{"trigger": trigger}], "then": [{"call": {"step": step}}, "nothing_else"],
        }))
        .unwrap()
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    let order = prop_oneof![
        Just(crate::document::Order::InOrder),
        value().prop_map(|value| crate::document::Order::InOrderBy(value.to_string())),
    ];
    order.prop_map(|order| Settings { order, ..Settings::default() })
}

pub(crate) fn document() -> impl Strategy<Value = Document> {
    let steps = btree_map(id(), step(), 0..5);
    let layout = btree_map(id(), [-9..9_i32, 0..9], 0..5);
    ("[a-c]", "[a-c]?", settings(), steps, vec(wire(), 0..8), vec(case(), 0..3), layout).prop_map(
        |(name, description, settings, steps, wires, cases, layout)| {
            let millrace = FORMAT;
            let mut document =
                Document { millrace, name, description, settings, steps, wires, cases, layout };
            document.normalize();
            document
        },
    )
}

pub(crate) fn edit() -> impl Strategy<Value = Edit> {
    let field = || proptest::sample::select(vec!["output", "code", "x"]).prop_map(str::to_owned);
    let of_step = prop_oneof![
        (id(), step()).prop_map(|(id, step)| Edit::AddStep { id, step }),
        id().prop_map(|id| Edit::RemoveStep { id }),
        (id(), step()).prop_map(|(id, step)| Edit::ReplaceStep { id, step }),
        (id(), id()).prop_map(|(from, to)| Edit::RenameStep { from, to }),
        (id(), field(), value()).prop_map(|(step, field, value)| Edit::SetField {
            step,
            field,
            value
        }),
        (id(), field()).prop_map(|(step, field)| Edit::UnsetField { step, field }),
        (id(), "[a-c]?").prop_map(|(step, label)| Edit::SetLabel { step, label }),
        (id(), retry()).prop_map(|(step, retry)| Edit::SetRetry { step, retry }),
        (id(), on_error()).prop_map(|(step, on_error)| Edit::SetOnError { step, on_error }),
        (id(), any::<bool>()).prop_map(|(step, disabled)| Edit::SetDisabled { step, disabled }),
        id().prop_map(|step| Edit::SetTimeout { step, timeout_ms: Some(3) }),
    ];
    prop_oneof![
        3 => of_step,
        1 => prop_oneof![
            "[a-c]".prop_map(Edit::SetName),
            "[a-c]?".prop_map(Edit::SetDescription),
            settings().prop_map(Edit::SetSettings),
        ],
        2 => prop_oneof![
            wire().prop_map(Edit::AddWire),
            wire().prop_map(Edit::RemoveWire),
            (id(), proptest::option::of([0..9_i32, 0..9])).prop_map(|(step, to)| Edit::MoveStep { step, to }),
            (0..4_usize, case()).prop_map(|(at, case)| Edit::AddCase { at, case }),
            (0..4_usize, case()).prop_map(|(at, case)| Edit::ReplaceCase { at, case }),
            (0..4_usize).prop_map(|at| Edit::RemoveCase { at }),
        ],
    ]
}

fn apply_all(edits: &[Edit], document: &mut Document) {
    for edit in edits {
        edit.apply(document).unwrap();
    }
}

proptest! {
    #[test]
    fn an_edit_is_undone_by_its_inverse_or_changes_nothing(before in document(), edit in edit()) {
        let mut document = before.clone();
        match edit.apply(&mut document) {
            Err(_) => prop_assert_eq!(document, before),
            Ok(inverse) => {
                prop_assert!(document.wires.is_sorted_by(|one, other| one < other));
                apply_all(&inverse, &mut document);
                prop_assert_eq!(document, before);
            }
        }
    }

    #[test]
    fn an_edit_passes_through_json(edit in edit()) {
        let text = serde_json::to_string(&edit).unwrap();
        prop_assert_eq!(serde_json::from_str::<Edit>(&text).unwrap(), edit);
    }
}

#[test]
fn renaming_a_step_takes_everything_with_it() {
    let mut document: Document = serde_json::from_value(json!({
        "millrace": 1, "name": "p",
        "settings": {"order": {"in_order_by": "{{ $step.scale.key }}"}},
        "steps": {
            "scale": {"kind": "map", "fields": {"output": 1}},
            "publish": {
                "kind": "uns.publish",
                "fields": {"path": "x/{{ $step.scale.name }}", "value": "{{ $step['scale'] }}"},
                "on_error": {"go_to": "scale"},
            },
            "script": {"kind": "javascript", "fields": {"code": "return $step.scale; // $step.scale"}},
        },
        "wires": [{"from": "scale", "to": "publish"}],
        "cases": [{
            "name": "c", "given": {"answers": {"scale": 1}, "faults": {"scale": "x"}}, "when": [{"trigger": "scale"}],
            "then": [{"call": {"step": "scale"}}],
        }],
        "layout": {"scale": [1, 2]},
    }))
    .unwrap();
    let before = document.clone();
    let rename = Edit::RenameStep { from: "scale".into(), to: "to-bar".into() };
    let inverse = rename.apply(&mut document).unwrap();
    let text = document.to_text();
    assert_eq!(text.matches("scale").count(), 1, "only the comment keeps the name: {text}");
    assert!(text.contains(r#"return $step[\"to-bar\"]; // $step.scale"#), "{text}");
    apply_all(&inverse, &mut document);
    assert_eq!(document, before);
    assert_eq!(
        rename.apply(&mut Document { steps: Default::default(), ..before }),
        Err(EditError::NoStep("scale".into()))
    );
}
