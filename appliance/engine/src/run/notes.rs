//! What a run notes while it runs: executions, log, changes of state, and how much it used.
//!
//! **Invariants**: every list is bounded and says how much it left out.

use crate::codec;
use crate::report::{LogLine, StepReport, StepStatus};
use crate::run::halt::Halted;
use crate::script::Level;
use crate::secrets::Secrets;
use crate::state::cells::Owner;
use crate::step::StepFault;
use millrace_flow::Data;
use millrace_model::Timestamp;
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;
use std::time::Duration;

/// Most executions of steps that are kept for the history.
const TRACE_MAX: usize = 1_000;
/// Longest line of a log.
const LINE_BYTES_MAX: usize = 4 * 1024;

/// The notes of a run.
#[derive(Debug)]
pub(crate) struct Notes {
    /// The run's time: fixed when it began.
    pub(crate) now: Timestamp,
    /// The same, monotonic.
    pub(crate) began: Duration,
    pub(crate) seed: u64,
    pub(crate) id_text: OnceCell<String>,
    pub(crate) executions: u32,
    pub(crate) trace: Vec<Trace>,
    pub(crate) trace_left_out: u32,
    pub(crate) log: Vec<LogLine>,
    pub(crate) log_left_out: u32,
    /// Changes of state since the last record, encoded.
    pub(crate) changes: Vec<u8>,
    /// Values published since the last record, and their bytes.
    pub(crate) published: u32,
    pub(crate) published_bytes: usize,
    /// Bytes that steps gave, all together.
    pub(crate) given_bytes: usize,
    /// CPU time of the threads that executed it.
    pub(crate) cpu: Duration,
    pub(crate) script_cpu: Duration,
    pub(crate) script_memory_bytes: u64,
    /// A script reached a limit.
    pub(crate) is_killed: bool,
    /// When a worker last took it in hand, monotonic.
    pub(crate) driven: Duration,
    /// A script of the step that is executed was interrupted.
    pub(crate) halted: Option<Halted>,
    /// The secrets that its steps used.
    pub(crate) secrets: RefCell<Secrets>,
}

/// One execution.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    /// The step's id.
    pub(crate) step: Arc<str>,
    pub(crate) after: Duration,
    pub(crate) took: Duration,
    pub(crate) status: StepStatus,
    pub(crate) input: Option<Data>,
    pub(crate) output: Option<Data>,
}

impl Notes {
    pub(crate) fn new(now: Timestamp, began: Duration, seed: u64) -> Self {
        Self {
            now,
            began,
            seed: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            id_text: OnceCell::new(),
            executions: 0,
            trace: Vec::with_capacity(8),
            trace_left_out: 0,
            log: Vec::new(),
            log_left_out: 0,
            changes: Vec::new(),
            published: 0,
            published_bytes: 0,
            given_bytes: 0,
            cpu: Duration::ZERO,
            script_cpu: Duration::ZERO,
            script_memory_bytes: 0,
            is_killed: false,
            driven: began,
            halted: None,
            secrets: RefCell::default(),
        }
    }

    /// Whether something was done since the last record that a crash must not undo or repeat.
    pub(crate) fn has_effects(&self) -> bool {
        self.published > 0 || !self.changes.is_empty()
    }

    /// The record was written.
    pub(crate) fn settled(&mut self) {
        self.published = 0;
        self.published_bytes = 0;
        self.changes.clear();
    }

    pub(crate) fn trace(&mut self, trace: Trace) {
        if self.trace.len() < TRACE_MAX {
            self.trace.push(trace);
        } else {
            self.trace_left_out += 1;
        }
    }

    pub(crate) fn log(
        &mut self,
        (step, after): (&Arc<str>, Duration),
        level: Level,
        line: &str,
        lines_max: usize,
    ) {
        if self.log.len() >= lines_max {
            self.log_left_out += 1;
            return;
        }
        let mut end = line.len().min(LINE_BYTES_MAX);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        let text = line.get(..end).unwrap_or_default().to_owned();
        self.log.push(LogLine { step: Arc::clone(step), after, level, text });
    }

