//! The scripts of one pipeline, checked and ready to be loaded.
//!
//! What is kept is text: each function's source, wrapped so that its first line stays the first, and
//! what the scan found in it. A runtime compiles a function when it is first called (about 35 us for
//! twenty lines); bytecode would save 30 us of that, once per activation, and take unsafe code and
//! trust. Each function is compiled on its own, so that no source can reach into another.
//!
//! Checking a source runs nothing of it. Before the function stands a `throw` of the function's own
//! text: a declaration is there before the first line runs, so the text is thrown whatever follows.
//! A source that closes its function and goes on (`} anything(); {`) gives another text than the one
//! that was handed in, and is refused: nothing shorter or longer can be the text of one function. An
//! expression stands once in `(..)` and once in `[..]`: what closes the one cannot close the other.
//!
//! **Invariants**
//! - Compiling runs nothing of a source, and what it lets through is one function each.
//! - A unit that was compiled here compiles in every runtime.
//! - Lines and columns are those of the engineer's own source.

use std::sync::atomic::{AtomicU64, Ordering};

use millrace_engine::script::{Form, Function, SyntaxFault, Unit};
use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::{Context, Ctx, FromJs, Runtime, Value};

use crate::fault;
use crate::prelude::Needs;
use crate::roots::Roots;

/// Longest source of one function.
const SOURCE_BYTES_MAX: usize = 1024 * 1024;
/// Memory of the compiler.
pub(crate) const COMPILE_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// What stands before a function that is checked.
const CHECK: &str = "throw body.toString();";
/// What is said of a source that goes on after its own end.
const NOT_ONE: &str =
    "this is not one function or expression: it closes a bracket that it did not open";

/// A compiled unit.
#[derive(Debug)]
pub(crate) struct CompiledUnit {
    /// Tells this compilation from every other.
    pub(crate) serial: u64,
    pub(crate) pipeline: u32,
    pub(crate) memory_bytes_max: u64,
    pub(crate) functions: Box<[CompiledFunction]>,
    /// What the runtime of its bodies needs.
    pub(crate) needs: Needs,
}

/// One function of it.
#[derive(Debug)]
pub(crate) struct CompiledFunction {
    /// `step.field`: the name of the file in stack traces.
    pub(crate) file: Box<str>,
    pub(crate) form: Form,
    pub(crate) roots: Roots,
    /// The wrapped source.
    text: Box<str>,
}

/// Compiles all functions of a unit.
///
/// # Errors
/// Every function that does not compile.
pub(crate) fn compile(unit: &Unit) -> Result<CompiledUnit, Vec<SyntaxFault>> {
    static SERIAL: AtomicU64 = AtomicU64::new(1);
    let functions: Vec<_> = unit.functions.iter().map(CompiledFunction::new).collect();
    let faults = check(unit, &functions);
    if !faults.is_empty() {
        return Err(faults);
    }
    let bodies = unit.functions.iter().filter(|function| function.form == Form::Body);
    let needs = Needs::of(bodies.map(|function| function.source.as_str()));
    Ok(CompiledUnit {
        serial: SERIAL.fetch_add(1, Ordering::Relaxed),
        pipeline: unit.pipeline,
        memory_bytes_max: unit.memory_bytes_max,
        functions: functions.into(),
        needs,
    })
}

impl CompiledFunction {
    fn new(function: &Function) -> Self {
        let roots = Roots::of(&function.source);
        let text = format!("({})", whole("", function, &roots, Brackets::Round));
        let name = |text: &str| -> String {
            let known = |c: char| if c.is_alphanumeric() || "._-/".contains(c) { c } else { '_' };
            text.chars().take(100).map(known).collect()
        };
        let file = format!("{}.{}", name(&function.step), name(&function.field));
        Self { file: file.into(), form: function.form, roots, text: text.into() }
    }

    /// Makes the function in a runtime.
    ///
    /// # Errors
    /// The source's fault, which the check of the unit rules out, or a limit.
    pub(crate) fn load<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>> {
        self.eval(ctx, &self.text)
    }

    fn eval<'js, V: FromJs<'js>>(&self, ctx: &Ctx<'js>, text: &str) -> rquickjs::Result<V> {
        let mut options = EvalOptions::default();
        options.strict = true;
        options.filename = Some(self.file.to_string());
        ctx.eval_with_options(text.as_bytes(), options)
    }
}

/// What an expression stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    Round,
    Square,
}

/// What stands before a source, on its first line. The parameters are the roots that are used, in
/// the order in which a call hands them over.
fn head(name: &str, form: Form, roots: &Roots, brackets: Brackets) -> String {
    let named = [
        ("$trigger", &roots.trigger),
        ("$item", &roots.item),
        ("$run", &roots.run),
        ("$step", &roots.step),
        ("$variable", &roots.variable),
    ];
    let names: Vec<_> =
        named.iter().filter(|(_, want)| !want.is_nothing()).map(|(name, _)| *name).collect();
    let names = names.join(",");
    match (form, brackets) {
        (Form::Expression, Brackets::Round) => format!("function {name}({names}){{return("),
        (Form::Expression, Brackets::Square) => format!("function {name}({names}){{return["),
        (Form::Body, _) if roots.is_async => format!("async function {name}({names}){{"),
        (Form::Body, _) => format!("function {name}({names}){{"),
    }
}

