//! Marks of an axis at numbers and times that a person would choose.
//!
//! **Invariants**
//! - There are never more than [`MARKS_MAX`], whatever the range.

use super::line::Range;
use super::window::Window;

/// Marks of one axis.
const MARKS_MAX: usize = 24;

const SECOND: f64 = 1_000.0;
const MINUTE: f64 = 60.0 * SECOND;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;

/// Distances of marks in time.
const STEPS: [f64; 23] = [
    0.1 * SECOND,
    0.5 * SECOND,
    SECOND,
    2.0 * SECOND,
    5.0 * SECOND,
    10.0 * SECOND,
    15.0 * SECOND,
    30.0 * SECOND,
    MINUTE,
    2.0 * MINUTE,
    5.0 * MINUTE,
    10.0 * MINUTE,
    15.0 * MINUTE,
    30.0 * MINUTE,
    HOUR,
    2.0 * HOUR,
    3.0 * HOUR,
    6.0 * HOUR,
    12.0 * HOUR,
    DAY,
    2.0 * DAY,
    7.0 * DAY,
    30.0 * DAY,
];

/// The distance of the marks and their times; about so many.
pub(super) fn of_time(window: Window, offset_minutes: i32, about: f64) -> (f64, Vec<f64>) {
    let aim = window.length() / about.max(1.0);
    let step = STEPS.into_iter().find(|step| *step >= aim);
    // Beyond the table: years of thirty-day months would be no help, a round number of days is.
    let step = step.unwrap_or_else(|| (aim / (365.0 * DAY)).ceil().max(1.0) * 365.0 * DAY);
    let offset = f64::from(offset_minutes) * MINUTE;
    (step, multiples(window.from + offset, window.to + offset, step, -offset))
}

/// The numbers of the marks; about so many.
pub(super) fn of_numbers(range: Range, about: f64) -> Vec<f64> {
    let aim = (range.most - range.least) / about.max(1.0);
    if !aim.is_finite() || aim <= 0.0 {
        return Vec::new();
    }
    let size = 10_f64.powf(aim.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().map(|digit| digit * size).find(|step| *step >= aim);
    multiples(range.least, range.most, step.unwrap_or(10.0 * size), 0.0)
}

fn multiples(from: f64, to: f64, step: f64, shift: f64) -> Vec<f64> {
    let first = (from / step).ceil();
    let mut marks = Vec::new();
    let mut number = 0.0;
    while marks.len() < MARKS_MAX {
        let mark = (first + number) * step;
        if !mark.is_finite() || mark > to {
            break;
        }
        marks.push(mark + shift);
        number += 1.0;
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_round() {
        let marks = of_numbers(Range { least: 0.3, most: 9.7 }, 5.0);
        assert_eq!(marks, [2.0, 4.0, 6.0, 8.0]);
        let marks = of_numbers(Range { least: -0.012, most: 0.031 }, 4.0);
        assert_eq!(marks.len(), 2, "{marks:?}");
        for range in [(f64::NAN, 1.0), (1.0, 1.0), (0.0, f64::INFINITY), (-1e308, 1e308)] {
            assert!(of_numbers(Range { least: range.0, most: range.1 }, 5.0).len() <= MARKS_MAX);
        }
    }

    #[test]
    fn times_stand_at_full_hours_of_the_person() {
        let window = Window::until(10.0 * HOUR, 6.0 * HOUR);
        let (step, marks) = of_time(window, 330, 6.0);
        assert!((step - HOUR).abs() < 1e-6);
        // Half an hour off UTC: so are the marks.
        assert_eq!(marks.first(), Some(&(4.5 * HOUR)));
        let (step, marks) = of_time(Window::until(0.0, f64::MAX), 0, 8.0);
        assert!(step > DAY && marks.len() <= MARKS_MAX);
    }
}
