//! The quick add: which kinds of steps are offered, the likeliest first.
//!
//! Without a query the order is what usually follows: the group behind the current one, then the
//! palette's order. With a query the words decide, and what usually follows breaks ties. A trigger
//! is not offered where something leads in.
//!
//! **Invariants**: every kind that fits is offered once; the order is the same each time.

use crate::connect::Anchor;
use crate::effect::Join;
use crate::rank::Query;
use millrace_flow::Document;
use millrace_flow::kind::{self, Group, Kind};

/// The kinds to offer for a place.
#[must_use]
pub fn offer(document: &Document, join: &Join, query: &str) -> Vec<&'static Kind> {
    let query = Query::new(query);
    let before = match join {
        Join::Port(Anchor::Output { step, .. }) => document.steps.get(step),
        Join::Wire(wire) => document.steps.get(&wire.from),
        _ => None,
    };
    let leads_in = matches!(join, Join::Port(Anchor::Output { .. }) | Join::Wire(_));
    let before = before.and_then(|step| step.known_kind());
    let kinds = kind::ALL.iter().copied();
    let mut offered: Vec<(u32, u32, usize, &Kind)> = kinds
        .enumerate()
        .filter(|(_, kind)| !(leads_in && kind.group == Group::Trigger))
        .filter_map(|(number, kind)| {
            let texts = [(kind.name, 100), (kind.group.name(), 60), (kind.summary, 30)];
            let score = query.best(texts)?;
            Some((score, follows(before, kind, leads_in), number, kind))
        })
        .collect();
    offered.sort_by(|one, other| {
        let by_words = other.0.cmp(&one.0);
        by_words.then(other.1.cmp(&one.1)).then(one.2.cmp(&other.2))
    });
    offered.into_iter().map(|(_, _, _, kind)| kind).collect()
}

/// How usual a kind is in a place.
fn follows(before: Option<&Kind>, kind: &Kind, leads_in: bool) -> u32 {
    const USUAL: &[&str] = &["map", "condition", "filter", "uns.publish", "javascript"];
    let usual = u32::from(USUAL.contains(&kind.name));
    let group = match (before.map(|kind| kind.group), kind.group) {
        // Where nothing leads in, a pipeline begins.
        (None, Group::Trigger) if !leads_in => 4,
        (Some(Group::Trigger), Group::Transform) => 4,
        (Some(Group::Trigger), Group::Logic) => 3,
        (Some(Group::Transform), Group::System | Group::Action) => 4,
        (Some(Group::Transform), Group::Logic) => 3,
        (Some(Group::Logic), Group::Action | Group::System) => 4,
        (Some(Group::Action | Group::System), Group::Logic) => 3,
        (_, Group::Transform) => 2,
        _ => 1,
    };
    group * 2 + 3 * usual
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{document, wire};

    fn names(join: &Join, query: &str) -> Vec<&'static str> {
        let document = document("t:manual c:condition | t-c");
        offer(&document, join, query).iter().map(|kind| kind.name).collect()
    }

    #[test]
    fn without_a_query_everything_that_fits_is_offered_and_a_pipeline_begins_with_a_trigger() {
        let all = names(&Join::Nothing, "");
        assert_eq!(all.len(), kind::ALL.len());
        assert_eq!(all[0], "uns.subscribe");
        let behind = Join::Port(Anchor::Output { step: "t".into(), port: "out".into() });
        let behind = names(&behind, "");
        assert_eq!(behind[0], "map");
        assert!(!behind.contains(&"manual"), "a trigger has no input");
        let behind = Join::Port(Anchor::Output { step: "c".into(), port: "true".into() });
        assert_eq!(names(&behind, "")[0], "uns.publish");
    }

    #[test]
    fn words_decide() {
        assert_eq!(names(&Join::Wire(wire("t-c")), "http")[0], "http.request");
        assert_eq!(names(&Join::Nothing, "js")[0], "json.parse", "the beginning of a word");
        assert_eq!(names(&Join::Nothing, "sql exec")[0], "sql.execute");
        assert!(names(&Join::Nothing, "zzzz").is_empty());
    }
}
