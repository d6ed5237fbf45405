//! The viewport: which part of the canvas is seen, and how large.
//!
//! A point of the canvas lies on the screen at `point * scale + offset`. Zooming keeps the point
//! under the pointer where it is.
//!
//! **Invariants**: the scale stays within [`SCALE_MIN`] and [`SCALE_MAX`]; numbers that are not
//! finite change nothing.

use crate::geometry::{Point, Rect};

/// Smallest scale: 10 %.
pub const SCALE_MIN: f64 = 0.1;
/// Largest scale: 400 %.
pub const SCALE_MAX: f64 = 4.0;
/// What one press of a key zooms by.
pub const ZOOM_STEP: f64 = 1.25;
/// What is left free around the graph when it is fitted, in pixels of the screen.
pub const FIT_MARGIN: f64 = 40.0;
/// Below this scale a step is drawn as a plain box: its text could not be read.
pub const DETAIL_SCALE_MIN: f64 = 0.35;
/// How much a turn of the wheel by one pixel zooms.
const WHEEL_ZOOM: f64 = 0.0015;
/// A larger turn counts as this one.
const WHEEL_MAX: f64 = 400.0;

/// The part of the canvas that is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewport {
    scale: f64,
    offset: Point,
    width: f64,
    height: f64,
}

impl Viewport {
    /// A viewport of this size on the screen, at 100 %, with the canvas' origin in its corner.
    #[must_use]
    pub fn new(width: f64, height: f64) -> Self {
        let mut viewport = Self { scale: 1.0, offset: Point::default(), width: 1.0, height: 1.0 };
        viewport.resize(width, height);
        viewport
    }

    /// Pixels of the screen for a pixel of the canvas.
    #[must_use]
    pub const fn scale(&self) -> f64 {
        self.scale
    }

    /// Where the canvas' origin lies on the screen.
    #[must_use]
    pub const fn offset(&self) -> Point {
        self.offset
    }

    /// Its width and height on the screen.
    #[must_use]
    pub const fn size(&self) -> (f64, f64) {
        (self.width, self.height)
    }

    /// Takes a new size on the screen; what is in the corner stays there.
    pub fn resize(&mut self, width: f64, height: f64) {
        if width.is_finite() && height.is_finite() {
            self.width = width.max(1.0);
            self.height = height.max(1.0);
        }
    }

    /// The point of the canvas at a point of the screen.
    #[must_use]
    pub fn to_canvas(&self, screen: Point) -> Point {
        let way = screen.minus(self.offset);
        Point::new(way.x / self.scale, way.y / self.scale)
    }

    /// The point of the screen at a point of the canvas.
    #[must_use]
    pub fn to_screen(&self, canvas: Point) -> Point {
        Point::new(canvas.x * self.scale, canvas.y * self.scale).plus(self.offset)
    }

    /// The part of the canvas that is seen.
    #[must_use]
    pub fn seen(&self) -> Rect {
        let corner = self.to_canvas(Point::default());
        Rect::new(corner.x, corner.y, self.width / self.scale, self.height / self.scale)
    }

    /// Whether a step's text can be read at this scale.
    #[must_use]
    pub fn has_detail(&self) -> bool {
        self.scale >= DETAIL_SCALE_MIN
    }

    /// Moves the canvas by so many pixels of the screen.
    pub fn pan(&mut self, way: Point) {
        let offset = self.offset.plus(way);
        if offset.is_finite() {
            self.offset = offset;
        }
    }

    /// Zooms so that the canvas under this point of the screen stays there.
    pub fn zoom_at(&mut self, screen: Point, factor: f64) {
        let scale = self.scale * factor;
        if !screen.is_finite() || !scale.is_finite() {
            return;
        }
        let under = self.to_canvas(screen);
        self.scale = scale.clamp(SCALE_MIN, SCALE_MAX);
        let now = self.to_screen(under);
        self.pan(screen.minus(now));
    }

    /// Zooms about the middle.
    pub fn zoom(&mut self, factor: f64) {
        self.zoom_at(Point::new(self.width / 2.0, self.height / 2.0), factor);
    }

    /// Zooms as a turn of the wheel by so many pixels says: away from the user is closer.
    pub fn wheel(&mut self, screen: Point, turned: f64) {
        self.zoom_at(screen, (-turned.clamp(-WHEEL_MAX, WHEEL_MAX) * WHEEL_ZOOM).exp());
    }

