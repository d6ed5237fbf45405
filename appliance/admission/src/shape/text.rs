//! JSON strings: checking while scanning, writing plainly when there are escapes.
//!
//! **Invariants**: [`Raw`] is only made from a checked string, so writing it plainly cannot fail;
//! half a surrogate pair never gets in.

use crate::shape::json::Fault;

/// The inside of a checked JSON string, as it was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw<'a> {
    text: &'a str,
    has_escapes: bool,
}

impl<'a> Raw<'a> {
    /// Checks the string whose opening quote lies before `start`; also tells where it ends, behind
    /// its closing quote.
    pub(super) fn scan(whole: &'a str, start: usize) -> Result<(Self, usize), Fault> {
        let mut at = start;
        let mut has_escapes = false;
        let bytes = whole.as_bytes();
        loop {
            match bytes.get(at) {
                None => return Err(Fault::payload("a text does not end", start)),
                Some(b'"') => break,
                Some(b'\\') => {
                    has_escapes = true;
                    let (_, length) = escape(whole.get(at..).unwrap_or_default())
                        .ok_or(Fault::payload("an escape that JSON does not know", at))?;
                    at += length;
                }
                Some(0..=0x1f) => {
                    return Err(Fault::payload("a control character inside a text", at));
                }
                Some(_) => at += 1,
            }
        }
        // Both ends are beside ASCII quotes, hence on character borders.
        let text = whole.get(start..at).unwrap_or_default();
        Ok((Self { text, has_escapes }, at + 1))
    }

    /// The text without escapes, written to the end of `buffer` if it has any.
    pub(super) fn plain<'b>(self, buffer: &'b mut String) -> &'b str
    where
        'a: 'b,
    {
        if !self.has_escapes {
            return self.text;
        }
        let start = buffer.len();
        let mut rest = self.text;
        while let Some((before, _)) = rest.split_once('\\') {
            buffer.push_str(before);
            let tail = rest.get(before.len()..).unwrap_or_default();
            let Some((character, length)) = escape(tail) else { break };
            buffer.push(character);
            rest = tail.get(length..).unwrap_or_default();
        }
        buffer.push_str(rest);
        buffer.get(start..).unwrap_or_default()
    }

    /// Whether the text is `word`.
    pub(super) fn is(self, word: &str) -> bool {
        if self.has_escapes { self.plain(&mut String::new()) == word } else { self.text == word }
    }

    /// A hash of the plain text, to find a key that stands twice.
    pub(super) fn hash(self) -> u64 {
        if self.has_escapes { hash(self.plain(&mut String::new())) } else { hash(self.text) }
    }
}

/// FNV-1a of 64 bits with a final mix. Whoever makes two keys collide gets a refusal, no more.
fn hash(text: &str) -> u64 {
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    state ^ (state >> 32)
}

/// Reads the escape at the front of `text` (which begins with a backslash): the character and the
/// bytes that it takes.
fn escape(text: &str) -> Option<(char, usize)> {
    let character = match text.as_bytes().get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode_escape(text),
        _ => return None,
    };
    Some((character, 2))
}

fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let high = four_hex(text.get(2..6)?)?;
    if let Some(character) = char::from_u32(high) {
        return Some((character, 6));
    }
    if !(0xd800..0xdc00).contains(&high) || text.get(6..8)? != "\\u" {
        return None;
    }
    let low = four_hex(text.get(8..12)?)?;
    if !(0xdc00..0xe000).contains(&low) {
        return None;
    }
    let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    char::from_u32(code).map(|character| (character, 12))
}

/// Exactly four hexadecimal digits (`from_str_radix` alone would take a sign).
fn four_hex(text: &str) -> Option<u32> {
    if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(text, 16).ok()
}
