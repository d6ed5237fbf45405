//! The studio's bundle, served at `/`: whatever is no endpoint is looked for here.
//!
//! A bundle is a folder that `cargo xtask ui` makes: `index.html`, and everything else below
//! `assets/<version>/`, precompressed beside itself (`.br`, `.gz`). An address of a page
//! (`/pipelines/boiler`) is answered with `index.html`, which finds the page itself; any other
//! address is a file below `assets` or nothing.
//!
//! **Invariants**
//! - No address leads out of the folder: only plain names are looked up, and what a link points to
//!   outside of it is not there.
//! - Files below `assets/<version>` never change under their name, so they are cached for good;
//!   `index.html` is asked for again each time.
//! - The page may run its own code alone and talk to this appliance alone.

mod bundle;

use crate::error::ApiError;
use crate::state::Api;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bundle::{Encoding, File, Lookup};
use std::path::Path;

/// Addresses of pages, by their first segment; `ui/app/src/routes.rs` holds the same list.
const PAGES: &[&str] =
    &["namespace", "trends", "pipelines", "access", "settings", "sizing", "sign-in", "claim"];

/// What the page may do. `wasm-unsafe-eval` lets WebAssembly be compiled and nothing else.
const POLICY: &str = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; \
     style-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// Answers every address that is no endpoint.
pub(crate) async fn answer(State(api): State<Api>, request: Request) -> Response {
    let path = request.uri().path();
    let Some(lookup) = lookup(path) else { return nothing_here() };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return nothing_here();
    }
    serve(&api, lookup, request.headers()).await
}

/// The page at `/`, or a sentence that says how to get one.
pub(crate) async fn root(api: &Api, headers: &HeaderMap) -> Response {
    serve(api, Lookup::Page, headers).await
}

fn nothing_here() -> Response {
    ApiError::not_found("There is nothing at this address.").into_response()
}

fn lookup(path: &str) -> Option<Lookup> {
    let path = path.strip_prefix('/')?;
    let first = path.split('/').next()?;
    if PAGES.contains(&first) {
        return Some(Lookup::Page);
    }
    Lookup::asset(path)
}

async fn serve(api: &Api, lookup: Lookup, headers: &HeaderMap) -> Response {
    let is_page = lookup == Lookup::Page;
    let folder = match api.settings().web_folder.clone() {
        Some(folder) => folder,
        None if is_page => return no_bundle(api, None),
        None => return nothing_here(),
    };
    let encodings = Encoding::accepted(headers);
    let found = api.reading({
        let folder = folder.clone();
        move || bundle::find(&folder, &lookup, &encodings)
    });
    match found.await {
        Ok(Some(file)) if is_fresh(headers, &file) => fresh(&file),
        Ok(Some(file)) => whole(file),
        Ok(None) if is_page => no_bundle(api, Some(&folder)),
        Ok(None) => nothing_here(),
        Err(error) => error.into_response(),
    }
}

/// Whether the browser has this very file.
fn is_fresh(headers: &HeaderMap, file: &File) -> bool {
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    known.is_some_and(|known| known.split(',').any(|tag| tag.trim() == file.tag))
}

fn fresh(file: &File) -> Response {
    let mut response = StatusCode::NOT_MODIFIED.into_response();
    mark(&mut response, file);
    response
}

fn whole(file: File) -> Response {
    let mut response = Response::new(Body::empty());
    mark(&mut response, &file);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.media_type));
    if let Some(encoding) = file.encoding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
    }
    *response.body_mut() = Body::from(file.bytes);
    response
}

fn mark(response: &mut Response, file: &File) {
    let caching = if file.immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    // With a 304 too: a browser puts its headers in the place of those that it has kept.
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Ok(tag) = HeaderValue::from_str(&file.tag) {
        headers.insert(header::ETAG, tag);
    }
}

fn no_bundle(api: &Api, folder: Option<&Path>) -> Response {
    let place = match folder {
        Some(folder) => format!("in the folder {}", escape(&folder.display().to_string())),
        None => "configured".to_owned(),
    };
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Millrace</title>\
         <h1>Millrace {version}</h1>\
         <p>There is no web interface {place}. <code>cargo xtask ui</code> builds one, and \
         <code>http.web_folder</code> says where it is.</p>\
         <p>The HTTP API works without it: its description is at \
         <a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a>, its health at \
         <a href=\"/health/ready\">/health/ready</a>. So does the command line, \
         <code>millrace help</code>; <code>millrace claim CODE NAME</code> makes the first admin \
         with the code that the appliance shows.</p></html>",
        version = escape(api.backend().version()),
    );
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
