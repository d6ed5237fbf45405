//! From a document's step to a compiled one.
//!
//! Each kind of step brings a function ([`Compile`]) that reads the step's fields through the
//! [`Compiler`] and gives the compiled step. The [`Registry`] knows the functions by the kind's
//! name; the core, the actions and tests fill it. Expressions become [`Field`]s: literals and plain
//! paths stay in Rust, everything else is a function of the pipeline's [`Unit`].
//!
//! **Invariants**: compiling has no effects; a fault names the step and, if it is about one, the
//! field.

mod read;

use crate::accessor::Accessor;
use crate::script::{Form, Function, Unit};
use crate::step::{Field, Step};
use millrace_flow::document;
use millrace_flow::expression::{self, Part, Simple, Split};
use millrace_flow::{Data, Map};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Compiles a step of one kind.
pub type Compile = fn(&document::Step, &mut Compiler<'_>) -> Result<Arc<dyn Step>, CompileFault>;

/// The same with something of its own: a pool of connections, say.
type SharedCompile =
    dyn Fn(&document::Step, &mut Compiler<'_>) -> Result<Arc<dyn Step>, CompileFault> + Send + Sync;

/// Most functions (scripts and expressions) of one pipeline.
pub const FUNCTIONS_MAX: usize = 10_000;

/// Why a step does not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step `{step}`{}: {message}", field.as_ref().map(|field| format!(", field `{field}`")).unwrap_or_default())]
pub struct CompileFault {
    /// The step's id; empty if it is about the pipeline as a whole.
    pub step: String,
    /// The field, if it is about one.
    pub field: Option<String>,
    /// What is wrong and what to do.
    pub message: String,
}

/// The kinds that can be compiled.
#[derive(Clone, Default)]
pub struct Registry {
    kinds: BTreeMap<&'static str, Compile>,
    shared: BTreeMap<&'static str, Arc<SharedCompile>>,
}

impl Registry {
    /// An empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kind; the last one of a name counts.
    pub fn add(&mut self, kind: &'static str, compile: Compile) {
        self.kinds.insert(kind, compile);
    }

    /// Adds a kind whose function holds something; it counts before one of the same name without.
    pub fn add_shared(
        &mut self,
        kind: &'static str,
        compile: impl Fn(&document::Step, &mut Compiler<'_>) -> Result<Arc<dyn Step>, CompileFault>
        + Send
        + Sync
        + 'static,
    ) {
        self.shared.insert(kind, Arc::new(compile));
    }

    /// Compiles a step of a kind; `None` if the kind is not known.
    pub fn compile(
        &self,
        kind: &str,
        step: &document::Step,
        compiler: &mut Compiler<'_>,
    ) -> Option<Result<Arc<dyn Step>, CompileFault>> {
        match self.shared.get(kind) {
            Some(compile) => Some(compile(step, compiler)),
            None => self.get(kind).map(|compile| compile(step, compiler)),
        }
    }

    /// The function of a kind that holds nothing.
    #[must_use]
    pub fn get(&self, kind: &str) -> Option<Compile> {
        self.kinds.get(kind).copied()
    }

    /// All kinds, sorted.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.kinds.keys().chain(self.shared.keys()).copied()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.kinds()).finish()
    }
}

/// Reads one step's fields and collects its scripts. Typed readers are in `compile/read.rs`.
pub struct Compiler<'a> {
    id: &'a str,
    step: &'a document::Step,
    document: &'a document::Document,
    unit: &'a mut Unit,
    pub(crate) keeps_state: bool,
    /// Secrets that the step uses when it is executed.
    pub(crate) secrets: Vec<Arc<str>>,
}

impl<'a> Compiler<'a> {
    /// A compiler for one step of a document, which adds its functions to `unit`.
    pub fn new(
        id: &'a str,
        step: &'a document::Step,
        document: &'a document::Document,
        unit: &'a mut Unit,
    ) -> Self {
        Self { id, step, document, unit, keeps_state: false, secrets: Vec::new() }
    }

    /// The step's id.
    #[must_use]
    pub fn id(&self) -> &'a str {
        self.id
    }

    /// The whole document.
    #[must_use]
    pub fn document(&self) -> &'a document::Document {
        self.document
    }

    /// Whether a wire leaves this port.
    #[must_use]
    pub fn is_wired(&self, port: &str) -> bool {
        self.document.wires.iter().any(|wire| wire.from == self.id && wire.port == port)
    }

    /// Says that the step reads and changes its lasting state, so that its pipeline's runs have to
    /// run on one thread. Known already of kinds that flow's table calls stateful and of scripts.
    pub fn keep_state(&mut self) {
        self.keeps_state = true;
    }

    /// Says that the step's executions use this secret.
    pub fn uses_secret(&mut self, name: &str) {
        self.secrets.push(name.into());
    }

    /// A fault of a field.
    pub fn fault(&self, field: &str, message: impl Into<String>) -> CompileFault {
        CompileFault { step: self.id.into(), field: Some(field.into()), message: message.into() }
    }

    /// A fault of the step.
    pub fn step_fault(&self, message: impl Into<String>) -> CompileFault {
        CompileFault { step: self.id.into(), field: None, message: message.into() }
    }

    /// Compiles any JSON: texts with `{{ ... }}` inside, at any depth, become evaluated.
    ///
    /// # Errors
    /// An expression that has no end, or too many of them.
    pub fn compile(&mut self, field: &str, value: &Value) -> Result<Field, CompileFault> {
        Ok(match value {
            Value::String(text) => self.compile_text(field, text)?,
            Value::Array(items) => {
                let fields = items
                    .iter()
                    .map(|item| self.compile(field, item))
                    .collect::<Result<Vec<_>, _>>()?;
                match fields.iter().map(literal).collect::<Option<Vec<Data>>>() {
                    Some(literals) => Field::Literal(Data::List(literals.into())),
                    None => Field::List(fields),
                }
            }
            Value::Object(members) => {
                let mut fields: Vec<(Arc<str>, Field)> = Vec::with_capacity(members.len());
                for (name, member) in members {
                    fields.push((name.as_str().into(), self.compile(field, member)?));
                }
                // Their own values: a text may have been an expression.
                let mut literals = Map::with_capacity(fields.len());
                for (name, field) in &fields {
                    match literal(field) {
                        Some(data) => literals.set(Arc::clone(name), data),
                        None => return Ok(Field::Map(fields)),
                    }
                }
                Field::Literal(Data::Map(Arc::new(literals)))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                Field::Literal(crate::json::data_of(value))
            }
        })
    }

    /// Compiles the source of one expression, without braces.
    ///
    /// # Errors
    /// Too many functions.
    pub fn compile_expression(&mut self, field: &str, source: &str) -> Result<Field, CompileFault> {
        let source = source.trim();
        match expression::simple(source) {
            Some(Simple::Path(path)) => return Ok(Field::Path(Accessor::new(path))),
            Some(Simple::Literal(data)) => return Ok(Field::Literal(data)),
            None => {}
        }
        self.add_function(field, Form::Expression, source).map(Field::Script)
    }

    fn compile_text(&mut self, field: &str, text: &str) -> Result<Field, CompileFault> {
        let split =
            expression::split(text).map_err(|fault| self.fault(field, fault.to_string()))?;
        match split {
            Split::Literal(text) => Ok(Field::Literal(Data::Text(text.into()))),
            Split::Whole(source) => self.compile_expression(field, source.text),
            Split::Template(parts) => {
                let mut fields = Vec::with_capacity(parts.len());
                for part in parts {
                    fields.push(match part {
                        Part::Literal(text) => Field::Literal(Data::Text(text.into())),
                        Part::Expression(source) => self.compile_expression(field, source.text)?,
                    });
                }
                Ok(Field::Template(fields))
            }
        }
    }

    fn add_function(
        &mut self,
        field: &str,
        form: Form,
        source: &str,
    ) -> Result<usize, CompileFault> {
        if source.trim().is_empty() {
            return Err(self.fault(field, "holds an empty expression; write one or remove it"));
        }
        let known = self.unit.functions.iter().position(|known| {
            known.step == self.id && known.form == form && known.source == source
        });
        if let Some(known) = known {
            return Ok(known);
        }
        if self.unit.functions.len() >= FUNCTIONS_MAX {
            let message = format!("the pipeline has more than {FUNCTIONS_MAX} expressions");
            return Err(self.fault(field, message));
        }
        self.unit.functions.push(Function {
            step: self.id.into(),
            field: field.into(),
            form,
            source: source.into(),
        });
        Ok(self.unit.functions.len() - 1)
    }
}

fn literal(field: &Field) -> Option<Data> {
    match field {
        Field::Literal(data) => Some(data.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
