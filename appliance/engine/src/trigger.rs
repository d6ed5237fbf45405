//! What starts runs: the triggers of a pipeline, read from their steps.
//!
//! A value trigger is found per tag through the [`index`]; the others are asked by whoever drives
//! them: the timekeeper (schedules, startup), the API (manual, http), the list of issues, and the
//! actions (messages of other brokers).
//!
//! **Invariants**: a trigger is known by its step's id, so that what it remembers survives a new
//! revision.

pub(crate) mod change;
pub(crate) mod cron;
pub(crate) mod index;
pub(crate) mod schedule;

use crate::compile::{CompileFault, Compiler};
use change::Rule;
use millrace_flow::{Data, Map};
use millrace_model::quality::Grade;
use millrace_model::{Filter, Quality};
use millrace_supervisor::{IssueChange, Severity};
use schedule::Schedule;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// One trigger of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Trigger {
    /// Number of its step.
    pub(crate) step: u16,
    /// Its step's id.
    pub(crate) id: Arc<str>,
    /// What starts it.
    pub(crate) cause: Cause,
}

/// What starts a trigger.
#[derive(Clone, Debug)]
pub(crate) enum Cause {
    Value(ValueCause),
    Schedule(Schedule),
    Startup {
        on_start: bool,
        on_deploy: bool,
        after: Duration,
    },
    Manual {
        input: Arc<Map>,
    },
    Http(HttpCause),
    Issue(IssueCause),
    /// Driven from outside of the engine: `mqtt.subscribe`, and kinds of tests.
    Outside {
        kind: Arc<str>,
    },
}

/// `uns.subscribe`.
#[derive(Clone, Debug)]
pub(crate) struct ValueCause {
    pub(crate) filters: Vec<Filter>,
    pub(crate) rule: Rule,
    pub(crate) lowest: Lowest,
}

/// The lowest grade that starts a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lowest {
    Bad,
    Uncertain,
    Good,
}

impl Lowest {
    pub(crate) fn admits(self, quality: Quality) -> bool {
        match self {
            Self::Bad => true,
            Self::Uncertain => quality.grade() != Grade::Bad,
            Self::Good => quality.grade() == Grade::Good,
        }
    }
}

/// `http`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HttpCause {
    pub(crate) path: String,
    pub(crate) methods: Vec<String>,
    pub(crate) secret: String,
    pub(crate) secret_header: String,
    pub(crate) answers_result: bool,
    pub(crate) answer_within: Duration,
    pub(crate) body_bytes_max: usize,
}

/// `issue`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IssueCause {
    pub(crate) keys: Vec<String>,
    pub(crate) on_raised: bool,
    pub(crate) on_cleared: bool,
    pub(crate) severity_min: Severity,
}

impl IssueCause {
    /// Whether a change starts a run: `true` if the issue has come to the lowest severity or above,
    /// `false` if it is gone or has fallen below.
    pub(crate) fn wants(&self, change: &IssueChange) -> Option<bool> {
        let counts =
            |severity: Option<Severity>| severity.is_some_and(|is| is >= self.severity_min);
        let is_raised = match (counts(change.before), counts(change.after)) {
            (false, true) => true,
            (true, false) => false,
            _ => return None,
        };
        let is_on = if is_raised { self.on_raised } else { self.on_cleared };
        let key = change.state.key.as_str();
        let is_key = |pattern: &String| match pattern.strip_suffix('*') {
            Some(front) => key.starts_with(front),
            None => key == pattern,
        };
        (is_on && self.keys.iter().any(is_key)).then_some(is_raised)
    }
}

impl Cause {
    /// Reads a trigger step; the kind is known to be a trigger's.
    pub(crate) fn read(kind: &str, compiler: &Compiler<'_>) -> Result<Self, CompileFault> {
        Ok(match kind {
            "uns.subscribe" => Self::Value(read_value(compiler)?),
            "schedule" => Self::Schedule(read_schedule(compiler)?),
            "startup" => {
                let (on_start, on_deploy) = compiler.choice(
                    "on",
                    &[("both", (true, true)), ("start", (true, false)), ("deploy", (false, true))],
                )?;
                let after = compiler.duration("after_ms")?.unwrap_or_default();
                Self::Startup { on_start, on_deploy, after }
            }
            "manual" => Self::Manual { input: read_input(compiler)? },
            "http" => Self::Http(read_http(compiler)?),
            "issue" => Self::Issue(read_issue(compiler)?),
            kind => Self::Outside { kind: kind.into() },
        })
    }
}

