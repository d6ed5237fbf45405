//! What a file of tags changes: every fault and every change, before anything is written.
//!
//! **Invariants**: a file with a fault has no changes to write; a tag stands in a file once.

use super::rows::{self, Row};
use super::{COLUMNS, taken_back, texts};
use crate::backend::TagChange;
use crate::convert;
use crate::limits::{TAG_FILE_CHANGES_SHOWN_MAX, TAG_FILE_FAULTS_SHOWN_MAX, TAG_FILE_ROWS_MAX};
use millrace_contract::v1;
use millrace_contract::v1::{TagImport, TagImportChange, TagImportFault};
use serde::de::DeserializeOwned;
use std::collections::HashMap;

/// What is told of a file, and what would be written.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) report: TagImport,
    /// By path; empty when there is a fault.
    pub(crate) changes: Vec<(String, TagChange)>,
}

impl Plan {
    fn fault(&mut self, line: u64, field: &str, message: impl Into<String>) {
        self.report.faults_in_all += 1;
        if self.report.faults.len() < TAG_FILE_FAULTS_SHOWN_MAX {
            let (field, message) = (field.to_owned(), message.into());
            self.report.faults.push(TagImportFault { line, field, message });
        }
    }
}

/// Holds a file against the tags of a workspace.
pub(crate) fn plan(find: impl Fn(&str) -> Option<v1::Tag>, bytes: &[u8]) -> Plan {
    let mut plan = Plan::default();
    let Some(rows) = read(bytes, &mut plan) else { return plan };
    let mut rows = rows.into_iter();
    let columns = match rows.next() {
        None => None,
        Some(head) => columns(&head, &mut plan),
    };
    let Some(columns) = columns else {
        if plan.report.faults.is_empty() {
            plan.fault(1, "path", "The first line names the columns, and `path` is one of them.");
        }
        return plan;
    };
    let mut seen: HashMap<String, u64> = HashMap::new();
    for row in rows {
        plan.report.rows += 1;
        if row.cells.len() != columns.len() {
            let (found, wanted) = (row.cells.len(), columns.len());
            plan.fault(row.line, "", format!("The line has {found} cells, not {wanted}."));
            continue;
        }
        let line = row.line;
        let mut cells = row.cells.into_iter();
        let cells = columns.iter().map(|at| (*at, cells.next().unwrap_or_default()));
        let mut cells: Vec<_> = cells.map(|(at, text)| (at, taken_back(at, text))).collect();
        let path = cells.iter().position(|(at, _)| *at == 0).map(|at| cells.remove(at).1);
        let path = path.unwrap_or_default();
        if let Some(before) = seen.insert(path.clone(), line) {
            plan.fault(line, "path", format!("The topic stands in line {before} already."));
            continue;
        }
        match find(&path) {
            None => plan.fault(line, "path", "There is no such topic."),
            Some(tag) => one(&mut plan, line, &tag, &cells),
        }
    }
    if plan.report.faults_in_all > 0 {
        plan.changes.clear();
    }
    plan
}

/// The rows of a file, if it can be read at all.
fn read(bytes: &[u8], plan: &mut Plan) -> Option<Vec<Row>> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.trim_start_matches('\u{feff}'),
        Err(error) => {
            let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = 1 + good.iter().filter(|byte| **byte == b'\n').count() as u64;
            plan.fault(line, "", "The file is not UTF-8.");
            return None;
        }
    };
    let head = text.lines().next().unwrap_or_default();
    // As a spreadsheet writes it where the comma stands in numbers.
    let delimiter = if head.contains(';') && !head.contains(',') { ';' } else { ',' };
    match rows::read(text, delimiter) {
        Err((line, message)) => {
            plan.fault(line, "", message);
            None
        }
        Ok(rows) if rows.len() > TAG_FILE_ROWS_MAX + 1 => {
            let line = rows.get(TAG_FILE_ROWS_MAX + 1).map_or(0, |row| row.line);
            plan.fault(line, "", format!("A file has at most {TAG_FILE_ROWS_MAX} topics."));
            None
        }
        Ok(rows) => Some(rows),
    }
}