    /// The executions, for a report, without the secrets that the run used.
    pub(crate) fn steps(&self) -> Vec<StepReport> {
        let secrets = self.secrets.borrow();
        let shown = |data: &Option<Data>| data.as_ref().map(|data| secrets.scrub_data(data));
        let steps = self.trace.iter().map(|trace| StepReport {
            step: Arc::clone(&trace.step),
            after: trace.after,
            took: trace.took,
            status: match &trace.status {
                StepStatus::Retried(text) => StepStatus::Retried(secrets.scrub(text)),
                StepStatus::Failed(text) => StepStatus::Failed(secrets.scrub(text)),
                other => other.clone(),
            },
            input: if secrets.is_empty() { trace.input.clone() } else { shown(&trace.input) },
            output: if secrets.is_empty() { trace.output.clone() } else { shown(&trace.output) },
        });
        steps.collect()
    }

    /// Takes the secrets that the run used out of a fault.
    pub(crate) fn hide_in(&self, fault: &mut StepFault) {
        let secrets = self.secrets.borrow();
        if secrets.is_empty() {
            return;
        }
        fault.message = secrets.scrub(&fault.message);
        if let Some(script) = &mut fault.script {
            script.message = secrets.scrub(&script.message);
        }
    }

    /// Notes a change of state; [`Data::Missing`] removes.
    pub(crate) fn change(&mut self, owner: &Owner, key: &str, data: &Data) {
        write_change(owner, key, data, &mut self.changes);
    }

    /// About how many bytes they take.
    pub(crate) fn bytes(&self) -> usize {
        let log: usize = self.log.iter().map(|line| 64 + line.text.len()).sum();
        self.trace.len() * 112 + log + self.changes.len()
    }
}

fn write_change(owner: &Owner, key: &str, data: &Data, out: &mut Vec<u8>) {
    match owner {
        Owner::Step(pipeline, step) => {
            out.push(0);
            out.extend_from_slice(&pipeline.to_le_bytes());
            codec::write_text(step, out);
        }
        Owner::Variables(workspace) => {
            out.push(1);
            out.extend_from_slice(&workspace.to_le_bytes());
        }
        // What triggers remember is not a run's to change.
        Owner::Trigger(..) => return,
    }
    codec::write_text(key, out);
    if *data == Data::Missing {
        codec::write_count(0, out);
        return;
    }
    let at = out.len();
    codec::write_count(0, out);
    let from = out.len();
    codec::write(data, out);
    let length = u32::try_from(out.len() - from).unwrap_or(u32::MAX).to_le_bytes();
    if let Some(place) = out.get_mut(at..from) {
        place.copy_from_slice(&length);
    }
}

/// Reads changes one after the other; ends at the first that is damaged.
pub(crate) fn read_changes(
    bytes: &[u8],
    mut each: impl FnMut(Owner, &str, Option<&[u8]>),
) -> Option<()> {
    let mut reader = codec::Reader(bytes);
    while !reader.0.is_empty() {
        let owner = match reader.u8()? {
            0 => {
                let pipeline = reader.u32()?;
                Owner::Step(pipeline, reader.text()?.into())
            }
            1 => Owner::Variables(reader.take().map(u16::from_le_bytes)?),
            _ => return None,
        };
        let key = reader.text()?;
        let value = reader.bytes()?;
        each(owner, key, (!value.is_empty()).then_some(value));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_read_back_in_order() {
        let mut notes = Notes::new(Timestamp(0), Duration::ZERO, 1);
        let owner = Owner::Step(3, "a".into());
        notes.change(&owner, "k", &Data::Int(1));
        notes.change(&Owner::Variables(2), "v", &Data::Missing);
        let mut read = Vec::new();
        read_changes(&notes.changes, |owner, key, value| {
            read.push((owner, key.to_owned(), value.and_then(codec::read)));
        })
        .unwrap();
        assert_eq!(
            read,
            [(owner, "k".into(), Some(Data::Int(1))), (Owner::Variables(2), "v".into(), None)]
        );
        assert!(read_changes(&notes.changes[..5], |_, _, _| ()).is_none());
    }

    #[test]
    fn the_log_is_bounded_in_lines_and_in_their_length() {
        let mut notes = Notes::new(Timestamp(0), Duration::ZERO, 1);
        let step: Arc<str> = "a".into();
        for _ in 0..3 {
            let line = "ä".repeat(LINE_BYTES_MAX);
            notes.log((&step, Duration::ZERO), Level::Info, &line, 2);
        }
        assert_eq!((notes.log.len(), notes.log_left_out), (2, 1));
        assert!(notes.log[0].text.len() <= LINE_BYTES_MAX);
    }
}
