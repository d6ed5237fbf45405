//! What the script editor offers: the names of a script, with what the samples hold.
//!
//! **Invariants**
//! - Steps are those that lead to this one; others have no output yet when it runs.
//! - A sample is what a step has really been given or has given here: no shape is guessed.

use millrace_editor::reach::{Direction, reach};
use millrace_flow::Document;
use millrace_flow::script::{self, Name};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Everything that can be offered in one step's script.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Hints {
    roots: Vec<Hint>,
    /// By root: what hangs on it.
    members: BTreeMap<&'static str, Vec<Hint>>,
    /// By root: what it is indexed with.
    names: BTreeMap<&'static str, Vec<Hint>>,
    /// By root: what is known to be there.
    samples: BTreeMap<String, Value>,
}

/// One name.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Hint {
    label: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    detail: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    info: String,
}

impl Hint {
    fn of(name: &Name) -> Self {
        Self { label: name.name.into(), detail: name.arguments.into(), info: name.doc.into() }
    }

    fn named(label: &str, detail: &str) -> Self {
        Self { label: label.into(), detail: detail.into(), info: String::new() }
    }
}

/// What is known when hints are made.
pub(super) struct Known<'a> {
    pub(super) document: &'a Document,
    /// The step whose script it is.
    pub(super) step: &'a str,
    /// The sample of the test panel.
    pub(super) input: Option<Value>,
    /// Outputs that are pinned.
    pub(super) pinned: &'a BTreeMap<String, Value>,
    /// The workspace's variables.
    pub(super) variables: &'a [String],
}

impl Known<'_> {
    pub(super) fn hints(&self) -> Hints {
        let list = |names: &[Name]| names.iter().map(Hint::of).collect::<Vec<_>>();
        let steps = self.document.steps.iter();
        let mut before = reach(self.document, [self.step.to_owned()], Direction::Upstream);
        before.remove(self.step);
        let before: Vec<_> = steps.filter(|(id, _)| before.contains(*id)).collect();
        let mut members = BTreeMap::from([
            ("$run", list(script::RUN)),
            ("mill", list(script::LIBRARY)),
            ("state", list(script::STATE)),
            ("console", list(script::CONSOLE)),
        ]);
        let mut triggers = before.iter().filter(|(_, step)| step.is_trigger());
        if triggers.any(|(_, step)| step.kind == "uns.subscribe") {
            members.insert("$trigger", list(script::TAG_VALUE));
        }
        let outputs = before.iter().map(|(id, step)| Hint::named(id, &step.kind)).collect();
        let variables = self.variables.iter().map(|name| Hint::named(name, "")).collect();
        Hints {
            roots: list(script::ROOTS),
            members,
            names: BTreeMap::from([("$step", outputs), ("$variable", variables)]),
            samples: self.samples(&before),
        }
    }

    fn samples(
        &self,
        before: &[(&String, &millrace_flow::document::Step)],
    ) -> BTreeMap<String, Value> {
        let pinned = |id: &String| self.pinned.get(id).cloned();
        let mut wires = self.document.wires.iter().filter(|wire| wire.to == self.step);
        let item = wires.find_map(|wire| pinned(&wire.from)).or_else(|| self.input.clone());
        let mut triggers = before.iter().filter(|(_, step)| step.is_trigger());
        let trigger = triggers.find_map(|(id, _)| pinned(id)).or_else(|| {
            // The panel's sample is what the trigger gave where it leads here at once.
            let direct = |id: &&String| {
                self.document.wires.iter().any(|wire| wire.to == self.step && wire.from == **id)
            };
            let is_direct = before.iter().any(|(id, step)| step.is_trigger() && direct(id));
            self.input.clone().filter(|_| is_direct)
        });
        let mut samples = BTreeMap::new();
        samples.extend(item.map(|item| ("$item".to_owned(), item)));
        samples.extend(trigger.map(|trigger| ("$trigger".to_owned(), trigger)));
        samples
            .extend(before.iter().filter_map(|(id, _)| Some((format!("$step {id}"), pinned(id)?))));
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document() -> Document {
        let text = json!({
            "millrace": 1, "name": "p",
            "steps": {
                "in": { "kind": "uns.subscribe", "fields": { "filters": ["oven/#"] } },
                "first": { "kind": "javascript", "fields": { "code": "return 1" } },
                "then": { "kind": "javascript", "fields": { "code": "return 1" } },
                "last": { "kind": "javascript", "fields": { "code": "return 1" } },
            },
            "wires": [
                { "from": "in", "port": "out", "to": "first" },
                { "from": "first", "port": "out", "to": "then" },
                { "from": "then", "port": "out", "to": "last" },
            ],
        });
        Document::parse(&text.to_string()).expect("a document")
    }

    fn labels(hints: &[Hint]) -> Vec<&str> {
        hints.iter().map(|hint| hint.label.as_str()).collect()
    }

    #[test]
    fn offers_the_steps_before_and_what_they_gave() {
        let document = document();
        let pinned = BTreeMap::from([("first".to_owned(), json!({ "celsius": 80 }))]);
        let variables = ["limit".to_owned()];
        let known = Known {
            document: &document,
            step: "then",
            input: Some(json!({ "typed": 1 })),
            pinned: &pinned,
            variables: &variables,
        };
        let hints = known.hints();
        assert_eq!(labels(&hints.names["$step"]), ["first", "in"], "not itself, not what follows");
        assert_eq!(labels(&hints.names["$variable"]), ["limit"]);
        assert_eq!(hints.samples["$step first"], json!({ "celsius": 80 }));
        assert_eq!(hints.samples["$item"], json!({ "celsius": 80 }), "pinned before typed");
        assert!(!hints.samples.contains_key("$trigger"), "the sample is not the trigger's");
        assert!(labels(&hints.members["$trigger"]).contains(&"quality"));
        assert!(labels(&hints.members["mill"]).contains(&"clamp"));
    }

    #[test]
    fn the_sample_behind_a_trigger_is_what_it_gave() {
        let (document, pinned) = (document(), BTreeMap::new());
        let input = Some(json!({ "value": 5 }));
        let known =
            Known { document: &document, step: "first", input, pinned: &pinned, variables: &[] };
        let hints = known.hints();
        assert_eq!(hints.samples["$trigger"], json!({ "value": 5 }));
        assert_eq!(hints.samples["$item"], json!({ "value": 5 }));
    }
}
