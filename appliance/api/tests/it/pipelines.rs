//! Pipelines over HTTP: documents in and out, what runs, runs, trials, secrets, webhooks.

pub(crate) mod fake;

use crate::http::{Answer, Request, exchange};
use crate::server::Server;
use millrace_api::backend::{Actor, HookCall, StepInput};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;

const BASE: &str = "/api/v1/workspaces/main/pipelines";

pub(crate) fn document(name: &str, description: &str) -> Value {
    json!({
        "millrace": 1,
        "name": name,
        "description": description,
        "steps": {
            "in": { "kind": "manual" },
            "note": { "kind": "log", "fields": { "message": "{{ $trigger.value }}" } },
        },
        "wires": [{ "from": "in", "port": "out", "to": "note" }],
    })
}

async fn put(server: &Server, name: &str, document: &Value) -> Answer {
    let body = json!({ "document": document, "note": "because" }).to_string();
    let request = Request::new("PUT", &format!("{BASE}/{name}")).token("engineer");
    request.json(&body).send(server.address).await
}

async fn delete(server: &Server, target: &str) -> Answer {
    Request::new("DELETE", target).token("engineer").send(server.address).await
}

async fn with_pipeline() -> Server {
    let server = Server::start().await;
    put(&server, "scale", &document("scale", "first")).await.expect(201);
    server
}

#[tokio::test]
async fn a_document_is_stored_looked_at_compared_and_written_out() {
    let server = with_pipeline().await;
    let again = put(&server, "scale", &document("scale", "first")).await.expect(200).value();
    assert_eq!((&again["unchanged"], &again["revision"]["revision"]), (&json!(true), &json!(1)));
    let second = put(&server, "scale", &document("scale", "second")).await.expect(201).value();
    assert_eq!(second["revision"]["author"], "user:emil");
    assert_eq!(second["revision"]["note"], "because");
    let pipeline = server.get("viewer", &format!("{BASE}/scale")).await.expect(200).value();
    assert_eq!(pipeline["description"], "second");
    assert!(pipeline.get("deployment").is_none(), "stored is not deployed");
    let first = server.get("viewer", &format!("{BASE}/scale/revisions/1")).await.expect(200);
    assert_eq!(first.value()["document"], document("scale", "first"));
    let diff = server.get("viewer", &format!("{BASE}/scale/diff?from=1&to=2")).await.expect(200);
    let expected = json!({
        "from": 1, "to": 2, "lines": ["description changed"],
        "edits": [{ "set_description": "second" }],
    });
    assert_eq!(diff.value(), expected);
    let file = server.get("viewer", &format!("{BASE}/scale/export")).await.expect(200);
    assert_eq!(file.header("content-type"), Some("application/json"));
    let text = file.text();
    assert!(text.starts_with("{\n") && text.ends_with("}\n"), "{text}");
    let imported: Value = serde_json::from_str(text).unwrap();
    put(&server, "scale", &imported).await.expect(200);
    let answer = server.get("viewer", &format!("{BASE}/scale/revisions/x")).await;
    answer.expect_error(400, "bad_request", Some("revision"));
    for missing in ["/none", "/scale/revisions/9", "/scale/revisions/deployed", "/none/export"] {
        let answer = server.get("viewer", &format!("{BASE}{missing}")).await;
        answer.expect_error(404, "not_found", None);
    }
    let elsewhere = server.get("viewer", "/api/v1/workspaces/none/pipelines").await;
    elsewhere.expect_error(404, "not_found", None);
}

