//! The grid that steps snap to, and lining steps up.
//!
//! **Invariants**: a place is within [`PLACE_MAX`] of the origin, whatever it was made from.

use crate::geometry::{Point, Rect};

/// Distance of the grid's lines in pixels of the canvas.
pub const GRID: f64 = 20.0;
/// Farthest from the origin that a step is put, on each axis.
pub const PLACE_MAX: f64 = 1_000_000.0;

/// A step's place: on the grid, or on the nearest whole pixel.
#[must_use]
pub fn place(x: f64, y: f64, is_snapping: bool) -> [i32; 2] {
    [whole(x, is_snapping), whole(y, is_snapping)]
}

fn whole(value: f64, is_snapping: bool) -> i32 {
    let value = if is_snapping { (value / GRID).round() * GRID } else { value.round() };
    // Within bounds, and NaN becomes 0.
    value.clamp(-PLACE_MAX, PLACE_MAX) as i32
}

/// The way on which a step that lies at a place comes to lie on the grid; all that move with it go
/// the same way, so that they keep their distances.
#[must_use]
pub fn way(from: Point, way: Point, is_snapping: bool) -> Point {
    let [x, y] = place(from.x + way.x, from.y + way.y, is_snapping);
    Point::from([x, y]).minus(from)
}

/// A way of lining steps up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Alignment {
    /// Left sides in one line.
    Left,
    /// Right sides in one line.
    Right,
    /// Upper sides in one line.
    Top,
    /// Lower sides in one line.
    Bottom,
    /// Middles on one horizontal line.
    Middle,
    /// Middles on one vertical line.
    Center,
    /// Equal gaps from left to right.
    Horizontal,
    /// Equal gaps from top to bottom.
    Vertical,
}

/// Where boxes go to be lined up; in the order they were given. The line is that of the outermost
/// box; when gaps are made equal, the two outermost boxes stay.
#[must_use]
pub fn line_up(boxes: &[Rect], how: Alignment) -> Vec<[i32; 2]> {
    let Some(around) = Rect::around_all(boxes.iter().copied()) else { return Vec::new() };
    if matches!(how, Alignment::Horizontal | Alignment::Vertical) {
        return distribute(boxes, how == Alignment::Horizontal);
    }
    let middle = around.middle();
    let moved = boxes.iter().map(|rect| match how {
        Alignment::Left => (around.x, rect.y),
        Alignment::Right => (around.right() - rect.width, rect.y),
        Alignment::Top => (rect.x, around.y),
        Alignment::Bottom => (rect.x, around.bottom() - rect.height),
        Alignment::Middle => (rect.x, middle.y - rect.height / 2.0),
        _ => (middle.x - rect.width / 2.0, rect.y),
    });
    moved.map(|(x, y)| place(x, y, false)).collect()
}

fn distribute(boxes: &[Rect], is_horizontal: bool) -> Vec<[i32; 2]> {
    let span = |rect: &Rect| match is_horizontal {
        true => (rect.x, rect.width),
        false => (rect.y, rect.height),
    };
    let mut order: Vec<(usize, &Rect)> = boxes.iter().enumerate().collect();
    order.sort_by(|(_, one), (_, other)| span(one).0.total_cmp(&span(other).0));
    let first = order.first().map_or(0.0, |(_, rect)| span(rect).0);
    let end = order.iter().map(|(_, rect)| span(rect).0 + span(rect).1).fold(first, f64::max);
    let taken: f64 = order.iter().map(|(_, rect)| span(rect).1).sum();
    let gaps = order.len().saturating_sub(1).max(1);
    let gap = (end - first - taken) / gaps as f64;
    let mut next = first;
    let mut moved: Vec<(usize, [i32; 2])> = Vec::with_capacity(order.len());
    for (at, rect) in order {
        let (x, y) = if is_horizontal { (next, rect.y) } else { (rect.x, next) };
        moved.push((at, place(x, y, false)));
        next += span(rect).1 + gap;
    }
    moved.sort_by_key(|(at, _)| *at);
    moved.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snaps_to_twenty_pixels_and_stays_on_the_canvas() {
        assert_eq!(place(29.0, 31.0, true), [20, 40]);
        assert_eq!(place(-11.0, -9.0, true), [-20, 0]);
        assert_eq!(place(29.4, 31.6, false), [29, 32]);
        assert_eq!(place(f64::NAN, f64::INFINITY, true), [0, 1_000_000]);
    }

    #[test]
    fn the_step_that_is_held_comes_to_lie_on_the_grid() {
        let from = Point::new(3.0, 40.0);
        assert_eq!(way(from, Point::new(18.0, -4.0), true), Point::new(17.0, 0.0));
        assert_eq!(way(from, Point::new(18.0, -4.0), false), Point::new(18.0, -4.0));
    }

    #[test]
    fn lines_up_all_eight_ways() {
        let boxes = [
            Rect::new(0.0, 0.0, 180.0, 40.0),
            Rect::new(100.0, 100.0, 180.0, 60.0),
            Rect::new(500.0, 320.0, 180.0, 40.0),
        ];
        let xs = |how| line_up(&boxes, how).iter().map(|[x, _]| *x).collect::<Vec<_>>();
        let ys = |how| line_up(&boxes, how).iter().map(|[_, y]| *y).collect::<Vec<_>>();
        assert_eq!(xs(Alignment::Left), [0, 0, 0]);
        assert_eq!(xs(Alignment::Right), [500, 500, 500]);
        assert_eq!(ys(Alignment::Top), [0, 0, 0]);
        assert_eq!(ys(Alignment::Bottom), [320, 300, 320]);
        assert_eq!(ys(Alignment::Middle), [160, 150, 160]);
        assert_eq!(xs(Alignment::Center), [250, 250, 250]);
        assert_eq!(xs(Alignment::Horizontal), [0, 250, 500], "gaps of 70");
        assert_eq!(ys(Alignment::Vertical), [0, 150, 320], "gaps of 110");
        assert_eq!(ys(Alignment::Left), [0, 100, 320], "the other axis stays");
        assert!(line_up(&[], Alignment::Left).is_empty());
    }
}
