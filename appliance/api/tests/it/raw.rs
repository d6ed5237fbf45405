//! Raw history: exact values, whole pages, whole streams.

use crate::backend::sample;
use crate::http::Answer;
use crate::server::Server;
use millrace_api::backend::Sample;
use millrace_model::{Quality, Value};
use std::sync::atomic::Ordering;

async fn raw(server: &Server, query: &str) -> Answer {
    let path = "path=press-4/temperature";
    server.get("viewer", &format!("/api/v1/workspaces/main/raw?{path}&{query}")).await
}

fn every_kind() -> Vec<Sample> {
    let values = [
        Value::Null,
        Value::Bool(false),
        Value::Int(i64::MIN),
        Value::Int(9_007_199_254_740_993),
        Value::UInt(u64::MAX),
        Value::Float(32.0),
        Value::Float(0.1 + 0.2),
        Value::Float(f64::NAN),
        Value::Float(f64::INFINITY),
        Value::Float(-0.0),
        Value::Text("1".into()),
        Value::Text("a,\"b\"\r\nä".into()),
        Value::Json(r#"{"a": [1, 2.50]}"#.into()),
    ];
    let count = i64::try_from(values.len()).unwrap();
    (0..).zip(values).map(|(at, value)| sample(count - at, value, at.unsigned_abs())).collect()
}

#[tokio::test]
async fn json_keeps_every_value_exactly() {
    let server = Server::start().await;
    *server.backend.samples.lock() = every_kind();
    let answer = raw(&server, "").await.expect(200);
    let texts: Vec<String> = answer
        .text()
        .split("\"kind\":")
        .skip(1)
        .map(|rest| rest.split("},{\"source_time\"").next().unwrap().to_owned())
        .collect();
    assert_eq!(
        texts,
        [
            r#""null","value":null"#,
            r#""bool","value":false"#,
            r#""int","value":-9223372036854775808"#,
            r#""int","value":9007199254740993"#,
            r#""uint","value":18446744073709551615"#,
            r#""float","value":32.0"#,
            r#""float","value":0.30000000000000004"#,
            r#""float","value":"NaN""#,
            r#""float","value":"Infinity""#,
            r#""float","value":-0.0"#,
            r#""text","value":"1""#,
            r#""text","value":"a,\"b\"\r\nä""#,
            r#""json","value":{"a": [1, 2.50]}}]}"#,
        ]
    );
}

#[tokio::test]
async fn csv_keeps_every_value_exactly() {
    let server = Server::start().await;
    *server.backend.samples.lock() = every_kind();
    server.backend.samples.lock()[0].quality = Quality::UNCERTAIN_RANGE;
    let answer = raw(&server, "format=csv").await.expect(200);
    assert!(answer.header("content-type").unwrap().starts_with("text/csv"));
    let times = |second: u32| {
        format!("2026-11-30T11:59:{second}.000000000Z,2026-11-30T11:59:{second}.001234567Z")
    };
    let rows = [
        "1083441152,null,",
        "0,bool,false",
        "0,int,-9223372036854775808",
        "0,int,9007199254740993",
        "0,uint,18446744073709551615",
        "0,float,32.0",
        "0,float,0.30000000000000004",
        "0,float,NaN",
        "0,float,Infinity",
        "0,float,-0.0",
        "0,text,1",
        "0,text,\"a,\"\"b\"\"\r\nä\"",
        "0,json,\"{\"\"a\"\": [1, 2.50]}\"",
    ];
    let mut expected = "source_time,receive_time,quality,kind,value\r\n".to_owned();
    for (second, row) in (47..).zip(rows) {
        expected.push_str(&format!("{},{row}\r\n", times(second)));
    }
    assert_eq!(answer.text(), expected);
    assert!(answer.is_whole);
}

#[tokio::test]
async fn pages_join_without_a_gap_or_a_double() {
    let server = Server::start().await;
    // Samples of one source time lie on both sides of a page's end.
    let all: Vec<_> =
        (0..10).map(|at| sample(100 - at / 4, Value::Int(at), at.unsigned_abs())).collect();
    *server.backend.samples.lock() = all;
    let mut seen = Vec::new();
    let mut query = "limit=3".to_owned();
    loop {
        let page = raw(&server, &query).await.expect(200).value();
        let items = page["items"].as_array().unwrap();
        seen.extend(items.iter().map(|item| item["value"].as_i64().unwrap()));
        let Some(next) = page["next"].as_str() else { break };
        query = format!("limit=3&after={next}");
    }
    assert_eq!(seen, (0..10).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_long_csv_streams_to_its_end_page_by_page() {
    let server = Server::start().await;
    let count: i64 = 25_001;
    let all = (0..count).map(|at| sample(count - at, Value::Int(at), at.unsigned_abs())).collect();
    *server.backend.samples.lock() = all;
    let answer = raw(&server, "format=csv&from=-1d").await.expect(200);
    assert!(answer.is_whole);
    let values: Vec<&str> =
        answer.text().lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(values.len(), 25_001);
    assert!((0..count).zip(&values).all(|(at, value)| *value == at.to_string()));
    assert_eq!(server.backend.raw_pages.load(Ordering::SeqCst), 3);
    let limited = raw(&server, "format=csv&from=-1d&limit=10001").await.expect(200);
    assert_eq!(limited.text().lines().count(), 10_002);
    let none = raw(&server, "format=csv&limit=0").await.expect(200);
    assert_eq!(none.text().lines().count(), 1);
}

#[tokio::test]
async fn a_csv_that_fails_half_way_does_not_look_whole() {
    let server = Server::start().await;
    let count: i64 = 25_000;
    let all = (0..count).map(|at| sample(count - at, Value::Int(at), at.unsigned_abs())).collect();
    *server.backend.samples.lock() = all;
    server.backend.fails_at_page.store(2, Ordering::SeqCst);
    let answer = raw(&server, "format=csv&from=-1d").await.expect(200);
    assert!(!answer.is_whole);
    server.backend.raw_pages.store(0, Ordering::SeqCst);
    server.backend.fails_at_page.store(1, Ordering::SeqCst);
    let answer = raw(&server, "format=csv").await.expect_error(500, "internal", None);
    assert!(!answer.text().contains("part"), "what failed is for the log");
}

#[tokio::test]
async fn says_when_a_part_is_left_out() {
    let server = Server::start().await;
    let count: i64 = 25_000;
    let all = (0..count).map(|at| sample(count - at, Value::Int(at), at.unsigned_abs())).collect();
    *server.backend.samples.lock() = all;
    let whole = raw(&server, "from=-1d").await.expect(200);
    assert!(!whole.text().contains("incomplete"));
    let from_page = async |page: usize, query: &str| {
        server.backend.raw_pages.store(0, Ordering::SeqCst);
        server.backend.incomplete_from_page.store(page, Ordering::SeqCst);
        raw(&server, query).await.expect(200)
    };
    let json = from_page(1, "from=-1d").await;
    assert!(json.text().ends_with(",\"incomplete\":true}"), "{}", json.text());
    let csv = from_page(1, "format=csv&from=-1d").await;
    assert_eq!(csv.header("millrace-incomplete"), Some("true"));
    assert!(csv.is_whole);
    // The header had gone out when it showed.
    let late = from_page(2, "format=csv&from=-1d").await;
    assert!(late.header("millrace-incomplete").is_none() && !late.is_whole);
}

#[tokio::test]
async fn refuses_bad_ranges_and_limits() {
    let server = Server::start().await;
    raw(&server, "limit=100001").await.expect_error(400, "bad_request", Some("limit"));
    raw(&server, "limit=0").await.expect_error(400, "bad_request", Some("limit"));
    raw(&server, "from=now&to=-1s").await.expect_error(400, "bad_request", Some("from"));
    raw(&server, "to=soon").await.expect_error(400, "bad_request", Some("to"));
    raw(&server, "after=zzz").await.expect_error(400, "bad_request", Some("after"));
    raw(&server, "format=xml").await.expect_error(400, "bad_request", None);
    let missing = server.get("viewer", "/api/v1/workspaces/main/raw").await;
    missing.expect_error(400, "bad_request", None);
}
