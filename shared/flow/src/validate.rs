//! The rules of documents, in one place for the designer and the appliance.
//!
//! [`validate`] finds all faults at once and names step and field of each. Errors keep a document
//! from being deployed; warnings do not. What only the appliance can know (whether a script
//! compiles, a pipeline or secret exists, a zone is known) is checked there at deployment.
//!
//! **Invariants**: no document panics or takes more than linear time, but for the pairs of a step's
//! few fields; the list is bounded by [`FAULTS_MAX`] and in the order of the document.

mod cases;
mod fields;
mod graph;
mod script;

use crate::document::{Document, FORMAT, Order, Step};
use serde::{Deserialize, Serialize};

/// Most steps of a document.
pub const STEPS_MAX: usize = 1_000;
/// Most wires of a document.
pub const WIRES_MAX: usize = 5_000;
/// Longest name of a pipeline or id of a step, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// Longest label of a step, in bytes.
pub const LABEL_BYTES_MAX: usize = 200;
/// Longest description, in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 16 * 1024;
/// Longest script or statement, in bytes.
pub const SCRIPT_BYTES_MAX: usize = 256 * 1024;
/// Longest text of a field, in bytes.
pub const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Deepest nesting of a field's value.
pub const VALUE_DEPTH_MAX: usize = 32;
/// Longest timeout of a step: a week.
pub const TIMEOUT_MS_MAX: u64 = 7 * 24 * 3_600 * 1_000;
/// Longest wait before another attempt: a day.
pub const RETRY_MS_MAX: u64 = 24 * 3_600 * 1_000;
/// Most further attempts.
pub const RETRIES_MAX: u32 = 20;
/// Most faults that are listed.
pub const FAULTS_MAX: usize = 1_000;

/// How bad a fault is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The document cannot be deployed.
    Error,
    /// It can, but is probably not what was meant.
    Warning,
}

/// One fault of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// How bad it is.
    pub severity: Severity,
    /// The step, if it is about one.
    pub step: Option<String>,
    /// The field of the step (`cases[1].test`) or of the document, if it is about one.
    pub field: Option<String>,
    /// The line of the document's text, from 1: of what keeps a text from being read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// A stable word: one of [`CODES`].
    pub code: &'static str,
    /// For people: what is wrong and what to do.
    pub message: String,
}

/// All codes of faults.
pub const CODES: &[&str] = &[
    "bad_case",
    "bad_expression",
    "bad_field",
    "bad_id",
    "bad_name",
    "bad_retry",
    "bad_setting",
    "bad_shape",
    "bad_timeout",
    "calls_itself",
    "cycle",
    "dangling_wire",
    "duplicate_key",
    "duplicate_wire",
    "expression_not_allowed",
    "fields_disagree",
    "format",
    "go_to_unknown_step",
    "inexact_number",
    "missing_field",
    "no_trigger",
    "not_in_scripts",
    "not_json",
    "retry_without_effect",
    "secret_literal",
    "too_deep",
    "too_large",
    "too_long",
    "too_many_faults",
    "too_many_steps",
    "too_many_wires",
    "trigger_has_input",
    "trigger_setting",
    "unknown_field",
    "unknown_kind",
    "unknown_name",
    "unknown_port",
    "unknown_step",
    "unreachable",
    "unused_layout",
];

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let step = self.step.as_ref().map(|step| format!("step `{step}`"));
        let field = match (&self.field, &step) {
            (Some(field), Some(_)) => Some(format!("field `{field}`")),
            (field, _) => field.as_ref().map(|field| format!("`{field}`")),
        };
        let line = self.line.map(|line| format!("line {line}"));
        let place: Vec<_> = [step, field, line].into_iter().flatten().collect();
        match place.is_empty() {
            true => f.write_str(&self.message),
            false => write!(f, "{}: {}", place.join(", "), self.message),
        }
    }
}

/// Whether any of the faults keeps the document from being deployed.
#[must_use]
pub fn has_errors(faults: &[Fault]) -> bool {
    faults.iter().any(|fault| fault.severity == Severity::Error)
}

