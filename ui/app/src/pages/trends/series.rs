//! What was loaded of a topic: its line, and what the window's numbers come to.
//!
//! **Invariants**
//! - A value that is no number makes no point; how many there were is told.

use millrace_contract::v1;
use millrace_kit::{ChartLine, ChartPoint, Quality, Window};
use millrace_model::Timestamp;
use millrace_model::quality::Grade;

/// A line is broken where its points lie further apart than so many times their usual distance.
const GAP_TIMES: f64 = 5.0;

/// What was loaded of a topic.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Series {
    /// The topic.
    pub(super) path: String,
    /// Its line.
    pub(super) line: ChartLine,
    /// How many samples each point stands for.
    pub(super) counts: Vec<u64>,
    /// The mean of each point's numbers.
    pub(super) means: Vec<f64>,
    /// A damaged or missing part may have held more.
    pub(super) is_incomplete: bool,
    /// The points are the samples themselves.
    pub(super) is_raw: bool,
}

fn at(text: &str) -> Option<f64> {
    Timestamp::from_rfc3339(text).map(super::millis)
}

impl Series {
    /// Out of a condensed range.
    pub(super) fn of_range(path: &str, unit: &str, range: &v1::Range, window: Window) -> Self {
        let mut series = Self::empty(path, unit, range.incomplete);
        for bucket in &range.buckets {
            let Some(start) = at(&bucket.start) else { continue };
            let numbers = (bucket.first, bucket.min, bucket.max, bucket.last);
            let (Some(first), Some(least), Some(most), Some(last)) = numbers else { continue };
            let quality = Quality::Good;
            series.line.points.push(ChartPoint { at: start, first, least, most, last, quality });
            series.counts.push(bucket.count);
            series.means.push(bucket.mean.unwrap_or(last));
        }
        let width = window.length() / f64::from(super::load::POINTS);
        series.line.gap = gap(&series.line.points).max(3.0 * width);
        series
    }

    /// Out of samples.
    pub(super) fn of_samples(path: &str, unit: &str, page: &v1::SamplePage) -> Self {
        let mut series = Self::empty(path, unit, page.incomplete);
        series.is_raw = true;
        for sample in &page.items {
            let Some(time) = at(&sample.source_time) else { continue };
            let Some(number) = number(sample.value.get()) else { continue };
            series.line.points.push(ChartPoint::single(time, number, quality(sample.quality)));
            series.counts.push(1);
            series.means.push(number);
        }
        series.line.gap = gap(&series.line.points);
        series
    }

    fn empty(path: &str, unit: &str, is_incomplete: bool) -> Self {
        let line = ChartLine { unit: unit.to_owned(), ..ChartLine::default() };
        Self { path: path.to_owned(), line, is_incomplete, ..Self::default() }
    }

    /// What the numbers of a window come to.
    pub(super) fn sums(&self, window: Window) -> Option<Sums> {
        let all = self.line.points.iter().zip(&self.counts).zip(&self.means);
        let seen = all.filter(|((point, _), mean)| window.has(point.at) && mean.is_finite());
        let mut sums =
            Sums { count: 0, least: f64::INFINITY, most: f64::NEG_INFINITY, mean: 0.0, last: 0.0 };
        for ((point, count), mean) in seen {
            sums.least = sums.least.min(point.least);
            sums.most = sums.most.max(point.most);
            sums.last = point.last;
            #[expect(clippy::cast_precision_loss, reason = "a mean of a count beyond 2^52 is none")]
            let (part, all) = (*count as f64, (sums.count + count) as f64);
            sums.mean += (mean - sums.mean) * part / all.max(1.0);
            sums.count += count;
        }
        (sums.count > 0).then_some(sums)
    }

    /// The number at a time: that of the last point before it, unless a gap lies between.
    pub(super) fn at(&self, time: f64) -> Option<ChartPoint> {
        let behind = self.line.points.partition_point(|point| point.at <= time);
        let point = self.line.points.get(behind.checked_sub(1)?)?;
        (time - point.at <= self.line.gap).then_some(*point)
    }
}

/// What the numbers of a window come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sums {
    pub(super) count: u64,
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) mean: f64,
    pub(super) last: f64,
}

/// A stored value as a number: true is one.
fn number(value: &str) -> Option<f64> {
    match value {
        "true" => Some(1.0),
        "false" => Some(0.0),
        text => {
            text.trim_matches('"').parse().ok().filter(|_| !text.starts_with("\"") || is_word(text))
        }
    }
}

