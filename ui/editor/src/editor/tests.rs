//! Gestures as events, and what becomes of the document.

use super::*;
use crate::action::{Action, Side};
use crate::effect::{Join, Place};
use crate::geometry::Point;
use crate::input::{Button, Held};
use crate::testing::{document, wire};
use millrace_flow::Edit;
use proptest::prelude::*;

fn editor(text: &str) -> Editor {
    let mut editor = Editor::new(document(text), 1_200.0, 800.0);
    // The canvas' origin in the corner, at 100 %: screen and canvas are the same.
    editor.run(Action::ResetZoom);
    let offset = editor.viewport.offset();
    editor.viewport.pan(Point::new(-offset.x, -offset.y));
    editor
}

const NO_KEY: Held = Held { shift: false, ctrl: false };
const SHIFT: Held = Held { shift: true, ctrl: false };

fn drag(editor: &mut Editor, from: (f64, f64), to: (f64, f64), held: Held) -> Vec<Effect> {
    let (from, to) = (Point::new(from.0, from.1), Point::new(to.0, to.1));
    editor.handle(Input::Down(from, Button::Main, held));
    let way = to.minus(from);
    let half = from.plus(Point::new(way.x / 2.0, way.y / 2.0));
    editor.handle(Input::Move(half, held));
    editor.handle(Input::Move(to, held));
    editor.handle(Input::Up(to, held))
}

fn click(editor: &mut Editor, x: f64, y: f64, held: Held) -> Vec<Effect> {
    editor.handle(Input::Down(Point::new(x, y), Button::Main, held));
    editor.handle(Input::Up(Point::new(x, y), held))
}

fn keys(editor: &mut Editor, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for key in keys.split(' ') {
        let mut parts: Vec<&str> = key.split('+').collect();
        let name = parts.pop().unwrap();
        let held = |word: &str| parts.contains(&word);
        let chord = Chord::new(name, held("ctrl"), held("alt"), held("shift"));
        effects = editor.handle(Input::Key(chord));
    }
    effects
}

fn selected(editor: &Editor) -> String {
    editor.selection.steps().iter().cloned().collect::<Vec<_>>().join(" ")
}

fn wires(editor: &Editor) -> String {
    let wires = editor.document.wires.iter();
    let shown = wires.map(|wire| format!("{}.{}-{}", wire.from, wire.port, wire.to));
    shown.collect::<Vec<_>>().join(" ")
}

fn said(effects: &[Effect]) -> String {
    let said = effects.iter().filter_map(|effect| match effect {
        Effect::Say(said) => Some(said.to_string()),
        _ => None,
    });
    said.collect::<Vec<_>>().join("; ")
}

const TWO: &str = "t:manual@0,0 a:map@300,0 b:map@600,0 | t-a";

#[test]
fn a_drag_moves_what_is_selected_snaps_and_is_one_entry() {
    let mut editor = editor(TWO);
    click(&mut editor, 390.0, 20.0, NO_KEY);
    click(&mut editor, 690.0, 20.0, SHIFT);
    assert_eq!(selected(&editor), "a b");
    let effects = drag(&mut editor, (390.0, 20.0), (411.0, 57.0), NO_KEY);
    assert_eq!(said(&effects), "2 steps moved to 320, 40");
    assert_eq!((editor.document.layout["a"], editor.document.layout["b"]), ([320, 40], [620, 40]));
    assert_eq!(editor.history.len(), 1);
    drag(&mut editor, (390.0, 60.0), (392.0, 58.0), SHIFT);
    assert_eq!(editor.document.layout["a"], [320, 40], "less than a drag");
    drag(&mut editor, (390.0, 60.0), (393.0, 54.0), SHIFT);
    assert_eq!(editor.document.layout["a"], [323, 34], "Shift inverts snapping");
    keys(&mut editor, "ctrl+z ctrl+z");
    assert_eq!(editor.document, document(TWO));
}

#[test]
fn a_wire_is_drawn_from_port_to_port_and_refused_where_it_does_not_fit() {
    let mut editor = editor(TWO);
    let effects = drag(&mut editor, (480.0, 20.0), (600.0, 20.0), NO_KEY);
    assert_eq!(said(&effects), "a out connected to b");
    assert_eq!(wires(&editor), "a.out-b t.out-a");
    let effects = drag(&mut editor, (780.0, 20.0), (390.0, 25.0), NO_KEY);
    assert_eq!(said(&effects), "`a` leads here already: steps would lead back to themselves");
    let effects = drag(&mut editor, (780.0, 20.0), (90.0, 25.0), NO_KEY);
    assert_eq!(said(&effects), "`t` is a trigger, which has no input");
    // Backwards, from an input to an output.
    drag(&mut editor, (600.0, 20.0), (180.0, 20.0), NO_KEY);
    assert_eq!(wires(&editor), "a.out-b t.out-a t.out-b");
}

