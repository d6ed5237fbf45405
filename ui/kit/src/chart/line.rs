//! Lines of a chart: from points to a path.
//!
//! A point stands for one sample, or for all of an interval; then the path goes through its first,
//! least, most and last number, so that no peak is lost. Where two points lie further apart than the
//! line's gap, the path is broken.
//!
//! **Invariants**
//! - A number that is none breaks the line; nothing is drawn across.

use super::window::Window;
use crate::value::Quality;
use std::fmt::Write as _;

/// Lines of one chart, each with a look of its own.
pub const LINES_MAX: usize = 8;

/// One point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChartPoint {
    /// When, in milliseconds since 1970.
    pub at: f64,
    /// Its first number; a single sample has four equal ones.
    pub first: f64,
    /// Its least.
    pub least: f64,
    /// Its most.
    pub most: f64,
    /// Its last.
    pub last: f64,
    /// What the device says about it.
    pub quality: Quality,
}

impl ChartPoint {
    /// A single sample.
    #[must_use]
    pub fn single(at: f64, number: f64, quality: Quality) -> Self {
        Self { at, first: number, least: number, most: number, last: number, quality }
    }

    fn is_number(&self) -> bool {
        [self.first, self.least, self.most, self.last].iter().all(|part| part.is_finite())
    }
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChartLine {
    /// Lines of one unit share a scale.
    pub unit: String,
    /// Its points, in the order of time.
    pub points: Vec<ChartPoint>,
    /// Two points further apart than this are not joined, in milliseconds.
    pub gap: f64,
}

/// From the least to the most number of a scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower end.
    pub least: f64,
    /// The upper end.
    pub most: f64,
}

impl Default for Range {
    fn default() -> Self {
        Self { least: 0.0, most: 1.0 }
    }
}

/// The scales of all units, in the order in which they come: what is in sight, with a little room.
pub(super) fn ranges(lines: &[ChartLine], window: Window) -> Vec<(String, Range)> {
    let mut all: Vec<(String, Range)> = Vec::new();
    for line in lines {
        let seen = line.points.iter().filter(|point| window.has(point.at) && point.is_number());
        let range = seen.fold(None, |range: Option<Range>, point| {
            let range = range.unwrap_or(Range { least: point.least, most: point.most });
            Some(Range { least: range.least.min(point.least), most: range.most.max(point.most) })
        });
        let Some(range) = range else { continue };
        match all.iter_mut().find(|(unit, _)| *unit == line.unit) {
            Some((_, own)) => {
                own.least = own.least.min(range.least);
                own.most = own.most.max(range.most);
            }
            None => all.push((line.unit.clone(), range)),
        }
    }
    for (_, range) in &mut all {
        let room = (range.most - range.least) * 0.06;
        // A flat line stands in the middle.
        let room = if room > 0.0 { room } else { (range.most.abs() * 0.1).max(0.5) };
        *range = Range { least: range.least - room, most: range.most + room };
    }
    all
}

/// Where a chart's lines are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) width: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) window: Window,
}

impl Frame {
    fn x(self, at: f64) -> f64 {
        self.left + self.window.share(at) * self.width
    }

