//! The sandbox that a runtime starts with: guarded natives, and the library `mill`.
//!
//! Both are JavaScript, compiled to bytecode once per process and loaded into each runtime. The table
//! below says which native gets which guard at which cost; a native is installed only if its name
//! stands in the pipeline's text, and gives way to one that says so otherwise.
//!
//! Each part is a script whose value is a function: what the function does not leave behind in the
//! runtime is gone with it. A module would stay, with all guards that were not needed, to the
//! runtime's end.
//!
//! **Invariants**
//! - The guards are in place before any line of a pipeline runs.
//! - Only bytes that this process made itself are loaded as bytecode, and they stay to its end.

use std::sync::OnceLock;

use rquickjs::{Context, Ctx, Error, Function, Result, Runtime};

use crate::roots::words;

const GUARDS: &str = include_str!("prelude/guards.js");
const RARE: &str = include_str!("prelude/rare.js");
const MILL: &str = include_str!("prelude/mill.js");
/// Where the table stands in `guards.js`.
const TABLE_MARK: &str = "/*GUARDS*/";

/// A group of natives under one guard: the owner, the maker in `guards.js`, the cost, the names.
struct Row(&'static str, &'static str, f32, &'static [&'static str]);

/// Makers that stand in `rare.js`.
const RARE_MAKERS: &[&str] = &[
    "find",
    "sort",
    "flat",
    "flatMap",
    "from",
    "typedFrom",
    "gathered",
    "fromEntries",
    "compare",
    "pattern",
    "raw",
    "bits",
    "wrap",
    "keyed",
    "typed",
    "buffer",
    "aggregate",
    "regexp",
    "bigint",
];

/// Owners and makers of natives that are there only with typed arrays.
const BYTES_OWNERS: &[&str] = &[
    "typedProto",
    "getPrototypeOf(Uint8Array)",
    "Uint8Array",
    "Uint8Array.prototype",
    "ArrayBuffer.prototype",
];
const BYTES_MAKERS: &[&str] = &["typed", "buffer"];
/// Functions of `mill` that need them.
const MILL_READERS: &[&str] =
    &["int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"];

/// Natives that others call by name, so that they are always there: `join` by a list's text, `exec`
/// by all that match patterns, `concat` by template literals.
const ALWAYS: &[&str] = &["join", "exec", "concat"];

