//! Bombs: scripts that try to run on. Each has 8 MiB; the first dozen 100 ms, the others 30 ms.
//!
//! Goal: the overshoot of everything that is guarded stays within 20 ms; method: the list that stock
//! QuickJS did not stop in time, and what was found since, each in a runtime of its own. What is
//! measured is CPU time, so a busy machine does not matter.

use std::time::Duration;

use millrace_engine::script::FaultKind;

use crate::stage::Stage;

/// What stock QuickJS ended 28 ms to 25 s late, or not at all.
const STOCK: &[&str] = &[
    "const o = { a: Array(2000).fill({ b: 'text', c: 1.5 }) }; for (;;) JSON.parse(JSON.stringify(o))",
    "const a = Array(50000).fill('ab'); for (;;) a.join()",
    "const a = []; a.length = 1e9; for (;;) try { a.reverse() } catch {}",
    "for (;;) try { Array(1e9).join() } catch {}",
    "for (;;) try { Array.prototype.unshift.call({ length: 1e9 }, 1) } catch {}",
    "for (;;) try { Array.prototype.reverse.call({ length: 2 ** 53 - 1 }) } catch {}",
    "const a = 'a'.repeat(1e6), b = 'a'.repeat(5e5) + 'b'; for (;;) try { a.indexOf(b) } catch {}",
    "const a = 'a'.repeat(1e6), b = 'a'.repeat(5e5) + 'b'; for (;;) try { a.split(b); a.replaceAll(b, ''); a.lastIndexOf(b); a.includes(b) } catch {}",
    "for (;;) try { const a = []; for (;;) a.push({}) } catch {}",
    "const s = 'ab'.repeat(1e5); for (;;) s.replaceAll('a', 'bb')",
];