    pub(super) fn y(self, number: f64, range: Range) -> f64 {
        let height = self.bottom - self.top;
        // Halves, so that even the widest range of doubles has a finite length.
        let share = (number / 2.0 - range.least / 2.0) / (range.most / 2.0 - range.least / 2.0);
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 };
        self.bottom - share * height
    }

    /// The line as an SVG path. A point beside the window on each side is kept, so that the line
    /// goes to its edge.
    pub(super) fn path(self, line: &ChartLine, range: Range) -> String {
        let mut path = String::new();
        let mut before: Option<f64> = None;
        let start = line.points.partition_point(|point| point.at < self.window.from);
        let end = line.points.partition_point(|point| point.at <= self.window.to);
        let seen = start.saturating_sub(1)..(end + 1).min(line.points.len());
        for point in line.points.get(seen).unwrap_or_default() {
            if !point.is_number() {
                before = None;
                continue;
            }
            let joined = before.is_some_and(|before| point.at - before <= line.gap);
            let x = self.x(point.at).clamp(self.left, self.left + self.width);
            let mut go = |command: char, number: f64| {
                // Writing into a text cannot fail.
                let _written = write!(path, "{command}{x:.1} {:.1}", self.y(number, range)).is_ok();
            };
            go(if joined { 'L' } else { 'M' }, point.first);
            if point.least < point.most {
                go('L', point.least);
                go('L', point.most);
                go('L', point.last);
            } else if !joined {
                // A point with nothing before it is seen by the round end of a line of no length.
                go('L', point.last);
            }
            before = Some(point.at);
        }
        path
    }

    /// A cross at each point of this quality.
    pub(super) fn marks(self, line: &ChartLine, range: Range, quality: Quality) -> String {
        let mut path = String::new();
        for point in &line.points {
            if point.quality == quality && self.window.has(point.at) {
                let number = if point.is_number() { point.last } else { range.least };
                let (x, y) = (self.x(point.at), self.y(number, range));
                let _written = match quality {
                    Quality::Bad => write!(path, "M{x:.1} {y:.1}m-4 -4l8 8m0 -8l-8 8"),
                    _ => write!(path, "M{x:.1} {y:.1}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0"),
                }
                .is_ok();
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Frame = Frame {
        left: 0.0,
        width: 100.0,
        top: 0.0,
        bottom: 10.0,
        window: Window { from: 0.0, to: 100.0 },
    };
    const RANGE: Range = Range { least: 0.0, most: 10.0 };

    fn line(points: &[(f64, f64)]) -> ChartLine {
        let point = |(at, number): &(f64, f64)| ChartPoint::single(*at, *number, Quality::Good);
        ChartLine { unit: "bar".into(), points: points.iter().map(point).collect(), gap: 15.0 }
    }

    #[test]
    fn a_gap_is_a_gap() {
        let path = FRAME.path(&line(&[(0.0, 0.0), (10.0, 5.0), (40.0, 5.0), (50.0, 10.0)]), RANGE);
        assert_eq!(path, "M0.0 10.0L0.0 10.0L10.0 5.0M40.0 5.0L40.0 5.0L50.0 0.0");
        let path = FRAME.path(&line(&[(0.0, 1.0), (10.0, f64::NAN), (12.0, 1.0)]), RANGE);
        assert_eq!(path.matches('M').count(), 2, "{path}");
    }

    #[test]
    fn a_peak_within_an_interval_is_kept() {
        let mut peak = line(&[(10.0, 5.0), (20.0, 5.0)]);
        if let Some(point) = peak.points.last_mut() {
            (point.least, point.most) = (1.0, 9.0);
        }
        let path = FRAME.path(&peak, RANGE);
        assert_eq!(path, "M10.0 5.0L10.0 5.0L20.0 5.0L20.0 9.0L20.0 1.0L20.0 5.0");
    }

    #[test]
    fn only_what_is_in_sight_is_drawn() {
        let many: Vec<(f64, f64)> = (-1_000..1_000).map(|n| (f64::from(n), 1.0)).collect();
        let path = FRAME.path(&line(&many), RANGE);
        assert!(path.matches('L').count() < 110, "{}", path.len());
    }

    #[test]
    fn lines_of_one_unit_share_a_scale() {
        let mut other = line(&[(5.0, 1000.0)]);
        other.unit = "kW".into();
        let lines = [line(&[(0.0, 0.0)]), line(&[(1.0, 10.0), (500.0, 9e9)]), other];
        let found = ranges(&lines, FRAME.window);
        assert_eq!(found.len(), 2);
        let (unit, range) = found.first().cloned().unwrap_or_default();
        assert_eq!(unit, "bar");
        assert!((range.least + 0.6).abs() < 1e-9 && (range.most - 10.6).abs() < 1e-9, "{range:?}");
    }

    #[test]
    fn whatever_is_in_it_a_path_is_finite() {
        let numbers = [f64::MAX, f64::MIN, f64::NAN, f64::INFINITY, 0.0, f64::MIN_POSITIVE];
        let points: Vec<(f64, f64)> = (0_u8..).map(f64::from).zip(numbers).collect();
        let line = line(&points);
        for (_, range) in ranges(std::slice::from_ref(&line), FRAME.window) {
            let path = FRAME.path(&line, range) + &FRAME.marks(&line, range, Quality::Good);
            assert!(!path.contains("NaN") && !path.contains("inf"), "{path}");
        }
    }

    #[test]
    fn bad_quality_is_marked() {
        let mut bad = line(&[(10.0, 5.0)]);
        if let Some(point) = bad.points.first_mut() {
            point.quality = Quality::Bad;
        }
        assert!(FRAME.marks(&bad, RANGE, Quality::Bad).starts_with("M10.0 5.0"));
        assert_eq!(FRAME.marks(&bad, RANGE, Quality::Uncertain), "");
    }
}
