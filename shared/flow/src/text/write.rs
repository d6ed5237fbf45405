//! Writing a document's text.
//!
//! **Invariants**: the text depends on the document alone, not on how maps are kept in memory.

use super::is_of_lines;
use crate::data::{Data, Map};
use crate::document::Document;
use millrace_model::json::write_string;
use serde_json::Value;

/// A list or object of scalars within a list is written on one line up to this width.
const WIDTH: usize = 100;

pub(super) fn document(document: &Document) -> String {
    let mut sorted = document.clone();
    sorted.normalize();
    for step in sorted.steps.values_mut() {
        let kind = step.known_kind();
        for (name, value) in &mut step.fields {
            sort_keys(value);
            let is_of_lines =
                kind.and_then(|kind| kind.field(name)).is_some_and(|field| is_of_lines(field.form));
            if is_of_lines && let Some(lines) = lines(value) {
                *value = lines;
            }
        }
    }
    for case in &mut sorted.cases {
        let given = case.given.last.values_mut().chain(case.given.variables.values_mut());
        given.chain(case.given.answers.values_mut()).for_each(sort_keys);
        case.when.iter_mut().for_each(|when| sort_keys(&mut when.with));
        for expected in &mut case.then {
            match expected {
                crate::case::Expected::Publish { value, .. }
                | crate::case::Expected::Variable { value, .. } => sort_keys(value),
                crate::case::Expected::Call { with, .. } => with.values_mut().for_each(sort_keys),
                _ => {}
            }
        }
    }
    // Nothing in a document can be refused by the writer. Data keeps the order of the fields.
    let compact = serde_json::to_string(&sorted).unwrap_or_default();
    let mut text = String::with_capacity(compact.len() * 2);
    match serde_json::from_str::<Data>(&compact) {
        Ok(data) => write(&data, 0, false, &mut text),
        // Deeper than any document that was read: still JSON, on one line.
        Err(_) => text.push_str(&compact),
    }
    text.push('\n');
    text
}

/// A text of several lines as the list of them.
fn lines(value: &Value) -> Option<Value> {
    let text = value.as_str().filter(|text| text.contains('\n'))?;
    Some(Value::Array(text.split('\n').map(Value::from).collect()))
}

/// Brings keys into order if the map of this build keeps the order in which they were set.
fn sort_keys(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(sort_keys),
        Value::Object(map) => {
            let mut fields: Vec<_> = std::mem::take(map).into_iter().collect();
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            fields.iter_mut().for_each(|(_, value)| sort_keys(value));
            map.extend(fields);
        }
        _ => {}
    }
}

fn write(data: &Data, indent: usize, is_item: bool, out: &mut String) {
    match data {
        Data::List(list) if list.is_empty() => out.push_str("[]"),
        Data::Map(map) if map.is_empty() => out.push_str("{}"),
        Data::List(list) => {
            if let Some(line) = line_of_list(list).filter(|line| line.len() + indent <= WIDTH) {
                return out.push_str(&line);
            }
            out.push('[');
            for (at, item) in list.iter().enumerate() {
                new_line(at > 0, indent + 2, out);
                write(item, indent + 2, true, out);
            }
            new_line(false, indent, out);
            out.push(']');
        }
        Data::Map(map) => {
            let line = line_of_map(map).filter(|line| is_item && line.len() + indent <= WIDTH);
            if let Some(line) = line {
                return out.push_str(&line);
            }
            out.push('{');
            for (at, (name, value)) in map.iter().enumerate() {
                new_line(at > 0, indent + 2, out);
                write_string(name, out);
                out.push_str(": ");
                write(value, indent + 2, false, out);
            }
            new_line(false, indent, out);
            out.push('}');
        }
        scalar => scalar.write_json(out),
    }
}

fn new_line(has_comma: bool, indent: usize, out: &mut String) {
    if has_comma {
        out.push(',');
    }
    out.push('\n');
    out.extend(std::iter::repeat_n(' ', indent));
}

/// Numbers and the like stand on one line; of texts only a single one, so that a change of one
/// shows as that.
fn line_of_list(list: &[Data]) -> Option<String> {
    let has_text = list.iter().any(|item| matches!(item, Data::Text(_)));
    if list.iter().any(|item| item.depth() > 0) || has_text && list.len() > 1 {
        return None;
    }
    let items: Vec<_> = list.iter().map(Data::to_json_text).collect();
    Some(format!("[{}]", items.join(", ")))
}

fn line_of_map(map: &Map) -> Option<String> {
    if map.iter().any(|(_, value)| value.depth() > 0) {
        return None;
    }
    let mut line = String::from("{ ");
    for (at, (name, value)) in map.iter().enumerate() {
        if at > 0 {
            line.push_str(", ");
        }
        write_string(name, &mut line);
        line.push_str(": ");
        value.write_json(&mut line);
    }
    line.push_str(" }");
    Some(line)
}