/// Doubles that JSON has no number for come as words.
fn is_word(text: &str) -> bool {
    ["\"NaN\"", "\"Infinity\"", "\"-Infinity\"", "\"inf\"", "\"-inf\""].contains(&text)
}

fn quality(code: u32) -> Quality {
    match millrace_model::Quality(code).grade() {
        Grade::Good => Quality::Good,
        Grade::Uncertain => Quality::Uncertain,
        Grade::Bad => Quality::Bad,
    }
}

/// From which distance on two points are not joined: some times the median of all distances.
fn gap(points: &[ChartPoint]) -> f64 {
    let mut distances: Vec<f64> = points
        .iter()
        .zip(points.iter().skip(1))
        .map(|(one, next)| next.at - one.at)
        .filter(|distance| distance.is_finite())
        .collect();
    distances.sort_by(f64::total_cmp);
    // A lone point, or two, have no usual distance: they are joined.
    if distances.len() < 2 {
        return f64::MAX;
    }
    distances.get(distances.len() / 2).map_or(f64::MAX, |median| median * GAP_TIMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { from: 0.0, to: 1e15 };

    fn sample(second: u32, value: &str, quality: u32) -> v1::Sample {
        let time = format!("2026-11-30T12:00:{second:02}Z");
        v1::Sample {
            source_time: time.clone(),
            receive_time: time,
            quality,
            kind: v1::Kind::Float,
            value: serde_json::value::RawValue::from_string(value.to_owned()).expect("JSON"),
        }
    }

    fn page(samples: Vec<v1::Sample>) -> v1::SamplePage {
        v1::SamplePage { items: samples, next: None, incomplete: false }
    }

    #[test]
    fn samples_keep_their_quality_and_gaps() {
        let times = [(0, "1", 0), (1, "2.5", 0x8000_0000), (2, "true", 0), (30, "4", 0x4000_0000)];
        let samples = times.map(|(second, value, quality)| sample(second, value, quality));
        let mut samples = samples.to_vec();
        samples.insert(1, sample(0, "\"no number\"", 0));
        let series = Series::of_samples("a", "bar", &page(samples));
        let marks: Vec<Quality> = series.line.points.iter().map(|point| point.quality).collect();
        assert_eq!(marks, [Quality::Good, Quality::Bad, Quality::Good, Quality::Uncertain]);
        assert!((series.line.gap - 5_000.0).abs() < 1e-6, "{}", series.line.gap);
        let first = series.line.points.first().expect("a point").at;
        assert_eq!(series.at(first + 1_500.0).map(|point| point.last), Some(2.5));
        assert_eq!(series.at(first + 20_000.0), None, "within the gap nobody knows");
        assert_eq!(series.at(first - 1.0), None);
    }

    #[test]
    fn means_are_weighed_by_their_counts() {
        let bucket = |minute: u32, count: u64, number: f64| v1::Bucket {
            start: format!("2026-11-30T12:{minute:02}:00Z"),
            count,
            min: Some(number - 1.0),
            max: Some(number + 1.0),
            first: Some(number),
            last: Some(number),
            mean: Some(number),
        };
        let mut text = bucket(2, 5, 0.0);
        (text.min, text.max, text.first, text.last) = (None, None, None, None);
        let range = v1::Range {
            from: String::new(),
            to: String::new(),
            buckets: vec![bucket(0, 3, 10.0), bucket(1, 1, 20.0), text],
            incomplete: true,
        };
        let series = Series::of_range("a", "", &range, WINDOW);
        let sums = series.sums(WINDOW).expect("numbers");
        assert_eq!((sums.count, sums.least, sums.most, sums.last), (4, 9.0, 21.0, 20.0));
        assert!((sums.mean - 12.5).abs() < 1e-9, "{}", sums.mean);
        assert!(series.is_incomplete);
        assert_eq!(series.sums(Window { from: 0.0, to: 1.0 }), None);
    }

    #[test]
    fn only_numbers_are_numbers() {
        assert_eq!(number("-2.5e3"), Some(-2500.0));
        assert_eq!(number("false"), Some(0.0));
        assert!(number("\"NaN\"").is_some_and(f64::is_nan));
        for text in ["\"12\"", "{}", "null", "\"inf inity\""] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
