//! What a script can name: the roots, what hangs on them, and the library `mill`.
//!
//! One table for whoever offers names while a script is typed, for the rules, and for the page
//! `docs/operate/scripts.md`. Tests of the script engine hold it equal to what is really there.
//!
//! **Invariants**: nothing here runs or reads a script.

/// A name, and what is said of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// As it is typed.
    pub name: &'static str,
    /// What is typed behind it: the arguments of a function; empty for anything else.
    pub arguments: &'static str,
    /// What it is, in one line.
    pub doc: &'static str,
}

const fn value(name: &'static str, doc: &'static str) -> Name {
    Name { name, arguments: "", doc }
}

const fn function(name: &'static str, arguments: &'static str, doc: &'static str) -> Name {
    Name { name, arguments, doc }
}

/// What a script or an expression begins with.
pub const ROOTS: &[Name] = &[
    value("$trigger", "what started the run"),
    value("$item", "the step's input"),
    value("$step", "the last output of a step in this run, by its name"),
    value("$variable", "a variable of the workspace, by its name"),
    value("$run", "this run"),
    value("mill", "the library"),
    value("state", "lasting state of this step"),
    value("console", "lines for the run's history"),
];

/// `$run`.
pub const RUN: &[Name] = &[
    value("id", "names the run"),
    value("attempt", "how often it was tried"),
    value("started", "when it began; the same when it is repeated"),
    value("now", "the time at which it is read"),
];

/// `$trigger` of a run that a tag's value started.
pub const TAG_VALUE: &[Name] = &[
    value("path", "the tag's path below the workspace"),
    value("topic", "the whole topic"),
    value("value", "the value"),
    value("time", "the time of its source"),
    value("time_ms", "the same in milliseconds"),
    value("received", "when it arrived"),
    value("quality", "good, uncertain or bad"),
    value("client", "who published it"),
];

/// `state`.
pub const STATE: &[Name] = &[
    function("get", "(name)", "what was set under this name; undefined if nothing was"),
    function("set", "(name, value)", "keeps a value; undefined removes it"),
];

/// `console`.
pub const CONSOLE: &[Name] = &[
    function("debug", "(...)", "a line of level debug"),
    function("log", "(...)", "a line of level info"),
    function("info", "(...)", "a line of level info"),
    function("warn", "(...)", "a line of level warn"),
    function("error", "(...)", "a line of level error"),
];

/// The library `mill`.
pub const LIBRARY: &[Name] = &[
    function("clamp", "(x, low, high)", "x, kept within the two"),
    function("scale", "(x, inLow, inHigh, outLow, outHigh)", "x from one range to another"),
    function("round", "(x, digits)", "x to so many decimals, halves away from zero"),
    function("isoTime", "(time)", "RFC 3339 text in UTC"),
    function("hex", "(x, width)", "hexadecimal text of a number or of bytes"),
    function("fromHex", "(text)", "list of bytes"),
    function("bit", "(x, place)", "whether a bit is set; 0 is the lowest"),
    function("bits", "(x, count)", "the lowest bits as a list of true and false"),
    function("bytes", "(text)", "list of the UTF-8 bytes of a text"),
    function("text", "(bytes)", "text of UTF-8 bytes"),
    function("crc16", "(bytes)", "CRC-16/MODBUS"),
    function("crc32", "(bytes)", "CRC-32 as in zip and Ethernet"),
    function("int16", "(bytes, at, isLittle)", "signed number of two bytes"),
    function("uint16", "(bytes, at, isLittle)", "unsigned number of two bytes"),
    function("int32", "(bytes, at, isLittle)", "signed number of four bytes"),
    function("uint32", "(bytes, at, isLittle)", "unsigned number of four bytes"),
    function("int64", "(bytes, at, isLittle)", "signed number of eight bytes, a BigInt"),
    function("uint64", "(bytes, at, isLittle)", "unsigned number of eight bytes, a BigInt"),
    function("float32", "(bytes, at, isLittle)", "float of four bytes"),
    function("float64", "(bytes, at, isLittle)", "float of eight bytes"),
];

/// The line that a message of the script engine begins with: `line 3: ...`, `line 3, column 5: ...`.
#[must_use]
pub fn line_of(message: &str) -> Option<u32> {
    let rest = message.strip_prefix("line ")?;
    let (digits, _) = rest.split_once([':', ','])?;
    digits.parse().ok().filter(|line| *line > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_line_of_a_message() {
        assert_eq!(line_of("line 3: x is not defined"), Some(3));
        assert_eq!(line_of("line 12, column 4: unexpected token"), Some(12));
        for without in ["lines 3: x", "line : x", "line 3", "line 0: x", "line x: y", ""] {
            assert_eq!(line_of(without), None, "{without}");
        }
    }
}
