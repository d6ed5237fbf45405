//! A plan's file: TOML, or JSON when its name ends so.

use super::told;
use anyhow::{Context as _, bail};
use millrace_sizing::Plan;
use std::io::Read as _;
use std::path::Path;

/// Bytes of a plan; one of 200 groups of each kind is far smaller.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Reads and checks a plan.
pub(super) fn read(path: &Path) -> anyhow::Result<Plan> {
    let mut text = String::new();
    let what = || format!("read the plan {}", path.display());
    if path == Path::new("-") {
        std::io::stdin().lock().take(BYTES_MAX + 1).read_to_string(&mut text).with_context(what)?;
    } else {
        let file = std::fs::File::open(path).with_context(what)?;
        file.take(BYTES_MAX + 1).read_to_string(&mut text).with_context(what)?;
    }
    if text.len() as u64 > BYTES_MAX {
        bail!("{}: it is longer than {BYTES_MAX} bytes", what());
    }
    let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    parse(&text, is_json).with_context(what)
}

/// Parses and checks a plan.
pub(super) fn parse(text: &str, is_json: bool) -> anyhow::Result<Plan> {
    if is_json {
        return Plan::from_json(text).map_err(|problems| told("it has faults", &problems));
    }
    let plan: Plan = toml::from_str(text).map_err(|error| anyhow::anyhow!("{error}"))?;
    let problems = plan.check();
    if problems.is_empty() { Ok(plan) } else { Err(told("it has faults", &problems)) }
}

#[cfg(test)]
mod tests {
    use super::parse;

    fn refused(text: &str, sentence: &str) {
        let error = format!("{:#}", parse(text, false).unwrap_err());
        assert!(error.contains(sentence), "{error}");
    }

    #[test]
    fn each_fault_of_a_file_is_a_sentence() {
        let devices = |fields: &str| {
            format!("format = 1\nname = \"x\"\n[[devices]]\nname = \"d\"\n{fields}\n")
        };
        refused(&devices("count = -5\ntags = 1\ninterval_ms = 1"), "-5 is negative");
        refused(&devices("count = nan\ntags = 1\ninterval_ms = 1"), "NaN is not a number");
        refused(&devices("count = 1\ntags = 1\ninterval_ms = 0"), "It is zero; give at least");
        refused(&devices("count = 1\ntags = 1\ninterval = 9"), "unknown field `interval`");
        refused(&devices("count = 1\ntags = 10_000_000\ninterval_ms = 1e6"), "at most 5000000");
        refused("format = 1\nname = \"x\"", "nothing to estimate");
        refused("format = 7\nname = \"x\"", "format 7");
        refused("a plan", "expected");
        let json = parse("{\"format\": 1}", true).unwrap_err();
        assert!(format!("{json:#}").contains("missing field `name`"), "{json:#}");
    }
}
