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
    fn finds_the_slope_of_a_line_with_noise() {
        let points: Vec<_> =
            (0..100).map(|x| (f64::from(x), 2.0 * f64::from(x) + f64::from(x % 2))).collect();
        assert!((slope(&points) - 2.0).abs() < 0.01);
        assert_eq!(slope(&[(0.0, 1.0), (1.0, 5.0)]), 0.0);
    }
}