    /// Back to 100 %, about the middle.
    pub fn reset(&mut self) {
        self.zoom(1.0 / self.scale);
    }

    /// Shows all of a part of the canvas, at 100 % at most.
    pub fn fit(&mut self, part: Rect) {
        let room = |size: f64| (size - 2.0 * FIT_MARGIN).max(1.0);
        let scale = (room(self.width) / part.width.max(1.0))
            .min(room(self.height) / part.height.max(1.0))
            .clamp(SCALE_MIN, 1.0);
        if scale.is_finite() {
            self.scale = scale;
            self.center(part.middle());
        }
    }

    /// Puts a point of the canvas into the middle.
    pub fn center(&mut self, canvas: Point) {
        let middle = Point::new(self.width / 2.0, self.height / 2.0);
        self.pan(middle.minus(self.to_screen(canvas)));
    }

    /// Moves the canvas as little as needed for a part of it to be seen.
    pub fn reveal(&mut self, part: Rect) {
        let corner = self.to_screen(part.corner());
        let far = self.to_screen(Point::new(part.right(), part.bottom()));
        let way = |near: f64, far: f64, size: f64| {
            if near < FIT_MARGIN {
                FIT_MARGIN - near
            } else if far > size - FIT_MARGIN {
                // The near side wins where there is no room for both.
                (size - FIT_MARGIN - far).max(FIT_MARGIN - near)
            } else {
                0.0
            }
        };
        self.pan(Point::new(way(corner.x, far.x, self.width), way(corner.y, far.y, self.height)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_close(one: Point, other: Point) -> bool {
        one.distance(other) < 1e-6
    }

    #[test]
    fn zooms_at_the_pointer() {
        let mut viewport = Viewport::new(800.0, 600.0);
        viewport.pan(Point::new(30.0, -20.0));
        let pointer = Point::new(613.0, 101.0);
        let under = viewport.to_canvas(pointer);
        for turned in [-120.0, -350.0, 90.0, 1e9, -1e9] {
            viewport.wheel(pointer, turned);
            assert!(is_close(viewport.to_canvas(pointer), under), "{turned}: {viewport:?}");
        }
    }

    #[test]
    fn stays_between_10_and_400_percent() {
        let mut viewport = Viewport::new(800.0, 600.0);
        viewport.zoom(1e12);
        assert_eq!(viewport.scale().total_cmp(&SCALE_MAX), std::cmp::Ordering::Equal);
        viewport.zoom(1e-12);
        assert_eq!(viewport.scale().total_cmp(&SCALE_MIN), std::cmp::Ordering::Equal);
        viewport.reset();
        assert!((viewport.scale() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn numbers_that_are_not_finite_change_nothing() {
        let mut viewport = Viewport::new(800.0, 600.0);
        let before = viewport;
        viewport.zoom_at(Point::new(f64::NAN, 0.0), 2.0);
        viewport.zoom(f64::INFINITY);
        viewport.pan(Point::new(f64::NAN, f64::INFINITY));
        viewport.resize(f64::NAN, 3.0);
        assert_eq!(viewport, before);
    }

    #[test]
    fn fits_everything_and_never_magnifies_to_do_so() {
        let mut viewport = Viewport::new(800.0, 600.0);
        let part = Rect::new(-2_000.0, 300.0, 6_000.0, 900.0);
        viewport.fit(part);
        let seen = viewport.seen();
        assert!(seen.contains(part.corner()), "{seen:?}");
        assert!(seen.contains(Point::new(part.right(), part.bottom())), "{seen:?}");
        viewport.fit(Rect::new(0.0, 0.0, 10.0, 10.0));
        assert!((viewport.scale() - 1.0).abs() < 1e-9);
        assert!(is_close(viewport.seen().middle(), Point::new(5.0, 5.0)));
    }

    #[test]
    fn reveals_with_the_shortest_move() {
        let mut viewport = Viewport::new(800.0, 600.0);
        let before = viewport;
        viewport.reveal(Rect::new(300.0, 300.0, 180.0, 40.0));
        assert_eq!(viewport, before, "it was seen already");
        viewport.reveal(Rect::new(900.0, 300.0, 180.0, 40.0));
        assert!(is_close(viewport.offset(), Point::new(-320.0, 0.0)), "{viewport:?}");
    }
}
