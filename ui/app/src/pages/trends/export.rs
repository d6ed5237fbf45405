//! What is in sight as CSV, for a spreadsheet or a script: ISO times, plain numbers.
//!
//! **Invariants**
//! - No text of a plant becomes a formula: one that begins like it is set off by an apostrophe.
//! - Numbers and times do not follow the person's language.

use super::series::Series;
use super::timestamp;
use millrace_kit::{Quality, Window};
use std::fmt::Write as _;

/// The lines in a window.
pub(super) fn csv(all: &[Series], window: Window) -> String {
    let mut text = "path,unit,time,samples,first,min,max,mean,last,quality\r\n".to_owned();
    for series in all {
        let (path, unit) = (quoted(&series.path), quoted(&series.line.unit));
        let points = series.line.points.iter().zip(&series.counts).zip(&series.means);
        for ((point, count), mean) in points.filter(|((point, _), _)| window.has(point.at)) {
            let quality = match (series.is_raw, point.quality) {
                // Of an interval nobody knows.
                (false, _) => "",
                (true, Quality::Good) => "good",
                (true, Quality::Uncertain) => "uncertain",
                (true, Quality::Bad) => "bad",
            };
            let time = timestamp(point.at).to_rfc3339();
            let (first, least, most, last) = (point.first, point.least, point.most, point.last);
            // Writing into a text cannot fail.
            let _written = write!(
                text,
                "{path},{unit},{time},{count},{first},{least},{most},{mean},{last},{quality}\r\n"
            )
            .is_ok();
        }
    }
    text
}

fn quoted(text: &str) -> String {
    let mark = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    format!("\"{mark}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_kit::{ChartLine, ChartPoint};

    #[test]
    fn writes_what_is_in_sight() {
        let point = |at: f64| ChartPoint::single(at, 1234.5, Quality::Bad);
        let series = Series {
            path: "=a,\"b\"".into(),
            line: ChartLine {
                unit: "°C".into(), points: vec![point(500.0), point(9e9)], gap: 1.0
            },
            counts: vec![1, 1],
            means: vec![1234.5, 1234.5],
            is_raw: true,
            ..Series::default()
        };
        let text = csv(&[series], Window { from: 0.0, to: 1_000.0 });
        let lines: Vec<&str> = text.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), 2, "{text}");
        let line = "\"'=a,\"\"b\"\"\",\"°C\",1970-01-01T00:00:00.5Z,1,1234.5,1234.5,1234.5,1234.5,1234.5,bad";
        let found = lines.last().copied().unwrap_or_default();
        assert_eq!(found.replace(".500Z", ".5Z").replace(".500000000Z", ".5Z"), line);
    }
}
