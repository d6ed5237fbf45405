//! A stage for scripts: a host, a worker, and a run that keeps what scripts do to it.

use std::cell::Cell;
use std::collections::HashMap;
use std::time::Duration;

use millrace_engine::script::{
    Budget, Compiled, Form, Function, Level, Report, Root, Scope, ScriptFault, ScriptHost, Unit,
    Worker,
};
use millrace_engine_quickjs::{QuickJs, Settings};
use millrace_flow::{Data, Map};
use millrace_model::Timestamp;

/// 2026-11-30T12:00:00.123456789Z.
pub(crate) const NOW: Timestamp = Timestamp(1_796_040_000_123_456_789);
pub(crate) const BUDGET: Budget = Budget {
    cpu: Duration::from_millis(100),
    wall: Duration::from_secs(10),
    output_bytes_max: 1024 * 1024,
    console_bytes_max: 64 * 1024,
};
pub(crate) const MEMORY_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The run.
#[derive(Default)]
pub(crate) struct Run {
    pub(crate) trigger: Data,
    pub(crate) item: Data,
    pub(crate) named: HashMap<String, Data>,
    pub(crate) state: HashMap<String, Data>,
    pub(crate) lines: Vec<(Level, String)>,
    pub(crate) asked: Vec<String>,
    pub(crate) state_limit: Option<String>,
    /// After so many questions whether it is stopped, it is; never if there is no number.
    pub(crate) stops_after: Option<u32>,
    pub(crate) stop_asked: Cell<u32>,
}

impl Scope for Run {
    fn root(&mut self, root: Root<'_>) -> Data {
        self.asked.push(format!("{root:?}"));
        match root {
            Root::Trigger => self.trigger.clone(),
            Root::Item => self.item.clone(),
            Root::Run => map([("id", Data::text("7-1")), ("attempt", Data::Int(1))]),
            Root::Step(name) | Root::Variable(name) => {
                self.named.get(name).cloned().unwrap_or_default()
            }
        }
    }

    fn state(&mut self, name: &str) -> Data {
        self.state.get(name).cloned().unwrap_or_default()
    }

    fn set_state(&mut self, name: &str, data: Data) -> Result<(), String> {
        match &self.state_limit {
            Some(limit) => Err(limit.clone()),
            None => {
                self.state.insert(name.to_owned(), data);
                Ok(())
            }
        }
    }

    fn now(&self) -> Timestamp {
        NOW
    }

    fn seed(&self) -> u64 {
        42
    }

    fn is_stopped(&self) -> bool {
        self.stop_asked.set(self.stop_asked.get() + 1);
        self.stops_after.is_some_and(|after| self.stop_asked.get() > after)
    }

    fn console(&mut self, level: Level, line: &str) {
        self.lines.push((level, line.to_owned()));
    }
}

/// A map of these fields.
pub(crate) fn map<const N: usize>(fields: [(&str, Data); N]) -> Data {
    let map: Map = fields.into_iter().collect();
    Data::Map(map.into())
}

/// A list of these entries.
pub(crate) fn list<const N: usize>(entries: [Data; N]) -> Data {
    Data::List(entries.into())
}

/// A host with one worker.
pub(crate) struct Stage {
    pub(crate) host: QuickJs,
    pub(crate) worker: Box<dyn Worker>,
    pub(crate) run: Run,
    pub(crate) budget: Budget,
    pub(crate) memory_bytes_max: u64,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let host = QuickJs::new(Settings::default(), None).expect("a host starts");
        let worker = host.worker();
        Self {
            host,
            worker,
            run: Run::default(),
            budget: BUDGET,
            memory_bytes_max: MEMORY_BYTES_MAX,
        }
    }

    pub(crate) fn unit(&self, pipeline: u32, functions: &[(Form, &str)]) -> Unit {
        let functions = functions.iter().map(|(form, source)| Function {
            step: "calc".to_owned(),
            field: "code".to_owned(),
            form: *form,
            source: (*source).to_owned(),
        });
        Unit {
            pipeline,
            name: "mill/line 1".to_owned(),
            functions: functions.collect(),
            memory_bytes_max: self.memory_bytes_max,
        }
    }

    pub(crate) fn compile(&self, form: Form, source: &str) -> Compiled {
        match self.host.compile(&self.unit(1, &[(form, source)])) {
            Ok(unit) => unit,
            Err(faults) => panic!("{source}: {faults:?}"),
        }
    }

    pub(crate) fn call(&mut self, unit: &Compiled) -> Report {
        self.worker.call(unit, 0, &mut self.run, &self.budget)
    }

    /// Runs a body once.
    pub(crate) fn report(&mut self, body: &str) -> Report {
        let unit = self.compile(Form::Body, body);
        self.call(&unit)
    }

    /// What a body gives.
    pub(crate) fn body(&mut self, body: &str) -> Result<Data, ScriptFault> {
        self.report(body).result
    }

    /// What an expression gives; it must give something.
    pub(crate) fn value(&mut self, expression: &str) -> Data {
        let unit = self.compile(Form::Expression, expression);
        match self.call(&unit).result {
            Ok(data) => data,
            Err(fault) => panic!("{expression}: {fault:?}"),
        }
    }

    /// The fault of a body that must have one.
    pub(crate) fn fault(&mut self, body: &str) -> ScriptFault {
        match self.body(body) {
            Ok(data) => panic!("{body}: gave {data:?}"),
            Err(fault) => fault,
        }
    }
}
