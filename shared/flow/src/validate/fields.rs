//! The fields of a step against those of its kind.
//!
//! **Invariants**: a secret is only ever named; what is evaluated at execution is checked as far as
//! its text tells.

use super::{
    Faults, SCRIPT_BYTES_MAX, Severity, TEXT_BYTES_MAX, VALUE_DEPTH_MAX, is_pipeline_name, script,
};
use crate::document::{Document, Step};
use crate::expression::{Split, has_expression, outline, split};
use crate::kind::{self, CASES_MAX, Complaint, Complaints, FieldForm, FieldSpec};
use crate::kinds::unit;
use crate::near::{did_you_mean, meant_or_all};
use millrace_model::{Filter, topic};
use serde_json::{Map, Value};

/// Most items of a list in a field.
const ITEMS_MAX: usize = 10_000;
/// Checks one step.
pub(super) fn check(document: &Document, step: &Step, faults: &mut Faults) {
    let Some(kind) = step.known_kind() else {
        let meant = kind::meant(&step.kind);
        let meant = meant.map_or(";".to_owned(), |near| format!("; did you mean `{near}`?"));
        let message =
            format!("kind `{}` is not known{meant} `millrace pipeline kinds` lists all", step.kind);
        return faults.error(Some("kind"), "unknown_kind", message);
    };
    let before = faults.list.len();
    let mut checker = Checker { document, faults };
    for (name, value) in &step.fields {
        match kind.field(name) {
            None => {
                let known = kind.fields.iter().map(|field| field.name);
                let message =
                    format!("`{}` has no such field{}", kind.name, meant_or_all(name, known));
                checker.faults.error(Some(name), "unknown_field", message);
            }
            Some(spec) => checker.field(name, spec, value),
        }
    }
    for spec in kind.fields.iter().filter(|spec| spec.is_required) {
        if !step.fields.contains_key(spec.name) {
            checker.missing(spec.name, spec);
        }
    }
    if kind.name == "call"
        && step.fields.get("pipeline").and_then(Value::as_str) == Some(&document.name)
    {
        faults.error(Some("pipeline"), "calls_itself", "a pipeline cannot call itself");
    }
    let mut complaints = Complaints::default();
    (kind.check)(&step.fields, &mut complaints);
    let told = faults.list.get(before..).unwrap_or_default();
    // A field that is wrong by itself would only make the kind's own check repeat it.
    let is_told = |complaint: &Complaint| {
        let root = complaint.field.unwrap_or_default();
        told.iter().filter(|fault| fault.severity == Severity::Error).any(|fault| {
            let at = fault.field.as_deref().unwrap_or_default();
            at.strip_prefix(root).is_some_and(|rest| {
                !root.is_empty() && (rest.is_empty() || rest.starts_with(['.', '[']))
            })
        })
    };
    let new: Vec<_> = complaints.into_list().into_iter().filter(|c| !is_told(c)).collect();
    for Complaint { field, message } in new {
        faults.error(field, "fields_disagree", message);
    }
}

struct Checker<'a> {
    document: &'a Document,
    faults: &'a mut Faults,
}

