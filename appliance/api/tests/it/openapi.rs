//! The OpenAPI document: complete, and changed only on purpose.
//!
//! When it has changed on purpose, `openapi.json.new` beside the golden file is the new one:
//! look at the difference and put it in the old one's place.

use crate::http::Request;
use crate::server::Server;
use millrace_api::{ENDPOINTS, openapi_document};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

#[test]
fn is_as_the_golden_file_has_it() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/openapi.json");
    let new = golden.with_extension("json.new");
    let expected = std::fs::read_to_string(&golden).unwrap_or_default();
    let document = openapi_document();
    if expected == document {
        return;
    }
    std::fs::File::create(&new).unwrap().write_all(document.as_bytes()).unwrap();
    let differs = expected.lines().zip(document.lines()).position(|(old, new)| old != new);
    let line = differs.unwrap_or_else(|| expected.lines().count().min(document.lines().count()));
    let show = |text: &str| text.lines().nth(line).unwrap_or("(end)").to_owned();
    panic!(
        "the document has changed from line {}:\n- {}\n+ {}\nthe new one is {}",
        line + 1,
        show(&expected),
        show(document),
        new.display()
    );
}

#[test]
fn describes_every_endpoint_and_nothing_else() {
    let document: serde_json::Value = serde_json::from_str(openapi_document()).unwrap();
    let mut described: Vec<String> = Vec::new();
    let mut ids = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            assert!(operation["responses"]["default"].is_object(), "{method} {path}");
            assert!(ids.insert(operation["operationId"].as_str().unwrap()), "{method} {path}");
            described.push(format!("{} {path}", method.to_uppercase()));
        }
    }
    // OpenAPI has no word for a parameter of several levels.
    let path = |endpoint: &millrace_api::Endpoint| endpoint.path.replace("{*", "{");
    let text =
        |endpoint: &millrace_api::Endpoint| format!("{} {}", endpoint.method, path(endpoint));
    let mut listed: Vec<String> = ENDPOINTS.iter().map(text).collect();
    described.sort();
    listed.sort();
    assert_eq!(described, listed);
}

#[test]
fn every_reference_leads_somewhere() {
    let text = openapi_document();
    let document: serde_json::Value = serde_json::from_str(text).unwrap();
    for rest in text.split("\"#/").skip(1) {
        let pointer = format!("/{}", rest.split('"').next().unwrap());
        assert!(document.pointer(&pointer).is_some(), "{pointer}");
    }
}

#[tokio::test]
async fn is_served() {
    let server = Server::start().await;
    let answer = Request::get("/api/v1/openapi.json").send(server.address).await.expect(200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.text(), openapi_document());
}
