//! Kinds of steps that tests steer.
//!
//! **Invariants**: what they saw is noted per thread, so that tests do not see one another.

use super::World;
use crate::compile::{CompileFault, Compiler, Registry};
use crate::step::{Context, Outcome, Step, StepFault};
use crate::steps;
use millrace_flow::Data;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Kinds of steps that tests steer.
struct TestStep {
    form: String,
    name: String,
    /// The world of the thread that compiled it.
    world: Option<Arc<World>>,
}

type Deed = Box<dyn FnOnce()>;

thread_local! {
    /// What steps of kind `test.note` saw, and how often each `test.fail` failed.
    static NOTED: std::cell::RefCell<Vec<(String, Data)>> = const { std::cell::RefCell::new(Vec::new()) };
    static BURNT: std::cell::Cell<Duration> = const { std::cell::Cell::new(Duration::ZERO) };
    static READINGS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
    static DEED: std::cell::RefCell<Option<Deed>> = const { std::cell::RefCell::new(None) };
    pub(super) static WORLD: std::cell::RefCell<Option<Arc<World>>> = const { std::cell::RefCell::new(None) };
}

/// Does what the test has asked for, if anything.
pub(super) fn do_deed() {
    if let Some(deed) = DEED.with_borrow_mut(Option::take) {
        deed();
    }
}

/// The next `test.do` step or `spin` script on this thread does this, once.
pub(crate) fn next_deed(deed: impl FnOnce() + 'static) {
    DEED.set(Some(Box::new(deed)));
}

/// CPU time of the thread: what `test.burn` steps took.
pub(super) fn thread_cpu() -> Duration {
    READINGS.set(READINGS.get() + 1);
    BURNT.get()
}

/// How often the CPU clock was read since it was last asked: each is a system call.
pub(crate) fn cpu_readings() -> u32 {
    READINGS.take()
}

/// What was noted since it was last asked.
pub(crate) fn noted() -> Vec<(String, Data)> {
    NOTED.with_borrow_mut(std::mem::take)
}

fn note(name: &str, data: &Data) {
    NOTED.with_borrow_mut(|noted| noted.push((name.to_owned(), data.clone())));
}

impl Step for TestStep {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        match self.form.as_str() {
            "test.note" => note(&self.name, input),
            "test.fail" => {
                note(&self.name, input);
                return Err(StepFault::lasting("bad_input", "it was told to"));
            }
            "test.flaky" => {
                note(&self.name, input);
                // What it counts is its own; what has failed is not.
                let count = context.state("n").as_i64().unwrap_or(0) + 1;
                context.set_state("n", Data::Int(count))?;
                let before = self
                    .world
                    .as_ref()
                    .map_or(2, |world| world.flaws.fetch_add(1, Ordering::SeqCst));
                if before < 2 {
                    return Err(StepFault::passing("unreachable", "not yet"));
                }
                return Ok(Outcome::Out(0, Data::Int(count)));
            }
            "test.do" => do_deed(),
            "test.panic" => {
                let panics = self.world.as_ref().map_or(0, |world| {
                    let left = world.panics.load(Ordering::SeqCst);
                    world.panics.store(left.saturating_sub(1), Ordering::SeqCst);
                    left
                });
                assert!(panics == 0, "told to panic");
            }
            "test.burn" => {
                note(&self.name, input);
                BURNT.set(BURNT.get() + Duration::from_millis(10));
            }
            "test.list" => {
                return Ok(Outcome::Each(input.as_list().unwrap_or_default().to_vec()));
            }
            "test.gate" => {
                let world = WORLD.with_borrow(Clone::clone).unwrap();
                return Ok(Outcome::Wait(world.gate(self.name.clone())));
            }
            // As a server that gives back what it was sent.
            "test.secret" => {
                let value = context.secret("key").unwrap_or_default();
                return Ok(Outcome::Out(0, Data::text(&format!("Bearer {value}"))));
            }
            "test.throw" => {
                return Err(StepFault::lasting(
                    "bad_input",
                    format!("got {}", input.to_json_text()),
                ));
            }
            _ => {}
        }
        Ok(Outcome::Out(0, input.clone()))
    }
}

fn compile(
    step: &millrace_flow::document::Step,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    if step.kind == "test.flaky" {
        compiler.keep_state();
    }
    if step.kind == "test.secret" {
        compiler.uses_secret("key");
    }
    let world = WORLD.with_borrow(Clone::clone);
    Ok(Arc::new(TestStep { form: step.kind.clone(), name: compiler.id().to_owned(), world }))
}

pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    steps::register(&mut registry);
    for kind in [
        "test.pass",
        "test.note",
        "test.fail",
        "test.flaky",
        "test.list",
        "test.gate",
        "test.burn",
        "test.secret",
        "test.throw",
        "test.do",
        "test.panic",
    ] {
        registry.add(kind, compile);
    }
    registry
}