#[tokio::test]
async fn a_document_with_faults_is_answered_with_step_and_field_of_each() {
    let server = Server::start().await;
    let mut bad = document("scale", "");
    bad["steps"]["note"]["kind"] = json!("teleport");
    bad["wires"][0]["to"] = json!("nowhere");
    let answer = put(&server, "scale", &bad).await;
    let answer = answer.expect_error(422, "invalid", Some("document")).value();
    let faults = answer["error"]["faults"].as_array().unwrap();
    let of = |code: &str| faults.iter().find(|fault| fault["code"] == code).unwrap();
    assert_eq!(of("unknown_kind")["step"], "note");
    assert!(of("dangling_wire")["message"].as_str().unwrap().contains("nowhere"), "{faults:?}");
    // What only the engine finds comes in the same form.
    let mut script = document("scale", "");
    script["steps"]["note"]["label"] = json!("does not compile");
    let answer = put(&server, "scale", &script).await.expect(422).value();
    let expected = json!([{
        "step": "note", "field": "code", "line": 3, "code": "bad_script",
        "message": "unexpected token",
    }]);
    assert_eq!(answer["error"]["faults"], expected);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("step 'note', 'code': unexpected token"), "{message}");
    put(&server, "other", &document("scale", "")).await.expect_error(
        422,
        "invalid",
        Some("document"),
    );
    let stored = server.get("viewer", &format!("{BASE}/scale")).await;
    stored.expect_error(404, "not_found", None);
    assert!(server.backend.actors.lock().is_empty(), "nothing was changed");
}

#[tokio::test]
async fn two_authors_do_not_overwrite_one_another() {
    let server = with_pipeline().await;
    let save = async |expected: u32, description: &str| {
        let document = document("scale", description);
        let body = json!({ "document": document, "expected": expected }).to_string();
        let request = Request::new("PUT", &format!("{BASE}/scale")).token("engineer");
        request.json(&body).send(server.address).await
    };
    save(1, "mine").await.expect(201);
    save(1, "yours").await.expect_error(409, "conflict", None);
}

#[tokio::test]
async fn lists_come_in_pages() {
    let server = Server::start().await;
    for name in ["c", "a", "b"] {
        put(&server, name, &document(name, "")).await.expect(201);
    }
    put(&server, "a", &document("a", "more")).await.expect(201);
    let pages = async |list: &str, field: &str| {
        let first = server.get("viewer", &format!("{list}?limit=2")).await.expect(200).value();
        let mut items = first["items"].as_array().unwrap().clone();
        if let Some(next) = first["next"].as_str() {
            let rest = server.get("viewer", &format!("{list}?limit=2&after={next}")).await;
            let rest = rest.expect(200).value();
            assert!(rest.get("next").is_none(), "{rest}");
            items.extend(rest["items"].as_array().unwrap().clone());
        }
        items.iter().map(|item| item[field].clone()).collect::<Vec<_>>()
    };
    assert_eq!(pages(BASE, "name").await, ["a", "b", "c"]);
    assert_eq!(pages(&format!("{BASE}/a/revisions"), "revision").await, [2, 1]);
    assert_eq!(pages(&format!("{BASE}/a/runs"), "id").await, ["1-3", "1-2", "1-1"]);
    for list in [BASE.to_owned(), format!("{BASE}/a/revisions"), format!("{BASE}/a/runs")] {
        let answer = server.get("viewer", &format!("{list}?after=nonsense")).await;
        answer.expect_error(400, "bad_request", Some("after"));
        let answer = server.get("viewer", &format!("{list}?limit=1001")).await;
        answer.expect_error(400, "bad_request", Some("limit"));
    }
}

