//! What the lab says: a line, a table, a progress bar, a result file.
//!
//! **Invariants**
//! - Results go to standard output or to the file; progress and complaints to standard error.
//! - A result file is written whole or not at all as far as the disk's room goes: it is made
//!   under its own name only at the end of a run.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

/// Says a line on standard output.
pub(crate) fn say(line: &str) {
    // A closed pipe (`| head`) is the reader's wish.
    let _said = writeln!(io::stdout().lock(), "{line}");
}

/// Says a line on standard error.
pub(crate) fn complain(line: &str) {
    let _said = writeln!(io::stderr().lock(), "{line}");
}

/// A progress bar of `steps`; not drawn when standard error is no terminal.
pub(crate) fn progress(steps: u64) -> ProgressBar {
    let bar = ProgressBar::new(steps);
    let template = "{bar:30} {pos}/{len} {elapsed_precise} {msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// What was said beside the bars that were drawn over themselves.
pub(crate) fn without_bars(text: &str) -> String {
    let lines = text.lines().map(|line| line.rsplit('\r').next().unwrap_or(line).trim());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" / ")
}

/// Writes the result file, or says it when there is no file to write to.
pub(crate) fn save(result: &Value, file: Option<&Path>) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    let mut text = serde_json::to_vec_pretty(result)?;
    text.push(b'\n');
    File::create(file)
        .and_then(|mut out| out.write_all(&text))
        .with_context(|| format!("write the result to {}", file.display()))
}

/// A row of name and value for each of `keys`.
pub(crate) fn named(result: &Value, keys: &[&str]) -> Vec<Vec<String>> {
    let cell = |key: &str| result.get(key).map_or("-".to_owned(), Value::to_string);
    keys.iter().map(|key| vec![(*key).to_owned(), cell(key)]).collect()
}

/// Rows of cells, aligned. The first row is the head; the first column and those whose head
/// begins with `<` are left-aligned.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let is_left = |column: usize| {
        column == 0
            || rows.first().and_then(|head| head.get(column)).is_some_and(|h| h.starts_with('<'))
    };
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = " ".repeat(width - cell.chars().count());
            let cell = cell.trim_start_matches('<');
            let space = if column == 0 { "" } else { "  " };
            if is_left(column) {
                line.push_str(&format!("{space}{cell}{gap}"));
            } else {
                line.push_str(&format!("{space}{gap}{cell}"));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligns_a_table() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let text = table(&[row(["load", "us"]), row(["plant", "16.6"]), row(["quiet", "9"])]);
        assert_eq!(text, "load     us\nplant  16.6\nquiet     9");
        let text = table(&[row(["us", "<why"]), row(["9", "it was late"])]);
        assert_eq!(text, "us  why\n9   it was late");
    }

    #[test]
    fn says_where_a_result_could_not_be_written() {
        let error = save(&Value::Null, Some(Path::new("/no/such/folder/x.json"))).unwrap_err();
        assert!(format!("{error:#}").contains("/no/such/folder/x.json"));
    }
}
