//! Work outside: a future of a step, on the box's runtime, that can be stopped.
//!
//! **Invariants**: a run that no longer waits for it drops the work; its result is told once.

use crate::step::{BoxFuture, StepFault};
use millrace_flow::Data;
use parking_lot::Mutex;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

type Result = std::result::Result<Data, StepFault>;

/// Stops the work when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Leash(Arc<Mutex<Stop>>);

#[derive(Debug, Default)]
struct Stop {
    is_stopped: bool,
    waker: Option<Waker>,
}

impl Drop for Leash {
    fn drop(&mut self) {
        let mut stop = self.0.lock();
        stop.is_stopped = true;
        if let Some(waker) = stop.waker.take() {
            waker.wake();
        }
    }
}

impl Leash {
    /// Puts work on this leash.
    pub(crate) fn hold(
        &self,
        work: BoxFuture<Result>,
        tell: impl FnOnce(Result) + Send + Unpin + 'static,
    ) -> BoxFuture<()> {
        Box::pin(Held { stop: Arc::clone(&self.0), work: Some(work), tell: Some(tell) })
    }
}

struct Held<F> {
    stop: Arc<Mutex<Stop>>,
    work: Option<BoxFuture<Result>>,
    tell: Option<F>,
}

impl<F: FnOnce(Result) + Unpin> Future for Held<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        {
            let mut stop = self.stop.lock();
            if stop.is_stopped {
                drop(stop);
                self.work = None;
                return Poll::Ready(());
            }
            stop.waker = Some(context.waker().clone());
        }
        let Some(work) = &mut self.work else { return Poll::Ready(()) };
        match work.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(result) => {
                self.work = None;
                if let Some(tell) = self.tell.take() {
                    tell(result);
                }
                Poll::Ready(())
            }
        }
    }
}
