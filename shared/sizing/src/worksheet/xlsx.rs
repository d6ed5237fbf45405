//! Writes sheets as a spreadsheet file (Office Open XML, ECMA-376): a ZIP of small XML parts.
//!
//! Our own writer ([decision 12](../../../../docs/decisions/0012-own-xlsx-writer.md)): what a sizing
//! needs is text, numbers, formulas, ten styles and one chart.
//!
//! **Invariants**
//! - Text is written as an inline string, which no reader takes for a formula whatever it begins with.
//! - No clock and no compression: the same sheets give the same bytes.

mod chart;
mod parts;
mod zip;

use super::cell::{Cell, NOT_MEASURED, Sheet, Style};
use std::fmt::Write as _;
use zip::Zip;

/// The height of one line.
const LINE_POINTS: f64 = 15.0;

/// The file of these sheets.
pub(super) fn write(sheets: &[Sheet]) -> Vec<u8> {
    let mut zip = Zip::new();
    let charts: Vec<usize> = (0..sheets.len())
        .filter(|number| sheets.get(*number).is_some_and(|sheet| sheet.chart.is_some()))
        .collect();
    zip.add("[Content_Types].xml", &parts::content_types(sheets.len(), charts.len()));
    zip.add("_rels/.rels", parts::PACKAGE);
    zip.add("xl/workbook.xml", &parts::workbook(sheets));
    zip.add("xl/_rels/workbook.xml.rels", &parts::workbook_relations(sheets.len()));
    zip.add("xl/styles.xml", &parts::styles());
    let mut drawing = 0;
    for (number, sheet) in sheets.iter().enumerate() {
        let number = number + 1;
        zip.add(&format!("xl/worksheets/sheet{number}.xml"), &sheet_part(sheet, number == 1));
        let Some(chart) = &sheet.chart else { continue };
        drawing += 1;
        let relations = parts::sheet_relations(drawing);
        zip.add(&format!("xl/worksheets/_rels/sheet{number}.xml.rels"), &relations);
        zip.add(&format!("xl/drawings/drawing{drawing}.xml"), &chart::drawing());
        let relations = chart::drawing_relations(drawing);
        zip.add(&format!("xl/drawings/_rels/drawing{drawing}.xml.rels"), &relations);
        zip.add(&format!("xl/charts/chart{drawing}.xml"), &chart::part(chart));
    }
    zip.finish()
}

/// Text as XML wants it; characters that XML cannot hold are left out. A spreadsheet reads `_x0041_`
/// as the character of that number (ECMA-376, ST_Xstring), so an underline that begins such a text is
/// written as the number of an underline.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '_' if names_a_character(text.get(at..).unwrap_or_default()) => out.push_str("_x005F_"),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() && !matches!(c, '\n' | '\t') => {}
            '\u{FFFE}' | '\u{FFFF}' => {}
            c => out.push(c),
        }
    }
    out
}

/// Whether a text begins with what a spreadsheet takes for the number of a character.
fn names_a_character(text: &str) -> bool {
    match text.as_bytes() {
        [b'_', b'x', a, b, c, d, b'_', ..] => {
            [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit())
        }
        _ => false,
    }
}

/// The letters of a column, from 0: A, B, ..., Z, AA.
fn column(mut number: usize) -> String {
    let mut letters = Vec::new();
    loop {
        // At most 25, so it is a letter.
        letters.push(char::from(b'A' + u8::try_from(number % 26).unwrap_or(0)));
        if number < 26 {
            break;
        }
        number = number / 26 - 1;
    }
    letters.iter().rev().collect()
}

fn sheet_part(sheet: &Sheet, is_first: bool) -> String {
    let mut out = String::from(parts::XML);
    out.push_str(
        "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
         xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\">\
         <sheetPr><pageSetUpPr fitToPage=\"1\"/></sheetPr><sheetViews><sheetView ",
    );
    out.push_str(if is_first { "tabSelected=\"1\" " } else { "" });
    out.push_str("workbookViewId=\"0\"/></sheetViews><cols>");
    for (number, width) in sheet.widths.iter().enumerate() {
        let number = number + 1;
        out.push_str(&format!(
            "<col min=\"{number}\" max=\"{number}\" width=\"{width}\" customWidth=\"1\"/>"
        ));
    }
    out.push_str("</cols><sheetData>");
    for (number, row) in sheet.rows.iter().enumerate() {
        let number = number + 1;
        let height = height(row, &sheet.widths);
        out.push_str(&format!("<row r=\"{number}\" ht=\"{height}\" customHeight=\"1\">"));
        for (place, cell) in row.iter().enumerate() {
            push_cell(&mut out, &format!("{}{number}", column(place)), cell);
        }
        out.push_str("</row>");
    }
    out.push_str(
        "</sheetData><pageMargins left=\"0.5\" right=\"0.5\" top=\"0.5\" bottom=\"0.5\" \
         header=\"0.3\" footer=\"0.3\"/><pageSetup orientation=\"landscape\" fitToHeight=\"0\"/>",
    );
    if sheet.chart.is_some() {
        out.push_str("<drawing r:id=\"rId1\"/>");
    }
    out.push_str("</worksheet>");
    out
}

