//! What every run adds to, kept or not: counts, times and their spread, per pipeline and hour.
//!
//! Workers add under a small lock, one of sixteen; the history's thread takes everything once in a
//! while and adds it to the hour's row. The same place remembers in which second a successful run
//! of a pipeline was last kept: at most one a second is.
//!
//! **Invariants**: an hour's row may hold up to one taking's runs of the hour before, never one
//! run twice; a clock that jumps changes which hour counts, never how many.

use crate::bytes::{Reader, put, seal, unseal};
use crate::run::Status;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

const SHARDS: usize = 16;
/// Two buckets an octave, from a microsecond to an hour and on.
const BUCKETS: usize = 64;
const VERSION: u8 = 1;
/// Pipelines remembered; far more than a box deploys. Beyond it, all are forgotten and counted anew.
const PIPELINES_MAX: usize = 100_000;

/// A run that ended, as it is counted.
#[derive(Clone, Copy, Debug)]
pub struct Finish {
    /// Its pipeline.
    pub pipeline: u32,
    /// How it ended.
    pub status: Status,
    /// Whether a person started it.
    pub is_manual: bool,
    /// From its start to its end.
    pub duration: Duration,
    /// How long it waited before.
    pub waited: Duration,
    /// CPU time used.
    pub cpu: Duration,
}

/// What the runs of a pipeline were, over some hours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    counts: [u64; Status::ALL.len()],
    /// Runs that executed, by duration.
    buckets: [u64; BUCKETS],
    /// Sum of their durations.
    pub duration: Duration,
    /// The longest of them.
    pub longest: Duration,
    /// Sum of their waits in the queue.
    pub waited: Duration,
    /// CPU time of all.
    pub cpu: Duration,
}

impl Default for Counts {
    fn default() -> Self {
        let zero = Duration::ZERO;
        let counts = [0; Status::ALL.len()];
        Self {
            counts,
            buckets: [0; BUCKETS],
            duration: zero,
            longest: zero,
            waited: zero,
            cpu: zero,
        }
    }
}

impl Counts {
    /// Runs that ended so.
    #[must_use]
    pub fn of(&self, status: Status) -> u64 {
        self.counts.get(status as usize).copied().unwrap_or(0)
    }

    /// Runs that executed: all but the skipped ones.
    #[must_use]
    pub fn executed(&self) -> u64 {
        let all = self.counts.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
        all.saturating_sub(self.of(Status::Skipped))
    }

    /// The duration that this share of the runs (0.0 to 1.0) did not exceed: the upper edge of its
    /// bucket, so up to 1.42 times too long, and never above the longest.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a share of a count")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to a count")]
    pub fn quantile(&self, share: f64) -> Duration {
        let total = self.buckets.iter().fold(0u64, |sum, count| sum.saturating_add(*count));
        let rank = ((total as f64) * share.clamp(0.0, 1.0)).ceil().max(1.0) as u64;
        let mut seen = 0u64;
        for (bucket, count) in self.buckets.iter().enumerate() {
            seen = seen.saturating_add(*count);
            if seen >= rank {
                return upper_edge(bucket).min(self.longest);
            }
        }
        Duration::ZERO
    }

    /// Mean duration.
    #[must_use]
    pub fn mean(&self) -> Duration {
        let runs = u32::try_from(self.executed()).unwrap_or(u32::MAX);
        self.duration.checked_div(runs).unwrap_or_default()
    }

    fn add(&mut self, finish: &Finish) {
        if let Some(count) = self.counts.get_mut(finish.status as usize) {
            *count += 1;
        }
        self.cpu = self.cpu.saturating_add(finish.cpu);
        if finish.status == Status::Skipped {
            return;
        }
        if let Some(count) = self.buckets.get_mut(bucket(finish.duration)) {
            *count += 1;
        }
        self.duration = self.duration.saturating_add(finish.duration);
        self.waited = self.waited.saturating_add(finish.waited);
        self.longest = self.longest.max(finish.duration);
    }