/// The columns of a file by their numbers in [`COLUMNS`].
fn columns(head: &Row, plan: &mut Plan) -> Option<Vec<usize>> {
    let mut columns = Vec::new();
    for cell in &head.cells {
        let cell = cell.trim();
        match COLUMNS.iter().position(|column| *column == cell) {
            Some(at) if columns.contains(&at) => {
                plan.fault(head.line, cell, "The column is there twice.");
            }
            Some(at) => columns.push(at),
            None => {
                let short: String = cell.chars().take(40).collect();
                let known = COLUMNS.join(", ");
                let message = format!("There is no column '{short}'; there are {known}.");
                plan.fault(head.line, &short, message);
            }
        }
    }
    (plan.report.faults.is_empty() && columns.contains(&0)).then_some(columns)
}

/// Notes what a line changes of its tag.
fn one(plan: &mut Plan, line: u64, tag: &v1::Tag, cells: &[(usize, String)]) {
    let mut wanted = tag.clone();
    let mut is_good = true;
    for (at, text) in cells {
        if let Err(message) = set(&mut wanted, *at, text) {
            plan.fault(line, COLUMNS.get(*at).copied().unwrap_or_default(), message);
            is_good = false;
        }
    }
    if !is_good {
        return;
    }
    let change = v1::TagChange {
        unit: Some(wanted.unit.clone()),
        description: Some(wanted.description.clone()),
        retention: Some(wanted.retention),
        schema: Some(wanted.schema.clone()),
    };
    let change = match convert::tag_change(change) {
        Ok(change) => change,
        Err(error) => {
            let detail = error.detail();
            let field = detail.field.unwrap_or_default();
            let field = field.strip_prefix("schema.").unwrap_or(&field);
            return plan.fault(line, field, detail.message);
        }
    };
    let differences: Vec<TagImportChange> = COLUMNS
        .iter()
        .zip(texts(tag).into_iter().zip(texts(&wanted)))
        .filter(|(_, (from, to))| from != to)
        .map(|(field, (from, to))| {
            let (path, field) = (tag.path.clone(), (*field).to_owned());
            TagImportChange { line, path, field, from, to }
        })
        .collect();
    if differences.is_empty() {
        return;
    }
    plan.report.topics += 1;
    plan.report.changes_in_all += differences.len() as u64;
    let room = TAG_FILE_CHANGES_SHOWN_MAX.saturating_sub(plan.report.changes.len());
    plan.report.changes.extend(differences.into_iter().take(room));
    plan.changes.push((tag.path.clone(), change));
}

/// Takes a cell over.
fn set(tag: &mut v1::Tag, column: usize, text: &str) -> Result<(), String> {
    let cell = text.trim();
    match COLUMNS.get(column).copied().unwrap_or_default() {
        "description" => text.clone_into(&mut tag.description),
        "unit" => text.clone_into(&mut tag.unit),
        "retention" => {
            tag.retention = word(cell).ok_or("One of 1d, 7d, 14d, 32d and keep.")?;
        }
        "kinds" => {
            let kinds: Option<Vec<v1::Kind>> = cell.split_whitespace().map(word).collect();
            let known = "null, bool, int, uint, float, text, json, with spaces between them.";
            tag.schema.kinds = kinds.ok_or(known)?;
        }
        "min" => tag.schema.min = number(cell)?,
        "max" => tag.schema.max = number(cell)?,
        "choices" if cell.is_empty() => tag.schema.choices.clear(),
        "choices" => {
            let list = serde_json::from_str(cell);
            tag.schema.choices = list.map_err(|_| r#"A list like ["open","closed"]."#)?;
        }
        "strict" => {
            tag.schema.strict = cell.parse().map_err(|_| "Either true or false.")?;
        }
        _ => {}
    }
    Ok(())
}

fn word<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(text.to_owned())).ok()
}

fn number(text: &str) -> Result<Option<f64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.map(Some).ok_or_else(|| "Not a number; the decimal mark is a point.".to_owned())
}