#[test]
fn a_loose_step_dropped_on_a_wire_goes_into_it() {
    let mut editor = editor("t:manual@0,0 a:map@600,0 x:map@300,300 | t-a");
    let to = Point::new(390.0, 24.0);
    editor.handle(Input::Down(Point::new(390.0, 320.0), Button::Main, NO_KEY));
    editor.handle(Input::Move(Point::new(390.0, 200.0), NO_KEY));
    editor.handle(Input::Move(to, NO_KEY));
    assert!(editor.view().links[0].takes_step);
    editor.handle(Input::Up(to, NO_KEY));
    assert_eq!(wires(&editor), "t.out-x x.out-a");
    keys(&mut editor, "ctrl+z");
    assert_eq!(wires(&editor), "t.out-a");
    assert_eq!(editor.document.layout["x"], [300, 300], "move and splice are one entry");
}

#[test]
fn a_wire_dropped_on_nothing_asks_for_a_step() {
    let mut editor = editor(TWO);
    let effects = drag(&mut editor, (180.0, 20.0), (290.0, 215.0), NO_KEY);
    let Some(Effect::AskKind(place)) = effects.last().cloned() else { panic!("{effects:?}") };
    assert_eq!(place.at, Some([300, 200]));
    assert!(editor.history.is_empty());
    let effects = editor.add("filter", &place);
    assert_eq!(said(&effects), "filter added");
    assert_eq!(wires(&editor), "t.out-a t.out-filter");
    assert_eq!((editor.history.len(), selected(&editor)), (1, "filter".into()));
    // A kind that cannot be joined there is added without a wire.
    editor.add("manual", &place);
    assert_eq!(wires(&editor), "t.out-a t.out-filter");
}

#[test]
fn a_kind_dropped_from_the_palette_goes_into_the_wire_under_it() {
    let mut editor = editor("t:manual@0,0 a:map@600,0 | t-a");
    editor.handle(Input::Drop(Point::new(390.0, 20.0), "filter".into()));
    assert_eq!(wires(&editor), "filter.out-a t.out-filter");
    assert_eq!(editor.document.layout["filter"], [300, 0]);
    editor.handle(Input::Drop(Point::new(390.0, 400.0), "filter".into()));
    assert!(editor.document.steps.contains_key("filter_2"));
}

#[test]
fn escape_leaves_nothing_of_any_gesture() {
    let mut editor = editor(TWO);
    click(&mut editor, 690.0, 20.0, NO_KEY);
    let (document, selection) = (editor.document.clone(), editor.selection.clone());
    for (from, to) in [
        ((390.0, 20.0), (500.0, 90.0)),
        ((480.0, 20.0), (600.0, 20.0)),
        ((10.0, 300.0), (900.0, 5.0)),
    ] {
        editor.handle(Input::Down(Point::new(from.0, from.1), Button::Main, NO_KEY));
        editor.handle(Input::Move(Point::new(to.0, to.1), NO_KEY));
        assert!(!editor.gesture.is_none(), "{from:?}");
        let effects = keys(&mut editor, "Escape");
        assert_eq!(said(&effects), "canceled");
        editor.handle(Input::Up(Point::new(to.0, to.1), NO_KEY));
        assert_eq!((&editor.document, &editor.selection), (&document, &selection), "{from:?}");
        assert!(editor.history.is_empty() && editor.gesture.is_none());
    }
}

#[test]
fn a_marquee_selects_what_it_touches() {
    let mut editor = editor(TWO);
    drag(&mut editor, (250.0, 100.0), (310.0, 10.0), NO_KEY);
    assert_eq!(selected(&editor), "a");
    drag(&mut editor, (590.0, 100.0), (620.0, 10.0), SHIFT);
    assert_eq!(selected(&editor), "a b");
    click(&mut editor, 500.0, 500.0, NO_KEY);
    assert!(editor.selection.is_empty());
}

