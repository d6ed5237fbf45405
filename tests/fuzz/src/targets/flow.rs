//! Pipelines: the document's text, texts with expressions, and JSON as data.
//!
//! **Invariants** held: what is read as a document writes and reads as itself, and is validated
//! without a panic; the parts of a split text lie in it in order; a plain path prints as itself;
//! renaming a step leaves a text that can still be split; data written is the data read.

use super::{bytes_of, ensure};
use crate::runner::Target;
use millrace_flow::expression::{
    Part, Simple, Source, Split, mentions, rename_step_in_text, simple, split,
};
use millrace_flow::{Data, Document, diff, validate};

pub(super) const DOCUMENT: Target = Target {
    name: "document",
    corpus: documents,
    words: &[
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b"\\",
        b"\\u0000",
        b"null",
        b"1e400",
        b"-0",
        b"18446744073709551616",
        b"{{ $step.a }}",
        b"{{",
        b"}}",
        b"\"fields\":{},",
        b"\"code\":[\"a\",\"b\"]",
        b"\"secret\"",
        b"\"on_error\":{\"go_to\":\"a\"},",
        b"\"kind\":\"switch\"",
        b"\"cases\":[]",
    ],
    check: check_document,
};

pub(super) const EXPRESSION: Target = Target {
    name: "expression",
    corpus: expressions,
    words: &[
        b"{{",
        b"}}",
        b"${",
        b"`",
        b"'",
        b"\"",
        b"\\",
        b"/",
        b"//",
        b"/*",
        b"*/",
        b"\n",
        b"(",
        b")",
        b"[",
        b"]",
        b"$step",
        b"$step.a",
        b"$step?.['a']",
        b"$item",
        b".",
        b"[0]",
        b"return ",
        b"\xc3\xa4",
    ],
    check: check_expression,
};

pub(super) const DATA: Target = Target {
    name: "data",
    corpus: data_texts,
    words: &[
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b":",
        b",",
        b"-0",
        b"1e-400",
        b"1e308",
        b"\\ud800",
        b"null",
        b"9223372036854775808",
        b"\"a\":",
    ],
    check: check_data,
};

fn documents() -> Vec<Vec<u8>> {
    bytes_of(&[
        r#"{"millrace":1,"name":"p","steps":{"a":{"kind":"uns.subscribe","fields":{"filters":["x/#"]}},"b":{"kind":"javascript","fields":{"code":["return $step.a;",""]},"on_error":"continue"}},"wires":[{"from":"a","to":"b"}],"layout":{"a":[1,-2]}}"#,
        r#"{"millrace":1,"name":"q","description":"d","settings":{"order":{"in_order_by":"{{ $trigger.path }}"}},"steps":{"a":{"kind":"switch","fields":{"cases":[{"equals":1},{"from":2,"below":3.5}]},"retry":{"times":2,"first_ms":5}},"m":{"kind":"manual"}},"wires":[{"from":"m","to":"a"}],"cases":[{"name":"c","when":[{"trigger":"m","with":{"value":9007199254740993}}],"then":["nothing_else",{"call":{"step":"a"}}]}]}"#,
        r#"{"millrace":1,"name":"r","steps":{"h":{"kind":"http.request","fields":{"url":"https://x/{{ $item }}","headers":{"A":{"secret":"s"}}},"on_error":{"go_to":"h"}}}}"#,
    ])
}

fn check_document(input: &[u8]) -> Result<(), String> {
    let Ok(document) = Document::parse_bytes(input) else { return Ok(()) };
    drop(validate(&document));
    let text = document.to_text();
    let again = Document::parse(&text).map_err(|fault| format!("written, not read: {fault}"))?;
    ensure(again == document, "reads otherwise than it was written")?;
    ensure(again.to_text() == text, "writes otherwise than before")?;
    ensure(diff(&document, &again).is_empty(), "differs from itself")
}

fn expressions() -> Vec<Vec<u8>> {
    bytes_of(&[
        "{{ $trigger.value }}",
        "a {{ $step[\"a\"].b[0] }} b {{ `x ${ {a: '}}'}.a } }}` }}",
        "{{ /[}]}}/.test($item) ? $step.a : 1 / 2 / 3 }}",
        "{{ $item.map(x => ({ y: x, z: [1, 2] })) /* }} */ }}",
        "{{ -1.5e3 }}{{ 'a\\n' }}",
    ])
}

fn check_expression(input: &[u8]) -> Result<(), String> {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(()) };
    drop(mentions(text));
    let sources: Vec<Source<'_>> = match split(text) {
        Err(fault) => return ensure(fault.at <= text.len(), "a fault outside of the text"),
        Ok(Split::Literal(literal)) => return ensure(literal == text, "another literal"),
        Ok(Split::Whole(source)) => vec![source],
        Ok(Split::Template(parts)) => parts
            .into_iter()
            .filter_map(|part| match part {
                Part::Expression(source) => Some(source),
                Part::Literal(_) => None,
            })
            .collect(),
    };
    let mut end = 0;
    for source in sources {
        let there = text.get(source.at..source.at + source.text.len());
        ensure(source.at >= end && there == Some(source.text), "a source elsewhere")?;
        end = source.at + source.text.len();
        if let Some(Simple::Path(path)) = simple(source.text) {
            let again = simple(&path.to_string());
            ensure(again == Some(Simple::Path(path)), "a path prints as another")?;
        }
    }
    match rename_step_in_text(text, "a", "b-c") {
        None => Ok(()),
        Some(renamed) => {
            let is_whole = split(&renamed).is_ok();
            ensure(is_whole, "renaming broke the text")?;
            let left = rename_step_in_text(&renamed, "a", "x");
            ensure(left.is_none(), "a name was left")
        }
    }
}

fn data_texts() -> Vec<Vec<u8>> {
    bytes_of(&[
        r#"{"a":[1,2.5,-0.0,null,true],"b":{"c":"d"},"n":18446744073709551615}"#,
        r#"[[[["deep"]]],{"a":1,"a":2}]"#,
        r#""te\u00e4xt\ud83d\ude00""#,
        "-9223372036854775808",
    ])
}

fn check_data(input: &[u8]) -> Result<(), String> {
    let Ok(data) = Data::from_json_bytes(input) else { return Ok(()) };
    let text = data.to_json_text();
    ensure(data.json_loss().is_none(), "JSON cannot hold what came from it")?;
    ensure(Data::from_json_text(&text).as_ref() == Ok(&data), "reads otherwise")?;
    ensure(Data::from(&data.to_json()) == data, "another tree")?;
    ensure(data.is_same(&data), "is not itself")?;
    drop(data.to_js_text());
    Ok(())
}
