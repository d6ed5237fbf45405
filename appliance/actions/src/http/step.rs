//! The step `http.request`.
//!
//! Its answer is `{ status, headers, body }`; headers by lower-case name, repeated ones joined.
//! A status from 400 on is a fault (unless `fail_on_status` is off); 408, 425, 429 and 5xx pass.
//!
//! **Invariants**: as the client's; a stub records the fields and asks nobody.

use super::client::{Answer, Request, endpoint};
use crate::call::Call;
use crate::dial::Tls;
use crate::fields::{
    Fields, Header, Reader, SecretName, bytes_of, header_value, plain_text, reveal, text_of,
};
use crate::limits::{REQUEST_BYTES_MAX, RESPONSE_BYTES, RESPONSE_BYTES_MAX};
use crate::pool::Pool;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName};
use hyper::{Method, StatusCode};
use millrace_engine::step::{Context, Outcome, Step, StepFault};
use millrace_engine::{CompileFault, Compiler, Secrets};
use millrace_flow::{Data, Map, document};
use std::sync::Arc;
use url::Url;

/// The header that says through how many pipelines a request has come: webhooks of this box, or of
/// another one, count on, so that pipelines which call one another in a circle are stopped.
pub const HOPS_HEADER: &str = "x-millrace-hops";
/// Bytes of a URL with its query.
const URL_BYTES_MAX: usize = 16 << 10;

#[derive(Debug)]
struct HttpRequest {
    pool: Arc<Pool>,
    fields: Fields,
    method: Method,
    headers: Vec<(String, Header)>,
    content_type: Option<String>,
    bearer: Option<SecretName>,
    basic: Option<(String, SecretName)>,
    sends_key: bool,
    form: Form,
    answer_bytes_max: usize,
    fails_on_status: bool,
    redirects_max: u8,
    tls: Tls,
}

/// How the body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Auto,
    Json,
    Text,
    Base64,
    Nothing,
}

pub(crate) fn compile(
    step: &document::Step,
    compiler: &mut Compiler<'_>,
    pool: &Arc<Pool>,
) -> Result<Arc<dyn Step>, CompileFault> {
    let mut reader = Reader::new(step, compiler)?;
    if !reader.evaluated("url")? {
        return Err(reader.fault("url", "is missing"));
    }
    let method = reader.choice(
        "method",
        &[
            ("GET", "GET"),
            ("POST", "POST"),
            ("PUT", "PUT"),
            ("PATCH", "PATCH"),
            ("DELETE", "DELETE"),
            ("HEAD", "HEAD"),
        ],
    )?;
    let method = method.parse().map_err(|_| reader.fault("method", "is no method"))?;
    reader.evaluated("query")?;
    let headers = reader.headers("headers")?;
    for (name, _) in &headers {
        header_name(name).map_err(|fault| reader.fault("headers", fault.message))?;
    }
    reader.evaluated("body")?;
    let content_type = reader.text("content_type")?;
    let bearer = reader.secret("bearer")?;
    let user = reader.text("user")?;
    let password = reader.secret("password")?;
    let forms = [
        ("auto", Form::Auto),
        ("json", Form::Json),
        ("text", Form::Text),
        ("base64", Form::Base64),
        ("none", Form::Nothing),
    ];
    let most = reader.whole("answer_size_bytes_max")?.map(usize::try_from);
    let redirects = reader.whole("redirects_max")?.unwrap_or(0);
    Ok(Arc::new(HttpRequest {
        pool: Arc::clone(pool),
        method,
        headers,
        content_type,
        bearer,
        basic: user.zip(password),
        sends_key: reader.flag("idempotency_key")?,
        form: reader.choice("answer", &forms)?,
        answer_bytes_max: most
            .and_then(Result::ok)
            .unwrap_or(RESPONSE_BYTES)
            .min(RESPONSE_BYTES_MAX),
        fails_on_status: reader.flag("fail_on_status")?,
        redirects_max: u8::try_from(redirects).unwrap_or(u8::MAX).min(crate::limits::REDIRECTS_MAX),
        tls: reader.trust()?,
        fields: reader.finish(),
    }))
}

