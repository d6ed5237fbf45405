//! Base, mine, theirs: how a draft stands to what the appliance has.
//!
//! Where both sides have something new, the page merges the three documents and saves the outcome
//! as a draft made from theirs.
//!
//! **Invariants**: what is shown as a difference is what the shared model of pipelines says.

use super::{Draft, Known};
use crate::fault::{Fault, FaultCode, Result};
use millrace_flow::diff::lines;
use millrace_flow::{Document, diff};
use serde::Serialize;

/// How a draft stands to the appliance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The appliance has no such pipeline and had none: deploying makes it.
    New,
    /// The draft says what the appliance has.
    Same,
    /// Only the draft is new: deploying makes it the next revision.
    Ahead,
    /// Only the appliance has something new: the draft has nothing to say.
    Behind,
    /// Both have something new: a person decides.
    Diverged,
    /// The pipeline was removed at the appliance since.
    Removed,
}

/// A draft compared with its base and with the appliance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The pipeline.
    pub name: String,
    /// How it stands.
    pub relation: Relation,
    /// The revision that the draft was made from; 0 for a new pipeline.
    pub base: u32,
    /// The appliance's revision; 0 when it has none. Goes into `deploy` as `expected`.
    pub theirs: u32,
    /// Who stored the appliance's revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theirs_author: Option<String>,
    /// Whether the appliance was asked just now; otherwise it is what was last seen of it.
    pub is_fresh: bool,
    /// What the draft changes, a line for each change.
    pub mine_lines: Vec<String>,
    /// What changed at the appliance since the base.
    pub theirs_lines: Vec<String>,
    /// What deploying would change there: theirs against mine.
    pub deploy_lines: Vec<String>,
}

/// What the appliance has.
pub(crate) struct Theirs {
    pub(crate) known: Option<Known>,
    pub(crate) is_fresh: bool,
}

/// Compares.
pub(crate) fn compare(name: &str, draft: &Draft, theirs: Theirs) -> Result<Comparison> {
    let mine = read(&draft.document)?;
    let base = draft.base_document.as_deref().map(read).transpose()?;
    let found = theirs.known.as_ref().map(|known| read(&known.document)).transpose()?;
    let empty = empty(name);
    let base_or_none = base.as_ref().unwrap_or(&empty);
    let theirs_or_none = found.as_ref().unwrap_or(&empty);
    let difference = |from: &Document, to: &Document| lines(from, &diff(from, to));
    let relation = relation(&mine, base.as_ref(), found.as_ref());
    Ok(Comparison {
        name: name.to_owned(),
        relation,
        base: draft.base,
        theirs: theirs.known.as_ref().map_or(0, |known| known.revision),
        theirs_author: theirs.known.map(|known| known.author),
        is_fresh: theirs.is_fresh,
        mine_lines: difference(base_or_none, &mine),
        theirs_lines: difference(base_or_none, theirs_or_none),
        deploy_lines: difference(theirs_or_none, &mine),
    })
}

fn relation(mine: &Document, base: Option<&Document>, theirs: Option<&Document>) -> Relation {
    match (base, theirs) {
        (None, None) => Relation::New,
        (Some(_), None) => Relation::Removed,
        (_, Some(theirs)) if theirs == mine => Relation::Same,
        (None, Some(_)) => Relation::Diverged,
        (Some(base), Some(theirs)) if base == theirs => Relation::Ahead,
        (Some(base), Some(_)) if base == mine => Relation::Behind,
        (Some(_), Some(_)) => Relation::Diverged,
    }
}

fn read(text: &str) -> Result<Document> {
    Document::parse(text).map_err(|fault| {
        Fault::new(FaultCode::Foreign, format!("A pipeline's document cannot be read: {fault}."))
    })
}

fn empty(name: &str) -> Document {
    Document {
        millrace: millrace_flow::document::FORMAT,
        name: name.to_owned(),
        description: String::new(),
        settings: millrace_flow::document::Settings::default(),
        steps: std::collections::BTreeMap::new(),
        wires: Vec::new(),
        cases: Vec::new(),
        layout: std::collections::BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(factor: u32, message: &str) -> String {
        format!(
            r#"{{"millrace":1,"name":"p","steps":{{"in":{{"kind":"manual"}},
            "scale":{{"kind":"unit","fields":{{"factor":{factor}}}}},
            "log":{{"kind":"log","fields":{{"message":"{message}"}}}}}},"wires":[]}}"#
        )
    }

    fn known(revision: u32, document: String) -> Known {
        Known {
            revision,
            at: "t".to_owned(),
            author: "user:bo".to_owned(),
            note: String::new(),
            deployed: None,
            document,
            fetched: "t".to_owned(),
        }
    }

    fn compared(base: Option<String>, mine: String, theirs: Option<String>) -> Comparison {
        let saved = "t".to_owned();
        let draft =
            Draft { base: u32::from(base.is_some()), base_document: base, document: mine, saved };
        let known = theirs.map(|document| known(2, document));
        compare("p", &draft, Theirs { known, is_fresh: true }).unwrap()
    }

    #[test]
    fn every_relation_has_its_name() {
        let doc = |factor| document(factor, "x");
        let check = |base: Option<u32>, mine: u32, theirs: Option<u32>, relation: Relation| {
            let comparison = compared(base.map(doc), doc(mine), theirs.map(doc));
            assert_eq!(comparison.relation, relation, "{base:?} {mine} {theirs:?}");
        };
        check(None, 1, None, Relation::New);
        check(Some(1), 2, None, Relation::Removed);
        check(Some(1), 2, Some(2), Relation::Same);
        check(Some(1), 1, Some(1), Relation::Same);
        check(Some(1), 2, Some(1), Relation::Ahead);
        check(Some(1), 1, Some(2), Relation::Behind);
        check(Some(1), 2, Some(3), Relation::Diverged);
        check(None, 2, Some(3), Relation::Diverged);
    }

    #[test]
    fn both_sides_are_shown() {
        let comparison = compared(Some(document(1, "x")), document(2, "x"), Some(document(1, "y")));
        assert_eq!(comparison.mine_lines, ["step `scale`, `factor`: 1 → 2"]);
        assert_eq!(comparison.theirs_lines, ["step `log`, `message`: \"x\" → \"y\""]);
        assert_eq!(comparison.theirs_author.as_deref(), Some("user:bo"));
        // What goes over the wire: mine against theirs, so that nothing goes unseen.
        assert_eq!(comparison.deploy_lines.len(), 2);
    }
}
