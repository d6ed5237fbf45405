//! What the sandbox may ask the host, and the run that is lent to it during a call.
//!
//! The run (`Scope`) belongs to the engine and is borrowed for one call; the natives, which live as
//! long as their runtime, find it in a thread-local that is set for that time only.
//!
//! **Invariants**
//! - Outside of a call a native reaches nothing.
//! - While a native uses the run, no script runs: arguments are converted before.

use std::cell::RefCell;
use std::rc::Rc;

use millrace_engine::script::{FaultKind, Level, Root, Scope};
use millrace_flow::Data;
use rquickjs::{Array, Ctx, Error, Exception, FromJs, Function, IntoJs, Result, Value};
use scoped_tls_hkt::scoped_thread_local;

use crate::from_js::{ReadFault, Reader, Tools};
use crate::into_js;
use crate::meter::Meter;
use crate::render;

scoped_thread_local!(static mut SCOPE: for<'a> &'a mut (dyn Scope + 'a));

/// How much a guard may spend before it asks again, nanoseconds.
const FUEL: i32 = 20_000;
/// What the sandbox asks for; `guards.js` has the same numbers.
const RANDOM: i32 = 0;
const NOW: i32 = 1;
const ROOT: i32 = 2;
const GET_STATE: i32 = 3;
const SET_STATE: i32 = 4;
const SAY: i32 = 5;
/// `kind` of the lazy objects in `guards.js`.
pub(crate) const LAZY_STEP: i32 = 0;
pub(crate) const LAZY_VARIABLE: i32 = 1;

/// The conversions' tools, once the sandbox stands. Emptied before the runtime goes: the natives
/// hold this, and the tools hold values of the runtime.
pub(crate) type ToolsCell = Rc<RefCell<Option<Tools>>>;

/// Lends the run for the time of `call`.
pub(crate) fn with_scope<R>(scope: &mut dyn Scope, call: impl FnOnce() -> R) -> R {
    SCOPE.set(scope, call)
}

/// Asks the run, if there is one.
pub(crate) fn in_scope<R: Default>(question: impl FnOnce(&mut dyn Scope) -> R) -> R {
    if SCOPE.is_set() { SCOPE.with(|scope| question(scope)) } else { R::default() }
}

/// Asks whether the call is over: what a guard may spend until it asks again, or -1.
pub(crate) fn refill<'js>(ctx: &Ctx<'js>, meter: &Rc<Meter>) -> Result<Function<'js>> {
    let meter = Rc::clone(meter);
    Function::new(ctx.clone(), move || if meter.is_over() { -1 } else { FUEL })
}

/// Everything else, by number: a function for each would cost each runtime its making.
pub(crate) fn ask<'js>(
    ctx: &Ctx<'js>,
    meter: &Rc<Meter>,
    tools: &ToolsCell,
) -> Result<Function<'js>> {
    let (meter, tools) = (Rc::clone(meter), Rc::clone(tools));
    let ask = move |ctx: Ctx<'js>, what: i32, first: Value<'js>, second: Value<'js>| match what {
        RANDOM => meter.random().into_js(&ctx),
        NOW => now().into_js(&ctx),
        ROOT => lazy_root(&ctx, i32::from_js(&ctx, first)?, &String::from_js(&ctx, second)?),
        GET_STATE => get_state(&ctx, &first),
        SET_STATE => set_state(&ctx, &meter, &tools, &first, &second)?.into_js(&ctx),
        SAY => say(&ctx, &meter, &tools, i32::from_js(&ctx, first)?, second)?.into_js(&ctx),
        _ => Err(Error::Unknown),
    };
    Function::new(ctx.clone(), ask)
}

/// The run's time in milliseconds, as `Date.now()` gives it.
fn now() -> f64 {
    let (millis, _) =
        in_scope(|scope| Some(scope.now())).map_or((0, 0), |time| time.split_millis());
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of an i64 of nanoseconds fit")]
    let millis = millis as f64;
    millis
}

fn lazy_root<'js>(ctx: &Ctx<'js>, kind: i32, name: &str) -> Result<Value<'js>> {
    let root = if kind == LAZY_STEP { Root::Step(name) } else { Root::Variable(name) };
    let data = in_scope(|scope| scope.root(root));
    into_js::whole(ctx, &data)
}

fn get_state<'js>(ctx: &Ctx<'js>, name: &Value<'js>) -> Result<Value<'js>> {
    let name = state_name(ctx, name)?;
    let data = in_scope(|scope| scope.state(&name));
    into_js::whole(ctx, &data)
}

fn set_state<'js>(
    ctx: &Ctx<'js>,
    meter: &Meter,
    tools: &ToolsCell,
    name: &Value<'js>,
    value: &Value<'js>,
) -> Result<()> {
    let name = state_name(ctx, name)?;
    let data = with_tools(tools, |tools| {
        match Reader::new(meter, tools, meter.output_bytes_max()).read("the value", value) {
            Ok(data) => Ok(data),
            Err(ReadFault::Thrown(error)) => Err(error),
            // The next question ends the call; nothing is set.
            Err(ReadFault::Over) => Ok(Data::Missing),
            Err(ReadFault::Refused(_, text)) => Err(Exception::throw_type(ctx, &text)),
        }
    })?;
    if meter.is_over() {
        return Ok(());
    }
    in_scope(|scope| scope.set_state(&name, data).err())
        .map_or(Ok(()), |refusal| Err(Exception::throw_range(ctx, &refusal)))
}

fn state_name(ctx: &Ctx<'_>, name: &Value<'_>) -> Result<String> {
    match name.as_string() {
        Some(name) => name.to_string(),
        None => Err(Exception::throw_type(ctx, "the name of a state is a text")),
    }
}

/// A console line. Tells whether the call has to end.
fn say<'js>(
    ctx: &Ctx<'js>,
    meter: &Meter,
    tools: &ToolsCell,
    level: i32,
    given: Value<'js>,
) -> Result<bool> {
    let given = Array::from_value(given)?;
    let line = with_tools(tools, |tools| {
        Ok(render::line(ctx, tools, given.iter().filter_map(Result::ok)))
    })?;
    if meter.is_over() {
        return Ok(true);
    }
    if !meter.take_console(line.len() + 1) {
        meter.note("the script wrote more to the console than it may".to_owned());
        meter.condemn(FaultKind::Output);
        return Ok(true);
    }
    let level = match level {
        0 => Level::Debug,
        2 => Level::Warn,
        3 => Level::Error,
        _ => Level::Info,
    };
    in_scope(|scope| scope.console(level, &line));
    Ok(false)
}

fn with_tools<R>(tools: &ToolsCell, use_them: impl FnOnce(&Tools) -> Result<R>) -> Result<R> {
    match tools.borrow().as_ref() {
        Some(tools) => use_them(tools),
        None => Err(Error::Unknown),
    }
}
