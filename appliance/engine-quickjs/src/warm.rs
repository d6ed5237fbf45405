//! One warm runtime: that of a pipeline's bodies with what they left in their globals, or the frozen
//! one that all expressions of a worker share.
//!
//! **Invariants**
//! - Everything that runs a script's code lies between `begin` and `end` of the meter.
//! - Values of the runtime are gone before the runtime is.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use millrace_engine::script::{Budget, FaultKind, Form, Report, Root, Scope, ScriptFault};
use millrace_flow::Data;
use rquickjs::context::intrinsic;
use rquickjs::function::Args;
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Error, Function, Object, Persistent, Runtime, Value};

use crate::fault;
use crate::from_js::{ReadFault, Reader, Tools};
use crate::into_js;
use crate::memory::{Counted, Memory};
use crate::meter::{Clocks, Meter};
use crate::natives::{self, LAZY_STEP, LAZY_VARIABLE, ToolsCell};
use crate::prelude::{self, Needs};
use crate::roots::{Roots, Want};
use crate::unit::{COMPILE_BYTES_MAX, CompiledFunction, CompiledUnit};

/// Stack of a script. Threads of workers have four times as much and more.
const STACK_BYTES_MAX: usize = 512 * 1024;
/// Garbage is collected after a call that left so much more than the last collection.
const GARBAGE_BYTES_MAX: u64 = 256 * 1024;

/// What each context has; typed arrays come on demand. Shared memory, weak references and the
/// box's clock are left out.
type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::Promise,
);

/// The functions of a unit that were loaded into a runtime.
pub(crate) struct Loaded {
    serial: u64,
    functions: Box<[Option<Persistent<Function<'static>>>]>,
}

impl Loaded {
    /// None of them yet.
    pub(crate) fn new(unit: &CompiledUnit) -> Self {
        Self { serial: unit.serial, functions: unit.functions.iter().map(|_| None).collect() }
    }

