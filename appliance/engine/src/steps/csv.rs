//! CSV text and rows, both ways (RFC 4180 with the separators that plants use).
//!
//! The reader takes quoted fields with doubled quotes and line ends inside, LF, CRLF or CR, a
//! byte order mark, and rows of unequal length only if they are too short. The writer quotes what
//! needs it, so that what was written reads back the same.
//!
//! **Invariants**: no panic on any text; rows and columns are bounded.

use super::number::integer;
use super::text::{json_text, plain_text};
use crate::compile::{CompileFault, Compiler};
use millrace_flow::Data;
use thiserror::Error;

/// Most columns of a row.
pub(super) const COLUMNS_MAX: usize = 1_024;

/// Why a text is no CSV.
#[derive(Debug, PartialEq, Eq, Error)]
pub(super) enum CsvFault {
    #[error("line {line}: a quote opens here and is never closed")]
    Unclosed { line: usize },
    #[error(
        "line {line}: `{found}` follows a closing quote; a quote inside a quoted field is written twice"
    )]
    AfterQuote { line: usize, found: char },
    #[error("line {line}: {columns} columns, but the header has {header}")]
    TooLong { line: usize, columns: usize, header: usize },
    #[error("line {line}: more than {COLUMNS_MAX} columns")]
    Columns { line: usize },
    #[error("more than {0} rows; `rows_max` says how many are taken")]
    Rows(usize),
}

/// One field as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) text: String,
    /// Quoted text stays text, whatever it looks like.
    pub(super) was_quoted: bool,
}

/// One row and the line it starts on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) cells: Vec<Cell>,
}

/// Splits a text into rows. Empty lines are passed over.
///
/// # Errors
/// The first place that is no CSV, or a limit.
pub(super) fn parse(text: &str, form: Form, rows_max: usize) -> Result<Vec<Row>, CsvFault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader {
        rest: text.chars().peekable(),
        line: 1,
        separator: form.separator,
        quote: form.quote,
    };
    let mut rows = Vec::new();
    while let Some(row) = reader.row()? {
        let is_blank =
            matches!(row.cells.as_slice(), [only] if only.text.is_empty() && !only.was_quoted);
        if is_blank {
            continue;
        }
        if rows.len() == rows_max {
            return Err(CsvFault::Rows(rows_max));
        }
        rows.push(row);
    }
    Ok(rows)
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
    separator: char,
    quote: char,
}

/// What ended a field.
enum End {
    Field,
    Row,
}

impl Reader<'_> {
    fn row(&mut self) -> Result<Option<Row>, CsvFault> {
        if self.rest.peek().is_none() {
            return Ok(None);
        }
        let line = self.line;
        let mut cells = Vec::new();
        loop {
            if cells.len() == COLUMNS_MAX {
                return Err(CsvFault::Columns { line });
            }
            let (cell, end) = self.cell()?;
            cells.push(cell);
            if matches!(end, End::Row) {
                return Ok(Some(Row { line, cells }));
            }
        }
    }

    fn cell(&mut self) -> Result<(Cell, End), CsvFault> {
        if self.rest.peek() == Some(&self.quote) {
            self.rest.next();
            return self.quoted();
        }
        let mut text = String::new();
        loop {
            match self.rest.next() {
                None => return Ok((Cell { text, was_quoted: false }, End::Row)),
                Some(found) if found == self.separator => {
                    return Ok((Cell { text, was_quoted: false }, End::Field));
                }
                Some(found @ ('\n' | '\r')) => {
                    self.line_end(found);
                    return Ok((Cell { text, was_quoted: false }, End::Row));
                }
                Some(found) => text.push(found),
            }
        }
    }

    fn quoted(&mut self) -> Result<(Cell, End), CsvFault> {
        let opened = self.line;
        let mut text = String::new();
        loop {
            let Some(found) = self.rest.next() else {
                return Err(CsvFault::Unclosed { line: opened });
            };
            if found == self.quote {
                if self.rest.peek() == Some(&self.quote) {
                    self.rest.next();
                    text.push(self.quote);
                    continue;
                }
                let cell = Cell { text, was_quoted: true };
                return match self.rest.next() {
                    None => Ok((cell, End::Row)),
                    Some(next) if next == self.separator => Ok((cell, End::Field)),
                    Some(next @ ('\n' | '\r')) => {
                        self.line_end(next);
                        Ok((cell, End::Row))
                    }
                    Some(next) => Err(CsvFault::AfterQuote { line: self.line, found: next }),
                };
            }
            if found == '\n' {
                self.line += 1;
            }
            text.push(found);
        }
    }

    fn line_end(&mut self, found: char) {
        self.line += 1;
        if found == '\r' && self.rest.peek() == Some(&'\n') {
            self.rest.next();
        }
    }
}

