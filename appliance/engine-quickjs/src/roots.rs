//! Which roots a source uses, and which of their fields, found without parsing JavaScript.
//!
//! A root is handed to a script as a plain object, and making that object is the dearest part of an
//! expression. The scan finds every place where a root's name stands and follows the fields written
//! behind it: `$trigger.value * 2` needs one field of seven. What is not plain to see (a root passed
//! on as a whole, a computed name, a comment in between) makes the whole root be converted.
//!
//! **Invariants**
//! - Never too little: a name inside a text or a comment counts as a use, and a source with escapes
//!   that could spell a name (`\u0024`) uses everything.
//! - A method's receiver is converted whole: `$item.list.map(..)` needs all of `list`.

use std::sync::Arc;

/// Fields are followed this deep; below, all is converted.
const DEPTH_MAX: usize = 8;

/// What a script needs of a datum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Want {
    /// Nothing: its name does not occur.
    #[default]
    Nothing,
    /// These fields, if it is a map; all of it, if it is not.
    Fields(Vec<(Arc<str>, Want)>),
    /// All of it.
    Whole,
}

impl Want {
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// Adds a use: the fields in order, the last one whole.
    fn add(&mut self, path: &[&str]) {
        let Some((first, rest)) = path.split_first() else {
            *self = Self::Whole;
            return;
        };
        if self.is_nothing() {
            *self = Self::Fields(Vec::new());
        }
        let Self::Fields(fields) = self else { return };
        let known = fields.iter().position(|(name, _)| **name == **first);
        let place = known.unwrap_or_else(|| {
            fields.push((Arc::from(*first), Self::Nothing));
            fields.len() - 1
        });
        if let Some((_, want)) = fields.get_mut(place) {
            want.add(rest);
        }
    }
}

/// What a source uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Roots {
    pub(crate) trigger: Want,
    pub(crate) item: Want,
    pub(crate) run: Want,
    /// `$step["name"]`: the fields are the steps. `Whole`: the names are computed.
    pub(crate) step: Want,
    /// The same for variables.
    pub(crate) variable: Want,
    /// Whether `await` occurs.
    pub(crate) is_async: bool,
}

impl Roots {
    /// Scans a source.
    pub(crate) fn of(source: &str) -> Self {
        let mut roots = Self::default();
        let may_spell = source.contains("\\u");
        for (name, want) in [
            ("$trigger", &mut roots.trigger),
            ("$item", &mut roots.item),
            ("$run", &mut roots.run),
            ("$step", &mut roots.step),
            ("$variable", &mut roots.variable),
        ] {
            if may_spell {
                *want = Want::Whole;
                continue;
            }
            for (position, found) in source.match_indices(name) {
                let before = source.get(..position).and_then(|text| text.chars().next_back());
                let after = source.get(position + found.len()..).unwrap_or_default();
                // A longer name: `$trigger2`, `my$item`. Beyond ASCII a letter or a blank may be
                // meant, so that counts as a use.
                if before.is_some_and(is_name) || after.chars().next().is_some_and(is_name) {
                    continue;
                }
                want.add(&path(after));
            }
        }
        roots.is_async = may_spell || words(source).any(|word| word == "await");
        roots
    }
}

/// The words of a source: runs of characters that names are made of.
pub(crate) fn words(source: &str) -> impl Iterator<Item = &str> {
    source.split(|c: char| !is_name(c)).filter(|word| !word.is_empty())
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

/// The fields behind a root, as far as they are plain.
fn path(after: &str) -> Vec<&str> {
    let mut fields = Vec::new();
    let mut rest = after;
    while fields.len() < DEPTH_MAX {
        let Some((field, behind)) = field(rest.trim_ascii_start()) else { break };
        fields.push(field);
        rest = behind;
    }
    // A call takes the last name as a method of what stands before it. A comment may hide a call.
    let next = rest.trim_ascii_start();
    let is_call = ["(", "`", "?.(", "//", "/*"].iter().any(|sign| next.starts_with(sign))
        || next.chars().next().is_some_and(|c| !c.is_ascii());
    // Deeper than is followed: the method may be further down, so nothing changes.
    if is_call {
        fields.pop();
    }
    fields
}

/// One `.name`, `?.name`, `["name"]` or `?.["name"]`, and what follows.
fn field(text: &str) -> Option<(&str, &str)> {
    let (is_optional, rest) = match text.strip_prefix("?.") {
        Some(rest) => (true, rest.trim_ascii_start()),
        None => (false, text),
    };
    if let Some(rest) = rest.strip_prefix('[') {
        let rest = rest.trim_ascii_start();
        let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (name, behind) = rest.get(1..)?.split_once(quote)?;
        let behind = behind.trim_ascii_start().strip_prefix(']')?;
        return (!name.contains(['\\', '\n'])).then_some((name, behind));
    }
    let rest = if is_optional { rest } else { text.strip_prefix('.')?.trim_ascii_start() };
    let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
    let (name, behind) = rest.split_at_checked(end)?;
    let is_plain = name.chars().next().is_some_and(|c| !c.is_ascii_digit())
        && behind.chars().next().is_none_or(|c| c.is_ascii() && c != '\\');
    is_plain.then_some((name, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(want: &Want) -> String {
        match want {
            Want::Nothing => "-".to_owned(),
            Want::Whole => "*".to_owned(),
            Want::Fields(fields) => {
                let fields: Vec<_> =
                    fields.iter().map(|(name, want)| format!("{name}:{}", show(want))).collect();
                format!("{{{}}}", fields.join(" "))
            }
        }
    }

    #[test]
    fn finds_the_fields_that_a_source_can_reach() {
        for (source, expected) in [
            ("1 + 2", "-"),
            ("$trigger.value * 1.8 + 32", "{value:*}"),
            ("$trigger . value+$trigger?.time", "{value:* time:*}"),
            ("$trigger.value.toFixed(2)", "{value:*}"),
            ("$trigger.value.toFixed /* */ (2)", "{value:*}"),
            ("$trigger.json.list.map(x => x)", "{json:{list:*}}"),
            ("$trigger.json.a.b + $trigger.json.a", "{json:{a:*}}"),
            ("$trigger[\"value\"] / 2", "{value:*}"),
            ("$trigger['a b'].c", "{a b:{c:*}}"),
            ("$trigger[name]", "*"),
            ("$trigger.json[0].x", "{json:*}"),
            ("f($trigger)", "*"),
            ("const { value } = $trigger", "*"),
            ("$trigger /* x */ .value", "*"),
            ("$trigger.hasOwnProperty('x')", "*"),
            ("$trigger.value + '$trigger'", "*"),
            ("$trigger2 + my$trigger + _$trigger", "-"),
            ("\u{a0}$trigger.value", "{value:*}"),
            ("$trigger\u{a0}.value", "*"),
            ("$trigger.wert\u{e4}.x", "*"),
            ("$tri\\u0067ger.value", "*"),
            ("$trigger.a`x`", "*"),
            ("$trigger.f?.()", "*"),
            ("$trigger['a\\x62']", "*"),
        ] {
            assert_eq!(show(&Roots::of(source).trigger), expected, "{source}");
        }
    }

    #[test]
    fn finds_steps_and_variables_by_their_names() {
        let roots = Roots::of("$step[\"scale\"].value + $step.other + $variable.limit");
        assert_eq!(show(&roots.step), "{scale:{value:*} other:*}");
        assert_eq!(show(&roots.variable), "{limit:*}");
        assert_eq!(Roots::of("$step[name]").step, Want::Whole);
        assert!(Roots::of("const x = await f()").is_async);
        assert!(!Roots::of("awaiting").is_async);
    }
}