/// What was found since.
const FOUND: &[&str] = &[
    "const s = 'ab'.repeat(1e5); for (;;) s.replaceAll(/a/g, 'bb')",
    "const s = 'a,'.repeat(1e4); for (;;) s.split(',').map(x => x + 1).join(',')",
    "const s = 'ab'.repeat(5e5); for (;;) s.toUpperCase()",
    "const s = 'é'.repeat(6e4); for (;;) s.normalize('NFD')",
    "const s = 'é'.repeat(6e4); for (;;) s.localeCompare(s + 'x')",
    "const s = 'ab'.repeat(1e6); for (;;) s.slice(1)",
    "for (;;) 'a'.repeat(4e6)",
    "for (;;) ''.padEnd(4e6)",
    "const s = ' '.repeat(2e6) + 'x'; for (;;) s.trim()",
    "const s = 'a'.repeat(9000); for (;;) /b/.exec(s)",
    "const s = 'a'.repeat(9000); for (;;) s.match(/b/g)",
    "const s = 'a'.repeat(9000); for (;;) s.search(/b/)",
    "const s = 'a'.repeat(100000); for (;;) encodeURIComponent(s)",
    "for (;;) new RegExp('a'.repeat(9000))",
    "for (;;) try { new RegExp('a'.repeat(1e6)) } catch {}",
    "for (;;) try { 'x'.match('(a)'.repeat(3000)) } catch {}",
    "const a = Array(90000).fill(1); for (;;) a.sort()",
    "const a = Array(90000).fill(1); for (;;) a.sort((x, y) => y - x)",
    "const s = 'a'.repeat(1e6), x = s + 'x', y = s + 'y', a = Array(1000).fill(0).map((_, i) => i % 2 ? x : y); for (;;) a.sort()",
    "let a = []; for (let i = 0; i < 40; i++) a = [a, a]; for (;;) a.flat(Infinity)",
    "let a = []; for (let i = 0; i < 40; i++) a = [a, a]; for (;;) a.join()",
    "let a = []; for (let i = 0; i < 40; i++) a = [a, a]; for (;;) try { a.toLocaleString() } catch {}",
    "let a = []; for (let i = 0; i < 40; i++) a = [a, a]; for (;;) try { JSON.stringify(a) } catch {}",
    "let a = {}; for (let i = 0; i < 1000; i++) a['k' + i] = undefined; for (let i = 0; i < 30; i++) a = { x: a, y: a }; for (;;) JSON.stringify(a)",
    "let a = {}; for (let i = 0; i < 30; i++) a = { x: a, y: a }; for (;;) try { JSON.stringify(a, ['x', 'y']) } catch {}",
    "for (;;) try { [1].flatMap(() => Array(1e9)) } catch {}",
    "const a = Array(90000).fill(1); for (;;) [].concat(a)",
    "const a = Array(90000).fill(1); for (;;) a.slice().splice(0, 1)",
    "const a = Array(90000).fill(1); for (;;) { a.shift(); a.push(1) }",
    "const a = Array(90000).fill(1); for (;;) a.indexOf(2)",
    "const a = Array(90000).fill(1); for (;;) a.includes(2)",
    "const s = 'a'.repeat(1e6), t = 'a'.repeat(1e6); const a = Array(90000).fill(s + 'x'); for (;;) try { a.indexOf(t + 'y') } catch {}",
    "const a = Array(90000).fill(1); for (;;) a.fill(2)",
    "const a = Array(90000).fill(1); for (;;) a.toReversed()",
    "const a = Array(90000).fill(1); for (;;) a.with(0, 1)",
    "const a = []; a.length = 1e9; for (;;) a.forEach(x => x)",
    "const a = []; a.length = 1e9; for (;;) a.map(x => x)",
    "const a = []; a.length = 1e9; for (;;) a.find(x => false)",
    "const a = []; a.length = 1e9; for (;;) try { a.fill(1) } catch {}",
    "for (;;) try { Array.from({ length: 1e9 }) } catch {}",
    "for (;;) try { new Set(Array(1e9)) } catch {}",
    "for (;;) new Set(Array(1e9).values())",
    "for (;;) try { Object.fromEntries(Array(1e9).entries()) } catch {}",
    "for (;;) try { Promise.all(Array(1e9)) } catch {}",
    "for (;;) try { new Uint8Array(Array(1e9)) } catch {}",
    "for (;;) try { new Uint8Array({ length: 1e6 }) } catch {}",
    "for (;;) new Uint8Array(2e6)",
    "for (;;) new ArrayBuffer(2e6)",
    "const a = new Uint8Array(4e6); for (;;) a.fill(1)",
    "const a = new Uint8Array(4e6); for (;;) a.indexOf(1)",
    "const a = new Float64Array(5e5); for (;;) try { a.sort() } catch {}",
    "const a = new Uint8Array(9e4); for (;;) a.join()",
    "const a = new Uint8Array(2e6); for (;;) a.toHex()",
    "const o = {}; for (let i = 0; i < 20000; i++) o['k' + i] = i; for (;;) Object.keys(o)",
    "const o = {}; for (let i = 0; i < 20000; i++) o['k' + i] = i; for (;;) Object.entries(o)",
    "const o = {}; for (let i = 0; i < 20000; i++) o['k' + i] = i; for (;;) Object.assign({}, o)",
    "const o = {}; for (let i = 0; i < 20000; i++) o['k' + i] = i; for (;;) Object.freeze(o)",
    "const o = {}; for (let i = 0; i < 20000; i++) o['k' + i] = i; for (;;) Reflect.ownKeys(o)",
    "const s = new Set(); for (let i = 0; i < 20000; i++) s.add(i); for (;;) s.union(s)",
    "const s = new Set(); for (let i = 0; i < 20000; i++) s.add(i); for (;;) s.isSubsetOf(s)",
    "const b = 1n << 16000n; for (;;) b.toString()",
    "const b = 1n << 500000n; for (;;) try { b.toString() } catch {}",
    "for (;;) try { BigInt('9'.repeat(100000)) } catch {}",
    "for (;;) try { BigInt.asUintN(1e9, -1n) } catch {}",
    "const s = '9'.repeat(1e6); for (;;) parseInt(s)",
    "const s = '9'.repeat(1e6); for (;;) parseFloat(s)",
    "for (;;) try { String.raw({ raw: { length: 1e9 } }) } catch {}",
    "const s = '[' + '1,'.repeat(2.4e5) + '1]'; for (;;) JSON.parse(s)",
    "const s = '['.repeat(5e5); for (;;) try { JSON.parse(s) } catch {}",
    "const s = 'a'.repeat(5e5); for (;;) try { state.get(s) } catch {}",
    "for (;;) state.get('n')",
    "const a = Array(1000).fill('text'); for (;;) state.set('n', a)",
    "const s = 'a'.repeat(5e5); for (;;) try { $variable[s] } catch {}",
    "const m = new Map(Array(100).entries()), s = 'a'.repeat(5e5); for (;;) m.get(s)",
    "for (;;) try { new AggregateError(Array(1e9).values()) } catch {}",
    // The interpreter itself.
    "for (;;) try { throw 1 } catch {} finally {}",
    "const o = { get a() { return this.a } }; for (;;) try { o.a } catch {}",
    "function* g() { for (;;) yield 1 } for (const x of g());",
    "[3, 2, 1].sort(() => { for (;;); })",
    "/(a+)+b/.test('a'.repeat(40))",
    "/(x+x+)+y/.exec('x'.repeat(40))",
    "'a'.repeat(5000).match(/(a*)*b/)",
    "JSON.stringify({ toJSON() { for (;;); } })",
    "`${{ toString() { for (;;); } }}`",
    "for (const k in { ...Array(5000).fill(1) }) for (;;);",
    "class A { static { for (;;); } }",
    "const p = new Promise(r => r()); const f = () => p.then(f); f(); await new Promise(() => {})",
    "Object.defineProperty(Object.prototype, 'x', { get() { for (;;); } }); ({}).x",
    "Error.prepareStackTrace = () => { for (;;); }; for (;;) new Error().stack",
    "Array.prototype[Symbol.iterator] = function () { for (;;); }; const [a] = [1]",
    "Promise.prototype.then = () => { for (;;); }; await 1; for (;;);",
];