impl Step for HttpRequest {
    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let values = self.fields.evaluate(context, input)?;
        if context.is_stubbed() {
            let answer = context.stub(Data::Map(Arc::new(values)))?;
            return Ok(Outcome::Out(0, or_empty(answer)));
        }
        let url = url(&values)?;
        let target = endpoint(&url, &self.tls)?.target("http");
        let mut call = Call::new(&self.pool.targets, target, context);
        let body = body(&values)?;
        let headers = self.headers(context, &values, body.as_ref(), &mut call.secrets)?;
        let body = body.map(|(bytes, _)| bytes).unwrap_or_default();
        let mut held = self.pool.budget.take(body.len())?;
        let mut request = Request {
            method: self.method.clone(),
            url,
            headers,
            body: Bytes::from(body),
            tls: self.tls.clone(),
            answer_bytes_max: self.answer_bytes_max,
            reads_body: self.form != Form::Nothing,
            redirects_max: self.redirects_max,
            until: tokio::time::Instant::now(),
        };
        let (pool, form, fails) = (Arc::clone(&self.pool), self.form, self.fails_on_status);
        Ok(call.wait(move |until| async move {
            request.until = until;
            let answer = pool.http.exchange(request, &mut held).await?;
            if fails && answer.status.as_u16() >= 400 {
                return Err(refused(&answer));
            }
            data_of(answer, form)
        }))
    }
}

