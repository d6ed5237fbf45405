//! Who used the most CPU in the last quarter of an hour.
//!
//! Consumers tell totals since their start; once a minute they are noted, and the difference to
//! the oldest note is what was used.
//!
//! **Invariants**: a consumer whose total went back began anew and counts with its new total.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::time::Duration;

const EVERY: Duration = Duration::from_mins(1);
const NOTES_MAX: usize = 15;

/// Those who use CPU on somebody's behalf: pipelines.
pub trait Consumers: Send {
    /// Each one's number and its CPU time since the start.
    fn totals(&self) -> Vec<(u32, Duration)>;
    /// How to call one.
    fn name(&self, number: u32) -> String;
}

/// For a box without any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Consumers for Nobody {
    fn totals(&self) -> Vec<(u32, Duration)> {
        Vec::new()
    }

    fn name(&self, number: u32) -> String {
        number.to_string()
    }
}

/// Keeps the notes.
pub struct Busiest {
    consumers: Box<dyn Consumers>,
    notes: VecDeque<HashMap<u32, Duration>>,
    due: Duration,
}

impl fmt::Debug for Busiest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Busiest").field("notes", &self.notes.len()).finish_non_exhaustive()
    }
}

impl Busiest {
    /// Without any notes yet.
    #[must_use]
    pub fn new(consumers: Box<dyn Consumers>) -> Self {
        Self { consumers, notes: VecDeque::new(), due: Duration::ZERO }
    }

    /// Notes the totals if a minute has passed.
    pub fn sample(&mut self, now: Duration) {
        if now < self.due {
            return;
        }
        self.due = now + EVERY;
        if self.notes.len() >= NOTES_MAX {
            self.notes.pop_front();
        }
        self.notes.push_back(self.consumers.totals().into_iter().collect());
    }

    /// The names of those that used the most, and how much, the busiest first.
    #[must_use]
    pub fn top(&self, count: usize) -> Vec<(String, Duration)> {
        let base = self.notes.front();
        let mut used: Vec<(u32, Duration)> = self
            .consumers
            .totals()
            .into_iter()
            .map(|(number, total)| {
                let before = base.and_then(|note| note.get(&number)).copied().unwrap_or_default();
                (number, total.checked_sub(before).unwrap_or(total))
            })
            .filter(|(_, used)| !used.is_zero())
            .collect();
        used.sort_by_key(|(number, used)| (std::cmp::Reverse(*used), *number));
        let name = |(number, used)| (self.consumers.name(number), used);
        used.into_iter().take(count).map(name).collect()
    }

    pub(crate) fn sentence(&self, count: usize) -> String {
        let top = self.top(count);
        if top.is_empty() {
            return "No pipeline used CPU in the last 15 minutes.".to_owned();
        }
        let named: Vec<_> = top
            .iter()
            .map(|(name, used)| format!("{name} ({:.1} s)", used.as_secs_f64()))
            .collect();
        format!("Pipelines that used the most CPU in the last 15 minutes: {}.", named.join(", "))
    }
}