    /// Whether they are of that compilation.
    pub(crate) fn is_of(&self, unit: &CompiledUnit) -> bool {
        self.serial == unit.serial
    }
}

/// A warm runtime. What was loaded into it has to go before it.
pub(crate) struct Warm {
    lazies: Lazies,
    lazy: Persistent<Function<'static>>,
    tools: ToolsCell,
    meter: Rc<Meter>,
    memory: Rc<Memory>,
    /// Bytes in use at which garbage is looked for.
    collect_at_bytes: u64,
    context: Context,
    runtime: Runtime,
}

/// `$step` and `$variable` with computed names.
type Lazies = [Option<Persistent<Object<'static>>>; 2];

/// How a call ended, and whether the runtime can be used again.
pub(crate) struct Ended {
    pub(crate) report: Report,
    pub(crate) is_spoiled: bool,
}

impl Warm {
    /// A runtime for the bodies of one pipeline.
    ///
    /// # Errors
    /// The unit's memory does not even hold the runtime.
    pub(crate) fn of_pipeline(
        unit: &CompiledUnit,
        clocks: &Rc<Clocks>,
        heard: &Arc<AtomicU64>,
    ) -> Result<Self, ScriptFault> {
        let memory = Memory::new(unit.memory_bytes_max);
        Self::build(memory, &unit.needs, false, clocks, heard)
    }

    /// The runtime for the expressions of all pipelines: everything in it is frozen.
    ///
    /// # Errors
    /// No memory.
    pub(crate) fn of_expressions(
        clocks: &Rc<Clocks>,
        heard: &Arc<AtomicU64>,
    ) -> Result<Self, ScriptFault> {
        Self::build(Memory::new(u64::MAX), &Needs::all(), true, clocks, heard)
    }

    fn build(
        memory: Rc<Memory>,
        needs: &Needs,
        is_frozen: bool,
        clocks: &Rc<Clocks>,
        heard: &Arc<AtomicU64>,
    ) -> Result<Self, ScriptFault> {
        Self::try_build(memory, needs, is_frozen, clocks, heard).map_err(|_error| ScriptFault {
            kind: FaultKind::Memory,
            message: "the memory limit does not hold the script's surroundings".to_owned(),
            line: None,
        })
    }

    fn try_build(
        memory: Rc<Memory>,
        needs: &Needs,
        is_frozen: bool,
        clocks: &Rc<Clocks>,
        heard: &Arc<AtomicU64>,
    ) -> rquickjs::Result<Self> {
        let meter = Meter::new(Rc::clone(clocks), Rc::clone(&memory), Arc::clone(heard));
        let runtime = Runtime::new_with_alloc(Counted::new(Rc::clone(&memory)))?;
        runtime.set_max_stack_size(STACK_BYTES_MAX);
        let of_handler = Rc::clone(&meter);
        runtime.set_interrupt_handler(Some(Box::new(move || of_handler.is_over())));
        let context = if needs.uses_bytes {
            Context::custom::<(Intrinsics, intrinsic::TypedArrays)>(&runtime)?
        } else {
            Context::custom::<Intrinsics>(&runtime)?
        };
        let tools = ToolsCell::default();
        let lazy = context.with(|ctx| {
            let refill = natives::refill(&ctx, &meter)?;
            let ask = natives::ask(&ctx, &meter, &tools)?;
            let sandbox = prelude::install(&ctx, needs, refill, ask)?;
            if is_frozen {
                sandbox.freeze_all.call::<_, ()>(())?;
            }
            *tools.borrow_mut() = Some(Tools::new(&ctx, &sandbox)?);
            rquickjs::Result::Ok(Persistent::save(&ctx, sandbox.lazy))
        });
        // The cell must not keep values when this fails: they would outlive their runtime.
        let lazy = lazy.inspect_err(|_error| drop(tools.take()))?;
        let collect_at_bytes = memory.used_bytes() + GARBAGE_BYTES_MAX;
        let lazies = [None, None];
        Ok(Self { lazies, lazy, tools, meter, memory, collect_at_bytes, context, runtime })
    }

    /// Bytes that it holds now.
    pub(crate) fn bytes(&self) -> u64 {
        self.memory.used_bytes()
    }

    /// Calls a function of a unit.
    pub(crate) fn call(
        &mut self,
        unit: &CompiledUnit,
        number: usize,
        loaded: &mut Loaded,
        scope: &mut dyn Scope,
        (now, budget): (Duration, &Budget),
    ) -> Ended {
        let places = unit.functions.get(number).zip(loaded.functions.get_mut(number));
        let Some((function, place)) = places else { return no_function(number) };
        let own_bytes = match function.form {
            Form::Body => 0,
            // The runtime is shared: what is there already is not this call's.
            Form::Expression => self.memory.used_bytes(),
        };
        let bytes_max = own_bytes.saturating_add(unit.memory_bytes_max);
        self.memory.limit(bytes_max);
        let seed = scope.seed().wrapping_add(number as u64);
        self.meter.begin(now, budget, unit.memory_bytes_max, seed);
        let mut is_unsettled = false;
        let mut result = natives::with_scope(scope, || {
            let Self { context, lazies, lazy, tools, meter, memory, .. } = self;
            context.with(|ctx| {
                let tools = tools.borrow();
                let Some(tools) = tools.as_ref() else { return Err(unsettled(function)) };
                let limit = (&**memory, bytes_max);
                let call = Call { ctx: &ctx, tools, meter, function, lazy, limit };
                let given = call.run(place, lazies);
                let ended = call.settle(given, &mut is_unsettled);
                call.read(ended)
            })
        });
        let verdict = self.meter.verdict();
        // A script that swallowed the end of its budget has no result either.
        if let (Some(kind), Ok(_)) = (verdict, &result) {
            result = Err(fault::of_verdict(kind, &self.meter, None));
        }
        let cpu = self.meter.end();
        let memory_bytes = self.memory.peak_bytes().saturating_sub(own_bytes);
        let is_spoiled = verdict.is_some() || is_unsettled;
        if !is_spoiled && self.memory.used_bytes() > self.collect_at_bytes {
            self.collect();
        }
        Ended { report: Report { result, cpu, memory_bytes }, is_spoiled }
    }

    /// Collects garbage that refers to itself, before it counts as memory in use.
    fn collect(&mut self) {
        self.runtime.run_gc();
        // A large heap is walked seldom: after it has grown by half.
        let used_bytes = self.memory.used_bytes();
        self.collect_at_bytes = used_bytes + (used_bytes / 2).max(GARBAGE_BYTES_MAX);
    }
}

fn no_function(number: usize) -> Ended {
    let message = format!("the pipeline has no function {number}");
    let result = Err(ScriptFault { kind: FaultKind::Unusable, message, line: None });
    let report = Report { result, cpu: Duration::ZERO, memory_bytes: 0 };
    Ended { report, is_spoiled: false }
}

impl Drop for Warm {
    fn drop(&mut self) {
        // The natives hold the cell; see `ToolsCell`.
        drop(self.tools.take());
    }
}

/// One call, inside the runtime.
struct Call<'a, 'js> {
    ctx: &'a Ctx<'js>,
    tools: &'a Tools,
    meter: &'a Meter,
    function: &'a CompiledFunction,
    lazy: &'a Persistent<Function<'static>>,
    /// The memory, and how much of it the call may have.
    limit: (&'a Memory, u64),
}

impl<'js> Call<'_, 'js> {
    /// Calls the function, loading it first if need be.
    fn run(
        &self,
        place: &mut Option<Persistent<Function<'static>>>,
        lazies: &mut Lazies,
    ) -> rquickjs::Result<Value<'js>> {
        let function = match place {
            Some(loaded) => loaded.clone().restore(self.ctx)?,
            None => {
                // The compiler must not run out of memory half way: it frees what it has not made.
                let (memory, bytes_max) = self.limit;
                memory.limit(bytes_max.saturating_add(COMPILE_BYTES_MAX));
                let value = self.function.load(self.ctx);
                memory.limit(bytes_max);
                let value = value?;
                let function = Function::from_value(value)?;
                *place = Some(Persistent::save(self.ctx, function.clone()));
                function
            }
        };
        function.call_arg(self.arguments(lazies)?)
    }

    /// The roots that the function names, in the order of its parameters.
    fn arguments(&self, lazies: &mut Lazies) -> rquickjs::Result<Args<'js>> {
        let Roots { trigger, item, run, step, variable, is_async: _ } = &self.function.roots;
        let [step_lazy, variable_lazy] = lazies;
        let count = [trigger, item, run, step, variable].iter().filter(|w| !w.is_nothing()).count();
        let mut args = Args::new(self.ctx.clone(), count);
        for (root, want) in [(Root::Trigger, trigger), (Root::Item, item), (Root::Run, run)] {
            if !want.is_nothing() {
                let data = natives::in_scope(|scope| scope.root(root));
                args.push_arg(into_js::wanted(self.ctx, &data, want)?)?;
            }
        }
        if !step.is_nothing() {
            args.push_arg(self.named(step, LAZY_STEP, step_lazy)?)?;
        }
        if !variable.is_nothing() {
            args.push_arg(self.named(variable, LAZY_VARIABLE, variable_lazy)?)?;
        }
        Ok(args)
    }