/// Memory bombs: stopped at 8 MiB, or refused where they stand; the script's `catch` is no help.
const MEMORY: &[&str] = &[
    "const a = []; for (;;) a.push(a.length)",
    "const a = []; for (;;) a.push(Symbol())",
    "for (let i = 0;; i++) Symbol.for('s' + i)",
    "const o = {}; for (let i = 0;; i++) o['k' + i] = i",
    "const m = new Map(); for (let i = 0;; i++) m.set(i, {})",
    "const s = new Set(); for (let i = 0;; i++) s.add('s' + i)",
    "const a = []; for (let i = 0;; i++) a.push('ab'.repeat(1e4) + i)",
    "let f = () => 1; for (;;) { const g = f; f = () => g() }",
    "let o = null; for (;;) o = { o }",
    "const a = []; for (;;) a.push(new Uint8Array(1e5))",
    "const a = []; for (;;) a.push(1n << 10000n)",
    "const a = []; for (;;) a.push(/a/g)",
    "const a = []; for (;;) a.push(function* () { yield 1 }())",
    "const a = []; for (;;) a.push(Promise.resolve(a.length))",
    "const f = () => { Promise.resolve().then(f); Promise.resolve().then(f) }; f(); await new Promise(() => {})",
    "class A {} let C = A; for (;;) C = class extends C {}",
    "const a = []; for (;;) try { for (;;) a.push([a.length]) } catch {} finally {}",
];

/// Refused where they stand, because of what they ask for.
const REFUSED: &[&str] = &[
    "'a'.repeat(2 ** 30)",
    "(() => { let s = 'ab'; for (;;) s += s + s.length })()",
    "new Uint8Array(2 ** 31)",
    "new ArrayBuffer(2 ** 40)",
    "new Array(-1)",
    "JSON.parse('['.repeat(1e6))",
    "JSON.parse('[' .repeat(4e5) + ']'.repeat(1e5))",
    "Array(1e9).fill(0)",
    "Array.from({ length: 2 ** 32 })",
    "[].concat(Array(1e9))",
    "'x'.padStart(2 ** 30)",
];

/// Operators, which nothing can guard: they end when QuickJS asks, or the watchdog gives the thread up.
const OPERATORS: &[&str] = &[
    "let s = ''; for (let i = 0;; i++) { s += i; s.charCodeAt(0) }",
    "const f = () => { try { f() } finally { f() } }; f()",
    "const a = 'a'.repeat(20000) + 'b', b = 'a'.repeat(20000) + 'c'; for (;;) a === b",
    "const a = Array(500).fill(1); for (;;) [...a]",
    "const b = 1n << 1000n; for (;;) b * b",
];
/// What they may be late.
const OPERATORS_OVERSHOOT_MAX: Duration = Duration::from_millis(300);

/// Neighbors on the same caches slow everything down: a bomb that is late is tried again so often,
/// since one that nothing stops is late each time.
const TRIES_MAX: usize = 10;
/// Overshoot that is allowed.
const OVERSHOOT_MAX: Duration = Duration::from_millis(20);

