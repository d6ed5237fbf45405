//! The form of what a command prints: text for people, JSON for programs, the same words everywhere.

use clap::{Args, ValueEnum};
use serde::Serialize;
use std::io::Write as _;

/// How to print.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Output {
    /// Form of the answer: lines for people, or one JSON object a line.
    #[arg(long, value_enum, default_value_t = Form::Text)]
    format: Form,
    /// The same as --format json.
    #[arg(long)]
    json: bool,
}

/// The forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Text,
    Json,
}

impl Output {
    /// Lines for people.
    #[cfg(test)]
    pub(crate) const TEXT: Self = Self { format: Form::Text, json: false };

    /// Whether programs read it.
    pub(crate) fn is_json(self) -> bool {
        self.json || self.format == Form::Json
    }
}

/// Prints one JSON object on a line.
///
/// # Errors
/// When standard output is gone.
pub(crate) fn json_line(value: &impl Serialize) -> anyhow::Result<()> {
    writeln!(std::io::stdout(), "{}", serde_json::to_string(value)?)?;
    Ok(())
}

/// A number and its noun, in the plural where there is not one: `1 run`, `2 entries`.
pub(crate) fn counted<N>(count: N, noun: &str) -> String
where
    N: std::fmt::Display + PartialEq + From<u8>,
{
    if count == N::from(1) {
        return format!("1 {noun}");
    }
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{count} {stem}ies"),
        _ if noun.ends_with(['s', 'x']) => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn one_is_one_and_all_else_is_many() {
        assert_eq!(counted(1_u64, "run"), "1 run");
        assert_eq!(counted(0_u64, "run"), "0 runs");
        assert_eq!(counted(2_usize, "entry"), "2 entries");
        assert_eq!(counted(3_u32, "day"), "3 days");
        assert_eq!(counted(4_u64, "suffix"), "4 suffixes");
    }

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        output: Output,
    }

    #[test]
    fn both_words_for_json_mean_the_same() {
        let is_json = |words: &[&str]| {
            let words = ["x"].iter().chain(words);
            Line::try_parse_from(words).unwrap().output.is_json()
        };
        assert!(!is_json(&[]));
        assert!(!is_json(&["--format", "text"]));
        assert!(is_json(&["--json"]));
        assert!(is_json(&["--format", "json"]));
    }
}
