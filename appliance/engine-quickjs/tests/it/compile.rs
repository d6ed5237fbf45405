//! Faults at deployment lie where the engineer wrote them.

use millrace_engine::script::{FaultKind, Form, ScriptHost};
use millrace_flow::Data;

use crate::stage::Stage;

#[test]
fn tells_line_and_column_in_the_source() {
    let stage = Stage::new();
    for (form, source, line, column, message) in [
        (Form::Expression, "1 +* 2", 1, 4, "unexpected token"),
        (Form::Expression, "$trigger.value +", 1, 17, "ends too early"),
        (Form::Expression, "a b", 1, 3, "Unexpected identifier 'b'"),
        (Form::Expression, "  ", 1, 1, "empty"),
        (Form::Expression, "x = await y", 1, 5, ""),
        (Form::Body, "const a = 1;\nconst b = ;\nreturn a", 2, 11, "unexpected token"),
        (Form::Body, "\n\nif (a {\n}", 3, 7, "Unexpected token '{'"),
        (Form::Body, "if (a) {\n", 2, 1, "ends too early"),
        (Form::Body, "const $item = 1; let x = 1; let x = 2", 1, 1, ""),
        (Form::Body, "return /a(/", 1, 1, ""),
        (Form::Body, "'a\nb'", 1, 1, ""),
    ] {
        let faults = stage.host.compile(&stage.unit(1, &[(form, source)])).map(|_| ()).unwrap_err();
        assert_eq!(faults.len(), 1, "{source}: {faults:?}");
        let fault = &faults[0];
        assert!(fault.message.contains(message), "{source}: {fault:?}");
        eprintln!("{source:?}: {fault:?}");
        if !message.is_empty() {
            assert_eq!((fault.line, fault.column), (line, column), "{source}: {fault:?}");
        }
    }
}

#[test]
fn compiling_runs_nothing_and_refuses_what_leaves_its_function() {
    let stage = Stage::new();
    // Each would run for ever, or define something for all, if any of it ran.
    for (form, source) in [
        (Form::Body, "} for (;;); {"),
        (Form::Body, "}); for (;;); (function () {"),
        (Form::Body, "} function body() {"),
        (Form::Body, "} { for (;;); } async function body() {"),
        (Form::Body, "} class A { static { for (;;); } } function f() {"),
        (Form::Body, "} let mine = 1; {"),
        (Form::Body, "} var body = { toString() { for (;;); } }; {"),
        (Form::Body, "} Function.prototype.toString = () => { for (;;); }; {"),
        (Form::Body, "}, (() => { for (;;); })(), function () {"),
        (Form::Body, "// }\n} for (;;); {"),
        (Form::Body, "await 1 } for (;;); {"),
        (Form::Expression, "1)} for (;;); {(1"),
        (Form::Expression, "1)}); for (;;); (function () { return (1"),
        (Form::Expression, "1)} let mine = 1; function f() { return (1"),
        (Form::Expression, "1); for (;;); (2"),
        (Form::Expression, "1) + (2"),
        (Form::Expression, "1], [2"),
        (Form::Expression, "1]; for (;;); [2"),
        (Form::Expression, "1)} function body() { return(1"),
    ] {
        let faults = stage.host.compile(&stage.unit(1, &[(form, source)])).map(|_| ()).unwrap_err();
        assert_eq!(faults.len(), 1, "{source}: {faults:?}");
        assert_eq!(faults[0].line, faults[0].line.min(2), "{source}: {faults:?}");
    }
    // What only looks like it is taken.
    for (form, source) in [
        (Form::Body, "// }"),
        (Form::Body, "/* } */ return '}' + `}` + /}/.source // }"),
        (Form::Body, "function body() {} function body() {} return 1"),
        (Form::Body, "var a = 1; function a() {} return a"),
        (Form::Body, "'use strict'; return 1"),
        (Form::Body, "a: { break a }"),
        (Form::Body, "return '<!-- } -->'"),
        (Form::Body, "return 'ä\u{1f600}' // \u{2028}"),
        (Form::Expression, "(1), [2], ')]'"),
        (Form::Expression, "1 // )]"),
        (Form::Expression, "{ a: [1, (2)] }"),
        (Form::Expression, "`${$trigger.value})`"),
    ] {
        stage.compile(form, source);
    }
}

#[test]
fn tells_all_functions_that_do_not_compile() {
    let stage = Stage::new();
    let unit = stage.unit(
        1,
        &[(Form::Expression, "1"), (Form::Expression, "("), (Form::Body, "}"), (Form::Body, "")],
    );
    let faults = stage.host.compile(&unit).map(|_| ()).unwrap_err();
    assert_eq!(faults.iter().map(|fault| fault.function).collect::<Vec<_>>(), [1, 2], "{faults:?}");
}

#[test]
fn tells_the_line_of_what_was_thrown() {
    let mut stage = Stage::new();
    let fault = stage.fault("const a = 1;\n\nreturn a.b.c");
    assert_eq!((fault.kind, fault.line), (FaultKind::Thrown, Some(3)), "{fault:?}");
    assert_eq!(fault.message, "TypeError: cannot read property 'c' of undefined");
    let fault = stage.fault("for (;;) {}");
    assert_eq!((fault.kind, fault.line), (FaultKind::Cpu, Some(1)), "{fault:?}");
    let fault = stage.fault("const f = () => {\n  throw new RangeError('no')\n}\nawait f()");
    assert_eq!((fault.kind, fault.line), (FaultKind::Thrown, Some(2)), "{fault:?}");
    assert_eq!(fault.message, "RangeError: no");
    let fault = stage.fault("1;\n return [1, 2].map(x => x.a.b)");
    assert_eq!(fault.line, Some(2), "{fault:?}");
}

#[test]
fn makes_things_that_are_thrown_readable() {
    let mut stage = Stage::new();
    for (body, message) in [
        ("throw 'no value'", "threw no value"),
        ("throw { code: 7, why: ['a', null] }", "threw {code: 7, why: [\"a\", null]}"),
        ("throw null", "threw null"),
        ("throw undefined", "threw undefined"),
        ("throw 12n", "threw 12n"),
        ("throw () => 1", "threw <function >"),
        ("throw new Error()", "Error: "),
        ("throw { get a() { throw 1 } }", "threw {a: <unreadable>"),
        ("class Mine extends Error {}; throw new Mine('x')", "Error: x"),
    ] {
        let fault = stage.fault(body);
        assert_eq!((fault.kind, fault.message.as_str()), (FaultKind::Thrown, message), "{body}");
    }
}

#[test]
fn takes_the_forms_that_people_write() {
    let mut stage = Stage::new();
    assert_eq!(stage.value("1 + 1 // the answer"), Data::Int(2));
    assert_eq!(stage.value("{ a: 1 }.a"), Data::Int(1));
    assert_eq!(stage.body("// nothing"), Ok(Data::Missing));
    assert_eq!(stage.body("return await Promise.resolve(3)"), Ok(Data::Int(3)));
    assert_eq!(stage.body("return Promise.resolve(4)"), Ok(Data::Int(4)));
}
