//! Each rule, with a document that breaks it and nothing else.

use super::*;
use crate::document::{OnError, Retry, Wire};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn step(kind: &str, fields: Value) -> Step {
    serde_json::from_value(json!({ "kind": kind, "fields": fields })).unwrap()
}

fn wire(from: &str, port: &str, to: &str) -> Wire {
    Wire { from: from.into(), port: port.into(), to: to.into() }
}

/// Celsius in, Fahrenheit out.
fn good() -> Document {
    Document {
        millrace: FORMAT,
        name: "to-fahrenheit".into(),
        description: String::new(),
        settings: crate::document::Settings::default(),
        steps: BTreeMap::from([
            ("values".into(), step("uns.subscribe", json!({"filters": ["+/celsius"]}))),
            ("convert".into(), step("unit", json!({"from": "°C", "to": "°F"}))),
            (
                "publish".into(),
                step("uns.publish", json!({"path": "{{ $trigger.path }}/fahrenheit"})),
            ),
        ]),
        wires: vec![wire("convert", "out", "publish"), wire("values", "out", "convert")],
        cases: vec![],
        layout: BTreeMap::new(),
    }
}

fn faults_of(change: impl FnOnce(&mut Document)) -> Vec<String> {
    let mut document = good();
    change(&mut document);
    validate(&document).iter().map(|fault| format!("{} {fault}", fault.code)).collect()
}

/// The one fault, by its beginning.
#[track_caller]
fn one(expected: &str, change: impl FnOnce(&mut Document)) {
    let faults = faults_of(change);
    assert!(
        matches!(faults.as_slice(), [fault] if fault.starts_with(expected)),
        "expected {expected}: {faults:#?}"
    );
}

/// A `convert` step of this kind and these fields has the one fault, or none if empty.
#[track_caller]
fn convert(kind: &str, fields: Value, expected: &str) {
    let change = |d: &mut Document| {
        let port = crate::kind::find(kind).and_then(|kind| kind.ports.first()).unwrap_or(&"out");
        d.wires[0].port = (*port).into();
        d.steps.insert("convert".into(), step(kind, fields));
    };
    if expected.is_empty() {
        let faults = faults_of(change);
        assert!(faults.is_empty(), "{faults:#?}");
    } else {
        one(expected, change);
    }
}

#[test]
fn a_good_document_has_no_fault() {
    assert_eq!(validate(&good()), []);
}

#[test]
fn names_and_limits() {
    one("bad_name `name`", |d| d.name = "Nine Lives".into());
    one("format `millrace`", |d| d.millrace = 2);
    one("too_long `description`", |d| d.description = "x".repeat(DESCRIPTION_BYTES_MAX + 1));
    one("bad_setting `settings.order`", |d| d.settings.order = Order::InOrderBy("path".into()));
    one("bad_setting `settings.limits.cpu_ms`", |d| d.settings.limits.cpu_ms = Some(0));
    one("unused_layout `layout`: there is no step `x`", |d| {
        d.layout.insert("x".into(), [0, 0]);
    });
    one("bad_id step `9 a`", |d| {
        d.steps.insert("9 a".into(), step("filter", json!({"test": true})));
        d.wires.push(wire("values", "out", "9 a"));
    });
}

#[test]
fn a_thousand_steps_are_accepted_and_one_more_is_refused() {
    let with_steps = |count: usize| {
        let mut document = good();
        while document.steps.len() < count {
            let id = format!("s{}", document.steps.len());
            document.steps.insert(id.clone(), step("filter", json!({"test": "{{ $item }}"})));
            document.wires.push(wire("values", "out", &id));
        }
        document
    };
    assert_eq!(validate(&with_steps(1_000)), []);
    let faults = validate(&with_steps(1_001));
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].to_string(), "`steps`: 1001 steps, 1000 at most: split the pipeline");
    one("too_many_wires `wires`: 5003 wires", |d| {
        d.wires.extend((0..5_001).map(|n| wire("values", "out", &format!("s{n}"))));
    });
    one("too_large the document has 4", |d| {
        d.steps.get_mut("publish").unwrap().label = "x".repeat(crate::text::DOCUMENT_BYTES_MAX);
    });
}

