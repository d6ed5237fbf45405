//! Memtable: order, look-up, chunks, reuse.

use super::*;
use millrace_model::{ClientNumber, Quality, TagId, Timestamp};

fn sample(time: i64, value: ValueRef<'_>) -> SampleRecord<'_> {
    SampleRecord {
        tag: TagId(1),
        client: ClientNumber(1),
        source_time: Timestamp(time),
        receive_time: Timestamp(time),
        quality: Quality::GOOD,
        has_source_time: true,
        hops: 0,
        value,
    }
}

#[test]
fn finds_each_row_whatever_the_order_it_came_in() {
    let mut table = Memtable::new(1);
    let count = 5_000i64;
    for number in 0..count {
        // A permutation that jumps back and forth.
        let time = number * 1_777 % count;
        table.append(3, 100 + number as u64, &sample(time, ValueRef::Int(time)), FLAG_SOURCE_TIME);
    }
    for time in 0..count {
        let row = table.find(3, time).expect("is there");
        assert_eq!(table.value(row), ValueRef::Int(time));
    }
    assert!(table.find(3, count).is_none() && table.find(3, -1).is_none());
    assert!(table.find(2, 0).is_none());
    let mut rows = Vec::new();
    table.sorted(3, &mut rows);
    assert_eq!(rows.len(), 5_000);
    assert!(rows.iter().zip(0..).all(|(row, time)| row.time == time));
}

#[test]
fn walks_chains_of_every_length() {
    for count in [1, 3, 4, 5, 15, 16, 17, 33, 100, 5_000, 20_000i64] {
        let mut table = Memtable::new(1);
        for number in 0..count {
            // Two tags, so that their chunks lie between one another.
            for slot in [0, 1] {
                let value = ValueRef::Int(number);
                table.append(slot, number as u64, &sample(number, value), FLAG_SOURCE_TIME);
            }
        }
        for slot in [0, 1] {
            let mut next = 0;
            table.for_each(slot, |row| {
                assert_eq!(row.time, next);
                next += 1;
            });
            assert_eq!(next, count);
        }
        let waste = table.bytes() as f64 / (2 * count * 41) as f64;
        assert!(count < 100 || waste < 1.4, "{count} rows take {waste:.2} times their size");
    }
}

#[test]
fn clearing_keeps_the_memory_and_forgets_the_rows() {
    let mut table = Memtable::new(1);
    let large = "x".repeat(3 << 20);
    for round in 0..3u64 {
        for number in 0..100i64 {
            let text = format!("{round} {number}");
            table.append(0, round, &sample(number, ValueRef::Text(&text)), FLAG_SOURCE_TIME);
            let row = table.find(0, number).expect("is there");
            assert_eq!(table.value(row), ValueRef::Text(&text));
        }
        table.append(0, round, &sample(1_000, ValueRef::Json(&large)), FLAG_SOURCE_TIME);
        let row = table.find(0, 1_000).expect("is there");
        assert_eq!(table.value(row), ValueRef::Json(&large));
        assert!(table.bytes() > 3 << 20);
        table.clear(round + 2);
        assert!(table.is_empty() && table.find(0, 5).is_none());
        assert!(table.bytes() == 0);
    }
}
