//! Scripts that are words.
//!
//! **Invariants**: a word that is not known is a mistake of the test.

use super::World;
use super::kinds::do_deed;
use crate::script::{
    Budget, Compiled, FaultKind, Level, Overrun, Report, Root, Scope, ScriptFault, ScriptHost,
    SyntaxFault, Unit, Worker,
};
use millrace_flow::Data;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Scripts that are words: `double`, `kill`, `kill at zero`, `throw`, `count`, `log`, `spin`,
/// `bulk`, and `count, then ...`.
pub(crate) struct NoScripts;

impl ScriptHost for NoScripts {
    fn compile(&self, unit: &Unit) -> Result<Compiled, Vec<SyntaxFault>> {
        let sources: Vec<String> =
            unit.functions.iter().map(|function| function.source.clone()).collect();
        match sources.iter().position(|source| source.contains("syntax")) {
            Some(function) => Err(vec![SyntaxFault {
                function,
                message: "unexpected word".into(),
                line: 1,
                column: 1,
            }]),
            None => Ok(Compiled(Arc::new(sources))),
        }
    }

    fn worker(&self) -> Box<dyn Worker> {
        Box::new(WordWorker { number: 0, world: Arc::default() })
    }
}

/// The same for a plant, which can give workers up.
pub(super) struct WordHost(pub(super) Arc<World>);

impl ScriptHost for WordHost {
    fn compile(&self, unit: &Unit) -> Result<Compiled, Vec<SyntaxFault>> {
        NoScripts.compile(unit)
    }

    fn worker(&self) -> Box<dyn Worker> {
        let number = self.0.workers.fetch_add(1, Ordering::SeqCst) + 1;
        Box::new(WordWorker { number, world: Arc::clone(&self.0) })
    }

    fn overruns(&self) -> Vec<Overrun> {
        let given_up = std::mem::take(&mut *self.0.overruns.lock());
        given_up.into_iter().map(|worker| Overrun { worker, pipeline: 1 }).collect()
    }
}

/// Longest life of a script that computes until it is stopped.
const SPIN_MAX: Duration = Duration::from_secs(60);

struct WordWorker {
    number: u64,
    world: Arc<World>,
}

impl Worker for WordWorker {
    fn call(
        &mut self,
        unit: &Compiled,
        function: usize,
        scope: &mut dyn Scope,
        budget: &Budget,
    ) -> Report {
        let sources = unit.0.downcast_ref::<Vec<String>>().unwrap();
        let fault =
            |kind, message: &str| Err(ScriptFault { kind, message: message.into(), line: Some(3) });
        let mut cpu = Duration::from_micros(10);
        let source = sources[function].trim().trim_start_matches("return ").trim_end_matches(';');
        let count = |scope: &mut dyn Scope| {
            let count = scope.state("n").as_i64().unwrap_or(0) + 1;
            scope.set_state("n", Data::Int(count)).unwrap();
            Data::Int(count)
        };
        let source = match source.strip_prefix("count, then ") {
            Some(rest) => {
                count(scope);
                rest
            }
            None => source,
        };
        let result = match source {
            "double" => {
                let value = scope.root(Root::Trigger).get("value").as_i64().unwrap_or(0);
                Ok(Data::Int(value * 2))
            }
            "count" => Ok(count(scope)),
            "bulk" => Ok(Data::Text("x".repeat(9 << 20).into())),
            "overrun" => {
                if !self.world.given_up.lock().is_empty() {
                    let result = fault(FaultKind::Quarantined, "it is kept from running");
                    return Report { result, cpu, memory_bytes: 0 };
                }
                // The watchdog gives this worker up while it runs; then it comes back all the same.
                self.world.overruns.lock().push(self.number);
                self.world.given_up.lock().push(self.number);
                Ok(Data::Null)
            }
            "log" => {
                scope.console(Level::Info, "hello");
                Ok(Data::Null)
            }
            "kill at zero" if scope.root(Root::Trigger).get("value").as_i64() != Some(0) => {
                Ok(Data::Null)
            }
            "kill" | "kill at zero" => {
                cpu = budget.cpu;
                fault(FaultKind::Cpu, "took more than its CPU time")
            }
            "spin" => {
                self.world.spinning.fetch_add(1, Ordering::SeqCst);
                do_deed();
                let began = Instant::now();
                while !scope.is_stopped() {
                    assert!(began.elapsed() < SPIN_MAX, "nobody stopped it");
                    std::thread::yield_now();
                }
                fault(FaultKind::Stopped, "the script was interrupted")
            }
            "throw" => fault(FaultKind::Thrown, "Error: thrown"),
            source => panic!("no such word: {source}"),
        };
        Report { result, cpu, memory_bytes: 1_000 }
    }

    fn tidy(&mut self, _: Duration) {}

    fn forget(&mut self, _: u32) {}

    fn warm(&self) -> (u64, usize) {
        (0, 0)
    }

    fn number(&self) -> u64 {
        self.number
    }

    fn is_given_up(&self) -> bool {
        self.world.given_up.lock().contains(&self.number)
    }
}
