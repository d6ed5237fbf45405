//! Figures of the appliance at one moment, and what two moments tell together: rates and shares.
//!
//! **Invariants**
//! - A counter that went back began anew: there is no rate then, never a negative one.
//! - What the appliance does not measure is absent, never zero.

use millrace_contract::v1;
use millrace_model::Timestamp;

/// Figures at one moment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Snapshot {
    pub(super) at: Timestamp,
    measures: Vec<v1::Measure>,
}

impl Snapshot {
    pub(super) fn new(at: Timestamp, measures: Vec<v1::Measure>) -> Self {
        Self { at, measures }
    }

    /// A figure without label.
    pub(super) fn value(&self, name: &str) -> Option<f64> {
        self.measures.iter().find(|measure| measure.name == name).map(|measure| measure.value)
    }

    /// The sum of a figure over all its labels.
    pub(super) fn sum(&self, name: &str) -> Option<f64> {
        let mut all = self.labeled(name).peekable();
        all.peek()?;
        Some(all.map(|(_, value)| value).sum())
    }

    /// A figure with its labels.
    pub(super) fn labeled(&self, name: &str) -> impl Iterator<Item = (&str, f64)> {
        let of_name = self.measures.iter().filter(move |measure| measure.name == name);
        of_name.map(|measure| (measure.label.as_deref().unwrap_or(""), measure.value))
    }

    fn with_label(&self, name: &str, label: &str) -> Option<f64> {
        self.labeled(name).find(|(own, _)| *own == label).map(|(_, value)| value)
    }

    /// One figure of several with the same name.
    pub(super) fn one(&self, name: &str, label: &str) -> Option<f64> {
        self.with_label(name, label)
    }
}

/// Two moments.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) before: &'a Snapshot,
    pub(super) now: &'a Snapshot,
}

impl Pair<'_> {
    fn seconds(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "seconds of a page that stands open")]
        let seconds = self.now.at.nanos_since(self.before.at) as f64 / 1e9;
        (seconds > 0.1).then_some(seconds)
    }

    /// What a counter, over all its labels, grew by per second.
    pub(super) fn rate(&self, name: &str) -> Option<f64> {
        let grown = self.now.sum(name)? - self.before.sum(name)?;
        (grown >= 0.0).then_some(())?;
        Some(grown / self.seconds()?)
    }

    /// The same for one label.
    pub(super) fn rate_of(&self, name: &str, label: &str) -> Option<f64> {
        let grown = self.grown(name, label)?;
        Some(grown / self.seconds()?)
    }

    fn grown(&self, name: &str, label: &str) -> Option<f64> {
        let before = self.before.with_label(name, label).unwrap_or(0.0);
        let grown = self.now.with_label(name, label)? - before;
        (grown >= 0.0).then_some(grown)
    }

    /// The mean of a sum over a count, between the two moments: the mean wait of a lane.
    pub(super) fn mean_of(&self, sum: &str, count: &str, label: &str) -> Option<f64> {
        let count = self.grown(count, label)?;
        (count > 0.0).then_some(())?;
        Some(self.grown(sum, label)? / count)
    }

    /// The three largest growths per second by label: who used the most CPU.
    pub(super) fn heaviest(&self, name: &str) -> Vec<(String, f64)> {
        let Some(seconds) = self.seconds() else { return Vec::new() };
        let mut all: Vec<(String, f64)> = self
            .now
            .labeled(name)
            .filter_map(|(label, _)| Some((label.to_owned(), self.grown(name, label)? / seconds)))
            .filter(|(_, share)| *share > 0.000_5)
            .collect();
        all.sort_by(|one, other| other.1.total_cmp(&one.1));
        all.truncate(3);
        all
    }

    /// The bound under which 99 of 100 lie, of a distribution whose labels are upper bounds
    /// (`+Inf` the last) and whose values are cumulative counts.
    pub(super) fn p99(&self, name: &str) -> Option<f64> {
        let mut bounds: Vec<(f64, f64)> = self
            .now
            .labeled(name)
            .filter_map(|(label, _)| {
                let bound = if label == "+Inf" { f64::INFINITY } else { label.parse().ok()? };
                Some((bound, self.grown(name, label)?))
            })
            .collect();
        bounds.sort_by(|one, other| one.0.total_cmp(&other.0));
        let total = bounds.last()?.1;
        (total > 0.0).then_some(())?;
        bounds.into_iter().find(|(_, count)| *count >= 0.99 * total).map(|(bound, _)| bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(second: i64, measures: &[(&str, &str, f64)]) -> Snapshot {
        let measure = |(name, label, value): &(&str, &str, f64)| v1::Measure {
            name: (*name).to_owned(),
            label: (!label.is_empty()).then(|| (*label).to_owned()),
            value: *value,
        };
        Snapshot::new(Timestamp(second * 1_000_000_000), measures.iter().map(measure).collect())
    }

    #[test]
    fn tells_rates_over_all_labels() {
        let before = snapshot(0, &[("refused", "rate", 1.0), ("refused", "schema", 2.0)]);
        let now = snapshot(2, &[("refused", "rate", 5.0), ("refused", "schema", 2.0)]);
        let pair = Pair { before: &before, now: &now };
        assert_eq!(pair.rate("refused"), Some(2.0));
        assert_eq!(pair.rate_of("refused", "rate"), Some(2.0));
        assert_eq!(pair.rate("stored"), None, "what is not measured has no rate");
    }

    #[test]
    fn a_counter_that_began_anew_has_no_rate() {
        let before = snapshot(0, &[("stored", "", 100.0)]);
        let now = snapshot(2, &[("stored", "", 3.0)]);
        assert_eq!(Pair { before: &before, now: &now }.rate("stored"), None);
    }

    #[test]
    fn finds_the_heaviest() {
        let before = snapshot(0, &[("cpu", "a", 1.0), ("cpu", "b", 5.0)]);
        let now = snapshot(1, &[("cpu", "a", 1.5), ("cpu", "b", 5.1), ("cpu", "new", 0.9)]);
        let names: Vec<String> = Pair { before: &before, now: &now }
            .heaviest("cpu")
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["new", "a", "b"]);
    }

    #[test]
    fn finds_the_bound_of_ninety_nine_in_a_hundred() {
        let before =
            snapshot(0, &[("t", "0.001", 50.0), ("t", "0.002", 50.0), ("t", "+Inf", 50.0)]);
        let now =
            snapshot(1, &[("t", "0.001", 100.0), ("t", "0.002", 149.0), ("t", "+Inf", 150.0)]);
        assert_eq!(Pair { before: &before, now: &now }.p99("t"), Some(0.002));
        assert_eq!(Pair { before: &now, now: &now }.p99("t"), None, "nothing happened");
    }
}