/// Reads a cell as a number, if it is one of JSON's: an integer if it has neither point nor
/// exponent, else a double. Leading zeros (`0042`, an article number) stay text. With a decimal
/// comma, dots are for the eye only.
pub(super) fn number(text: &str, decimal_comma: bool) -> Option<Data> {
    if !decimal_comma {
        return json_number(text);
    }
    if !text.contains([',', '.']) {
        return json_number(text);
    }
    let plain: String = text
        .chars()
        .filter(|found| *found != '.')
        .map(|found| if found == ',' { '.' } else { found })
        .collect();
    json_number(&plain)
}

fn json_number(text: &str) -> Option<Data> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let mut shape = digits.bytes();
    let (first, second) = (shape.next()?, shape.next());
    if !first.is_ascii_digit() || (first == b'0' && second.is_some_and(|c| c.is_ascii_digit())) {
        return None;
    }
    if digits.bytes().all(|c| c.is_ascii_digit()) {
        return integer(text.parse().ok()?);
    }
    let is_plain = |c: u8| c.is_ascii_digit() || matches!(c, b'.' | b'e' | b'E' | b'+' | b'-');
    if !digits.bytes().all(is_plain) || digits.ends_with('.') || digits.contains(".e") {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    value.is_finite().then_some(Data::Float(value))
}

/// Writes one cell, quoted if reading it back would otherwise give something else.
pub(super) fn write_cell(out: &mut String, text: &str, must_quote: bool, form: Form) {
    let needs = must_quote
        || text.chars().any(|c| c == form.separator || c == form.quote || c == '\n' || c == '\r')
        || text.starts_with('\u{feff}');
    if !needs {
        out.push_str(text);
        return;
    }
    out.push(form.quote);
    for found in text.chars() {
        if found == form.quote {
            out.push(form.quote);
        }
        out.push(found);
    }
    out.push(form.quote);
}

/// How fields are separated and quoted, and how numbers are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form {
    pub(super) separator: char,
    pub(super) quote: char,
    pub(super) decimal_comma: bool,
}

impl Form {
    /// Reads the fields that both directions have.
    pub(super) fn compile(compiler: &Compiler<'_>) -> Result<Self, CompileFault> {
        let mark = |name: &str, default: char| {
            let text = compiler.optional_text(name)?;
            let Some(text) = text else { return Ok(default) };
            let mut letters = text.chars();
            match (letters.next(), letters.next()) {
                (Some(mark), None) if mark.is_ascii() && !matches!(mark, '\n' | '\r') => Ok(mark),
                _ => Err(compiler.fault(name, "is one ASCII character")),
            }
        };
        let form = Self {
            separator: mark("separator", ',')?,
            quote: mark("quote", '"')?,
            decimal_comma: compiler.flag("decimal_comma")?,
        };
        if form.separator == form.quote {
            return Err(compiler.fault("quote", "is the separator"));
        }
        if form.decimal_comma && form.separator == ',' {
            let message = "is the decimal comma; plants that write 1,5 separate by `;`";
            return Err(compiler.fault("separator", message));
        }
        Ok(form)
    }
}

/// Writes a datum as a cell. Text that would read back as a number is quoted.
pub(super) fn write_data(out: &mut String, data: &Data, form: Form) {
    match data {
        Data::Missing | Data::Null => {}
        Data::Float(value) if value.is_finite() && form.decimal_comma => {
            let text = format!("{value:?}").replace('.', ",");
            write_cell(out, &text, false, form);
        }
        Data::Bool(_) | Data::Int(_) | Data::UInt(_) | Data::Float(_) => {
            write_cell(out, &plain_text(data), false, form);
        }
        Data::Text(text) => {
            let reads_as_more = number(text.trim(), form.decimal_comma).is_some();
            let is_trimmed = text.trim().len() != text.len();
            write_cell(out, text, text.is_empty() || reads_as_more || is_trimmed, form);
        }
        Data::List(_) | Data::Map(_) => write_cell(out, &json_text(data), true, form),
    }
}
