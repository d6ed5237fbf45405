//! One search for steps, topics and commands.
//!
//! Steps are found by id, label, kind and the texts of their fields; topics are those that the
//! document's fields name, and those that the page knows of; commands are the actions.
//!
//! **Invariants**: at most [`HITS_MAX`] hits are given, the best first; equal ones keep the order
//! steps, topics, commands.

use crate::action::{self, Action};
use crate::rank::Query;
use millrace_flow::Document;
use millrace_flow::kind::FieldForm;
use serde_json::Value;
use std::collections::BTreeSet;

/// Most hits that are given.
pub const HITS_MAX: usize = 50;

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchHit {
    /// A step, and the text in which the words were found.
    Step {
        /// Its id.
        id: String,
        /// What was found in it.
        text: String,
    },
    /// A topic or path.
    Topic(String),
    /// A command.
    Command(Action),
}

/// Looks for what was typed.
#[must_use]
pub fn search(document: &Document, topics: &[String], query: &str) -> Vec<SearchHit> {
    let query = Query::new(query);
    if query.is_empty() {
        return Vec::new();
    }
    let mut hits: Vec<(u32, SearchHit)> = Vec::new();
    for (id, step) in &document.steps {
        let mut texts = vec![(id.clone(), 100), (step.label.clone(), 100), (step.kind.clone(), 70)];
        for value in step.fields.values() {
            texts_of(value, &mut texts);
        }
        let scored = texts.into_iter().filter(|(text, _)| !text.is_empty());
        let scored = scored.filter_map(|(text, worth)| {
            Some((query.score(&text)?.saturating_mul(worth) / 100, text))
        });
        // The first of the best.
        let best = scored.reduce(|best, next| if next.0 > best.0 { next } else { best });
        if let Some((score, text)) = best {
            hits.push((score, SearchHit::Step { id: id.clone(), text }));
        }
    }
    let named = topics_of(document);
    for topic in named.iter().chain(topics.iter().filter(|topic| !named.contains(*topic))) {
        if let Some(score) = query.best([(topic.as_str(), 80)]) {
            hits.push((score, SearchHit::Topic(topic.clone())));
        }
    }
    for spec in action::ALL {
        if let Some(score) = query.best([(spec.name, 90), (spec.sentence, 30)]) {
            hits.push((score, SearchHit::Command(spec.action)));
        }
    }
    hits.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    hits.truncate(HITS_MAX);
    hits.into_iter().map(|(_, hit)| hit).collect()
}

/// The topics, paths and filters that a document's steps name.
#[must_use]
pub fn topics_of(document: &Document) -> BTreeSet<String> {
    let mut topics = BTreeSet::new();
    for step in document.steps.values() {
        let Some(kind) = step.known_kind() else { continue };
        for (name, value) in &step.fields {
            let form = kind.field(name).map(|field| field.form);
            let is_topic = |form: &FieldForm| {
                matches!(form, FieldForm::Path | FieldForm::Filter | FieldForm::Topic)
            };
            let names_topics = match form {
                Some(FieldForm::List(of)) => is_topic(of),
                Some(form) => is_topic(&form),
                None => false,
            };
            if names_topics {
                let texts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                topics.extend(texts.iter().filter_map(Value::as_str).map(str::to_owned));
            }
        }
    }
    topics
}

fn texts_of(value: &Value, texts: &mut Vec<(String, u32)>) {
    match value {
        Value::String(text) => texts.push((text.clone(), 50)),
        Value::Array(items) => items.iter().for_each(|item| texts_of(item, texts)),
        Value::Object(fields) => fields.values().for_each(|item| texts_of(item, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::document;
    use serde_json::json;

    #[test]
    fn one_search_finds_steps_topics_and_commands() {
        let mut document = document("press:uns.subscribe scale:map");
        let fields = &mut document.steps.get_mut("press").unwrap().fields;
        fields.insert("filters".into(), json!(["press-4/+/temperature"]));
        let fields = &mut document.steps.get_mut("scale").unwrap().fields;
        fields.insert("output".into(), json!({"deep": ["{{ $input.value * 1.8 }}"]}));
        let topics = ["press-4/state".to_owned(), "press-4/+/temperature".to_owned()];
        let hits = |query: &str| search(&document, &topics, query);
        let step = |id: &str, text: &str| SearchHit::Step { id: id.into(), text: text.into() };
        assert_eq!(hits("press")[0], step("press", "press"));
        assert_eq!(hits("1.8"), [step("scale", "{{ $input.value * 1.8 }}")]);
        let topic = |text: &str| SearchHit::Topic(text.into());
        assert_eq!(hits("press-4 state"), [topic("press-4/state")]);
        let found = hits("temperature");
        assert!(found.contains(&topic("press-4/+/temperature")), "{found:?}");
        assert_eq!(found.iter().filter(|hit| matches!(hit, SearchHit::Topic(_))).count(), 1);
        assert_eq!(hits("undo")[0], SearchHit::Command(Action::Undo));
        assert!(hits("").is_empty());
    }

    #[test]
    fn the_number_of_hits_is_bounded() {
        let text: String = (0..200).map(|step| format!("s{step}:map ")).collect();
        assert_eq!(search(&document(&text), &[], "map").len(), HITS_MAX);
    }
}
