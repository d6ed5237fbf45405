//! One lane: the pipelines of a priority that have work, least used first.
//!
//! **Invariants**: a pipeline is listed once, under the figure that it was listed with.

use crate::stats::{LaneStats, Times};
use std::collections::BTreeSet;

type Order = BTreeSet<(u64, u32)>;

#[derive(Debug, Default)]
pub(super) struct Lane {
    /// Pipelines that any worker may take from.
    shared: Order,
    /// Pipelines of each worker alone.
    own: Vec<Order>,
    /// Runs taken from other lanes since one was taken here although there was work.
    pub(super) passed_over: u32,
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
        Self { own: vec![Order::new(); workers], ..Self::default() }
    }

    pub(super) fn list(&mut self, home: Option<usize>, used: u64, number: u32) {
        if let Some(order) = self.order(home) {
            order.insert((used, number));
        }
    }

    pub(super) fn unlist(&mut self, home: Option<usize>, used: u64, number: u32) {
        if let Some(order) = self.order(home) {
            order.remove(&(used, number));
        }
    }

    fn order(&mut self, home: Option<usize>) -> Option<&mut Order> {
        match home {
            Some(worker) => self.own.get_mut(worker),
            None => Some(&mut self.shared),
        }
    }

    /// The least used pipeline that a worker may take from.
    pub(super) fn first(&self, worker: usize) -> Option<(u64, u32)> {
        let own = self.own.get(worker).and_then(|order| order.first());
        match (self.shared.first(), own) {
            (Some(shared), Some(own)) => Some(*shared.min(own)),
            (shared, own) => shared.or(own).copied(),
        }
    }

    /// Whether no pipeline has work here.
    pub(super) fn is_empty(&self) -> bool {
        self.shared.is_empty() && self.own.iter().all(BTreeSet::is_empty)
    }

    /// Whether a worker may take a run.
    pub(super) fn can(&self, worker: usize, slots: usize) -> bool {
        self.computing < slots && self.first(worker).is_some()
    }

    /// A pipeline that comes back does not make up for the time in which it wanted nothing.
    pub(super) fn least_used(&self) -> u64 {
        self.least
    }

    pub(super) fn advance(&mut self, used: u64) {
        self.least = self.least.max(used);
    }

    pub(super) fn shared_count(&self) -> usize {
        self.shared.len()
    }

    pub(super) fn has_own(&self, worker: usize) -> bool {
        self.own.get(worker).is_some_and(|order| !order.is_empty())
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
