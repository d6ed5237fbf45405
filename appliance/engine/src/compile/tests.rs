//! What the compiler makes of fields.

use super::*;
use millrace_flow::document::Document;

fn with_step<T>(fields: &str, check: impl FnOnce(&mut Compiler<'_>) -> T) -> (T, Unit) {
    let json =
        format!(r#"{{"millrace":1,"name":"p","steps":{{"a":{{"kind":"x","fields":{fields}}}}}}}"#);
    let document: Document = serde_json::from_str(&json).unwrap();
    let mut unit = Unit::default();
    let step = document.steps.get("a").unwrap();
    let found = check(&mut Compiler::new("a", step, &document, &mut unit));
    (found, unit)
}

fn field(text: &str) -> (Field, Unit) {
    let json = serde_json::json!({ "f": text }).to_string();
    let (field, unit) = with_step(&json, |compiler| compiler.field("f").unwrap());
    (field, unit)
}

#[test]
fn literals_and_plain_paths_need_no_script() {
    for text in ["plain", "{{ 5 }}", "{{ $trigger.value }}", "a {{ $item.x }} b"] {
        let (_, unit) = field(text);
        assert!(unit.functions.is_empty(), "{text}");
    }
    assert!(matches!(field("{{ 5 }}").0, Field::Literal(Data::Int(5))));
    assert!(matches!(field("{{ $trigger.value }}").0, Field::Path(_)));
    assert!(matches!(field("a {{ $item.x }}").0, Field::Template(_)));
}

#[test]
fn an_expression_becomes_a_function_once() {
    let fields = r#"{"f":"{{ $item.x + 1 }} and {{ $item.x + 1 }}","g":{"h":["{{ f(1) }}",2]}}"#;
    let ((), unit) = with_step(fields, |compiler| {
        assert!(matches!(compiler.field("f").unwrap(), Field::Template(_)));
        assert!(matches!(compiler.field("g").unwrap(), Field::Map(_)));
    });
    let sources: Vec<_> = unit.functions.iter().map(|function| &*function.source).collect();
    assert_eq!(sources, ["$item.x + 1", "f(1)"]);
}

#[test]
fn a_fault_names_step_and_field() {
    let (fault, _) = with_step(r#"{"n":"x"}"#, |compiler| compiler.number("n").unwrap_err());
    assert_eq!(fault.to_string(), "step `a`, field `n`: must be a number");
    let (fault, _) = with_step("{}", |compiler| compiler.field("n").unwrap_err());
    assert_eq!(fault.to_string(), "step `a`, field `n`: is missing");
}

#[test]
fn literals_within_objects_are_their_values_and_not_their_source() {
    let fields = r#"{"g":{"r":"{{ -5 }}","t":"{{ 'a' }}","l":[{"x":"{{ 5 }}"}],"p":"plain"}}"#;
    let (field, unit) = with_step(fields, |compiler| compiler.field("g").unwrap());
    assert!(unit.functions.is_empty());
    let Field::Literal(data) = field else { panic!("not a literal: {field:?}") };
    assert_eq!(data.to_json_text(), r#"{"l":[{"x":5}],"p":"plain","r":-5,"t":"a"}"#);
}
