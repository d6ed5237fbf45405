//! The window of a chart: from when to when.
//!
//! **Invariants**
//! - It is never shorter than [`SHORTEST`] or longer than [`LONGEST`], and both ends are finite.

/// Shortest window, in milliseconds.
const SHORTEST: f64 = 100.0;
/// Longest window: forty years.
const LONGEST: f64 = 40.0 * 365.0 * 86_400_000.0;

/// From when to when, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Its start.
    pub from: f64,
    /// Its end.
    pub to: f64,
}

impl Window {
    /// A window that ends there and is that long.
    #[must_use]
    pub fn until(to: f64, length: f64) -> Self {
        let length = if length.is_finite() { length.clamp(SHORTEST, LONGEST) } else { SHORTEST };
        let to = if to.is_finite() { to } else { 0.0 };
        Self { from: to - length, to }
    }

    /// How long it is.
    #[must_use]
    pub fn length(self) -> f64 {
        self.to - self.from
    }

    /// Whether a time is in it.
    #[must_use]
    pub fn has(self, at: f64) -> bool {
        at >= self.from && at <= self.to
    }

    /// Where a time is, from 0 at the start to 1 at the end.
    #[must_use]
    pub fn share(self, at: f64) -> f64 {
        (at - self.from) / self.length().max(f64::MIN_POSITIVE)
    }

    /// The time at a share.
    #[must_use]
    pub fn at(self, share: f64) -> f64 {
        self.from + share * self.length()
    }

    /// Moved by a share of itself; later is more.
    #[must_use]
    pub fn panned(self, share: f64) -> Self {
        Self::until(self.to + share * self.length(), self.length())
    }

    /// Longer or shorter by a factor, with the time at that share staying where it is.
    #[must_use]
    pub fn zoomed(self, factor: f64, share: f64) -> Self {
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 };
        let fixed = self.at(share);
        let length = Self::until(0.0, self.length() * factor).length();
        Self::until(fixed + (1.0 - share) * length, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: f64 = 3_600_000.0;

    #[test]
    fn zooms_around_the_pointer_and_pans() {
        let window = Window::until(10.0 * HOUR, 2.0 * HOUR);
        let near = window.zoomed(0.5, 0.25);
        assert!((near.at(0.25) - window.at(0.25)).abs() < 1e-3);
        assert!((near.length() - HOUR).abs() < 1e-3);
        let before = window.panned(-0.5);
        assert_eq!((before.from, before.to), (7.0 * HOUR, 9.0 * HOUR));
    }

    #[test]
    fn has_a_shortest_and_a_longest() {
        let mut window = Window::until(HOUR, HOUR);
        for _ in 0..200 {
            window = window.zoomed(0.5, 0.3);
        }
        assert!((window.length() - SHORTEST).abs() < 1e-6);
        for factor in [1e300, f64::NAN, f64::INFINITY] {
            let window = window.zoomed(factor, f64::NAN);
            assert!(window.from.is_finite() && window.to.is_finite() && window.length() > 0.0);
        }
    }
}
