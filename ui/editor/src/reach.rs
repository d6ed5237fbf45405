//! What lies before and behind steps, by wires and by where failures go on.
//!
//! **Invariants**: a walk looks at each step and wire once; cycles end it.

use millrace_flow::Document;
use millrace_flow::document::OnError;
use std::collections::{BTreeMap, BTreeSet};

/// Which way to walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the triggers.
    Upstream,
    /// Towards the ends.
    Downstream,
}

/// All steps that lie before or behind some; those themselves too.
#[must_use]
pub fn reach(
    document: &Document,
    from: impl IntoIterator<Item = String>,
    direction: Direction,
) -> BTreeSet<String> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in edges(document) {
        match direction {
            Direction::Upstream => next.entry(to).or_default().push(from),
            Direction::Downstream => next.entry(from).or_default().push(to),
        }
    }
    let mut reached: BTreeSet<String> =
        from.into_iter().filter(|id| document.steps.contains_key(id)).collect();
    let mut to_visit: Vec<String> = reached.iter().cloned().collect();
    while let Some(id) = to_visit.pop() {
        for to in next.get(id.as_str()).into_iter().flatten() {
            if document.steps.contains_key(*to) && reached.insert((*to).to_owned()) {
                to_visit.push((*to).to_owned());
            }
        }
    }
    reached
}

/// All ways from one step to another.
pub fn edges(document: &Document) -> impl Iterator<Item = (&str, &str)> {
    let wires = document.wires.iter().map(|wire| (wire.from.as_str(), wire.to.as_str()));
    let failures = document.steps.iter().filter_map(|(id, step)| match &step.on_error {
        OnError::GoTo(to) => Some((id.as_str(), to.as_str())),
        _ => None,
    });
    wires.chain(failures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::document;

    #[test]
    fn walks_both_ways_through_wires_and_failures_and_out_of_cycles() {
        let mut document = document("t:manual a:map b:map c:map d:map | t-a a-b b-a c-d");
        document.steps.get_mut("b").unwrap().on_error = OnError::GoTo("d".into());
        let walk = |from: &str, direction| {
            reach(&document, [from.to_owned()], direction).into_iter().collect::<Vec<_>>().join("")
        };
        assert_eq!(walk("a", Direction::Downstream), "abd");
        assert_eq!(walk("d", Direction::Upstream), "abcdt");
        assert_eq!(walk("gone", Direction::Upstream), "");
    }
}
