//! Files of tags: written and read back, changed, and every way to be wrong.

use super::*;
use crate::limits::{TAG_FILE_CHANGES_SHOWN_MAX, TAG_FILE_FAULTS_SHOWN_MAX, TAG_FILE_ROWS_MAX};

fn tag(path: &str) -> v1::Tag {
    v1::Tag {
        id: 1,
        workspace: "main".to_owned(),
        path: path.to_owned(),
        kind: v1::Kind::Float,
        unit: "°C".to_owned(),
        description: String::new(),
        retention: v1::Retention::Days7,
        schema: v1::Schema::default(),
        created: String::new(),
    }
}

fn hostile() -> Vec<v1::Tag> {
    let schema = v1::Schema {
        kinds: vec![v1::Kind::Float, v1::Kind::Text],
        min: Some(-0.1),
        max: Some(1e300),
        choices: vec!["a,\"b\"".to_owned(), " ".to_owned(), "=x\n".to_owned()],
        strict: true,
    };
    let texts =
        ["=1+1", "'=1", "'", "''", "'quoted'", "-5", "@x", "\tx", "a\r\nb", " x ", "\"", ";"];
    let all = texts.iter().enumerate().map(|(at, text)| v1::Tag {
        description: (*text).to_owned(),
        unit: text.trim().replace(['\r', '\n'], ""),
        schema: schema.clone(),
        ..tag(&format!("press/{at}"))
    });
    all.chain([tag("=press/plain"), tag("-x")]).collect()
}

fn planned(tags: &[v1::Tag], file: &str) -> Plan {
    plan(|path| tags.iter().find(|tag| tag.path == path).cloned(), file.as_bytes())
}

fn faults(tags: &[v1::Tag], file: &str) -> Vec<(u64, String)> {
    let Plan { report, changes } = planned(tags, file);
    assert!(changes.is_empty(), "nothing is written of a file with a fault");
    assert_eq!(report.faults_in_all, report.faults.len() as u64);
    report.faults.into_iter().map(|fault| (fault.line, fault.field)).collect()
}

#[test]
fn a_file_that_is_read_back_changes_nothing() {
    let tags = hostile();
    let mut file = head();
    tags.iter().for_each(|tag| write_line(tag, &mut file));
    for cell in file.split(['\n', ',']) {
        assert!(!cell.starts_with(['=', '@', '\t']), "a formula: {cell:?}");
    }
    let Plan { report, changes } = planned(&tags, &file);
    assert_eq!((report.faults, report.changes), (Vec::new(), Vec::new()));
    assert_eq!((report.rows, report.topics, changes.len()), (tags.len() as u64, 0, 0));
}

#[test]
fn only_the_columns_that_are_there_change() {
    let tags = [tag("a"), tag("b")];
    // As a spreadsheet may write it: a mark in front, semicolons, no line end at the last line.
    let file = "\u{feff}unit;path;max\r\nbar;b;2.5\r\n\r\n°C;a;";
    let Plan { report, changes } = planned(&tags, file);
    assert_eq!(report.faults, []);
    assert_eq!((report.rows, report.topics, report.changes_in_all), (2, 1, 2));
    let told: Vec<_> = report
        .changes
        .iter()
        .map(|change| {
            (change.line, change.field.as_str(), change.from.as_str(), change.to.as_str())
        })
        .collect();
    assert_eq!(told, [(2, "unit", "°C", "bar"), (2, "max", "", "2.5")]);
    let (path, change) = changes.first().unwrap();
    assert_eq!((path.as_str(), change.unit.as_deref()), ("b", Some("bar")));
    assert_eq!(change.schema.as_ref().unwrap().max, Some(2.5));
}

#[test]
fn every_fault_of_a_file_has_its_line_and_column() {
    let tags = [tag("a"), tag("b")];
    let check = |file: &str, expected: &[(u64, &str)]| {
        let found = faults(&tags, file);
        let found: Vec<_> = found.iter().map(|(line, field)| (*line, field.as_str())).collect();
        assert_eq!(found, expected, "{file}");
    };
    check("", &[(1, "path")]);
    check("unit\nx", &[(1, "path")]);
    check("path,unit,unit", &[(1, "unit")]);
    check("path,colour\na,red", &[(1, "colour")]);
    check("path\na,b", &[(2, "")]);
    check("path,unit\na\nz,x\na,y", &[(2, ""), (3, "path")]);
    check("path\na\na", &[(3, "path")]);
    check("path,description\na,\"two\nlines\"\nz,x", &[(4, "path")]);
    check("path,unit\na,\"open", &[(2, "")]);
    check("path,unit\na,\"b\"c", &[(2, "")]);
    let wrong = "path,retention,kinds,min,max,choices,strict\n\
                 a,9d,float double,x,inf,open,maybe\n\
                 b,1d,float,2,1,,true\n";
    let line =
        |line, fields: &[&'static str]| fields.iter().map(|f| (line, *f)).collect::<Vec<_>>();
    let all = line(2, &["retention", "kinds", "min", "max", "choices", "strict"]);
    check(wrong, &[all, line(3, &["min"])].concat());
    check(&format!("path,unit\na,{}", "x".repeat(65)), &[(2, "unit")]);
    let report = plan(|_| None, b"path\n\xff").report;
    assert_eq!(report.faults.first().map(|fault| fault.line), Some(2));
}

#[test]
fn what_a_file_may_hold_and_what_is_told_of_it_is_bounded() {
    let file = |count: usize| {
        let lines: String = (0..count).map(|at| format!("{at},bar\n")).collect();
        format!("path,unit\n{lines}")
    };
    let found = |path: &str| Some(tag(path));
    let whole = plan(found, file(TAG_FILE_ROWS_MAX).as_bytes());
    assert_eq!(whole.changes.len(), TAG_FILE_ROWS_MAX);
    assert_eq!(whole.report.changes.len(), TAG_FILE_CHANGES_SHOWN_MAX);
    assert_eq!(whole.report.changes_in_all, TAG_FILE_ROWS_MAX as u64);
    let more = plan(found, file(TAG_FILE_ROWS_MAX + 1).as_bytes());
    let fault = more.report.faults.first().unwrap();
    assert_eq!((fault.line, more.changes.len()), (TAG_FILE_ROWS_MAX as u64 + 2, 0));
    let unknown = plan(|_| None, file(TAG_FILE_ROWS_MAX).as_bytes()).report;
    assert_eq!(unknown.faults.len(), TAG_FILE_FAULTS_SHOWN_MAX);
    assert_eq!(unknown.faults_in_all, TAG_FILE_ROWS_MAX as u64);
}
