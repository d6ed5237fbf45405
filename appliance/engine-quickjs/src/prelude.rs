//! The sandbox that a runtime starts with: guarded natives, and the library `mill`.
//!
//! Both are JavaScript, compiled to bytecode once per process and loaded into each runtime. The table
//! below says which native gets which guard at which cost; a native is installed only if its name
//! stands in the pipeline's text, and gives way to one that says so otherwise.
//!
//! **Invariants**
//! - The guards are in place before any line of a pipeline runs.
//! - Only bytes that this process made itself are loaded as bytecode, and they stay to its end.

use std::sync::OnceLock;

use rquickjs::{Context, Ctx, Error, Function, Module, Object, Result, Runtime, WriteOptions};

use crate::roots::words;

const GUARDS: &str = include_str!("prelude/guards.js");
const MILL: &str = include_str!("prelude/mill.js");
/// Where the table stands in `guards.js`.
const TABLE_MARK: &str = "/*GUARDS*/";

/// A group of natives under one guard: the owner, the maker in `guards.js`, the cost, the names.
struct Row(&'static str, &'static str, f32, &'static [&'static str]);

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
    Row("JSON", "parse", 15.0, &["parse"]),
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
    Row("globalThis", "keyed", 0.0, &["Map", "Set", "WeakMap", "WeakSet"]),
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

/// Which guards a pipeline with these sources needs, one character each, and whether it uses `mill`.
pub(crate) fn needs<'a>(sources: impl Iterator<Item = &'a str>) -> (String, bool) {
    let known: std::collections::HashSet<&str> = sources.flat_map(words).collect();
    let is_needed = |name: &str| known.contains(name) || ALWAYS.contains(&name);
    let mask = names().map(|name| if is_needed(name) { '1' } else { '0' }).collect();
    (mask, known.contains("mill"))
}

/// The mask of a runtime that has everything.
pub(crate) fn all() -> String {
    names().map(|_| '1').collect()
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

/// Builds the sandbox in a fresh runtime.
pub(crate) fn install<'js>(
    ctx: &Ctx<'js>,
    mask: &str,
    uses_mill: bool,
    natives: &Object<'js>,
) -> Result<Sandbox<'js>> {
    let code = compiled()?;
    // First: it keeps the natives that it needs before the guards take them away.
    let mill = if uses_mill { Some(bytecode::load(ctx, &code.mill)?) } else { None };
    let guards = bytecode::load(ctx, &code.guards)?;
    let install: Function<'js> = guards.get("install")?;
    let given: rquickjs::Array<'js> = install.call((mask, natives.clone()))?;
    if let Some(mill) = mill {
        let build: Function<'js> = mill.get("build")?;
        let now: Function<'js> = natives.get("now")?;
        let library: Object<'js> = build.call((now,))?;
        let constant: Function<'js> = given.get(4)?;
        constant.call::<_, ()>(("mill", library))?;
    }
    Ok(Sandbox {
        unwrap: given.get(0)?,
        fit: given.get(1)?,
        well_formed: given.get(2)?,
        lazy: given.get(3)?,
        freeze_all: given.get(5)?,
    })
}

/// The bytecode of both parts.
struct Code {
    guards: Vec<u8>,
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
        let write = |name: &str, source: &str| {
            let options =
                WriteOptions { strip_source: true, strip_debug: true, ..WriteOptions::default() };
            Module::declare(ctx.clone(), name, source)?.write(options)
        };
        let guards = GUARDS.replace(TABLE_MARK, &table());
        Ok(Code { guards: write("guards", &guards)?, mill: write("mill", MILL)? })
    })
}

/// The rows as calls of `put`, in the order of [`names`].
fn table() -> String {
    let mut text = String::new();
    for (place, Row(owner, maker, cost, names)) in ROWS.iter().enumerate() {
        text.push_str(&format!("const owner{place} = {owner};"));
        for name in *names {
            text.push_str(&format!("put(owner{place},'{name}',{maker},{cost});"));
        }
    }
    text
}

/// Loading bytecode.
mod bytecode {
    use rquickjs::{Ctx, Module, Object, Result};

    /// Loads and runs a module that this process compiled.
    #[expect(
        unsafe_code,
        reason = "the engine trusts bytecode, and a runtime a call needs it fast"
    )]
    pub(super) fn load<'js>(ctx: &Ctx<'js>, code: &'static [u8]) -> Result<Object<'js>> {
        // SAFETY: the bytes come from `Module::write` of the same library in this process, nothing
        // from outside goes into them, and they are never changed or freed (`&'static`), which the
        // library's read-only mode needs.
        let module = unsafe { Module::load(ctx.clone(), code)? };
        let (module, _done) = module.eval()?;
        module.namespace()
    }
}

#[cfg(test)]
mod tests;
