//! Chunks read back.
//!
//! A row is read to where it is known whether it is wanted, and passed over if not: names become
//! texts of their own only for rows that are given.
//!
//! **Invariants**: any bytes are read without panic; what is not whole is none.

use super::{DETAIL_SHIFT, HAS_BY, HAS_FAULT, HAS_TRACE, VERSION};
use crate::bytes::{Reader, Words, unseal};
use crate::run::{Detail, Fault, Item, Level, Line, Run, Status, StepRun, StepStatus, Trace};
use millrace_model::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// Whether a sealed list of pipelines names this one; a damaged list may name any.
pub(crate) fn names_pipeline(body: &[u8], pipeline: u32) -> bool {
    let Some(content) = unseal(body) else { return true };
    let mut reader = Reader(content);
    let mut known = 0u64;
    while let Some(step) = reader.number() {
        known = known.saturating_add(step);
        if known >= u64::from(pipeline) {
            return known == u64::from(pipeline);
        }
    }
    false
}

/// A run read back, and where its trace lies.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) number: u64,
    pub(crate) run: Run,
    pub(crate) trace: Option<TracePlace>,
}

/// Where a trace lies within its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TracePlace {
    pub(crate) part: u64,
    pub(super) position: usize,
    pub(super) length: usize,
}

/// A chunk read back: its words, and its rows in the order of their numbers.
#[derive(Debug)]
pub(crate) struct Unpacked<'a> {
    pub(crate) words: Vec<&'a str>,
    pub(crate) rows: Vec<Row>,
}

/// The beginning of a row: enough to tell whether it is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowHead<'a> {
    pub(crate) number: u64,
    pub(crate) workspace: u16,
    pub(crate) pipeline: u32,
    pub(crate) trigger: &'a str,
    pub(crate) seq: u64,
    pub(crate) started: Timestamp,
    pub(crate) status: Status,
    revision: u32,
    name: &'a str,
    flags: u8,
}

