//! What the client asks, and what it makes of the answers.

use crate::script::{Script, answer};
use millrace_client::{Client, Error, RawQuery};
use millrace_contract::v1::{ErrorCode, HealthStatus, NewClients, TagChange};

fn line(request: &str) -> &str {
    request.lines().next().unwrap()
}

fn query(limit: Option<u64>) -> RawQuery {
    let (from, to) = ("-1h".to_owned(), "now".to_owned());
    RawQuery { path: "a b/ü&c".to_owned(), from, to, limit }
}

const SAMPLE: &str = r#"{"source_time":"t","receive_time":"t","quality":0,"kind":"uint","value":18446744073709551615}"#;

#[tokio::test]
async fn encodes_names_and_sends_the_token() {
    let script = Script::start(vec![
        answer(204, ""),
        answer(404, r#"{"error":{"code":"not_found","message":"There is no such tag."}}"#),
        answer(200, r#"{"items":[{"path":"a","unit":""}]}"#),
    ])
    .await;
    let client = Client::new(&script.base, Some("t0ken")).unwrap();
    assert!(!format!("{client:?}").contains("t0ken"));
    client.acknowledge_issue("part:1d/2026?x").await.unwrap();
    assert!(client.tag("my lab", "a/b&c").await.unwrap().is_none());
    assert!(client.last("main", &["a", "b c"]).await.unwrap()[0].sample.is_none());
    let asked = script.asked().await;
    let expected = "POST /api/v1/issues/part:1d%2F2026%3Fx/acknowledge HTTP/1.1";
    assert_eq!(line(&asked[0]), expected);
    assert!(asked.iter().all(|request| request.contains("authorization: Bearer t0ken\r\n")));
    assert_eq!(line(&asked[1]), "GET /api/v1/workspaces/my%20lab/tag?path=a%2Fb%26c HTTP/1.1");
    assert_eq!(line(&asked[2]), "GET /api/v1/workspaces/main/last?path=a&path=b+c HTTP/1.1");
}

#[tokio::test]
async fn joins_pages() {
    let page = |id: &str, next: &str| {
        let client = format!(
            r#"{{"id":"{id}","name":"n","workspace":"main","publish":[],"subscribe":[],
                "may_create":true,"created":"t"}}"#
        );
        answer(200, &format!(r#"{{"items":[{client}]{next}}}"#))
    };
    let script = Script::start(vec![page("a", r#","next":"n=1""#), page("b", "")]).await;
    let client = Client::new(&script.base, None).unwrap();
    let clients = client.clients().await.unwrap();
    assert_eq!(clients.iter().map(|client| client.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(
        line(&script.asked().await[1]),
        "GET /api/v1/clients?limit=1000&after=n%3D1 HTTP/1.1"
    );
}

#[tokio::test]
async fn reads_history_page_by_page_up_to_the_limit() {
    let script = Script::start(vec![
        answer(200, &format!(r#"{{"items":[{SAMPLE},{SAMPLE}],"next":"x"}}"#)),
        answer(200, &format!(r#"{{"items":[{SAMPLE}],"next":"y"}}"#)),
    ])
    .await;
    let client = Client::new(&script.base, None).unwrap();
    let mut pages = client.raw("main", &query(Some(3)));
    let first = pages.next().await.unwrap().unwrap();
    assert_eq!(first[0].value.get(), "18446744073709551615", "exact, not through a double");
    assert_eq!(pages.next().await.unwrap().unwrap().len(), 1);
    assert!(pages.next().await.unwrap().is_none(), "the limit is reached without asking again");
    let asked = script.asked().await;
    let second = "path=a+b%2F%C3%BC%26c&from=-1h&to=now&limit=1&after=x";
    assert_eq!(line(&asked[1]), format!("GET /api/v1/workspaces/main/raw?{second} HTTP/1.1"));
}

#[tokio::test]
async fn writes_csv_as_it_comes_and_tells_when_it_breaks_off() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
    let script = Script::start(vec![
        format!("{head}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
        format!("{head}3\r\nabc\r\n2\r\nd"),
    ])
    .await;
    let client = Client::new(&script.base, None).unwrap();
    let mut out = Vec::new();
    client.raw_csv("main", &query(None), &mut out).await.unwrap();
    assert_eq!(out, b"abcde");
    let error = client.raw_csv("main", &query(None), &mut Vec::new()).await.unwrap_err();
    assert!(matches!(error, Error::Transport(_)), "{error}");
}

#[tokio::test]
async fn tells_refusals_from_foreign_answers() {
    let refusal = r#"{"error":{"code":"invalid","message":"Not so.","field":"count"}}"#;
    let redirect = "HTTP/1.1 302 X\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n".to_owned();
    let script = Script::start(vec![
        answer(422, refusal),
        answer(502, "<html>"),
        answer(200, "[]"),
        redirect,
        answer(503, r#"{"status":"not_ready"}"#),
    ])
    .await;
    let client = Client::new(&script.base, None).unwrap();
    let new: NewClients = NewClients {
        name: "a".to_owned(),
        count: 0,
        workspace: "main".to_owned(),
        publish: Vec::new(),
        subscribe: Vec::new(),
        may_create: true,
        retention: None,
        rate_per_s: None,
    };
    let error = client.create_clients(&new).await.err().unwrap();
    assert_eq!(error.code(), Some(ErrorCode::Invalid));
    assert_eq!(error.to_string(), "Not so. (invalid)");
    let change = TagChange::default();
    let error = client.update_tag("main", "a", &change).await.unwrap_err();
    assert!(matches!(error, Error::Foreign { status: 502, .. }), "{error}");
    assert!(matches!(client.version().await, Err(Error::Foreign { status: 200, .. })));
    assert!(matches!(client.version().await, Err(Error::Foreign { status: 302, .. })));
    assert_eq!(client.health().await.unwrap().status, HealthStatus::NotReady);
}

#[tokio::test]
async fn a_token_with_a_line_break_is_refused() {
    assert!(matches!(Client::new("http://localhost", Some("a\nb")), Err(Error::TokenInvalid)));
    let nowhere = Client::new("nonsense", None).unwrap();
    assert!(matches!(nowhere.version().await, Err(Error::Transport(_))));
}
