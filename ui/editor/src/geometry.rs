//! Points and rectangles, in pixels of the canvas or of the screen.
//!
//! Which of the two is meant is said where they are used; a [`crate::Viewport`] leads from one to
//! the other. The layout of a document has whole pixels; everything between is a fraction.
//!
//! **Invariants**: a rectangle's width and height are never negative; no operation panics, whatever
//! the numbers are.

/// A point, or the way from one point to another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
}

impl Point {
    /// A point.
    #[must_use]
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// The point that lies so far away.
    #[must_use]
    pub fn plus(self, way: Self) -> Self {
        Self::new(self.x + way.x, self.y + way.y)
    }

    /// The way from another point to this one.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y)
    }

    /// The distance to another point.
    #[must_use]
    pub fn distance(self, other: Self) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }

    /// Whether both numbers are finite.
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite()
    }
}

impl From<[i32; 2]> for Point {
    fn from([x, y]: [i32; 2]) -> Self {
        Self::new(f64::from(x), f64::from(y))
    }
}

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Its left side.
    pub x: f64,
    /// Its upper side.
    pub y: f64,
    /// To the right.
    pub width: f64,
    /// Downwards.
    pub height: f64,
}

impl Rect {
    /// A rectangle; a negative size counts as none.
    #[must_use]
    pub fn new(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self { x, y, width: width.max(0.0), height: height.max(0.0) }
    }

    /// The smallest one around two points.
    #[must_use]
    pub fn around(one: Point, other: Point) -> Self {
        let (x, y) = (one.x.min(other.x), one.y.min(other.y));
        Self::new(x, y, (one.x - other.x).abs(), (one.y - other.y).abs())
    }

    /// The smallest one around all of them; `None` for none.
    #[must_use]
    pub fn around_all(rects: impl IntoIterator<Item = Self>) -> Option<Self> {
        rects.into_iter().reduce(Self::union)
    }

    /// Its right side.
    #[must_use]
    pub fn right(self) -> f64 {
        self.x + self.width
    }

    /// Its lower side.
    #[must_use]
    pub fn bottom(self) -> f64 {
        self.y + self.height
    }

    /// Its upper left corner.
    #[must_use]
    pub const fn corner(self) -> Point {
        Point::new(self.x, self.y)
    }

    /// Its middle.
    #[must_use]
    pub fn middle(self) -> Point {
        Point::new(self.x + self.width / 2.0, self.y + self.height / 2.0)
    }

    /// Whether a point lies in it or on its edge.
    #[must_use]
    pub fn contains(self, point: Point) -> bool {
        (self.x..=self.right()).contains(&point.x) && (self.y..=self.bottom()).contains(&point.y)
    }

    /// Whether it has a point in common with another.
    #[must_use]
    pub fn touches(self, other: Self) -> bool {
        self.x <= other.right()
            && other.x <= self.right()
            && self.y <= other.bottom()
            && other.y <= self.bottom()
    }

    /// The smallest one around both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = self.right().max(other.right());
        Self::new(x, y, right - x, self.bottom().max(other.bottom()) - y)
    }

    /// Larger by so much on each side.
    #[must_use]
    pub fn grown(self, by: f64) -> Self {
        let (width, height) = (self.width + 2.0 * by, self.height + 2.0 * by);
        Self::new(self.x - by, self.y - by, width, height)
    }

    /// The same one so far away.
    #[must_use]
    pub fn moved(self, way: Point) -> Self {
        Self { x: self.x + way.x, y: self.y + way.y, ..self }
    }
}
