//! `docs/formats/pipeline.md`: the example reads, validates and writes as itself; the tables are
//! those of the code.

use millrace_flow::kind::{ALL, FieldForm, FieldSpec, Group, Kind};
use millrace_flow::kinds::unit::UNITS;
use millrace_flow::validate::CODES;
use millrace_flow::{Document, validate};
use std::fmt::Write as _;
use std::io::Write as _;

const PAGE: &str = include_str!("../../../../docs/formats/pipeline.md");

#[test]
fn the_tables_are_those_of_the_code() {
    let mut page = PAGE.to_owned();
    for (name, text) in [("kinds", kinds()), ("units", units()), ("faults", faults())] {
        page = replaced(&page, name, &text);
    }
    if page != PAGE {
        let place = concat!(env!("CARGO_TARGET_TMPDIR"), "/pipeline.md");
        std::fs::File::create(place).unwrap().write_all(page.as_bytes()).unwrap();
        panic!("the page differs from the code: copy {place} to docs/formats/pipeline.md");
    }
}

#[test]
fn the_example_is_valid_and_canonical() {
    let (_, rest) = PAGE.split_once("```json\n").expect("an example");
    let (example, _) = rest.split_once("```").expect("its end");
    let document = Document::parse(example).unwrap();
    assert_eq!(document.to_text(), example);
    assert_eq!(validate(&document), []);
}

#[test]
fn every_word_of_the_page_that_names_a_kind_is_one() {
    for line in PAGE.lines().filter(|line| line.starts_with("### ")) {
        let name = line.trim_start_matches("### ");
        assert!(millrace_flow::kind::find(name).is_some(), "{name}");
    }
}

/// The page with another text between the marks of this name.
fn replaced(page: &str, name: &str, text: &str) -> String {
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->"));
    let (before, rest) = page.split_once(&begin).unwrap_or_else(|| panic!("no {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("no {end}"));
    format!("{before}{begin}{text}{end}{after}")
}

fn kinds() -> String {
    let mut text = String::new();
    for group in [Group::Trigger, Group::Transform, Group::Logic, Group::Action, Group::System] {
        let name = group.name();
        writeln!(text, "\n## Kinds: {name}\n\n| kind | what it does |\n|---|---|").unwrap();
        let of_group = || ALL.iter().filter(|kind| kind.group == group);
        for kind in of_group() {
            let anchor = kind.name.replace('.', "");
            writeln!(text, "| [{}](#{anchor}) | {} |", kind.name, kind.summary).unwrap();
        }
        for kind in of_group() {
            one(kind, &mut text);
        }
    }
    text.push('\n');
    text
}

fn one(kind: &Kind, text: &mut String) {
    write!(text, "\n### {}\n\n{}\n", kind.name, kind.summary).unwrap();
    let ports = match kind.ports {
        [] => "none".to_owned(),
        [first, .., last] if kind.ports.len() > 4 => {
            format!("`{first}`, ... (one for each case), `{last}`")
        }
        few => few.iter().map(|port| format!("`{port}`")).collect::<Vec<_>>().join(", "),
    };
    let timeout = match kind.timeout_ms {
        Some(ms) => format!("{ms} ms"),
        None => "none".to_owned(),
    };
    writeln!(text, "Output ports: {ports}.").unwrap();
    if kind.group != Group::Trigger {
        writeln!(text, "Default timeout: {timeout}.").unwrap();
    }
    if kind.is_stateful {
        text.push_str("Keeps lasting state.\n");
    }
    if kind.is_outside {
        text.push_str("Acts outside: stubbed in rehearsals and test cases.\n");
    }
    if !kind.fields.is_empty() {
        text.push_str("\n| field | holds | if left out | what it is for |\n|---|---|---|---|\n");
        kind.fields.iter().for_each(|field| row("", field, text));
    }
}

fn row(prefix: &str, field: &FieldSpec, text: &mut String) {
    let default = match (field.is_required, field.default) {
        (true, _) => "**required**".to_owned(),
        (false, Some(default)) => format!("`{default}`"),
        (false, None) => String::new(),
    };
    let evaluated = if field.allows_expression { " `{{ }}`" } else { "" };
    let form = field.form.name();
    writeln!(text, "| `{prefix}{}` | {form}{evaluated} | {default} | {} |", field.name, field.doc)
        .unwrap();
    if let FieldForm::Items(specs) = field.form {
        let prefix = format!("{prefix}{}[].", field.name);
        specs.iter().for_each(|spec| row(&prefix, spec, text));
    }
}

fn units() -> String {
    let mut text = String::from("| quantity | units |\n|---|---|\n");
    let mut quantities: Vec<&str> = UNITS.iter().map(|unit| unit.quantity).collect();
    quantities.dedup();
    for quantity in quantities {
        let of_quantity = UNITS.iter().filter(|unit| unit.quantity == quantity);
        let symbols: Vec<_> = of_quantity.map(|unit| format!("`{}`", unit.symbol)).collect();
        writeln!(text, "| {quantity} | {} |", symbols.join(" ")).unwrap();
    }
    text
}

fn faults() -> String {
    let codes: Vec<_> = CODES.iter().map(|code| format!("`{code}`")).collect();
    format!("{}\n", codes.join("\n"))
}
