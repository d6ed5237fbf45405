//! Medians, ranges and slopes of repeated measurements.

use serde::Serialize;

/// The median and the range of the repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    pub(crate) count: usize,
}

impl Spread {
    /// None of no values.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (lowest, highest) = (*sorted.first()?, *sorted.last()?);
        let count = sorted.len();
        let upper = *sorted.get(count / 2)?;
        let lower = *sorted.get((count - 1) / 2)?;
        Some(Self { median: f64::midpoint(lower, upper), lowest, highest, count })
    }

    /// To so many decimals, so that result files stay readable.
    pub(crate) fn rounded(self, digits: i32) -> Self {
        let Self { median, lowest, highest, count } = self;
        let round = |value| rounded(value, digits);
        Self { median: round(median), lowest: round(lowest), highest: round(highest), count }
    }
}

/// The mean with its error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Mean {
    pub(crate) mean: f64,
    /// Half of the interval that holds the true mean in 95 of 100 cases.
    pub(crate) error_95: f64,
    pub(crate) count: usize,
}

impl Mean {
    /// None of fewer than two values, which have no error to tell.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        if count < 2 || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let number = count as f64;
        let mean = values.iter().sum::<f64>() / number;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let error = (squares / (number - 1.0) / number).sqrt();
        Some(Self { mean, error_95: error * student_95(count - 1), count })
    }
}

/// The 97.5 % point of Student's distribution, never too small.
fn student_95(freedom: usize) -> f64 {
    const POINTS: [(usize, f64); 9] = [
        (60, 2.000),
        (30, 2.042),
        (20, 2.086),
        (15, 2.131),
        (10, 2.228),
        (7, 2.365),
        (5, 2.571),
        (3, 3.182),
        (2, 4.303),
    ];
    POINTS.iter().find(|(least, _)| freedom >= *least).map_or(12.706, |(_, point)| *point)
}

/// The least-squares slope of `points` (x, y); zero when there are too few to tell.
pub(crate) fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    if points.len() < 3 {
        return 0.0;
    }
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / count;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / count;
    let (mut above, mut below) = (0.0, 0.0);
    for (x, y) in points {
        above += (x - mean_x) * (y - mean_y);
        below += (x - mean_x) * (x - mean_x);
    }
    if below == 0.0 { 0.0 } else { above / below }
}

/// `value` to `digits` decimals, so that result files stay readable.
pub(crate) fn rounded(value: f64, digits: i32) -> f64 {
    let factor = 10f64.powi(digits);
    (value * factor).round() / factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_middle_of_odd_and_even_counts() {
        let odd = Spread::of([3.0, 1.0, 2.0]).unwrap();
        assert_eq!((odd.median, odd.lowest, odd.highest), (2.0, 1.0, 3.0));
        assert_eq!(Spread::of([1.0, 2.0, 3.0, 10.0]).unwrap().median, 2.5);
        assert_eq!(Spread::of([]), None);
    }

    #[test]
    fn tells_how_far_a_mean_may_be_off() {
        // Four values around 10 with a deviation of 2, by the book: 10 +- 3.18
        let found = Mean::of(&[8.0, 12.0, 8.0 + 4.0 / 3.0, 12.0 - 4.0 / 3.0]).unwrap();
        assert!((found.mean - 10.0).abs() < 1e-9);
        assert!((found.error_95 - 3.182 * (80.0_f64 / 9.0 / 3.0 / 4.0).sqrt()).abs() < 1e-9);
        assert_eq!(Mean::of(&[1.0]), None);
        assert_eq!(Mean::of(&[1.0, f64::NAN]), None);
        assert!((1..200).all(|freedom| student_95(freedom) >= student_95(freedom + 1)));
    }

    #[test]
    fn finds_the_slope_of_a_line_with_noise() {
        let points: Vec<_> =
            (0..100).map(|x| (f64::from(x), 2.0 * f64::from(x) + f64::from(x % 2))).collect();
        assert!((slope(&points) - 2.0).abs() < 0.01);
        assert_eq!(slope(&[(0.0, 1.0), (1.0, 5.0)]), 0.0);
    }
}
