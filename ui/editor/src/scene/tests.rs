//! What is seen and what is hit, and that neither looks at the whole graph.

use super::*;
use crate::testing::{document, wire};

/// A thousand steps in rows of 40, each wired to the next.
pub(crate) fn thousand() -> Document {
    let mut text: String = (0..1_000)
        .map(|step| format!("s{step}:map@{},{} ", (step % 40) * 260, (step / 40) * 100))
        .collect();
    text.push('|');
    (1..1_000).for_each(|step| text.push_str(&format!(" s{}-s{step}", step - 1)));
    document(&text)
}

#[test]
fn a_port_comes_before_its_step_and_a_step_before_a_wire() {
    let scene = Scene::new(&document("t:manual@0,0 a:map@300,0 b:map@150,0 | t-a"));
    let hit = |x, y| scene.hit(Point::new(x, y), 1.0);
    assert_eq!(hit(180.0, 22.0), Hit::Output { step: "t".into(), port: "out".into() });
    assert_eq!(hit(299.0, 20.0), Hit::Input("a".into()));
    assert_eq!(hit(0.0, 20.0), Hit::Step("t".into()), "a trigger has no input");
    assert_eq!(hit(240.0, 20.0), Hit::Step("b".into()), "it lies over the wire");
    assert_eq!(hit(90.0, 300.0), Hit::Canvas);
}

#[test]
fn a_wire_is_hit_within_its_reach_which_grows_when_zoomed_out() {
    let scene = Scene::new(&document("t:manual@0,0 a:map@600,0 | t-a"));
    assert_eq!(scene.hit(Point::new(400.0, 25.0), 1.0), Hit::Wire(wire("t-a")));
    assert_eq!(scene.hit(Point::new(400.0, 50.0), 1.0), Hit::Canvas);
    assert_eq!(scene.hit(Point::new(400.0, 50.0), 0.2), Hit::Wire(wire("t-a")));
}

#[test]
fn in_a_thousand_steps_only_those_seen_are_looked_at() {
    let scene = Scene::new(&thousand());
    let seen = scene.seen(Rect::new(2_600.0, 1_000.0, 1_280.0, 720.0));
    assert!(seen.steps.len() > 20 && seen.steps.len() < 60, "{}", seen.steps.len());
    assert!(seen.looked_at < 300, "{} entries for {}", seen.looked_at, seen.steps.len());
    for number in &seen.steps {
        assert!(scene.boxes()[*number].rect.touches(Rect::new(2_600.0, 1_000.0, 1_280.0, 720.0)));
    }
}

#[test]
fn in_a_thousand_steps_a_hit_looks_at_a_few() {
    let scene = Scene::new(&thousand());
    let (hit, looked_at) = scene.hit_counted(Point::new(2_700.0, 1_010.0), 1.0);
    assert_eq!(hit, Hit::Step("s410".into()));
    assert!(looked_at < 40, "{looked_at}");
    let (_, looked_at) = scene.hit_counted(Point::new(2_815.0, 1_020.0), 1.0);
    assert!(looked_at < 80, "{looked_at}");
}

#[test]
fn steps_without_a_place_are_put_below_those_with_one() {
    let scene = Scene::new(&document("t:manual@0,400 a:map b:map | a-b"));
    let (a, b) = (scene.step("a").unwrap().rect, scene.step("b").unwrap().rect);
    assert!(a.y > 400.0 && b.x > a.x, "{a:?} {b:?}");
}

#[test]
fn wires_to_nowhere_are_not_drawn_and_those_of_a_lost_port_are_marked() {
    let mut broken = document("a:map@0,0 b:map@300,0 | a.gone-b a-nobody");
    broken.steps.get_mut("b").unwrap().on_error = OnError::GoTo("a".into());
    let scene = Scene::new(&broken);
    let links: Vec<_> = scene.links().iter().map(|link| link.is_broken).collect();
    assert_eq!(links, [true, false], "the wire of the lost port, and the way of a failure");
}

#[test]
fn no_layout_makes_the_scene_large() {
    let mut wide = document("a:map@0,0 b:map@0,0 | a-b");
    wide.layout.insert("b".into(), [i32::MAX, i32::MIN]);
    let scene = Scene::new(&wide);
    let (hit, looked_at) = scene.hit_counted(Point::new(90.0, 20.0), 1.0);
    assert_eq!(hit, Hit::Step("a".into()));
    assert!(looked_at < 20);
    assert_eq!(scene.seen(Rect::new(0.0, 0.0, 800.0, 600.0)).steps, [0]);
}