fn read_value(compiler: &Compiler<'_>) -> Result<ValueCause, CompileFault> {
    let texts = compiler.texts("filters")?;
    if texts.is_empty() {
        return Err(compiler.fault("filters", "names no filter"));
    }
    let filters = texts
        .iter()
        .map(|text| Filter::new(text))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| compiler.fault("filters", error.to_string()))?;
    let at_least_every = compiler.duration("at_least_every_ms")?;
    let rule = match compiler.choice("when", &[("every", 0), ("change", 1), ("deadband", 2)])? {
        0 => Rule::Every,
        1 => Rule::Change { at_least_every },
        _ => match (compiler.number("deadband")?, compiler.number("deadband_percent")?) {
            (Some(width), None) => Rule::Deadband { width, at_least_every },
            (None, Some(percent)) => Rule::DeadbandPercent { percent, at_least_every },
            _ => {
                let message = "`deadband` needs exactly one of `deadband` and `deadband_percent`";
                return Err(compiler.fault("when", message));
            }
        },
    };
    let lowest = compiler.choice(
        "quality_min",
        &[("bad", Lowest::Bad), ("uncertain", Lowest::Uncertain), ("good", Lowest::Good)],
    )?;
    Ok(ValueCause { filters, rule, lowest })
}

fn read_schedule(compiler: &Compiler<'_>) -> Result<Schedule, CompileFault> {
    let makes_up = compiler.choice("missed", &[("skip", false), ("once", true)])?;
    match (compiler.optional_text("cron")?, compiler.duration("every_ms")?) {
        (Some(text), None) => {
            let zone = compiler.optional_text("zone")?.unwrap_or_else(|| "UTC".into());
            let cron = millrace_flow::cron::Cron::parse(&text)
                .map(cron::Due)
                .map_err(|fault| compiler.fault("cron", fault.to_string()))?;
            let zone = jiff::tz::TimeZone::get(&zone)
                .map_err(|error| compiler.fault("zone", error.to_string()))?;
            Ok(Schedule::cron(cron, zone, makes_up))
        }
        (None, Some(every)) if !every.is_zero() => Ok(Schedule::every(every, makes_up)),
        _ => Err(compiler.step_fault("needs exactly one of `cron` and `every_ms`")),
    }
}

fn read_input(compiler: &Compiler<'_>) -> Result<Arc<Map>, CompileFault> {
    match compiler.raw("input").map(|value| crate::json::data_of(&value)) {
        None => Ok(Arc::default()),
        Some(Data::Map(map)) => Ok(map),
        Some(_) => Err(compiler.fault("input", "must be an object")),
    }
}

fn read_http(compiler: &Compiler<'_>) -> Result<HttpCause, CompileFault> {
    let missing = || compiler.fault("secret", "is missing");
    Ok(HttpCause {
        path: compiler.text("path")?,
        methods: compiler.texts("methods")?,
        secret: compiler.secret("secret")?.ok_or_else(missing)?,
        secret_header: compiler
            .optional_text("secret_header")?
            .map_or_else(|| "authorization".into(), |name| name.to_ascii_lowercase()),
        answers_result: compiler.choice("answer", &[("at_once", false), ("result", true)])?,
        answer_within: compiler.duration("answer_within_ms")?.unwrap_or(Duration::from_secs(10)),
        body_bytes_max: compiler
            .whole("body_size_bytes_max")?
            .and_then(|bytes| usize::try_from(bytes).ok())
            .unwrap_or(1024 * 1024),
    })
}

fn read_issue(compiler: &Compiler<'_>) -> Result<IssueCause, CompileFault> {
    let (on_raised, on_cleared) = compiler.choice(
        "on",
        &[("raised", (true, false)), ("cleared", (false, true)), ("both", (true, true))],
    )?;
    let severity_min = compiler.choice(
        "severity_min",
        &[
            ("notice", Severity::Notice),
            ("warning", Severity::Warning),
            ("critical", Severity::Critical),
        ],
    )?;
    let keys = match compiler.raw("keys") {
        Some(Value::Array(_)) => compiler.texts("keys")?,
        _ => vec!["*".to_owned()],
    };
    Ok(IssueCause { keys, on_raised, on_cleared, severity_min })
}
