//! Typed readers of a step's fields.
//!
//! Each looks at the step's own field, then at the kind's default. Readers that give a [`Field`]
//! take expressions; the others want the value itself and say so.
//!
//! **Invariants**: a JSON null counts as not there.

use super::{CompileFault, Compiler};
use crate::script::Form;
use crate::step::Field;
use millrace_flow::Data;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

impl Compiler<'_> {
    /// What a field holds: the step's own value, else the kind's default.
    #[must_use]
    pub fn raw(&self, name: &str) -> Option<Value> {
        let found = match self.step.known_kind() {
            Some(kind) => kind.value_of(&self.step.fields, name),
            None => self.step.fields.get(name).cloned(),
        };
        found.filter(|value| !value.is_null())
    }

    /// Whether the field is there (or has a default).
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    /// A field that must be there; expressions are evaluated.
    ///
    /// # Errors
    /// It is not there or does not compile.
    pub fn field(&mut self, name: &str) -> Result<Field, CompileFault> {
        self.optional(name)?.ok_or_else(|| self.missing(name))
    }

    /// The same with a value for when it is not there.
    ///
    /// # Errors
    /// It does not compile.
    pub fn field_or(&mut self, name: &str, default: Data) -> Result<Field, CompileFault> {
        Ok(self.optional(name)?.unwrap_or(Field::Literal(default)))
    }

    /// A field that may be missing; expressions are evaluated.
    ///
    /// # Errors
    /// It does not compile.
    pub fn optional(&mut self, name: &str) -> Result<Option<Field>, CompileFault> {
        match self.raw(name) {
            Some(value) => self.compile(name, &value).map(Some),
            None => Ok(None),
        }
    }

    /// A field that is one expression, with or without braces around it; true and false as they are.
    ///
    /// # Errors
    /// It is not there, is no text, or does not compile.
    pub fn expression(&mut self, name: &str) -> Result<Field, CompileFault> {
        match self.raw(name) {
            Some(Value::String(text)) if text.contains("{{") => {
                self.compile(name, &Value::String(text))
            }
            Some(Value::String(text)) => self.compile_expression(name, &text),
            Some(Value::Bool(value)) => Ok(Field::Literal(Data::Bool(value))),
            Some(_) => Err(self.fault(name, "must be an expression, as text")),
            None => Err(self.missing(name)),
        }
    }

    /// Statements of JavaScript; gives the number of the function for [`crate::step::Context::script`].
    ///
    /// # Errors
    /// It is not there or is no text.
    pub fn script(&mut self, name: &str) -> Result<usize, CompileFault> {
        let source = self.text(name)?;
        self.add_function(name, Form::Body, &source)
    }

    /// A list of fields: each element compiled on its own.
    ///
    /// # Errors
    /// It is no list or an element does not compile.
    pub fn fields(&mut self, name: &str) -> Result<Vec<Field>, CompileFault> {
        self.list(name)?.iter().map(|value| self.compile(name, value)).collect()
    }

    /// An object of fields, in the document's order.
    ///
    /// # Errors
    /// It is no object or a member does not compile.
    pub fn members(&mut self, name: &str) -> Result<Vec<(Arc<str>, Field)>, CompileFault> {
        match self.raw(name) {
            None => Ok(Vec::new()),
            Some(Value::Object(members)) => members
                .iter()
                .map(|(member, value)| Ok((member.as_str().into(), self.compile(name, value)?)))
                .collect(),
            Some(_) => Err(self.fault(name, "must be an object")),
        }
    }

    /// Fixed text that must be there.
    ///
    /// # Errors
    /// It is not there or is no text.
    pub fn text(&self, name: &str) -> Result<String, CompileFault> {
        self.optional_text(name)?.ok_or_else(|| self.missing(name))
    }

    /// Fixed text that may be missing.
    ///
    /// # Errors
    /// It is no text.
    pub fn optional_text(&self, name: &str) -> Result<Option<String>, CompileFault> {
        match self.raw(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.fault(name, "must be text")),
        }
    }

    /// A fixed number; `None` if it is not there.
    ///
    /// # Errors
    /// It is no number.
    pub fn number(&self, name: &str) -> Result<Option<f64>, CompileFault> {
        match self.raw(name) {
            None => Ok(None),
            Some(value) => {
                value.as_f64().map(Some).ok_or_else(|| self.fault(name, "must be a number"))
            }
        }
    }

    /// A fixed whole number that is not negative; `None` if it is not there.
    ///
    /// # Errors
    /// It is something else.
    pub fn whole(&self, name: &str) -> Result<Option<u64>, CompileFault> {
        match self.raw(name) {
            None => Ok(None),
            Some(value) => value
                .as_u64()
                .map(Some)
                .ok_or_else(|| self.fault(name, "must be a whole number that is not negative")),
        }
    }

    /// A fixed span in milliseconds; `None` if it is not there.
    ///
    /// # Errors
    /// It is no whole number of milliseconds.
    pub fn duration(&self, name: &str) -> Result<Option<Duration>, CompileFault> {
        Ok(self.whole(name)?.map(Duration::from_millis))
    }

    /// True or false; false if it is not there.
    ///
    /// # Errors
    /// It is neither.
    pub fn flag(&self, name: &str) -> Result<bool, CompileFault> {
        match self.raw(name) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(value),
            Some(_) => Err(self.fault(name, "must be true or false")),
        }
    }

    /// One of some words; the first of them if it is not there.
    ///
    /// # Errors
    /// It is another word.
    pub fn choice<T: Copy>(
        &self,
        name: &str,
        words: &[(&'static str, T)],
    ) -> Result<T, CompileFault> {
        let found = match self.raw(name) {
            None => words.first(),
            Some(Value::String(text)) => words.iter().find(|(word, _)| *word == text),
            Some(_) => None,
        };
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            self.fault(name, format!("must be one of {}", words.join(", ")))
        })
    }

    /// A list as it stands; empty if it is not there.
    ///
    /// # Errors
    /// It is no list.
    pub fn list(&self, name: &str) -> Result<Vec<Value>, CompileFault> {
        match self.raw(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(self.fault(name, "must be a list")),
        }
    }

    /// A fixed list of texts; a single text counts as a list of one.
    ///
    /// # Errors
    /// It is something else.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, CompileFault> {
        match self.raw(name) {
            None => Ok(Vec::new()),
            Some(Value::String(text)) => Ok(vec![text]),
            Some(Value::Array(items)) => items
                .iter()
                .map(|item| item.as_str().map(str::to_owned))
                .collect::<Option<_>>()
                .ok_or_else(|| self.fault(name, "must be a list of texts")),
            Some(_) => Err(self.fault(name, "must be a list of texts")),
        }
    }

    /// The name of a secret; its value comes from [`crate::services::Services::secret`] at
    /// execution. `None` if it is not there.
    ///
    /// # Errors
    /// It is not `{ "secret": "<name>" }`.
    pub fn secret(&self, name: &str) -> Result<Option<String>, CompileFault> {
        let Some(value) = self.raw(name) else { return Ok(None) };
        let found = value.as_object().filter(|object| object.len() == 1);
        let found = found.and_then(|object| object.get("secret")).and_then(Value::as_str);
        found.map(|name| Some(name.to_owned())).ok_or_else(|| {
            self.fault(name, "must name a secret of the workspace: {\"secret\": \"name\"}")
        })
    }

    fn missing(&self, name: &str) -> CompileFault {
        self.fault(name, "is missing")
    }
}