#[test]
fn space_and_the_middle_button_pan_and_the_wheel_zooms_at_the_pointer() {
    let mut editor = editor(TWO);
    editor.handle(Input::Space(true));
    drag(&mut editor, (390.0, 20.0), (440.0, 50.0), NO_KEY);
    editor.handle(Input::Space(false));
    assert_eq!(editor.viewport.offset(), Point::new(50.0, 30.0));
    editor.handle(Input::Down(Point::new(0.0, 0.0), Button::Middle, NO_KEY));
    editor.handle(Input::Move(Point::new(-50.0, -30.0), NO_KEY));
    editor.handle(Input::Up(Point::new(-50.0, -30.0), NO_KEY));
    assert_eq!(editor.viewport.offset(), Point::new(0.0, 0.0));
    let at = Point::new(390.0, 20.0);
    editor.handle(Input::Wheel(at, Point::new(0.0, -200.0), NO_KEY));
    assert!(editor.viewport.scale() > 1.2);
    assert!(editor.viewport.to_canvas(at).distance(at) < 1e-6);
    assert!(editor.history.is_empty());
    assert_eq!(editor.document, document(TWO));
}

#[test]
fn a_pipeline_is_built_with_keys_alone() {
    let mut editor = editor("");
    let Some(Effect::AskKind(place)) = keys(&mut editor, "insert").pop() else { panic!() };
    editor.add("manual", &place);
    let Some(Effect::AskKind(place)) = keys(&mut editor, "insert").pop() else { panic!() };
    editor.add("condition", &place);
    let Some(Effect::AskKind(place)) = keys(&mut editor, "a").pop() else { panic!() };
    editor.add("log", &place);
    assert_eq!(wires(&editor), "condition.true-log manual.out-condition");
    // The other way of the condition leads to the log too.
    let effects = keys(&mut editor, "ArrowLeft");
    assert_eq!(said(&effects), "condition, condition, step 2 of 3, 1 in, 1 out");
    let effects = keys(&mut editor, "c");
    assert!(said(&effects).contains("port false, to log, 1 of 1"), "{}", said(&effects));
    assert!(editor.view().pending.is_some());
    keys(&mut editor, "Enter");
    assert_eq!(wires(&editor), "condition.false-log condition.true-log manual.out-condition");
    let before = editor.document.layout["condition"];
    keys(&mut editor, "ctrl+ArrowDown ctrl+ArrowDown ctrl+ArrowRight");
    assert_eq!(editor.document.layout["condition"], [before[0] + 20, before[1] + 40]);
    let entries = editor.history.len();
    keys(&mut editor, "ctrl+z");
    assert_eq!(editor.document.layout["condition"], before, "nudges are one entry");
    assert_eq!(editor.history.len(), entries - 1);
    assert_eq!(keys(&mut editor, "Enter"), [Effect::Edit("condition".into())]);
    keys(&mut editor, "ctrl+Delete");
    assert_eq!(wires(&editor), "manual.out-log");
    keys(&mut editor, "ctrl+a Delete");
    assert!(editor.document.steps.is_empty());
    for _ in 0..20 {
        keys(&mut editor, "ctrl+z");
    }
    assert_eq!(editor.document, document(""));
}

#[test]
fn connecting_by_keys_offers_only_what_fits_and_escape_ends_it() {
    let mut editor = editor("t:manual@0,0 a:map@300,0 b:map@300,200 c:map@300,400 | t-a");
    editor.jump_to("t");
    assert!(said(&keys(&mut editor, "c")).contains("to b, 1 of 2"));
    assert!(said(&keys(&mut editor, "ArrowDown")).contains("to c, 2 of 2"));
    assert!(said(&keys(&mut editor, "Tab")).contains("to b, 1 of 2"));
    keys(&mut editor, "Escape");
    assert_eq!(wires(&editor), "t.out-a");
    keys(&mut editor, "c ArrowUp Enter");
    assert_eq!(wires(&editor), "t.out-a t.out-c");
    let Some(Effect::AskKind(place)) = keys(&mut editor, "c insert").pop() else { panic!() };
    assert!(matches!(place.join, Join::Port(_)));
}

#[test]
fn copies_go_through_the_clipboard_and_duplicates_do_not() {
    let mut editor = editor(TWO);
    editor.run(Action::SelectAll);
    let effects = keys(&mut editor, "ctrl+c");
    let Some(Effect::Copy(text)) = effects.first().cloned() else { panic!("{effects:?}") };
    assert_eq!(keys(&mut editor, "ctrl+v"), [Effect::WantClipboard]);
    let effects = editor.paste(&text, None);
    assert_eq!(said(&effects), "3 steps pasted");
    assert_eq!(selected(&editor), "a_2 b_2 t_2");
    keys(&mut editor, "ctrl+d");
    assert_eq!(editor.document.steps.len(), 9);
    assert!(wires(&editor).contains("t_3.out-a_3"));
    assert!(said(&editor.paste("something else", None)).contains("no steps"));
    assert_eq!(editor.history.len(), 2);
    keys(&mut editor, "ctrl+x");
    assert_eq!(editor.document.steps.len(), 6);
}

