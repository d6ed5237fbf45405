//! Every command that a text names is one.

use super::*;
use crate::cli::Command;
use clap::Parser as _;
use std::path::PathBuf;

#[test]
fn what_is_not_there_is_told_with_the_command_that_lists_it() {
    let pipeline = missing_of_pipeline;
    assert_eq!(
        pipeline("there is no run 1-9 of 'scale'", "scale"),
        "there is no run 1-9 of 'scale'; `millrace pipeline runs scale` lists its runs"
    );
    let revision = pipeline("pipeline 'a' has no revision 7", "main/a");
    assert!(revision.ends_with("`millrace pipeline show main/a` lists its revisions"));
    let file = pipeline("There is no workspace 'x'.", "x/scale.json");
    assert!(file.contains("is a file") && file.contains("pipeline import x/scale.json`"), "{file}");
    let topic = missing_topic;
    assert_eq!(
        topic("There is no workspace 'press-4'.", "press-4/temperature"),
        "There is no workspace 'press-4'; did you mean main/press-4/temperature?"
    );
    let tag = topic("There is no such tag.", "main/x");
    assert_eq!(tag, "There is no such tag; `millrace tag list main` shows what there is");
}

#[test]
fn words_of_the_shell_are_quoted() {
    assert_eq!(quoted("main/press-4/temperature"), "main/press-4/temperature");
    assert_eq!(quoted("plant/Volume Flow"), "'plant/Volume Flow'");
    assert_eq!(quoted("it's"), "'it'\\''s'");
    assert_eq!(quoted("a#"), "'a#'");
    assert_eq!(quoted(""), "''");
}

/// The top folder of the repository.
fn top() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|end| end == extension) {
            found.push(path);
        }
    }
}

/// The texts of a source, without comments, with lines that a backslash joins as one.
fn texts(source: &str) -> String {
    let code = source.split("\n#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut text = String::new();
    for line in lines {
        match line.strip_suffix('\\') {
            Some(begin) => text.push_str(begin.trim_start()),
            None => {
                text.push_str(line.trim_start());
                text.push('\n');
            }
        }
    }
    text
}

/// All that stands between backticks and begins with the program's name.
fn named(text: &str) -> Vec<String> {
    let parts = text.split('`').skip(1).step_by(2);
    parts.filter(|part| part.starts_with("millrace ")).map(str::to_owned).collect()
}

/// A command as the shell splits it, with something in the place of what is put in later.
fn words(command: &str) -> Vec<String> {
    let mut filled = String::new();
    let mut rest = command;
    while let Some((before, after)) = rest.split_once('{') {
        let (_, behind) = after.split_once('}').unwrap_or(("", ""));
        filled.push_str(before);
        filled.push('7');
        rest = behind;
    }
    filled.push_str(rest);
    let filled = filled.split(" > ").next().unwrap_or_default().replace(['\'', '"'], "");
    filled.split_whitespace().map(str::to_owned).collect()
}

fn parses(command: &str) -> Result<(), String> {
    match Command::try_parse_from(words(command)) {
        Ok(_) => Ok(()),
        // `millrace secret set` alone names the verb; what it takes stands in its help.
        Err(error) if error.kind() == clap::error::ErrorKind::MissingRequiredArgument => Ok(()),
        Err(error)
            if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand =>
        {
            Ok(())
        }
        Err(error) => Err(format!("`{command}`: {error}")),
    }
}

#[test]
fn every_command_that_the_sources_name_is_one() {
    let mut sources = Vec::new();
    for folder in ["appliance", "shared", "ui", "studio"] {
        files(&top().join(folder), "rs", &mut sources);
    }
    let mut count = 0;
    let mut wrong = Vec::new();
    for path in sources.iter().filter(|path| !path.ends_with("tests.rs")) {
        let source = std::fs::read_to_string(path).unwrap();
        for command in named(&texts(&source)) {
            count += 1;
            wrong.extend(parses(&command).err().map(|why| format!("{}: {why}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 25, "only {count} were found: the search is broken");
    assert!(parses("millrace pipeline lists").is_err(), "a wrong one is found");
}

#[test]
fn every_command_that_the_documents_name_is_one() {
    let mut pages = vec![top().join("README.md")];
    files(&top().join("docs"), "md", &mut pages);
    let mut count = 0;
    let mut wrong = Vec::new();
    for path in &pages {
        let page = std::fs::read_to_string(path).unwrap();
        let mut commands = Vec::new();
        let mut is_shell = false;
        for line in page.lines() {
            match line.strip_prefix("```") {
                Some(language) => is_shell = language == "sh",
                None if is_shell => {
                    let command = line.split(" #").next().unwrap_or_default().trim();
                    let command = command.rsplit_once("| ").map_or(command, |(_, last)| last);
                    let command = command.split(" > ").next().unwrap_or_default();
                    let command = command.trim_end_matches('\\').replace(['<', '>'], "");
                    commands.extend(command.starts_with("millrace ").then_some(command));
                }
                None => commands.extend(named(line)),
            }
        }
        for command in commands {
            count += 1;
            wrong.extend(parses(&command).err().map(|why| format!("{}: {why}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 40, "only {count} were found: the search is broken");
}
