//! The frames of a live subscription, from the program's events to the page's stream.
//!
//! **Invariants**
//! - What a page does not take in time is dropped from the old end; the page is told how many.
//! - Whoever drops the stream ends the subscription in the program.

use super::Program;
use futures_util::Stream;
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Frames that wait for the page.
const FRAMES_MAX: usize = 20_000;

/// The frames of one page's connection.
#[derive(Clone)]
pub(super) struct FrameQueue(Arc<Shared>);

struct Shared {
    program: Program,
    state: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    stream: Option<u64>,
    frames: VecDeque<String>,
    dropped: u64,
    is_over: bool,
    waker: Option<Waker>,
}

impl FrameQueue {
    pub(super) fn new(program: Program) -> Self {
        Self(Arc::new(Shared { program, state: Mutex::default() }))
    }

    fn state(&self) -> MutexGuard<'_, Waiting> {
        // One thread: a lock can only be poisoned by a panic, which ends the page anyway.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, frame: String) {
        let mut state = self.state();
        state.frames.push_back(frame);
        if state.frames.len() > FRAMES_MAX {
            state.frames.pop_front();
            state.dropped += 1;
        }
        wake(state);
    }

    /// The page's wishes are this subscription of the program from now on.
    pub(super) fn follow(&self, stream: u64) {
        self.leave();
        let is_over = {
            let mut state = self.state();
            state.stream = Some(stream);
            state.is_over
        };
        if is_over {
            return self.leave();
        }
        let queue = self.clone();
        self.0.program.listen(stream, move |heard| {
            for frame in heard.frames {
                queue.push(frame);
            }
            if heard.dropped > 0 {
                let notice =
                    json!({"type": "dropped", "count": heard.dropped, "total": heard.dropped});
                queue.push(notice.to_string());
            }
            if !heard.connected {
                queue.end();
            }
        });
    }

    /// Ends the subscription in the program.
    pub(super) fn leave(&self) {
        let stream = self.state().stream.take();
        if let Some(stream) = stream {
            self.0.program.end_live(stream);
        }
    }

    /// The connection is over: the page tries again.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.is_over = true;
        wake(state);
        self.leave();
    }

    /// The frames as a stream that ends the subscription when it is dropped.
    pub(super) fn stream(self) -> impl Stream<Item = String> {
        let ending = Ending(self);
        futures_util::stream::poll_fn(move |context| {
            let mut state = ending.0.state();
            match state.frames.pop_front() {
                Some(frame) => Poll::Ready(Some(frame)),
                None if state.is_over => Poll::Ready(None),
                None => {
                    state.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
    }
}

fn wake(mut state: MutexGuard<'_, Waiting>) {
    let waker = state.waker.take();
    drop(state);
    if let Some(waker) = waker {
        waker.wake();
    }
}

struct Ending(FrameQueue);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end();
    }
}
