//! What a person can do next: the commands that failures name.
//!
//! A test reads the sources of the appliance and of what it shares with the browser, takes each
//! command that stands there between backticks, and has the command line's own definition parse it.
//!
//! **Invariants**: a command that is named can be typed as it stands; words of the shell are quoted.

use anyhow::{Context as _, bail};
use millrace_client::Error;
use millrace_contract::v1::ErrorCode;
use std::path::Path;

/// What an answer says that something is not there.
pub(super) fn not_found(error: &Error) -> Option<&str> {
    match error {
        Error::Refused { detail, .. } if detail.code == ErrorCode::NotFound => {
            Some(&detail.message)
        }
        _ => None,
    }
}

/// An answer about something that has a list; where it is not there, the failure names the command
/// that shows the list.
pub(super) fn or_list<T>(
    answer: Result<T, Error>,
    doing: &str,
    command: &str,
) -> anyhow::Result<T> {
    if let Err(error) = &answer
        && let Some(message) = not_found(error)
    {
        let message = message.trim_end_matches('.');
        bail!("{doing}: {message}; `{command}` shows what there is");
    }
    answer.with_context(|| doing.to_owned())
}

/// Why a pipeline, one of its runs or one of its revisions is not there, and what shows those that
/// are. `name` is as it was typed.
pub(super) fn missing_of_pipeline(message: &str, name: &str) -> String {
    let message = message.trim_end_matches('.');
    let quoted = quoted(name);
    if is_file(name) {
        return format!(
            "{name} is a file, and this takes the name of a stored pipeline; `millrace pipeline \
             import {quoted}` stores it"
        );
    }
    if message.contains("no workspace") {
        return message.to_owned();
    }
    let command = if message.contains("no run") {
        format!("`millrace pipeline runs {quoted}` lists its runs")
    } else if message.contains("no revision") || message.contains("not deployed") {
        format!("`millrace pipeline show {quoted}` lists its revisions")
    } else {
        "`millrace pipeline list` shows what there is".to_owned()
    };
    format!("{message}; {command}")
}

/// The same of a topic.
pub(super) fn missing_topic(message: &str, topic: &str) -> String {
    let message = message.trim_end_matches('.');
    let (workspace, path) = topic.split_once('/').unwrap_or((topic, ""));
    if message.contains("no workspace") && !path.is_empty() {
        return format!("{message}; did you mean main/{topic}?");
    }
    if message.contains("no workspace") {
        return message.to_owned();
    }
    format!("{message}; `millrace tag list {}` shows what there is", quoted(workspace))
}

/// Whether a word is meant as a file rather than as a name.
pub(super) fn is_file(word: &str) -> bool {
    let path = Path::new(word);
    word == "-" || path.is_file() || path.extension().is_some_and(|end| end == "json")
}

/// A word as it is typed into a shell.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |mark: char| {
        mark.is_ascii_alphanumeric() || "/-_.:,@%+=".contains(mark) || !mark.is_ascii()
    };
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests;
