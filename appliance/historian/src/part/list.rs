//! The live parts, in order of their earliest sample.
//!
//! **Invariants**: the list never changes; a new one takes its place. A part's standing only goes
//! from live to damaged or removed.

use crate::part::facts::PartFacts;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// How a part stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It answers queries.
    Live,
    /// Its bytes are not what was written, or it is missing: set aside.
    Damaged,
    /// Its time has come: the file is gone or going.
    Removed,
}

/// A part.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) facts: PartFacts,
    standing: AtomicU8,
}

impl Part {
    pub(crate) fn new(facts: PartFacts) -> Arc<Self> {
        Arc::new(Self { facts, standing: AtomicU8::new(0) })
    }

    pub(crate) fn standing(&self) -> Standing {
        match self.standing.load(Ordering::Relaxed) {
            0 => Standing::Live,
            1 => Standing::Damaged,
            _ => Standing::Removed,
        }
    }

    pub(crate) fn set_standing(&self, standing: Standing) {
        let code = match standing {
            Standing::Live => 0,
            Standing::Damaged => 1,
            Standing::Removed => 2,
        };
        self.standing.fetch_max(code, Ordering::Relaxed);
    }
}

/// Parts by earliest source time.
#[derive(Clone, Debug, Default)]
pub(crate) struct PartList {
    parts: Vec<Arc<Part>>,
}

impl PartList {
    pub(crate) fn new(mut parts: Vec<Arc<Part>>) -> Self {
        parts.sort_by_key(|part| (part.facts.time_min, part.facts.seal));
        Self { parts }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Part>> {
        self.parts.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// The latest source time of any part.
    pub(crate) fn time_max(&self) -> i64 {
        self.parts.iter().map(|part| part.facts.time_max).max().unwrap_or(i64::MIN)
    }

    /// This list and more.
    pub(crate) fn with(&self, more: impl IntoIterator<Item = Arc<Part>>) -> Self {
        Self::new(self.parts.iter().cloned().chain(more).collect())
    }

    /// This list without those that were removed.
    pub(crate) fn without_removed(&self) -> Self {
        let parts = self.parts.iter().filter(|part| part.standing() != Standing::Removed);
        Self { parts: parts.cloned().collect() }
    }
}
