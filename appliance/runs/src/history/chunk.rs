//! Many runs as one row: what a chunk and its traces look like in the file.
//!
//! ```text
//! rows body    version (1), words, count, then for each run:
//!              number - number before, flags, workspace, pipeline, revision, name, trigger,
//!              seq - seq before (signed), started ns - before (signed),
//!              duration us, waited us, cpu us, attempt,
//!              [fault: code, text, step] [by] [trace: part, position, length]
//! trace body   the traces of some runs, one after the other:
//!              left out, input, output, steps, lines
//! ```
//! Names and texts are words: numbers in the chunk's list. A fleet's chunk holds one second, and
//! what repeats from run to run costs a byte or two. `docs/formats/runs.md` says it for others.
//!
//! **Invariants**: numbers rise within a chunk; a body is sealed with a checksum, so a damaged
//! chunk is passed over whole and never read as something else.

mod read;

pub(crate) use read::{Row, RowHead, TracePlace, Unpacked, names_pipeline, read_trace, unpack};

use crate::bytes::{Words, put, put_signed, put_text, seal};
use crate::run::{Fault, Item, Run, Status, Trace};
use std::time::Duration;

const VERSION: u8 = 1;
/// Traces share a body up to this length; one that is longer has a body of its own.
const PART_BYTES: usize = 64 * 1024;
/// Parts of a chunk, so that chunk and part make one row id.
pub(crate) const PARTS: u64 = 4096;
/// Runs of a chunk at most.
pub(crate) const RUNS_MAX: usize = 4096;
/// A chunk is closed when its runs hold so many bytes in memory.
pub(crate) const RUN_BYTES_MAX: usize = 4 * 1024 * 1024;

const HAS_FAULT: u8 = 1;
const HAS_BY: u8 = 2;
const HAS_TRACE: u8 = 4;
const DETAIL_SHIFT: u8 = 3;

/// A chunk, ready to be written.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) started_min: i64,
    pub(crate) started_max: i64,
    pub(crate) seq_min: u64,
    pub(crate) seq_max: u64,
    /// One bit for each status in it.
    pub(crate) statuses: u32,
    pub(crate) count: u64,
    /// Numbers of its pipelines, sealed.
    pub(crate) pipelines: Vec<u8>,
    pub(crate) rows: Vec<u8>,
    pub(crate) traces: Vec<Vec<u8>>,
}

/// The bit of a status.
pub(crate) fn status_bit(status: Status) -> u32 {
    1 << status as u32
}

impl Chunk {
    /// Packs runs with rising numbers; `None` if there are none.
    pub(crate) fn pack<'a>(runs: impl IntoIterator<Item = (u64, &'a Run)>) -> Option<Self> {
        let mut packer = Packer::default();
        for (number, run) in runs {
            packer.push(number, run);
        }
        packer.finish()
    }

    /// Bytes that it takes in the file, beside pages' own overhead.
    pub(crate) fn size_bytes(&self) -> u64 {
        let traces: usize = self.traces.iter().map(Vec::len).sum();
        (self.pipelines.len() + self.rows.len() + traces) as u64
    }
}

#[derive(Debug, Default)]
struct Packer {
    chunk: Option<Chunk>,
    words: Words,
    out: Vec<u8>,
    pipelines: Vec<u32>,
    before: (u64, u64, i64),
    part: Vec<u8>,
}

impl Packer {
    fn push(&mut self, number: u64, run: &Run) {
        let started = run.started.0;
        let chunk = self.chunk.get_or_insert_with(|| Chunk {
            first: number,
            last: number,
            started_min: started,
            started_max: started,
            seq_min: run.seq,
            seq_max: run.seq,
            statuses: 0,
            count: 0,
            pipelines: Vec::new(),
            rows: Vec::new(),
            traces: Vec::new(),
        });
        debug_assert!(chunk.count == 0 || number > chunk.last, "numbers rise");
        chunk.last = number;
        chunk.started_min = chunk.started_min.min(started);
        chunk.started_max = chunk.started_max.max(started);
        chunk.seq_min = chunk.seq_min.min(run.seq);
        chunk.seq_max = chunk.seq_max.max(run.seq);
        chunk.statuses |= status_bit(run.status);
        chunk.count += 1;
        self.pipelines.push(run.pipeline);
        let trace = run.trace.as_deref().map(|trace| self.push_trace(trace));
        self.push_row(number, run, trace);
    }