#[tokio::test]
async fn what_runs_is_told_by_the_answer() {
    let server = with_pipeline().await;
    put(&server, "scale", &document("scale", "second")).await.expect(201);
    let act = async |verb: &str, body: &str| {
        let target = format!("{BASE}/scale/{verb}");
        let request = Request::new("POST", &target).token("engineer");
        let request = if body.is_empty() { request } else { request.json(body) };
        request.send(server.address).await
    };
    act("rollback", "").await.expect_error(409, "conflict", None);
    let running = act("deploy", r#"{"revision":1,"note":"go"}"#).await.expect(200).value();
    assert_eq!(running["deployment"]["revision"], 1);
    assert_eq!(running["triggers"][0]["tags"], 2);
    // Without a body: the last one.
    let running = act("deploy", "").await.expect(200).value();
    assert_eq!(running["deployment"]["revision"], 2);
    let diff = server.get("viewer", &format!("{BASE}/scale/diff")).await.expect(200).value();
    assert_eq!((&diff["from"], &diff["lines"]), (&json!(2), &json!([])));
    let running = act("rollback", "").await.expect(200).value();
    assert_eq!(running["deployment"]["revision"], 1);
    delete(&server, &format!("{BASE}/scale")).await.expect_error(409, "conflict", None);
    let running = act("undeploy", r#"{"note":"maintenance"}"#).await.expect(200).value();
    assert!(running["deployment"].get("revision").is_none(), "{running}");
    assert_eq!(running["triggers"], json!([]));
    act("deploy", r#"{"revision":9}"#).await.expect_error(404, "not_found", None);
    act("deploy", r#"{"revison":1}"#).await.expect_error(422, "invalid", Some("revison"));
    delete(&server, &format!("{BASE}/scale")).await.expect(204);
    delete(&server, &format!("{BASE}/scale")).await.expect_error(404, "not_found", None);
    let emil = Actor { who: "user:emil".to_owned(), from: "127.0.0.1".parse().unwrap() };
    assert!(server.backend.actors.lock().iter().all(|actor| *actor == emil));
}

#[tokio::test]
async fn a_run_is_started_by_hand_found_and_run_again() {
    let server = with_pipeline().await;
    let trigger = async |body: &str| {
        let request = Request::new("POST", &format!("{BASE}/scale/trigger")).token("engineer");
        let request = if body.is_empty() { request } else { request.json(body) };
        request.send(server.address).await
    };
    assert_eq!(trigger("").await.expect(202).value(), json!({ "id": "1-9" }));
    let body = r#"{"trigger":"in","input":{"value":18446744073709551615},"wait_ms":500}"#;
    let ended = trigger(body).await.expect(202);
    let exact = r#""value":{"value":18446744073709551615}"#;
    assert!(ended.text().contains(exact), "{}", ended.text());
    {
        let manual = server.backend.pipelines.manual.lock();
        assert_eq!(manual[1].wait, Some(Duration::from_millis(500)));
        assert_eq!(manual[1].input, Some(json!({ "value": u64::MAX })));
    }
    trigger(r#"{"input":7}"#).await.expect_error(422, "invalid", Some("input"));
    trigger(r#"{"wait_ms":20001}"#).await.expect_error(422, "invalid", Some("wait_ms"));
    let run = server.get("viewer", &format!("{BASE}/scale/runs/1-9")).await.expect(200).value();
    assert_eq!((&run["run"]["status"], &run["steps"][0]["step"]), (&json!("ok"), &json!("in")));
    let missing = server.get("viewer", &format!("{BASE}/scale/runs/1-99")).await;
    missing.expect_error(404, "not_found", None);
    let bad = server.get("viewer", &format!("{BASE}/scale/runs/nine")).await;
    bad.expect_error(400, "bad_request", Some("run"));
    let again = server.post("engineer", &format!("{BASE}/scale/runs/1-9/again"), "").await;
    assert_eq!(again.expect(202).value()["id"], "1-10");
    let cancel = async |who: &str, run: &str| {
        server.post(who, &format!("{BASE}/scale/runs/{run}/cancel"), "").await
    };
    let canceled = cancel("engineer", "1-5").await.expect(202).value();
    assert_eq!(canceled, json!({ "id": "1-5", "was": "waiting" }));
    cancel("engineer", "1-1").await.expect_error(409, "conflict", None);
    cancel("engineer", "1-99").await.expect_error(404, "not_found", None);
    cancel("viewer", "1-5").await.expect_error(403, "forbidden", None);
}

#[tokio::test]
async fn runs_are_filtered_by_status_and_time() {
    let server = with_pipeline().await;
    let target = format!("{BASE}/scale/runs?status=failed,interrupted&from=2026-11-30&to=-1h");
    server.get("viewer", &target).await.expect(200);
    let query = server.backend.pipelines.queries.lock().pop().unwrap();
    let names: Vec<_> = query.statuses.iter().map(|status| status.name()).collect();
    assert_eq!(names, ["failed", "interrupted"]);
    assert_eq!(query.from.unwrap().to_rfc3339(), "2026-11-30T00:00:00Z");
    assert_eq!(query.to.unwrap().to_rfc3339(), "2026-11-30T11:00:00Z");
    server.get("viewer", &format!("{BASE}/scale/runs?status=canceled")).await.expect(200);
    let query = server.backend.pipelines.queries.lock().pop().unwrap();
    assert_eq!(query.statuses, [millrace_contract::v1::RunStatus::Stopped]);
    let bad = server.get("viewer", &format!("{BASE}/scale/runs?status=good")).await;
    bad.expect_error(400, "bad_request", Some("status"));
    let bad = server.get("viewer", &format!("{BASE}/scale/runs?from=soon")).await;
    bad.expect_error(400, "bad_request", Some("from"));
}

#[tokio::test]
async fn cases_are_run_from_the_store_or_the_request() {
    let server = Server::start().await;
    let mut stored = document("scale", "");
    let case = |name: &str, then: Value| json!({ "name": name, "when": [{ "trigger": "in", "with": { "value": 1 } }], "then": then });
    stored["cases"] = json!([
        case("does nothing else", json!(["nothing_else"])),
        case("expects nothing", json!([])),
    ]);
    put(&server, "scale", &stored).await.expect(201);
    let test = async |body: &Value| {
        server.post("engineer", &format!("{BASE}/scale/test"), &body.to_string()).await
    };
    let report = test(&json!({})).await.expect(200).value();
    assert_eq!((&report["passed"], &report["failed"]), (&json!(1), &json!(1)));
    let report = test(&json!({ "only": ["expects nothing"] })).await.expect(200).value();
    assert_eq!(report["cases"].as_array().unwrap().len(), 1);
    test(&json!({ "only": ["none"] })).await.expect_error(422, "invalid", Some("only"));
    let given = json!({ "cases": [case("mine", json!(["nothing_else"]))] });
    assert_eq!(test(&given).await.expect(200).value()["cases"][0]["name"], "mine");
    let bad = test(&json!({ "cases": [{ "name": "x" }] })).await.expect(422);
    assert!(bad.error().1.unwrap().starts_with("cases"), "{}", bad.text());
    let unstored = json!({ "document": stored });
    server.post("engineer", &format!("{BASE}/draft/test"), &unstored.to_string()).await.expect(422);
    stored["name"] = json!("draft");
    let unstored = json!({ "document": stored }).to_string();
    let report = server.post("engineer", &format!("{BASE}/draft/test"), &unstored).await;
    assert_eq!(report.expect(200).value()["passed"], 1);
    let both = json!({ "document": stored, "revision": 1 }).to_string();
    let answer = server.post("engineer", &format!("{BASE}/draft/test"), &both).await;
    answer.expect_error(422, "invalid", Some("revision"));
}

#[tokio::test]
async fn a_rehearsal_tells_its_progress_and_then_its_report() {
    let server = with_pipeline().await;
    let rehearse =
        async |body: &str| server.post("engineer", &format!("{BASE}/scale/rehearse"), body).await;
    let answer = rehearse(r#"{"from":"-1h"}"#).await.expect(200);
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    let events: Vec<Value> =
        answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (last, before) = events.split_last().unwrap();
    assert!(!before.is_empty() && before.iter().all(|event| event["progress"].is_object()));
    let progress = &before[0]["progress"];
    assert_eq!((&progress["values"], &progress["done"]), (&json!(5), &json!(0.5)));
    assert_eq!(last["report"]["values"], 10);
    rehearse(r#"{"from":"now","to":"-1h"}"#).await.expect_error(422, "invalid", Some("to"));
    rehearse(r#"{"from":"someday"}"#).await.expect_error(400, "bad_request", Some("from"));
    // A failure half way is the last line.
    let breaks = json!({ "from": "-1h", "document": document("scale", "breaks") }).to_string();
    let answer = rehearse(&breaks).await.expect(200);
    let last: Value = serde_json::from_str(answer.text().lines().last().unwrap()).unwrap();
    assert_eq!(last["failed"]["code"], "unavailable");
}

#[tokio::test]
async fn closing_the_connection_ends_a_rehearsal_and_there_is_one_at_a_time() {
    let server = with_pipeline().await;
    let mut stream = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let body = r#"{"from":"-7d"}"#;
    let head = format!(
        "POST {BASE}/scale/rehearse HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer engineer\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut first = [0; 512];
    assert!(stream.read(&mut first).await.unwrap() > 0, "it has begun");
    let second = server.post("engineer", &format!("{BASE}/scale/rehearse"), body).await;
    second.expect_error(503, "unavailable", None);
    drop(stream);
    let abandoned = async {
        while !server.backend.pipelines.abandoned.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), abandoned).await.expect("it was dropped");
}

#[tokio::test]
async fn a_step_is_tested_on_a_sample_a_live_value_or_from_its_trigger_on() {
    let server = with_pipeline().await;
    let test = async |step: &str, body: &str| {
        server.post("engineer", &format!("{BASE}/scale/steps/{step}/test"), body).await
    };
    let report = test("note", r#"{"input":{"value":1}}"#).await.expect(200).value();
    assert_eq!(report["outputs"][0], json!({ "port": "out", "value": { "value": 2, "bytes": 1 } }));
    test("note", r#"{"live":"press-4/temperature"}"#).await.expect(200);
    test("note", r#"{"upstream":"in","input":{"value":2},"pinned":{"in":3}}"#).await.expect(200);
    let inputs: Vec<_> = {
        let trials = server.backend.pipelines.trials.lock();
        trials.iter().map(|trial| trial.input.clone()).collect()
    };
    let (trigger, datum) = ("in".to_owned(), json!({ "value": 2 }));
    let expected = [
        StepInput::Given(json!({ "value": 1 })),
        StepInput::Live("press-4/temperature".to_owned()),
        StepInput::Upstream { trigger, datum },
    ];
    assert_eq!(inputs, expected);
    test("none", "{}").await.expect_error(404, "not_found", None);
    test("note", r#"{"pinned":{"none":1}}"#).await.expect_error(422, "invalid", Some("pinned"));
    test("note", r#"{"upstream":"none"}"#).await.expect_error(422, "invalid", Some("upstream"));
    let both = r#"{"upstream":"in","live":"a"}"#;
    test("note", both).await.expect_error(422, "invalid", Some("live"));
    let both = r#"{"input":1,"live":"a"}"#;
    test("note", both).await.expect_error(422, "invalid", Some("input"));
}

#[tokio::test]
async fn a_secrets_value_goes_in_and_never_comes_out() {
    let server = Server::start().await;
    let secrets = "/api/v1/workspaces/main/secrets";
    let set = async |name: &str, body: &str| {
        let request = Request::new("PUT", &format!("{secrets}/{name}")).token("engineer");
        request.json(body).send(server.address).await
    };
    let answer = set("mes-token", r#"{"value":"hunter2"}"#).await.expect(200);
    assert!(!answer.text().contains("hunter2"), "{}", answer.text());
    let list = server.get("engineer", secrets).await.expect(200);
    assert_eq!(list.value()["items"][0]["name"], "mes-token");
    assert!(!list.text().contains("hunter2"), "{}", list.text());
    assert_eq!(server.backend.pipelines.secrets.lock()["mes-token"], "hunter2");
    set("a", r#"{"value":""}"#).await.expect_error(422, "invalid", Some("value"));
    let long = json!({ "value": "x".repeat(16 * 1024 + 1) }).to_string();
    set("a", &long).await.expect_error(422, "invalid", Some("value"));
    // Not even a mistake in the body tells it.
    let mistake = set("a", r#"{"value":["hunter3"]}"#).await.expect(422);
    assert!(!mistake.text().contains("hunter3"), "{}", mistake.text());
    delete(&server, &format!("{secrets}/mes-token")).await.expect(204);
    delete(&server, &format!("{secrets}/mes-token")).await.expect_error(404, "not_found", None);
}

#[tokio::test]
async fn variables_are_listed_read_set_and_removed() {
    let server = Server::start().await;
    let variables = "/api/v1/workspaces/main/variables";
    let set = async |name: &str, value: Value| {
        let body = json!({ "value": value }).to_string();
        let request = Request::new("PUT", &format!("{variables}/{name}")).token("engineer");
        request.json(&body).send(server.address).await
    };
    set("shift", json!({ "number": u64::MAX })).await.expect(204);
    set("target", json!(null)).await.expect(204);
    let one = server.get("viewer", &format!("{variables}/shift")).await.expect(200);
    assert_eq!(one.text(), r#"{"name":"shift","value":{"number":18446744073709551615}}"#);
    let list = server.get("viewer", &format!("{variables}?limit=1")).await.expect(200).value();
    let next = list["next"].as_str().unwrap();
    let list = server.get("viewer", &format!("{variables}?after={next}")).await.expect(200);
    assert_eq!(list.value()["items"], json!([{ "name": "target", "value": null }]));
    delete(&server, &format!("{variables}/shift")).await.expect(204);
    let gone = server.get("viewer", &format!("{variables}/shift")).await;
    gone.expect_error(404, "not_found", None);
}

#[tokio::test]
async fn a_webhook_starts_a_run_for_whoever_knows_its_secret() {
    let server = Server::start().await;
    let post = |path: &str| Request::new("POST", &format!("/hooks/main/{path}"));
    let body = br#"{"order":1}"#;
    let answer = post("orders/new?line=4&line=5")
        .header("X-Mes-Key", "hunter2")
        .header("Cookie", "session=1")
        .header("X-Order", "7")
        .body("application/json", body)
        .send(server.address)
        .await
        .expect(202);
    assert_eq!(answer.text(), r#"{"run":"1-7"}"#);
    {
        let calls = server.backend.pipelines.calls.lock();
        let HookCall { method, path, query, headers, body: received } = &calls[0];
        assert_eq!((method.as_str(), path.as_str()), ("POST", "orders/new"));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(*query, [pair("line", "4"), pair("line", "5")]);
        assert!(headers.contains(&pair("x-order", "7")), "{headers:?}");
        assert!(!format!("{headers:?}").contains("hunter2"), "{headers:?}");
        assert!(!headers.iter().any(|(name, _)| name == "cookie"), "{headers:?}");
        assert_eq!(&received[..], body);
    }
    // Bearer, or the HMAC-SHA-256 of the body under the secret.
    let bearer = post("orders/new").header("X-Mes-Key", "Bearer hunter2");
    bearer.send(server.address).await.expect(202);
    let signature = "sha256=fb3a60b4d6ba9b46b30a65d3cdf3a9d8ab4d57f4b4b4a6a3b4c9f2c1e5d60718";
    let signed = post("orders/new").header("X-Hub-Signature-256", signature);
    let forged = signed.body("application/json", body).send(server.address).await;
    forged.expect_error(401, "unauthorized", None);
    for (name, value) in [("X-Mes-Key", "hunter3"), ("X-Mes-Key", ""), ("X-Other", "hunter2")] {
        let answer = post("orders/new").header(name, value).send(server.address).await;
        answer.expect_error(401, "unauthorized", None);
    }
    let answer = post("orders/orphan").header("X-Mes-Key", "").send(server.address).await;
    answer.expect_error(401, "unauthorized", None);
    assert_eq!(server.backend.pipelines.calls.lock().len(), 2, "nobody else got in");
}

#[tokio::test]
async fn a_webhook_refuses_what_it_does_not_take() {
    let server = Server::start().await;
    let call = |method: &str, path: &str| {
        Request::new(method, &format!("/hooks/main/{path}")).header("X-Mes-Key", "hunter2")
    };
    let wrong = call("DELETE", "orders/new").send(server.address).await;
    let wrong = wrong.expect_error(405, "method_not_allowed", None);
    assert_eq!(wrong.header("allow"), Some("POST, PUT"));
    let large = call("POST", "orders/new").body("text/plain", &[b'x'; 101]);
    large.send(server.address).await.expect_error(413, "too_large", None);
    let exact = call("POST", "orders/new").body("text/plain", &[b'x'; 100]);
    exact.send(server.address).await.expect(202);
    for path in ["orders", "orders/none", "orders/new/"] {
        call("POST", path).send(server.address).await.expect_error(404, "not_found", None);
    }
    let elsewhere = Request::new("POST", "/hooks/none/orders/new").header("X-Mes-Key", "hunter2");
    elsewhere.send(server.address).await.expect_error(404, "not_found", None);
    let other = call("OPTIONS", "orders/new").send(server.address).await;
    other.expect_error(405, "method_not_allowed", None);
}

#[tokio::test]
async fn a_webhook_answers_with_the_runs_result_where_it_waits_for_it() {
    let server = Server::start().await;
    let call = async |path: &str| {
        let request = Request::new("POST", &format!("/hooks/main/{path}"));
        request.header("X-Mes-Key", "hunter2").send(server.address).await
    };
    let result = call("orders/result").await.expect(200);
    assert_eq!((result.text(), result.header("millrace-run")), (r#"{"order":1}"#, Some("1-7")));
    let failed = call("orders/fails").await.expect(500).value();
    assert_eq!((&failed["run"], &failed["error"]["code"]), (&json!("1-7"), &json!("run_failed")));
    let slow = call("orders/slow").await.expect(504).value();
    assert_eq!((&slow["run"], &slow["error"]["code"]), (&json!("1-7"), &json!("timed_out")));
}

/// Bodies made by twisting good ones: whatever comes, the answer is one of the contract's, fast,
/// and no fault of the appliance.
#[tokio::test]
async fn twisted_bodies_are_answered_and_change_nothing() {
    let server = with_pipeline().await;
    let good = json!({ "document": document("scale", "first"), "note": "x", "expected": 1 });
    let good = good.to_string();
    let targets = [
        ("PUT", format!("{BASE}/scale")),
        ("POST", format!("{BASE}/scale/deploy")),
        ("POST", format!("{BASE}/scale/trigger")),
        ("POST", format!("{BASE}/scale/test")),
        ("POST", format!("{BASE}/scale/rehearse")),
        ("POST", format!("{BASE}/scale/steps/note/test")),
        ("PUT", "/api/v1/workspaces/main/secrets/a".to_owned()),
        ("PUT", "/api/v1/workspaces/main/variables/a".to_owned()),
    ];
    let mut twisted: Vec<Vec<u8>> = vec![
        b"null".to_vec(),
        b"[]".to_vec(),
        b"\"\"".to_vec(),
        b"{\"document\":null}".to_vec(),
        b"{\"document\":{}}".to_vec(),
        b"{\"document\":{\"millrace\":1e999}}".to_vec(),
        b"{\"value\":".to_vec(),
        "[".repeat(100_000).into_bytes(),
        format!("{{\"document\":{}{}}}", "[".repeat(500), "]".repeat(500)).into_bytes(),
        format!("{{\"document\":{}}}", "{\"a\":".repeat(10_000)).into_bytes(),
        vec![0xff; 64],
    ];
    // Each sixteenth byte cut off, doubled, or turned.
    for at in (0..good.len()).step_by(16) {
        let mut cut = good.clone().into_bytes();
        cut.truncate(at);
        let mut turned = good.clone().into_bytes();
        turned[at] ^= 0x15;
        twisted.extend([cut, turned]);
    }
    let before = server.backend.actors.lock().len();
    for (method, target) in &targets {
        for body in &twisted {
            let request = Request::new(method, target).token("engineer");
            let answer = request.body("application/json", body).send(server.address).await;
            let shown = String::from_utf8_lossy(body);
            let is_known = [200, 201, 202, 204, 400, 404, 409, 422, 503].contains(&answer.status);
            assert!(is_known, "{method} {target} {shown}: {} {}", answer.status, answer.text());
            if answer.status >= 400 {
                answer.error();
            }
        }
    }
    assert!(server.backend.actors.lock().len() - before < 400, "most of it changed nothing");
    let get = format!("GET {BASE}/scale HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    assert_eq!(
        exchange(
            server.address,
            get.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").as_bytes()
        )
        .await
        .status,
        401
    );
}
