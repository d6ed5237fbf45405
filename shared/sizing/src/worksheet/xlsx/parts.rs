//! The parts of a spreadsheet that every file has: types, relations, workbook, styles.

use super::escaped;
use crate::worksheet::cell::Sheet;
use std::fmt::Write as _;

pub(super) const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
const RELATIONS: &str =
    "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

pub(super) const PACKAGE: &str = concat!(
    "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n",
    "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">",
    "<Relationship Id=\"rId1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/",
    "relationships/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
);

/// Appends; writing to a string cannot fail.
macro_rules! add {
    ($out:expr, $($words:tt)*) => {
        let _never_fails = write!($out, $($words)*);
    };
}

pub(super) fn content_types(sheets: usize, charts: usize) -> String {
    let mut out = format!(
        "{XML}<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\
         <Default Extension=\"rels\" \
         ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\
         <Default Extension=\"xml\" ContentType=\"application/xml\"/>"
    );
    let main = "application/vnd.openxmlformats-officedocument.spreadsheetml";
    let drawing = "application/vnd.openxmlformats-officedocument";
    let mut part = |name: String, kind: String| {
        add!(out, "<Override PartName=\"/xl/{name}\" ContentType=\"{kind}+xml\"/>");
    };
    part("workbook.xml".to_owned(), format!("{main}.sheet.main"));
    part("styles.xml".to_owned(), format!("{main}.styles"));
    for number in 1..=sheets {
        part(format!("worksheets/sheet{number}.xml"), format!("{main}.worksheet"));
    }
    for number in 1..=charts {
        part(format!("drawings/drawing{number}.xml"), format!("{drawing}.drawing"));
        part(format!("charts/chart{number}.xml"), format!("{drawing}.drawingml.chart"));
    }
    out.push_str("</Types>");
    out
}

pub(super) fn workbook(sheets: &[Sheet]) -> String {
    let mut out = format!(
        "{XML}<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
         xmlns:r=\"{OFFICE}\"><sheets>"
    );
    for (number, sheet) in sheets.iter().enumerate() {
        let number = number + 1;
        let name = escaped(&sheet.name);
        add!(out, "<sheet name=\"{name}\" sheetId=\"{number}\" r:id=\"rId{number}\"/>");
    }
    // Readers calculate when they open it, whatever they think of the results that are in it.
    out.push_str("</sheets><calcPr calcId=\"191029\" fullCalcOnLoad=\"1\"/></workbook>");
    out
}

pub(super) fn workbook_relations(sheets: usize) -> String {
    let mut out = format!("{XML}{RELATIONS}");
    for number in 1..=sheets {
        add!(
            out,
            "<Relationship Id=\"rId{number}\" Type=\"{OFFICE}/worksheet\" \
             Target=\"worksheets/sheet{number}.xml\"/>"
        );
    }
    let styles = sheets + 1;
    add!(
        out,
        "<Relationship Id=\"rId{styles}\" Type=\"{OFFICE}/styles\" Target=\"styles.xml\"/>\
         </Relationships>"
    );
    out
}

pub(super) fn sheet_relations(drawing: usize) -> String {
    relation("drawing", &format!("../drawings/drawing{drawing}.xml"))
}

/// A part of relations with the one to `target`.
pub(super) fn relation(kind: &str, target: &str) -> String {
    format!(
        "{XML}{RELATIONS}<Relationship Id=\"rId1\" Type=\"{OFFICE}/{kind}\" \
         Target=\"{target}\"/></Relationships>"
    )
}

/// A cell's look: number format, font, fill, border, and whether text wraps.
struct Look(u32, u32, u32, u32, bool);

/// In the order of `style_number`.
const LOOKS: [Look; 10] = [
    Look(0, 0, 0, 0, false),
    Look(0, 2, 0, 0, false),
    Look(0, 1, 3, 1, true),
    Look(164, 0, 2, 1, false),
    Look(0, 0, 2, 1, false),
    Look(165, 0, 0, 0, false),
    Look(3, 0, 0, 0, false),
    Look(166, 0, 0, 0, false),
    Look(165, 1, 0, 2, false),
    Look(0, 0, 0, 0, true),
];

pub(super) fn styles() -> String {
    let font = |size: u32, bold: bool| {
        let bold = if bold { "<b/>" } else { "" };
        format!("<font>{bold}<sz val=\"{size}\"/><name val=\"Calibri\"/></font>")
    };
    let solid = |color: &str| {
        format!(
            "<fill><patternFill patternType=\"solid\"><fgColor rgb=\"{color}\"/></patternFill>\
             </fill>"
        )
    };
    let side = |name: &str| format!("<{name} style=\"thin\"><color rgb=\"FF9AA5B1\"/></{name}>");
    let box_around: String = ["left", "right", "top", "bottom"].map(side).concat();
    let mut out = format!(
        "{XML}<styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\">\
         <numFmts count=\"3\"><numFmt numFmtId=\"164\" formatCode=\"#,##0.######\"/>\
         <numFmt numFmtId=\"165\" formatCode=\"#,##0.000\"/>\
         <numFmt numFmtId=\"166\" formatCode=\"0.0%\"/></numFmts>\
         <fonts count=\"3\">{}{}{}</fonts>\
         <fills count=\"4\"><fill><patternFill patternType=\"none\"/></fill>\
         <fill><patternFill patternType=\"gray125\"/></fill>{}{}</fills>\
         <borders count=\"3\"><border/><border>{box_around}</border>\
         <border><left/><right/>{}<bottom/></border></borders>\
         <cellStyleXfs count=\"1\"><xf/></cellStyleXfs><cellXfs count=\"{}\">",
        font(11, false),
        font(11, true),
        font(16, true),
        solid("FFFFF2CC"),
        solid("FFDCE6F1"),
        side("top"),
        LOOKS.len(),
    );
    for Look(number, font, fill, border, wraps) in LOOKS {
        let wrap = match wraps {
            true => "<alignment vertical=\"top\" wrapText=\"1\"/>",
            false => "<alignment vertical=\"top\"/>",
        };
        add!(
            out,
            "<xf numFmtId=\"{number}\" fontId=\"{font}\" fillId=\"{fill}\" borderId=\"{border}\" \
             applyNumberFormat=\"1\" applyFont=\"1\" applyFill=\"1\" applyBorder=\"1\" \
             applyAlignment=\"1\">{wrap}</xf>"
        );
    }
    out.push_str("</cellXfs></styleSheet>");
    out
}
