//! Runs go through a chunk's bytes and come back; damaged bytes are noticed.

use super::*;
use crate::run::{Detail, Level, Line, StepRun, StepStatus};
use millrace_model::Timestamp;
use proptest::prelude::*;
use std::sync::Arc;

fn text(text: &str) -> Arc<str> {
    Arc::from(text)
}

fn micros_of(number: u64) -> Duration {
    Duration::from_micros(number)
}

fn faults() -> impl Strategy<Value = Option<Fault>> {
    proptest::option::of((".{0,9}", ".{0,30}", "[a-c]").prop_map(|(code, what, step)| Fault {
        code: text(&code),
        text: text(&what),
        step: text(&step),
    }))
}

fn items() -> impl Strategy<Value = Option<Item>> {
    let item = (".{0,40}", 0u64..9)
        .prop_map(|(kept, more)| Item { bytes: kept.len() as u64 + more, text: kept.into() });
    proptest::option::of(item)
}

fn steps() -> impl Strategy<Value = StepRun> {
    let numbers = (0usize..6, any::<u32>(), any::<u32>(), any::<u32>());
    ("[a-c]", numbers, faults(), items(), items()).prop_map(
        |(step, (status, count, began, took), fault, input, output)| StepRun {
            step: text(&step),
            status: StepStatus::ALL[status],
            count,
            began: micros_of(u64::from(began)),
            took: micros_of(u64::from(took)),
            fault,
            input,
            output,
        },
    )
}

fn traces() -> impl Strategy<Value = Option<Box<Trace>>> {
    let lines = (0usize..4, "[a-c]", ".{0,20}").prop_map(|(level, step, line)| Line {
        level: Level::ALL[level],
        step: text(&step),
        text: line.into(),
    });
    let all = (
        (items(), items()),
        proptest::collection::vec(steps(), 0..4),
        proptest::collection::vec(lines, 0..3),
        any::<u64>(),
    );
    proptest::option::of(all.prop_map(|((input, output), steps, lines, left_out)| {
        Box::new(Trace { input, output, steps, lines, left_out, waiting: Vec::new() })
    }))
}

fn runs() -> impl Strategy<Value = Run> {
    let numbers = (any::<u16>(), any::<u32>(), any::<u64>(), any::<u32>(), any::<i64>());
    let times = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>());
    let by = proptest::option::of("[x-z]");
    (numbers, times, (0usize..5, 0usize..3), ("[a-d]", "[a-d]", by), faults(), traces()).prop_map(
        |(numbers, times, kinds, names, fault, trace)| {
            let (workspace, pipeline, seq, revision, started) = numbers;
            let (duration, waited, cpu, attempt) = times;
            Run {
                workspace,
                pipeline,
                seq,
                name: text(&names.0),
                revision,
                trigger: text(&names.1),
                started: Timestamp(started),
                duration: micros_of(u64::from(duration)),
                waited: micros_of(u64::from(waited)),
                cpu: micros_of(u64::from(cpu)),
                status: Status::ALL[kinds.0],
                fault,
                attempt,
                by: names.2.as_deref().map(text),
                detail: [Detail::Minimal, Detail::Standard, Detail::Full][kinds.1],
                trace,
            }
        },
    )
}

