//! Reads values back through the appliance's own interface and compares them with the book.
//!
//! Every acknowledged value must be there exactly once, with the number and the source time that
//! were sent. A value without source time that was sent again may be there twice: the device's
//! repetition cannot be told from a second value; such ones are counted apart.
//!
//! **Invariants**
//! - Numbers are compared bit by bit, times to the nanosecond.
//! - What is found and was never sent counts as unknown: it must be zero too.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use crate::http::{Http, encode, expect_success};
use crate::load::book::Entry;
use crate::load::client::path;
use crate::load::frame::{fingerprint, value_of};

/// How many examples of faults are told.
const EXAMPLES_MAX: usize = 10;

/// What the comparison found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Comparison {
    pub(crate) topics: u64,
    pub(crate) acknowledged: u64,
    /// Acknowledged and not there.
    pub(crate) lost: u64,
    /// Of the lost: acknowledged before the server went down.
    pub(crate) lost_before_down: u64,
    /// There more than once, with no excuse.
    pub(crate) duplicated: u64,
    /// Sent again without a source time, and there twice.
    pub(crate) resent_twice: u64,
    /// There with another source time than was sent.
    pub(crate) altered: u64,
    /// There, and never sent.
    pub(crate) unknown: u64,
    /// Refused, and there all the same.
    pub(crate) refused_but_stored: u64,
    pub(crate) examples: Vec<String>,
}

/// One value found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) source_time: i64,
    pub(crate) value: f64,
}

impl Comparison {
    /// Adds another comparison's counts.
    pub(crate) fn add(&mut self, other: Self) {
        self.topics += other.topics;
        self.acknowledged += other.acknowledged;
        self.lost += other.lost;
        self.lost_before_down += other.lost_before_down;
        self.duplicated += other.duplicated;
        self.resent_twice += other.resent_twice;
        self.altered += other.altered;
        self.unknown += other.unknown;
        self.refused_but_stored += other.refused_but_stored;
        self.examples.extend(other.examples);
        self.examples.truncate(EXAMPLES_MAX);
    }

    /// True when every acknowledged value is there exactly once, and nothing else.
    pub(crate) fn is_clean(&self) -> bool {
        self.lost + self.duplicated + self.altered + self.unknown + self.refused_but_stored == 0
    }

    fn example(&mut self, text: impl FnOnce() -> String) {
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push(text());
        }
    }
}

/// Reads every topic of `entries` back, from `from` (nanoseconds since 1970) on, and compares.
pub(crate) fn read_back(
    http: &mut Http,
    entries: &[Entry],
    tags: u32,
    from: i64,
    each: &mut dyn FnMut() -> Result<()>,
) -> Result<Comparison> {
    read_back_below(http, "", entries, tags, from, each)
}

/// As [`read_back`], of the topics below `prefix` that have the same paths.
pub(crate) fn read_back_below(
    http: &mut Http,
    prefix: &str,
    entries: &[Entry],
    tags: u32,
    from: i64,
    each: &mut dyn FnMut() -> Result<()>,
) -> Result<Comparison> {
    let mut by_topic: BTreeMap<u32, Vec<Entry>> = BTreeMap::new();
    for entry in entries {
        by_topic.entry(entry.topic).or_default().push(*entry);
    }
    let counter_first = entries.iter().map(|entry| entry.counter).min().unwrap_or(0);
    let mut all = Comparison::default();
    for (topic, entries) in by_topic {
        each()?;
        let name = format!("{prefix}{}", path((topic / tags) as usize, topic % tags));
        let found = fetch(http, &name, from)?;
        all.add(compare(topic, &name, &entries, &found, counter_first));
    }
    Ok(all)
}

/// Compares one topic. Values with a counter below `counter_first` are another run's.
pub(crate) fn compare(
    topic: u32,
    name: &str,
    entries: &[Entry],
    found: &[Sample],
    counter_first: u64,
) -> Comparison {
    let mut result = Comparison { topics: 1, ..Comparison::default() };
    let mut there: HashMap<u64, Vec<i64>> = HashMap::with_capacity(found.len());
    for sample in found.iter().filter(|sample| sample.value >= counter_first as f64) {
        there.entry(sample.value.to_bits()).or_default().push(sample.source_time);
    }
    for entry in entries {
        let value = value_of(entry.counter, fingerprint(topic));
        let times = there.remove(&value.to_bits()).unwrap_or_default();
        if entry.refused {
            result.refused_but_stored += u64::from(!times.is_empty());
        }
        if entry.source_time != 0 && times.iter().any(|time| *time != entry.source_time) {
            result.altered += 1;
            result.example(|| format!("{name}: {value} has the times {times:?}"));
        }
        let excused = entry.resent && entry.source_time == 0;
        match times.len() {
            0 | 1 => {}
            2 if excused => result.resent_twice += 1,
            count => {
                result.duplicated += 1;
                result.example(|| format!("{name}: {value} is there {count} times"));
            }
        }
        if entry.acknowledged {
            result.acknowledged += 1;
            if times.is_empty() {
                result.lost += 1;
                result.lost_before_down += u64::from(entry.before_down);
                result.example(|| format!("{name}: {value} was acknowledged and is not there"));
            }
        }
    }
    for (bits, times) in there {
        result.unknown += times.len() as u64;
        result.example(|| format!("{name}: {} was never sent", f64::from_bits(bits)));
    }
    result
}