impl HttpRequest {
    fn headers(
        &self,
        context: &dyn Context,
        values: &Map,
        body: Option<&(Vec<u8>, &'static str)>,
        secrets: &mut Secrets,
    ) -> Result<HeaderMap, StepFault> {
        let mut headers = HeaderMap::new();
        headers.insert(HOPS_HEADER, u16::from(context.hops()).into());
        if let Some((_, default)) = body {
            let content_type = self.content_type.as_deref().unwrap_or(default);
            headers.insert(CONTENT_TYPE, header_value("content-type", content_type, false)?);
        }
        if self.sends_key {
            let key = format!("{}-{}", context.run_id(), context.execution());
            headers.insert("idempotency-key", header_value("idempotency-key", &key, false)?);
        }
        let given = values.get("headers");
        for (name, header) in &self.headers {
            let (text, is_secret) = match header {
                Header::Secret(secret) => {
                    let secret = reveal(context, &SecretName(secret.clone()), secrets)?;
                    (Some(secret.to_string()), true)
                }
                Header::Field(_) => match given {
                    Some(Data::Map(given)) => (given.get(name).and_then(plain_text), false),
                    _ => (None, false),
                },
            };
            // Null and missing: the header is left out.
            let Some(text) = text else { continue };
            headers.insert(header_name(name)?, header_value(name, &text, is_secret)?);
        }
        if let Some(secret) = &self.bearer {
            let token = reveal(context, secret, secrets)?;
            let value = header_value("authorization", &format!("Bearer {token}"), true)?;
            headers.insert(AUTHORIZATION, value);
        }
        if let Some((user, secret)) = &self.basic {
            let password = reveal(context, secret, secrets)?;
            let both: Arc<str> = STANDARD.encode(format!("{user}:{password}")).into();
            secrets.add(&secret.0, &both);
            context.hide(&secret.0, &both);
            let value = header_value("authorization", &format!("Basic {both}"), true)?;
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }
}

/// A header's name; those that frame the message are the client's own.
fn header_name(name: &str) -> Result<HeaderName, StepFault> {
    const OWN: [&str; 7] =
        ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", HOPS_HEADER];
    let bad = |what| StepFault::lasting("bad_input", format!("the header `{name}` {what}"));
    let header: HeaderName = name.parse().map_err(|_| bad("has no name that a header can have"))?;
    if OWN.contains(&header.as_str()) {
        return Err(bad("cannot be set: it belongs to the connection"));
    }
    Ok(header)
}

fn url(values: &Map) -> Result<Url, StepFault> {
    let bad = |what: &str| StepFault::lasting("bad_input", format!("the URL {what}"));
    let text = text_of(values, "url")?;
    if text.len() > URL_BYTES_MAX {
        return Err(bad("is too long"));
    }
    let mut url = Url::parse(text.trim()).map_err(|error| bad(&format!("is none: {error}")))?;
    url.set_fragment(None);
    match values.get("query") {
        Some(Data::Map(query)) if !query.is_empty() => {
            let mut pairs = url.query_pairs_mut();
            for (name, value) in query.iter() {
                match value {
                    Data::Missing | Data::Null => {}
                    Data::List(items) => {
                        for text in items.iter().filter_map(plain_text) {
                            pairs.append_pair(name, &text);
                        }
                    }
                    other => {
                        let text = String::from_utf8_lossy(&bytes_of(other)).into_owned();
                        pairs.append_pair(name, &text);
                    }
                }
            }
        }
        Some(Data::Map(_) | Data::Missing | Data::Null) | None => {}
        Some(_) => return Err(StepFault::lasting("bad_input", "the field `query` is no object")),
    }
    if url.as_str().len() > URL_BYTES_MAX {
        return Err(bad("is too long with its query"));
    }
    Ok(url)
}

/// The body and its type.
fn body(values: &Map) -> Result<Option<(Vec<u8>, &'static str)>, StepFault> {
    let Some(data) = values.get("body").filter(|data| **data != Data::Missing) else {
        return Ok(None);
    };
    let content_type = match data {
        Data::Text(_) => "text/plain; charset=utf-8",
        _ => "application/json",
    };
    let bytes = bytes_of(data);
    if bytes.len() > REQUEST_BYTES_MAX {
        let message = format!("the body has {} bytes, {REQUEST_BYTES_MAX} at most", bytes.len());
        return Err(StepFault::lasting("limit", message));
    }
    Ok(Some((bytes, content_type)))
}

fn refused(answer: &Answer) -> StepFault {
    let status = answer.status;
    let message = format!("the answer is {status}: {}", String::from_utf8_lossy(&answer.body));
    let may_pass = status.is_server_error()
        || [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS]
            .contains(&status);
    match may_pass {
        true => StepFault::passing("status", message),
        false => StepFault::lasting("status", message),
    }
}

fn data_of(answer: Answer, form: Form) -> Result<Data, StepFault> {
    let mut headers = Map::new();
    for name in answer.headers.keys() {
        let all: Vec<_> = answer
            .headers
            .get_all(name)
            .iter()
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        headers.set(name.as_str(), Data::Text(all.join(", ").into()));
    }
    let content_type = answer.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let form = match form {
        Form::Auto => form_of(content_type.unwrap_or_default()),
        other => other,
    };
    let body = match form {
        Form::Nothing => Data::Null,
        Form::Json if answer.body.is_empty() => Data::Null,
        Form::Json => Data::from_json_bytes(&answer.body).map_err(|error| {
            StepFault::lasting("answer", format!("the answer's body cannot be read: {error}"))
        })?,
        Form::Base64 => Data::Text(STANDARD.encode(&answer.body).into()),
        Form::Text | Form::Auto => Data::Text(String::from_utf8_lossy(&answer.body).into()),
    };
    let mut map = Map::new();
    map.set("status", Data::Int(i64::from(answer.status.as_u16())));
    map.set("headers", Data::Map(Arc::new(headers)));
    map.set("body", body);
    Ok(Data::Map(Arc::new(map)))
}

fn form_of(content_type: &str) -> Form {
    let mime = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = mime == "application/json" || mime.ends_with("+json");
    let is_binary = ["image/", "audio/", "video/", "font/"]
        .iter()
        .any(|kind| mime.starts_with(kind))
        || ["application/octet-stream", "application/zip", "application/pdf", "application/gzip"]
            .contains(&mime.as_str());
    match (is_json, is_binary) {
        (true, _) => Form::Json,
        (false, true) => Form::Base64,
        (false, false) => Form::Text,
    }
}

/// What a stub answers that nobody gave an answer.
fn or_empty(answer: Data) -> Data {
    if answer != Data::Missing {
        return answer;
    }
    let mut map = Map::new();
    map.set("status", Data::Int(200));
    map.set("headers", Data::Map(Arc::default()));
    map.set("body", Data::Null);
    Data::Map(Arc::new(map))
}
