//! The fields of an outside step: read once from the document, evaluated for each execution.
//!
//! Fixed fields are looked at when the pipeline is compiled. A secret stays a name until a step is
//! really about to connect; rehearsals, history and messages see `<secret name>`.
//!
//! **Invariants**: only what the document itself writes as `{ "secret": name }` is a secret: data
//! of a device that looks like one is data; a default is the kind's own (`flow`).

use crate::dial::{Endpoint, Tls, Trust};
use crate::limits::{HEADER_BYTES_MAX, HEADERS_MAX};
use millrace_engine::step::{Context, Field, StepFault};
use millrace_engine::{CompileFault, Compiler, Secrets};
use millrace_flow::document::Step;
use millrace_flow::kind::{self, Kind};
use millrace_flow::{Data, Map};
use serde_json::Value;
use std::sync::Arc;

/// Reads the fields of one step.
pub(crate) struct Reader<'r, 'c> {
    kind: &'static Kind,
    step: &'r Step,
    compiler: &'r mut Compiler<'c>,
    /// What a stub records, in the order of reading.
    shown: Vec<(&'static str, Shown)>,
}

/// One field as it is evaluated and shown.
#[derive(Debug)]
enum Shown {
    Field(Field),
    Secret(String),
    /// The input's own value.
    Own,
    Headers(Vec<(String, Header)>),
}

/// One header of a request.
#[derive(Clone, Debug)]
pub(crate) enum Header {
    Field(Field),
    Secret(String),
}

/// All fields of a step, to be evaluated together.
#[derive(Debug)]
pub(crate) struct Fields(Vec<(&'static str, Shown)>);

/// A secret by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SecretName(pub(crate) String);

impl<'r, 'c> Reader<'r, 'c> {
    pub(crate) fn new(
        step: &'r Step,
        compiler: &'r mut Compiler<'c>,
    ) -> Result<Self, CompileFault> {
        let Some(kind) = kind::find(&step.kind) else {
            return Err(compiler.step_fault(format!("the kind `{}` is not known", step.kind)));
        };
        Ok(Self { kind, step, compiler, shown: Vec::new() })
    }

    /// What a field holds, the kind's default included; null counts as left out.
    fn raw(&self, name: &str) -> Option<Value> {
        self.kind.value_of(&self.step.fields, name).filter(|value| !value.is_null())
    }

    pub(crate) fn fault(&self, name: &str, message: impl Into<String>) -> CompileFault {
        self.compiler.fault(name, message)
    }

    /// A field with expressions; remembered for evaluation. Whether it is there.
    pub(crate) fn evaluated(&mut self, name: &'static str) -> Result<bool, CompileFault> {
        let Some(value) = self.raw(name) else { return Ok(false) };
        let field = self.compiler.compile(name, &value)?;
        self.shown.push((name, Shown::Field(field)));
        Ok(true)
    }

    /// The field `value`: the input's own value if it is left out.
    pub(crate) fn own_value(&mut self) -> Result<(), CompileFault> {
        if !self.evaluated("value")? {
            self.shown.push(("value", Shown::Own));
        }
        Ok(())
    }

    /// A fixed field; shown too.
    fn fixed(&mut self, name: &'static str) -> Option<Value> {
        let value = self.raw(name)?;
        self.shown
            .push((name, Shown::Field(Field::Literal(millrace_engine::json::data_of(&value)))));
        Some(value)
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>, CompileFault> {
        match self.fixed(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.fault(name, "must be text")),
        }
    }

    pub(crate) fn needed_text(&mut self, name: &'static str) -> Result<String, CompileFault> {
        self.text(name)?
            .filter(|text| !text.is_empty())
            .ok_or_else(|| self.fault(name, "is missing"))
    }

    pub(crate) fn whole(&mut self, name: &'static str) -> Result<Option<u64>, CompileFault> {
        let Some(value) = self.fixed(name) else { return Ok(None) };
        let whole = value.as_u64();
        whole.map(Some).ok_or_else(|| self.fault(name, "must be a whole number from 0"))
    }

    pub(crate) fn flag(&mut self, name: &'static str) -> Result<bool, CompileFault> {
        match self.fixed(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(self.fault(name, "must be true or false")),
        }
    }

    /// One of some words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        words: &[(&str, T)],
    ) -> Result<T, CompileFault> {
        let text = self.text(name)?.unwrap_or_default();
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            self.fault(name, format!("must be one of {}", words.join(", ")))
        })
    }

    /// A secret's name.
    pub(crate) fn secret(
        &mut self,
        name: &'static str,
    ) -> Result<Option<SecretName>, CompileFault> {
        let Some(value) = self.raw(name) else { return Ok(None) };
        let Some(secret) = secret_name(&value) else {
            let message = "must name a secret of the workspace: {\"secret\": \"name\"}";
            return Err(self.fault(name, message));
        };
        self.compiler.uses_secret(&secret);
        self.shown.push((name, Shown::Secret(secret.clone())));
        Ok(Some(SecretName(secret)))
    }

