//! What is to be sent: everything of one wake, written at once.
//!
//! **Invariants**: bytes leave in the order in which they were appended; a connection that has
//! nothing to send keeps little memory.

use std::io;
use std::task::{Context, Poll, ready};

use super::stream::Stream;

/// Memory that an empty output may keep.
const KEPT_BYTES_MAX: usize = 16 * 1024;

/// The output of a connection.
#[derive(Debug, Default)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    sent: usize,
    needs_flush: bool,
}

impl Output {
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
