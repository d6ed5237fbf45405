//! The minimap: all steps in small, what is seen of them, and which are not well.
//!
//! **Invariants**: everything is within the map's size; clicking on a step's mark leads to it.

use crate::geometry::{Point, Rect};
use crate::scene::Scene;
use crate::viewport::Viewport;

/// Free space around, in pixels of the canvas.
const MARGIN: f64 = 100.0;
/// Smallest mark of a step, in pixels of the map.
const MARK_MIN: f64 = 2.0;

/// The graph in small.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimap {
    /// The steps' marks.
    pub marks: Vec<Mark>,
    /// What is seen.
    pub seen: Rect,
    corner: Point,
    scale: f64,
}

/// A step on the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// The number of its box in the scene.
    pub step: usize,
    /// Where.
    pub rect: Rect,
    /// Whether something is wrong with it.
    pub is_abnormal: bool,
    /// Whether it is selected.
    pub is_selected: bool,
}

impl Minimap {
    /// A map of this size.
    #[must_use]
    pub fn new(
        scene: &Scene,
        viewport: &Viewport,
        size: (f64, f64),
        is_abnormal: impl Fn(&str) -> bool,
        is_selected: impl Fn(&str) -> bool,
    ) -> Self {
        let seen = viewport.seen();
        let world = scene.bounds().map_or(seen, |bounds| bounds.union(seen)).grown(MARGIN);
        let scale = (size.0 / world.width).min(size.1 / world.height);
        let rest = Point::new(size.0 - world.width * scale, size.1 - world.height * scale);
        let corner = Point::new(world.x - rest.x / 2.0 / scale, world.y - rest.y / 2.0 / scale);
        let small = |rect: Rect| {
            Rect::new(
                (rect.x - corner.x) * scale,
                (rect.y - corner.y) * scale,
                (rect.width * scale).max(MARK_MIN),
                (rect.height * scale).max(MARK_MIN),
            )
        };
        let marks = scene.boxes().iter().enumerate().map(|(number, step)| Mark {
            step: number,
            rect: small(step.rect),
            is_abnormal: is_abnormal(&step.id),
            is_selected: is_selected(&step.id),
        });
        Self { marks: marks.collect(), seen: small(seen), corner, scale }
    }

    /// The point of the canvas at a point of the map.
    #[must_use]
    pub fn to_canvas(&self, map: Point) -> Point {
        Point::new(map.x / self.scale, map.y / self.scale).plus(self.corner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::document;

    #[test]
    fn everything_is_on_the_map_and_a_click_leads_back() {
        let scene = Scene::new(&document("t:manual@0,0 a:map@5000,3000"));
        let viewport = Viewport::new(1_000.0, 500.0);
        let map = Minimap::new(&scene, &viewport, (200.0, 120.0), |id| id == "a", |id| id == "t");
        let whole = Rect::new(0.0, 0.0, 200.0, 120.0);
        for mark in &map.marks {
            assert!(whole.contains(mark.rect.middle()), "{mark:?}");
            let on_canvas = map.to_canvas(mark.rect.corner());
            assert!(on_canvas.distance(scene.boxes()[mark.step].rect.corner()) < 1e-6);
        }
        assert!(whole.contains(map.seen.corner()));
        let flags: Vec<_> = map.marks.iter().map(|m| (m.is_abnormal, m.is_selected)).collect();
        assert_eq!(flags, [(true, false), (false, true)]);
        let none = Minimap::new(&Scene::default(), &viewport, (200.0, 120.0), |_| false, |_| false);
        assert!(none.marks.is_empty());
    }
}
