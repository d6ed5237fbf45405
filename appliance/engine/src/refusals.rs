//! What was refused of several values that were to be published together.
//!
//! **Invariants**: bounded: of many refusals the first are told, all are counted.

use crate::step::StepFault;
use millrace_flow::{Data, Map};
use std::fmt::Write as _;
use std::sync::Arc;

/// Refusals that are told in the text.
const IN_TEXT_MAX: usize = 10;
/// Refusals that are told as data.
const IN_DATA_MAX: usize = 100;

/// Refusals, by the place of the value among those that were given.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    told: Vec<(usize, String, StepFault)>,
    count: usize,
}

impl Refusals {
    pub(crate) fn add(&mut self, place: usize, path: String, fault: StepFault) {
        self.count += 1;
        if self.told.len() < IN_DATA_MAX {
            self.told.push((place, path, fault));
        }
    }

    /// The fault of the step that gave so many values; none if none was refused.
    pub(crate) fn into_fault(mut self, given: usize) -> Option<StepFault> {
        let first = self.told.first().map(|(_, _, fault)| fault.clone())?;
        if given == 1 {
            return Some(first);
        }
        let mut text =
            format!("{} of {given} values were refused, so none is published", self.count);
        for (place, path, fault) in self.told.iter().take(IN_TEXT_MAX) {
            // Writing to a String cannot fail.
            let _infallible = write!(text, "; value {place} (`{path}`): {}", fault.message);
        }
        if let Some(more) = self.count.checked_sub(IN_TEXT_MAX).filter(|more| *more > 0) {
            let _infallible = write!(text, "; and {more} more");
        }
        let refused: Vec<Data> = self.told.drain(..).map(refusal).collect();
        let mut details = Map::new();
        details.set("given", Data::from(given as u64));
        details.set("refused", Data::from(self.count as u64));
        details.set("values", Data::List(refused.into()));
        Some(StepFault { message: text, details: Some(Data::Map(Arc::new(details))), ..first })
    }
}

fn refusal((place, path, fault): (usize, String, StepFault)) -> Data {
    let mut map = Map::new();
    map.set("index", Data::from(place as u64));
    map.set("path", Data::Text(path.into()));
    map.set("code", Data::Text(fault.code.into()));
    map.set("message", Data::Text(fault.message.into()));
    Data::Map(Arc::new(map))
}
