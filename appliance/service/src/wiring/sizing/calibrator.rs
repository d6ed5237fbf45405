//! Starting, watching and cancelling a calibration for the API.
//!
//! It is the command `millrace calibrate` in a process of its own, so that its CPU can be told from
//! production's and a fault of it is none of production's ([decision
//! 13](../../../../../docs/decisions/0013-calibration-process.md)). It tells its progress on its standard
//! output and ends when its standard input does: so it also ends when this process is killed.
//!
//! **Invariants**: one at a time; nothing of a request becomes an argument of the process.

use crate::cli::calibrate::PipedLine;
use anyhow::Context as _;
use millrace_contract::v1::{Calibration, CalibrationState};
use millrace_supervisor::spawn;
use parking_lot::Mutex;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;

/// Most that is kept of what a failed calibration says.
const SAID_BYTES_MAX: u64 = 4096;

/// The last calibration.
pub(super) struct Calibrator {
    data: PathBuf,
    state: Arc<Mutex<State>>,
}

struct State {
    shown: Calibration,
    /// Held open while it may run.
    input: Option<ChildStdin>,
}

/// Why it was not done.
#[derive(Debug)]
pub(in crate::wiring) enum Refused {
    /// One runs, or none does.
    Conflict(&'static str),
    /// The process could not be started.
    Failed(anyhow::Error),
}

impl Calibrator {
    pub(super) fn new(data: &Path) -> Self {
        let shown = Calibration {
            state: CalibrationState::Idle,
            text: "None was started since the box was.".to_owned(),
            done: 0.0,
            left_s: 0.0,
        };
        Self { data: data.to_owned(), state: Arc::new(Mutex::new(State { shown, input: None })) }
    }

    pub(super) fn shown(&self) -> Calibration {
        self.state.lock().shown.clone()
    }

    pub(super) fn start(&self) -> Result<Calibration, Refused> {
        let mut state = self.state.lock();
        if state.shown.state == CalibrationState::Running {
            return Err(Refused::Conflict("A calibration runs already."));
        }
        let child = self.launch(&mut state).map_err(Refused::Failed)?;
        let shared = Arc::clone(&self.state);
        let watching = spawn::thread("calibration", move || watch(child, &shared));
        if let Err(error) = watching {
            // Its input goes, and it with it.
            state.input = None;
            return Err(Refused::Failed(error.into()));
        }
        state.shown = Calibration {
            state: CalibrationState::Running,
            text: "starting".to_owned(),
            done: 0.0,
            left_s: 0.0,
        };
        Ok(state.shown.clone())
    }

    fn launch(&self, state: &mut State) -> anyhow::Result<Child> {
        let program = std::env::current_exe().context("find the program")?;
        let mut child = Command::new(program)
            .args(["calibrate", "--piped", "--data"])
            .arg(&self.data)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("start the calibration")?;
        state.input = child.stdin.take();
        Ok(child)
    }

    pub(super) fn cancel(&self) -> Result<Calibration, Refused> {
        let mut state = self.state.lock();
        if state.shown.state != CalibrationState::Running {
            return Err(Refused::Conflict("No calibration runs."));
        }
        state.input = None;
        state.shown.text = "stopping".to_owned();
        Ok(state.shown.clone())
    }
}

/// Reads what it tells until it has ended.
fn watch(mut child: Child, state: &Mutex<State>) {
    let mut last = None;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let Ok(line) = line else { break };
            match serde_json::from_str::<PipedLine>(&line) {
                Ok(PipedLine::Progress { text, done, left_s }) => {
                    let mut state = state.lock();
                    // After a cancel the text stays what it is.
                    if state.input.is_some() {
                        state.shown.text = text;
                    }
                    (state.shown.done, state.shown.left_s) = (done, left_s);
                }
                Ok(end) => last = Some(end),
                Err(error) => tracing::debug!("A calibration said '{line}': {error}."),
            }
        }
    }
    let mut said = String::new();
    if let Some(errors) = child.stderr.take() {
        // What it says matters only if it failed.
        let _read = errors.take(SAID_BYTES_MAX).read_to_string(&mut said).is_ok();
    }
    let ended = child.wait().is_ok_and(|status| status.success());
    let (how, text) = match (last, ended) {
        (Some(PipedLine::Measured), true) => {
            (CalibrationState::Done, "The profile 'box' was measured and kept.".to_owned())
        }
        (Some(PipedLine::Cancelled), true) => {
            (CalibrationState::Cancelled, "It was cancelled; nothing was kept.".to_owned())
        }
        (Some(PipedLine::Yielded { text }), true) => (CalibrationState::Yielded, text),
        _ => (CalibrationState::Failed, failure(&said)),
    };
    let mut state = state.lock();
    state.input = None;
    state.shown.state = how;
    state.shown.text = text;
    state.shown.left_s = 0.0;
}

fn failure(said: &str) -> String {
    let line = said.lines().last().unwrap_or_default().trim();
    let line = line.strip_prefix("millrace: ").unwrap_or(line);
    if line.is_empty() { "It ended without a word.".to_owned() } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Calibrator, Refused, failure};
    use millrace_contract::v1::CalibrationState;

    #[test]
    fn nothing_runs_until_it_is_started() {
        let folder = tempfile::tempdir().unwrap();
        let calibrator = Calibrator::new(folder.path());
        assert_eq!(calibrator.shown().state, CalibrationState::Idle);
        assert!(matches!(calibrator.cancel(), Err(Refused::Conflict(text)) if text.contains("No")));
    }

    #[test]
    fn a_failure_is_told_in_its_last_line() {
        assert_eq!(failure("noise\nmillrace: the disk is full\n"), "the disk is full");
        assert_eq!(failure(""), "It ended without a word.");
    }
}
