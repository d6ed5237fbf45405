//! What scripts find, and what they do not.

use millrace_engine::script::{FaultKind, Form, Level};
use millrace_flow::Data;

use crate::stage::{Stage, list, map};

#[test]
fn gives_the_time_and_the_dice_of_the_run() {
    let mut stage = Stage::new();
    assert_eq!(
        stage.value("[Date.now(), new Date().getTime(), new Date().toISOString()]"),
        list([
            Data::Int(1_796_040_000_123),
            Data::Int(1_796_040_000_123),
            Data::text("2026-11-30T12:00:00.123Z"),
        ])
    );
    assert_eq!(
        stage.value(
            "[new Date(5).getTime(), Date.UTC(2020, 0), Date.parse('2020-01-01T00:00:00Z'), \
             new Date() instanceof Date, typeof Date(), new Date(2020, 1, 1).getFullYear(), \
             new Date(1).constructor === Date]"
        ),
        list([
            Data::Int(5),
            Data::Int(1_577_836_800_000),
            Data::Int(1_577_836_800_000),
            Data::Bool(true),
            Data::text("string"),
            Data::Int(2020),
            Data::Bool(true),
        ])
    );
    let dice = "[Math.random(), Math.random()]";
    let first = stage.value(dice);
    assert_eq!(stage.value(dice), first, "the same run throws the same dice");
    assert!(matches!(&first, Data::List(both) if both[0] != both[1]));
}

#[test]
fn has_no_way_out() {
    let mut stage = Stage::new();
    for name in [
        "require",
        "process",
        "fetch",
        "setTimeout",
        "XMLHttpRequest",
        "std",
        "os",
        "Deno",
        "eval",
        "Proxy",
        "SharedArrayBuffer",
        "Atomics",
        "WeakRef",
        "FinalizationRegistry",
        "performance",
        "Iterator",
        "importScripts",
        "window",
        "__millrace",
    ] {
        assert_eq!(stage.value(&format!("typeof {name}")), Data::text("undefined"), "{name}");
        let body = format!("return typeof {name}");
        assert_eq!(stage.body(&body), Ok(Data::text("undefined")), "{name}");
    }
    for body in [
        "return Function('return 1')()",
        "return new Function('return 1')()",
        "return (() => {}).constructor('return 1')()",
        "return (async () => {}).constructor('return 1')()",
        "return (function* () {}).constructor('return 1')().next().value",
        "return (async function* () {}).constructor('return 1')()",
        "return Date.constructor('return 1')()",
    ] {
        let fault = stage.fault(body);
        assert!(fault.message.contains("code from text is not possible here"), "{body}: {fault:?}");
    }
    assert_eq!(stage.fault("return import('std')").kind, FaultKind::Thrown);
    assert_eq!(stage.fault("return (0, globalThis['ev' + 'al'])('1')").kind, FaultKind::Thrown);
    assert_eq!(stage.value("(() => {}) instanceof Function"), Data::Bool(true));
    assert_eq!(stage.value("typeof this"), Data::text("undefined"));
}

#[test]
fn keeps_globals_warm_but_its_own_names_fixed() {
    let mut stage = Stage::new();
    let unit = stage.compile(Form::Body, "globalThis.n = (globalThis.n ?? 0) + 1; return n");
    assert_eq!(stage.call(&unit).result, Ok(Data::Int(1)));
    assert_eq!(stage.call(&unit).result, Ok(Data::Int(2)));
    for body in
        ["console = 1", "state.get = 1", "mill.clamp = 1", "globalThis.state = 1", "undeclared = 1"]
    {
        assert_eq!(stage.fault(body).kind, FaultKind::Thrown, "{body}");
    }
    let other = stage.compile(Form::Expression, "typeof n");
    assert_eq!(
        stage.call(&other).result,
        Ok(Data::text("undefined")),
        "a new compilation starts anew"
    );
}

#[test]
fn keeps_lasting_state() {
    let mut stage = Stage::new();
    let count = "const n = (state.get('n') ?? 0) + 1; state.set('n', n); return n";
    assert_eq!(stage.body(count), Ok(Data::Int(1)));
    assert_eq!(stage.body(count), Ok(Data::Int(2)));
    stage.body("state.set('big', { a: [2n ** 63n] }); state.set('n', undefined)").unwrap();
    assert_eq!(stage.run.state["big"], map([("a", list([Data::UInt(1 << 63)]))]));
    assert_eq!(stage.run.state["n"], Data::Missing);
    stage.run.state_limit = Some("the state of a step holds 64 KiB".to_owned());
    let fault = stage.fault("\nstate.set('n', 1)");
    assert_eq!(fault.message, "RangeError: the state of a step holds 64 KiB");
    assert_eq!(
        stage.fault("state.set('n', () => 1)").message,
        "TypeError: the value is a function"
    );
    assert_eq!(stage.fault("state.get(1)").kind, FaultKind::Thrown);
}

#[test]
fn writes_readable_lines_to_the_console() {
    let mut stage = Stage::new();
    stage
        .body(
            "console.log('value', 1.5, { a: [1, 'x', null], b: undefined, c: new Map([['k', 1n]]) });
             console.debug(new Date(0), /x/, Symbol('s'), () => 1, function named() {});
             console.warn(new TypeError('bad'), [[[[[1]]]]], 'a\\nb', { t: 'a\\nb' });
             console.error(); console.info({ get a() { throw 1 } }, 'after');
             const loop = {}; loop.loop = loop; console.log(loop)",
        )
        .unwrap();
    let lines: Vec<_> =
        stage.run.lines.iter().map(|(level, line)| (*level, line.as_str())).collect();
    assert_eq!(
        lines,
        [
            (Level::Info, "value 1.5 {a: [1, \"x\", null], b: undefined, c: {k: 1n}}"),
            (
                Level::Debug,
                "\"1970-01-01T00:00:00.000Z\" \"/x/\" <symbol> <function > <function named>"
            ),
            (Level::Warn, "TypeError: bad [[[[[…]]]]] a\nb {t: \"a\\nb\"}"),
            (Level::Error, ""),
            (Level::Info, "{a: <unreadable> after"),
            (Level::Info, "{loop: {loop: {loop: {loop: {…}}}}}"),
        ]
    );
    stage.run.lines.clear();
    stage.body("console.log('x'.repeat(100000))").unwrap();
    assert!(stage.run.lines[0].1.len() < 5000, "a line has a length");
}

#[test]
fn says_that_a_native_is_missing_only_for_its_name() {
    let mut stage = Stage::new();
    let fault = stage.fault("const name = 'rev' + 'erse'; return [1][name]()");
    assert!(fault.message.contains("only if its name stands in the text"), "{fault:?}");
    let body = "// reverse\nreturn [1, 2]['rev' + 'erse']()";
    assert_eq!(stage.body(body), Ok(list([Data::Int(2), Data::Int(1)])));
}

#[test]
fn guarded_natives_do_what_the_real_ones_do() {
    let mut stage = Stage::new();
    let checks = include_str!("same.js");
    for check in checks.lines().filter(|line| !line.is_empty() && !line.starts_with("//")) {
        assert_eq!(stage.value(check), Data::Bool(true), "{check}");
        assert_eq!(stage.body(&format!("return ({check})")), Ok(Data::Bool(true)), "{check}");
    }
}
