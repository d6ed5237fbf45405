//! Plain paths and literals: the expressions that need no script engine.
//!
//! A plain path is a root and keys: `$trigger.value`, `$item.list[0]["a b"]`,
//! `$step["scale"].value`, `$variable.limits.high`, `$run.id`. Names that objects inherit in
//! JavaScript (`toString`, `constructor`, ...) are left to the script engine, so that a path means
//! the same in both.
//!
//! **Invariants**: what [`simple`] gives evaluates as JavaScript would.

use super::{Lexer, Token, TokenKind};
use crate::data::Data;
use std::fmt;
use std::sync::Arc;

/// The root of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// `$trigger`: what started the run.
    Trigger,
    /// `$item`: the step's input.
    Item,
    /// `$run`: `id`, `attempt`, `started`, `now`.
    Run,
    /// `$step["name"]`: that step's last output.
    Step(Arc<str>),
    /// `$variable.name`.
    Variable(Arc<str>),
}

/// One key of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// `.name` or `["name"]`.
    Name(Arc<str>),
    /// `[0]`.
    Index(usize),
}

/// A plain path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// Where it begins.
    pub root: Root,
    /// What follows, in order.
    pub keys: Vec<Key>,
}

/// An expression that needs no script engine.
#[derive(Clone, Debug, PartialEq)]
pub enum Simple {
    /// A plain path.
    Path(Path),
    /// A literal.
    Literal(Data),
}

/// Most keys of a plain path; longer ones are scripts.
const KEYS_MAX: usize = 32;
/// Whole numbers up to this are exact in JavaScript.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// What every object, list or text inherits and a path therefore cannot ask for.
const INHERITED: &[&str] = &[
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
];

/// Recognizes a plain path or a literal; `None` = the source is a script.
#[must_use]
pub fn simple(source: &str) -> Option<Simple> {
    let mut tokens = Tokens { text: source, lexer: Lexer::new(source, 0) };
    let simple = match tokens.next()? {
        (TokenKind::Word, word) if word.starts_with('$') => {
            let root = tokens.root(word)?;
            return tokens.keys().map(|keys| Simple::Path(Path { root, keys }));
        }
        (TokenKind::Word, "true") => Data::Bool(true),
        (TokenKind::Word, "false") => Data::Bool(false),
        (TokenKind::Word, "null") => Data::Null,
        (TokenKind::Word, "undefined") => Data::Missing,
        (TokenKind::Number, digits) => number(digits, 1.0)?,
        (TokenKind::Symbol(b'-'), _) => match tokens.next()? {
            (TokenKind::Number, digits) => number(digits, -1.0)?,
            _ => return None,
        },
        (TokenKind::Text, quoted) => Data::Text(unquoted(quoted)?.into()),
        // A template literal without `${` that ends where it should.
        (TokenKind::Template, quoted)
            if quoted.ends_with('`') && !quoted.contains(['\\', '\r']) =>
        {
            Data::Text(quoted.trim_matches('`').into())
        }
        _ => return None,
    };
    tokens.is_at_end().then_some(Simple::Literal(simple))
}

/// Tokens with their texts.
struct Tokens<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
}

impl<'a> Tokens<'a> {
    fn next(&mut self) -> Option<(TokenKind, &'a str)> {
        let Token { kind, start, end } = self.lexer.next().ok()??;
        Some((kind, self.text.get(start..end)?))
    }

    fn is_at_end(&mut self) -> bool {
        matches!(self.lexer.next(), Ok(None))
    }

    fn root(&mut self, word: &str) -> Option<Root> {
        Some(match word {
            "$trigger" => Root::Trigger,
            "$item" => Root::Item,
            "$run" => Root::Run,
            "$step" | "$variable" => {
                let Some(Key::Name(name)) = self.key()? else { return None };
                if word == "$step" { Root::Step(name) } else { Root::Variable(name) }
            }
            _ => return None,
        })
    }

    fn keys(&mut self) -> Option<Vec<Key>> {
        let mut keys = Vec::new();
        while let Some(key) = self.key()? {
            if keys.len() == KEYS_MAX {
                return None;
            }
            keys.push(key);
        }
        // A deployed pipeline keeps its paths for good.
        keys.shrink_to_fit();
        Some(keys)
    }

