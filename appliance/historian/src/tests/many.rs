//! Many tags, many hours, many seals: files stay few and answers whole.

use super::rig::{DAY, HOUR, Rig, SECOND, START};
use millrace_model::Retention;

#[test]
fn a_replay_of_years_gives_few_files() {
    let mut rig = Rig::new();
    rig.tags.set(1, Retention::Keep);
    rig.tags.set(2, Retention::Days32);
    for number in 0..3_000i64 {
        // Eight years, almost a day apart; and 31 days, a quarter of an hour apart.
        rig.float(1, START - number * (DAY / 100 * 97), 1.0);
        rig.float(2, START - number * HOUR / 4, 1.0);
    }
    rig.seal();
    let files = rig.part_files().len();
    assert!(files <= 64 + 64, "{files} files");
    rig.assert_is_oracle();
}

#[test]
fn two_thousand_tags_over_a_day_of_seals() {
    let mut rig = Rig::new();
    for quarter in 0..96i64 {
        for tag in 1..2_001u32 {
            let time = START + quarter * HOUR / 4 + i64::from(tag) * 1_000_000;
            rig.float(tag, time, f64::from(tag) + quarter as f64);
        }
        if quarter % 2 == 1 {
            rig.seal();
        }
    }
    let files = rig.part_files().len();
    assert!(files <= 48, "{files} files");
    assert_eq!(rig.history().stats().part_rows, 96 * 2_000);
    for tag in [1, 2, 999, 1_999, 2_000] {
        assert_eq!(rig.raw(tag).len(), 96, "tag {tag}");
    }
    assert_eq!(rig.raw(2_001), []);
    rig.restart();
    assert_eq!(rig.raw(1_000).len(), 96);
    assert!(rig.history().stats().index_bytes <= crate::config::INDEX_CACHE_BYTES_MAX as u64);
}

#[test]
fn one_tag_with_a_hundred_thousand_rows_and_more_than_one_row_group() {
    let mut rig = Rig::new();
    let mut guard_rows = Vec::new();
    for number in 0..140_000i64 {
        guard_rows.push((START + number * SECOND / 50, number as f64 * 0.5));
    }
    for (time, value) in &guard_rows {
        rig.float(1, *time, *value);
    }
    // Late ones among them.
    for number in 0..500i64 {
        rig.float(1, START + number * SECOND + 7, -1.0);
    }
    for _ in 0..2 {
        let query = crate::RawQuery {
            tag: millrace_model::TagId(1),
            from: millrace_model::Timestamp(START + 1_000 * SECOND),
            to: millrace_model::Timestamp(START + 1_010 * SECOND),
            limit: 1_000,
            after: None,
        };
        let page = rig.history().raw(&query).expect("answers");
        assert_eq!(page.samples.len(), 500);
        let range = crate::RangeQuery {
            tag: query.tag,
            from: millrace_model::Timestamp(START),
            to: millrace_model::Timestamp(START + HOUR),
            buckets: 100,
        };
        let range = rig.history().range(&range).expect("answers");
        let count: u64 = range.buckets.iter().map(|bucket| bucket.count).sum();
        assert_eq!(count, 140_500);
        rig.seal();
    }
    assert_eq!(rig.history().verify().damaged, []);
}
