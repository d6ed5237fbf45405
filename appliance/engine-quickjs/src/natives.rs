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
use rquickjs::{Array, Ctx, Error, Exception, Function, Object, Result, Value};
use scoped_tls_hkt::scoped_thread_local;

use crate::from_js::{ReadFault, Reader, Tools};
use crate::into_js;
use crate::meter::Meter;
use crate::render;

scoped_thread_local!(static mut SCOPE: for<'a> &'a mut (dyn Scope + 'a));

/// How much a guard may spend before it asks again, nanoseconds.
const FUEL: i32 = 20_000;
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
pub(crate) fn ask<R: Default>(question: impl FnOnce(&mut dyn Scope) -> R) -> R {
    if SCOPE.is_set() { SCOPE.with(|scope| question(scope)) } else { R::default() }
}

/// The object of natives that `install` of `guards.js` takes.
pub(crate) fn natives<'js>(
    ctx: &Ctx<'js>,
    meter: &Rc<Meter>,
    tools: &ToolsCell,
) -> Result<Object<'js>> {
    let natives = Object::new(ctx.clone())?;
    let of_refill = Rc::clone(meter);
    natives.set(
        "refill",
        Function::new(ctx.clone(), move || if of_refill.is_over() { -1 } else { FUEL })?,
    )?;
    let of_random = Rc::clone(meter);
    natives.set("random", Function::new(ctx.clone(), move || of_random.random())?)?;
    natives.set("now", Function::new(ctx.clone(), now)?)?;
    natives.set("root", Function::new(ctx.clone(), lazy_root)?)?;
    natives.set("getState", Function::new(ctx.clone(), get_state)?)?;
    let (of_set, tools_of_set) = (Rc::clone(meter), Rc::clone(tools));
    natives.set(
        "setState",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, name: Value<'js>, value: Value<'js>| {
            set_state(&ctx, &of_set, &tools_of_set, &name, &value)
        })?,
    )?;
    let (of_say, tools_of_say) = (Rc::clone(meter), Rc::clone(tools));
    natives.set(
        "say",
        Function::new(ctx.clone(), move |ctx: Ctx<'js>, level: i32, given: Array<'js>| {
            say(&ctx, &of_say, &tools_of_say, level, &given)
        })?,
    )?;
    Ok(natives)
}

/// The run's time in milliseconds, as `Date.now()` gives it.
fn now() -> f64 {
    let (millis, _) = ask(|scope| Some(scope.now())).map_or((0, 0), |time| time.split_millis());
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of an i64 of nanoseconds fit")]
    let millis = millis as f64;
    millis
}

fn lazy_root<'js>(ctx: Ctx<'js>, kind: i32, name: String) -> Result<Value<'js>> {
    let root = if kind == LAZY_STEP { Root::Step(&name) } else { Root::Variable(&name) };
    let data = ask(|scope| scope.root(root));
    into_js::whole(&ctx, &data)
}

fn get_state<'js>(ctx: Ctx<'js>, name: Value<'js>) -> Result<Value<'js>> {
    let name = state_name(&ctx, &name)?;
    let data = ask(|scope| scope.state(&name));
    into_js::whole(&ctx, &data)
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
    ask(|scope| scope.set_state(&name, data).err())
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
    given: &Array<'js>,
) -> Result<bool> {
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
    ask(|scope| scope.console(level, &line));
    Ok(false)
}

fn with_tools<R>(tools: &ToolsCell, use_them: impl FnOnce(&Tools) -> Result<R>) -> Result<R> {
    match tools.borrow().as_ref() {
        Some(tools) => use_them(tools),
        None => Err(Error::Unknown),
    }
}