    /// One key; `Some(None)` at the end, `None` if something else follows.
    fn key(&mut self) -> Option<Option<Key>> {
        let Some(token) = self.lexer.next().ok()? else { return Some(None) };
        let key = match token.kind {
            TokenKind::Symbol(b'.') => match self.next()? {
                (TokenKind::Word, word) if !word.contains(['#', '@']) => Key::Name(word.into()),
                _ => return None,
            },
            TokenKind::Symbol(b'[') => {
                let key = match self.next()? {
                    (TokenKind::Text, quoted) => Key::Name(unquoted(quoted)?.into()),
                    (TokenKind::Number, digits) => Key::Index(index(digits)?),
                    _ => return None,
                };
                match self.next()? {
                    (TokenKind::Symbol(b']'), _) => key,
                    _ => return None,
                }
            }
            _ => return None,
        };
        match &key {
            Key::Name(name) if INHERITED.contains(&&**name) => None,
            _ => Some(Some(key)),
        }
    }
}

fn index(digits: &str) -> Option<usize> {
    let is_plain = digits == "0" || !digits.starts_with('0');
    // Beyond 32 bits an index is a name in JavaScript.
    digits.parse::<u32>().ok().filter(|_| is_plain).and_then(|index| usize::try_from(index).ok())
}

/// A number as JavaScript reads it: a double, and whole if it is.
fn number(digits: &str, sign: f64) -> Option<Data> {
    let is_decimal = digits.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    let has_octal_look = digits.len() > 1
        && digits.starts_with('0')
        && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    if !is_decimal || has_octal_look {
        return None;
    }
    let number = digits.parse::<f64>().ok()? * sign;
    Some(Data::from_js_number(number))
}

/// The text of a JavaScript string; `None` for escapes that are rare.
fn unquoted(quoted: &str) -> Option<String> {
    let mut characters = quoted.get(1..quoted.len().checked_sub(1)?)?.chars();
    let mut text = String::with_capacity(quoted.len());
    while let Some(character) = characters.next() {
        text.push(match character {
            '\\' => match characters.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                mark @ ('\\' | '"' | '\'' | '/' | '`' | '$' | '{' | '}') => mark,
                'u' => {
                    let code = characters.as_str().get(..4)?;
                    let is_hex = code.bytes().all(|byte| byte.is_ascii_hexdigit());
                    characters.nth(3).filter(|_| is_hex)?;
                    // Half of a pair is left to the script engine.
                    char::from_u32(u32::from_str_radix(code, 16).ok()?)?
                }
                _ => return None,
            },
            '\r' => return None,
            plain => plain,
        });
    }
    Some(text)
}

impl Data {
    /// A JavaScript number: an integer if it is whole and exact, else a float.
    #[must_use]
    pub fn from_js_number(number: f64) -> Self {
        let is_exact = number.fract() == 0.0 && number.abs() <= EXACT_MAX;
        if is_exact && !(number == 0.0 && number.is_sign_negative()) {
            #[expect(clippy::cast_possible_truncation, reason = "whole and within 2^53")]
            return Self::Int(number as i64);
        }
        Self::Float(number)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.root {
            Root::Trigger => f.write_str("$trigger")?,
            Root::Item => f.write_str("$item")?,
            Root::Run => f.write_str("$run")?,
            Root::Step(name) => write!(f, "$step[{}]", Quoted(name))?,
            Root::Variable(name) => write!(f, "$variable[{}]", Quoted(name))?,
        }
        for key in &self.keys {
            match key {
                Key::Name(name) if is_identifier(name) => write!(f, ".{name}")?,
                Key::Name(name) => write!(f, "[{}]", Quoted(name))?,
                Key::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A name in quotes, as JavaScript and JSON write it.
pub(super) struct Quoted<'a>(pub(super) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(self.0.len() + 2);
        millrace_model::json::write_string(self.0, &mut text);
        f.write_str(&text)
    }
}

/// Whether a name can stand behind a dot.
pub(super) fn is_identifier(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$';
    name.bytes().next().is_some_and(is_letter)
        && name.bytes().all(|byte| is_letter(byte) || byte.is_ascii_digit())
}
