//! Counts tests from what the runners print.
//!
//! It understands the closing lines of `cargo nextest` and of `cargo test`.
//!
//! **Invariants**
//! - A line that is neither is ignored, whatever it holds; the counts never go down.

/// How many tests passed and failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Tally {
    /// Takes one printed line into account.
    pub(crate) fn see(&mut self, line: &str) {
        let line = plain(line);
        let line = line.trim_start();
        // nextest: `Summary [   4.1s] 45 tests run: 44 passed (1 slow), 1 failed, 0 skipped`
        // cargo:   `test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out`
        if !line.starts_with("Summary [") && !line.starts_with("test result:") {
            return;
        }
        let words: Vec<&str> =
            line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        for pair in words.windows(2) {
            let [count, word] = pair else { continue };
            let Ok(count) = count.parse::<u64>() else { continue };
            match *word {
                "passed" => self.passed += count,
                // `timed out` is how nextest counts what it had to kill.
                "failed" | "timed" => self.failed += count,
                _ => {}
            }
        }
    }

    /// Both counts of two runs together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }
}

/// The line without terminal colours.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            // `ESC [ ... letter`
            for inner in characters.by_ref() {
                if inner.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], passed: u64, failed: u64) {
        let mut tally = Tally::default();
        for line in lines {
            tally.see(line);
        }
        assert_eq!(tally, Tally { passed, failed }, "{lines:?}");
    }

    #[test]
    fn counts_what_nextest_says() {
        check(&["     Summary [   0.113s] 45 tests run: 45 passed, 0 skipped"], 45, 0);
        check(
            &[
                "Summary [  60.1s] 45/99 tests run: 42 passed (2 slow), 1 failed, 2 timed out, 0 skipped",
            ],
            42,
            3,
        );
    }

    #[test]
    fn counts_what_cargo_test_says_over_several_binaries() {
        check(
            &[
                "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
                "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
            ],
            15,
            2,
        );
    }

    #[test]
    fn sees_through_colours() {
        check(
            &[
                "\u{1b}[32;1m     Summary\u{1b}[0m [   0.1s] \u{1b}[1m7\u{1b}[0m tests run: \u{1b}[1m7\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, 0 skipped",
            ],
            7,
            0,
        );
    }

    #[test]
    fn ignores_what_tests_print_themselves() {
        check(&["12 passed, 3 failed", "thread says test result: 4 passed"], 0, 0);
    }
}