proptest! {
    #[test]
    fn runs_come_back_from_their_chunk(
        first in 1u64..1_000, list in proptest::collection::vec((runs(), 1u64..5), 1..20)
    ) {
        let mut number = first;
        let numbered: Vec<(u64, Run)> = list
            .into_iter()
            .map(|(run, step)| {
                number += step;
                (number, run)
            })
            .collect();
        let entries = numbered.iter().map(|(number, run)| (*number, run));
        let chunk = Chunk::pack(entries).expect("there are runs");
        let unpacked = unpack(&chunk.rows, |_| true).expect("it is whole");
        prop_assert_eq!(unpacked.rows.len(), numbered.len());
        // One that is wanted alone is found behind those that are passed over.
        let last = chunk.last;
        let alone = unpack(&chunk.rows, |head| head.number == last).expect("it is whole").rows;
        prop_assert_eq!(alone.len(), 1);
        prop_assert_eq!(alone[0].run.seq, numbered[numbered.len() - 1].1.seq);
        for (row, (number, run)) in unpacked.rows.into_iter().zip(&numbered) {
            prop_assert_eq!(row.number, *number);
            let mut read = row.run;
            read.trace = row.trace.map(|place| {
                let body = &chunk.traces[usize::try_from(place.part).expect("a part")];
                Box::new(read_trace(body, place, &unpacked.words).expect("it is whole"))
            });
            prop_assert_eq!(&read, run);
            prop_assert!(names_pipeline(&chunk.pipelines, run.pipeline));
            prop_assert!((chunk.seq_min..=chunk.seq_max).contains(&run.seq));
            prop_assert!((chunk.started_min..=chunk.started_max).contains(&run.started.0));
            prop_assert!(chunk.statuses & status_bit(run.status) != 0);
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(content: Vec<u8>, position: usize, length: usize) {
        // With a right checksum, so that what is behind it is reached.
        let mut versioned = vec![VERSION];
        versioned.extend_from_slice(&content);
        let body = seal(&versioned);
        let words = unpack(&body, |_| true).map(|unpacked| unpacked.words).unwrap_or_default();
        let none = unpack(&body, |_| false).map_or(0, |unpacked| unpacked.rows.len());
        prop_assert_eq!(none, 0);
        let place = TracePlace { part: 0, position, length };
        let _trace = read_trace(&body, place, &words);
        let place = TracePlace { part: 0, position: 0, length: versioned.len() };
        let _trace = read_trace(&body, place, &words);
        let _named = names_pipeline(&body, 7);
    }
}

fn plain(pipeline: u32, seq: u64) -> Run {
    Run {
        workspace: 1,
        pipeline,
        seq,
        name: text("p"),
        revision: 1,
        trigger: text("t"),
        started: Timestamp(5),
        duration: micros_of(70),
        waited: micros_of(1),
        cpu: micros_of(30),
        status: Status::Ok,
        fault: None,
        attempt: 1,
        by: None,
        detail: Detail::Standard,
        trace: None,
    }
}

#[test]
fn a_damaged_chunk_is_not_read_at_all() {
    let run = plain(3, 9);
    let chunk = Chunk::pack([(1, &run)]).expect("a run");
    let mut rows = chunk.rows.clone();
    let last = rows.len() - 1;
    rows[last] ^= 1;
    assert!(unpack(&rows, |_| true).is_none());
    assert!(!names_pipeline(&chunk.pipelines, 4), "only its own");
    let mut list = chunk.pipelines;
    list[5 - 1] ^= 1;
    assert!(names_pipeline(&list, 4), "a damaged list may name any, so that nothing is hidden");
}

#[test]
fn a_second_of_a_fleet_takes_few_bytes_a_run() {
    let step = |name: &str, took| StepRun {
        step: text(name),
        status: StepStatus::Ok,
        count: 1,
        began: micros_of(took),
        took: micros_of(took),
        fault: None,
        input: None,
        output: None,
    };
    let fleet: Vec<Run> = (0..2_000u32)
        .map(|number| {
            let mut run = plain(number, 1_000_000 + u64::from(number) * 3);
            run.name = text(&format!("line-{number}-derived"));
            run.started = Timestamp(1_800_000_000_000_000_000 + i64::from(number) * 500_123);
            let steps = vec![step("source", 2), step("scale", 5), step("publish", 11)];
            run.trace = Some(Box::new(Trace { steps, ..Trace::default() }));
            run
        })
        .collect();
    let chunk = Chunk::pack((1..).zip(&fleet)).expect("runs");
    let bytes_per_run = chunk.size_bytes() / 2_000;
    assert!(bytes_per_run <= 100, "{bytes_per_run} bytes a run");
}