    fn push_row(&mut self, number: u64, run: &Run, trace: Option<(usize, usize, usize)>) {
        let (words, out) = (&mut self.words, &mut self.out);
        let (number_before, seq_before, started_before) = self.before;
        put(out, number - number_before);
        self.before = (number, run.seq, run.started.0);
        let mut flags = (run.detail as u8) << DETAIL_SHIFT;
        flags |= if run.fault.is_some() { HAS_FAULT } else { 0 };
        flags |= if run.by.is_some() { HAS_BY } else { 0 };
        flags |= if trace.is_some() { HAS_TRACE } else { 0 };
        out.push(flags);
        out.push(run.status as u8);
        put(out, u64::from(run.workspace));
        put(out, u64::from(run.pipeline));
        put(out, u64::from(run.revision));
        put(out, words.number(&run.name));
        put(out, words.number(&run.trigger));
        put_signed(out, run.seq.wrapping_sub(seq_before).cast_signed());
        put_signed(out, run.started.0.wrapping_sub(started_before));
        for time in [run.duration, run.waited, run.cpu] {
            put(out, micros(time));
        }
        put(out, u64::from(run.attempt));
        put_fault(out, words, run.fault.as_ref());
        if let Some(by) = &run.by {
            put(out, words.number(by));
        }
        if let Some((part, position, length)) = trace {
            for number in [part, position, length] {
                put(out, number as u64);
            }
        }
    }

    /// Appends a trace to the open part; which part, where, how long.
    fn push_trace(&mut self, trace: &Trace) -> (usize, usize, usize) {
        let parts = self.chunk.as_ref().map_or(0, |chunk| chunk.traces.len());
        let has_room = (parts as u64) + 2 < PARTS;
        if self.part.len() >= PART_BYTES && has_room {
            self.close_part();
        }
        let position = self.part.len();
        put_trace(&mut self.part, &mut self.words, trace);
        let part = self.chunk.as_ref().map_or(0, |chunk| chunk.traces.len());
        (part, position, self.part.len() - position)
    }

    fn close_part(&mut self) {
        if let Some(chunk) = &mut self.chunk
            && !self.part.is_empty()
        {
            chunk.traces.push(seal(&self.part));
            self.part.clear();
        }
    }

    fn finish(mut self) -> Option<Chunk> {
        self.close_part();
        let mut chunk = self.chunk?;
        let mut content = vec![VERSION];
        self.words.encode(&mut content);
        put(&mut content, chunk.count);
        content.extend_from_slice(&self.out);
        chunk.rows = seal(&content);
        self.pipelines.sort_unstable();
        self.pipelines.dedup();
        let mut list = Vec::new();
        let mut before = 0;
        for pipeline in self.pipelines {
            put(&mut list, u64::from(pipeline - before));
            before = pipeline;
        }
        chunk.pipelines = seal(&list);
        Some(chunk)
    }
}

fn put_trace(out: &mut Vec<u8>, words: &mut Words, trace: &Trace) {
    put(out, trace.left_out);
    put_item(out, trace.input.as_ref());
    put_item(out, trace.output.as_ref());
    put(out, trace.steps.len() as u64);
    for step in &trace.steps {
        put(out, words.number(&step.step));
        let has_fault = u8::from(step.fault.is_some());
        out.push(step.status as u8 | has_fault << DETAIL_SHIFT);
        put(out, u64::from(step.count));
        put(out, micros(step.began));
        put(out, micros(step.took));
        put_fault(out, words, step.fault.as_ref());
        put_item(out, step.input.as_ref());
        put_item(out, step.output.as_ref());
    }
    put(out, trace.lines.len() as u64);
    for line in &trace.lines {
        out.push(line.level as u8);
        put(out, words.number(&line.step));
        put_text(out, &line.text);
    }
}

fn put_fault(out: &mut Vec<u8>, words: &mut Words, fault: Option<&Fault>) {
    if let Some(fault) = fault {
        for text in [&fault.code, &fault.text, &fault.step] {
            put(out, words.number(text));
        }
    }
}

/// 0 for none, else the whole's length and one, then what is kept of it.
fn put_item(out: &mut Vec<u8>, item: Option<&Item>) {
    match item {
        None => put(out, 0),
        Some(item) => {
            put(out, item.bytes.saturating_add(1));
            put_text(out, &item.text);
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