impl Checker<'_> {
    fn missing(&mut self, at: &str, spec: &FieldSpec) {
        self.faults.error(Some(at), "missing_field", format!("is required: {}", spec.doc));
    }

    fn bad(&mut self, at: &str, message: impl Into<String>) {
        self.faults.error(Some(at), "bad_field", message);
    }

    fn field(&mut self, at: &str, spec: &FieldSpec, value: &Value) {
        if is_deeper(value, VALUE_DEPTH_MAX) {
            let message = format!("is nested more than {VALUE_DEPTH_MAX} deep");
            return self.faults.error(Some(at), "too_deep", message);
        }
        let is_empty = value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty());
        if spec.is_required && is_empty && spec.form != FieldForm::Json {
            return self.missing(at, spec);
        }
        self.form(at, spec.form, spec.allows_expression, value);
    }

    fn form(&mut self, at: &str, form: FieldForm, is_evaluated: bool, value: &Value) {
        if let Value::String(text) = value
            && has_expression(text)
            && !matches!(form, FieldForm::Code)
        {
            return self.text_with_expression(at, form, is_evaluated, text);
        }
        match form {
            FieldForm::Json => self.nested(at, is_evaluated, value),
            FieldForm::Map => match value {
                Value::Object(_) => self.nested(at, is_evaluated, value),
                _ => self.bad(at, "takes an object"),
            },
            FieldForm::List(of) => match value {
                Value::Array(items) if items.len() <= ITEMS_MAX => {
                    for (place, item) in items.iter().enumerate() {
                        self.form(&format!("{at}[{place}]"), *of, is_evaluated, item);
                    }
                }
                Value::Array(_) => self.bad(at, format!("takes {ITEMS_MAX} items at most")),
                _ => self.bad(at, format!("takes a {}, in brackets", form.name())),
            },
            FieldForm::Items(specs) => self.items(at, specs, value),
            FieldForm::Headers => match value {
                Value::Object(headers) => self.headers(at, headers),
                _ => self.bad(at, "takes an object of texts"),
            },
            FieldForm::Secret => self.secret(at, value),
            scalar => {
                if let Err(message) = check_scalar(scalar, value) {
                    self.bad(at, message);
                }
                if let (FieldForm::Code, Value::String(code)) = (form, value) {
                    script::check_source(self.document, at, code, true, self.faults);
                }
            }
        }
    }

    fn text_with_expression(&mut self, at: &str, form: FieldForm, is_evaluated: bool, text: &str) {
        if form == FieldForm::Secret {
            return self.secret(at, &Value::Null);
        }
        if !is_evaluated {
            let message = match form {
                FieldForm::Sql => "is fixed: values go into `parameters`",
                _ => "is fixed: expressions are not evaluated in it",
            };
            return self.faults.error(Some(at), "expression_not_allowed", message);
        }
        match split(text) {
            Err(fault) => self.faults.error(Some(at), "bad_expression", fault.to_string()),
            Ok(Split::Template(_)) if !form.takes_template() => {
                let message = format!(
                    "takes {} or one whole `{{{{ }}}}`, not text around an expression",
                    form.name()
                );
                self.bad(at, message);
            }
            Ok(parts) => {
                script::check_text(self.document, at, text, self.faults);
                // With a stand-in for each expression, what is left must be of the form.
                if matches!(parts, Split::Template(_))
                    && form != FieldForm::Text
                    && let Err(message) = check_scalar(form, &Value::String(outline(text)))
                {
                    self.bad(at, message);
                }
            }
        }
    }

    /// All texts within any JSON.
    fn nested(&mut self, at: &str, is_evaluated: bool, value: &Value) {
        match value {
            Value::String(text) if has_expression(text) => {
                self.text_with_expression(at, FieldForm::Json, is_evaluated, text);
            }
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    self.nested(&format!("{at}[{place}]"), is_evaluated, item);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.nested(&format!("{at}.{name}"), is_evaluated, value);
                }
            }
            _ => {}
        }
    }

    fn items(&mut self, at: &str, specs: &[FieldSpec], value: &Value) {
        let Some(items) = value.as_array() else { return self.bad(at, "takes a list of objects") };
        // More are refused by the kind's own check.
        for (place, item) in items.iter().take(CASES_MAX).enumerate() {
            let at = format!("{at}[{place}]");
            let Some(fields) = item.as_object() else {
                self.bad(&at, "takes an object");
                continue;
            };
            for (name, value) in fields {
                let at = format!("{at}.{name}");
                match specs.iter().find(|spec| spec.name == name) {
                    Some(spec) => self.field(&at, spec, value),
                    None => {
                        let known = specs.iter().map(|spec| spec.name);
                        let message = format!("is not known{}", meant_or_all(name, known));
                        self.faults.error(Some(&at), "unknown_field", message);
                    }
                }
            }
        }
    }

    fn headers(&mut self, at: &str, headers: &Map<String, Value>) {
        for (name, value) in headers {
            let at = format!("{at}.{name}");
            if !crate::kinds::is_header_name(name) {
                self.bad(&at, "is no name of an HTTP header");
            }
            let carries_credentials = crate::kinds::carries_credentials(name);
            match value {
                Value::Object(_) => self.secret(&at, value),
                Value::String(_) if carries_credentials => self.secret(&at, value),
                Value::String(text) if text.contains(['\r', '\n']) => {
                    self.bad(&at, "a header has no line breaks");
                }
                Value::String(_) => self.form(&at, FieldForm::Text, true, value),
                _ => self.bad(&at, "takes text, or `{ \"secret\": name }`"),
            }
        }
    }

    fn secret(&mut self, at: &str, value: &Value) {
        match crate::secret::name_of(value) {
            Some(name) if is_secret_name(name) => {}
            Some(_) => {
                self.bad(at, "a secret's name takes letters, digits, `-`, `_`, `.`; 64 at most");
            }
            None => {
                // The message does not repeat what may be the secret itself.
                let message = "takes `{ \"secret\": name }`: a secret is kept by the workspace and never \
             written into a document";
                self.faults.error(Some(at), "secret_literal", message);
            }
        }
    }
}

