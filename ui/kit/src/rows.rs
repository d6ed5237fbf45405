//! Which rows of a long list are in sight: the arithmetic of virtual tables and trees, and the moves
//! of the keyboard in them.
//!
//! **Invariants**
//! - What is built does not grow with the list: only what is in sight and a few rows around it.
//! - Every move ends on a row that exists.

use std::ops::Range;

/// Height of a row in pixels, as `--row` in the tokens.
pub const ROW_PIXELS: f64 = 28.0;
/// Rows that are built above and below of what is in sight.
const AROUND: usize = 8;

/// The rows to build for a place of the scroll bar.
#[must_use]
pub fn in_sight(scrolled: f64, height: f64, count: usize) -> Range<usize> {
    let rows = |pixels: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a place on the screen, cut off at zero"
        )]
        let rows = (pixels.max(0.0) / ROW_PIXELS) as usize;
        rows
    };
    let first = rows(scrolled).saturating_sub(AROUND).min(count);
    let last = (rows(scrolled) + rows(height) + 2 + AROUND).min(count);
    first..last
}

/// Where a row begins, in pixels.
#[must_use]
pub fn top_of(row: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "rows of a list, far below 2^52")]
    let row = row as f64;
    row * ROW_PIXELS
}

/// A move of the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// One screen up.
    PageUp,
    /// One screen down.
    PageDown,
    /// To the first row.
    First,
    /// To the last row.
    Last,
}

impl Move {
    /// The move of a key, as browsers name it.
    #[must_use]
    pub fn of_key(key: &str) -> Option<Self> {
        match key {
            "ArrowUp" => Some(Self::Up),
            "ArrowDown" => Some(Self::Down),
            "PageUp" => Some(Self::PageUp),
            "PageDown" => Some(Self::PageDown),
            "Home" => Some(Self::First),
            "End" => Some(Self::Last),
            _ => None,
        }
    }

    /// The row after the move; `None` when the list is empty.
    #[must_use]
    pub fn from(self, row: Option<usize>, count: usize, page: usize) -> Option<usize> {
        let last = count.checked_sub(1)?;
        let Some(row) = row else { return Some(if self == Self::Last { last } else { 0 }) };
        Some(
            match self {
                Self::Up => row.saturating_sub(1),
                Self::Down => (row + 1).min(last),
                Self::PageUp => row.saturating_sub(page.max(1)),
                Self::PageDown => row.saturating_add(page.max(1)).min(last),
                Self::First => 0,
                Self::Last => last,
            }
            .min(last),
        )
    }
}

/// Where to scroll so that a row is in sight; `None` when it is.
#[must_use]
pub fn scroll_to(row: usize, scrolled: f64, height: f64) -> Option<f64> {
    let top = top_of(row);
    if top < scrolled {
        Some(top)
    } else if top + ROW_PIXELS > scrolled + height {
        Some((top + ROW_PIXELS - height).max(0.0))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_what_is_in_sight_and_little_more() {
        assert_eq!(in_sight(0.0, 280.0, 100_000), 0..20);
        let middle = in_sight(28_000.0, 280.0, 100_000);
        assert_eq!(middle, 992..1_020);
        assert_eq!(in_sight(1e9, 280.0, 100_000).len(), 0);
        assert_eq!(in_sight(-5.0, 280.0, 3), 0..3);
    }

    #[test]
    fn moves_stay_in_the_list() {
        assert_eq!(Move::Down.from(Some(9), 10, 5), Some(9));
        assert_eq!(Move::PageUp.from(Some(3), 10, 5), Some(0));
        assert_eq!(Move::Last.from(None, 10, 5), Some(9));
        assert_eq!(Move::Up.from(Some(7), 3, 5), Some(2), "the list became shorter");
        assert_eq!(Move::First.from(None, 0, 5), None);
    }

    #[test]
    fn scrolls_only_as_far_as_needed() {
        assert_eq!(scroll_to(3, 0.0, 280.0), None);
        assert_eq!(scroll_to(10, 0.0, 280.0), Some(28.0));
        assert_eq!(scroll_to(0, 28.0, 280.0), Some(0.0));
    }
}
