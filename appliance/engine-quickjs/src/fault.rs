//! What went wrong in a script, told so that its author finds it.
//!
//! **Invariants**
//! - The meter's verdict decides, not the exception: a limit cannot be disguised or caught.
//! - Reading what was thrown is inside the budget, since it may run the script's code.

use millrace_engine::script::{FaultKind, ScriptFault};
use rquickjs::{Ctx, Error, Value};

use crate::from_js::Tools;
use crate::meter::Meter;
use crate::render;

/// Longest message.
const MESSAGE_BYTES_MAX: usize = 1000;
/// What QuickJS says when the stack is used up.
const STACK_MESSAGE: &str = "Maximum call stack size exceeded";
/// What is said where a script was ended between two of its own instructions. QuickJS asks there
/// when a loop jumps back, and the last place that it knows then is the one before the loop.
const LOOP_BEHIND: &str = ", there or in the loop behind it";
/// What it says when there is no memory.
const MEMORY_MESSAGE: &str = "out of memory";

/// The fault of a call that threw, or that was ended.
pub(crate) fn of_error<'js>(
    ctx: &Ctx<'js>,
    error: Error,
    tools: Option<&Tools>,
    meter: &Meter,
    file: &str,
) -> ScriptFault {
    let thrown = match error {
        Error::Exception => Some(ctx.catch()),
        _ => None,
    };
    // The stack first: it is a plain field of the engine's own errors.
    let stack = thrown.as_ref().and_then(|thrown| text_of(thrown, "stack")).unwrap_or_default();
    let line = place(&stack, file).map(|(line, _)| line);
    if let Some(kind) = meter.verdict() {
        let mut fault = of_verdict(kind, meter, line);
        let is_of_time = matches!(kind, FaultKind::Cpu | FaultKind::Wall | FaultKind::Stopped);
        if is_of_time && stack.lines().next().is_some_and(|frame| frame.contains(file)) {
            fault.message.push_str(LOOP_BEHIND);
        }
        return fault;
    }
    let Some(thrown) = thrown else {
        return ScriptFault { kind: FaultKind::Thrown, message: error.to_string(), line };
    };
    let message = text_of(&thrown, "message").unwrap_or_default();
    if thrown.is_error() && message == STACK_MESSAGE {
        let message = "the script's calls are nested too deeply".to_owned();
        return ScriptFault { kind: FaultKind::Stack, message, line };
    }
    if thrown.is_error() && message == MEMORY_MESSAGE {
        return of_verdict(FaultKind::Memory, meter, line);
    }
    let shown = tools.map(|tools| render::line(ctx, tools, std::iter::once(thrown.clone())));
    let shown = render::cut(shown.unwrap_or(message), MESSAGE_BYTES_MAX);
    // Showing it may have used the rest of the budget.
    if let Some(kind) = meter.verdict() {
        return of_verdict(kind, meter, line);
    }
    let message = if thrown.is_error() { shown } else { format!("threw {shown}") };
    ScriptFault { kind: FaultKind::Thrown, message, line }
}

/// The fault of a call that reached a limit.
pub(crate) fn of_verdict(kind: FaultKind, meter: &Meter, line: Option<u32>) -> ScriptFault {
    let message = match kind {
        FaultKind::Cpu => {
            format!("the script used its CPU time of {} ms", meter.cpu_max().as_millis())
        }
        FaultKind::Wall => {
            format!("the script took longer than {} ms", meter.wall_max().as_millis())
        }
        FaultKind::Memory => {
            format!("the script needed more than its memory of {} bytes", meter.memory_bytes_max())
        }
        FaultKind::Stopped => "the script was interrupted".to_owned(),
        _ => meter.take_note(),
    };
    ScriptFault { kind, message, line }
}

/// A field of a value, if it is a text.
pub(crate) fn text_of(value: &Value<'_>, field: &str) -> Option<String> {
    let field: Result<Value<'_>, Error> = value.as_object()?.get(field);
    let Ok(field) = field else {
        drop(value.ctx().catch());
        return None;
    };
    field.as_string()?.to_string().ok()
}

/// Line and column of the first frame of a stack that lies in this file.
pub(crate) fn place(stack: &str, file: &str) -> Option<(u32, u32)> {
    stack.lines().find_map(|frame| {
        let (_, rest) = frame.split_once(file)?;
        let mut numbers = rest.strip_prefix(':')?.split([':', ')']);
        let line = numbers.next()?.parse().ok()?;
        let column = numbers.next().and_then(|number| number.parse().ok()).unwrap_or(1);
        Some((line, column))
    })
}