    /// Adds another's runs.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine = mine.saturating_add(theirs);
        }
        for (mine, theirs) in self.buckets.iter_mut().zip(other.buckets) {
            *mine = mine.saturating_add(theirs);
        }
        self.duration = self.duration.saturating_add(other.duration);
        self.waited = self.waited.saturating_add(other.waited);
        self.cpu = self.cpu.saturating_add(other.cpu);
        self.longest = self.longest.max(other.longest);
    }
}

fn bucket(duration: Duration) -> usize {
    let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX).max(1);
    let octave = micros.ilog2();
    let is_upper = octave > 0 && micros & (1 << (octave - 1)) != 0;
    let place = octave as usize * 2 + usize::from(is_upper);
    place.min(BUCKETS - 1)
}

fn upper_edge(bucket: usize) -> Duration {
    if bucket >= BUCKETS - 1 {
        return Duration::MAX;
    }
    let octave = 1u64 << (bucket / 2);
    let micros = if bucket.is_multiple_of(2) { octave + octave / 2 } else { octave * 2 };
    Duration::from_micros(micros)
}

/// Counts by pipeline.
pub(crate) type ByPipeline = BTreeMap<u32, Counts>;

#[derive(Debug, Default)]
struct Seen {
    counts: Option<Box<Counts>>,
    /// Seconds of the last kept successful and the last kept skipped run, plus one.
    kept: [u64; 2],
}

/// Where workers count.
#[derive(Debug, Default)]
pub(crate) struct Tallies {
    shards: [Mutex<HashMap<u32, Seen>>; SHARDS],
}

impl Tallies {
    /// Counts a run; whether it is to be kept.
    pub(crate) fn finish(&self, finish: &Finish, second: u64) -> bool {
        let Some(shard) = self.shards.get(finish.pipeline as usize % SHARDS) else { return true };
        let mut shard = shard.lock();
        if shard.len() > PIPELINES_MAX / SHARDS && !shard.contains_key(&finish.pipeline) {
            shard.retain(|_, seen| seen.counts.is_some());
        }
        let seen = shard.entry(finish.pipeline).or_default();
        seen.counts.get_or_insert_default().add(finish);
        let kept = match finish.status {
            Status::Ok => 0,
            Status::Skipped => 1,
            Status::Failed | Status::Stopped | Status::Interrupted => return true,
        };
        if finish.is_manual {
            return true;
        }
        let Some(kept) = seen.kept.get_mut(kept) else { return true };
        let is_first = *kept != second + 1;
        *kept = second + 1;
        is_first
    }

    /// Takes what was counted since the last taking.
    pub(crate) fn take(&self) -> ByPipeline {
        let mut taken = ByPipeline::new();
        for shard in &self.shards {
            for (pipeline, seen) in shard.lock().iter_mut() {
                if let Some(counts) = seen.counts.take() {
                    taken.insert(*pipeline, *counts);
                }
            }
        }
        taken
    }

    /// The same without taking.
    pub(crate) fn look(&self) -> ByPipeline {
        let mut found = ByPipeline::new();
        for shard in &self.shards {
            for (pipeline, seen) in shard.lock().iter() {
                if let Some(counts) = &seen.counts {
                    found.insert(*pipeline, Counts::clone(counts));
                }
            }
        }
        found
    }
}

/// Adds counts to others.
pub(crate) fn merge(into: &mut ByPipeline, from: &ByPipeline) {
    for (pipeline, counts) in from {
        into.entry(*pipeline).or_default().merge(counts);
    }
}

