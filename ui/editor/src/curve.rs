//! The curve of a wire: a cubic Bézier that leaves to the right and arrives from the left.
//!
//! **Invariants**: it begins and ends exactly at its ports; everything asked of it takes
//! [`PIECES`] steps, however long it is.

use crate::geometry::{Point, Rect};

/// Straight pieces that stand for a curve where it is measured.
pub const PIECES: usize = 16;
/// Shortest and longest way that a curve goes straight before it bends.
const REACH: (f64, f64) = (30.0, 240.0);

/// A wire's curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// The output port.
    pub from: Point,
    /// The input port.
    pub to: Point,
    reach: f64,
}

impl Curve {
    /// The curve between two ports.
    #[must_use]
    pub fn between(from: Point, to: Point) -> Self {
        let across = (to.x - from.x).abs() / 2.0;
        let back = if to.x < from.x { (to.y - from.y).abs() / 4.0 } else { 0.0 };
        Self { from, to, reach: (across + back).clamp(REACH.0, REACH.1) }
    }

    /// The point at a part of the way, from 0 to 1.
    #[must_use]
    pub fn at(&self, part: f64) -> Point {
        let (t, s) = (part, 1.0 - part);
        let (one, other) = self.controls();
        let blend = |a: f64, b: f64, c: f64, d: f64| {
            s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d
        };
        Point::new(
            blend(self.from.x, one.x, other.x, self.to.x),
            blend(self.from.y, one.y, other.y, self.to.y),
        )
    }

    /// The middle, where its label stands.
    #[must_use]
    pub fn middle(&self) -> Point {
        self.at(0.5)
    }

    /// Its straight pieces.
    pub fn pieces(&self) -> impl Iterator<Item = (Point, Point)> + '_ {
        let at = |piece: usize| self.at(piece as f64 / PIECES as f64);
        (0..PIECES).map(move |piece| (at(piece), at(piece + 1)))
    }

    /// How far a point is from it.
    #[must_use]
    pub fn distance(&self, point: Point) -> f64 {
        self.pieces().map(|(from, to)| to_piece(point, from, to)).fold(f64::INFINITY, f64::min)
    }

    /// The rectangle around it.
    #[must_use]
    pub fn bounds(&self) -> Rect {
        let pieces = self.pieces().map(|(from, to)| Rect::around(from, to));
        Rect::around_all(pieces).unwrap_or_default()
    }

    /// The same curve as an SVG path.
    #[must_use]
    pub fn svg(&self) -> String {
        let (one, other) = self.controls();
        format!(
            "M{:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
            self.from.x, self.from.y, one.x, one.y, other.x, other.y, self.to.x, self.to.y
        )
    }

    fn controls(&self) -> (Point, Point) {
        let reach = Point::new(self.reach, 0.0);
        (self.from.plus(reach), self.to.minus(reach))
    }
}

fn to_piece(point: Point, from: Point, to: Point) -> f64 {
    let way = to.minus(from);
    let length = way.x.mul_add(way.x, way.y * way.y);
    let from_start = point.minus(from);
    let along = from_start.x.mul_add(way.x, from_start.y * way.y);
    let part = if length > 0.0 { (along / length).clamp(0.0, 1.0) } else { 0.0 };
    point.distance(from.plus(Point::new(way.x * part, way.y * part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_and_ends_at_its_ports_and_leaves_to_the_right() {
        for to in [Point::new(300.0, 90.0), Point::new(-400.0, 10.0), Point::new(0.0, 0.0)] {
            let curve = Curve::between(Point::default(), to);
            assert_eq!(curve.at(0.0), Point::default());
            assert_eq!(curve.at(1.0), to);
            assert!(curve.at(0.02).x > 0.0, "{to:?}");
            assert!(curve.at(0.98).x < to.x, "{to:?}");
        }
    }

    #[test]
    fn a_point_on_it_is_near_and_one_beside_it_is_not() {
        let curve = Curve::between(Point::default(), Point::new(400.0, 200.0));
        for part in [0.0, 0.13, 0.5, 0.77, 1.0] {
            assert!(curve.distance(curve.at(part)) < 2.0, "{part}");
        }
        assert!(curve.distance(Point::new(200.0, 0.0)) > 50.0);
        assert!(curve.bounds().contains(curve.middle()));
        assert_eq!(curve.svg(), "M0.0 0.0C200.0 0.0 200.0 200.0 400.0 200.0");
    }
}
