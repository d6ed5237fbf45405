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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

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
