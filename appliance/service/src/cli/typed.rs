//! Secrets that a person types or a program pipes in: passwords, tokens.
//!
//! **Invariants**: what is typed is not shown and not printed; a secret never stands on a command
//! line, where other users of the machine could read it.

use anyhow::{Context as _, bail};
use std::io::{IsTerminal as _, Read};

/// Most bytes that are read as a secret.
pub(super) const SECRET_BYTES_MAX: u64 = 16 * 1024;

/// Asks on a terminal, or reads standard input to its end.
pub(super) fn secret(prompt: &str) -> anyhow::Result<String> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return read(stdin.lock()).context("read standard input");
    }
    without_echo(prompt)
}

/// The same for a new password, which is typed twice on a terminal: nobody sees what was typed.
pub(super) fn new_password(prompt: &str) -> anyhow::Result<String> {
    if !std::io::stdin().is_terminal() {
        return secret(prompt);
    }
    let first = without_echo(prompt)?;
    if without_echo("The same again: ")? != first {
        bail!("the two are not the same; nothing was changed");
    }
    Ok(first)
}

fn without_echo(prompt: &str) -> anyhow::Result<String> {
    let terminal = console::Term::stderr();
    terminal.write_str(prompt).context("write to the terminal")?;
    let text = terminal.read_secure_line().context("read from the terminal")?;
    bounded(text)
}

/// What stands in a file or a pipe, without the line break at its end.
pub(super) fn read(from: impl Read) -> anyhow::Result<String> {
    let mut text = String::new();
    from.take(SECRET_BYTES_MAX + 2).read_to_string(&mut text)?;
    bounded(without_line_break(text))
}

/// What `echo` and editors add is not part of a secret.
fn without_line_break(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    text
}

fn bounded(value: String) -> anyhow::Result<String> {
    if value.len() as u64 > SECRET_BYTES_MAX {
        bail!("it is longer than {SECRET_BYTES_MAX} bytes");
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_break_at_the_end_is_no_part_of_a_secret() {
        let value = |text: &str| read(text.as_bytes()).unwrap();
        assert_eq!(value("hunter2\n"), "hunter2");
        assert_eq!(value("hunter2\r\n"), "hunter2");
        assert_eq!(value("two\nlines\n\n"), "two\nlines\n");
        assert_eq!(value("\n"), "");
        let long = "x".repeat(20_000);
        assert!(read(long.as_bytes()).unwrap_err().to_string().contains("longer"));
    }
}
