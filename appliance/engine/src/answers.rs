//! Who waits for a run: until it is durable, or until it has ended.
//!
//! **Invariants**: an end is told only when its record is durable; a ticket that is dropped is
//! forgotten with its run.

use crate::queued::RunId;
use crate::report::RunFault;
use millrace_flow::Data;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

/// Most runs that are waited for at once.
const ANSWERS_MAX: usize = 10_000;

/// How a run ended, for those who waited.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEnd {
    /// Well, with its result.
    Done(Data),
    /// It failed.
    Failed(RunFault),
    /// It did not run: shed, skipped, undeployed.
    NotRun(&'static str),
    /// The appliance stops.
    Stopped,
}

/// A run that was asked for.
#[derive(Clone, Debug)]
pub struct Ticket {
    /// Its id.
    pub id: RunId,
    answer: Arc<Answer>,
}

#[derive(Debug, Default)]
struct Answer {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_durable: bool,
    /// What the worker said; told when it is durable.
    said: Option<RunEnd>,
    end: Option<RunEnd>,
    wakers: Vec<Waker>,
}

impl Answer {
    fn change(&self, body: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        body(&mut state);
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Ticket {
    /// Done when the request is durable; `false` if it never will be known to be.
    pub fn durable(&self) -> impl Future<Output = bool> + Send + use<> {
        Wait {
            answer: Arc::clone(&self.answer),
            look: |state: &State| {
                (state.is_durable || state.end.is_some()).then_some(state.is_durable)
            },
        }
    }

    /// Done when the run has ended.
    pub fn ended(&self) -> impl Future<Output = RunEnd> + Send + use<> {
        Wait { answer: Arc::clone(&self.answer), look: |state: &State| state.end.clone() }
    }

    /// How it ended, if it has.
    #[must_use]
    pub fn end(&self) -> Option<RunEnd> {
        self.answer.state.lock().end.clone()
    }
}

struct Wait<F> {
    answer: Arc<Answer>,
    look: F,
}

impl<T, F: Fn(&State) -> Option<T> + Unpin> Future for Wait<F> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut state = self.answer.state.lock();
        match (self.look)(&state) {
            Some(found) => Poll::Ready(found),
            None => {
                if !state.wakers.iter().any(|waker| waker.will_wake(context.waker())) {
                    state.wakers.push(context.waker().clone());
                }
                Poll::Pending
            }
        }
    }
}

/// All tickets whose runs have not ended.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    /// Read without the lock on every end of a run.
    count: AtomicUsize,
    open: Mutex<HashMap<RunId, Arc<Answer>>>,
}

impl Answers {
    /// Makes a run and a ticket for it. The id is known only when `make` has written the request,
    /// so the table is held meanwhile: its end cannot be told before the ticket is in it.
    pub(crate) fn open<E>(
        &self,
        make: impl FnOnce() -> Result<RunId, E>,
        full: impl FnOnce() -> E,
    ) -> Result<Ticket, E> {
        let mut open = self.open.lock();
        open.retain(|_, answer| Arc::strong_count(answer) > 1);
        if open.len() >= ANSWERS_MAX {
            return Err(full());
        }
        self.count.store(open.len() + 1, Ordering::SeqCst);
        let made = make();
        let ticket = made.map(|id| {
            let answer = Arc::new(Answer::default());
            open.insert(id, Arc::clone(&answer));
            Ticket { id, answer }
        });
        self.count.store(open.len(), Ordering::SeqCst);
        ticket
    }

    /// A ticket for a run that has not ended; `None` if too many runs are waited for. If it has
    /// ended by then, nothing is told.
    pub(crate) fn follow(&self, id: RunId) -> Option<Ticket> {
        let mut open = self.open.lock();
        open.retain(|_, answer| Arc::strong_count(answer) > 1);
        if open.len() >= ANSWERS_MAX && !open.contains_key(&id) {
            return None;
        }
        let answer = Arc::clone(open.entry(id).or_default());
        self.count.store(open.len(), Ordering::SeqCst);
        Some(Ticket { id, answer })
    }

    fn find(&self, id: RunId) -> Option<Arc<Answer>> {
        if self.count.load(Ordering::SeqCst) == 0 {
            return None;
        }
        self.open.lock().get(&id).map(Arc::clone)
    }

    /// The request is durable.
    pub(crate) fn durable(&self, id: RunId) {
        if let Some(answer) = self.find(id) {
            answer.change(|state| state.is_durable = true);
        }
    }

    /// A worker has ended the run; that is not durable yet.
    pub(crate) fn said(&self, id: RunId, end: impl FnOnce() -> RunEnd) {
        if let Some(answer) = self.find(id) {
            answer.state.lock().said = Some(end());
        }
    }

    /// The run's end is durable.
    pub(crate) fn ended(&self, id: RunId, otherwise: &'static str) {
        if self.count.load(Ordering::SeqCst) == 0 {
            return;
        }
        let mut open = self.open.lock();
        let answer = open.remove(&id);
        self.count.store(open.len(), Ordering::SeqCst);
        drop(open);
        if let Some(answer) = answer {
            answer.change(|state| {
                state.end = Some(state.said.take().unwrap_or(RunEnd::NotRun(otherwise)));
            });
        }
    }

    /// The engine stops: nothing will be told any more.
    pub(crate) fn close(&self) {
        let open = std::mem::take(&mut *self.open.lock());
        self.count.store(0, Ordering::SeqCst);
        for answer in open.into_values() {
            answer.change(|state| state.end = Some(RunEnd::Stopped));
        }
    }
}