fn is_secret_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !name.is_empty() && name.len() <= 64 && name.bytes().all(is_plain)
}

/// Whether a value is nested more deeply than `depth`. Goes no deeper than that itself.
fn is_deeper(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth == 0 || items.iter().any(|item| is_deeper(item, depth - 1)),
        Value::Object(fields) => {
            depth == 0 || fields.values().any(|item| is_deeper(item, depth - 1))
        }
        _ => false,
    }
}

/// Checks a literal of a form that is no list or object.
fn check_scalar(form: FieldForm, value: &Value) -> Result<(), String> {
    match form {
        FieldForm::Number { least, most } => match value.as_f64() {
            Some(number) if number >= least && number <= most => Ok(()),
            _ => Err(format!("takes a {}", form.name())),
        },
        FieldForm::Integer { least, most } => match value.as_i64() {
            Some(number) if (least..=most).contains(&number) => Ok(()),
            _ => Err(format!("takes a whole number, {least} to {most}")),
        },
        FieldForm::Duration { least_ms, most_ms } => match value.as_u64() {
            Some(ms) if (least_ms..=most_ms).contains(&ms) => Ok(()),
            _ => Err(format!("takes whole milliseconds, {least_ms} to {most_ms}")),
        },
        FieldForm::Bool if value.is_boolean() => Ok(()),
        FieldForm::Bool => Err("takes true or false".into()),
        FieldForm::Test if value.is_boolean() => Ok(()),
        FieldForm::Test => Err("takes `{{ expression }}`, true or false".into()),
        _ => match value.as_str() {
            Some(text) => check_text(form, text),
            None => Err(format!("takes text: {}", form.name())),
        },
    }
}

/// Checks a literal of a form that is text.
fn check_text(form: FieldForm, text: &str) -> Result<(), String> {
    let most = if form == FieldForm::Text { TEXT_BYTES_MAX } else { SCRIPT_BYTES_MAX };
    if text.len() > most {
        return Err(format!("is longer than {most} bytes"));
    }
    let must = |holds: bool, message: &str| if holds { Ok(()) } else { Err(message.to_owned()) };
    match form {
        FieldForm::Path => topic::check_path(text).map_err(|fault| fault.to_string()),
        FieldForm::Topic => topic::check_name(text).map_err(|fault| fault.to_string()),
        FieldForm::Filter => Filter::new(text).map(drop).map_err(|fault| fault.to_string()),
        FieldForm::Enum(words) => must(words.contains(&text), &format!("takes {}", form.name())),
        FieldForm::Cron => {
            crate::cron::Cron::parse(text).map(drop).map_err(|fault| fault.to_string())
        }
        FieldForm::Zone => must(is_zone(text), "takes a time zone like `UTC` or `Europe/Berlin`"),
        FieldForm::Pipeline => must(is_pipeline_name(text), "is no name of a pipeline"),
        FieldForm::Unit => {
            let meant = || did_you_mean(text, unit::UNITS.iter().map(|unit| unit.symbol));
            must(unit::find(text).is_some(), &format!("is a unit that is not known{}", meant()))
        }
        FieldForm::Into => {
            let names = text.split('.');
            must(
                names.clone().count() <= 32 && names.clone().all(|name| !name.is_empty()),
                "takes a field's name, or names with dots between",
            )
        }
        _ => Ok(()),
    }
}

fn is_zone(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte);
    text.len() <= 64
        && text.bytes().all(is_plain)
        && text.split('/').all(|level| level.starts_with(|first: char| first.is_ascii_alphabetic()))
}
