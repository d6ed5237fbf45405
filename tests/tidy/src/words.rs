//! Words that say nothing, or say what another word says better (docs/glossary.md).
//!
//! **Invariants**
//! - Identifiers are judged word by word: `walk` is not `wal`, `bridged_pair` holds no `bridge`.

use crate::source::code_only;
use crate::tree::File;
#[cfg(test)]
use crate::tree::{files, none, one};

/// Not in identifiers under `appliance/`: word, what to say instead.
const BANNED: &[(&str, &str)] = &[
    ("utils", "name the noun the file is about"),
    ("helper", "name what it does"),
    ("helpers", "name what they do"),
    ("manager", "name what it owns"),
    ("bridge", "say route"),
    ("wal", "say journal"),
];

/// Assembled so that this file does not hold them itself.
const FIX: &str = concat!("FIX", "ME");
const TO_DO: &str = concat!("TO", "DO");
const IGNORE: &str = concat!("#[ig", "nore");
const SHOULD_PANIC: &str = concat!("should", "_panic");
const DEBUG: &str = concat!("db", "g!");

fn faults(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        let code = code_only(&file.text);
        for (number, (line, code)) in file.text.lines().zip(code.lines()).enumerate() {
            let mut fault =
                |what: String| faults.push(format!("{}:{}: {what}", file.path, number + 1));
            if file.is_in("appliance") {
                for word in identifier_words(code) {
                    if let Some((word, instead)) = BANNED.iter().find(|(banned, _)| *banned == word)
                    {
                        fault(format!("`{word}` in a name: {instead}"));
                    }
                }
            }
            if line.contains(FIX) {
                fault(format!("{FIX}: fix it, or file an issue"));
            }
            if line.contains(TO_DO) && !line.contains(&format!("{TO_DO}(#")) {
                fault(format!("{TO_DO} without an issue: write {TO_DO}(#12)"));
            }
            if code.contains(DEBUG) {
                fault(format!("{DEBUG} was left behind"));
            }
            if code.contains(IGNORE) {
                fault("a test that does not run is no test".to_owned());
            }
            if code.contains(SHOULD_PANIC) {
                fault(format!("{SHOULD_PANIC} does not say which panic: assert the reason"));
            }
        }
    }
    faults
}

/// The lower-case words of all identifiers: `WalFile_reader` is wal, file, reader.
fn identifier_words(code: &str) -> Vec<String> {
    let mut words = Vec::new();
    for identifier in code.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let mut word = String::new();
        let mut before_lower = false;
        for c in identifier.chars() {
            if c == '_' || (c.is_uppercase() && before_lower) {
                words.push(std::mem::take(&mut word));
            }
            if c != '_' {
                word.extend(c.to_lowercase());
            }
            before_lower = c.is_lowercase() || c.is_numeric();
        }
        words.push(word);
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn the_workspace_uses_the_house_words() {
    none(&faults(files()));
}

fn appliance(text: &str) -> [File; 1] {
    [File::new("appliance/x/src/y.rs", text)]
}

#[test]
fn canary_objects_to_banned_names() {
    one(&faults(&appliance("struct SessionManager;")), "`manager`");
    one(&faults(&appliance("mod utils;")), "`utils`");
    one(&faults(&appliance("let wal_path = 1;")), "say journal");
    one(&faults(&appliance("fn open_bridge() {}")), "say route");
    one(&faults(&appliance("fn helper() {}")), "`helper`");
}

#[test]
fn canary_lets_other_words_and_comments_be() {
    none(&faults(&appliance("use hyper_util::rt; // not a wal\nlet walk = \"manager\";")));
    none(&faults(&[File::new("perf/lab/src/x.rs", "struct Manager;")]));
}

#[test]
fn canary_objects_to_what_is_left_open() {
    one(&faults(&appliance(&format!("// {FIX} later"))), FIX);
    one(&faults(&appliance(&format!("// {TO_DO}: later"))), "without an issue");
    none(&faults(&appliance(&format!("// {TO_DO}(#12): later"))));
    one(&faults(&appliance(&format!("{DEBUG}(x);"))), "left behind");
    one(&faults(&appliance(&format!("{IGNORE}]"))), "does not run");
    one(&faults(&appliance(&format!("#[{SHOULD_PANIC}]"))), "which panic");
}
