//! A sparkline: the last minutes of a figure as one line, without axes.
//!
//! **Invariants**
//! - A point that is missing is a gap, never a line drawn across.
//! - A flat line is drawn in the middle; nothing is divided by a range of zero.

use leptos::prelude::*;
use std::fmt::Write as _;

/// The box that it is drawn in.
const WIDTH: f64 = 96.0;
const HEIGHT: f64 = 20.0;
/// Kept free at the edges, so that the line is not cut.
const MARGIN: f64 = 1.5;

/// A sparkline.
#[component]
pub fn Sparkline(
    /// The figures, oldest first, evenly in time; `None` = a gap.
    #[prop(into)]
    points: Signal<Vec<Option<f64>>>,
    /// What it shows, for those who do not see it.
    #[prop(into)]
    label: Signal<String>,
) -> impl IntoView {
    view! {
        <svg class="sparkline" viewBox=format!("0 0 {WIDTH} {HEIGHT}") role="img" aria-label=label preserveAspectRatio="none">
            <path d=move || points.with(|points| path(points))></path>
        </svg>
    }
}

/// The line as an SVG path.
fn path(points: &[Option<f64>]) -> String {
    let known = || points.iter().flatten().copied().filter(|point| point.is_finite());
    let least = known().fold(f64::INFINITY, f64::min);
    let most = known().fold(f64::NEG_INFINITY, f64::max);
    let range = most - least;
    let steps = points.len().saturating_sub(1).max(1);
    #[expect(clippy::cast_precision_loss, reason = "a few hundred points at most")]
    let step = WIDTH / steps as f64;
    let mut path = String::new();
    let mut pen_down = false;
    let mut x = 0.0;
    for point in points {
        match point.filter(|point| point.is_finite()) {
            None => pen_down = false,
            Some(value) => {
                let share = if range > 0.0 { (value - least) / range } else { 0.5 };
                let y = MARGIN + (1.0 - share) * (HEIGHT - 2.0 * MARGIN);
                let command = if pen_down { 'L' } else { 'M' };
                // Writing into a text cannot fail.
                let _written = write!(path, "{command}{x:.1} {y:.1}").is_ok();
                pen_down = true;
            }
        }
        x += step;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn draws_from_low_to_high() {
        assert_eq!(path(&[Some(0.0), Some(10.0)]), "M0.0 18.5L96.0 1.5");
    }

    #[test]
    fn leaves_gaps_as_gaps() {
        let drawn = path(&[Some(1.0), None, Some(2.0), Some(f64::NAN), Some(1.0)]);
        assert_eq!(drawn.matches('M').count(), 3, "{drawn}");
        assert!(!drawn.contains('L'), "{drawn}");
    }

    #[test]
    fn draws_a_flat_line_in_the_middle() {
        assert_eq!(path(&[Some(7.0), Some(7.0)]), "M0.0 10.0L96.0 10.0");
        assert_eq!(path(&[]), "");
    }
}