/// All samples of a topic from `from` on.
fn fetch(http: &mut Http, name: &str, from: i64) -> Result<Vec<Sample>> {
    let target = format!(
        "/api/v1/workspaces/main/raw?path={}&from={from}&to=%2B1h&format=csv",
        encode(name)
    );
    let answer = http.get(&target)?;
    if answer.status == 404 {
        // No such topic: everything of it is lost, which the comparison says.
        return Ok(Vec::new());
    }
    expect_success("GET", &target, &answer)?;
    let text = String::from_utf8(answer.body).context("read the CSV as text")?;
    parse(&text).with_context(|| format!("read the CSV of {name}"))
}

/// `source_time,receive_time,quality,kind,value`
fn parse(csv: &str) -> Result<Vec<Sample>> {
    let mut lines = csv.lines();
    let head = lines.next().unwrap_or_default();
    if !head.starts_with("source_time,receive_time,quality,kind,value") {
        bail!("the CSV begins with '{head}'");
    }
    lines
        .map(|line| {
            let mut cells = line.splitn(5, ',');
            let time = cells.next().unwrap_or_default();
            let value = number_in(cells.nth(3).unwrap_or_default());
            let time: jiff::Timestamp =
                time.parse().with_context(|| format!("read the time of '{line}'"))?;
            Ok(Sample {
                source_time: i64::try_from(time.as_nanosecond()).context("a time out of range")?,
                value: value.parse().with_context(|| format!("read the value of '{line}'"))?,
            })
        })
        .collect()
}

/// The number that a value is or begins with, however it is quoted.
fn number_in(cell: &str) -> &str {
    let from = cell.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let rest = cell.get(from..).unwrap_or_default();
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    // Only a body that is no number alone has words behind it.
    if cell.starts_with('"') || cell.contains(' ') { rest.get(..end).unwrap_or(cell) } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOPIC: u32 = 421;

    fn entry(counter: u64, source_time: i64) -> Entry {
        Entry { topic: TOPIC, counter, source_time, acknowledged: true, ..Entry::default() }
    }

    fn sample(counter: u64, source_time: i64) -> Sample {
        Sample { source_time, value: value_of(counter, TOPIC) }
    }

    fn check(entries: &[Entry], found: &[Sample]) -> Comparison {
        compare(TOPIC, "lab/d0042/t1", entries, found, 10)
    }

    #[test]
    fn accepts_every_value_once_and_ignores_an_earlier_run() {
        let result =
            check(&[entry(10, 0), entry(11, 77)], &[sample(3, 1), sample(10, 5), sample(11, 77)]);
        assert!(result.is_clean(), "{result:?}");
        assert_eq!(result.acknowledged, 2);
    }

    #[test]
    fn finds_what_is_lost_and_when_it_was_acknowledged() {
        let before = Entry { before_down: true, ..entry(10, 0) };
        let unanswered = Entry { acknowledged: false, ..entry(12, 0) };
        let result = check(&[before, entry(11, 0), unanswered], &[]);
        assert_eq!((result.lost, result.lost_before_down, result.acknowledged), (2, 1, 2));
        assert!(result.examples[0].contains("10.0421 was acknowledged"), "{result:?}");
    }

    #[test]
    fn excuses_a_repetition_only_without_a_source_time_and_only_once() {
        let resent = |counter, time| Entry { resent: true, ..entry(counter, time) };
        let twice = |counter, time| [sample(counter, time), sample(counter, time)];
        let result = check(&[resent(10, 0)], &twice(10, 5));
        assert_eq!((result.duplicated, result.resent_twice), (0, 1));
        let result = check(&[resent(10, 5)], &twice(10, 5));
        assert_eq!((result.duplicated, result.resent_twice), (1, 0));
        let result = check(&[entry(10, 0)], &twice(10, 5));
        assert_eq!((result.duplicated, result.resent_twice), (1, 0));
        let three = [sample(10, 1), sample(10, 2), sample(10, 3)];
        assert_eq!(check(&[resent(10, 0)], &three).duplicated, 1);
    }

    #[test]
    fn finds_altered_unknown_and_refused_values() {
        let refused = Entry { acknowledged: false, refused: true, ..entry(12, 0) };
        let other = Sample { source_time: 9, value: 10.0 };
        let result = check(&[entry(11, 77), refused], &[sample(11, 78), other, sample(12, 1)]);
        assert_eq!((result.altered, result.unknown, result.refused_but_stored), (1, 1, 1));
        assert!(!result.is_clean());
    }

    #[test]
    fn reads_the_appliances_csv() {
        let csv = "source_time,receive_time,quality,kind,value\r\n\
                   1970-01-01T00:00:01.500000001Z,1970-01-01T00:00:02.000000000Z,0,float,17.0421\r\n";
        assert_eq!(parse(csv).unwrap(), [Sample { source_time: 1_500_000_001, value: 17.0421 }]);
        let times = "1970-01-01T00:00:01.500000001Z,1970-01-01T00:00:02.000000000Z,0";
        let number = |value: &str| {
            let csv =
                format!("source_time,receive_time,quality,kind,value\r\n{times},text,{value}\r\n");
            parse(&csv).unwrap()[0].value
        };
        assert_eq!(number("17.0421 press 4; shift"), 17.0421);
        assert_eq!(number("\"{\"\"reading\"\": 17.0421, \"\"unit\"\": 1}\""), 17.0421);
        assert_eq!(number("\"[17.0421, 1.0421]\""), 17.0421);
        assert!(parse("time,value\r\n").is_err());
        assert!(parse("").is_err());
    }
}
