//! `lab all` from outside, with programs in the appliance's place: one that never becomes ready and
//! one that ends at once.
//!
//! **Invariants**
//! - Nothing waits for a time: each step waits for what it needs to see, with a limit.

#![cfg(target_os = "linux")]

#[cfg(test)]
mod tests {
    use std::fs::{self, File, Permissions};
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Output, Stdio};
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process, test_kill_process};
    use serde_json::Value;

    /// A busy machine takes its time.
    const LIMIT: Duration = Duration::from_secs(60);

    fn wait_for<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
        let end = Instant::now() + LIMIT;
        loop {
            if let Some(found) = probe() {
                return found;
            }
            assert!(Instant::now() < end, "waited for {what}, in vain");
            std::thread::park_timeout(Duration::from_millis(10));
        }
    }

    /// A program in the appliance's place.
    fn program(folder: &Path, script: &str) -> PathBuf {
        let file = folder.join("millrace");
        let mut out = File::create(&file).unwrap();
        out.write_all(format!("#!/bin/sh\n{script}\n").as_bytes()).unwrap();
        drop(out);
        fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
        file
    }

    fn lab(folder: &Path, appliance: &Path, part: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_millrace-lab"));
        command
            .args(["all", "--profile", "smoke", "--cpus", "none", "--part", part, "--appliance"])
            .arg(appliance)
            .arg("--json")
            .arg(folder.join("set.json"))
            .env("TMPDIR", folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn set(folder: &Path) -> Value {
        serde_json::from_slice(&fs::read(folder.join("set.json")).unwrap()).unwrap()
    }

    fn words(output: &Output) -> String {
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    fn interrupt(child: &Child) {
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        kill_process(pid, Signal::INT).unwrap();
    }

    #[test]
    fn keeps_what_is_finished_and_ends_its_children_when_interrupted() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("pid");
        // `exec` keeps the number, so that it is the one to look for.
        let script = format!(
            "[ \"$1\" = run ] || exit 1\necho $$ > {0}.new\nmv {0}.new {0}\nexec sleep 600",
            place.display()
        );
        let appliance = program(folder.path(), &script);
        // Given a class that is done at once, and one that waits for an appliance
        let child = lab(folder.path(), &appliance, "websocket,kill").spawn().unwrap();
        let number = wait_for("the appliance to start", || {
            fs::read_to_string(&place).ok()?.trim().parse::<i32>().ok()
        });
        // When it is interrupted
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        // Then the class under way has gone with its children, and the other one is kept
        assert!(!output.status.success());
        assert!(words(&output).contains("what is finished is in"), "{}", words(&output));
        let pid = Pid::from_raw(number).unwrap();
        wait_for("the appliance to be gone", || test_kill_process(pid).is_err().then_some(()));
        let set = set(folder.path());
        let states: Vec<_> = set["rows"].as_array().unwrap().iter().collect();
        assert_eq!(states.len(), 1, "{set}");
        assert_eq!(
            (&states[0]["class"], &states[0]["state"]),
            (&"websocket".into(), &"not_asked".into())
        );
    }

    #[test]
    fn a_class_that_goes_wrong_has_a_row_that_says_so_and_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let appliance = program(folder.path(), "echo no port for me >&2; exit 3");
        for _ in 0..2 {
            let output = lab(folder.path(), &appliance, "kill").output().unwrap();
            assert_eq!(output.status.code(), Some(1), "{}", words(&output));
            assert!(words(&output).contains("lab: 1/1 kill: FAILED"), "{}", words(&output));
            let set = set(folder.path());
            let note = set.pointer("/rows/0/notes/0").unwrap().as_str().unwrap();
            assert!(note.contains("no port for me"), "{note}");
        }
        // And another commit's file is refused before anything runs
        let mut other = set(folder.path());
        other["build"]["revision"] = "0123456789ab".into();
        File::create(folder.path().join("set.json"))
            .unwrap()
            .write_all(other.to_string().as_bytes())
            .unwrap();
        let output = lab(folder.path(), &appliance, "kill").output().unwrap();
        assert!(words(&output).contains("cannot be gone on with"), "{}", words(&output));
    }
}
