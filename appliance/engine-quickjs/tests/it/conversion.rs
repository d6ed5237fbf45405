//! Data pass exactly, both ways.

use millrace_engine::script::{FaultKind, Form};
use millrace_flow::Data;

use crate::stage::{Stage, list, map};

#[test]
fn passes_every_datum_through_unchanged() {
    let mut stage = Stage::new();
    let unit = stage.compile(Form::Expression, "$item");
    let safe = (1_i64 << 53) - 1;
    let mut data = vec![
        Data::Null,
        Data::Bool(true),
        Data::Int(0),
        Data::Int(-1),
        Data::Int(i64::from(i32::MAX) + 1),
        Data::Int(i64::MIN),
        Data::Int(i64::MAX),
        Data::UInt(u64::MAX),
        Data::UInt(1 << 63),
        Data::Float(0.1),
        Data::Float(-0.0),
        Data::Float(1e300),
        Data::Float(f64::INFINITY),
        Data::text(""),
        Data::text("°C \u{1f600} \0 end"),
        list([]),
        list([Data::Null, list([Data::Int(1)])]),
        map([]),
        map([
            ("__proto__", Data::Int(1)),
            ("", Data::Int(2)),
            ("10", Data::Int(3)),
            ("b", Data::Null),
        ]),
    ];
    for near in [safe, -safe] {
        data.extend((-2..=2).map(|step| Data::Int(near + step)));
    }
    for datum in data {
        stage.run.item = datum.clone();
        assert_eq!(stage.call(&unit).result, Ok(datum.clone()), "{datum:?}");
    }
    stage.run.item = Data::Float(f64::NAN);
    assert!(matches!(stage.call(&unit).result, Ok(Data::Float(x)) if x.is_nan()));
    stage.run.item = Data::Missing;
    assert_eq!(stage.call(&unit).result, Ok(Data::Missing));
}

#[test]
fn gives_large_integers_as_bigint_only() {
    let mut stage = Stage::new();
    stage.run.item = map([
        ("safe", Data::Int((1 << 53) - 1)),
        ("large", Data::Int(1 << 53)),
        ("unsigned", Data::UInt(u64::MAX)),
    ]);
    assert_eq!(
        stage.value("[typeof $item.safe, typeof $item.large, $item.unsigned.toString()]"),
        list([Data::text("number"), Data::text("bigint"), Data::text("18446744073709551615")])
    );
    assert_eq!(stage.value("$item.large + 1n"), Data::Int((1 << 53) + 1));
    assert_eq!(stage.value("$item.unsigned"), Data::UInt(u64::MAX));
    assert_eq!(stage.value("5n"), Data::Int(5));
    assert_eq!(stage.value("-(2n ** 63n)"), Data::Int(i64::MIN));
    assert_eq!(
        stage.value("[2 ** 53, 2 ** 53 - 1, 1.5, 3.0]"),
        list([
            Data::Float(9_007_199_254_740_992.0),
            Data::Int((1 << 53) - 1),
            Data::Float(1.5),
            Data::Int(3),
        ])
    );
}

#[test]
fn turns_what_is_not_plain_into_data() {
    let mut stage = Stage::new();
    for (expression, expected) in [
        ("({ a: undefined, b: 1 })", map([("b", Data::Int(1))])),
        ("[undefined, , 1]", list([Data::Null, Data::Null, Data::Int(1)])),
        ("new Date(0)", Data::text("1970-01-01T00:00:00.000Z")),
        ("new Date(NaN)", Data::Null),
        ("new Map([['a', 1], [2, new Map()]])", map([("a", Data::Int(1)), ("2", map([]))])),
        ("new Set([1, 'x'])", list([Data::Int(1), Data::text("x")])),
        ("new Uint8Array([1, 255])", list([Data::Int(1), Data::Int(255)])),
        ("new Uint8Array([7]).buffer", list([Data::Int(7)])),
        ("new BigInt64Array([1n])", list([Data::Int(1)])),
        ("/a/g", Data::text("/a/g")),
        ("new Error('no')", map([("name", Data::text("Error")), ("message", Data::text("no"))])),
        (
            "[new Number(1), new String('x'), new Boolean(false)]",
            list([Data::Int(1), Data::text("x"), Data::Bool(false)]),
        ),
        ("new (class A { b = 1; c() {} })", map([("b", Data::Int(1))])),
        ("Object.create({ inherited: 1 })", map([])),
        ("Object.create(null)", map([])),
        ("'\\ud800x'", Data::text("\u{fffd}x")),
        ("({ '\\ud800': 1 })", map([("\u{fffd}", Data::Int(1))])),
        ("({ get a() { return 5 } })", map([("a", Data::Int(5))])),
        ("Promise.resolve(new Set([3]))", list([Data::Int(3)])),
    ] {
        assert_eq!(stage.value(expression), expected, "{expression}");
    }
}

