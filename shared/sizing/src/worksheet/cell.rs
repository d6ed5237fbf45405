//! Cells, sheets, and how formulas name them.

use serde::{Deserialize, Serialize};

/// What a formula shows where the profile has no figure.
pub(crate) const NOT_MEASURED: &str = "not measured";

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// Nothing.
    Empty,
    /// Text, never a formula.
    Text(String, Style),
    /// A number.
    Number(f64, Style),
    /// A formula (without `=`) and the library's number for it; `None` = [not measured](Cell::Text).
    Formula(String, Option<f64>, Style),
    /// A formula that gives words, and the library's.
    Words(String, String, Style),
}

/// How a cell looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// As it comes.
    Plain,
    /// The sheet's title.
    Title,
    /// A table's heading.
    Head,
    /// A number that the reader may change.
    Input,
    /// Words that the reader may change.
    InputText,
    /// A number with two digits.
    Number,
    /// A whole number.
    Whole,
    /// A share as percent.
    Percent,
    /// A sum.
    Sum,
    /// Long text.
    Wrapped,
}

/// A bar chart of two ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// Its title.
    pub title: String,
    /// Range of the names: `Result!$A$5:$A$8`.
    pub names: String,
    /// Range of the numbers.
    pub numbers: String,
    /// The names now.
    pub name_cache: Vec<String>,
    /// The numbers now.
    pub number_cache: Vec<f64>,
}

/// One sheet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sheet {
    /// Its name; a word without blanks, so that formulas need no quotes.
    pub name: String,
    /// Widths of its columns, in characters.
    pub widths: Vec<f64>,
    /// Its rows.
    pub rows: Vec<Vec<Cell>>,
    /// A chart beside the cells.
    pub chart: Option<Chart>,
}

impl Sheet {
    pub(super) fn new(name: &str, widths: &[f64]) -> Self {
        Self { name: name.to_owned(), widths: widths.to_vec(), rows: Vec::new(), chart: None }
    }

    /// Adds a row and gives its number, from 1.
    pub(super) fn push(&mut self, row: Vec<Cell>) -> usize {
        self.rows.push(row);
        self.rows.len()
    }

    /// The number of the next row.
    pub(super) fn next(&self) -> usize {
        self.rows.len() + 1
    }

    /// An empty row, then a heading.
    pub(super) fn heading(&mut self, words: &[&str]) {
        if !self.rows.is_empty() {
            self.push(Vec::new());
        }
        self.push(words.iter().map(|word| head(word)).collect());
    }

    /// A cell of this sheet as others name it: `Plan!$C$7`.
    pub(super) fn address(&self, column: char, row: usize) -> String {
        format!("{}!${column}${row}", self.name)
    }
}

pub(super) fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned(), Style::Plain)
}

pub(super) fn head(text: &str) -> Cell {
    Cell::Text(text.to_owned(), Style::Head)
}

pub(super) fn title(text: &str) -> Cell {
    Cell::Text(text.to_owned(), Style::Title)
}

pub(super) fn wrapped(text: &str) -> Cell {
    Cell::Text(text.to_owned(), Style::Wrapped)
}

pub(super) fn input(number: f64) -> Cell {
    Cell::Number(number, Style::Input)
}

pub(super) fn word(text: &str) -> Cell {
    Cell::Text(text.to_owned(), Style::InputText)
}

pub(super) fn formula(formula: String, value: f64, style: Style) -> Cell {
    Cell::Formula(formula, Some(value), style)
}

/// A formula that may stand on a figure that nobody measured.
pub(super) fn maybe(formula: &str, value: Option<f64>, style: Style) -> Cell {
    Cell::Formula(format!("IFERROR({formula},\"{NOT_MEASURED}\")"), value, style)
}

pub(super) fn words(formula: String, value: &str, style: Style) -> Cell {
    Cell::Words(formula, value.to_owned(), style)
}

/// A column of a table, which may have no rows.
#[derive(Clone, Debug)]
pub(super) struct Range {
    sheet: String,
    column: char,
    first: usize,
    rows: usize,
}

impl Range {
    pub(super) fn new(sheet: &str, column: char, first: usize, rows: usize) -> Self {
        Self { sheet: sheet.to_owned(), column, first, rows }
    }

    /// `Plan!$B$5:$B$9`, if it has rows.
    pub(super) fn name(&self) -> Option<String> {
        let (sheet, column, first) = (&self.sheet, self.column, self.first);
        let last = (first + self.rows).checked_sub(1).filter(|_| self.rows > 0)?;
        Some(format!("{sheet}!${column}${first}:${column}${last}"))
    }

    fn call(&self, function: &str) -> String {
        self.name().map_or_else(|| "0".to_owned(), |name| format!("{function}({name})"))
    }

    pub(super) fn sum(&self) -> String {
        self.call("SUM")
    }

    pub(super) fn max(&self) -> String {
        self.call("MAX")
    }

    /// The sum where another column says `word`.
    pub(super) fn sum_if(&self, other: &Self, word: &str) -> String {
        match (self.name(), other.name()) {
            (Some(name), Some(other)) => format!("SUMIF({other},\"{word}\",{name})"),
            _ => "0".to_owned(),
        }
    }

    /// How many are not measured, where another column says `word`.
    pub(super) fn unmeasured_if(&self, other: &Self, word: &str) -> String {
        match (self.name(), other.name()) {
            (Some(name), Some(other)) => {
                format!("COUNTIFS({other},\"{word}\",{name},\"{NOT_MEASURED}\")")
            }
            _ => "0".to_owned(),
        }
    }

    /// How many are not measured.
    pub(super) fn unmeasured(&self) -> String {
        self.name()
            .map_or_else(|| "0".to_owned(), |name| format!("COUNTIF({name},\"{NOT_MEASURED}\")"))
    }

    /// One cell of it, counted from 0.
    pub(super) fn cell(&self, number: usize) -> String {
        format!("{}!${}${}", self.sheet, self.column, self.first + number)
    }
}
