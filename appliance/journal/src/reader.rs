//! Reads durable records in order, old ones from segments and new ones as they come.
//!
//! A reader has a file position, a read-ahead window and the seq it expects. It goes no further
//! than each segment's durable end. Owners protect what they still need with a cursor; a reader
//! without one may be overrun by recycling, and says so.
//!
//! **Invariants**
//! - Only durable records that the follower has seen are given, in rising seq order, none twice.
//! - What recovery already reported (gaps, lost segments) is passed over silently; what goes wrong
//!   later is an error once, and the next call goes on behind it.

use crate::core::Core;
use crate::error::{Error, Result};
use crate::frame::{FRAME_HEAD_BYTES, FrameHead, PAGE_BYTES};
use crate::pool::Pool;
use crate::record_buf::Records;
use crate::segment::Segment;
use crate::seq::{Seq, SeqRange};
use crate::window::{Place, Window};
use std::fmt;
use std::sync::Arc;

/// Reads durable records in order, from a seq on.
pub struct Reader {
    core: Arc<Core>,
    window: Window,
    at: Option<At>,
    /// The next record to give.
    expected: Seq,
}

struct At {
    segment: Arc<Segment>,
    position: u64,
}

/// The records of one frame, borrowed from the reader.
#[derive(Clone, Debug)]
pub struct Batch<'a> {
    /// Seq of the first record.
    pub first: Seq,
    /// How many.
    pub count: u32,
    /// The frame's note.
    pub note: u64,
    records: Records<'a>,
}

impl<'a> Batch<'a> {
    /// The records in order.
    pub fn records(&self) -> Records<'a> {
        self.records.clone()
    }

    /// Seq of the last record.
    #[must_use]
    pub const fn last(&self) -> Seq {
        SeqRange { first: self.first, count: self.count }.last()
    }
}

enum Step {
    Frame { position: u64, head: FrameHead },
    Again,
    CaughtUp,
}

impl Reader {
    pub(crate) fn new(core: Arc<Core>, after: Seq) -> Self {
        Self { core, window: Window::default(), at: None, expected: after.next() }
    }

    /// The next frame's records; `None` when caught up: ask again after a commit.
    ///
    /// # Errors
    /// [`Error::Damaged`] or [`Error::Overrun`] once; the next call goes on behind it.
    /// [`Error::Io`] when the disk cannot be read; the next call tries the same again.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot lend from its buffer")]
    pub fn next(&mut self) -> Result<Option<Batch<'_>>> {
        loop {
            match self.step()? {
                Step::Again => {}
                Step::CaughtUp => return Ok(None),
                Step::Frame { position, head } => return Ok(Some(self.lend(position, &head))),
            }
        }
    }

    /// The next record that will be given.
    #[must_use]
    pub const fn expected(&self) -> Seq {
        self.expected
    }

    fn lend(&mut self, position: u64, head: &FrameHead) -> Batch<'_> {
        let first = head.first.max(self.expected);
        let passed = first.0 - head.first.0;
        self.expected = head.last().next();
        let body_at = position + FRAME_HEAD_BYTES as u64;
        let body = self.window.slice(body_at, u64::from(head.body_bytes)).unwrap_or_default();
        let mut records = Records::new(head.first, body);
        for _ in 0..passed {
            records.next();
        }
        let count = u32::try_from(head.last().next().0 - first.0).unwrap_or(u32::MAX);
        Batch { first, count, note: head.note, records }
    }

    fn step(&mut self) -> Result<Step> {
        let Some(At { segment, position }) = &self.at else {
            return self.enter();
        };
        let (segment, position) = (Arc::clone(segment), *position);
        let end = segment.end();
        if position >= end {
            return Ok(self.leave(&segment, position));
        }
        if let Some(gap) = segment.gaps.iter().find(|gap| gap.start == position) {
            self.go_to(gap.end);
            return Ok(Step::Again);
        }
        let place = Place { file: segment.file.as_ref(), id: &segment.header.id, limit: end };
        let found = self.window.frame(&place, position, |_| true);
        match found {
            Ok(Some(head)) => {
                self.go_to(position + head.padded_bytes());
                if head.last() < self.expected {
                    return Ok(Step::Again);
                }
                Ok(Step::Frame { position, head })
            }
            _ if segment.is_retired() => self.overrun(),
            Ok(None) => Err(self.damaged(&segment, position, end)),
            Err(source) => {
                let path = self.core.pool.path(segment.slot);
                Err(Error::Io { action: "read", path, source })
            }
        }
    }

    fn go_to(&mut self, position: u64) {
        if let Some(at) = &mut self.at {
            at.position = position;
        }
    }

    fn move_to(&mut self, segment: Arc<Segment>) {
        self.window.reset();
        self.at = Some(At { segment, position: Pool::frames_start() });
    }

    fn enter(&mut self) -> Result<Step> {
        let Some(segment) = self.core.pool.find(self.expected) else {
            return Ok(Step::CaughtUp);
        };
        self.move_to(segment);
        Ok(Step::Again)
    }

    /// At the end of a segment: on to the next one, if there is one.
    fn leave(&mut self, segment: &Segment, position: u64) -> Step {
        let Some(next) = self.core.pool.after(segment.header.order) else {
            return Step::CaughtUp;
        };
        // The segment may have grown before its successor came: look again before leaving it.
        if segment.end() > position {
            return Step::Again;
        }
        self.move_to(next);
        Step::Again
    }

    /// The segment was recycled under this reader.
    fn overrun(&mut self) -> Result<Step> {
        self.at = None;
        self.window.reset();
        let oldest = self.core.pool.oldest().unwrap_or(self.expected);
        if oldest <= self.expected {
            return Ok(Step::Again);
        }
        let after = Seq(self.expected.0.saturating_sub(1));
        self.expected = oldest;
        Err(Error::Overrun { after, oldest })
    }

    fn damaged(&mut self, segment: &Segment, position: u64, end: u64) -> Error {
        let place = Place { file: segment.file.as_ref(), id: &segment.header.id, limit: end };
        let next = position + PAGE_BYTES;
        let found = self.window.search(&place, next, |head| head.first >= self.expected);
        let goes_on = found.map_or(end, |(position, _)| position);
        self.go_to(goes_on);
        Error::Damaged { segment: segment.name(), position, bytes: goes_on - position }
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("expected", &self.expected).finish_non_exhaustive()
    }
}
