//! Which roots a script names, and renaming a step within it.
//!
//! Found are `$step.name`, `$step["name"]`, also with `?.`, outside of strings and comments. A name
//! that is computed (`$step[x]`) cannot be found, and is not renamed.
//!
//! **Invariants**: a rename changes nothing but the names found.

use super::path::{Quoted, is_identifier};
use super::{Lexer, Part, Split, Token, TokenKind, split};
use std::ops::Range;

/// One place where a source names something of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mention {
    /// `$step.name` or `$step["name"]`.
    Step {
        /// The step's id.
        name: String,
        /// Where the key lies: from the dot or bracket to its end, in bytes.
        key: Range<usize>,
    },
    /// Another word that begins with `$`.
    Other {
        /// The word.
        word: String,
        /// Where it lies.
        at: Range<usize>,
    },
    /// A word that is not behind a dot and does not begin with `$`.
    Word {
        /// The word.
        word: String,
        /// Where it lies.
        at: Range<usize>,
    },
    /// A word behind a dot.
    Property {
        /// The word.
        word: String,
        /// Where it lies.
        at: Range<usize>,
    },
}

/// How often reading goes on behind what cannot be read; each may look at the whole rest.
const RECOVERIES_MAX: usize = 50;

/// What a JavaScript source names, in order, as far as it can be read.
#[must_use]
pub fn mentions(source: &str) -> Vec<Mention> {
    let mut lexer = Lexer::new(source, 0);
    let mut tokens = Vec::new();
    let mut recoveries = 0;
    loop {
        match lexer.next() {
            Ok(Some(token)) => tokens.push(token),
            // What looks like an open regular expression may be a division: go on behind it.
            Err(fault) if recoveries < RECOVERIES_MAX => {
                recoveries += 1;
                lexer.skip_to(fault.at + 1);
            }
            Ok(None) | Err(_) => break,
        }
    }
    let text = |token: &Token| source.get(token.start..token.end).unwrap_or_default();
    let mut found = Vec::new();
    let mut rest = tokens.as_slice();
    let mut is_behind_dot = false;
    while let Some((token, after)) = rest.split_first() {
        rest = after;
        if token.kind == TokenKind::Word {
            let (word, at) = (text(token).to_owned(), token.start..token.end);
            if is_behind_dot {
                found.push(Mention::Property { word, at });
            } else if word == "$step"
                && let Some((name, key)) = key(source, after)
            {
                found.push(Mention::Step { name, key });
            } else if word.starts_with('$') {
                found.push(Mention::Other { word, at });
            } else {
                found.push(Mention::Word { word, at });
            }
        }
        is_behind_dot = token.kind == TokenKind::Symbol(b'.');
    }
    found
}

/// The key that follows a root: its name, and where it lies.
fn key(source: &str, tokens: &[Token]) -> Option<(String, Range<usize>)> {
    let text = |token: &Token| source.get(token.start..token.end);
    let tokens = match tokens {
        // `?.name`, `?.["name"]`: the question mark stays.
        [Token { kind: TokenKind::Symbol(b'?'), .. }, rest @ ..] => rest,
        all => all,
    };
    match tokens {
        [
            dot @ Token { kind: TokenKind::Symbol(b'.'), .. },
            word @ Token { kind: TokenKind::Word, .. },
            ..,
        ] => Some((text(word)?.to_owned(), dot.start..word.end)),
        [Token { kind: TokenKind::Symbol(b'.'), .. }, rest @ ..] => bracketed(source, rest),
        all => bracketed(source, all),
    }
}

fn bracketed(source: &str, tokens: &[Token]) -> Option<(String, Range<usize>)> {
    let [
        open @ Token { kind: TokenKind::Symbol(b'['), .. },
        quoted @ Token { kind: TokenKind::Text, .. },
        close @ Token { kind: TokenKind::Symbol(b']'), .. },
        ..,
    ] = tokens
    else {
        return None;
    };
    // Ids have no character that would be escaped.
    let inner = source.get(quoted.start + 1..quoted.end.checked_sub(1)?)?;
    (!inner.contains('\\')).then(|| (inner.to_owned(), open.start..close.end))
}

/// A JavaScript source with a step renamed; `None` if it does not name the step.
#[must_use]
pub fn rename_step(source: &str, from: &str, to: &str) -> Option<String> {
    let mut renamed = String::with_capacity(source.len() + to.len());
    let mut rest = 0;
    for mention in mentions(source) {
        let Mention::Step { name, key } = mention else { continue };
        if name != from {
            continue;
        }
        renamed.push_str(source.get(rest..key.start)?);
        let is_dotted = source.get(key.start..)?.starts_with('.');
        if is_dotted && is_identifier(to) {
            renamed.push('.');
            renamed.push_str(to);
        } else {
            // `?.name` becomes `?.["new-name"]`: the dot belongs to the question mark.
            let follows_question =
                source.get(..key.start).is_some_and(|before| before.ends_with('?'));
            if is_dotted && follows_question {
                renamed.push('.');
            }
            renamed.push_str(&format!("[{}]", Quoted(to)));
        }
        rest = key.end;
    }
    if rest == 0 {
        return None;
    }
    renamed.push_str(source.get(rest..)?);
    Some(renamed)
}

/// A text with expressions with a step renamed in them; `None` if none names the step, or if the
/// text cannot be split.
#[must_use]
pub fn rename_step_in_text(text: &str, from: &str, to: &str) -> Option<String> {
    let sources = match split(text).ok()? {
        Split::Literal(_) => return None,
        Split::Whole(source) => vec![source],
        Split::Template(parts) => parts
            .into_iter()
            .filter_map(|part| match part {
                Part::Expression(source) => Some(source),
                Part::Literal(_) => None,
            })
            .collect(),
    };
    let mut renamed = String::with_capacity(text.len() + to.len());
    let mut rest = 0;
    for source in sources {
        if let Some(changed) = rename_step(source.text, from, to) {
            renamed.push_str(text.get(rest..source.at)?);
            renamed.push_str(&changed);
            rest = source.at + source.text.len();
        }
    }
    if rest == 0 {
        return None;
    }
    renamed.push_str(text.get(rest..)?);
    Some(renamed)
}
