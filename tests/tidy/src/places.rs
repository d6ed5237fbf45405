//! Nothing in the repository knows the machine it was written on, and processes are started only where
//! that is the job.
//!
//! **Invariants**
//! - Only paths that begin a word count: `$HOME/work/x` and `team/work/x` are nobody's machine.

use crate::source::code_only;
use crate::tree::File;
#[cfg(test)]
use crate::tree::{files, none, one};

/// Assembled so that this file does not hold them itself.
const MACHINE_FOLDERS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")];
const PROCESS: &str = "process::Command";
/// The one place of the appliance that starts a process (decision 13).
const CALIBRATOR: &str = "appliance/service/src/wiring/sizing/calibrator.rs";

fn faults(files: &[File]) -> Vec<String> {
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| file.path != "Cargo.lock") {
        for (number, line) in file.text.lines().enumerate() {
            for folder in MACHINE_FOLDERS {
                if begins_a_path(line, folder) {
                    faults.push(format!(
                        "{}:{}: a path of a machine ({folder})",
                        file.path,
                        number + 1
                    ));
                }
            }
        }
        let may_start =
            file.is_in("perf") || file.is_in("tests") || file.is_test() || file.path == CALIBRATOR;
        if file.is_rust() && !may_start && starts_processes(&code_only(&file.text)) {
            faults.push(format!(
                "{}: starts processes; only perf/, tests/ and decision 13 may",
                file.path
            ));
        }
    }
    faults
}

fn starts_processes(code: &str) -> bool {
    let dense: String = code.split_whitespace().collect();
    dense.contains(PROCESS)
        || dense.split("process::{").skip(1).any(|rest| {
            rest.split('}').next().unwrap_or_default().split(',').any(|name| name == "Command")
        })
}

fn begins_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(position, _)| {
        let before = line.get(..position).and_then(|text| text.chars().next_back());
        before.is_none_or(|c| !c.is_alphanumeric() && !"_.~-/}".contains(c))
    })
}

#[test]
fn no_machine_shows_and_no_process_is_started() {
    none(&faults(files()));
}

#[test]
fn canary_objects_to_a_path_of_a_machine() {
    for folder in MACHINE_FOLDERS {
        one(&faults(&[File::new("docs/x.md", &format!("see `{folder}me/x`"))]), "docs/x.md:1");
        none(&faults(&[File::new("docs/x.md", &format!("see $HOME{folder}x and team{folder}x"))]));
    }
}

#[test]
fn canary_objects_to_starting_a_process() {
    let starts = "use std::process::Command;";
    one(&faults(&[File::new("appliance/x/src/a.rs", starts)]), "starts processes");
    let in_list = "use std::process::{\n    Child,\n    Command,\n};";
    one(&faults(&[File::new("shared/x/src/a.rs", in_list)]), "starts processes");
    none(&faults(&[File::new("tests/x/src/a.rs", starts)]));
    none(&faults(&[File::new("appliance/x/src/a.rs", "use std::process::ExitCode;")]));
    none(&faults(&[File::new("appliance/x/src/a.rs", "// like std::process::Command")]));
}