#[test]
fn actions_say_what_they_cannot_do() {
    let mut editor = editor("");
    for action in crate::action::ALL {
        let before = editor.document.clone();
        editor.run(action.action);
        editor.gesture = Gesture::None;
        assert_eq!(editor.document, before, "{}", action.word);
    }
    assert_eq!(said(&editor.run(Action::Delete)), "nothing to do: delete");
    assert_eq!(said(&editor.run(Action::Undo)), "nothing to do: undo");
    assert_eq!(said(&editor.run(Action::Connect)), "nothing to do: connect");
}

#[test]
fn a_read_only_editor_changes_nothing() {
    let mut editor = editor(TWO);
    editor.is_read_only = true;
    editor.run(Action::SelectAll);
    for action in crate::action::ALL {
        editor.run(action.action);
        editor.run(Action::SelectAll);
    }
    drag(&mut editor, (390.0, 20.0), (500.0, 90.0), NO_KEY);
    editor.handle(Input::Drop(Point::new(5.0, 5.0), "map".into()));
    editor.add("map", &Place { at: None, join: Join::Nothing });
    editor.paste(&document(TWO).to_text(), None);
    assert_eq!(editor.document, document(TWO));
    assert_eq!(said(&editor.run(Action::Delete)), "this pipeline may only be looked at");
}

#[test]
fn lining_up_and_arranging_are_one_entry_each() {
    let mut editor = editor("t:manual@0,0 a:map@300,45 b:map@611,20 | t-a a-b");
    editor.run(Action::SelectAll);
    editor.run(Action::Align(crate::snap::Alignment::Top));
    assert_eq!(editor.document.layout["a"], [300, 0]);
    editor.run(Action::Arrange);
    assert_eq!(editor.document.layout["b"], [520, 0]);
    editor.run(Action::ToggleDisabled);
    assert!(editor.document.steps["a"].disabled);
    assert_eq!(editor.history.len(), 3);
}

#[test]
fn taking_over_another_document_can_be_undone() {
    let mut editor = editor(TWO);
    let other = document("t:manual@0,0 z:filter@40,40 | t-z");
    editor.take_over("restore revision 3", &other);
    assert_eq!(editor.document, other);
    keys(&mut editor, "ctrl+z");
    assert_eq!(editor.document, document(TWO));
}

#[test]
fn selecting_up_and_down_the_stream() {
    let mut editor = editor("t:manual@0,0 a:map@300,0 b:map@600,0 c:map@900,0 | t-a a-b b-c");
    editor.jump_to("b");
    keys(&mut editor, "alt+s u");
    assert_eq!(selected(&editor), "a b t");
    editor.jump_to("b");
    keys(&mut editor, "alt+s d");
    assert_eq!(selected(&editor), "b c");
    let at = editor.viewport.to_screen(Point::new(240.0, 20.0));
    click(&mut editor, at.x, at.y, NO_KEY);
    assert_eq!(editor.selection.wires().iter().next(), Some(&wire("t-a")));
    keys(&mut editor, "Delete");
    assert_eq!(wires(&editor), "a.out-b b.out-c");
}

