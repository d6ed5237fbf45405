//! `csv.format`: writes a list of objects, or of lists, as CSV text.
//!
//! **Invariants**: reading what was written gives the same texts and numbers; every row has as many
//! cells as the first.

use super::csv::{self, Form};
use super::text::{bad_input, describe, over_limit};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Outcome, Step, StepFault};
use millrace_flow::Data;
use std::sync::Arc;

/// Longest text that is written.
const CSV_BYTES_MAX: usize = 8 << 20;

struct Format {
    work: Work,
    form: Form,
    columns: Vec<Arc<str>>,
    header: bool,
    line_end: &'static str,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let columns = compiler.texts("columns")?;
    Ok(Arc::new(Format {
        work: Work::compile(compiler)?,
        form: Form::compile(compiler)?,
        columns: columns.into_iter().map(Arc::from).collect(),
        header: compiler.flag("header")?,
        line_end: compiler.choice("line_end", &[("lf", "\n"), ("crlf", "\r\n")])?,
    }))
}

impl Step for Format {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let rows = match self.work.value(context, input)? {
            Data::List(rows) => rows,
            row @ Data::Map(_) => [row].into(),
            other => {
                let found = describe(&other);
                return Err(bad_input(format!(
                    "a list of rows or one object is written, not {found}"
                )));
            }
        };
        let text = self.write(&rows)?;
        Ok(Outcome::Out(0, self.work.output(input, Data::Text(text.into()))))
    }
}

impl Format {
    fn write(&self, rows: &[Data]) -> Result<String, StepFault> {
        let columns: Vec<Arc<str>> = match rows.first() {
            _ if !self.columns.is_empty() => self.columns.clone(),
            Some(Data::Map(first)) => first.iter().map(|(name, _)| name.clone()).collect(),
            _ => Vec::new(),
        };
        let mut out = String::new();
        if self.header && !columns.is_empty() {
            let names = columns.iter().map(|name| Data::Text(name.clone()));
            self.row(&mut out, names);
        }
        for (place, row) in rows.iter().enumerate() {
            match row {
                Data::Map(map) => self.row(
                    &mut out,
                    columns.iter().map(|name| map.get(name).cloned().unwrap_or_default()),
                ),
                Data::List(cells) => self.row(&mut out, cells.iter().cloned()),
                other => {
                    let (number, found) = (place + 1, describe(other));
                    return Err(bad_input(format!(
                        "row {number} is {found}: neither object nor list"
                    )));
                }
            }
            if out.len() > CSV_BYTES_MAX {
                return Err(over_limit(format!("the text would have over {CSV_BYTES_MAX} bytes")));
            }
        }
        Ok(out)
    }

    fn row(&self, out: &mut String, cells: impl Iterator<Item = Data>) {
        let start = out.len();
        let mut count = 0_usize;
        for cell in cells {
            if count > 0 {
                out.push(self.form.separator);
            }
            count += 1;
            csv::write_data(out, &cell, self.form);
        }
        if count == 1 && out.len() == start {
            // A lone empty cell would be an empty line, which readers pass over.
            out.extend([self.form.quote, self.form.quote]);
        }
        out.push_str(self.line_end);
    }
}

#[cfg(test)]
mod tests;