const ROWS: &[Row] = &[
    Row(
        "Array.prototype",
        "list",
        100.0,
        &["join", "toLocaleString", "reverse", "fill", "copyWithin", "slice", "toReversed", "with"],
    ),
    Row("Array.prototype", "list", 20.0, &["shift"]),
    Row("Array.prototype", "splice", 100.0, &["splice", "toSpliced", "unshift"]),
    Row("Array.prototype", "concat", 20.0, &["concat"]),
    Row("Array.prototype", "find", 20.0, &["indexOf", "lastIndexOf", "includes"]),
    Row("Array.prototype", "sort", 150.0, &["sort", "toSorted"]),
    Row("Array.prototype", "flat", 20.0, &["flat"]),
    Row("Array.prototype", "flatMap", 20.0, &["flatMap"]),
    Row("Array", "from", 0.0, &["from"]),
    Row(
        "typedProto",
        "list",
        100.0,
        &["join", "toLocaleString", "sort", "toSorted", "toReversed", "with", "slice"],
    ),
    Row(
        "typedProto",
        "always",
        0.0,
        &["reverse", "fill", "copyWithin", "indexOf", "lastIndexOf", "includes", "subarray"],
    ),
    Row("typedProto", "own", 60.0, &["set"]),
    Row("getPrototypeOf(Uint8Array)", "typedFrom", 0.0, &["from"]),
    Row("Uint8Array", "first", 10.0, &["fromBase64", "fromHex"]),
    Row(
        "Uint8Array.prototype",
        "always",
        0.0,
        &["toBase64", "toHex", "setFromBase64", "setFromHex"],
    ),
    Row(
        "String.prototype",
        "texts",
        20.0,
        &["toUpperCase", "toLowerCase", "toLocaleUpperCase", "toLocaleLowerCase"],
    ),
    Row("String.prototype", "texts", 150.0, &["normalize"]),
    Row("String.prototype", "compare", 150.0, &["localeCompare"]),
    Row(
        "String.prototype",
        "texts",
        2.0,
        &["trim", "trimStart", "trimEnd", "isWellFormed", "toWellFormed"],
    ),
    Row("String.prototype", "texts", 0.25, &["slice", "substring", "substr", "concat"]),
    Row(
        "String.prototype",
        "search",
        1.0,
        &[
            "indexOf",
            "lastIndexOf",
            "includes",
            "startsWith",
            "endsWith",
            "split",
            "replace",
            "replaceAll",
        ],
    ),
    Row("String.prototype", "pattern", 1.0, &["match", "matchAll", "search"]),
    Row("String.prototype", "repeat", 1.0, &["repeat"]),
    Row("String.prototype", "pad", 1.0, &["padStart", "padEnd"]),
    Row("String", "raw", 1.0, &["raw"]),
    Row("RegExp.prototype", "exec", 3.0, &["exec"]),
    Row("RegExp", "first", 10.0, &["escape"]),
    Row("JSON", "parse", 40.0, &["parse"]),
    Row("JSON", "stringify", 1.0, &["stringify"]),
    Row(
        "Object",
        "own",
        100.0,
        &[
            "keys",
            "values",
            "entries",
            "assign",
            "getOwnPropertyNames",
            "getOwnPropertyDescriptors",
            "getOwnPropertySymbols",
            "defineProperties",
            "freeze",
            "seal",
            "isFrozen",
            "isSealed",
            "groupBy",
        ],
    ),
    Row("Object", "fromEntries", 0.0, &["fromEntries"]),
    Row("Reflect", "own", 100.0, &["ownKeys"]),
    Row(
        "Set.prototype",
        "always",
        0.0,
        &[
            "union",
            "intersection",
            "difference",
            "symmetricDifference",
            "isSubsetOf",
            "isSupersetOf",
            "isDisjointFrom",
        ],
    ),
    Row("Promise", "gathered", 0.0, &["all", "allSettled", "any", "race"]),
    Row(
        "ArrayBuffer.prototype",
        "always",
        0.0,
        &["slice", "resize", "transfer", "transferToFixedLength"],
    ),
    Row("BigInt.prototype", "bits", 0.0, &["toString", "toLocaleString"]),
    Row("BigInt", "wrap", 0.0, &["asIntN", "asUintN"]),
    Row("Math", "random", 0.0, &["random"]),
    Row(
        "globalThis",
        "first",
        20.0,
        &[
            "encodeURIComponent",
            "encodeURI",
            "decodeURIComponent",
            "decodeURI",
            "escape",
            "unescape",
            "parseInt",
            "parseFloat",
        ],
    ),
    // Before the next two: it keeps `set` and `add` as they are.
    Row("globalThis", "keyed", 0.0, &["Map", "Set", "WeakMap", "WeakSet"]),
    Row(
        "Map.prototype",
        "keys",
        1.0,
        &["get", "has", "set", "delete", "getOrInsert", "getOrInsertComputed"],
    ),
    Row("Set.prototype", "keys", 1.0, &["has", "add", "delete"]),
    Row(
        "globalThis",
        "typed",
        0.0,
        &[
            "Uint8Array",
            "Int8Array",
            "Uint8ClampedArray",
            "Int16Array",
            "Uint16Array",
            "Int32Array",
            "Uint32Array",
            "Float16Array",
            "Float32Array",
            "Float64Array",
            "BigInt64Array",
            "BigUint64Array",
        ],
    ),
    Row("globalThis", "aggregate", 0.0, &["AggregateError"]),
    Row("globalThis", "buffer", 0.0, &["ArrayBuffer"]),
    Row("globalThis", "regexp", 0.0, &["RegExp"]),
    Row("globalThis", "date", 0.0, &["Date"]),
    Row("globalThis", "bigint", 0.0, &["BigInt"]),
];

fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().flat_map(|row| row.3.iter().copied())
}

/// What a runtime needs of the sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needs {
    /// One character for each native: `1` if it is guarded, `0` if it is hidden.
    mask: Box<str>,
    uses_mill: bool,
    /// A guard of `rare.js`.
    uses_rare: bool,
    /// Typed arrays and buffers.
    pub(crate) uses_bytes: bool,
}