/// Finds all faults of a document.
#[must_use]
pub fn validate(document: &Document) -> Vec<Fault> {
    let mut faults = Faults::default();
    head(document, &mut faults);
    if document.steps.len() > STEPS_MAX {
        let message =
            format!("{} steps, {STEPS_MAX} at most: split the pipeline", document.steps.len());
        faults.document("steps", "too_many_steps", message);
    }
    if document.wires.len() > WIRES_MAX {
        let message = format!("{} wires, {WIRES_MAX} at most", document.wires.len());
        faults.document("wires", "too_many_wires", message);
    }
    let over = ["too_many_steps", "too_many_wires", "too_large"];
    if faults.list.iter().any(|fault| over.contains(&fault.code)) {
        // Nothing that is over a limit is looked at further.
        return faults.list;
    }
    for (id, step) in &document.steps {
        faults.at_step(id);
        step_itself(id, step, &mut faults);
        fields::check(document, step, &mut faults);
    }
    faults.at_document();
    graph::check(document, &mut faults);
    cases::check(document, &mut faults);
    for id in document.layout.keys().filter(|id| !document.steps.contains_key(*id)) {
        faults.warn(Some("layout"), "unused_layout", format!("there is no step `{id}`"));
    }
    faults.list
}

/// The last fault of a list that is not all.
pub(crate) fn too_many() -> Fault {
    let message = format!("more than {FAULTS_MAX} faults; the rest is not listed");
    let (severity, code) = (Severity::Error, "too_many_faults");
    Fault { severity, step: None, field: None, line: None, code, message }
}

/// What was found so far, and where the search is.
#[derive(Default)]
struct Faults {
    list: Vec<Fault>,
    step: Option<String>,
}

impl Faults {
    fn at_step(&mut self, id: &str) {
        self.step = Some(id.to_owned());
    }

    fn at_document(&mut self) {
        self.step = None;
    }

    fn add(
        &mut self,
        severity: Severity,
        field: Option<&str>,
        code: &'static str,
        message: String,
    ) {
        debug_assert!(CODES.contains(&code), "{code}");
        match self.list.len() {
            known if known > FAULTS_MAX => {}
            FAULTS_MAX => self.list.push(too_many()),
            _ => {
                let (step, field) = (self.step.clone(), field.map(str::to_owned));
                self.list.push(Fault { severity, step, field, line: None, code, message });
            }
        }
    }

    fn error(&mut self, field: Option<&str>, code: &'static str, message: impl Into<String>) {
        self.add(Severity::Error, field, code, message.into());
    }

    fn warn(&mut self, field: Option<&str>, code: &'static str, message: impl Into<String>) {
        self.add(Severity::Warning, field, code, message.into());
    }

    fn document(&mut self, field: &str, code: &'static str, message: impl Into<String>) {
        self.at_document();
        self.error(Some(field), code, message);
    }
}

/// Whether text can be a pipeline's name.
#[must_use]
pub fn is_pipeline_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    name.len() <= NAME_BYTES_MAX
        && name.bytes().all(is_plain)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
}

/// Whether text can be a step's id.
#[must_use]
pub fn is_step_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    id.len() <= NAME_BYTES_MAX
        && id.bytes().all(is_plain)
        && id.starts_with(|first: char| first.is_ascii_alphabetic())
}

