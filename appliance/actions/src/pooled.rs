//! Connections shared by all pipelines: per target some in use, few idle, a bounded queue.
//!
//! **Invariants**: at most [`CALLS_PER_TARGET_MAX`] calls per target run and [`CALLS_WAITING_MAX`]
//! wait; what was idle for [`IDLE_MAX`] is never lent again; only a connection that its user gave
//! back is lent again.

use crate::limits::{
    CALLS_PER_TARGET_MAX, CALLS_WAITING_MAX, IDLE_MAX, IDLE_PER_TARGET_MAX, POOLED_TARGETS_MAX,
};
use millrace_engine::step::StepFault;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// The connections of one kind.
#[derive(Debug)]
pub(crate) struct Pooled<K, C> {
    targets: Mutex<HashMap<K, Arc<Slots<C>>>>,
}

/// The connections to one target.
#[derive(Debug)]
struct Slots<C> {
    calls: Arc<Semaphore>,
    waiting: AtomicUsize,
    idle: Mutex<Vec<(Instant, C)>>,
}

/// The right to use one connection. Dropping it gives the right back, not the connection.
#[derive(Debug)]
pub(crate) struct Lease<C> {
    slots: Arc<Slots<C>>,
    _call: OwnedSemaphorePermit,
}

impl<K: Eq + Hash + Clone, C> Pooled<K, C> {
    pub(crate) fn new() -> Self {
        Self { targets: Mutex::default() }
    }

    /// Waits for the right to use a connection.
    pub(crate) async fn enter(&self, key: &K) -> Result<Lease<C>, StepFault> {
        let slots = self.slots(key)?;
        let calls = Arc::clone(&slots.calls);
        if let Ok(call) = Arc::clone(&calls).try_acquire_owned() {
            return Ok(Lease { slots, _call: call });
        }
        let waiting = Waiting::enter(&slots.waiting);
        if waiting.before >= CALLS_WAITING_MAX {
            let message = format!("{CALLS_WAITING_MAX} calls of this target wait already");
            return Err(StepFault::passing("limit", message));
        }
        let stopping = |_| StepFault::passing("limit", "the box is stopping");
        let call = calls.acquire_owned().await.map_err(stopping)?;
        drop(waiting);
        Ok(Lease { slots, _call: call })
    }

    fn slots(&self, key: &K) -> Result<Arc<Slots<C>>, StepFault> {
        let mut targets = self.targets.lock();
        if let Some(slots) = targets.get(key) {
            return Ok(Arc::clone(slots));
        }
        if targets.len() >= POOLED_TARGETS_MAX {
            targets.retain(|_, slots| Arc::strong_count(slots) > 1);
        }
        if targets.len() >= POOLED_TARGETS_MAX {
            let message = format!("calls of {POOLED_TARGETS_MAX} targets are under way");
            return Err(StepFault::passing("limit", message));
        }
        let slots = Arc::new(Slots {
            calls: Arc::new(Semaphore::new(CALLS_PER_TARGET_MAX)),
            waiting: AtomicUsize::new(0),
            idle: Mutex::new(Vec::new()),
        });
        targets.insert(key.clone(), Arc::clone(&slots));
        Ok(slots)
    }

    /// Closes what was idle for too long.
    pub(crate) fn tick(&self) {
        self.targets.lock().retain(|_, slots| {
            let mut idle = slots.idle.lock();
            idle.retain(|(since, _)| since.elapsed() < IDLE_MAX);
            !idle.is_empty() || Arc::strong_count(slots) > 1
        });
    }
}

impl<C> Lease<C> {
    /// The idle connection that was used last, if there is one.
    pub(crate) fn take_idle(&self, is_usable: impl Fn(&C) -> bool) -> Option<C> {
        let mut idle = self.slots.idle.lock();
        while let Some((since, connection)) = idle.pop() {
            if since.elapsed() < IDLE_MAX && is_usable(&connection) {
                return Some(connection);
            }
        }
        None
    }

    /// Keeps a connection, which is ready for its next use.
    pub(crate) fn give_back(self, connection: C) {
        let mut idle = self.slots.idle.lock();
        if idle.len() < IDLE_PER_TARGET_MAX {
            idle.push((Instant::now(), connection));
        }
    }
}

/// Counts a waiting call for as long as it waits, also if it is given up.
struct Waiting<'a> {
    count: &'a AtomicUsize,
    before: usize,
}

impl<'a> Waiting<'a> {
    fn enter(count: &'a AtomicUsize) -> Self {
        let before = count.fetch_add(1, Ordering::Relaxed);
        Self { count, before }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn bounds_calls_and_those_that_wait() {
        let pooled: Pooled<u8, u8> = Pooled::new();
        let mut running = Vec::new();
        for _ in 0..CALLS_PER_TARGET_MAX {
            running.push(pooled.enter(&1).await.unwrap());
        }
        let mut waiting: Vec<_> =
            (0..CALLS_WAITING_MAX).map(|_| Box::pin(pooled.enter(&1))).collect();
        for call in &mut waiting {
            assert!(call.now_or_never().is_none());
        }
        let fault = pooled.enter(&1).await.unwrap_err();
        assert_eq!((fault.code, fault.is_transient), ("limit", true));
        // Another target is not held up, and those that are given up make room.
        pooled.enter(&2).await.unwrap();
        waiting.clear();
        running.pop();
        pooled.enter(&1).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn lends_again_what_was_given_back_and_is_young() {
        let pooled: Pooled<u8, u8> = Pooled::new();
        pooled.enter(&1).await.unwrap().give_back(7);
        assert_eq!(pooled.enter(&1).await.unwrap().take_idle(|_| true), Some(7));
        pooled.enter(&1).await.unwrap().give_back(8);
        assert_eq!(pooled.enter(&1).await.unwrap().take_idle(|_| false), None);
        pooled.enter(&1).await.unwrap().give_back(9);
        tokio::time::advance(IDLE_MAX).await;
        assert_eq!(pooled.enter(&1).await.unwrap().take_idle(|_| true), None);
        pooled.tick();
        assert!(pooled.targets.lock().is_empty());
    }
}
