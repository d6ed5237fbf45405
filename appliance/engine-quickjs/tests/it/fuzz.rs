//! Every native with hostile receivers and arguments, in a loop that catches everything.
//!
//! Goal: none crashes, and each ends near its budget. Method: the natives are found by walking all
//! that a script can reach; every combination is a call of its own with 20 ms; a child process runs
//! them, so that a crash or a hang is one failure and not the end of the tests. The default run takes
//! a sample with a fixed seed; `MILLRACE_FUZZ_FULL=1` takes all (an hour).

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use millrace_engine::script::{Form, ScriptHost};
use millrace_flow::Data;
use millrace_supervisor::spawn;

use crate::stage::{Stage, map};

const FULL: &str = "MILLRACE_FUZZ_FULL";
const CHILD: &str = "MILLRACE_FUZZ_CHILD";
/// Combinations of the default run.
const SAMPLE: usize = 150;
const CPU: Duration = Duration::from_millis(20);
/// A native that nothing guards may be this late; the watchdog is there for worse.
const OVERSHOOT_MAX: Duration = Duration::from_millis(250);
/// The child is stuck if it says nothing for so long.
const SILENCE_MAX: Duration = Duration::from_secs(20);

/// Walks everything that can be reached and gives the way to each function.
const WALK: &str = "(() => {
  const seen = new Set(), ways = [], rest = [[globalThis, []]];
  for (let i = 0; i < rest.length; i++) {
    const [x, way] = rest[i];
    if (seen.has(x)) continue;
    seen.add(x);
    if (typeof x === 'function') ways.push(way);
    const visit = (y, step) => {
      if ((typeof y === 'object' && y !== null) || typeof y === 'function') rest.push([y, [...way, step]]);
    };
    visit(Reflect.getPrototypeOf(x), ['proto', 0]);
    Reflect.ownKeys(x).forEach((key, place) => {
      const own = Reflect.getOwnPropertyDescriptor(x, key);
      visit(own.value, ['value', place]);
      visit(own.get, ['get', place]);
      visit(own.set, ['set', place]);
    });
  }
  return ways.map(way => JSON.stringify(way));
})()";

/// Finds a function again and calls it with what `$item` says.
const CALL: &str = "(() => {
  let native = globalThis, name = '';
  for (const [kind, place] of JSON.parse($item.way)) {
    if (kind === 'proto') { native = Reflect.getPrototypeOf(native); name += '.proto'; continue; }
    const key = Reflect.ownKeys(native)[place];
    name += '.' + String(key) + (kind === 'value' ? '' : ':' + kind);
    native = Reflect.getOwnPropertyDescriptor(native, key)[kind];
  }
  if ($item.names) return name;
  const big = () => 'a'.repeat(1e6);
  const holes = () => { const a = []; a.length = 1e9; return a };
  const self = [
    () => undefined, () => ({ length: 1e9 }), () => ({ length: 2 ** 53 - 1, 0: 1 }), holes, big,
    () => new Uint8Array(1e6), () => 1n << 3000n, () => Array(50000).fill('ab'),
    () => new Map(Array(5000).fill(0).map((_, i) => [i, i])), () => ({ get length() { return 1e9 } }),
    () => new Set(Array(5000).fill(0).map((_, i) => i)), () => /(a|a)*b/g, () => new Date(0),
    () => new ArrayBuffer(1e6), () => Promise.resolve(1), () => new DataView(new ArrayBuffer(8)),
  ][$item.self]();
  const given = [
    () => [], () => [1e9], () => [{ length: 1e9 }], () => [big()], () => [() => 1], () => [/(a|a)*b/g, 'b'],
    () => [holes()], () => [-1, 1e9, 7], () => [1n << 3000n], () => [{ length: 2 ** 53 - 1 }, x => x],
    () => ['a'.repeat(5e5) + 'b'], () => [holes().values()], () => [self, self], () => [65536, 1n << 3000n],
    () => [{ size: 1e9, has: () => true, keys: () => holes().values() }], () => [5e5, 'ab'],
  ][$item.given]();
  for (;;) try {
    if ($item.isNew) Reflect.construct(native, given);
    else Reflect.apply(native, self, given);
  } catch {}
})()";