fn head(document: &Document, faults: &mut Faults) {
    if document.millrace != FORMAT {
        let message = format!("format {} is not known, only {FORMAT}", document.millrace);
        faults.document("millrace", "format", message);
    }
    if !is_pipeline_name(&document.name) {
        let message = format!(
            "takes lower-case letters, digits and hyphens, a letter or digit first, \
             {NAME_BYTES_MAX} at most"
        );
        faults.document("name", "bad_name", message);
    }
    if document.description.len() > DESCRIPTION_BYTES_MAX {
        let message = format!("is longer than {DESCRIPTION_BYTES_MAX} bytes");
        faults.document("description", "too_long", message);
    }
    let size_bytes = size_bytes(document);
    if size_bytes > crate::text::DOCUMENT_BYTES_MAX {
        let most = crate::text::DOCUMENT_BYTES_MAX;
        faults.error(
            None,
            "too_large",
            format!("the document has {size_bytes} bytes, {most} at most"),
        );
    }
    if let Order::InOrderBy(text) = &document.settings.order {
        let field = Some("settings.order");
        match crate::expression::split(text) {
            Ok(crate::expression::Split::Literal(_)) => {
                let message = "`in_order_by` takes an expression, like `{{ $trigger.path }}`";
                faults.error(field, "bad_setting", message);
            }
            Ok(_) => script::check_text(document, "settings.order", text, faults),
            Err(fault) => faults.error(field, "bad_expression", fault.to_string()),
        }
    }
    let limits = document.settings.limits;
    if limits.cpu_ms.is_some_and(|ms| !(1..=60_000).contains(&ms)) {
        faults.document("settings.limits.cpu_ms", "bad_setting", "takes 1 to 60,000");
    }
    let memory = 1024 * 1024..=256 * 1024 * 1024;
    if limits.memory_bytes.is_some_and(|bytes| !memory.contains(&bytes)) {
        let message = "takes 1,048,576 (1 MiB) to 268,435,456 (256 MiB)";
        faults.document("settings.limits.memory_bytes", "bad_setting", message);
    }
}

/// Bytes of the document's shortest JSON.
fn size_bytes(document: &Document) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // The counter refuses nothing; what cannot be written at all is as large as can be.
    match serde_json::to_writer(&mut count, document) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}

fn step_itself(id: &str, step: &Step, faults: &mut Faults) {
    if !is_step_id(id) {
        let message = format!(
            "an id takes letters, digits, `-` and `_`, a letter first, {NAME_BYTES_MAX} \
             at most"
        );
        faults.error(None, "bad_id", message);
    }
    if step.label.len() > LABEL_BYTES_MAX {
        faults.error(Some("label"), "too_long", format!("is longer than {LABEL_BYTES_MAX} bytes"));
    }
    if step.timeout_ms.is_some_and(|ms| !(1..=TIMEOUT_MS_MAX).contains(&ms)) {
        faults.error(Some("timeout_ms"), "bad_timeout", format!("takes 1 to {TIMEOUT_MS_MAX}"));
    }
    if let Some(retry) = &step.retry {
        if !(1..=RETRIES_MAX).contains(&retry.times) {
            faults.error(Some("retry.times"), "bad_retry", format!("takes 1 to {RETRIES_MAX}"));
        }
        if !(1.0..=10.0).contains(&retry.factor) {
            faults.error(Some("retry.factor"), "bad_retry", "takes 1 to 10");
        }
        if !(1..=RETRY_MS_MAX).contains(&retry.first_ms) {
            faults.error(Some("retry.first_ms"), "bad_retry", format!("takes 1 to {RETRY_MS_MAX}"));
        }
        if !(retry.first_ms..=RETRY_MS_MAX).contains(&retry.most_ms) {
            let message = format!("takes `first_ms` to {RETRY_MS_MAX}");
            faults.error(Some("retry.most_ms"), "bad_retry", message);
        }
    }
    let kind = step.known_kind();
    if let Some(kind) = kind.filter(|kind| step.retry.is_some() && !kind.may_try_again())
        && !step.is_trigger()
    {
        let message = format!(
            "has no effect: what fails in `{}` is not tried again. Only faults that may pass are: \
             a target that cannot be reached, is busy, or does not answer in time",
            kind.name
        );
        faults.warn(Some("retry"), "retry_without_effect", message);
    }
    if step.is_trigger() {
        let has_some = step.timeout_ms.is_some() || step.retry.is_some();
        if has_some || step.on_error != crate::document::OnError::Stop {
            let message = "`timeout_ms`, `retry` and `on_error` have no meaning for a trigger";
            faults.warn(None, "trigger_setting", message);
        }
    }
}

#[cfg(test)]
mod tests;
