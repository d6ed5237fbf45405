//! Values come back as they went in: from memory, from parts, after a restart.

use super::rig::{DAY, HOUR, Rig, SECOND, START};
use crate::{After, Outcome, RangeQuery, RawQuery};
use millrace_model::{Quality, Retention, TagId, Timestamp, Value, ValueRef};

#[test]
fn keeps_every_value_bit_by_bit() {
    // Given values of all kinds at the ends of what they can be
    let mut rig = Rig::new();
    rig.tags.set(2, Retention::Keep);
    let values = [
        ValueRef::Float(123.0),
        ValueRef::Float(f64::INFINITY),
        ValueRef::Float(f64::NEG_INFINITY),
        ValueRef::Float(456.0),
        ValueRef::Float(f64::NAN),
        ValueRef::Float(f64::from_bits(0x7ff0_0000_0000_0001)),
        ValueRef::Float(-0.0),
        ValueRef::Float(5e-324),
        ValueRef::Float(484.819_533_000_000_04),
        ValueRef::Int(9_007_199_254_740_993),
        ValueRef::Int(i64::MIN),
        ValueRef::Int(i64::MAX),
        ValueRef::UInt(u64::MAX),
        ValueRef::Bool(true),
        ValueRef::Bool(false),
        ValueRef::Null,
        ValueRef::Text("Ölstand \u{0} hoch"),
        ValueRef::Text(""),
        ValueRef::Json(r#"{"a":[1.0,{"b":null}]}"#),
    ];
    for (number, value) in (0i64..).zip(values) {
        let time = START + number * 1_234_567;
        rig.record(1, (time, time + 987_654_321), 0x8034_0001, true, value.to_value());
    }
    for time in [i64::MIN, -1, 0, i64::MAX - 1] {
        rig.record(2, (time, i64::MAX - 7), 0, true, Value::Int(time));
    }
    // When they are in memory, in parts, and in parts after a restart
    for step in 0..3 {
        match step {
            1 => rig.seal(),
            2 => drop(rig.restart()),
            _ => {}
        }
        // Then they are the same
        for tag in [1, 2] {
            let expected: Vec<_> = rig
                .records
                .iter()
                .filter(|record| record.tag == tag)
                .map(|record| crate::sample_of(millrace_journal::Seq(record.seq), &record.sample()))
                .collect();
            assert_eq!(rig.raw(tag), expected, "step {step}");
            assert_eq!(rig.history().last(TagId(tag)).as_ref(), expected.last(), "step {step}");
        }
    }
    assert_eq!(rig.history().verify().damaged, []);
}

#[test]
fn a_type_that_changes_in_midstream_loses_nothing() {
    let mut rig = Rig::new();
    for number in 0..300i64 {
        let text = format!("state {number}");
        let value = match number % 3 {
            0 => ValueRef::Float(0.5),
            1 => ValueRef::Text(&text),
            _ => ValueRef::Json(&text),
        };
        rig.put(1, START + number * SECOND, value);
        if number == 100 {
            rig.seal();
        }
    }
    rig.assert_is_oracle();
    rig.restart();
    rig.assert_is_oracle();
    rig.close_and_open();
    rig.assert_is_oracle();
}

#[test]
fn counts_the_same_time_as_redelivered_or_superseded() {
    let mut rig = Rig::new();
    assert_eq!(rig.float(1, START, 1.0), Outcome::Stored);
    assert_eq!(rig.float(1, START, 1.0), Outcome::Redelivered);
    assert_eq!(rig.float(1, START, 2.0), Outcome::Superseded);
    assert_eq!(rig.float(1, START + 5, 3.0), Outcome::Stored);
    assert_eq!(rig.float(1, START, 2.0), Outcome::Redelivered, "late, and the same as the latest");
    assert_eq!(rig.float(1, START + 2, 4.0), Outcome::Stored, "late");
    assert_eq!(rig.float(1, START + 2, 4.0), Outcome::Redelivered, "late twice");
    assert_eq!(rig.float(1, START + 2, 5.0), Outcome::Superseded);
    // The same value in another form, or with another quality, is another value.
    assert_eq!(rig.put(1, START + 5, ValueRef::Int(3)), Outcome::Superseded);
    let worse = rig.record(1, (START + 5, START), Quality::BAD.0, true, Value::Int(3));
    assert_eq!(worse, Outcome::Superseded);
    rig.assert_is_oracle();
    assert_eq!(rig.raw(1).len(), 3);
}

#[test]
fn without_a_source_time_nothing_is_redelivered() {
    let mut rig = Rig::new();
    for _ in 0..3 {
        let outcome = rig.record(1, (START, START), 0, false, Value::Int(7));
        assert_eq!(outcome, Outcome::Stored);
    }
    // A value whose device gave the same time stands beside them.
    assert_eq!(rig.put(1, START, ValueRef::Int(7)), Outcome::Stored);
    assert_eq!(rig.put(1, START, ValueRef::Int(8)), Outcome::Superseded);
    assert_eq!(rig.raw(1).len(), 4);
    rig.seal();
    assert_eq!(rig.raw(1).len(), 4);
    rig.assert_is_oracle();
}

#[test]
fn finds_redelivery_on_disk_when_it_seals() {
    // Given a sealed value and a restart, after which nothing is known of the tag
    let mut rig = Rig::new();
    rig.float(1, START, 1.0);
    rig.float(1, START + SECOND, 2.0);
    rig.close_and_open();
    // When the device sends both again, one with another value
    assert_eq!(rig.float(1, START, 1.0), Outcome::Stored);
    assert_eq!(rig.float(1, START + SECOND, 2.5), Outcome::Stored);
    // Then queries never show a value twice, and the seal tells the ledger
    assert_eq!(rig.raw(1).len(), 2);
    assert_eq!(*rig.ledger.0.lock(), (0, 0));
    rig.seal();
    assert_eq!(*rig.ledger.0.lock(), (1, 1));
    rig.assert_is_oracle();
    let rows = rig.history().stats().part_rows;
    assert_eq!(rows, 3, "the redelivered value was not written again");
}

#[test]
fn a_clock_that_steps_back_drops_nothing() {
    let mut rig = Rig::new();
    let mut wall = START;
    for number in 0..60i64 {
        wall += SECOND;
        if number == 20 {
            wall -= HOUR;
        }
        if number == 40 {
            wall += HOUR + 600 * SECOND;
        }
        let outcome = rig.record(1, (wall, wall), 0, false, Value::Int(number));
        assert_eq!(outcome, Outcome::Stored);
        if number == 30 {
            rig.seal();
        }
    }
    rig.assert_is_oracle();
    assert_eq!(rig.raw(1).len(), 60);
}

#[test]
fn the_later_write_wins_though_the_clock_went_back() {
    let mut rig = Rig::new();
    rig.record(1, (START, START + HOUR), 0, true, Value::Int(1));
    rig.seal();
    rig.record(1, (START, START + HOUR - 600 * SECOND), 0, true, Value::Int(2));
    for _ in 0..2 {
        let values: Vec<_> = rig.raw(1).into_iter().map(|sample| sample.value).collect();
        assert_eq!(values, [Value::Int(2)]);
        rig.close_and_open();
    }
}

#[test]
fn pages_give_each_sample_once() {
    let mut rig = Rig::new();
    for number in 0..1_000i64 {
        // Every third without a source time, many at the same time.
        let time = START + number / 4 * SECOND;
        rig.record(1, (time, time), 0, number % 3 > 0, Value::Int(number));
        if number % 300 == 299 {
            rig.seal();
        }
    }
    let whole = rig.raw(1);
    for limit in [1, 7, 250, 5_000] {
        let mut query = RawQuery {
            tag: TagId(1),
            from: Timestamp(START),
            to: Timestamp(START + DAY),
            limit,
            after: None,
        };
        let mut paged = Vec::new();
        loop {
            let page = rig.history().raw(&query).expect("answers");
            assert!(page.samples.len() <= limit);
            paged.extend(page.samples);
            match page.next {
                Some(after) => query.after = Some(after),
                None => break,
            }
        }
        assert_eq!(paged, whole, "limit {limit}");
    }
    let window = RawQuery {
        tag: TagId(1),
        from: Timestamp(START + 10 * SECOND),
        to: Timestamp(START + 12 * SECOND),
        limit: 100,
        after: Some(After { source_time: Timestamp(START), seq: millrace_journal::Seq(9) }),
    };
    let times: Vec<_> = rig.history().raw(&window).expect("answers").samples;
    assert!(
        times.iter().all(|sample| (10..12).contains(&((sample.source_time.0 - START) / SECOND)))
    );
    assert!(!times.is_empty());
}

#[test]
fn refuses_questions_that_make_no_sense() {
    let rig = Rig::new();
    let (tag, from, to) = (TagId(1), Timestamp(5), Timestamp(1));
    let raw = RawQuery { tag, from, to, limit: 10, after: None };
    assert!(matches!(rig.history().raw(&raw), Err(crate::Error::Query { field: "from", .. })));
    let raw = RawQuery { from: to, to: from, limit: 0, ..raw };
    assert!(matches!(rig.history().raw(&raw), Err(crate::Error::Query { field: "limit", .. })));
    let range = RangeQuery { tag, from: to, to: from, buckets: 10_001 };
    let answer = rig.history().range(&range);
    assert!(matches!(answer, Err(crate::Error::Query { field: "buckets", .. })));
}

#[test]
fn a_range_keeps_a_spike_and_counts_what_is_no_number() {
    let mut rig = Rig::new();
    for number in 0..3_600i64 {
        let value = if number == 1_234 { 1e9 } else { 20.0 };
        rig.float(1, START + number * SECOND, value);
    }
    rig.float(1, START + SECOND / 2, f64::NAN);
    rig.put(1, START + SECOND / 3, ValueRef::Text("off"));
    rig.record(1, (START + 7, START), Quality::BAD.0, true, Value::Float(-5e9));
    for _ in 0..2 {
        let query = RangeQuery {
            tag: TagId(1),
            from: Timestamp(START),
            to: Timestamp(START + 2 * HOUR),
            buckets: 20,
        };
        let range = rig.history().range(&query).expect("answers");
        assert_eq!(range.buckets.len(), 20);
        let spike = &range.buckets[(1_234 * 20) / 7_200];
        let max = spike.max.expect("numbers");
        assert_eq!((max.value, max.time.0), (1e9, START + 1_234 * SECOND));
        assert_eq!(spike.min.expect("numbers").value, 20.0);
        let first = &range.buckets[0];
        assert_eq!((first.count, first.bad_count), (360, 1));
        assert_eq!((first.non_finite_count, first.other_count), (1, 1));
        assert_eq!(range.buckets[12].count, 0, "a gap is an empty bucket");
        assert_eq!(range.buckets[12].first, None);
        let total: u64 = range.buckets.iter().map(|bucket| bucket.count).sum();
        assert_eq!(total, 3_600);
        rig.seal();
    }
}

#[test]
fn buckets_over_a_change_of_daylight_saving_lose_no_row() {
    // Europe/Berlin has 23 hours on 2026-03-29 and 25 on 2026-10-25; buckets are cut in UTC.
    for (day, hours) in [("2026-03-28T23:00:00Z", 23i64), ("2026-10-24T22:00:00Z", 25)] {
        let mut rig = Rig::new();
        rig.tags.set(1, Retention::Keep);
        let start = Timestamp::from_rfc3339(day).expect("a time").0;
        for number in 0..hours * 60 {
            rig.float(1, start + number * 60 * SECOND, 1.0);
        }
        rig.seal();
        let query = RangeQuery {
            tag: TagId(1),
            from: Timestamp(start),
            to: Timestamp(start + hours * HOUR),
            buckets: usize::try_from(hours).expect("small"),
        };
        let range = rig.history().range(&query).expect("answers");
        assert!(range.buckets.iter().all(|bucket| bucket.count == 60), "{day}");
    }
}

#[test]
fn last_values_of_many_tags_come_from_memory_and_parts() {
    let mut rig = Rig::new();
    let long = "x".repeat(10_000);
    for tag in 1..200u32 {
        for number in 0..20i64 {
            rig.float(tag, START + number * SECOND, f64::from(tag));
        }
        if tag % 50 == 0 {
            rig.seal();
        }
    }
    rig.put(7, START + HOUR, ValueRef::Text("short"));
    rig.put(8, START + HOUR, ValueRef::Text(&long));
    rig.seal();
    for _ in 0..2 {
        let tags: Vec<TagId> = (0..210).map(TagId).collect();
        let last = rig.history().last_many(&tags);
        assert_eq!(last.len(), 210);
        assert!(last[0].is_none() && last[205].is_none());
        assert_eq!(
            last[7].as_ref().map(|sample| &sample.value),
            Some(&Value::Text("short".into()))
        );
        assert_eq!(
            last[8].as_ref().map(|sample| &sample.value),
            Some(&Value::Text(long.as_str().into()))
        );
        assert_eq!(
            last[150].as_ref().map(|sample| sample.source_time.0),
            Some(START + 19 * SECOND)
        );
        rig.restart();
        // An older value is not the last one.
        rig.float(150, START - HOUR, 0.0);
        rig.assert_is_oracle();
    }
}