#[test]
fn kinds_and_fields() {
    convert("unit", json!({"from": "°C"}), "fields_disagree step `convert`: needs both");
    convert("units", json!({}), "unknown_kind step `convert`, field `kind`: kind `units` is not");
    convert("filter", json!({}), "missing_field step `convert`, field `test`: is required");
    convert("filter", json!({"test": " "}), "missing_field step `convert`, field `test`");
    convert(
        "filter",
        json!({"test": true, "tset": 1}),
        "unknown_field step `convert`, field `tset`",
    );
    convert(
        "filter",
        json!({"test": "$item > 1"}),
        "bad_field step `convert`, field `test`: takes `{{",
    );
    convert("filter", json!({"test": "a {{ $item }}"}), "bad_field step `convert`, field `test`");
    convert(
        "wait",
        json!({"for_ms": -1}),
        "bad_field step `convert`, field `for_ms`: takes whole mil",
    );
    convert("wait", json!({"for_ms": 1.5}), "bad_field step `convert`, field `for_ms`");
    convert("wait", json!({"for_ms": "{{ $item.wait }}"}), "");
    convert("wait", json!({}), "fields_disagree step `convert`: needs exactly one of `for_ms` and");
    convert(
        "cast",
        json!({"to": "integer"}),
        "bad_field step `convert`, field `to`: takes `bool`, ",
    );
    convert("lookup", json!({"table": "{{ $variable.recipes }}"}), "");
    convert(
        "lookup",
        json!({"table": ["a"]}),
        "bad_field step `convert`, field `table`: takes an obj",
    );
}

#[test]
fn forms_of_fields() {
    convert(
        "uns.last",
        json!({"path": "a//b"}),
        "bad_field step `convert`, field `path`: a path has",
    );
    convert(
        "uns.last",
        json!({"path": "a/{{ $item }}//b"}),
        "bad_field step `convert`, field `path`",
    );
    convert("uns.search", json!({"filter": "a#"}), "bad_field step `convert`, field `filter`");
    convert(
        "set",
        json!({"fields": {"a": {"b": "{{ $item. "}}}),
        "bad_expression step `convert`, field `fields.a.b`: line 1, column 1: `{{` \
             has no",
    );
    convert("json.parse", json!({"into": "a..b"}), "bad_field step `convert`, field `into`");
    convert(
        "unit",
        json!({"from": "°C", "to": "bar"}),
        "fields_disagree step `convert`, field `to`: °C is temp",
    );
    convert(
        "unit",
        json!({"from": "grad", "to": "°F"}),
        "bad_field step `convert`, field `from`: is a unit",
    );
    convert(
        "window",
        json!({"mode": "sliding", "size_ms": 10, "every_ms": 3}),
        "fields_disagree step `convert`, field `every_ms`",
    );
    convert(
        "window",
        json!({"mode": "session", "gap_ms": 10, "aggregates": ["avg"]}),
        "bad_field step `convert`, field `aggregates[0]`",
    );
    convert("file.append", json!({"file": "../x"}), "fields_disagree step `convert`, field `file`");
    convert("file.append", json!({"file": "{{ $item.a }}/{{ $run.id }}.csv"}), "");
    let mut deep = json!(1);
    for _ in 0..40 {
        deep = json!([deep]);
    }
    convert("map", json!({"output": deep}), "too_deep step `convert`, field `output`");
}

#[test]
fn switches_and_their_ports() {
    let mut document = good();
    let cases = json!([{"equals": 1}, {"from": 2, "below": 3}, {"test": "{{ $item.a }}"}]);
    document.steps.insert("convert".into(), step("switch", json!({"cases": cases})));
    document.wires = vec![wire("convert", "3", "publish"), wire("values", "out", "convert")];
    assert_eq!(validate(&document), []);
    document.wires[0].port = "4".into();
    let faults = validate(&document);
    assert_eq!(faults[0].code, "unknown_port");
    assert!(faults[0].message.ends_with("there are: 1, 2, 3, otherwise"), "{}", faults[0].message);
    let mut with_cases = |cases: Value| {
        document.wires[0].port = "1".into();
        document.steps.insert("convert".into(), step("switch", json!({"cases": cases})));
        validate(&document).iter().map(Fault::to_string).collect::<Vec<_>>().join("\n")
    };
    assert!(with_cases(json!([{"equals": 1, "below": 3}])).contains("case 1 needs exactly one"));
    assert!(with_cases(json!([{"above": 1}])).contains("field `cases[0].above`: is not known"));
    assert!(with_cases(json!(vec![json!({"equals": 1}); 33])).contains("takes 1 to 32 cases"));
}