/// Reads those rows of a chunk that `wants` says; `None` if it is damaged.
pub(crate) fn unpack(body: &[u8], wants: impl Fn(&RowHead<'_>) -> bool) -> Option<Unpacked<'_>> {
    let mut reader = Reader(unseal(body)?);
    if reader.byte()? != VERSION {
        return None;
    }
    let words = Words::decode(&mut reader)?;
    let count = reader.small::<usize>()?;
    let mut rows = Vec::new();
    let mut before = (0, 0, 0);
    for _ in 0..count {
        let head = row_head(&mut reader, &words, &mut before)?;
        if wants(&head) {
            rows.push(row(&mut reader, &words, &head)?);
        } else {
            pass_row(&mut reader, head.flags)?;
        }
    }
    Some(Unpacked { words, rows })
}

fn row_head<'a>(
    reader: &mut Reader<'a>,
    words: &[&'a str],
    before: &mut (u64, u64, i64),
) -> Option<RowHead<'a>> {
    let number = before.0.checked_add(reader.number()?)?;
    let flags = reader.byte()?;
    let status = *Status::ALL.get(usize::from(reader.byte()?))?;
    let (workspace, pipeline, revision) = (reader.small()?, reader.small()?, reader.small()?);
    let (name, trigger) = (text(reader, words)?, text(reader, words)?);
    let seq = before.1.wrapping_add(reader.signed()?.cast_unsigned());
    let started = before.2.wrapping_add(reader.signed()?);
    *before = (number, seq, started);
    let started = Timestamp(started);
    Some(RowHead {
        number,
        workspace,
        pipeline,
        trigger,
        seq,
        started,
        status,
        revision,
        name,
        flags,
    })
}

/// Passes over what stands behind the head.
fn pass_row(reader: &mut Reader<'_>, flags: u8) -> Option<()> {
    let has = |flag: u8| usize::from(flags & flag != 0);
    let numbers = 4 + 3 * has(HAS_FAULT) + has(HAS_BY) + 3 * has(HAS_TRACE);
    (0..numbers).try_for_each(|_| reader.number().map(drop))
}

fn row(reader: &mut Reader<'_>, words: &[&str], head: &RowHead<'_>) -> Option<Row> {
    let (duration, waited, cpu) = (time(reader)?, time(reader)?, time(reader)?);
    let attempt = reader.small()?;
    let has = |flag: u8| head.flags & flag != 0;
    let fault = if has(HAS_FAULT) { Some(fault(reader, words)?) } else { None };
    let by = if has(HAS_BY) { Some(word(reader, words)?) } else { None };
    let trace = if has(HAS_TRACE) {
        let (part, position, length) = (reader.number()?, reader.small()?, reader.small()?);
        Some(TracePlace { part, position, length })
    } else {
        None
    };
    let detail = match head.flags >> DETAIL_SHIFT {
        0 => Detail::Minimal,
        1 => Detail::Standard,
        2 => Detail::Full,
        _ => return None,
    };
    let run = Run {
        workspace: head.workspace,
        pipeline: head.pipeline,
        seq: head.seq,
        name: head.name.into(),
        revision: head.revision,
        trigger: head.trigger.into(),
        started: head.started,
        duration,
        waited,
        cpu,
        status: head.status,
        fault,
        attempt,
        by,
        detail,
        trace: None,
    };
    Some(Row { number: head.number, run, trace })
}

/// Reads one trace from its part; `None` if it is damaged.
pub(crate) fn read_trace(body: &[u8], place: TracePlace, words: &[&str]) -> Option<Trace> {
    let end = place.position.checked_add(place.length)?;
    let mut reader = Reader(unseal(body)?.get(place.position..end)?);
    let left_out = reader.number()?;
    let (input, output) = (item(&mut reader)?, item(&mut reader)?);
    let count = reader.small::<usize>()?;
    let steps = (0..count.min(reader.0.len()))
        .map(|_| step(&mut reader, words))
        .collect::<Option<Vec<_>>>()?;
    let count = reader.small::<usize>()?;
    let lines = (0..count.min(reader.0.len()))
        .map(|_| line(&mut reader, words))
        .collect::<Option<Vec<_>>>()?;
    Some(Trace { input, output, steps, lines, left_out, waiting: Vec::new() })
}

fn step(reader: &mut Reader<'_>, words: &[&str]) -> Option<StepRun> {
    let step = word(reader, words)?;
    let flags = reader.byte()?;
    let status = *StepStatus::ALL.get(usize::from(flags & 7))?;
    let count = reader.small()?;
    let (began, took) = (time(reader)?, time(reader)?);
    let fault = if flags >> DETAIL_SHIFT == 0 { None } else { Some(fault(reader, words)?) };
    let (input, output) = (item(reader)?, item(reader)?);
    Some(StepRun { step, status, count, began, took, fault, input, output })
}

fn line(reader: &mut Reader<'_>, words: &[&str]) -> Option<Line> {
    let level = *Level::ALL.get(usize::from(reader.byte()?))?;
    let step = word(reader, words)?;
    Some(Line { level, step, text: reader.text()?.into() })
}

fn fault(reader: &mut Reader<'_>, words: &[&str]) -> Option<Fault> {
    let (code, text) = (word(reader, words)?, word(reader, words)?);
    Some(Fault { code, text, step: word(reader, words)? })
}

#[expect(clippy::option_option, reason = "damaged, or none, or one")]
fn item(reader: &mut Reader<'_>) -> Option<Option<Item>> {
    match reader.number()? {
        0 => Some(None),
        length => Some(Some(Item { bytes: length - 1, text: reader.text()?.into() })),
    }
}

fn text<'a>(reader: &mut Reader<'_>, words: &[&'a str]) -> Option<&'a str> {
    words.get(reader.small::<usize>()?).copied()
}

fn word(reader: &mut Reader<'_>, words: &[&str]) -> Option<Arc<str>> {
    text(reader, words).map(Arc::from)
}

fn time(reader: &mut Reader<'_>) -> Option<Duration> {
    reader.number().map(Duration::from_micros)
}