/// The height of a row in points: not every reader finds it out by itself.
fn height(row: &[Cell], widths: &[f64]) -> f64 {
    let lines = |(place, cell): (usize, &Cell)| match cell {
        Cell::Text(text, Style::Head | Style::Wrapped) => {
            let width = widths.get(place).copied().unwrap_or(10.0);
            // Names are short and notes a few lines: far below what a number can hold exactly.
            let length = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
            (f64::from(length) * 1.1 / width).ceil().clamp(1.0, 20.0)
        }
        Cell::Text(_, Style::Title) => 1.6,
        _ => 1.0,
    };
    row.iter().enumerate().map(lines).fold(1.0, f64::max) * LINE_POINTS
}

fn push_cell(out: &mut String, at: &str, cell: &Cell) {
    // Writing to a string cannot fail.
    let _never_fails = match cell {
        Cell::Empty => Ok(()),
        Cell::Text(text, style) if text.is_empty() => {
            write!(out, "<c r=\"{at}\" s=\"{}\"/>", style_number(*style))
        }
        Cell::Text(text, style) => write!(
            out,
            "<c r=\"{at}\" s=\"{}\" t=\"inlineStr\"><is><t xml:space=\"preserve\">{}</t></is></c>",
            style_number(*style),
            escaped(text)
        ),
        Cell::Number(number, style) => {
            write!(out, "<c r=\"{at}\" s=\"{}\"><v>{number}</v></c>", style_number(*style))
        }
        Cell::Formula(formula, Some(value), style) => write!(
            out,
            "<c r=\"{at}\" s=\"{}\"><f>{}</f><v>{value}</v></c>",
            style_number(*style),
            escaped(formula)
        ),
        Cell::Formula(formula, None, style) => write!(
            out,
            "<c r=\"{at}\" s=\"{}\" t=\"str\"><f>{}</f><v>{NOT_MEASURED}</v></c>",
            style_number(*style),
            escaped(formula)
        ),
        Cell::Words(formula, words, style) => write!(
            out,
            "<c r=\"{at}\" s=\"{}\" t=\"str\"><f>{}</f><v>{}</v></c>",
            style_number(*style),
            escaped(formula),
            escaped(words)
        ),
    };
}

/// The place of a style in `parts::styles`.
fn style_number(style: Style) -> usize {
    match style {
        Style::Plain => 0,
        Style::Title => 1,
        Style::Head => 2,
        Style::Input => 3,
        Style::InputText => 4,
        Style::Number => 5,
        Style::Whole => 6,
        Style::Percent => 7,
        Style::Sum => 8,
        Style::Wrapped => 9,
    }
}

/// The file again with every part changed: for tests that forge one.
#[cfg(test)]
pub(super) fn repacked(bytes: &[u8], change: impl Fn(&str) -> String) -> Vec<u8> {
    let mut zip = Zip::new();
    for (name, content) in zip::files(bytes) {
        zip.add(&name, &change(&content));
    }
    zip.finish()
}

#[cfg(test)]
mod tests {
    use super::{column, escaped};

    #[test]
    fn columns_have_their_letters() {
        let all: Vec<String> = [0, 25, 26, 51, 52, 701, 702].into_iter().map(column).collect();
        assert_eq!(all, ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }

    #[test]
    fn text_cannot_leave_its_cell() {
        assert_eq!(escaped("<a b=\"c\">&\u{0}"), "&lt;a b=&quot;c&quot;&gt;&amp;");
        // A spreadsheet would show the first as `A`, and the second as `A` behind a text.
        assert_eq!(escaped("_x0041_"), "_x005F_x0041_");
        assert_eq!(escaped("line_x00e4_x0041_"), "line_x005F_x00e4_x005F_x0041_");
        for plain in ["_x004_", "_xzzzz_", "_x0041", "a_b", "__", "_X0041_"] {
            assert_eq!(escaped(plain), plain);
        }
    }
}