#[test]
fn secrets_are_named_and_never_written() {
    let request = |fields: Value| {
        let mut all = json!({"url": "https://mes.example/orders"});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        all
    };
    let check = |fields, expected| convert("http.request", request(fields), expected);
    check(json!({"bearer": {"secret": "mes-token"}}), "");
    check(
        json!({"bearer": "s3cr3t"}),
        "secret_literal step `convert`, field `bearer`: takes `{ \"secret\": name \
             }`",
    );
    check(
        json!({"bearer": "{{ $variable.token }}"}),
        "secret_literal step `convert`, field `bearer`",
    );
    check(
        json!({"headers": {"Authorization": "Basic abc"}}),
        "secret_literal step `convert`, field `headers.Authorization`",
    );
    check(json!({"headers": {"X-Line": "{{ $trigger.path }}", "X-Api-Key": {"secret": "k"}}}), "");
    check(json!({"headers": {"a b": "c"}}), "bad_field step `convert`, field `headers.a b`");
    check(
        json!({"url": "https://me:pass@mes.example"}),
        "fields_disagree step `convert`, field `url`: holds a user",
    );
    check(
        json!({"url": "ftp://mes.example"}),
        "fields_disagree step `convert`, field `url`: must begin with http:// or \
             https://",
    );
    check(json!({"url": "https://mes.example/{{ $item.a + '@' }}"}), "");
    for fault in faults_of(|d| {
        let step = step("http.request", request(json!({"bearer": "s3cr3t"})));
        d.steps.insert("convert".into(), step);
    }) {
        assert!(!fault.contains("s3cr3t"), "a message repeats the secret: {fault}");
    }
}