const SELVES: usize = 16;
const GIVENS: usize = 16;

/// A small generator: the sample is the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % count
    }
}

#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let mut stage = Stage::new();
    stage.budget.cpu = Duration::from_millis(500);
    let Data::List(ways) = stage.value(WALK) else { panic!("no list") };
    let ways: Vec<_> = ways.iter().filter_map(Data::as_text).map(str::to_owned).collect();
    println!("natives {}", ways.len());
    assert!(ways.len() > 350, "{}", ways.len());
    let unit = stage.compile(Form::Expression, CALL);
    let mut run = |way: &str, self_number: usize, given: usize, is_new: bool| {
        let item = |names: bool| {
            map([
                ("way", Data::text(way)),
                ("self", Data::from(self_number as u64)),
                ("given", Data::from(given as u64)),
                ("isNew", Data::Bool(is_new)),
                ("names", Data::Bool(names)),
            ])
        };
        stage.run.item = item(true);
        stage.budget.cpu = Duration::from_millis(500);
        let name = stage.call(&unit).result.unwrap();
        let name = name.as_text().unwrap();
        println!("next {name} self {self_number} given {given} new {is_new}");
        stage.run.item = item(false);
        stage.budget.cpu = CPU;
        let report = stage.call(&unit);
        println!("took {}", report.cpu.saturating_sub(CPU).as_millis());
        if stage.worker.is_given_up() {
            // The engine would do the same: another worker, and the pipeline deployed anew.
            stage.worker = stage.host.worker();
            stage.host.release(1);
        }
    };
    if std::env::var_os(FULL).is_some() {
        for way in &ways {
            for self_number in 0..SELVES {
                for given in 0..GIVENS {
                    run(way, self_number, given, false);
                }
            }
            for given in 0..GIVENS {
                run(way, 0, given, true);
            }
        }
    } else {
        let seed =
            std::env::var_os(CHILD).and_then(|text| text.to_str()?.parse().ok()).unwrap_or(7);
        let count =
            std::env::var_os("MILLRACE_FUZZ_COUNT").and_then(|text| text.to_str()?.parse().ok());
        let mut dice = Dice(seed);
        for _ in 0..count.unwrap_or(SAMPLE) {
            let (way, self_number, given) =
                (dice.below(ways.len()), dice.below(SELVES), dice.below(GIVENS));
            run(&ways[way], self_number, given, dice.below(8) == 0);
        }
    }
    println!("done");
}

#[test]
fn no_native_crashes_or_runs_on() {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["fuzz::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "7")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (lines, next) = mpsc::sync_channel(100);
    let output = BufReader::new(child.stdout.take().unwrap());
    spawn::thread("fuzz-lines", move || {
        output.lines().map_while(Result::ok).all(|line| lines.send(line).is_ok())
    })
    .unwrap();
    let (mut last, mut is_done, mut count, mut late) = (String::new(), false, 0, Vec::new());
    while let Ok(line) = next.recv_timeout(SILENCE_MAX) {
        if let Some(what) = line.strip_prefix("next ") {
            last = what.to_owned();
        } else if let Some(millis) = line.strip_prefix("took ") {
            count += 1;
            let over = Duration::from_millis(millis.parse().unwrap());
            if over > OVERSHOOT_MAX {
                late.push(format!("{over:?} over: {last}"));
            }
        }
        is_done |= line == "done";
    }
    drop(child.kill());
    let status = child.wait().unwrap();
    assert!(is_done, "the child ended ({status}) or hung at: {last}");
    assert!(count >= SAMPLE, "{count}");
    assert!(late.is_empty(), "{late:#?}");
}
