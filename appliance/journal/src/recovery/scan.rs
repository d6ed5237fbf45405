//! Finds the intact frames of one segment.

use crate::frame::{FRAME_HEAD_BYTES, FrameHead, PAGE_BYTES};
use crate::pool::Pool;
use crate::segment::{Gap, Segment};
use crate::seq::Seq;
use crate::window::{Place, Window};

/// Frames without a missing seq between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) first: Seq,
    pub(super) last: Seq,
}

/// What a segment holds.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    pub(super) first: Option<Seq>,
    pub(super) last: Seq,
    pub(super) frames: u64,
    pub(super) records: u64,
    pub(super) runs: Vec<Run>,
    /// Damaged stretches with intact frames behind them.
    pub(super) gaps: Vec<Gap>,
    /// Where the last intact frame ends.
    pub(super) end: u64,
    /// At the end stands a frame of this life that is not whole.
    pub(super) looks_torn: bool,
}

/// Reads a segment from front to back; frames at or above `bound` do not count.
pub(super) fn frames(segment: &Segment, bound: Option<Seq>) -> Scanned {
    // A cut file is not searched beyond its end.
    let length = segment.file.len().unwrap_or(u64::MAX);
    let limit = segment.header.frames_end().min(length);
    let place = Place { file: segment.file.as_ref(), id: &segment.header.id, limit };
    let mut window = Window::default();
    let mut scanned = Scanned { end: Pool::frames_start(), ..Scanned::default() };
    let mut next = segment.first();
    loop {
        let accept =
            |head: &FrameHead| head.first >= next && bound.is_none_or(|bound| head.last() < bound);
        let at = scanned.end;
        let found = match window.frame(&place, at, accept) {
            Ok(Some(head)) => Some((at, head)),
            _ => window.search(&place, at + PAGE_BYTES, accept),
        };
        let Some((position, head)) = found else { break };
        if position > at {
            scanned.gaps.push(Gap { start: at, end: position });
        }
        scanned.add(position, &head);
        next = head.last().next();
    }
    let head = window.load(place.file, scanned.end, FRAME_HEAD_BYTES as u64, limit);
    scanned.looks_torn = match head {
        Ok(head) => head.and_then(FrameHead::decode).is_some_and(|head| head.first >= next),
        Err(_) => true,
    };
    scanned
}

impl Scanned {
    fn add(&mut self, position: u64, head: &FrameHead) {
        self.frames += 1;
        self.records += u64::from(head.count);
        self.first.get_or_insert(head.first);
        self.last = head.last();
        self.end = position + head.padded_bytes();
        match self.runs.last_mut() {
            Some(run) if run.last.next() == head.first => run.last = head.last(),
            _ => self.runs.push(Run { first: head.first, last: head.last() }),
        }
    }
}
