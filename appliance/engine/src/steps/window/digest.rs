//! How the numbers of a window are spread: their median and percentiles, without keeping all.
//!
//! Numbers are kept sorted as centroids of a value and a weight. Up to [`CENTROIDS_MAX`] numbers each
//! is a centroid of its own and ranks are exact; beyond, neighbors are joined as a t-digest joins
//! them: many in the middle, few at the ends, so that a percentile near 0 or 100 stays sharp.
//!
//! **Invariants**: at most [`CENTROIDS_MAX`] centroids whatever comes; a digest written as state and
//! read back goes on the same.

use crate::steps::number::Number;
use crate::steps::state::{get, map_of};
use millrace_flow::Data;
use std::f64::consts::PI;

/// Most centroids; a state of about 4 KB.
pub(super) const CENTROIDS_MAX: usize = 200;
/// About how many are left after joining.
const JOINED: f64 = 100.0;

/// The spread so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Digest(Vec<Centroid>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Centroid {
    mean: f64,
    weight: f64,
}

impl Digest {
    /// Takes a finite number in.
    pub(super) fn add(&mut self, number: f64) {
        let place = self.0.partition_point(|known| known.mean <= number);
        self.0.insert(place, Centroid { mean: number, weight: 1.0 });
        self.shrink();
    }

    /// Takes another digest in.
    pub(super) fn join(&mut self, other: &Self) {
        self.0.extend(&other.0);
        self.0.sort_by(|left, right| left.mean.total_cmp(&right.mean));
        self.shrink();
    }

    fn weight(&self) -> f64 {
        self.0.iter().map(|centroid| centroid.weight).sum()
    }

    fn shrink(&mut self) {
        if self.0.len() <= CENTROIDS_MAX {
            return;
        }
        let total = self.weight();
        // A centroid may reach over one unit of this scale, which is steep at both ends.
        let scale = |share: f64| JOINED / (2.0 * PI) * (2.0 * share.clamp(0.0, 1.0) - 1.0).asin();
        let mut joined: Vec<Centroid> = Vec::with_capacity(CENTROIDS_MAX);
        let (mut before, mut from) = (0.0, scale(0.0));
        for next in &self.0 {
            let end = before + next.weight;
            match joined.last_mut() {
                Some(last) if scale(end / total) - from <= 1.0 => {
                    last.weight += next.weight;
                    last.mean += (next.mean - last.mean) * next.weight / last.weight;
                }
                _ => {
                    from = scale(before / total);
                    joined.push(*next);
                }
            }
            before = end;
        }
        self.0 = joined;
    }

    /// The value below which this share of the numbers lies, between two of them in proportion (as
    /// spreadsheets' `PERCENTILE` does); null if there are none.
    pub(super) fn rank(&self, share: f64) -> Data {
        let wanted = share * (self.weight() - 1.0);
        let mut before: Option<(f64, f64)> = None;
        let mut end = 0.0;
        for centroid in &self.0 {
            let middle = end + (centroid.weight - 1.0) / 2.0;
            end += centroid.weight;
            if middle >= wanted {
                return Data::Float(match before {
                    Some((place, mean)) if middle > place => {
                        mean + (centroid.mean - mean) * (wanted - place) / (middle - place)
                    }
                    _ => centroid.mean,
                });
            }
            before = Some((middle, centroid.mean));
        }
        before.map_or(Data::Null, |(_, mean)| Data::Float(mean))
    }

    /// The digest as state.
    pub(super) fn to_data(&self) -> Data {
        let list = |part: fn(&Centroid) -> f64| {
            Data::List(self.0.iter().map(|centroid| Data::Float(part(centroid))).collect())
        };
        let is_exact = self.0.iter().all(|centroid| centroid.weight == 1.0);
        let weights = if is_exact { Data::Missing } else { list(|centroid| centroid.weight) };
        map_of([("means", list(|centroid| centroid.mean)), ("weights", weights)])
    }

    /// Reads what [`Digest::to_data`] wrote; none if there is none.
    pub(super) fn from_data(data: &Data) -> Option<Self> {
        let floats = |name: &str| match get(data, name) {
            Data::List(list) => {
                list.iter().filter_map(Number::of).map(Number::to_f64).collect::<Vec<f64>>()
            }
            _ => Vec::new(),
        };
        let (means, weights) = (floats("means"), floats("weights"));
        let weight = |place: usize| weights.get(place).copied().unwrap_or(1.0);
        let centroids = means.iter().enumerate().take(CENTROIDS_MAX);
        let centroids =
            centroids.map(|(place, mean)| Centroid { mean: *mean, weight: weight(place) });
        matches!(data, Data::Map(_)).then(|| Self(centroids.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(data: &Data) -> f64 {
        Number::of(data).expect("a number").to_f64()
    }

    /// As spreadsheets do.
    fn exact(sorted: &[f64], share: f64) -> f64 {
        let place = share * (sorted.len() - 1) as f64;
        let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
        low + (high - low) * place.fract()
    }

    #[test]
    fn is_exact_for_few_numbers() {
        let mut digest = Digest::default();
        assert_eq!(digest.rank(0.5), Data::Null);
        for number in [5.0, 1.0, 3.0, 2.0, 4.0, 10.0] {
            digest.add(number);
        }
        assert_eq!(digest.rank(0.5), Data::Float(3.5));
        assert_eq!(digest.rank(0.0), Data::Float(1.0));
        assert_eq!(digest.rank(1.0), Data::Float(10.0));
        assert_eq!(digest.rank(0.9), Data::Float(7.5));
        assert_eq!(Digest::from_data(&digest.to_data()), Some(digest));
        assert_eq!(Digest::from_data(&Data::Missing), None);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

        /// Ranks are exact up to 200 numbers, and within two hundredths of the rank beyond.
        #[test]
        fn ranks_are_near_the_true_ones(
            numbers in proptest::collection::vec(-1e6_f64..1e6, 1..1500),
            parts in 1_usize..4,
        ) {
            let mut digests = vec![Digest::default(); parts];
            for (place, number) in numbers.iter().enumerate() {
                digests[place % parts].add(*number);
            }
            let mut whole = Digest::default();
            for digest in &digests {
                whole.join(&Digest::from_data(&digest.to_data()).expect("a digest"));
            }
            proptest::prop_assert!(whole.0.len() <= CENTROIDS_MAX);
            let mut sorted = numbers.clone();
            sorted.sort_by(f64::total_cmp);
            for share in [0.01, 0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99] {
                let found = float(&whole.rank(share));
                if sorted.len() <= CENTROIDS_MAX {
                    let wanted = exact(&sorted, share);
                    proptest::prop_assert!((found - wanted).abs() <= 1e-6 * wanted.abs().max(1.0));
                } else {
                    let low = exact(&sorted, (share - 0.02).max(0.0));
                    let high = exact(&sorted, (share + 0.02).min(1.0));
                    proptest::prop_assert!(low <= found && found <= high, "{share}: {found}");
                }
            }
        }
    }
}