    /// The headers of a request: texts or secrets.
    pub(crate) fn headers(
        &mut self,
        name: &'static str,
    ) -> Result<Vec<(String, Header)>, CompileFault> {
        let members = match self.raw(name) {
            None => return Ok(Vec::new()),
            Some(Value::Object(members)) => members,
            Some(_) => return Err(self.fault(name, "must be an object of texts or secrets")),
        };
        if members.len() > HEADERS_MAX {
            return Err(self.fault(name, format!("has more than {HEADERS_MAX} headers")));
        }
        let mut headers = Vec::with_capacity(members.len());
        for (header, value) in &members {
            let header_value = match secret_name(value) {
                Some(secret) => {
                    self.compiler.uses_secret(&secret);
                    Header::Secret(secret)
                }
                None => Header::Field(self.compiler.compile(name, value)?),
            };
            headers.push((header.clone(), header_value));
        }
        self.shown.push((name, Shown::Headers(headers.clone())));
        Ok(headers)
    }

    /// Which certificates are trusted: the field `tls_ca_pem`, else the system's.
    pub(crate) fn trust(&mut self) -> Result<Tls, CompileFault> {
        // Not shown: it is long and says nothing about an execution.
        match self.raw("tls_ca_pem") {
            None => Ok(Tls::System),
            Some(Value::String(pem)) => {
                let trust = Trust::of_pem(&pem);
                trust
                    .map(|trust| Tls::Own(Arc::new(trust)))
                    .map_err(|error| self.fault("tls_ca_pem", error))
            }
            Some(_) => Err(self.fault("tls_ca_pem", "must be text")),
        }
    }

    /// A broker's address: the field `url`, `mqtt://` or `mqtts://`.
    pub(crate) fn broker(&mut self) -> Result<Endpoint, CompileFault> {
        let url = self.needed_text("url")?;
        let trust = self.trust()?;
        Endpoint::of_broker(&url, &trust).map_err(|what| self.fault("url", what))
    }

    pub(crate) fn finish(self) -> Fields {
        Fields(self.shown)
    }
}

fn secret_name(value: &Value) -> Option<String> {
    let object = value.as_object().filter(|object| object.len() == 1)?;
    object.get("secret").and_then(Value::as_str).map(str::to_owned)
}

impl Fields {
    /// The values of all fields; a secret is `<secret name>`.
    pub(crate) fn evaluate(
        &self,
        context: &mut dyn Context,
        input: &Data,
    ) -> Result<Map, StepFault> {
        let mut map = Map::new();
        for (name, shown) in &self.0 {
            let data = match shown {
                Shown::Field(field) => context.evaluate(field)?,
                Shown::Secret(secret) => hidden(secret),
                Shown::Own => input.own_value().clone(),
                Shown::Headers(headers) => {
                    let mut all = Map::new();
                    for (header, value) in headers {
                        let value = match value {
                            Header::Field(field) => context.evaluate(field)?,
                            Header::Secret(secret) => hidden(secret),
                        };
                        all.set(header.as_str(), value);
                    }
                    Data::Map(Arc::new(all))
                }
            };
            map.set(*name, data);
        }
        Ok(map)
    }
}

fn hidden(secret: &str) -> Data {
    Data::Text(format!("<secret {secret}>").into())
}

/// The value of a secret, remembered so that no message shows it.
pub(crate) fn reveal(
    context: &dyn Context,
    name: &SecretName,
    secrets: &mut Secrets,
) -> Result<Arc<str>, StepFault> {
    let SecretName(name) = name;
    let value = context.secret(name).ok_or_else(|| {
        StepFault::lasting("secret", context.services().no_secret(context.workspace(), name))
    })?;
    secrets.add(name, &value);
    Ok(value)
}

/// A field's value as text; what is no text or number is refused.
pub(crate) fn text_of(map: &Map, name: &str) -> Result<String, StepFault> {
    plain_text(map.get(name).unwrap_or(&Data::Missing))
        .ok_or_else(|| StepFault::lasting("bad_input", format!("the field `{name}` is no text")))
}

/// Text of a text, number or truth value.
pub(crate) fn plain_text(data: &Data) -> Option<String> {
    match data {
        Data::Text(text) => Some(text.to_string()),
        Data::Bool(_) | Data::Int(_) | Data::UInt(_) | Data::Float(_) => Some(data.to_json_text()),
        Data::Missing | Data::Null | Data::List(_) | Data::Map(_) => None,
    }
}

/// Bytes of any data: text as it is, nothing for what is missing, else JSON in one line.
pub(crate) fn bytes_of(data: &Data) -> Vec<u8> {
    match data {
        Data::Missing => Vec::new(),
        Data::Text(text) => text.as_bytes().to_vec(),
        other => other.to_json_text().into_bytes(),
    }
}

/// A header's value; `is_secret` ones never travel to another host.
pub(crate) fn header_value(
    name: &str,
    text: &str,
    is_secret: bool,
) -> Result<hyper::header::HeaderValue, StepFault> {
    let bad = |what| StepFault::lasting("bad_input", format!("the header `{name}` {what}"));
    if text.len() > HEADER_BYTES_MAX {
        return Err(bad("is too long"));
    }
    // Refuses line breaks and with them smuggled headers.
    let value = hyper::header::HeaderValue::from_bytes(text.as_bytes());
    let mut value = value.map_err(|_| bad("holds characters that a header cannot have"))?;
    value.set_sensitive(is_secret);
    Ok(value)
}