/// Anything that a person could do, sense or nonsense.
#[derive(Clone, Debug)]
enum Doing {
    Input(Input),
    Act(Action),
    Add(&'static str),
    Type(u8),
    Paste,
}

fn point() -> impl Strategy<Value = Point> {
    // Often near steps and ports.
    (0..13_i32, 0..9_i32, -3.0..3.0_f64)
        .prop_map(|(x, y, off)| Point::new(f64::from(x) * 60.0 + off, f64::from(y) * 20.0 + off))
}

fn held() -> impl Strategy<Value = Held> {
    (any::<bool>(), any::<bool>()).prop_map(|(shift, ctrl)| Held { shift, ctrl })
}

fn doing() -> impl Strategy<Value = Doing> {
    let kinds = proptest::sample::select(vec!["map", "condition", "manual", "try", "unknown.kind"]);
    let actions: Vec<Action> = crate::action::ALL
        .iter()
        .map(|spec| spec.action)
        .filter(|action| !matches!(action, Action::Undo | Action::Redo))
        .collect();
    let button =
        proptest::sample::select(vec![Button::Main, Button::Main, Button::Middle, Button::Menu]);
    prop_oneof![
        4 => (point(), button, held()).prop_map(|(at, b, held)| Doing::Input(Input::Down(at, b, held))),
        6 => (point(), held()).prop_map(|(at, held)| Doing::Input(Input::Move(at, held))),
        4 => (point(), held()).prop_map(|(at, held)| Doing::Input(Input::Up(at, held))),
        1 => Just(Doing::Input(Input::Lost)),
        1 => point().prop_map(|at| Doing::Input(Input::DoubleClick(at))),
        1 => (point(), point()).prop_map(|(at, by)| Doing::Input(Input::Wheel(at, by, NO_KEY))),
        1 => any::<bool>().prop_map(|is_down| Doing::Input(Input::Space(is_down))),
        1 => (point(), kinds.clone()).prop_map(|(at, kind)| Doing::Input(Input::Drop(at, kind.into()))),
        8 => proptest::sample::select(actions).prop_map(Doing::Act),
        3 => kinds.prop_map(Doing::Add),
        1 => (0..4_u8).prop_map(Doing::Type),
        1 => Just(Doing::Paste),
    ]
}

impl Doing {
    fn to(&self, editor: &mut Editor) {
        let effects = match self {
            Self::Input(input) => editor.handle(input.clone()),
            Self::Act(action) => editor.run(*action),
            Self::Add(kind) => editor.add(kind, &Place { at: None, join: Join::Nothing }),
            Self::Paste => editor.paste(&document(TWO).to_text(), None),
            Self::Type(value) => match editor.selection().current().map(str::to_owned) {
                None => Vec::new(),
                Some(step) => {
                    let grain = Grain::Field { step: step.clone(), field: "x".into() };
                    let edit = match value {
                        0 => Edit::SetLabel { step, label: "l".into() },
                        value => Edit::SetField { step, field: "x".into(), value: (*value).into() },
                    };
                    editor.apply("type", &edit.into(), Some(grain))
                }
            },
        };
        for effect in effects {
            if let Effect::AskKind(place) = effect {
                editor.add("filter", &place);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn undoing_anything_is_identity_and_redoing_is_the_same(
        doings in proptest::collection::vec(doing(), 1..40),
    ) {
        let opened = document(TWO);
        let mut editor = editor(TWO);
        for doing in &doings {
            doing.to(&mut editor);
        }
        editor.handle(Input::Lost);
        while !editor.gesture.is_none() {
            editor.run(Action::Cancel);
        }
        let done = editor.document.clone();
        prop_assert!(done.wires.is_sorted());
        let entries = editor.history.len();
        for _ in 0..entries {
            editor.run(Action::Undo);
        }
        prop_assert_eq!(&editor.document, &opened);
        for _ in 0..entries {
            editor.run(Action::Redo);
        }
        prop_assert_eq!(&editor.document, &done);
        prop_assert_eq!(&editor.scene.boxes().len(), &done.steps.len());
    }

    #[test]
    fn no_gesture_brings_a_fault_of_the_graph(
        doings in proptest::collection::vec(doing(), 1..40),
    ) {
        let mut editor = editor(TWO);
        for doing in &doings {
            doing.to(&mut editor);
        }
        let faults = millrace_flow::validate(editor.document());
        let of_graph = ["cycle", "dangling_wire", "duplicate_wire", "trigger_has_input", "bad_id", "unused_layout"];
        let found: Vec<_> = faults.iter().filter(|fault| of_graph.contains(&fault.code)).collect();
        prop_assert!(found.is_empty(), "{:?}", found);
    }
}

#[test]
fn the_minimap_never_leads_out_of_sight_of_all_steps() {
    let mut editor = editor(TWO);
    editor.look_at(Point::new(1e9, -1e9));
    assert_eq!(editor.viewport.seen().middle(), Point::new(780.0, 0.0));
    editor.look_at(Point::new(f64::NAN, f64::INFINITY));
    assert!(!editor.view().steps.is_empty());
}

#[test]
fn arrows_say_when_there_is_nothing_that_way() {
    let mut editor = editor(TWO);
    editor.jump_to("t");
    assert_eq!(said(&editor.run(Action::Go(Side::Up))), "no step above");
}
