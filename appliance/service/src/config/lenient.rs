//! Reads a faulty file to its end, so that all its faults are told at once.
//!
//! The reader of TOML stops at its first fault. So the lines of that fault are blanked and the
//! rest is read again, until nothing is left to say. What was blanked has its default then.
//!
//! **Invariants**: line numbers stay those of the file; a file whose structure cannot be read at
//! all (a missing quote) has that one fault.

use super::{Config, Fault};
use std::ops::Range;

/// Most faults of one file.
const FAULTS_MAX: usize = 50;

/// The settings of a file as far as they can be read, and everything that is wrong with it.
pub(super) fn read(text: &str) -> (Config, Vec<Fault>) {
    let mut text = text.to_owned();
    let mut faults = Vec::new();
    while faults.len() < FAULTS_MAX {
        match toml::from_str::<Config>(&text) {
            Ok(config) => return (config, faults),
            Err(error) => {
                faults.push(Config::fault_of(&text, &error));
                let is_structure = text.parse::<toml::Table>().is_err();
                let blanked = error.span().map(|span| without(&text, span));
                match blanked {
                    Some(blanked) if blanked != text && !is_structure => text = blanked,
                    _ => break,
                }
            }
        }
    }
    (Config::default(), faults)
}

/// The text without the lines of the span; of a table's head the whole table goes.
fn without(text: &str, span: Range<usize>) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut at, mut in_bad_table) = (0, false);
    for line in text.split_inclusive('\n') {
        let lines = at..at + line.len();
        let is_bad = lines.start < span.end.max(span.start + 1) && span.start < lines.end;
        let is_head = line.trim_start().starts_with('[');
        if is_head {
            in_bad_table = is_bad;
        }
        if is_bad || in_bad_table {
            out.push_str(if line.ends_with('\n') { "\n" } else { "" });
        } else {
            out.push_str(line);
        }
        at = lines.end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Vec<String> {
        read(text).1.into_iter().map(|fault| fault.place).collect()
    }

    #[test]
    fn tells_every_fault_with_its_line() {
        let text = "\
[broker]
lisen = \"127.0.0.1:1\"
clients_max = \"many\"
live_qos = 0

[brokr]
clients_max = 7
listen = 3

[log]
level = \"debug\"
format = \"xml\"
";
        let (config, faults) = read(text);
        let places: Vec<_> = faults.iter().map(|fault| fault.place.as_str()).collect();
        assert_eq!(places.len(), 4, "{faults:?}");
        for line in ["line 2", "line 3", "line 6", "line 12"] {
            assert!(places.contains(&line), "{line}: {faults:?}");
        }
        // What was good holds.
        assert_eq!((config.broker.live_qos, config.log.level.as_str()), (0, "debug"));
    }

    #[test]
    fn a_file_that_is_no_toml_has_one_fault() {
        assert_eq!(places("[broker]\nlisten = \"127.0.0.1\nclients_max = 7\n"), ["line 2"]);
        assert!(places("").is_empty());
    }

    #[test]
    fn an_endless_list_of_faults_ends() {
        let text: String = (0..200).map(|number| format!("x{number} = 1\n")).collect();
        assert_eq!(places(&text).len(), FAULTS_MAX);
    }
}
