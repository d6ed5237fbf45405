//! What scripts cost: calls, activations, memory. CPU time of the thread, the best of 15 rounds.
//!
//! Run with `cargo bench -p millrace-engine-quickjs --bench scripts`.
#![expect(clippy::print_stdout, reason = "a bench prints what it measured")]
#![expect(clippy::expect_used, reason = "a bench that cannot go on says so and ends")]

use millrace_engine::script::{
    Budget, Compiled, Form, Function, Level, Root, Scope, ScriptHost, Unit, Worker,
};
use millrace_engine_quickjs::{QuickJs, Settings};
use millrace_flow::{Data, Map};
use millrace_model::Timestamp;
use std::time::Duration;

const ROUNDS: usize = 15;
const BUDGET: Budget = Budget {
    cpu: Duration::from_millis(100),
    wall: Duration::from_secs(1),
    output_bytes_max: 1 << 20,
    console_bytes_max: 64 << 10,
};
const SCRIPT: &str = "
const limits = { low: 10, high: 90 };
const value = Number($trigger.value);
if (!Number.isFinite(value)) {
  console.warn('no number', $trigger.path);
  return null;
}
const parts = $trigger.path.split('/');
const celsius = (value - 32) / 1.8;
let level = 'normal';
if (celsius < limits.low) level = 'low';
else if (celsius > limits.high) level = 'high';
const seen = (state.get('seen') ?? 0) + 1;
state.set('seen', seen);
const out = {
  line: parts[1],
  value: mill.round(celsius, 2),
  level,
  seen,
};
return out;
";

struct Run {
    trigger: Data,
    seen: Data,
}

impl Scope for Run {
    fn root(&mut self, root: Root<'_>) -> Data {
        match root {
            Root::Trigger | Root::Item => self.trigger.clone(),
            _ => Data::Missing,
        }
    }
    fn state(&mut self, _name: &str) -> Data {
        self.seen.clone()
    }
    fn set_state(&mut self, _name: &str, data: Data) -> Result<(), String> {
        self.seen = data;
        Ok(())
    }
    fn now(&self) -> Timestamp {
        Timestamp(1_796_040_000_000_000_000)
    }
    fn seed(&self) -> u64 {
        1
    }
    fn console(&mut self, _level: Level, _line: &str) {}
}

#[cfg(unix)]
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(windows)]
fn cpu() -> Duration {
    cpu_time::ThreadTime::now().as_duration()
}

fn message(fields: usize) -> Data {
    let mut map = Map::new();
    map.set("path", Data::text("hall/line1/oven/temperature"));
    map.set("value", Data::Float(212.5));
    map.set("time", Data::text("2026-11-30T12:00:00.123456789Z"));
    map.set("quality", Data::Int(0));
    for number in 4..fields {
        map.set(format!("field{number}"), Data::Int(i64::try_from(number).unwrap_or(0)));
    }
    Data::Map(map.into())
}

struct Bench {
    host: QuickJs,
    worker: Box<dyn Worker>,
    run: Run,
    only: Option<String>,
}

impl Bench {
    fn unit(&self, pipeline: u32, form: Form, source: &str) -> Compiled {
        let function = Function {
            step: "step".to_owned(),
            field: "code".to_owned(),
            form,
            source: source.to_owned(),
        };
        let unit = Unit {
            pipeline,
            name: "bench".to_owned(),
            functions: vec![function],
            memory_bytes_max: 8 << 20,
        };
        self.host.compile(&unit).expect("the source compiles")
    }

    fn call(&mut self, unit: &Compiled) {
        let report = self.worker.call(unit, 0, &mut self.run, &BUDGET);
        report.result.expect("the script ends well");
    }

    /// Microseconds of one call.
    fn row(&mut self, name: &str, calls: u32, form: Form, source: &str) {
        if self.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            return;
        }
        let unit = self.unit(1, form, source);
        self.call(&unit);
        let best = best(|| {
            for _ in 0..calls {
                self.call(&unit);
            }
        });
        println!("{name:44} {:8.3} us", best.as_secs_f64() * 1e6 / f64::from(calls));
    }
}

