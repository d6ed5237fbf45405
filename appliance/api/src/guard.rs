//! The door of every request: `Host`, `Origin`, the request's time, the answer's headers.
//!
//! A web page in a browser on the plant's network can make that browser call this box, and by
//! rebinding its own name to the box's address even read the answers. So the box answers only to
//! names that are its own: `Host` must be one, and `Origin`, which browsers add on their own, must
//! be the box itself or a configured one. Both hold for WebSockets too, where browsers ask
//! nobody else.

use crate::error::ApiError;
use crate::extract::Peer;
use crate::limits::{HOOK_TIMEOUT, REQUEST_TIMEOUT};
use crate::state::{Api, Settings};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Uri, header, uri::Authority};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use millrace_contract::v1::ErrorCode;
use std::net::IpAddr;

/// The middleware around everything.
pub(crate) async fn guard(
    State(api): State<Api>,
    peer: Peer,
    request: Request,
    next: Next,
) -> Response {
    let is_hook = request.uri().path().starts_with("/hooks/");
    let limit = if is_hook { HOOK_TIMEOUT } else { REQUEST_TIMEOUT };
    let mut response = match check(&request, &peer, api.settings()) {
        Err(message) => ApiError::new(ErrorCode::HostNotAllowed, message).into_response(),
        Ok(()) => match tokio::time::timeout(limit, next.run(request)).await {
            Ok(response) => response,
            Err(_) => {
                let message = "The request took too long.";
                ApiError::new(ErrorCode::TimedOut, message).into_response()
            }
        },
    };
    add_headers(&mut response);
    response
}

fn add_headers(response: &mut Response) {
    let fixed: [(HeaderName, &str); 5] = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
        // Answers hold process data and, once, secrets: no cache is ever to keep one.
        (header::CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        let value = HeaderValue::from_static(value);
        response.headers_mut().entry(name).or_insert(value);
    }
}

fn check(request: &Request, peer: &Peer, settings: &Settings) -> Result<(), &'static str> {
    let authority = authority(request).ok_or("The request needs one valid Host header.")?;
    if !is_own_name(authority.host(), peer, settings) {
        return Err("The box does not answer to this Host; configure the name to allow it.");
    }
    let mut origins = request.headers().get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default();
    if origins.next().is_none() && is_own_origin(origin, &authority, peer, settings) {
        Ok(())
    } else {
        Err("This Origin may not use the API; configure it to allow it.")
    }
}

/// The `Host` header, or the authority of an absolute request line; both must agree.
fn authority(request: &Request) -> Option<Authority> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host: Authority = hosts.next()?.to_str().ok()?.parse().ok()?;
    let absolute = request.uri().authority();
    let agrees = absolute.is_none_or(|absolute| *absolute == host);
    (hosts.next().is_none() && agrees && !host.as_str().contains('@')).then_some(host)
}

fn is_own_name(host: &str, peer: &Peer, settings: &Settings) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    if let Ok(address) = bare.parse::<IpAddr>() {
        let address = address.to_canonical();
        // An address cannot be rebound by a name server.
        let is_own = address.is_loopback() || address == peer.local.ip().to_canonical();
        return is_own || settings.hosts.iter().any(|own| own.parse() == Ok(address));
    }
    let name = bare.strip_suffix('.').unwrap_or(bare);
    name.eq_ignore_ascii_case("localhost")
        || settings.hosts.iter().any(|own| own.eq_ignore_ascii_case(name))
}

fn is_own_origin(origin: &str, host: &Authority, peer: &Peer, settings: &Settings) -> bool {
    if settings.origins.iter().any(|own| own.eq_ignore_ascii_case(origin)) {
        return true;
    }
    let scheme = if peer.tls { "https" } else { "http" };
    let default_port = if peer.tls { 443 } else { 80 };
    let Ok(origin) = origin.parse::<Uri>() else { return false };
    origin.scheme_str() == Some(scheme)
        && origin.host().is_some_and(|name| name.eq_ignore_ascii_case(host.host()))
        && origin.port_u16().unwrap_or(default_port) == host.port_u16().unwrap_or(default_port)
}
