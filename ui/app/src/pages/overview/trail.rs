//! The last minutes of a figure, for its small trend.
//!
//! **Invariants**
//! - Never more than [`POINTS_MAX`] points.

use leptos::prelude::*;
use std::collections::VecDeque;

/// Points of a trend: five minutes at one per two seconds.
const POINTS_MAX: usize = 150;

/// A figure with its last minutes.
#[derive(Clone, Copy)]
pub(super) struct Trail {
    points: RwSignal<VecDeque<Option<f64>>>,
}

impl Trail {
    pub(super) fn new() -> Self {
        Self { points: RwSignal::new(VecDeque::new()) }
    }

    /// Adds the newest point.
    pub(super) fn add(self, point: Option<f64>) {
        self.points.update(|points| {
            points.push_back(point);
            while points.len() > POINTS_MAX {
                points.pop_front();
            }
        });
    }

    /// The newest point.
    pub(super) fn latest(self) -> Option<f64> {
        self.points.with(|points| points.back().copied().flatten())
    }

    /// All points, oldest first.
    pub(super) fn all(self) -> Vec<Option<f64>> {
        self.points.with(|points| points.iter().copied().collect())
    }
}
