//! Every endpoint with every role: the table is what it says, and nothing is left out of it.

use crate::http::Request;
use crate::server::Server;
use millrace_api::{ENDPOINTS, Endpoint, Need};
use millrace_model::Role;

/// Tokens, weakest first; empty = none.
const TOKENS: [&str; 7] = ["", "wrong", "device", "viewer", "engineer", "admin", "local"];

/// A request that reaches the endpoint, with a token.
fn request(endpoint: &Endpoint, token: &str) -> Request {
    let target = endpoint
        .path
        .replace("{workspace}", "main")
        .replace("{key}", "part-damaged:1d%2F2026")
        .replace("{id}", "other")
        .replace("{name}", "scale")
        .replace("{revision}", "1")
        .replace("{run}", "1-9")
        .replace("{step}", "note")
        .replace("{*path}", "orders/new");
    let with_path = ["/tag", "/last", "/raw", "/range", "/refusals", "/value"];
    let needs_path = with_path.iter().any(|end| target.ends_with(end));
    let query = if needs_path { "?path=press-4/temperature" } else { "" };
    let mut request = Request::new(endpoint.method, &format!("{target}{query}"));
    if endpoint.path == "/metrics" {
        // A proxy on the box speaks for somebody off the box.
        request = request.header("X-Forwarded-For", "192.0.2.7");
    }
    if endpoint.path == "/api/v1/live" {
        request = request
            .header("Upgrade", "websocket")
            .header("Connection", "Upgrade")
            .header("Sec-WebSocket-Version", "13")
            .header("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==");
    }
    let body = match (endpoint.method, endpoint.path) {
        ("POST", "/api/v1/clients") => r#"{"name":"new"}"#,
        ("POST", "/api/v1/people") => r#"{"name":"new","password":"long enough","role":"viewer"}"#,
        ("PATCH", "/api/v1/people/{name}") => r#"{"role":"engineer"}"#,
        ("POST", "/api/v1/workspaces/{workspace}/tags") => r#"{"path":"new","kind":"int"}"#,
        ("PATCH", path) if path.ends_with("/tag") => r#"{"unit":"bar"}"#,
        ("POST", "/api/v1/me/password") => {
            r#"{"old_password":"right horse","new_password":"long enough"}"#
        }
        ("PUT", "/api/v1/views/{name}") => r#"{"topics":["press-4/pressure"],"seconds":60}"#,
        ("PUT", "/api/v1/clients/{id}/rights") => {
            r##"{"publish":["#"],"subscribe":[],"may_create":false}"##
        }
        ("POST", path) if path.ends_with("/value") => r#"{"payload":"42.7"}"#,
        ("PUT", "/api/v1/sizing/plan") => r#"{"plan":{}}"#,
        ("PUT", path) if path.ends_with("/secrets/{name}") => r#"{"value":"x"}"#,
        ("PUT", path) if path.ends_with("/variables/{name}") => r#"{"value":1}"#,
        ("POST", path) if path.ends_with("/rehearse") => r#"{"from":"-1h"}"#,
        _ => "",
    };
    let document;
    let body = if endpoint.method == "PUT" && endpoint.path.ends_with("/pipelines/{name}") {
        document = format!(r#"{{"document":{}}}"#, crate::pipelines::document("scale", "new"));
        document.as_str()
    } else {
        body
    };
    if !body.is_empty() {
        request = request.json(body);
    }
    if token.is_empty() { request } else { request.token(token) }
}

/// Stores what the endpoints ask for, and forgets who did.
async fn prepare(server: &Server) {
    let body = format!(r#"{{"document":{}}}"#, crate::pipelines::document("scale", ""));
    let target = "/api/v1/workspaces/main/pipelines/scale";
    let put = Request::new("PUT", target).token("admin").json(&body);
    put.send(server.address).await.expect(201);
    for (name, body) in
        [("secrets/scale", r#"{"value":"x"}"#), ("variables/scale", r#"{"value":1}"#)]
    {
        let address = format!("/api/v1/workspaces/main/{name}");
        let put = Request::new("PUT", &address).token("admin").json(body);
        assert!([200, 204].contains(&put.send(server.address).await.status), "{name}");
    }
    server.post("admin", &format!("{target}/deploy"), "").await.expect(200);
    let body = r#"{"name":"scale","password":"long enough","role":"viewer"}"#;
    server.post("admin", "/api/v1/people", body).await.expect(201);
    server.backend.actors.lock().clear();
}

/// What the table promises: 401 without a good token, 403 with too little, else neither.
fn expected(need: Need, token: &str) -> Option<u16> {
    let rank = |role: Role| match role {
        Role::Viewer => 3,
        Role::Engineer => 4,
        Role::Admin => 5,
    };
    let at = TOKENS.iter().position(|known| *known == token).unwrap();
    let needed = match need {
        Need::Open | Need::Itself => 0,
        Need::OnTheBoxOrToken | Need::Token => 2,
        Need::Person(role) => rank(role),
    };
    match at {
        at if at >= needed => None,
        0 | 1 => Some(401),
        _ => Some(403),
    }
}

#[tokio::test]
async fn every_endpoint_holds_to_its_role() {
    for endpoint in ENDPOINTS {
        // The live endpoint has its own tests: a socket stays open.
        if endpoint.path == "/api/v1/live" {
            continue;
        }
        // Webhooks have secrets of their own, and tests of their own.
        if endpoint.path.starts_with("/hooks/") {
            continue;
        }
        for token in TOKENS {
            let server = Server::start().await;
            prepare(&server).await;
            let answer = request(endpoint, token).send(server.address).await;
            let case = format!("{} {} as '{token}'", endpoint.method, endpoint.path);
            match expected(endpoint.need, token) {
                Some(status) => {
                    assert_eq!(answer.status, status, "{case}: {}", answer.text());
                    assert!(server.backend.actors.lock().is_empty(), "{case} changed something");
                }
                None => {
                    let kind = answer.header("content-type").unwrap_or_default().to_owned();
                    let is_gate = [401, 403].contains(&answer.status) && kind.contains("json");
                    let is_sign_in = endpoint.path == "/oauth/token";
                    assert!(!is_gate || is_sign_in, "{case}: {} {}", answer.status, answer.text());
                    assert!(![404, 405, 500].contains(&answer.status), "{case}: {}", answer.status);
                }
            }
        }
    }
}

#[tokio::test]
async fn a_live_connection_needs_a_good_token_or_none_yet() {
    let server = Server::start().await;
    let live = ENDPOINTS.iter().find(|endpoint| endpoint.path == "/api/v1/live").unwrap();
    let answer = request(live, "wrong").send(server.address).await;
    answer.expect_error(401, "unauthorized", None);
}

#[tokio::test]
async fn metrics_are_open_on_the_box_only() {
    let server = Server::start().await;
    let answer = Request::get("/metrics").send(server.address).await.expect(200);
    assert!(answer.text().contains("millrace_tags 3"));
    for header in ["X-Forwarded-For", "Forwarded", "Via"] {
        let forwarded = Request::get("/metrics").header(header, "192.0.2.7");
        forwarded.send(server.address).await.expect_error(401, "unauthorized", None);
    }
}

#[tokio::test]
async fn health_tells_its_parts_on_the_box_or_to_a_token() {
    let server = Server::start().await;
    let ready = || Request::get("/health/ready");
    let on_the_box = ready().send(server.address).await.expect(200);
    assert_eq!(on_the_box.value()["parts"][0]["name"], "journal");
    let forwarded = ready().header("Forwarded", "for=192.0.2.7").send(server.address).await;
    assert_eq!(forwarded.expect(200).text(), r#"{"status":"ready"}"#);
    let with_token = ready().header("Forwarded", "for=192.0.2.7").token("viewer");
    let with_token = with_token.send(server.address).await.expect(200);
    assert_eq!(with_token.value()["parts"][0]["ok"], true);
}
