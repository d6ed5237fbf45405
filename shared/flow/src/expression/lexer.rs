//! Just enough of JavaScript's lexical grammar to know where an expression ends and what it names.
//!
//! Whether `/` divides or begins a regular expression is told by the token before it, as editors
//! do; after `)` and `}` it divides, which is right in all but contrived sources.
//!
//! **Invariants**: every call goes on by at least one byte; nesting is at most [`NESTING_MAX`].

use super::NESTING_MAX;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An identifier or keyword.
    Word,
    /// A number.
    Number,
    /// A string with its quotes.
    Text,
    /// A piece of a template literal without `${`: the whole of it if it has none.
    Template,
    /// A regular expression.
    Regex,
    /// An operator or bracket, one byte.
    Symbol(u8),
    /// A closing bracket outside of all brackets.
    Unopened(u8),
}

/// A token and where it lies, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// What cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LexFault {
    pub(crate) at: usize,
    pub(crate) message: &'static str,
}

/// Reads tokens one by one.
pub(crate) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// Closers that are awaited; `` ` `` for the end of a template literal's `${`.
    awaited: Vec<u8>,
    /// Whether a `/` would begin a regular expression.
    regex_may_follow: bool,
}

/// Words after which a `/` begins a regular expression.
const BEFORE_REGEX: &[&str] = &[
    "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "else", "do", "await",
];

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str, at: usize) -> Self {
        Self { text, at, awaited: Vec::new(), regex_may_follow: true }
    }

    /// The next token; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Token>, LexFault> {
        self.skip_blank()?;
        let start = self.at;
        let Some(first) = self.byte(start) else { return Ok(None) };
        let kind = match first {
            b'"' | b'\'' => self.string(first)?,
            b'`' => self.template(start + 1)?,
            b'0'..=b'9' => self.number(),
            b'.' if self.byte(start + 1).is_some_and(|byte| byte.is_ascii_digit()) => self.number(),
            b'/' if self.regex_may_follow => self.regex()?,
            b'(' | b'[' | b'{' => self.open(first)?,
            b')' | b']' | b'}' => self.close(first)?,
            byte if is_word(byte) => self.word(),
            byte => {
                self.at = start + 1;
                // Behind `a++` it is a division.
                let is_doubled = matches!(byte, b'+' | b'-')
                    && start.checked_sub(1).and_then(|before| self.byte(before)) == Some(byte);
                self.regex_may_follow = !is_doubled;
                TokenKind::Symbol(byte)
            }
        };
        Ok(Some(Token { kind, start, end: self.at }))
    }

    /// Goes on from a later place, at the beginning of a character.
    pub(crate) fn skip_to(&mut self, at: usize) {
        self.at = self.at.max(at);
        while self.at < self.text.len() && !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn fault<T>(at: usize, message: &'static str) -> Result<T, LexFault> {
        Err(LexFault { at, message })
    }

    fn skip_blank(&mut self) -> Result<(), LexFault> {
        while let Some(rest) = self.text.get(self.at..) {
            let blank = rest.len() - rest.trim_start().len();
            if blank > 0 {
                self.at += blank;
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return Self::fault(self.at, "the comment is not closed"),
                }
            } else {
                break;
            }
        }
        Ok(())
    }

    fn string(&mut self, quote: u8) -> Result<TokenKind, LexFault> {
        let start = self.at;
        let mut at = start + 1;
        loop {
            match self.byte(at) {
                Some(b'\\') => at += 2,
                Some(byte) if byte == quote => break,
                None | Some(b'\n') => {
                    return Self::fault(start, "the text in quotes is not closed");
                }
                Some(_) => at += 1,
            }
        }
        self.at = at + 1;
        self.regex_may_follow = false;
        Ok(TokenKind::Text)
    }

    /// Reads on in a template literal from `from`, up to its end or the next `${`.
    fn template(&mut self, from: usize) -> Result<TokenKind, LexFault> {
        let mut at = from;
        loop {
            match (self.byte(at), self.byte(at + 1)) {
                (None, _) => return Self::fault(self.at, "the template literal is not closed"),
                (Some(b'\\'), _) => at += 2,
                (Some(b'`'), _) => {
                    self.at = at + 1;
                    self.regex_may_follow = false;
                    return Ok(TokenKind::Template);
                }
                (Some(b'$'), Some(b'{')) => {
                    self.await_closer(b'`', at)?;
                    self.at = at + 2;
                    self.regex_may_follow = true;
                    return Ok(TokenKind::Template);
                }
                _ => at += 1,
            }
        }
    }

    fn number(&mut self) -> TokenKind {
        let mut before = 0;
        while let Some(byte) = self.byte(self.at) {
            let is_sign = matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E');
            if !(byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_' || is_sign) {
                break;
            }
            before = byte;
            self.at += 1;
        }
        self.regex_may_follow = false;
        TokenKind::Number
    }

    fn word(&mut self) -> TokenKind {
        let start = self.at;
        while self.byte(self.at).is_some_and(|byte| is_word(byte) || byte.is_ascii_digit()) {
            self.at += 1;
        }
        let word = self.text.get(start..self.at).unwrap_or_default();
        self.regex_may_follow = BEFORE_REGEX.contains(&word);
        TokenKind::Word
    }

    fn regex(&mut self) -> Result<TokenKind, LexFault> {
        let start = self.at;
        let mut at = start + 1;
        let mut is_in_class = false;
        loop {
            match self.byte(at) {
                Some(b'\\') => at += 1,
                Some(b'[') => is_in_class = true,
                Some(b']') => is_in_class = false,
                Some(b'/') if !is_in_class => break,
                None | Some(b'\n') => {
                    return Self::fault(start, "the regular expression is not closed");
                }
                Some(_) => {}
            }
            at += 1;
        }
        self.at = at + 1;
        while self.byte(self.at).is_some_and(|byte| byte.is_ascii_alphabetic()) {
            self.at += 1;
        }
        self.regex_may_follow = false;
        Ok(TokenKind::Regex)
    }

    fn await_closer(&mut self, closer: u8, at: usize) -> Result<(), LexFault> {
        if self.awaited.len() >= NESTING_MAX {
            return Self::fault(at, "brackets are nested too deeply");
        }
        self.awaited.push(closer);
        Ok(())
    }

    fn open(&mut self, byte: u8) -> Result<TokenKind, LexFault> {
        let closer = match byte {
            b'(' => b')',
            b'[' => b']',
            _ => b'}',
        };
        self.await_closer(closer, self.at)?;
        self.at += 1;
        self.regex_may_follow = true;
        Ok(TokenKind::Symbol(byte))
    }

    fn close(&mut self, byte: u8) -> Result<TokenKind, LexFault> {
        let start = self.at;
        match self.awaited.last().copied() {
            None => {
                self.at += 1;
                return Ok(TokenKind::Unopened(byte));
            }
            Some(b'`') if byte == b'}' => {
                self.awaited.truncate(self.awaited.len().saturating_sub(1));
                return self.template(start + 1);
            }
            Some(awaited) if awaited == byte => {
                self.awaited.truncate(self.awaited.len().saturating_sub(1));
            }
            Some(_) => return Self::fault(start, "brackets cross: another one must close first"),
        }
        self.at += 1;
        self.regex_may_follow = false;
        Ok(TokenKind::Symbol(byte))
    }
}

/// Whether a byte can begin a word. Bytes of characters beyond ASCII count as letters.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'$' | b'_' | b'#' | b'@') || byte >= 0x80
}
