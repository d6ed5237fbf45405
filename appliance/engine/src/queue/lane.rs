//! One lane: the pipelines of a priority that have work, least used first.
//!
//! Pipelines that any worker may run stand in one order, those of each worker alone in an order of
//! its own. Each order counts how many runs were taken from other lanes, by workers who could have
//! taken from it, since it last had its turn: what one worker alone runs must not be forgotten
//! because the others find nothing there.
//!
//! **Invariants**: a pipeline is listed once, under the figure that it was listed with; an order
//! with work is passed over until its turn, whoever looks at the lane in between.

use crate::stats::{LaneStats, Times};
use std::collections::BTreeSet;

/// Pipelines with work, least used first.
#[derive(Clone, Debug, Default)]
struct Order {
    pipelines: BTreeSet<(u64, u32)>,
    /// Runs taken from other lanes since one was taken here although there was work.
    passed_over: u32,
}

impl Order {
    fn first(&self) -> Option<(u64, u32)> {
        self.pipelines.first().copied()
    }

    /// Its first one, if the order was passed over so often.
    fn starved(&self, threshold: u32) -> Option<(u64, u32)> {
        self.first().filter(|_| self.passed_over >= threshold)
    }

    fn pass_over(&mut self, count: u32) {
        let is_empty = self.pipelines.is_empty();
        self.passed_over = if is_empty { 0 } else { self.passed_over.saturating_add(count) };
    }
}

#[derive(Debug, Default)]
pub(super) struct Lane {
    /// Pipelines that any worker may take from.
    shared: Order,
    /// Pipelines of each worker alone; the last worker has only those.
    own: Vec<Order>,
    /// Runs that were taken and have neither ended nor parked.
    pub(super) computing: usize,
    /// Runs that have not begun.
    pub(super) waiting: usize,
    pub(super) waits: Times,
    pub(super) taken_starved: u64,
    least: u64,
}

impl Lane {
    pub(super) fn new(workers: usize) -> Self {
        Self { own: vec![Order::default(); workers], ..Self::default() }
    }

    pub(super) fn list(&mut self, home: Option<usize>, used: u64, number: u32) {
        if let Some(order) = self.order(home) {
            order.pipelines.insert((used, number));
        }
    }

    pub(super) fn unlist(&mut self, home: Option<usize>, used: u64, number: u32) {
        if let Some(order) = self.order(home) {
            order.pipelines.remove(&(used, number));
        }
    }

    fn order(&mut self, home: Option<usize>) -> Option<&mut Order> {
        match home {
            Some(worker) => self.own.get_mut(worker),
            None => Some(&mut self.shared),
        }
    }

    /// What a worker may take from beside its own.
    fn shared_for(&self, worker: usize) -> Option<&Order> {
        (worker + 1 < self.own.len()).then_some(&self.shared)
    }

    /// The least used pipeline that a worker may take from.
    pub(super) fn first(&self, worker: usize) -> Option<(u64, u32)> {
        let own = self.own.get(worker).and_then(Order::first);
        match (self.shared_for(worker).and_then(Order::first), own) {
            (Some(shared), Some(own)) => Some(shared.min(own)),
            (shared, own) => shared.or(own),
        }
    }

    /// The pipeline that a worker is to take from because it was passed over so often.
    pub(super) fn starved(&self, worker: usize, threshold: u32) -> Option<(u64, u32)> {
        let own = self.own.get(worker).and_then(|order| order.starved(threshold));
        own.or_else(|| self.shared_for(worker)?.starved(threshold))
    }

    /// A worker takes runs from another lane.
    pub(super) fn pass_over(&mut self, worker: usize, count: u32) {
        if worker + 1 < self.own.len() {
            self.shared.pass_over(count);
        }
        if let Some(own) = self.own.get_mut(worker) {
            own.pass_over(count);
        }
    }

    /// Runs are taken from a pipeline of this lane.
    pub(super) fn has_turn(&mut self, home: Option<usize>) {
        if let Some(order) = self.order(home) {
            order.passed_over = 0;
        }
    }

    /// Whether there is a free slot.
    pub(super) fn has_room(&self, slots: usize) -> bool {
        self.computing < slots
    }

    /// Whether a worker may take a run.
    pub(super) fn can(&self, worker: usize, slots: usize) -> bool {
        self.has_room(slots) && self.first(worker).is_some()
    }

    /// A pipeline that comes back does not make up for the time in which it wanted nothing.
    pub(super) fn least_used(&self) -> u64 {
        self.least
    }

    pub(super) fn advance(&mut self, used: u64) {
        self.least = self.least.max(used);
    }

    pub(super) fn shared_count(&self) -> usize {
        self.shared.pipelines.len()
    }

    pub(super) fn has_own(&self, worker: usize) -> bool {
        self.own.get(worker).is_some_and(|order| !order.pipelines.is_empty())
    }

    pub(super) fn read(&self, name: &'static str) -> LaneStats {
        let (wait_buckets, wait_total) = self.waits.read();
        LaneStats {
            name,
            waiting: self.waiting,
            running: self.computing,
            taken: wait_buckets.iter().sum(),
            taken_starved: self.taken_starved,
            wait_buckets,
            wait_total,
            ..LaneStats::default()
        }
    }
}
