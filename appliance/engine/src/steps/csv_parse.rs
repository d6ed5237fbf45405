//! `csv.parse`: reads CSV text into a list of objects.
//!
//! **Invariants**: a row longer than the header is refused, as its cells would have no name; one
//! that is shorter lacks the last fields.

use super::csv::{self, Cell, Form, Row};
use super::text::{bad_input, describe, over_limit};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Outcome, Step, StepFault};
use millrace_flow::{Data, Map};
use std::sync::Arc;

/// Longest text that is read.
const CSV_BYTES_MAX: usize = 8 << 20;
/// Rows if the step says nothing.
const ROWS: u64 = 10_000;

struct Parse {
    work: Work,
    form: Form,
    header: bool,
    columns: Vec<Arc<str>>,
    numbers: bool,
    trim: bool,
    rows_max: usize,
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let columns = compiler.texts("columns")?;
    Ok(Arc::new(Parse {
        work: Work::compile(compiler)?,
        form: Form::compile(compiler)?,
        header: compiler.flag("header")?,
        columns: columns.into_iter().map(Arc::from).collect(),
        numbers: compiler.flag("numbers")?,
        trim: compiler.flag("trim")?,
        rows_max: usize::try_from(compiler.whole("rows_max")?.unwrap_or(ROWS)).unwrap_or(0),
    }))
}

impl Step for Parse {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let text = match self.work.value(context, input)? {
            Data::Text(text) => text,
            other => return Err(bad_input(format!("only text is CSV, not {}", describe(&other)))),
        };
        if text.len() > CSV_BYTES_MAX {
            let length = text.len();
            return Err(over_limit(format!(
                "the text has {length} bytes; at most {CSV_BYTES_MAX}"
            )));
        }
        let rows_max = self.rows_max.saturating_add(usize::from(self.header));
        let rows =
            csv::parse(&text, self.form, rows_max).map_err(|fault| bad_input(fault.to_string()))?;
        let mut rows = rows.into_iter();
        let names = self.names(if self.header { rows.next() } else { None })?;
        let list = rows.map(|row| self.object(&names, row)).collect::<Result<Vec<_>, _>>()?;
        Ok(Outcome::Out(0, self.work.output(input, Data::List(list.into()))))
    }
}

impl Parse {
    /// The names of the columns; none if there are none.
    fn names(&self, header: Option<Row>) -> Result<Vec<Arc<str>>, StepFault> {
        let names: Vec<Arc<str>> = if self.columns.is_empty() {
            let cells = header.into_iter().flat_map(|row| row.cells).enumerate();
            cells
                .map(|(place, cell)| match cell.text.trim() {
                    "" => (place + 1).to_string().into(),
                    name => name.into(),
                })
                .collect()
        } else {
            self.columns.clone()
        };
        let mut sorted: Vec<_> = names.iter().collect();
        sorted.sort();
        if let Some(twice) = sorted.windows(2).find(|pair| pair.first() == pair.last()) {
            let name = twice.first().map(|name| name.to_string()).unwrap_or_default();
            return Err(bad_input(format!("two columns are named `{name}`; set `columns`")));
        }
        Ok(names)
    }

    fn object(&self, names: &[Arc<str>], row: Row) -> Result<Data, StepFault> {
        let columns = row.cells.len();
        if !names.is_empty() && columns > names.len() {
            let fault = csv::CsvFault::TooLong { line: row.line, columns, header: names.len() };
            return Err(bad_input(fault.to_string()));
        }
        let mut map = Map::new();
        for (place, cell) in row.cells.into_iter().enumerate() {
            let name = match names.get(place) {
                Some(name) => name.clone(),
                None => (place + 1).to_string().into(),
            };
            map.set(name, self.cell(cell));
        }
        Ok(Data::Map(Arc::new(map)))
    }

    fn cell(&self, cell: Cell) -> Data {
        if cell.was_quoted {
            return Data::Text(cell.text.into());
        }
        let text = if self.trim { cell.text.trim() } else { cell.text.as_str() };
        let number = if self.numbers { csv::number(text, self.form.decimal_comma) } else { None };
        number.unwrap_or_else(|| Data::Text(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use crate::steps::testing::{FakeContext, assert_is, data, text};
    use serde_json::json;

    #[test]
    fn reads_what_a_german_spreadsheet_saves() {
        let mut run = FakeContext::new();
        let step = run.step("csv.parse", json!({"separator": ";", "decimal_comma": true}));
        let csv = "\u{feff}Artikel;Menge;Preis;Text\r\n0042;1.200;3,50;\"a;b \"\"c\"\"\"\r\n\r\n7;-5;;\r\n";
        let (_, out) = run.out(&step, text(csv));
        assert_is(
            &out,
            json!([
                {"Artikel": "0042", "Menge": 1200, "Preis": 3.5, "Text": "a;b \"c\""},
                {"Artikel": 7, "Menge": -5, "Preis": "", "Text": ""},
            ]),
        );
    }

    #[test]
    fn names_columns_by_the_step_or_by_number() {
        let mut run = FakeContext::new();
        let named = run.step("csv.parse", json!({"columns": ["a", "b"]}));
        assert_is(&run.out(&named, text("x,y\n1,2")).1, json!([{"a": 1, "b": 2}]));
        let bare = run.step("csv.parse", json!({"header": false, "numbers": false}));
        assert_is(&run.out(&bare, text("1,2\r3")).1, json!([{"1": "1", "2": "2"}, {"1": "3"}]));
        let inside = data(json!({"value": "a\n1", "path": "p"}));
        let plain = run.step("csv.parse", json!({}));
        assert_is(&run.out(&plain, inside).1, json!({"value": [{"a": 1}], "path": "p"}));
    }

    #[test]
    fn refuses_what_would_lose_cells_and_says_where() {
        let mut run = FakeContext::new();
        let step = run.step("csv.parse", json!({"rows_max": 2}));
        for (csv, why) in [
            ("a,b\n1,2,3", "line 2: 3 columns, but the header has 2"),
            ("a,b\n\"1,2", "line 2: a quote opens here and is never closed"),
            ("a,b\n\"1\"x,2", "line 2: `x` follows a closing quote"),
            ("a,a\n1,2", "two columns are named `a`"),
            ("a\n1\n2\n3", "more than 3 rows"),
        ] {
            let fault = run.fault(&step, text(csv));
            assert!(fault.message.contains(why), "{csv}: {}", fault.message);
        }
        let quoted = "a\n\"1\n2\"\nx,y";
        let fault = run.fault(&step, text(quoted));
        assert!(fault.message.starts_with("line 4:"), "lines in quotes count: {}", fault.message);
    }
}
