//! The metrics registry: parts hand in a function that reads their counters when asked.
//!
//! Nothing is pushed on the hot path: a part keeps its own atomics, and [`Metrics::render`]
//! calls every source and writes Prometheus' text format. (`prometheus-client` writes OpenMetrics
//! alone, whose counter families `promtool check metrics` refuses; the format is four lines.)
//!
//! **Invariants**: a metric's name and help are registered once; a counter's name is given
//! without `_total`, which the format adds.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

/// One figure at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Name without `millrace_` in front and without `_total`, unit last: `journal_durable_bytes`.
    pub name: &'static str,
    /// What it counts, in a sentence without a full stop.
    pub help: &'static str,
    /// Counters only grow; gauges go up and down.
    pub is_counter: bool,
    /// A label and its value, e.g. `("reason", "rate_limited")`; the label is the same for all
    /// measures of one name.
    pub label: Option<(&'static str, String)>,
    /// The figure; of a distribution, the sum of all that was measured.
    pub value: f64,
    /// The buckets, if it is a distribution.
    pub buckets: Option<Buckets>,
}

/// How what was measured falls into buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct Buckets {
    /// Their upper ends, rising.
    pub ends: &'static [f64],
    /// How many were at most as large as each end and larger than the one before; the last count
    /// is of those above all ends.
    pub counts: Vec<u64>,
}

impl Measure {
    /// A counter without label.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counters are read as doubles by Prometheus")]
    pub fn counter(name: &'static str, help: &'static str, value: u64) -> Self {
        Self { name, help, is_counter: true, label: None, value: value as f64, buckets: None }
    }

    /// A gauge without label.
    #[must_use]
    pub fn gauge(name: &'static str, help: &'static str, value: f64) -> Self {
        Self { name, help, is_counter: false, label: None, value, buckets: None }
    }

    /// A distribution: the sum of what was measured, and its buckets.
    #[must_use]
    pub fn histogram(name: &'static str, help: &'static str, sum: f64, buckets: Buckets) -> Self {
        Self { buckets: Some(buckets), ..Self::gauge(name, help, sum) }
    }

    /// The same with a label.
    #[must_use]
    pub fn with_label(mut self, label: &'static str, value: impl Into<String>) -> Self {
        self.label = Some((label, value.into()));
        self
    }
}

type Source = Box<dyn Fn(&mut Vec<Measure>) + Send + Sync>;

/// All sources.
#[derive(Clone, Default)]
pub struct Metrics {
    sources: Arc<Mutex<Vec<Source>>>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").field("sources", &self.sources.lock().len()).finish()
    }
}

impl Metrics {
    /// Adds a source; it is called at each scrape and should only read.
    pub fn add(&self, source: impl Fn(&mut Vec<Measure>) + Send + Sync + 'static) {
        self.sources.lock().push(Box::new(source));
    }

    /// All figures now.
    #[must_use]
    pub fn read(&self) -> Vec<Measure> {
        let mut measures = Vec::new();
        for source in self.sources.lock().iter() {
            source(&mut measures);
        }
        measures
    }

    /// The figures in Prometheus' text format 0.0.4.
    #[must_use]
    pub fn render(&self) -> String {
        let mut by_name: BTreeMap<&str, Vec<Measure>> = BTreeMap::new();
        for measure in self.read() {
            by_name.entry(measure.name).or_default().push(measure);
        }
        let mut text = String::new();
        for (name, measures) in by_name {
            // Writing to a String cannot fail.
            let _infallible = render_family(&mut text, name, &measures);
        }
        text
    }
}

fn render_family(text: &mut String, name: &str, measures: &[Measure]) -> fmt::Result {
    let Some(first) = measures.first() else { return Ok(()) };
    let (kind, suffix) = match (&first.buckets, first.is_counter) {
        (Some(_), _) => ("histogram", ""),
        (None, true) => ("counter", "_total"),
        (None, false) => ("gauge", ""),
    };
    writeln!(text, "# HELP millrace_{name}{suffix} {}", first.help)?;
    writeln!(text, "# TYPE millrace_{name}{suffix} {kind}")?;
    for measure in measures {
        let label = measure.label.as_ref().map(|(label, value)| {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            format!("{label}=\"{value}\"")
        });
        let label = label.as_deref().unwrap_or_default();
        match &measure.buckets {
            None => {
                write!(text, "millrace_{name}{suffix}")?;
                render_labels(text, &[label])?;
                writeln!(text, " {}", measure.value)?;
            }
            Some(buckets) => render_buckets(text, name, label, measure.value, buckets)?,
        }
    }
    Ok(())
}

fn render_labels(text: &mut String, labels: &[&str]) -> fmt::Result {
    let labels: Vec<&str> = labels.iter().copied().filter(|label| !label.is_empty()).collect();
    if labels.is_empty() { Ok(()) } else { write!(text, "{{{}}}", labels.join(",")) }
}

/// Counts up to each end, all counts, their sum.
fn render_buckets(
    text: &mut String,
    name: &str,
    label: &str,
    sum: f64,
    buckets: &Buckets,
) -> fmt::Result {
    let mut count = 0;
    let ends = buckets.ends.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
    for (end, more) in ends.zip(&buckets.counts) {
        count += more;
        write!(text, "millrace_{name}_bucket")?;
        render_labels(text, &[label, &format!("le=\"{end}\"")])?;
        writeln!(text, " {count}")?;
    }
    for (part, value) in [("sum", sum.to_string()), ("count", count.to_string())] {
        write!(text, "millrace_{name}_{part}")?;
        render_labels(text, &[label])?;
        writeln!(text, " {value}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_the_text_format() {
        let metrics = Metrics::default();
        metrics.add(|out| {
            let refused = Measure::counter("refused_values", "Values refused", 3);
            out.push(refused.with_label("reason", "a\"b"));
            out.push(Measure::gauge("journal_used_bytes", "Bytes in use", 7.5));
        });
        let expected = "\
# HELP millrace_journal_used_bytes Bytes in use
# TYPE millrace_journal_used_bytes gauge
millrace_journal_used_bytes 7.5
# HELP millrace_refused_values_total Values refused
# TYPE millrace_refused_values_total counter
millrace_refused_values_total{reason=\"a\\\"b\"} 3
";
        assert_eq!(metrics.render(), expected);
    }

    #[test]
    fn writes_a_distribution_with_its_buckets_added_up() {
        let metrics = Metrics::default();
        metrics.add(|out| {
            let buckets = Buckets { ends: &[0.001, 0.05, 1.0], counts: vec![2, 0, 3, 1] };
            let waits =
                Measure::histogram("queue_wait_seconds", "How long runs waited", 7.5, buckets);
            out.push(waits.with_label("priority", "high"));
        });
        let expected = "\
# HELP millrace_queue_wait_seconds How long runs waited
# TYPE millrace_queue_wait_seconds histogram
millrace_queue_wait_seconds_bucket{priority=\"high\",le=\"0.001\"} 2
millrace_queue_wait_seconds_bucket{priority=\"high\",le=\"0.05\"} 2
millrace_queue_wait_seconds_bucket{priority=\"high\",le=\"1\"} 5
millrace_queue_wait_seconds_bucket{priority=\"high\",le=\"+Inf\"} 6
millrace_queue_wait_seconds_sum{priority=\"high\"} 7.5
millrace_queue_wait_seconds_count{priority=\"high\"} 6
";
        assert_eq!(metrics.render(), expected);
    }
}