fn best(mut round: impl FnMut()) -> Duration {
    (0..ROUNDS)
        .map(|_| {
            let start = cpu();
            round();
            cpu().saturating_sub(start)
        })
        .min()
        .unwrap_or_default()
}

#[cfg(target_os = "linux")]
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}

#[cfg(not(target_os = "linux"))]
fn resident_bytes() -> u64 {
    0
}

fn main() {
    // Rows whose name contains this alone, for a profiler.
    let only = std::env::args().nth(1).filter(|only| !only.starts_with("--"));
    let host = QuickJs::new(Settings::default(), None).expect("a host starts");
    let worker = host.worker();
    let run = Run { trigger: message(10), seen: Data::Missing };
    let mut bench = Bench { host, worker, run, only };
    if bench.only.is_none() {
        // First: later the allocator has memory left over that hides it.
        idle(&bench);
    }
    calls(&mut bench);
    if bench.only.is_none() {
        runtimes(&mut bench);
        kill(&mut bench);
    }
}

/// What calls cost.
fn calls(bench: &mut Bench) {
    let (expression, body) = (Form::Expression, Form::Body);
    let one = "$trigger.value * 1.8 + 32";
    let pass = "$item.line = 'L1'; return $item";
    let turns =
        "let x = 1; for (let i = 0; i < 1e6; i++) x = x * 1.0000001 + (i & 3) - 1.5; return x";
    bench.row("expression, nothing", 20_000, expression, "1");
    bench.row("expression, one field of ten", 20_000, expression, one);
    bench.row("expression, all ten fields", 10_000, expression, "[$trigger].length");
    bench.row("script, nothing", 20_000, body, "return 1");
    bench.row("script, ten fields in and out", 10_000, body, pass);
    bench.row("script, twenty lines", 10_000, body, SCRIPT);
    bench.row("script, asynchronous", 10_000, body, "return await Promise.resolve(1)");
    bench.row("script, a million turns", 1, body, turns);
    bench.run.trigger = message(207);
    bench.row("expression, one field of 207", 20_000, expression, one);
    bench.row("script, 207 fields in and out", 500, body, pass);
    bench.run.trigger = message(10);
}

/// What making and keeping runtimes costs.
fn runtimes(bench: &mut Bench) {
    for (name, form, source) in [
        ("an expression", Form::Expression, "$trigger.value * 1.8 + 32"),
        ("a script of one line", Form::Body, "return $item"),
        ("a script of twenty lines", Form::Body, SCRIPT),
    ] {
        let units: Vec<_> = (1..=100).map(|pipeline| bench.unit(pipeline, form, source)).collect();
        let activation = best(|| {
            for (unit, pipeline) in units.iter().zip(1..) {
                bench.call(unit);
                bench.worker.forget(pipeline);
            }
        });
        println!("activation and drop of {name:30} {:8.1} us", activation.as_secs_f64() * 1e4);
        let before = bench.worker.warm().0;
        units.iter().for_each(|unit| bench.call(unit));
        println!("warm bytes of {name:30} {:8}", (bench.worker.warm().0 - before) / 100);
        (1..=100).for_each(|pipeline| bench.worker.forget(pipeline));
    }
}

/// What a deployed pipeline costs that does not run.
fn idle(bench: &Bench) {
    let resident = resident_bytes();
    let units: Vec<_> = (1..=3_000).map(|number| bench.unit(number, Form::Body, SCRIPT)).collect();
    let bytes = resident_bytes().saturating_sub(resident) / 3_000;
    println!("deployed and idle, twenty lines: {bytes} bytes");
    drop(units);
}

fn kill(bench: &mut Bench) {
    let bomb = bench.unit(1, Form::Body, "const a = []; for (;;) a.push({})");
    let killed = best(|| {
        let report = bench.worker.call(&bomb, 0, &mut bench.run, &BUDGET);
        assert!(report.result.is_err());
    });
    println!("filling 8 MiB, the kill and the drop         {:8.1} ms", killed.as_secs_f64() * 1e3);
}
