//! Runs of pipelines: which there were, what each step did.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It waits in the queue.
    Queued,
    /// It executes.
    Running,
    /// It waits for a time or an answer.
    Waiting,
    /// It ended well.
    Ok,
    /// A step failed.
    Failed,
    /// It was canceled: by a person, a newer run or an undeployment.
    Stopped,
    /// An earlier one was still running, and the pipeline skips then.
    Skipped,
    /// The box died while it ran; it was run again.
    Interrupted,
}

impl RunStatus {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Queued,
        Self::Running,
        Self::Waiting,
        Self::Ok,
        Self::Failed,
        Self::Stopped,
        Self::Skipped,
        Self::Interrupted,
    ];

    /// Its name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Skipped => "skipped",
            Self::Interrupted => "interrupted",
        }
    }

    /// The status of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }

    /// Whether it has come to its end.
    #[must_use]
    pub const fn has_ended(self) -> bool {
        !matches!(self, Self::Queued | Self::Running | Self::Waiting)
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Run {
    /// `<pipeline number>-<seq>`, unique in the box.
    pub id: String,
    /// The pipeline's name.
    pub pipeline: String,
    /// The revision that ran.
    pub revision: u32,
    /// The trigger step that started it.
    pub trigger: String,
    /// How it stands.
    pub status: RunStatus,
    /// When it began to execute; while it is queued, when it was queued.
    pub started: String,
    /// From then to its end, or to now, microseconds.
    pub took_us: u64,
    /// How long it waited in the queue before, microseconds.
    pub waited_us: u64,
    /// CPU time used, microseconds.
    pub cpu_us: u64,
    /// The first is 1.
    pub attempt: u32,
    /// The person who started it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Why it did not end well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<RunFault>,
    /// What holds it, while it is `waiting`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<RunWait>,
}

/// What a run waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunWait {
    /// The step that waits.
    pub step: String,
    /// For what.
    pub what: RunWaitFor,
    /// Since when; after a restart of the box, since then.
    pub since: String,
    /// Until when at the latest, if that is known: the pause's end, the next try, the step's
    /// timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// For what a step waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunWaitFor {
    /// The answer of something outside: a server, a database, a broker.
    Answer,
    /// A time.
    Time,
    /// The time of its next try.
    Retry,
    /// The branches of a list's items.
    Items,
    /// A guarded branch.
    Branch,
    /// A pipeline that it calls.
    Call,
    /// All branches that lead to it.
    Inputs,
}

/// A run that was canceled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CanceledRun {
    /// Its id.
    pub id: String,
    /// How it stood: `queued` and `waiting` runs end at once, one that is `running` within its
    /// script or behind the step that it is at.
    pub was: RunStatus,
}

/// Why a run or a step failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunFault {
    /// A stable word: `timeout`, `refused`, `bad_input`, `script`, ...
    pub code: String,
    /// For people.
    pub message: String,
    /// The step at fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
}

/// One run with what its steps did, as far as the pipeline keeps it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunDetail {
    /// The run.
    pub run: Run,
    /// What triggered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Item>,
    /// What it gave, where it is known: a webhook's answer, a call's value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Item>,
    /// Its steps in the order in which they began.
    #[serde(default)]
    pub steps: Vec<RunStep>,
    /// What it logged.
    #[serde(default)]
    pub lines: Vec<RunLine>,
    /// Steps, lines and items that were left out for their number or length.
    #[serde(default)]
    pub left_out: u64,
    /// All that it waits for, if it has not ended: what holds it first, then the steps around that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<RunWait>,
}

/// A datum that may have been cut.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Item {
    /// The whole datum; absent when it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub value: Option<Box<RawValue>>,
    /// The beginning of its text; absent when it is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beginning: Option<String>,
    /// Bytes of its whole text.
    pub bytes: u64,
}

impl Item {
    /// A datum from its JSON text, which is whole if it is `bytes` long.
    #[must_use]
    pub fn new(text: &str, bytes: u64) -> Self {
        let is_whole = text.len() as u64 == bytes;
        let value = is_whole.then(|| RawValue::from_string(text.to_owned()).ok()).flatten();
        let beginning = value.is_none().then(|| text.to_owned());
        Self { value, beginning, bytes }
    }

    /// The text to show, and whether it is whole.
    #[must_use]
    pub fn text(&self) -> (&str, bool) {
        match (&self.value, &self.beginning) {
            (Some(value), _) => (value.get(), true),
            (None, beginning) => (beginning.as_deref().unwrap_or_default(), false),
        }
    }
}

/// One step within a run.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunStep {
    /// Its id.
    pub step: String,
    /// How it ended; of several executions the worst.
    pub status: StepStatus,
    /// How often it was executed.
    pub count: u32,
    /// When it first began, after the run's start; microseconds.
    pub began_us: u64,
    /// Time of all its executions, microseconds.
    pub took_us: u64,
    /// Why it failed, the last time it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<RunFault>,
    /// Input of its last execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Item>,
    /// Output of its last execution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Item>,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Well.
    Ok,
    /// It passed nothing on.
    Nothing,
    /// It was switched off.
    Disabled,
    /// It failed and the run went on.
    Passed,
    /// It failed.
    Failed,
    /// It was under way when the run ended.
    Unfinished,
}

impl StepStatus {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Ok, Self::Nothing, Self::Disabled, Self::Passed, Self::Failed, Self::Unfinished];

    /// Its name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Nothing => "nothing",
            Self::Disabled => "disabled",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
        }
    }

    /// The status of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// One line that a run logged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunLine {
    /// `debug`, `info`, `warn` or `error`.
    pub level: String,
    /// The step that logged it.
    pub step: String,
    /// What it says.
    pub text: String,
}

/// Starts a run by hand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NewRun {
    /// The trigger step; the pipeline's only `manual` one when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// Its input, an object; the step's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Waits so long for its end, milliseconds, at most 20,000; does not wait when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// A run that was started.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StartedRun {
    /// Its id. It is durable: it runs, even if the box dies now.
    pub id: String,
    /// How it ended; absent if nobody waited, or not long enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<RunDetail>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_on_the_wire() {
        for status in RunStatus::ALL {
            assert_eq!(serde_json::to_string(&status).unwrap(), format!("\"{}\"", status.name()));
            assert_eq!(RunStatus::from_name(status.name()), Some(status));
        }
        for status in StepStatus::ALL {
            assert_eq!(serde_json::to_string(&status).unwrap(), format!("\"{}\"", status.name()));
            assert_eq!(StepStatus::from_name(status.name()), Some(status));
        }
    }

    #[test]
    fn a_cut_datum_is_told_as_text() {
        let whole = Item::new("{\"a\":18446744073709551615}", 26);
        assert_eq!(whole.text(), ("{\"a\":18446744073709551615}", true));
        let cut = Item::new("{\"a\":1844", 26);
        assert_eq!(cut.text(), ("{\"a\":1844", false));
        let json = serde_json::to_string(&cut).unwrap();
        assert_eq!(json, r#"{"beginning":"{\"a\":1844","bytes":26}"#);
    }
}
