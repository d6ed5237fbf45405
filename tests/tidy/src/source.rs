//! Rust source without its comments and texts, so that rules judge code alone.
//!
//! A small scanner: it knows comments (nested too), texts, raw texts, characters and lifetimes, and
//! replaces what they hold by blanks. Line numbers stay.
//!
//! **Invariants**
//! - Never fails, whatever the bytes; a half-written file is blanked to its end at worst.

/// The code with comments and the contents of texts and characters blanked.
pub(crate) fn code_only(text: &str) -> String {
    Scanner { rest: text, code: String::with_capacity(text.len()) }.scan()
}

struct Scanner<'a> {
    rest: &'a str,
    code: String,
}

impl Scanner<'_> {
    fn scan(mut self) -> String {
        let mut before = ' ';
        while let Some(next) = self.rest.chars().next() {
            let in_word = before.is_alphanumeric() || before == '_';
            if self.rest.starts_with("//") {
                self.blank(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                self.blank(comment_length(self.rest));
            } else if next == '"' {
                self.blank(text_length(self.rest));
            } else if let Some(length) = (!in_word).then(|| raw_text_length(self.rest)).flatten() {
                self.blank(length);
            } else if let Some(length) = character_length(self.rest) {
                self.blank(length);
            } else {
                self.code.push(next);
                self.rest = self.rest.get(next.len_utf8()..).unwrap_or_default();
            }
            before = next;
        }
        self.code
    }

    fn blank(&mut self, length: usize) {
        let (blanked, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.code.extend(blanked.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        self.rest = rest;
    }
}

fn comment_length(text: &str) -> usize {
    let mut depth = 0_u32;
    let mut position = 0;
    while let Some(rest) = text.get(position..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            position += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            position += 2;
            if depth == 0 {
                return position;
            }
        } else {
            position += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

fn text_length(text: &str) -> usize {
    let mut escaped = false;
    for (position, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return position + 1,
            _ => {}
        }
    }
    text.len()
}

/// `r"..."`, `r#"..."#`, `br##"..."##`.
fn raw_text_length(text: &str) -> Option<usize> {
    let after = text.strip_prefix("br").or_else(|| text.strip_prefix("cr"));
    let after = after.or_else(|| text.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after.trim_start_matches('#').strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let begin = text.len() - body.len();
    Some(body.find(&end).map_or(text.len(), |found| begin + found + end.len()))
}

/// `'x'`, `'\n'`, `'\u{1b}'`; a lifetime is none.
fn character_length(text: &str) -> Option<usize> {
    let body = text.strip_prefix('\'')?;
    if body.starts_with('\\') {
        let after = body.char_indices().skip(2).find(|(_, c)| *c == '\'')?;
        return Some(after.0 + 2);
    }
    let c = body.chars().next()?;
    body.get(c.len_utf8()..)?.starts_with('\'').then(|| c.len_utf8() + 2)
}

#[test]
fn blanks_comments_and_texts_and_keeps_lines() {
    let code = code_only("let a = 1; // wal\n/* wal /* wal */ wal */ let b = \"wal \\\" wal\";\nc");
    assert!(!code.contains("wal"), "{code}");
    assert_eq!(code.lines().count(), 3);
    assert!(code.contains("let a = 1;") && code.contains("let b =") && code.ends_with('c'));
}

#[test]
fn blanks_raw_texts_and_characters() {
    let code = code_only("f(r#\"wal \" wal\"#, br\"wal\", '\"', '\\'', b'\"'); wal");
    assert_eq!(code.matches("wal").count(), 1, "{code}");
}

#[test]
fn leaves_lifetimes_and_names_that_end_in_r() {
    let code = code_only("fn f<'a>(x: &'a str) -> &'a str { for_(r, x) }");
    assert_eq!(code, "fn f<'a>(x: &'a str) -> &'a str { for_(r, x) }");
}

#[test]
fn survives_what_is_never_closed() {
    for text in ["\"wal", "/* wal", "r#\"wal", "'\\", "'", "\"\\"] {
        assert!(!code_only(text).contains("wal"), "{text}");
    }
}
