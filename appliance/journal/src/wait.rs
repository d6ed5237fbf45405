//! Appending and waiting for the commit, for the rare writers that are not on the hot path.
//!
//! **Invariants**: dropping the future takes nothing back: what was appended is committed.

use crate::error::AppendError;
use crate::group_commit::Queue;
use crate::record_buf::RecordBuf;
use crate::seq::SeqRange;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Appends when there is room, then waits; remembers in `range` what it was given.
pub(crate) fn poll_append_durable(
    queue: &Queue,
    buf: &mut RecordBuf,
    range: &mut Option<SeqRange>,
    cx: &Context<'_>,
) -> Poll<Result<SeqRange, AppendError>> {
    let given = match range {
        Some(given) => *given,
        None => match queue.append(buf, None) {
            Ok(given) => *range.insert(given),
            Err(AppendError::Full) => {
                queue.wait_for_space(cx.waker());
                return Poll::Pending;
            }
            Err(error) => return Poll::Ready(Err(error)),
        },
    };
    if given.count == 0 {
        return Poll::Ready(Ok(given));
    }
    queue.poll_durable(given.last(), cx.waker()).map_ok(|()| given)
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Calls until it is ready; sleeps on this thread in between.
pub(crate) fn block_on<T>(mut poll: impl FnMut(&Context<'_>) -> Poll<T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        if let Poll::Ready(done) = poll(&Context::from_waker(&waker)) {
            return done;
        }
        thread::park();
    }
}
