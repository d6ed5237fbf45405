//! Figures out of a scenario's result.
//!
//! **Invariants**
//! - Entries of a list that the lab called invalid, or that are null, are never averaged in.
//! - What is not there gives no figure; nothing is taken as zero.

use serde_json::Value;

use super::class::{Class, CurveReading, Reading};
use crate::measure::statistics::{Spread, rounded};
use crate::set::{Curve, Figure, Point};

/// The class's figures that the result has.
pub(crate) fn figures(class: &Class, result: &Value) -> Vec<Figure> {
    class.readings.iter().filter_map(|reading| figure(reading, result)).collect()
}

fn figure(reading: &Reading, result: &Value) -> Option<Figure> {
    if !is_valid(result) {
        return None;
    }
    let found = at(result, reading.at);
    let spread = match found.as_slice() {
        [one] => spread_of(one)?,
        many => Spread::of(many.iter().filter_map(|value| value.as_f64()))?,
    };
    Some(Figure {
        name: reading.name.to_owned(),
        unit: reading.unit.to_owned(),
        better: reading.better,
        value: rounded(spread.median, 4),
        lowest: rounded(spread.lowest, 4),
        highest: rounded(spread.highest, 4),
        count: spread.count,
    })
}

/// A number, a spread, or a mean with its error.
fn spread_of(value: &Value) -> Option<Spread> {
    let number = |key: &str| value.get(key).and_then(Value::as_f64);
    let count = |least: usize| {
        value
            .get("count")
            .and_then(Value::as_u64)
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(least)
    };
    if let (Some(median), Some(lowest), Some(highest)) =
        (number("median"), number("lowest"), number("highest"))
    {
        return Some(Spread { median, lowest, highest, count: count(1) });
    }
    if let (Some(mean), Some(error)) = (number("mean"), number("error_95")) {
        let (lowest, highest) = (mean - error, mean + error);
        return Some(Spread { median: mean, lowest, highest, count: count(2) });
    }
    let one = value.as_f64().filter(|number| number.is_finite())?;
    Some(Spread { median: one, lowest: one, highest: one, count: 1 })
}

/// All values at a pointer with `*`.
pub(crate) fn at<'a>(value: &'a Value, pointer: &str) -> Vec<&'a Value> {
    let mut found = vec![value];
    for word in pointer.split('/').skip(1) {
        found = found
            .into_iter()
            .flat_map(|value| match (word, value) {
                ("*", Value::Array(list)) => list.iter().collect(),
                ("*", _) => Vec::new(),
                (key, _) => value.get(key).into_iter().collect::<Vec<_>>(),
            })
            .filter(|value| is_valid(value))
            .collect();
    }
    found
}

fn is_valid(value: &Value) -> bool {
    !value.is_null() && value.get("invalid").is_none_or(Value::is_null)
}

/// The sum of all counts that must be zero; none when the result has none of them.
pub(crate) fn lost(class: &Class, result: &Value) -> Option<u64> {
    let counts = class.lost.iter().flat_map(|pointer| at(result, pointer));
    let counts: Vec<u64> = counts.filter_map(Value::as_u64).collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}

/// What the result says that limited it.
pub(crate) fn limited_by(class: &Class, result: &Value) -> Option<String> {
    word(at(result, class.limited_by?).last().copied()?)
}

fn word(value: &Value) -> Option<String> {
    value.as_str().map(|word| word.replace('_', " "))
}

/// The climb, if the class has one and the result too.
pub(crate) fn curve(reading: &CurveReading, result: &Value) -> Option<Curve> {
    let (rows, x) = reading.x.1.split_once("/*")?;
    let list = result.pointer(rows)?.as_array()?;
    let one = |row: &Value, pointer: &str| -> Option<f64> {
        row.pointer(pointer.split_once("/*")?.1)?.as_f64()
    };
    let points: Vec<Point> = list
        .iter()
        .filter_map(|row| {
            Some(Point {
                x: row.pointer(x)?.as_f64()?,
                y: reading.y.iter().map(|(_, pointer)| one(row, pointer)).collect(),
                limited_by: reading
                    .limited_by
                    .split_once("/*")
                    .and_then(|(_, pointer)| word(row.pointer(pointer)?)),
            })
        })
        .collect();
    (!points.is_empty()).then(|| Curve {
        x: reading.x.0.to_owned(),
        y: reading.y.iter().map(|(name, _)| (*name).to_owned()).collect(),
        points,
    })
}

/// A figure for people: as many digits as tell something.
pub(crate) fn shown(value: f64) -> String {
    let size = value.abs();
    if size >= 1_000.0 {
        return grouped(value.round());
    }
    let digits = match size {
        _ if size >= 100.0 => 0,
        _ if size >= 10.0 => 1,
        _ if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::set::Better;
    use serde_json::json;

    fn read(at: &'static str, result: &Value) -> Option<(f64, f64, f64, usize)> {
        let reading = Reading { name: "n", unit: "u", better: Better::Lower, at };
        figure(&reading, result).map(|f| (f.value, f.lowest, f.highest, f.count))
    }

    #[test]
    fn reads_numbers_spreads_means_and_lists_without_invalid_entries() {
        let result = json!({
            "one": 3.0,
            "spread": { "median": 2.0, "lowest": 1.0, "highest": 4.0, "count": 5 },
            "mean": { "mean": 1.0, "error_95": 0.25, "count": 9 },
            "rows": [
                { "appliance": { "us": 10.0, "invalid": null } },
                { "appliance": { "us": 90.0, "invalid": "late" } },
                { "appliance": null },
                { "appliance": { "us": 12.0 } },
            ],
        });
        assert_eq!(read("/one", &result), Some((3.0, 3.0, 3.0, 1)));
        assert_eq!(read("/spread", &result), Some((2.0, 1.0, 4.0, 5)));
        assert_eq!(read("/mean", &result), Some((1.0, 0.75, 1.25, 9)));
        assert_eq!(read("/rows/*/appliance/us", &result), Some((11.0, 10.0, 12.0, 2)));
        for missing in ["/none", "/rows/*/floor/us", "/one/*"] {
            assert_eq!(read(missing, &result), None, "{missing}");
        }
        let late = json!({ "one": 3.0, "invalid": "the load generator was late" });
        assert_eq!(read("/one", &late), None, "nothing of a run that was invalid as a whole");
    }

    #[test]
    fn shows_as_many_digits_as_tell_something() {
        let shown_as = |value, expected| assert_eq!(shown(value), expected);
        shown_as(1_234_567.8, "1,234,568");
        shown_as(-1_000.0, "-1,000");
        shown_as(123.4, "123");
        shown_as(12.34, "12.3");
        shown_as(1.234, "1.23");
        shown_as(0.12345, "0.123");
        shown_as(0.0, "0.000");
    }

    #[test]
    fn reads_a_climb_step_by_step() {
        let reading = CurveReading {
            x: ("values/s", "/steps/*/row/offered"),
            y: &[("p99", "/steps/*/row/p99")],
            limited_by: "/steps/*/row/limited_by",
        };
        let result = json!({ "steps": [
            { "row": { "offered": 1.0, "p99": 2.0, "limited_by": "load_generator" } },
            { "row": { "offered": 3.0 } },
        ] });
        let found = curve(&reading, &result).unwrap();
        assert_eq!(found.points.len(), 2);
        assert_eq!(found.points[0].limited_by.as_deref(), Some("load generator"));
        assert_eq!(found.points[1].y, [None]);
    }
}