/// An hour's counts as a sealed body.
pub(crate) fn encode(counts: &ByPipeline) -> Vec<u8> {
    let mut out = vec![VERSION];
    put(&mut out, counts.len() as u64);
    for (pipeline, counts) in counts {
        put(&mut out, u64::from(*pipeline));
        for count in counts.counts {
            put(&mut out, count);
        }
        for time in [counts.duration, counts.longest, counts.waited, counts.cpu] {
            put(&mut out, u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
        }
        let filled = || counts.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        put(&mut out, filled().count() as u64);
        for (bucket, count) in filled() {
            put(&mut out, bucket as u64);
            put(&mut out, *count);
        }
    }
    seal(&out)
}

/// Reads an hour's counts; `None` if they are damaged.
pub(crate) fn decode(body: &[u8]) -> Option<ByPipeline> {
    let mut reader = Reader(unseal(body)?);
    if reader.byte()? != VERSION {
        return None;
    }
    let mut found = ByPipeline::new();
    for _ in 0..reader.number()? {
        let pipeline = reader.small()?;
        let mut counts = Counts::default();
        for count in &mut counts.counts {
            *count = reader.number()?;
        }
        for time in [&mut counts.duration, &mut counts.longest, &mut counts.waited, &mut counts.cpu]
        {
            *time = Duration::from_micros(reader.number()?);
        }
        for _ in 0..reader.number()? {
            let bucket = reader.small::<usize>()?;
            *counts.buckets.get_mut(bucket)? = reader.number()?;
        }
        found.insert(pipeline, counts);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(status: Status, millis: u64) -> Finish {
        let duration = Duration::from_millis(millis);
        let (waited, cpu) = (Duration::from_millis(1), Duration::from_micros(30));
        Finish { pipeline: 7, status, is_manual: false, duration, waited, cpu }
    }

    #[test]
    fn one_successful_run_a_second_is_kept_and_each_failure() {
        let tallies = Tallies::default();
        let kept: Vec<_> = [0, 0, 0, 1].map(|s| tallies.finish(&finish(Status::Ok, 2), s)).into();
        assert_eq!(kept, [true, false, false, true]);
        assert!(tallies.finish(&finish(Status::Failed, 2), 1), "failures always");
        assert!(tallies.finish(&finish(Status::Failed, 2), 1), "and again");
        let manual = Finish { is_manual: true, ..finish(Status::Ok, 2) };
        assert!(tallies.finish(&manual, 1), "what a person started always");
        assert!(tallies.finish(&finish(Status::Skipped, 0), 1), "skipped ones have their own");
        assert!(!tallies.finish(&finish(Status::Skipped, 0), 1));
        let other = Finish { pipeline: 8, ..finish(Status::Ok, 2) };
        assert!(tallies.finish(&other, 1), "and so has another pipeline");
        let taken = tallies.take();
        let counts = &taken[&7];
        assert_eq!((counts.of(Status::Ok), counts.of(Status::Failed)), (5, 2), "all are counted");
        assert_eq!(counts.executed(), 7);
        assert!(tallies.take().is_empty(), "once");
        assert!(!tallies.finish(&finish(Status::Ok, 2), 1), "taking does not forget what was kept");
    }

    #[test]
    fn tells_the_spread_of_durations_and_comes_back_from_its_bytes() {
        let tallies = Tallies::default();
        for millis in 1..=100 {
            tallies.finish(&finish(Status::Ok, millis), 0);
        }
        let taken = tallies.take();
        let (median, worst) = (taken[&7].quantile(0.5), taken[&7].quantile(1.0));
        assert!((50..=71).contains(&median.as_millis()), "{median:?}");
        assert_eq!(worst, Duration::from_millis(100), "never above the longest");
        assert_eq!(taken[&7].mean(), Duration::from_micros(50_500));
        assert_eq!(decode(&encode(&taken)), Some(taken.clone()));
        let mut body = encode(&taken);
        body[6] ^= 1;
        assert_eq!(decode(&body), None, "damage is noticed");
    }

    #[test]
    fn every_duration_has_a_bucket_whose_edge_is_above_it() {
        for micros in [0, 1, 2, 3, 4, 5, 6, 7, 1_000, 65_535, 65_536, 3_600_000_000, u64::MAX] {
            let duration = Duration::from_micros(micros);
            let edge = upper_edge(bucket(duration));
            assert!(edge > duration || edge >= Duration::from_micros(1), "{micros} {edge:?}");
            assert!(edge >= duration, "{micros} {edge:?}");
        }
    }
}