#[test]
fn fields_of_a_kind_agree() {
    let disagree = |kind, fields, field: &str| {
        convert(kind, fields, &format!("fields_disagree step `convert`, field `{field}`"));
    };
    convert("edge", json!({"rise_at": 5, "fall_at": 4.9}), "");
    disagree("edge", json!({"rise_at": 5, "fall_at": 5}), "fall_at");
    disagree("delay", json!({"rise_at": 5}), "rise_at");
    convert("counter", json!({"start": 1, "limit": 2}), "");
    disagree("counter", json!({"start": 2, "limit": 2}), "limit");
    convert("debounce", json!({"quiet_ms": 5, "most_ms": 5}), "");
    disagree("debounce", json!({"quiet_ms": 5, "most_ms": 4}), "most_ms");
    convert("throttle", json!({"every_ms": 5, "keep": "last"}), "");
    disagree("throttle", json!({"every_ms": 5, "keep": "last", "count": 2}), "count");
    convert("lookup", json!({"ranges": [{"below": 0, "result": "{{ $item }}"}]}), "");
    disagree("lookup", json!({"ranges": []}), "ranges");
    disagree("lookup", json!({"ranges": [{"result": 1}]}), "ranges");
    disagree("lookup", json!({"ranges": [{"from": 2, "below": 2, "result": 1}]}), "ranges");
    disagree("lookup", json!({"ranges": vec![json!({"from": 1, "result": 1}); 1001]}), "ranges");
    convert("lookup", json!({}), "fields_disagree step `convert`");
    disagree("csv.parse", json!({"separator": ";;"}), "separator");
    disagree("csv.format", json!({"quote": ","}), "quote");
    disagree("split", json!({"separator": ""}), "separator");
    convert("enrich", json!({"paths": {"a": "x/{{ $item }}"}}), "");
    disagree("enrich", json!({"paths": {"a": 1}}), "paths");
    disagree("enrich", json!({"paths": {}}), "paths");
    disagree("mqtt.publish", json!({"url": "tcp://b", "topic": "t"}), "url");
    let mail = |more: Value| {
        let mut fields =
            json!({"host": "h", "from": "a@b", "to": ["c@d"], "subject": "s", "text": "t"});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    convert("mail", mail(json!({"user": "u", "password": {"secret": "p"}})), "");
    disagree("mail", mail(json!({"user": "u"})), "user");
    let open = json!({"user": "u", "password": {"secret": "p"}, "tls": "off"});
    disagree("mail", mail(open), "tls");
    disagree("mail", mail(json!({"to": vec!["c@d"; 101]})), "to");
}

#[test]
fn fields_of_a_trigger_agree() {
    let check = |kind: &str, fields: Value, expected: &str| {
        let change = |d: &mut Document| drop(d.steps.insert("values".into(), step(kind, fields)));
        if expected.is_empty() {
            let faults = faults_of(change);
            assert!(faults.is_empty(), "{faults:#?}");
        } else {
            one(&format!("{expected} step `values`"), change);
        }
    };
    let values = |more: Value| {
        let mut fields = json!({"filters": ["a/#"]});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    check("uns.subscribe", values(json!({"when": "deadband", "deadband": 0.5})), "");
    check("uns.subscribe", values(json!({"when": "deadband"})), "fields_disagree");
    check("uns.subscribe", values(json!({"deadband": 1})), "fields_disagree");
    check("uns.subscribe", values(json!({"at_least_every_ms": 1})), "fields_disagree");
    check("uns.subscribe", json!({"filters": []}), "fields_disagree");
    check("uns.subscribe", json!({"filters": ["{{ a }}"]}), "expression_not_allowed");
    check("schedule", json!({"cron": "0 6 * * mon-fri", "zone": "Europe/Berlin"}), "");
    check("schedule", json!({"every_ms": 60_000}), "");
    check("schedule", json!({"cron": "* * * * *", "every_ms": 60_000}), "fields_disagree");
    check("schedule", json!({"cron": "61 * * * *"}), "bad_field");
    check("schedule", json!({"every_ms": 99}), "bad_field");
    check("schedule", json!({"cron": "* * * * *", "zone": "Berlin time"}), "bad_field");
    let hook = |path: &str| json!({"path": path, "secret": {"secret": "s"}});
    check("http", hook("orders/new-1"), "");
    check("http", hook("/orders"), "fields_disagree");
    check("http", hook("a/../b"), "fields_disagree");
    check("http", json!({"path": "orders"}), "missing_field");
    check("http", json!({"path": "orders", "secret": "s3cr3t"}), "secret_literal");
}

#[test]
fn statements_take_no_expressions() {
    let fields = |sql: &str| json!({"driver": "sqlite", "file": "a.db", "sql": sql});
    convert("sql.query", fields("select 1"), "");
    convert(
        "sql.query",
        fields("select {{ $item }}"),
        "expression_not_allowed step `convert`, field `sql`: is fixed: values go \
             into `parameters`",
    );
    convert(
        "sql.query",
        json!({"sql": "select 1", "host": "h", "database": "d"}),
        "fields_disagree step `convert`, field `user`",
    );
}

#[test]
fn wires_and_graph() {
    one(
        "dangling_wire step `values`, field `wires`: wire values.out → x: there is \
             no step `x`",
        |d| {
            d.wires.push(wire("values", "out", "x"));
        },
    );
    // What lies behind a wire that leads nowhere is not told to be out of reach as well.
    one("dangling_wire step `values`, field `wires`: wire values.out → convrt", |d| {
        d.wires[1].to = "convrt".into();
    });
    let both = faults_of(|d| d.wires.push(wire("y", "out", "x")));
    assert_eq!(both.len(), 2, "{both:#?}");
    one("unknown_port step `convert`, field `wires`", |d| d.wires[0].port = "done".into());
    one("duplicate_wire step `values`", |d| d.wires.push(wire("values", "out", "convert")));
    one("unreachable step `convert`: no trigger leads here", |d| {
        d.wires[1].to = "publish".into();
    });
    let faults = faults_of(|d| drop(d.steps.remove("values")));
    assert!(faults[0].starts_with("dangling_wire step `convert`"), "{faults:#?}");
    assert!(faults[1].starts_with("no_trigger `steps`"), "{faults:#?}");
    let faults = faults_of(|d| d.wires.push(wire("publish", "out", "values")));
    assert!(faults[0].starts_with("trigger_has_input step `values`"), "{faults:#?}");
}

#[test]
fn cycles_are_named_step_by_step_and_go_to_counts() {
    one(
        "cycle step `convert`: steps lead back to themselves: convert → publish → \
             convert",
        |d| {
            d.wires.push(wire("publish", "out", "convert"));
        },
    );
    one("cycle step `publish`: steps lead back to themselves: publish → publish", |d| {
        d.wires.push(wire("publish", "out", "publish"));
    });
    one(
        "cycle step `convert`: steps lead back to themselves: convert → publish → \
             convert",
        |d| {
            d.steps.get_mut("publish").unwrap().on_error = OnError::GoTo("convert".into());
        },
    );
    one("go_to_unknown_step step `publish`, field `on_error`: there is no step `x`", |d| {
        d.steps.get_mut("publish").unwrap().on_error = OnError::GoTo("x".into());
    });
    one("trigger_setting step `values`", |d| {
        d.steps.get_mut("values").unwrap().timeout_ms = Some(1);
    });
}

#[test]
fn a_long_chain_and_a_dense_graph_are_quick() {
    let mut document = good();
    document.wires.clear();
    for number in 0..997 {
        let id = format!("s{number:03}");
        document.steps.insert(id.clone(), step("filter", json!({"test": "{{ $item }}"})));
        let before = if number == 0 { "values".into() } else { format!("s{:03}", number - 1) };
        document.wires.push(wire(&before, "out", &id));
    }
    document.wires.extend([wire("values", "out", "convert"), wire("values", "out", "publish")]);
    document.wires.extend(
        (0..66)
            .flat_map(|a| (a + 2..66).map(move |b| (a, b)))
            .map(|(a, b)| wire(&format!("s{a:03}"), "out", &format!("s{b:03}"))),
    );
    assert_eq!(validate(&document), []);
    document.wires.push(wire("s996", "out", "s000"));
    assert!(matches!(validate(&document).as_slice(), [fault] if fault.code == "cycle"));
}

#[test]
fn retries_and_timeouts_have_bounds() {
    let retry = |change: fn(&mut Retry)| {
        move |d: &mut Document| {
            let mut retry = Retry { times: 3, first_ms: 100, factor: 2.0, most_ms: 60_000 };
            change(&mut retry);
            let step = json!({"kind": "mqtt.publish", "fields": {"url": "mqtt://b", "topic": "t"}});
            d.steps.insert("publish".into(), serde_json::from_value(step).unwrap());
            d.steps.get_mut("publish").unwrap().retry = Some(retry);
        }
    };
    let faults = faults_of(retry(|_| {}));
    assert!(faults.is_empty(), "{faults:?}");
    one("bad_retry step `publish`, field `retry.times`", retry(|r| r.times = 21));
    one("bad_retry step `publish`, field `retry.factor`", retry(|r| r.factor = f64::NAN));
    one("bad_retry step `publish`, field `retry.first_ms`", retry(|r| r.first_ms = 0));
    one("bad_retry step `publish`, field `retry.most_ms`", retry(|r| r.most_ms = 99));
    one("bad_timeout step `publish`", |d| {
        d.steps.get_mut("publish").unwrap().timeout_ms = Some(0);
    });
}

#[test]
fn a_retry_that_can_never_help_is_told() {
    let with = |kind: &str, fields: Value| {
        let mut step = step(kind, fields);
        step.retry = Some(Retry { times: 3, first_ms: 100, factor: 2.0, most_ms: 60_000 });
        let faults = faults_of(|d| drop(d.steps.insert("convert".into(), step)));
        faults.iter().any(|fault| fault.starts_with("retry_without_effect step `convert`"))
    };
    assert!(with("javascript", json!({"code": "throw new Error('x')"})));
    assert!(with("unit", json!({"from": "°C", "to": "°F"})));
    assert!(with("uns.last", json!({"path": "a"})));
    assert!(!with("http.request", json!({"url": "https://mes.example"})));
    assert!(!with("call", json!({"pipeline": "other"})));
    assert!(!with("history.query", json!({"path": "a", "from": "-1h"})));
}

#[test]
fn all_faults_of_a_step_are_told_and_each_once() {
    let faults = faults_of(|d| {
        let fields = json!({"mode": "sliding", "every_ms": "x", "aggregates": [], "sise_ms": 1});
        d.steps.insert("convert".into(), step("window", fields));
    });
    let told = |begin: &str| faults.iter().filter(|fault| fault.starts_with(begin)).count();
    assert_eq!(told("bad_field step `convert`, field `every_ms`"), 1, "{faults:#?}");
    assert_eq!(told("fields_disagree step `convert`, field `aggregates`"), 1, "{faults:#?}");
    assert_eq!(told("fields_disagree step `convert`, field `size_ms`: is needed"), 1);
    let misspelt = "unknown_field step `convert`, field `sise_ms`: `window` has no such field; \
                    did you mean `size_ms`?";
    assert_eq!(told(misspelt), 1, "{faults:#?}");
    assert_eq!(faults.len(), 4, "{faults:#?}");
    convert(
        "window",
        json!({"mode": "slidding", "size_ms": 1}),
        "bad_field step `convert`, field `mode`: takes `tumbling`",
    );
}

#[test]
fn a_trigger_of_an_unknown_kind_is_one_fault() {
    one("unknown_kind step `values`, field `kind`: kind `subscribe` is not known; did you", |d| {
        d.steps.insert("values".into(), step("subscribe", json!({})));
    });
}

#[test]
fn scripts_are_asked_for_what_is_not_there() {
    let script = |code: &str| json!({ "code": code });
    convert("javascript", script("const $a = 1; return $a"), "");
    convert(
        "javascript",
        script("return new Intl.NumberFormat('de')"),
        "not_in_scripts step `convert`, field `code`: scripts have no `Intl`",
    );
    convert("javascript", script("return $item.value.toLocaleString()"), "not_in_scripts step");
    convert(
        "javascript",
        script("return $step.gone.value"),
        "unknown_step step `convert`, field `code`: names step `gone`",
    );
    convert("javascript", script("// $step.gone, Intl\nreturn 'Intl'"), "");
    convert(
        "filter",
        json!({"test": "{{ $itm.value }}"}),
        "unknown_name step `convert`, field `test`",
    );
    convert("call", json!({"pipeline": "to-fahrenheit"}), "calls_itself step");
    let warnings = validate(&{
        let mut document = good();
        document.steps.insert("convert".into(), step("javascript", script("return Intl")));
        document
    });
    assert!(!has_errors(&warnings), "warnings do not keep it from being deployed");
}

#[test]
fn cases_speak_of_what_is_there() {
    let case = |change: Value| {
        let mut case = json!({
            "name": "one", "when": [{"trigger": "values", "with": {"value": 1}}],
            "then": [{"publish": {"path": "a/fahrenheit", "value": 33.8}}],
        });
        case.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        move |d: &mut Document| d.cases.push(serde_json::from_value(case).unwrap())
    };
    assert!(faults_of(case(json!({}))).is_empty());
    one(
        "bad_case `cases[0].when[0]`: `convert` is no trigger",
        case(json!({"when": [{"trigger": "convert"}]})),
    );
    one("bad_case `cases[0].when[0]`: there is no step", case(json!({"when": [{"trigger": "x"}]})));
    one("bad_case `cases[0].when`: has no trigger", case(json!({"when": []})));
    one("bad_case `cases[0].name`", case(json!({"name": ""})));
    one(
        "bad_case `cases[0].then[0]`: there is no run 1",
        case(json!({"then": [{"fails": {"run": 1, "reason": "x"}}]})),
    );
    one(
        "bad_case `cases[0].then[0]`: there is no step `x`",
        case(json!({"then": [{"call": {"step": "x"}}]})),
    );
    one(
        "bad_case `cases[0].given.answers.convert`",
        case(json!({"given": {"answers": {"convert": 1}}})),
    );
    one(
        "bad_case `cases[0].given.faults.convert`",
        case(json!({"given": {"faults": {"convert": "is down"}}})),
    );
    one("bad_case `cases[1]`: another case is named `one`", |d| {
        case(json!({}))(d);
        case(json!({}))(d);
    });
}

#[test]
fn the_list_of_faults_is_bounded() {
    let mut document = good();
    let mut fields = serde_json::Map::new();
    for number in 0..5_000 {
        fields.insert(format!("f{number}"), json!(1));
    }
    document.steps.insert("convert".into(), step("filter", Value::Object(fields)));
    let faults = validate(&document);
    assert_eq!(faults.len(), FAULTS_MAX + 1);
    assert_eq!(faults.last().unwrap().code, "too_many_faults");
}