#[test]
fn ends_every_bomb_in_time() {
    let mut stage = Stage::new();
    let mut late = Vec::new();
    let stock = STOCK.iter().map(|bomb| (bomb, Duration::from_millis(100)));
    let found = FOUND.iter().map(|bomb| (bomb, Duration::from_millis(30)));
    for (bomb, cpu) in stock.chain(found) {
        stage.budget.cpu = cpu;
        let mut over = overshoot(&mut stage, bomb);
        for _ in 1..TRIES_MAX {
            if over <= OVERSHOOT_MAX {
                break;
            }
            over = over.min(overshoot(&mut stage, bomb));
        }
        if over > OVERSHOOT_MAX {
            late.push(format!("{over:?} over: {bomb}"));
        }
    }
    assert!(late.is_empty(), "{late:#?}");
}

fn overshoot(stage: &mut Stage, bomb: &str) -> Duration {
    let report = stage.report(bomb);
    let kind = report.result.as_ref().err().map(|fault| fault.kind);
    assert!(
        matches!(kind, Some(FaultKind::Cpu | FaultKind::Memory | FaultKind::Stack)),
        "{bomb}: {:?}",
        report.result
    );
    report.cpu.saturating_sub(stage.budget.cpu)
}

#[test]
fn ends_operators_when_the_engine_asks() {
    let mut stage = Stage::new();
    stage.budget.cpu = Duration::from_millis(30);
    for bomb in OPERATORS {
        let report = stage.report(bomb);
        let over = report.cpu.saturating_sub(stage.budget.cpu);
        eprintln!("{over:?} {bomb}");
        assert_eq!(report.result.unwrap_err().kind, FaultKind::Cpu, "{bomb}");
        assert!(over < OPERATORS_OVERSHOOT_MAX, "{over:?} over: {bomb}");
    }
}

#[test]
fn ends_every_memory_bomb_at_its_memory() {
    let mut stage = Stage::new();
    stage.budget.cpu = Duration::from_secs(2);
    // A busy machine takes long over two seconds of CPU time.
    stage.budget.wall = Duration::from_secs(3_600);
    for bomb in MEMORY {
        let report = stage.report(bomb);
        let kind = report.result.as_ref().err().map(|fault| fault.kind);
        // A chain of functions or classes is as much a matter of time.
        assert!(
            matches!(kind, Some(FaultKind::Memory | FaultKind::Cpu | FaultKind::Stack)),
            "{bomb}: {:?}",
            report.result
        );
        assert!(report.memory_bytes <= 8 << 20, "{bomb}: {} bytes", report.memory_bytes);
        assert_eq!(stage.body("return 1"), Ok(millrace_flow::Data::Int(1)), "after {bomb}");
    }
}

#[test]
fn refuses_at_once_what_is_too_much() {
    let mut stage = Stage::new();
    for bomb in REFUSED {
        let report = stage.report(&format!("return {bomb}"));
        assert!(report.result.is_err(), "{bomb}: {:?}", report.result);
        assert!(report.cpu < Duration::from_millis(100), "{bomb}: {:?}", report.cpu);
    }
}

#[test]
fn ten_endless_scripts_take_their_budgets_and_a_good_one_ends_between_them() {
    // Given ten endless scripts and a good one on one worker, each in its own pipeline.
    let mut stage = Stage::new();
    stage.budget.cpu = Duration::from_millis(5);
    use millrace_engine::script::{Form, ScriptHost};
    let unit = |stage: &Stage, pipeline, body| {
        stage.host.compile(&stage.unit(pipeline, &[(Form::Body, body)])).unwrap()
    };
    let endless: Vec<_> = (1..=10).map(|number| unit(&stage, number, "for (;;);")).collect();
    let good = unit(&stage, 11, "globalThis.n = (globalThis.n ?? 0) + 1; return n");
    // When they take turns, then each endless one is stopped at its limit, and the good one keeps
    // its runtime and what it had in it.
    for round in 1..=3 {
        for unit in &endless {
            let report = stage.call(unit);
            assert_eq!(report.result.unwrap_err().kind, FaultKind::Cpu);
        }
        assert_eq!(stage.call(&good).result, Ok(millrace_flow::Data::Int(round)));
    }
    assert_eq!(stage.worker.warm().1, 1, "of the others nothing is left");
}