impl Needs {
    /// What scripts with these sources need.
    pub(crate) fn of<'a>(sources: impl Iterator<Item = &'a str>) -> Self {
        let known: std::collections::HashSet<&str> = sources.flat_map(words).collect();
        let is_needed = |name: &str| known.contains(name) || ALWAYS.contains(&name);
        let uses = |rows: &dyn Fn(&Row) -> bool, is_needed: &dyn Fn(&str) -> bool| {
            ROWS.iter().filter(|row| rows(row)).any(|row| row.3.iter().any(|name| is_needed(name)))
        };
        let uses_mill = known.contains("mill");
        Self {
            mask: names().map(|name| if is_needed(name) { '1' } else { '0' }).collect(),
            uses_mill,
            uses_rare: uses(&|row| RARE_MAKERS.contains(&row.1), &|name| known.contains(name)),
            uses_bytes: known.contains("DataView")
                || (uses_mill && MILL_READERS.iter().any(|name| known.contains(name)))
                || uses(&|row| BYTES_MAKERS.contains(&row.1), &|name| known.contains(name)),
        }
    }

    /// Everything.
    pub(crate) fn all() -> Self {
        let mask = names().map(|_| '1').collect();
        Self { mask, uses_mill: true, uses_rare: true, uses_bytes: true }
    }
}

/// What the sandbox gives to the host.
pub(crate) struct Sandbox<'js> {
    /// See `unwrap` in `guards.js`.
    pub(crate) unwrap: Function<'js>,
    /// Which 64-bit form holds a `BigInt`: 1 signed, 2 unsigned, 0 none.
    pub(crate) fit: Function<'js>,
    /// A text without lone surrogates.
    pub(crate) well_formed: Function<'js>,
    /// An object that asks for each of its fields: `$step`, `$variable` with computed names.
    pub(crate) lazy: Function<'js>,
    /// Freezes all that scripts can reach.
    pub(crate) freeze_all: Function<'js>,
}

/// Builds the sandbox in a fresh runtime; `refill` and `ask` are the host's natives.
pub(crate) fn install<'js>(
    ctx: &Ctx<'js>,
    needs: &Needs,
    refill: Function<'js>,
    ask: Function<'js>,
) -> Result<Sandbox<'js>> {
    let code = compiled()?;
    // Each part keeps the natives that it needs itself, before the guards take them away.
    let part = |is_needed: bool, code: &[u8]| is_needed.then(|| bytecode::load(ctx, code));
    let mill = part(needs.uses_mill, &code.mill).transpose()?;
    let rare = part(needs.uses_rare, &code.rare).transpose()?;
    let install = bytecode::load(ctx, &code.guards)?;
    let given: rquickjs::Array<'js> = install.call((&*needs.mask, rare, mill, refill, ask))?;
    Ok(Sandbox {
        unwrap: given.get(0)?,
        fit: given.get(1)?,
        well_formed: given.get(2)?,
        lazy: given.get(3)?,
        freeze_all: given.get(4)?,
    })
}

/// The bytecode of all parts.
struct Code {
    guards: Vec<u8>,
    rare: Vec<u8>,
    mill: Vec<u8>,
}

/// Made once, kept to the process's end.
fn compiled() -> Result<&'static Code> {
    static CODE: OnceLock<Option<Code>> = OnceLock::new();
    CODE.get_or_init(|| compile().ok()).as_ref().ok_or(Error::Unknown)
}

fn compile() -> Result<Code> {
    let runtime = Runtime::new()?;
    let context = Context::full(&runtime)?;
    context.with(|ctx| {
        let guards = GUARDS.replace(TABLE_MARK, &table());
        Ok(Code {
            guards: bytecode::write(&ctx, &guards)?,
            rare: bytecode::write(&ctx, RARE)?,
            mill: bytecode::write(&ctx, MILL)?,
        })
    })
}

