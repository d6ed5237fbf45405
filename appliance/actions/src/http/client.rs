//! One HTTP exchange: redirects followed and checked, the answer bounded.
//!
//! **Invariants**: credentials (`Authorization`, headers that hold secrets) go to the first host
//! alone, never along with a redirect to another one, nor from https to http; a body is read up to
//! its limit.

use super::connections::{Connections, Lent};
use crate::budget::Held;
use crate::dial::{Endpoint, Tls};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{
    CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use hyper::{Method, StatusCode};
use millrace_engine::step::StepFault;
use tokio::time::Instant;
use url::Url;

/// What is asked.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// `is_sensitive` values are credentials.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// For https.
    pub(crate) tls: Tls,
    pub(crate) answer_bytes_max: usize,
    /// Whether the body is wanted at all.
    pub(crate) reads_body: bool,
    pub(crate) redirects_max: u8,
    pub(crate) until: Instant,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// Where a URL points to.
pub(crate) fn endpoint(url: &Url, tls: &Tls) -> Result<Endpoint, StepFault> {
    let bad = |what: &str| StepFault::lasting("bad_input", format!("the URL {what}"));
    let tls = match url.scheme() {
        "http" => Tls::Off,
        "https" => tls.clone(),
        _ => return Err(bad("does not begin with http:// or https://")),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("holds a user or a password; use the fields for them"));
    }
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| bad("has no host"))?;
    let port = url.port_or_known_default().ok_or_else(|| bad("has no port"))?;
    Ok(Endpoint { host: host.into(), port, tls })
}

impl Connections {
    /// Asks and reads the answer; `held` accounts for its bytes.
    pub(crate) async fn exchange(
        &self,
        mut request: Request,
        held: &mut Held,
    ) -> Result<Answer, StepFault> {
        let mut redirects = 0;
        loop {
            let endpoint = endpoint(&request.url, &request.tls)?;
            let (lent, response) = self.send(&endpoint, &request).await?;
            let Some(next) = redirect(&request, &response) else {
                return read(lent, response, &request, held).await;
            };
            if request.redirects_max == 0 {
                return read(lent, response, &request, held).await;
            }
            // The rest of this answer is not wanted: its connection closes.
            drop((lent, response));
            redirects += 1;
            if redirects > request.redirects_max {
                let most = request.redirects_max;
                return Err(StepFault::lasting("redirect", format!("more than {most} redirects")));
            }
            follow(&mut request, next?)?;
        }
    }

    async fn send(
        &self,
        endpoint: &Endpoint,
        request: &Request,
    ) -> Result<(Lent, hyper::Response<Incoming>), StepFault> {
        let mut is_fresh = false;
        loop {
            let mut lent = self.lend(endpoint, request.until, is_fresh).await?;
            match lent.sender.try_send_request(message(request)?).await {
                Ok(response) => return Ok((lent, response)),
                // An idle connection that the server had closed: nothing was sent, so again.
                Err(error) if lent.is_used && error.message().is_some() => is_fresh = true,
                Err(error) => return Err(broken(endpoint, error.error())),
            }
        }
    }
}

fn broken(endpoint: &Endpoint, error: &hyper::Error) -> StepFault {
    let target = endpoint.target("http");
    if error.is_parse() {
        return StepFault::passing(
            "bad_answer",
            format!("{target} does not answer in HTTP: {error}"),
        );
    }
    StepFault::passing("unreachable", format!("the connection to {target} broke: {error}"))
}

fn message(request: &Request) -> Result<hyper::Request<Full<Bytes>>, StepFault> {
    let bad = |error: &dyn std::fmt::Display| StepFault::lasting("bad_input", error.to_string());
    let url = &request.url;
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let host = match (url.host_str().unwrap_or_default(), url.port()) {
        (host, Some(port)) => format!("{host}:{port}"),
        (host, None) => host.to_owned(),
    };
    let mut message = hyper::Request::new(Full::new(request.body.clone()));
    *message.method_mut() = request.method.clone();
    *message.uri_mut() =
        target.parse().map_err(|error: hyper::http::uri::InvalidUri| bad(&error))?;
    *message.headers_mut() = request.headers.clone();
    let host = HeaderValue::from_str(&host).map_err(|error| bad(&error))?;
    message.headers_mut().insert(HOST, host);
    Ok(message)
}

/// The next URL, if the answer sends us there.
fn redirect(
    request: &Request,
    response: &hyper::Response<Incoming>,
) -> Option<Result<(Url, Method), StepFault>> {
    let method = match response.status() {
        StatusCode::SEE_OTHER if request.method != Method::HEAD => Method::GET,
        // As all clients do: a POST becomes a GET.
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND if request.method == Method::POST => {
            Method::GET
        }
        StatusCode::SEE_OTHER
        | StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => request.method.clone(),
        _ => return None,
    };
    let location = response.headers().get(LOCATION)?;
    let next = location.to_str().ok().and_then(|text| request.url.join(text).ok());
    let bad = || StepFault::lasting("redirect", "the answer redirects to what is no URL");
    Some(next.map(|url| (url, method)).ok_or_else(bad))
}

fn follow(request: &mut Request, (next, method): (Url, Method)) -> Result<(), StepFault> {
    let before = endpoint(&request.url, &request.tls)?;
    let after = endpoint(&next, &request.tls)?;
    if before.tls != Tls::Off && after.tls == Tls::Off {
        return Err(StepFault::lasting("redirect", "the answer redirects from https to http"));
    }
    if before != after {
        let is_credential = |value: &HeaderValue| value.is_sensitive();
        let named: Vec<HeaderName> = request
            .headers
            .iter()
            .filter(|(_, value)| is_credential(value))
            .map(|(name, _)| name.clone())
            .collect();
        for name in named {
            request.headers.remove(name);
        }
    }
    if method != request.method {
        request.body = Bytes::new();
        request.headers.remove(CONTENT_TYPE);
        request.headers.remove(CONTENT_LENGTH);
    }
    request.method = method;
    request.url = next;
    Ok(())
}

async fn read(
    lent: Lent,
    response: hyper::Response<Incoming>,
    request: &Request,
    held: &mut Held,
) -> Result<Answer, StepFault> {
    let most = request.answer_bytes_max;
    let (head, mut incoming) = response.into_parts();
    let mut body = Vec::new();
    if !request.reads_body {
        return Ok(Answer { status: head.status, headers: head.headers, body });
    }
    while let Some(frame) = incoming.frame().await {
        let frame = frame.map_err(|error| {
            StepFault::passing("bad_answer", format!("the answer broke off: {error}"))
        })?;
        let Ok(bytes) = frame.into_data() else { continue };
        if body.len().saturating_add(bytes.len()) > most {
            let message = format!(
                "the answer is larger than {most} bytes; raise \
                 `answer_size_bytes_max` or ask for less"
            );
            return Err(StepFault::lasting("limit", message));
        }
        held.grow(bytes.len())?;
        body.extend_from_slice(&bytes);
    }
    lent.give_back();
    Ok(Answer { status: head.status, headers: head.headers, body })
}
