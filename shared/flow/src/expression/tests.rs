//! Splitting, recognizing and renaming, as engineers write it.

use super::*;
use crate::data::Data;
use proptest::prelude::*;

fn whole(text: &str) -> &str {
    match split(text) {
        Ok(Split::Whole(source)) => source.text,
        other => panic!("{text}: {other:?}"),
    }
}

fn fault(text: &str) -> String {
    split(text).unwrap_err().to_string()
}

#[test]
fn a_whole_expression_is_told_from_a_template() {
    assert_eq!(split("plain }} text"), Ok(Split::Literal("plain }} text")));
    assert_eq!(whole("{{ $trigger.value }}"), "$trigger.value");
    let parts = match split("a {{x}}{{ y }} b") {
        Ok(Split::Template(parts)) => parts,
        other => panic!("{other:?}"),
    };
    let texts: Vec<_> = parts
        .iter()
        .map(|part| match part {
            Part::Literal(text) => format!("'{text}'"),
            Part::Expression(source) => format!("{}@{}", source.text, source.at),
        })
        .collect();
    assert_eq!(texts, ["'a '", "x@4", "y@10", "' b'"]);
}

#[test]
fn braces_within_javascript_do_not_end_it() {
    for source in [
        "{a: {b: 1}}",
        "'}}'",
        r#""a\"}}""#,
        "`x ${ {a: `}}`}.a } }}`",
        "/[/}]}}/.test($item) ? 1 : 2",
        "a / b / c",
        "a++ / 2",
        "/* }} */ 1",
        "[1, {a: (2)}]",
        "$item.map(x => ({ y: x }))",
        "return_ / 2",
    ] {
        assert_eq!(whole(&format!("{{{{ {source} }}}}")), source);
    }
}

#[test]
fn faults_say_where() {
    assert_eq!(fault("a\n {{ b"), "line 2, column 2: `{{` has no `}}` that closes it");
    assert_eq!(fault("{{ }}"), "line 1, column 1: the expression is empty");
    assert_eq!(fault("{{ (a }}"), "line 1, column 7: brackets cross: another one must close first");
    assert_eq!(fault("ä{{ 'a }}"), "line 1, column 5: the text in quotes is not closed");
    assert_eq!(fault("{{ a] }}"), "line 1, column 5: a bracket closes what never opened");
    assert_eq!(fault("{{ a } b }}"), "line 1, column 6: `}` closes nothing; `}}` ends");
    assert!(fault(&format!("{{{{ {} }}}}", "(".repeat(300))).contains("nested too deeply"));
    assert!(fault(&"{{1}}".repeat(3_000)).contains("more than 1000 expressions"));
    assert!(fault(&" ".repeat(TEXT_BYTES_MAX + 1)).contains("longer than"));
}

fn path_of(source: &str) -> Option<String> {
    match simple(source)? {
        Simple::Path(path) => Some(path.to_string()),
        Simple::Literal(data) => Some(format!("{data:?}")),
    }
}

#[test]
fn plain_paths_need_no_script() {
    let check = |source, expected: &str| assert_eq!(path_of(source).as_deref(), Some(expected));
    check("$trigger.value", "$trigger.value");
    check("$item", "$item");
    check("$item[0]['a b'] . c", "$item[0][\"a b\"].c");
    check("$step[\"scale-1\"].a.b", "$step[\"scale-1\"].a.b");
    check("$step.scale", "$step[\"scale\"]");
    check("$variable.limits.high", "$variable[\"limits\"].high");
    check("$run.id", "$run.id");
}

#[test]
fn literals_need_no_script() {
    let check = |source, expected| assert_eq!(simple(source), Some(Simple::Literal(expected)));
    check("42", Data::Int(42));
    check("-1.5", Data::Float(-1.5));
    check("1e3", Data::Int(1000));
    check("-0", Data::Float(-0.0));
    check("9007199254740993", Data::Int(9_007_199_254_740_992));
    check("'a\\n\"b'", Data::text("a\n\"b"));
    check("'\\u0041'", Data::text("A"));
    check("`text`", Data::text("text"));
    check("true", Data::Bool(true));
    check("null", Data::Null);
    check("undefined", Data::Missing);
}

#[test]
fn all_else_is_script() {
    for source in [
        "$trigger.value * 2",
        "$trigger?.value",
        "$item[x]",
        "$item[-1]",
        "$item[01]",
        "$item.toString",
        "$item['constructor']",
        "$step",
        "$variable",
        "$step[0]",
        "$other.x",
        "$item.a()",
        "0x10",
        "010",
        "1_000",
        "10n",
        "1.2.3",
        "'a' + 'b'",
        "`a${1}`",
        "'\\ud800'",
        "'\\u+041'",
        "$item.",
        "$item..a",
        "",
        "x",
    ] {
        assert_eq!(simple(source), None, "{source}");
    }
}

#[test]
fn renaming_changes_the_names_and_nothing_else() {
    let check = |source: &str, to, expected: &str| {
        assert_eq!(rename_step(source, "old", to).as_deref(), Some(expected), "{source}");
    };
    check("$step.old.a + $step['old'].b", "new", "$step.new.a + $step[\"new\"].b");
    check("$step.old", "a-b", "$step[\"a-b\"]");
    check("$step?.old", "a-b", "$step?.[\"a-b\"]");
    check("$step?.old", "new", "$step?.new");
    check("$step?.['old'].x", "new", "$step?.[\"new\"].x");
    check(
        "`${$step.old}` + '$step.old' // $step.old",
        "n",
        "`${$step.n}` + '$step.old' // $step.old",
    );
    check("of /c;\n$step.old", "new", "of /c;\n$step.new");
    check("if (a) b = {} /c;\n$step.old", "new", "if (a) b = {} /c;\n$step.new");
    for untouched in ["$step.older", "x.$step.old", "'$step.old'", "$step[old]", "step.old"] {
        assert_eq!(rename_step(untouched, "old", "new"), None, "{untouched}");
    }
    assert_eq!(
        rename_step_in_text("$step.old: {{ $step.old }}, {{ 1 }}!", "old", "new").as_deref(),
        Some("$step.old: {{ $step.new }}, {{ 1 }}!")
    );
}

proptest! {
    #[test]
    fn any_text_is_split_or_refused(text in "[a{}$`'\"/\\\\()\\[\\]. \n0é]{0,40}") {
        match split(&text) {
            Ok(Split::Literal(literal)) => prop_assert_eq!(literal, text.as_str()),
            Ok(Split::Whole(source)) => {
                prop_assert_eq!(text.get(source.at..source.at + source.text.len()), Some(source.text));
            }
            Ok(Split::Template(parts)) => prop_assert!(!parts.is_empty()),
            Err(fault) => prop_assert!(fault.at <= text.len()),
        }
        drop(simple(&text));
        drop(mentions(&text));
    }

    #[test]
    fn what_a_path_prints_is_that_path(names in proptest::collection::vec("[a-z \"\\\\.]{1,5}", 0..5)) {
        let keys = names.iter().map(|name| Key::Name(name.as_str().into())).collect();
        let path = Path { root: Root::Item, keys };
        prop_assert_eq!(simple(&path.to_string()), Some(Simple::Path(path)));
    }
}
