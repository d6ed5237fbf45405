//! The token endpoint as RFC 6749 has it.

use crate::http::{Answer, Request};
use crate::server::Server;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

async fn ask(server: &Server, basic: Option<&str>, form: &str) -> Answer {
    let mut request = Request::new("POST", "/oauth/token").form(form);
    if let Some(pair) = basic {
        request = request.header("Authorization", &format!("Basic {}", STANDARD.encode(pair)));
    }
    let answer = request.send(server.address).await;
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{}", answer.status);
    assert_eq!(answer.header("pragma"), Some("no-cache"));
    answer
}

fn check(answer: Answer, status: u16, error: &str) -> Answer {
    let answer = answer.expect(status);
    assert_eq!(answer.value()["error"], error);
    assert!(answer.value()["error_description"].is_string());
    answer
}

#[tokio::test]
async fn gives_a_token_for_basic_and_for_the_form() {
    let server = Server::start().await;
    let grant = "grant_type=client_credentials";
    let basic = ask(&server, Some("device:s3cret"), grant).await.expect(200);
    assert_eq!(
        basic.text(),
        r#"{"access_token":"device","token_type":"Bearer","expires_in":3600}"#
    );
    let form = format!("{grant}&client_id=device&client_secret=s3cret");
    ask(&server, None, &form).await.expect(200);
    // Both parts of Basic are form-encoded first (2.3.1).
    ask(&server, Some("a+b%3Ac:p%25s%2B%C3%A4"), grant).await.expect(200);
    let same_id = format!("{grant}&client_id=device");
    ask(&server, Some("device:s3cret"), &same_id).await.expect(200);
}

#[tokio::test]
async fn refuses_with_the_standards_errors() {
    let server = Server::start().await;
    let grant = "grant_type=client_credentials";
    let wrong = check(ask(&server, Some("device:wrong"), grant).await, 401, "invalid_client");
    assert_eq!(wrong.header("www-authenticate"), Some("Basic realm=\"millrace\""));
    let unknown = check(ask(&server, Some("nobody:x"), grant).await, 401, "invalid_client");
    assert_eq!(unknown.body, wrong.body, "a wrong id and a wrong secret look the same");
    check(ask(&server, None, grant).await, 401, "invalid_client");
    check(ask(&server, Some("no colon"), grant).await, 401, "invalid_client");
    let long = format!("device:{}", "x".repeat(600));
    check(ask(&server, Some(&long), grant).await, 401, "invalid_client");

    let good = Some("device:s3cret");
    check(ask(&server, good, "a=b").await, 400, "invalid_request");
    check(ask(&server, good, &format!("{grant}&{grant}")).await, 400, "invalid_request");
    let twice = format!("{grant}&client_id=device&client_secret=s3cret");
    check(ask(&server, good, &twice).await, 400, "invalid_request");
    let other = format!("{grant}&client_id=other");
    check(ask(&server, good, &other).await, 400, "invalid_request");
    check(ask(&server, good, "grant_type=password").await, 400, "unsupported_grant_type");
    check(ask(&server, Some("barred:x"), grant).await, 400, "unauthorized_client");

    let tired = check(ask(&server, Some("tired:x"), grant).await, 429, "temporarily_unavailable");
    assert_eq!(tired.header("retry-after"), Some("2"));
    check(ask(&server, Some("stopping:x"), grant).await, 503, "temporarily_unavailable");

    let json = Request::new("POST", "/oauth/token").json("{}").send(server.address).await;
    check(json, 400, "invalid_request");
    let in_address =
        "/oauth/token?grant_type=client_credentials&client_id=device&client_secret=s3cret";
    let in_address = Request::new("POST", in_address).form("").send(server.address).await;
    check(in_address, 400, "invalid_request");
}