    /// `$step` or `$variable`: the named ones as a plain object, or all through an object that asks.
    fn named(
        &self,
        want: &Want,
        kind: i32,
        kept: &mut Option<Persistent<Object<'static>>>,
    ) -> rquickjs::Result<Object<'js>> {
        if let Want::Fields(names) = want {
            let object = Object::new(self.ctx.clone())?;
            for (name, want) in names {
                let data = natives::in_scope(|scope| {
                    scope.root(if kind == LAZY_STEP {
                        Root::Step(name)
                    } else {
                        Root::Variable(name)
                    })
                });
                if !matches!(data, Data::Missing) {
                    let value = into_js::wanted(self.ctx, &data, want)?;
                    into_js::set(&object, name, value)?;
                }
            }
            return Ok(object);
        }
        if let Some(kept) = kept {
            return kept.clone().restore(self.ctx);
        }
        let object: Object<'js> = self.lazy.clone().restore(self.ctx)?.call((kind,))?;
        *kept = Some(Persistent::save(self.ctx, object.clone()));
        Ok(object)
    }

    /// Runs all jobs, and takes what a promise holds.
    fn settle(
        &self,
        given: rquickjs::Result<Value<'js>>,
        is_unsettled: &mut bool,
    ) -> Result<Value<'js>, ScriptFault> {
        while self.ctx.execute_pending_job() && !self.meter.is_over() {}
        let value = given.map_err(|error| self.fault(error))?;
        let Some(promise) = value.as_promise() else { return Ok(value) };
        match promise.state() {
            PromiseState::Pending if self.meter.verdict().is_none() => {
                *is_unsettled = true;
                Err(unsettled(self.function))
            }
            PromiseState::Pending => Err(self.fault(Error::Unknown)),
            PromiseState::Resolved | PromiseState::Rejected => match promise.result::<Value<'js>>()
            {
                Some(Ok(value)) => Ok(value),
                Some(Err(error)) => Err(self.fault(error)),
                None => Err(unsettled(self.function)),
            },
        }
    }

    fn read(&self, ended: Result<Value<'js>, ScriptFault>) -> Result<Data, ScriptFault> {
        let value = ended?;
        let reader = Reader::new(self.meter, self.tools, self.meter.output_bytes_max());
        reader.read("the result", &value).map_err(|fault| match fault {
            ReadFault::Thrown(error) => self.fault(error),
            ReadFault::Over => self.fault(Error::Unknown),
            ReadFault::Refused(kind, message) => ScriptFault { kind, message, line: None },
        })
    }

    fn fault(&self, error: Error) -> ScriptFault {
        fault::of_error(self.ctx, error, Some(self.tools), self.meter, &self.function.file)
    }
}

fn unsettled(function: &CompiledFunction) -> ScriptFault {
    let message = format!("the promise of {} never settled", function.file);
    ScriptFault { kind: FaultKind::Unsettled, message, line: None }
}