/// The rows as calls of `put`, with their places in the mask.
fn table() -> String {
    let mut text = String::new();
    let mut place = 0;
    for Row(owner, maker, cost, names) in ROWS {
        let object = if RARE_MAKERS.contains(maker) { "more." } else { "" };
        let is_bytes = BYTES_OWNERS.contains(owner) || BYTES_MAKERS.contains(maker);
        text.push_str(if is_bytes { "if(Bytes!==undefined){" } else { "{" });
        text.push_str(&format!("const owner={owner},make={object}{maker};"));
        for name in *names {
            text.push_str(&format!("put({place},owner,'{name}',make,{cost});"));
            place += 1;
        }
        text.push('}');
    }
    text
}

/// Scripts as bytecode.
mod bytecode {
    use rquickjs::{Ctx, Error, Function, Result, Value, qjs};
    use std::ffi::CString;

    /// Compiles a script, without running it; nothing of its text is kept.
    #[expect(unsafe_code, reason = "the library writes modules only, which stay in their runtime")]
    pub(super) fn write(ctx: &Ctx<'_>, source: &str) -> Result<Vec<u8>> {
        let text = CString::new(source)?;
        let flags = qjs::JS_EVAL_FLAG_STRICT | qjs::JS_EVAL_FLAG_COMPILE_ONLY;
        let (raw, flags) = (ctx.as_raw().as_ptr(), flags.cast_signed());
        let length = source.len().try_into().map_err(|_| Error::Unknown)?;
        // SAFETY: `raw` is the context that `ctx` holds; the text ends with a zero and is `length`
        // bytes long; what comes back is owned, so `value` may free it.
        let script =
            unsafe { qjs::JS_Eval(raw, text.as_ptr(), length, c"prelude".as_ptr(), flags) };
        let script = value(ctx, script)?;
        let flags = qjs::JS_WRITE_OBJ_BYTECODE
            | qjs::JS_WRITE_OBJ_STRIP_SOURCE
            | qjs::JS_WRITE_OBJ_STRIP_DEBUG;
        let mut length = 0;
        // SAFETY: `script` is of this context and lives on; `length` is written before it is read.
        let bytes = unsafe {
            qjs::JS_WriteObject(raw, &raw mut length, script.as_raw(), flags.cast_signed())
        };
        if bytes.is_null() {
            return Err(Error::Exception);
        }
        let length = usize::try_from(length).map_err(|_| Error::Unknown)?;
        // SAFETY: the engine has just written that many bytes there, and nobody else knows them.
        let code = unsafe { std::slice::from_raw_parts(bytes, length) }.to_vec();
        // SAFETY: they came from the engine's allocator and are not used again.
        unsafe { qjs::js_free(raw, bytes.cast()) };
        Ok(code)
    }

    /// Loads and runs a script that this process compiled; its value is a function.
    #[expect(
        unsafe_code,
        reason = "the engine trusts bytecode, and a runtime a call needs it fast"
    )]
    pub(super) fn load<'js>(ctx: &Ctx<'js>, code: &[u8]) -> Result<Function<'js>> {
        let (raw, flags) = (ctx.as_raw().as_ptr(), qjs::JS_READ_OBJ_BYTECODE.cast_signed());
        let length = code.len().try_into().map_err(|_| Error::Unknown)?;
        // SAFETY: the bytes come from `write` of the same library in this process and nothing from
        // outside goes into them; the engine copies what it keeps of them.
        let script = unsafe { qjs::JS_ReadObject(raw, code.as_ptr(), length, flags) };
        // SAFETY: a value that tells of an exception is no object, and only looked at.
        if unsafe { qjs::JS_IsException(script) } {
            return Err(Error::Exception);
        }
        // SAFETY: `script` is of this context and owned; the call takes it.
        let given = unsafe { qjs::JS_EvalFunction(raw, script) };
        Function::from_value(value(ctx, given)?)
    }

    /// An owned value of the engine; an error if it tells of an exception.
    #[expect(unsafe_code, reason = "values of the engine come without an owner")]
    fn value<'js>(ctx: &Ctx<'js>, raw: qjs::JSValue) -> Result<Value<'js>> {
        // SAFETY: the value was just given by this context, owned.
        let value = unsafe { Value::from_raw(ctx.clone(), raw) };
        // SAFETY: only the tag is looked at.
        if unsafe { qjs::JS_IsException(raw) } { Err(Error::Exception) } else { Ok(value) }
    }
}

#[cfg(test)]
mod tests;
