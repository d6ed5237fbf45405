//! A window in equal intervals, for charts: the extremes of each are kept.
//!
//! **Invariants**: the counts of all buckets add up to the samples of the window; a spike of one
//! sample is the minimum or maximum of its bucket.

use crate::config::BUCKETS_MAX;
use crate::error::{Error, Result};
use crate::query::Merge;
use crate::query::snapshot::snapshot;
use crate::sample::{Bucket, Item, Point, Range, RangeQuery};
use crate::shared::Shared;
use millrace_model::quality::Grade;
use millrace_model::{Quality, Timestamp};

pub(crate) fn range(shared: &Shared, query: &RangeQuery) -> Result<Range> {
    if query.buckets == 0 || query.buckets > BUCKETS_MAX {
        return Err(Error::Query { field: "buckets", must: "be between 1 and 10000" });
    }
    if query.from >= query.to {
        return Err(Error::Query { field: "from", must: "be before to" });
    }
    let cut = Cut::new(query);
    let view = snapshot(shared, query.tag, query.from.0, query.to.0);
    let (from, to) = (query.from.0, query.to.0);
    let mut merge = Merge::of_parts(shared, query.tag, &view.parts, from, to);
    merge.add(view.rows);
    let start = |number| Bucket { start: cut.start(number), ..Bucket::default() };
    let mut buckets: Vec<Bucket> = (0..query.buckets).map(start).collect();
    loop {
        let group = merge.next_group();
        if group.is_empty() {
            break;
        }
        for item in group {
            if let Some(bucket) = buckets.get_mut(cut.bucket(item.time)) {
                count(bucket, &item);
            }
        }
    }
    Ok(Range { buckets, incomplete: merge.is_incomplete() })
}

/// A window cut in equal pieces; 128 bits, so that no window is too long.
struct Cut {
    from: i128,
    length: i128,
    pieces: i128,
}

impl Cut {
    fn new(query: &RangeQuery) -> Self {
        let from = i128::from(query.from.0);
        let pieces = i128::try_from(query.buckets).unwrap_or(1);
        Self { from, length: i128::from(query.to.0) - from, pieces }
    }

    /// The first nanosecond of a piece.
    fn start(&self, number: usize) -> Timestamp {
        let before = self.length * i128::try_from(number).unwrap_or(0);
        // Rounded up, so that `bucket(start(n)) == n`.
        let start = self.from + (before + self.pieces - 1).div_euclid(self.pieces);
        Timestamp(i64::try_from(start).unwrap_or(i64::MAX))
    }

    fn bucket(&self, time: i64) -> usize {
        let number = (i128::from(time) - self.from) * self.pieces / self.length;
        usize::try_from(number).unwrap_or(usize::MAX)
    }
}

fn count(bucket: &mut Bucket, item: &Item) {
    if Quality(item.quality).grade() == Grade::Bad {
        bucket.bad_count += 1;
        return;
    }
    let Some(value) = item.value().as_f64() else {
        bucket.other_count += 1;
        return;
    };
    if !value.is_finite() {
        bucket.non_finite_count += 1;
        return;
    }
    let point = Point { time: Timestamp(item.time), value };
    bucket.count += 1;
    bucket.first.get_or_insert(point);
    bucket.last = Some(point);
    if bucket.min.is_none_or(|min| value < min.value) {
        bucket.min = Some(point);
    }
    if bucket.max.is_none_or(|max| value > max.value) {
        bucket.max = Some(point);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_model::TagId;

    #[test]
    fn every_start_lies_in_its_own_bucket() {
        for (from, to, buckets) in [
            (0, 10, 3),
            (-7, 7, 5),
            (i64::MIN, i64::MAX, 10_000),
            (5, 6, 4),
            (1_774_652_400_000_000_000, 1_774_735_200_000_000_000, 23),
        ] {
            let query =
                RangeQuery { tag: TagId(1), from: Timestamp(from), to: Timestamp(to), buckets };
            let cut = Cut::new(&query);
            assert_eq!(cut.start(0).0, from);
            assert_eq!(cut.bucket(to - 1), if (from, to) == (5, 6) { 0 } else { buckets - 1 });
            for number in 0..buckets {
                let start = cut.start(number).0;
                if start < to {
                    assert!(cut.bucket(start) >= number, "bucket {number} of {query:?}");
                }
            }
        }
    }
}
