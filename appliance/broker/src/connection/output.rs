//! What is to be sent: everything of one wake, written at once.
//!
//! Connections of one thread write into the same memory, one after the other: with a thousand of
//! them memory of its own is fetched anew at each wake. Only who has something left keeps it.
//!
//! **Invariants**: bytes leave in the order in which they were appended; a connection that has
//! nothing to send keeps no memory.

use std::cell::Cell;
use std::io;
use std::task::{Context, Poll, ready};

use super::stream::Stream;

/// Memory that is lent on.
const KEPT_BYTES_MAX: usize = 16 * 1024;

thread_local! {
    /// What the thread's connections lend one another.
    static SPARE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// The output of a connection.
#[derive(Debug, Default)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    sent: usize,
    needs_flush: bool,
}

impl Output {
    /// At the start of a wake: takes the thread's memory, if it has none of its own.
    #[inline]
    pub(crate) fn borrow(&mut self) {
        if self.bytes.capacity() == 0 {
            self.bytes = SPARE.take();
        }
    }

    /// At the end of a wake: gives the memory back, if nothing is left to send.
    #[inline]
    pub(crate) fn give_back(&mut self) {
        if self.bytes.is_empty() && self.bytes.capacity() <= KEPT_BYTES_MAX {
            SPARE.set(std::mem::take(&mut self.bytes));
        }
    }

    /// Where encoders append.
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Bytes that wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes until everything is sent or the socket takes no more; how many bytes were sent.
    #[inline]
    pub(crate) fn poll_flush(
        &mut self,
        stream: &mut Stream,
        cx: &mut Context<'_>,
        sent_bytes: &mut u64,
    ) -> Poll<io::Result<()>> {
        while let Some(rest) = self.bytes.get(self.sent..).filter(|rest| !rest.is_empty()) {
            let written = match stream.poll_write(cx, rest) {
                Poll::Ready(written) => written?,
                Poll::Pending => {
                    self.forget_sent();
                    return Poll::Pending;
                }
            };
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += written;
            *sent_bytes += u64::try_from(written).unwrap_or(u64::MAX);
            self.needs_flush = true;
        }
        self.forget_sent();
        if self.needs_flush {
            ready!(stream.poll_flush(cx))?;
            self.needs_flush = false;
        }
        Poll::Ready(Ok(()))
    }

    fn forget_sent(&mut self) {
        if self.is_empty() {
            self.bytes.clear();
            self.sent = 0;
            if self.bytes.capacity() > KEPT_BYTES_MAX {
                self.bytes.shrink_to(KEPT_BYTES_MAX);
            }
        } else if self.sent > KEPT_BYTES_MAX {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }
}