fn tail(form: Form, brackets: Brackets) -> &'static str {
    match (form, brackets) {
        (Form::Expression, Brackets::Round) => ")}",
        (Form::Expression, Brackets::Square) => "]}",
        (Form::Body, _) => "}",
    }
}

/// The text of the function. A line of its own for its end: a source may end in a comment.
fn whole(name: &str, function: &Function, roots: &Roots, brackets: Brackets) -> String {
    let head = head(name, function.form, roots, brackets);
    format!("{head}{}\n{}", function.source, tail(function.form, brackets))
}

/// Compiles all functions in a runtime of their own and gives the faults.
fn check(unit: &Unit, functions: &[CompiledFunction]) -> Vec<SyntaxFault> {
    let fault = |function, message: &str| {
        vec![SyntaxFault { function, message: message.to_owned(), line: 1, column: 1 }]
    };
    let Ok((_runtime, context)) = compiler() else {
        return fault(0, "no memory for compiling");
    };
    let mut faults = Vec::new();
    for (number, (function, compiled)) in unit.functions.iter().zip(functions).enumerate() {
        if function.source.len() > SOURCE_BYTES_MAX {
            let text = format!("the source is longer than {SOURCE_BYTES_MAX} bytes");
            faults.extend(fault(number, &text));
        } else if function.source.contains('\0') {
            faults.extend(fault(number, "the source contains a character of code 0"));
        } else if is_blank(function) {
            faults.extend(fault(number, "the expression is empty"));
        } else {
            faults.extend(context.with(|ctx| check_one(&ctx, number, function, compiled)));
        }
    }
    faults
}

fn is_blank(function: &Function) -> bool {
    function.form == Form::Expression && function.source.trim().is_empty()
}

/// A runtime that can compile and nothing else.
fn compiler() -> rquickjs::Result<(Runtime, Context)> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(usize::try_from(COMPILE_BYTES_MAX).unwrap_or(usize::MAX));
    let context = Context::builder()
        .with::<intrinsic::Eval>()
        .with::<intrinsic::RegExpCompiler>()
        .with::<intrinsic::RegExp>()
        .with::<intrinsic::Promise>()
        .build(&runtime)?;
    Ok((runtime, context))
}

/// Compiles one function, without running any of it.
fn check_one(
    ctx: &Ctx<'_>,
    number: usize,
    function: &Function,
    compiled: &CompiledFunction,
) -> Option<SyntaxFault> {
    check_in(ctx, number, function, compiled, Brackets::Round).or_else(|| {
        let is_expression = function.form == Form::Expression;
        is_expression.then(|| check_in(ctx, number, function, compiled, Brackets::Square)).flatten()
    })
}

fn check_in(
    ctx: &Ctx<'_>,
    number: usize,
    function: &Function,
    compiled: &CompiledFunction,
    brackets: Brackets,
) -> Option<SyntaxFault> {
    let expected = whole("body", function, &compiled.roots, brackets);
    let text = format!("{CHECK}{expected}");
    let error = match compiled.eval::<Value<'_>>(ctx, &text) {
        // It always throws; without an error there is nothing to be told of.
        Ok(_) => None,
        Err(_) => Some(ctx.catch()),
    };
    let thrown = error.as_ref().and_then(|thrown| thrown.as_string()?.to_string().ok());
    if thrown.is_some_and(|text| text == expected) {
        return None;
    }
    let stack = error.as_ref().and_then(|error| fault::text_of(error, "stack")).unwrap_or_default();
    let message = error.as_ref().and_then(|error| fault::text_of(error, "message"));
    let (line, column) = fault::place(&stack, &compiled.file).unwrap_or((1, 1));
    let head_columns = CHECK.len() + head("body", function.form, &compiled.roots, brackets).len();
    let head_columns = u32::try_from(head_columns).unwrap_or(u32::MAX);
    let column = if line == 1 { column.saturating_sub(head_columns) } else { column };
    let message = message.unwrap_or_else(|| NOT_ONE.to_owned());
    let lines = u32::try_from(function.source.split('\n').count()).unwrap_or(u32::MAX);
    if line > lines {
        // Found in what follows the source: something in it is not closed, or misses its end.
        let last = function.source.split('\n').next_back().unwrap_or_default();
        let column = u32::try_from(last.chars().count() + 1).unwrap_or(u32::MAX);
        let message = format!("the source ends too early ({message})");
        return Some(SyntaxFault { function: number, message, line: lines, column });
    }
    Some(SyntaxFault { function: number, message, line, column: column.max(1) })
}
