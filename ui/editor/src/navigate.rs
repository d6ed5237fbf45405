//! Going from step to step without a pointer.
//!
//! The nearest step on a side is the one with the shortest way, where the way across counts double:
//! a step straight ahead comes before a nearer one that lies aslant. A step lies on a side if its
//! middle is farther that way than across. Reading order is by column, then by row.
//!
//! **Invariants**: going right and then left does not always lead back, but every step can be
//! reached by [`in_order`].

use crate::action::Side;
use crate::geometry::Point;
use crate::scene::Scene;
use crate::shape::StepBox;

/// The nearest step on one side of another.
#[must_use]
pub fn nearest<'a>(scene: &'a Scene, from: &str, side: Side) -> Option<&'a StepBox> {
    let start = scene.step(from)?.rect.middle();
    let others = scene.boxes().iter().filter(|step| step.id != from);
    let on_side = others.filter_map(|step| {
        let (along, across) = ways(step.rect.middle().minus(start), side);
        (along > 0.0 && along >= across / 2.0).then_some((2.0_f64.mul_add(across, along), step))
    });
    on_side.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, step)| step)
}

fn ways(way: Point, side: Side) -> (f64, f64) {
    match side {
        Side::Left => (-way.x, way.y.abs()),
        Side::Right => (way.x, way.y.abs()),
        Side::Up => (-way.y, way.x.abs()),
        Side::Down => (way.y, way.x.abs()),
    }
}

/// All steps in reading order.
#[must_use]
pub fn in_order(scene: &Scene) -> Vec<&StepBox> {
    let mut steps: Vec<&StepBox> = scene.boxes().iter().collect();
    steps.sort_by(|one, other| {
        let by_column = one.rect.x.total_cmp(&other.rect.x);
        by_column.then(one.rect.y.total_cmp(&other.rect.y))
    });
    steps
}

/// The step that comes so many places after another in reading order, around the end.
#[must_use]
pub fn beside<'a>(scene: &'a Scene, from: Option<&str>, is_forward: bool) -> Option<&'a StepBox> {
    let order = in_order(scene);
    let at = from.and_then(|from| order.iter().position(|step| step.id == from));
    let last = order.len().checked_sub(1)?;
    let next = match (at, is_forward) {
        (None, true) => 0,
        (None, false) => last,
        (Some(at), true) if at == last => 0,
        (Some(at), true) => at + 1,
        (Some(0), false) => last,
        (Some(at), false) => at - 1,
    };
    order.get(next).copied()
}

/// All other steps, the nearest first; those to the right before those to the left.
#[must_use]
pub fn by_distance<'a>(scene: &'a Scene, from: &str) -> Vec<&'a str> {
    let Some(start) = scene.step(from).map(|step| step.rect.middle()) else { return Vec::new() };
    let mut steps: Vec<_> = scene.boxes().iter().filter(|step| step.id != from).collect();
    let key = |step: &StepBox| {
        let way = step.rect.middle().minus(start);
        (way.x <= 0.0, way.x.hypot(way.y))
    };
    steps.sort_by(|one, other| {
        let (one, other) = (key(one), key(other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    steps.into_iter().map(|step| step.id.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::document;

    #[test]
    fn arrows_go_to_the_nearest_step_that_way() {
        let scene =
            Scene::new(&document("t:manual@0,0 a:map@260,0 b:map@220,200 c:map@0,200 d:map@900,0"));
        let go = |from: &str, side| nearest(&scene, from, side).map(|step| step.id.as_str());
        assert_eq!(go("t", Side::Right), Some("a"));
        assert_eq!(go("t", Side::Down), Some("c"));
        assert_eq!(go("a", Side::Right), Some("d"));
        assert_eq!(go("d", Side::Left), Some("a"));
        assert_eq!(go("t", Side::Up), None);
        assert_eq!(go("gone", Side::Up), None);
    }

    #[test]
    fn tab_comes_to_every_step_and_around() {
        let scene = Scene::new(&document("b:map@0,100 a:map@260,0 c:map@0,0"));
        let mut at: Option<String> = None;
        let mut order = Vec::new();
        for _ in 0..4 {
            at = beside(&scene, at.as_deref(), true).map(|step| step.id.clone());
            order.extend(at.clone());
        }
        assert_eq!(order, ["c", "b", "a", "c"]);
        assert_eq!(beside(&scene, Some("c"), false).unwrap().id, "a");
        assert!(beside(&Scene::default(), None, true).is_none());
        assert_eq!(by_distance(&scene, "b"), ["a", "c"]);
    }
}