#[test]
fn refuses_what_cannot_be_data_and_says_where() {
    let mut stage = Stage::new();
    for (body, kind, message) in [
        ("return () => 1", FaultKind::Unusable, "the result is a function"),
        (
            "return { a: [1, { b: Math.max }] }",
            FaultKind::Unusable,
            "the result.a[1].b is a function",
        ),
        ("return class {}", FaultKind::Unusable, "the result is a function"),
        ("return Symbol('x')", FaultKind::Unusable, "the result is a symbol"),
        ("return [Promise.resolve()]", FaultKind::Unusable, "the result[0] is a promise: await it"),
        ("return 2n ** 64n", FaultKind::Unusable, "the result is an integer of more than 64 bits"),
        (
            "return -(2n ** 63n) - 1n",
            FaultKind::Unusable,
            "the result is an integer of more than 64 bits",
        ),
        (
            "const a = {}; a.a = a; return a",
            FaultKind::Output,
            "the result is nested deeper than 64, or contains itself",
        ),
        (
            "const a = []; a[0] = a; a[1] = a; return a",
            FaultKind::Output,
            "the result is nested deeper than 64, or contains itself",
        ),
        (
            "return new Map([['a', new Map([['b', Symbol()]])]])",
            FaultKind::Unusable,
            "the result.a.b is a symbol",
        ),
        (
            "return $step",
            FaultKind::Unusable,
            "the result is $step or $variable as a whole: name what you need",
        ),
        (
            "return 'x'.repeat(2e6)",
            FaultKind::Output,
            "the result is larger than 1048576 bytes, or contains itself",
        ),
        (
            "return Array(1e9)",
            FaultKind::Output,
            "the result is larger than 1048576 bytes, or contains itself",
        ),
    ] {
        let fault = stage.fault(body);
        assert_eq!((fault.kind, fault.message.as_str()), (kind, message), "{body}");
    }
    let deep = "let a = 1; for (let i = 0; i < 64; i++) a = [a]; return a";
    assert!(stage.body(deep).is_ok(), "64 levels are allowed");
    assert_eq!(stage.fault(&deep.replace("64", "65")).kind, FaultKind::Output);
}

#[test]
fn hands_over_only_the_roots_that_are_named() {
    let mut stage = Stage::new();
    stage.run.trigger = map([("value", Data::Int(3)), ("path", Data::text("a/b"))]);
    stage.run.item = map([("list", list([Data::Int(1), Data::Int(2)]))]);
    stage.run.named.insert("scale".to_owned(), map([("value", Data::Int(9))]));
    stage.run.named.insert("limit".to_owned(), Data::Int(10));
    for (expression, expected, asked) in [
        ("$trigger.value + 1", Data::Int(4), vec!["Trigger"]),
        ("Object.keys($trigger).length", Data::Int(2), vec!["Trigger"]),
        ("$item.list.map(x => x * 2)", list([Data::Int(2), Data::Int(4)]), vec!["Item"]),
        ("$run.id", Data::text("7-1"), vec!["Run"]),
        (
            "$step['scale'].value + $variable.limit",
            Data::Int(19),
            vec!["Step(\"scale\")", "Variable(\"limit\")"],
        ),
        ("$step[['sca', 'le'].join('')].value", Data::Int(9), vec!["Step(\"scale\")"]),
        (
            "'limit' in $variable && $variable['lim' + 'it']",
            Data::Int(10),
            vec!["Variable(\"limit\")", "Variable(\"limit\")"],
        ),
        (
            "$step.none?.value ?? $variable.none ?? 'nothing'",
            Data::text("nothing"),
            vec!["Step(\"none\")", "Variable(\"none\")"],
        ),
        ("JSON.stringify($trigger)", Data::text("{\"value\":3,\"path\":\"a/b\"}"), vec!["Trigger"]),
        ("({ ...$trigger, value: 1 }).path", Data::text("a/b"), vec!["Trigger"]),
    ] {
        stage.run.asked.clear();
        assert_eq!(stage.value(expression), expected, "{expression}");
        assert_eq!(stage.run.asked, asked, "{expression}");
    }
}
