//! Pipelines: what the client asks, and what it makes of the answers.

use crate::script::{Script, answer};
use millrace_client::{Client, Error, RunsQuery};
use millrace_contract::v1;

fn line(request: &str) -> &str {
    request.lines().next().unwrap()
}

const RUN: &str = r#"{"id":"1-2","pipeline":"scale","revision":1,"trigger":"in","status":"failed",
    "started":"t","took_us":1,"waited_us":0,"cpu_us":1,"attempt":1}"#;

fn request() -> v1::RehearsalRequest {
    let (from, to) = ("-1d".to_owned(), "now".to_owned());
    v1::RehearsalRequest { revision: None, document: None, from, to }
}

fn chunked(lines: &[&str]) -> String {
    let mut text =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n".to_owned();
    for line in lines {
        text.push_str(&format!("{:x}\r\n{line}\r\n", line.len()));
    }
    text.push_str("0\r\n\r\n");
    text
}

#[tokio::test]
async fn a_refused_document_keeps_all_its_faults() {
    let refusal = r#"{"error":{"code":"invalid","message":"It has faults.","field":"document",
        "faults":[{"step":"calc","field":"code","line":3,"message":"unexpected token"},
                  {"message":"no trigger"}]}}"#;
    let script = Script::start(vec![answer(422, refusal)]).await;
    let client = Client::new(&script.base, None).unwrap();
    let document = serde_json::value::RawValue::from_string("{\"a\":1.0}".to_owned()).unwrap();
    let new = v1::NewRevision { document, note: String::new(), expected: None };
    let Err(Error::Refused { status: 422, detail }) =
        client.save_pipeline("main", "scale", &new).await
    else {
        panic!("it is refused");
    };
    assert_eq!((detail.faults.len(), detail.faults[0].line), (2, Some(3)));
    let asked = script.asked().await;
    assert_eq!(line(&asked[0]), "PUT /api/v1/workspaces/main/pipelines/scale HTTP/1.1");
    assert!(asked[0].ends_with(r#"{"document":{"a":1.0}}"#), "to the digit: {}", asked[0]);
}

#[tokio::test]
async fn runs_come_page_by_page_up_to_the_limit() {
    let script = Script::start(vec![
        answer(200, &format!(r#"{{"items":[{RUN},{RUN}],"next":"x"}}"#)),
        answer(200, &format!(r#"{{"items":[{RUN}],"next":"y"}}"#)),
    ])
    .await;
    let client = Client::new(&script.base, None).unwrap();
    let status = Some("failed,ok".to_owned());
    let query = RunsQuery { status, from: Some("2026-11-30".to_owned()), to: None, limit: 3 };
    let runs = client.runs("main", "scale", &query).await.unwrap();
    assert_eq!((runs.len(), runs[0].status), (3, v1::RunStatus::Failed));
    let second = "limit=1&status=failed%2Cok&from=2026-11-30&after=x";
    let expected = format!("GET /api/v1/workspaces/main/pipelines/scale/runs?{second} HTTP/1.1");
    assert_eq!(line(&script.asked().await[1]), expected);
}

#[tokio::test]
async fn a_rehearsal_tells_its_progress_and_gives_its_report() {
    let progress = r#"{"progress":{"values":5,"at":"t","done":0.5}}"#;
    let report = r#"{"report":{"from":"a","to":"b","values":10,"runs":9,"failed":1,"effects":[
        {"kind":"publish","target":"a","value":{"value":1.50,"bytes":4}}],"effects_total":1}}"#
        .replace('\n', "");
    let (begin, end) = report.split_at(20);
    let script = Script::start(vec![
        // Lines come in pieces.
        chunked(&[&format!("{progress}\n{begin}"), end, "\n"]),
        chunked(&[r#"{"failed":{"code":"unavailable","message":"No."}}"#, "\n"]),
        chunked(&[progress, "\n"]),
        chunked(&["nonsense\n"]),
    ])
    .await;
    let client = Client::new(&script.base, None).unwrap();
    let mut told = Vec::new();
    let tell = |done: f64, values: u64| told.push((done, values));
    let report = client.rehearse_pipeline("main", "scale", &request(), tell).await.unwrap();
    assert_eq!((report.runs, report.failed), (9, 1));
    assert_eq!(report.effects[0].value.as_ref().unwrap().text(), ("1.50", true), "to the digit");
    assert_eq!(told, [(0.5, 5)]);
    let rehearse = async || client.rehearse_pipeline("main", "scale", &request(), |_, _| ()).await;
    let failed = rehearse().await.unwrap_err();
    assert_eq!(failed.code(), Some(v1::ErrorCode::Unavailable));
    // An answer that ends without its report is none.
    assert!(matches!(rehearse().await, Err(Error::Foreign { .. })));
    assert!(matches!(rehearse().await, Err(Error::Foreign { .. })));
}

#[tokio::test]
async fn what_is_not_there_is_none() {
    let missing = r#"{"error":{"code":"not_found","message":"There is no such pipeline."}}"#;
    let script = Script::start(vec![answer(404, missing), answer(204, "")]).await;
    let client = Client::new(&script.base, None).unwrap();
    assert!(client.pipeline("my lab", "scale").await.unwrap().is_none());
    client.remove_secret("main", "a/b").await.unwrap();
    let asked = script.asked().await;
    assert_eq!(line(&asked[0]), "GET /api/v1/workspaces/my%20lab/pipelines/scale HTTP/1.1");
    assert_eq!(line(&asked[1]), "DELETE /api/v1/workspaces/main/secrets/a%2Fb HTTP/1.1");
}
