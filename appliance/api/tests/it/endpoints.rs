//! What each endpoint answers.

use crate::backend::{NOW, now, sample};
use crate::http::Request;
use crate::server::Server;
use millrace_api::backend::Actor;
use millrace_model::Value;
use serde_json::json;
use std::sync::atomic::Ordering;

fn names<'a>(page: &'a serde_json::Value, field: &str) -> Vec<&'a str> {
    let items = page["items"].as_array().unwrap();
    items.iter().map(|item| item[field].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_box_tells_what_it_is() {
    let server = Server::start().await;
    let root = Request::get("/").send(server.address).await.expect(200);
    assert!(root.text().contains("no web interface"));
    let version = Request::get("/api/v1/version").send(server.address).await.expect(200);
    let expected = json!({"product": "millrace", "version": "0.1.0", "api": "v1"});
    assert_eq!(version.value(), expected);
    let live = Request::get("/health/live").send(server.address).await.expect(200);
    assert_eq!(live.text(), r#"{"status":"live"}"#);
    let overview = server.get("viewer", "/api/v1/overview").await.expect(200).value();
    assert_eq!(overview["now"], NOW);
    assert_eq!(overview["received_per_s"], 200.0);
    assert!(overview.get("stored_per_s").is_none(), "what is not measured is absent");
    let target = "/api/v1/measures?names=tags,refused_values,hidden,unknown";
    let measures = server.get("viewer", target).await.expect(200).value();
    let expected = json!([
        {"name": "tags", "value": 3.0},
        {"name": "refused_values", "label": "schema", "value": 2.0},
    ]);
    assert_eq!((&measures["at"], &measures["items"]), (&json!(NOW), &expected));
    let many = format!("/api/v1/measures?names={}", ",".repeat(100));
    let answer = server.get("viewer", &many).await;
    answer.expect_error(400, "bad_request", Some("names"));
    let config = server.get("viewer", "/api/v1/config").await.expect(200).value();
    let expected = json!({
        "key": "broker.receive_maximum", "value": "10", "source": "file", "default": "1000",
        "about": "QoS 1 messages that may be unacknowledged.",
    });
    assert_eq!(config["items"][0], expected);
}

#[tokio::test]
async fn the_box_tells_its_listeners_limits_and_next_start() {
    let server = Server::start().await;
    let system = server.get("viewer", "/api/v1/system").await.expect(200).value();
    assert_eq!((&system["version"], &system["build"]), (&json!("0.1.0"), &json!("release")));
    let expected = json!([
        {"protocol": "mqtt", "address": "127.0.0.1:1883", "tls": false, "off_the_box": false,
         "setting": "broker.listen"},
        {"protocol": "http", "address": "192.0.2.7:443", "tls": true, "off_the_box": true,
         "setting": "http.tls_listen"},
    ]);
    assert_eq!(system["listeners"], expected);
    let expected = json!({"fingerprint": "AB:CD", "not_after": NOW, "own": true});
    assert_eq!(system["certificate"], expected, "what cannot be told is absent");
    let expected = json!([{"setting": "broker.clients_max", "what": "MQTT clients", "used": 20,
                           "most": 5000, "unit": "count"}]);
    assert_eq!((&system["limits"], &system["near_percent"]), (&expected, &json!(80)));
    let expected = json!({
        "changes": [{"key": "broker.live_qos", "in_force": "1", "next": "0"}],
        "faults": ["line 3: no such key"],
    });
    assert_eq!(system["next_start"], expected);
    server.get("device", "/api/v1/system").await.expect_error(403, "forbidden", None);
}

#[tokio::test]
async fn a_degraded_box_says_so() {
    let server = Server::start().await;
    server.backend.is_degraded.store(true, Ordering::SeqCst);
    let ready = Request::get("/health/ready").send(server.address).await.expect(503);
    assert_eq!(ready.value()["status"], "not_ready");
    let answer = server.post("admin", "/api/v1/clients", r#"{"name":"a"}"#).await;
    let answer = answer.expect_error(503, "unavailable", None);
    assert_eq!(answer.header("retry-after"), Some("1"));
}

#[tokio::test]
async fn a_person_signs_in_and_out() {
    let server = Server::start().await;
    let login = async |name: &str, password: &str| {
        let body = json!({"name": name, "password": password}).to_string();
        Request::new("POST", "/api/v1/login").json(&body).send(server.address).await
    };
    let session = login("anna", "right horse").await.expect(200).value();
    assert_eq!(session["role"], "admin");
    let token = session["access_token"].as_str().unwrap();
    let me = server.get(token, "/api/v1/me").await.expect(200).value();
    assert_eq!(me, json!({"name": "user:anna", "kind": "person", "role": "admin"}));
    let wrong = login("anna", "wrong").await.expect_error(401, "unauthorized", None);
    let unknown = login("nobody", "wrong").await.expect_error(401, "unauthorized", None);
    let endless = login("anna", &"x".repeat(100_000)).await;
    assert_eq!(wrong.body, unknown.body, "no answer tells whether the name exists");
    assert_eq!(wrong.body, endless.body);
    let tired = login("tired", "x").await.expect_error(429, "rate_limited", None);
    assert_eq!(tired.header("retry-after"), Some("30"));
    server.post(token, "/api/v1/logout", "").await.expect(204);
    server.get(token, "/api/v1/me").await.expect_error(401, "unauthorized", None);
}

#[tokio::test]
async fn the_first_admin_claims_the_box() {
    let server = Server::start().await;
    let claim = async |code: &str, password: &str| {
        let body = json!({"code": code, "name": "anna", "password": password}).to_string();
        Request::new("POST", "/api/v1/claim").json(&body).send(server.address).await
    };
    let state = Request::get("/api/v1/claim").send(server.address).await.expect(200);
    assert_eq!(state.text(), r#"{"open":true}"#);
    claim("WRONG", "long enough").await.expect_error(401, "unauthorized", None);
    claim("ABCD-EFGH", "short").await.expect_error(422, "invalid", Some("password"));
    let session = claim("ABCD-EFGH", "long enough").await.expect(200).value();
    assert_eq!(session["role"], "admin");
    let state = Request::get("/api/v1/claim").send(server.address).await.expect(200);
    assert_eq!(state.text(), r#"{"open":false}"#);
}

#[tokio::test]
async fn people_are_listed_without_their_hashes() {
    let server = Server::start().await;
    let body = r#"{"name":"emil","password":"long enough","role":"engineer"}"#;
    let created = server.post("admin", "/api/v1/people", body).await.expect(201);
    let expected = json!({"name": "emil", "role": "engineer", "created": NOW});
    assert_eq!(created.value(), expected);
    let people = server.get("viewer", "/api/v1/people").await.expect(200).value();
    assert_eq!(people["items"], json!([expected]));
    let body = r#"{"name":" emil","password":"long enough","role":"engineer"}"#;
    let answer = server.post("admin", "/api/v1/people", body).await;
    answer.expect_error(422, "invalid", Some("name"));
}

#[tokio::test]
async fn people_are_changed_taken_out_of_use_and_brought_back() {
    let server = Server::start().await;
    for body in [
        r#"{"name":"emil jr","password":"long enough","role":"viewer"}"#,
        r#"{"name":"anna","password":"long enough","role":"admin"}"#,
    ] {
        server.post("admin", "/api/v1/people", body).await.expect(201);
    }
    let change = async |name: &str, body: &str| {
        let target = format!("/api/v1/people/{name}");
        Request::new("PATCH", &target).token("admin").json(body).send(server.address).await
    };
    let body = r#"{"role":"engineer","password":"another one"}"#;
    let changed = change("emil%20jr", body).await.expect(200);
    assert_eq!(changed.value()["role"], "engineer");
    assert!(!changed.text().contains("another one"), "{}", changed.text());
    assert_eq!(server.backend.people.lock()[0].password_hash, "another one");
    let gone = change("emil%20jr", r#"{"disabled":true}"#).await.expect(200).value();
    assert_eq!((&gone["disabled"], &gone["role"]), (&json!(NOW), &json!("engineer")));
    let back = change("emil%20jr", r#"{"disabled":false}"#).await.expect(200).value();
    assert!(back.get("disabled").is_none());
    let short = change("emil%20jr", r#"{"password":"short"}"#).await;
    short.expect_error(422, "invalid", Some("password"));
    let unknown_field = change("emil%20jr", r#"{"name":"x"}"#).await;
    unknown_field.expect_error(422, "invalid", Some("name"));
    change("none", r#"{"role":"viewer"}"#).await.expect_error(404, "not_found", None);
    change("anna", r#"{"role":"viewer"}"#).await.expect_error(409, "conflict", None);
}

#[tokio::test]
async fn a_client_gets_a_new_secret_once() {
    let server = Server::start().await;
    let target = "/api/v1/clients/other/renew";
    let renewed = server.post("engineer", target, "").await.expect(200).value();
    assert_eq!(
        (&renewed["secret"], &renewed["client"]["id"]),
        (&json!("renewed"), &json!("other"))
    );
    let none = "/api/v1/clients/none/renew";
    server.post("engineer", none, "").await.expect_error(404, "not_found", None);
    Request::new("DELETE", "/api/v1/clients/other").token("engineer").send(server.address).await;
    server.post("engineer", target, "").await.expect_error(409, "conflict", None);
}

#[tokio::test]
async fn clients_are_created_with_their_secrets_once() {
    let server = Server::start().await;
    let body = r#"{"name":"press","count":3,"publish":["press/#"],"retention":"keep"}"#;
    let created = server.post("engineer", "/api/v1/clients", body).await.expect(201).value();
    let clients = created["clients"].as_array().unwrap();
    assert_eq!(clients.len(), 3);
    assert_eq!(clients[1]["secret"], "secret-2");
    assert_eq!(clients[1]["client"]["id"], "press-2");
    assert_eq!(clients[1]["client"]["retention"], "keep");
    let actor = Actor { who: "user:emil".to_owned(), from: "127.0.0.1".parse().unwrap() };
    assert_eq!(*server.backend.actors.lock(), [actor]);
    let one = server.get("viewer", "/api/v1/clients/press-2").await.expect(200);
    assert!(!one.text().contains("secret") && !one.text().contains("5ec2e7"), "{}", one.text());
    server.get("viewer", "/api/v1/clients/none").await.expect_error(404, "not_found", None);
    let check = async |body: &str, field: &str| {
        let answer = server.post("engineer", "/api/v1/clients", body).await;
        answer.expect_error(422, "invalid", Some(field));
    };
    check(r#"{"name":"a","count":0}"#, "count").await;
    check(r#"{"name":"a","count":1001}"#, "count").await;
    check(r#"{"name":"a","publish":["ok","a/#/b"]}"#, "publish[1]").await;
    check(r#"{"name":"a","workspace":"none"}"#, "workspace").await;
    check(r#"{"name":""}"#, "name").await;
    check(r#"{"name":"a","retention":"2d"}"#, "retention").await;
}

#[tokio::test]
async fn clients_come_in_pages_and_are_revoked() {
    let server = Server::start().await;
    let first = server.get("viewer", "/api/v1/clients?limit=1").await.expect(200).value();
    assert_eq!(names(&first, "id"), ["device"]);
    let next = first["next"].as_str().unwrap();
    let target = format!("/api/v1/clients?limit=1&after={next}");
    let second = server.get("viewer", &target).await.expect(200).value();
    assert_eq!(names(&second, "id"), ["other"]);
    assert!(second.get("next").is_none());
    let revoke = Request::new("DELETE", "/api/v1/clients/other").token("engineer");
    assert_eq!(revoke.send(server.address).await.expect(200).value()["revoked"], NOW);
    let none = Request::new("DELETE", "/api/v1/clients/none").token("engineer");
    none.send(server.address).await.expect_error(404, "not_found", None);
    for (query, field) in [
        ("limit=0", Some("limit")),
        ("limit=1001", Some("limit")),
        ("limit=x", None),
        ("after=!", Some("after")),
    ] {
        let answer = server.get("viewer", &format!("/api/v1/clients?{query}")).await;
        answer.expect_error(400, "bad_request", field);
    }
}

#[tokio::test]
async fn tags_are_listed_searched_and_paged() {
    let server = Server::start().await;
    let list = async |token: &str, query: &str| {
        server
            .get(token, &format!("/api/v1/workspaces/main/tags?{query}"))
            .await
            .expect(200)
            .value()
    };
    let all = list("viewer", "").await;
    assert_eq!(names(&all, "path"), ["hall/humidity", "press-4/pressure", "press-4/temperature"]);
    assert_eq!(names(&list("viewer", "prefix=press-4/").await, "path").len(), 2);
    assert_eq!(names(&list("viewer", "search=humid").await, "path"), ["hall/humidity"]);
    let page = list("viewer", "limit=2").await;
    let next = page["next"].as_str().unwrap();
    let rest = list("viewer", &format!("limit=2&after={next}")).await;
    assert_eq!(names(&rest, "path"), ["press-4/temperature"]);
    let seen = list("device", "").await;
    assert_eq!(names(&seen, "path"), ["press-4/pressure", "press-4/temperature"]);
}

#[tokio::test]
async fn a_tree_is_listed_level_by_level() {
    let server = Server::start().await;
    let list = async |query: &str| {
        let target = format!("/api/v1/workspaces/main/levels?{query}");
        server.get("viewer", &target).await.expect(200).value()
    };
    let root = list("").await;
    assert_eq!(names(&root, "name"), ["hall", "press-4"]);
    assert_eq!((&root["items"][1]["topics"], root["items"][1].get("tag")), (&json!(2), None));
    let page = list("limit=1").await;
    let next = page["next"].as_str().unwrap();
    let rest = list(&format!("limit=1&after={next}")).await;
    assert_eq!((names(&rest, "name"), rest.get("next")), (vec!["press-4"], None));
    let below = list("branch=press-4").await;
    assert_eq!(names(&below, "name"), ["pressure", "temperature"]);
    assert_eq!(below["items"][1]["tag"]["path"], "press-4/temperature");
    assert_eq!(names(&list("branch=press").await, "name"), Vec::<&str>::new());
}

#[tokio::test]
async fn a_client_sees_its_workspace_and_its_paths_only() {
    let server = Server::start().await;
    let workspaces = server.get("device", "/api/v1/workspaces").await.expect(200).value();
    assert_eq!(names(&workspaces, "name"), ["main"]);
    let other = "/api/v1/workspaces/lab/tags";
    server.get("device", other).await.expect_error(404, "not_found", None);
    server.get("viewer", other).await.expect(200);
    server.get("viewer", "/api/v1/workspaces/none/tags").await.expect_error(404, "not_found", None);
    for what in ["tag", "last", "raw", "range"] {
        let target = format!("/api/v1/workspaces/main/{what}?path=hall/humidity");
        let answer = server.get("device", &target).await;
        answer.expect_error(403, "forbidden", Some("path"));
        // Whether a forbidden path exists is not told.
        let target = format!("/api/v1/workspaces/main/{what}?path=hall/none");
        let answer = server.get("device", &target).await;
        answer.expect_error(403, "forbidden", Some("path"));
        let target = format!("/api/v1/workspaces/main/{what}?path=press-4/none");
        let answer = server.get("device", &target).await;
        answer.expect_error(404, "not_found", Some("path"));
    }
    let ledger = server.get("device", "/api/v1/ledger").await.expect(200).value();
    assert_eq!(ledger["total"]["received"], 10);
    assert_eq!(ledger["clients"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn tags_are_created_and_changed() {
    let server = Server::start().await;
    let create =
        async |body: &str| server.post("engineer", "/api/v1/workspaces/main/tags", body).await;
    let body = r#"{"path":"press-5/Volume Flow","kind":"uint","unit":"l/min",
                   "schema":{"kinds":["uint"],"min":0,"max":9.5,"strict":true}}"#;
    let tag = create(body).await.expect(201).value();
    assert_eq!(tag["schema"]["max"], 9.5);
    assert_eq!(tag["kind"], "uint");
    create(body).await.expect_error(409, "conflict", None);
    create(r#"{"path":"a//b","kind":"int"}"#).await.expect_error(422, "invalid", Some("path"));
    create(r#"{"path":"a/+","kind":"int"}"#).await.expect_error(422, "invalid", Some("path"));
    let bad = r#"{"path":"a","kind":"int","schema":{"min":2,"max":1}}"#;
    create(bad).await.expect_error(422, "invalid", Some("schema.min"));
    let target = "/api/v1/workspaces/main/tag?path=press-5/Volume%20Flow";
    let change = r#"{"unit":"m³/h","retention":"32d"}"#;
    let patch = Request::new("PATCH", target).token("engineer").json(change);
    let tag = patch.send(server.address).await.expect(200).value();
    assert_eq!((&tag["unit"], &tag["retention"]), (&json!("m³/h"), &json!("32d")));
    assert_eq!(tag["schema"]["max"], 9.5, "what is left out stays");
    let tag = server.get("viewer", target).await.expect(200).value();
    assert_eq!(tag["unit"], "m³/h");
}

#[tokio::test]
async fn last_values_come_by_path_and_by_filter() {
    let server = Server::start().await;
    server.backend.samples.lock().push(sample(1, Value::Float(32.0), 1));
    let last = async |query: &str| {
        server.get("viewer", &format!("/api/v1/workspaces/main/last?{query}")).await
    };
    let two = last("path=press-4/temperature&path=hall/humidity").await.expect(200);
    assert_eq!(
        two.text(),
        concat!(
            r#"{"items":[{"path":"press-4/temperature","unit":"°C","sample":{"#,
            r#""source_time":"2026-11-30T11:59:59Z","receive_time":"2026-11-30T11:59:59.001234567Z","#,
            r#""quality":0,"kind":"float","value":32.0}},{"path":"hall/humidity","unit":"°C"}]}"#
        )
    );
    let filtered = last("filter=press-4/%23&limit=1").await.expect(200).value();
    assert_eq!(names(&filtered, "path"), ["press-4/pressure"]);
    let next = filtered["next"].as_str().unwrap();
    let rest = last(&format!("filter=press-4/%23&after={next}")).await.expect(200).value();
    assert_eq!(names(&rest, "path"), ["press-4/temperature"]);
    assert_eq!(names(&last("filter=%2B/humidity").await.expect(200).value(), "path").len(), 1);
    last("").await.expect_error(400, "bad_request", Some("path"));
    last("path=a&filter=b").await.expect_error(400, "bad_request", Some("filter"));
    last("filter=a/%23/b").await.expect_error(400, "bad_request", Some("filter"));
    let many = vec!["path=press-4/temperature"; 101].join("&");
    last(&many).await.expect_error(400, "bad_request", Some("path"));
}

#[tokio::test]
async fn ranges_are_condensed() {
    let server = Server::start().await;
    let range = async |query: &str| {
        let path = "path=press-4/temperature";
        server.get("viewer", &format!("/api/v1/workspaces/main/range?{path}&{query}")).await
    };
    let answer = range("from=-15m&points=7").await.expect(200).value();
    assert_eq!(answer["from"], "2026-11-30T11:45:00Z");
    assert_eq!(answer["to"], NOW);
    let bucket = &answer["buckets"][0];
    assert_eq!(
        *bucket,
        json!({"start": "2026-11-30T11:45:00Z", "count": 7, "max": 2.5, "first": 1.0})
    );
    range("points=0").await.expect_error(400, "bad_request", Some("points"));
    range("points=10001").await.expect_error(400, "bad_request", Some("points"));
    range("from=now&to=-1h").await.expect_error(400, "bad_request", Some("from"));
    range("from=yesterday").await.expect_error(400, "bad_request", Some("from"));
    assert!(now().0 > 0);
}

#[tokio::test]
async fn the_ledger_adds_up_and_pages() {
    let server = Server::start().await;
    let ledger = server.get("viewer", "/api/v1/ledger?limit=1").await.expect(200).value();
    assert_eq!(ledger["total"]["received"], 30);
    assert_eq!(ledger["total"]["refused_by_reason"], json!({"rate_limited": 1}));
    assert_eq!(ledger["total"]["in_flight"], 1);
    assert_eq!(ledger["total"]["balanced"], true);
    assert_eq!(ledger["clients"][0]["id"], "device");
    let target = format!("/api/v1/ledger?limit=1&after={}", ledger["next"].as_str().unwrap());
    let rest = server.get("viewer", &target).await.expect(200).value();
    assert_eq!(rest["clients"][0]["id"], "other");
    assert!(rest.get("next").is_none());
}

#[tokio::test]
async fn issues_are_listed_and_acknowledged() {
    let server = Server::start().await;
    let issues = server.get("viewer", "/api/v1/issues").await.expect(200).value();
    assert_eq!(issues["items"][0]["severity"], "warning");
    let target = "/api/v1/issues/part-damaged:1d%2F2026/acknowledge";
    server.post("engineer", target, "").await.expect(204);
    assert_eq!(*server.backend.acknowledged.lock(), ["part-damaged:1d/2026"]);
    let none = "/api/v1/issues/none/acknowledge";
    server.post("engineer", none, "").await.expect_error(404, "not_found", None);
}

#[tokio::test]
async fn the_audit_trail_comes_newest_first() {
    let server = Server::start().await;
    let first = server.get("admin", "/api/v1/audit?limit=2").await.expect(200).value();
    assert_eq!(names(&first, "subject"), ["c3", "c2"]);
    let target = format!("/api/v1/audit?limit=2&after={}", first["next"].as_str().unwrap());
    let rest = server.get("admin", &target).await.expect(200).value();
    assert_eq!(names(&rest, "subject"), ["c1"]);
    assert!(rest.get("next").is_none());
}

#[tokio::test]
async fn a_person_changes_the_own_password_with_the_old_one() {
    let server = Server::start().await;
    let change = async |token: &str, old: &str, new: &str| {
        let body = json!({"old_password": old, "new_password": new}).to_string();
        server.post(token, "/api/v1/me/password", &body).await
    };
    let wrong = change("viewer", "wrong horse", "long enough").await;
    wrong.expect_error(422, "invalid", Some("old_password"));
    let short = change("viewer", "right horse", "short").await;
    short.expect_error(422, "invalid", Some("new_password"));
    let endless = change("viewer", &"x".repeat(2_000), "long enough").await;
    endless.expect_error(422, "invalid", Some("old_password"));
    let nobody = change("local", "right horse", "long enough").await;
    nobody.expect_error(409, "conflict", None);
    assert!(server.backend.actors.lock().is_empty());
    change("viewer", "right horse", "long enough").await.expect(204);
    let set = server.backend.passwords.lock().clone();
    assert_eq!(set, [("viewer".to_owned(), "long enough".to_owned())]);
}

#[tokio::test]
async fn a_client_gets_other_rights() {
    let server = Server::start().await;
    let target = "/api/v1/clients/other/rights";
    let put = async |body: serde_json::Value| {
        let request = Request::new("PUT", target).token("engineer").json(&body.to_string());
        request.send(server.address).await
    };
    let rights = json!({"publish": ["hall/#"], "subscribe": [], "may_create": false,
                        "retention": "7d", "rate_per_s": 10});
    let changed = put(rights.clone()).await.expect(200).value();
    for field in ["publish", "subscribe", "may_create", "retention", "rate_per_s"] {
        assert_eq!(changed[field], rights[field], "{field}");
    }
    let wrong = put(json!({"publish": ["a#"], "subscribe": [], "may_create": true})).await;
    wrong.expect_error(422, "invalid", Some("publish[0]"));
    put(json!({"publish": []})).await.expect_error(422, "invalid", Some(""));
    let viewer = Request::new("PUT", target).token("viewer").json(&rights.to_string());
    viewer.send(server.address).await.expect_error(403, "forbidden", None);
}

#[tokio::test]
async fn a_topic_tells_its_refusals_and_takes_a_test_value() {
    let server = Server::start().await;
    let address = |end: &str| format!("/api/v1/workspaces/main/{end}");
    let refusals = address("refusals?path=press-4/unknown");
    let page = server.get("viewer", &refusals).await.expect(200).value();
    let expected = json!({"at": NOW, "client": "device", "reason": "out_of_range", "payload": "99",
                          "message": "press-4/unknown is outside", "payload_bytes": 2});
    assert_eq!(page["items"], json!([expected]));
    let wrong = server.get("viewer", &address("refusals?path=a//b")).await;
    wrong.expect_error(400, "bad_request", Some("path"));

    let value = address("value?path=press-4/pressure");
    let good = server.post("engineer", &value, r#"{"payload":"42.7"}"#).await.expect(200).value();
    assert_eq!(good, json!({"stored": 1, "refused": 0}));
    let bad = server.post("engineer", &value, r#"{"payload":"x"}"#).await.expect(200).value();
    let expected = json!({"stored": 0, "refused": 1, "reason": "wrong_kind",
                          "message": "press-4/pressure: x"});
    assert_eq!(bad, expected);
    let unknown = address("value?path=press-4/unknown");
    let unknown = server.post("engineer", &unknown, r#"{"payload":"1"}"#).await;
    unknown.expect_error(404, "not_found", Some("path"));
    let viewer = server.post("viewer", &value, r#"{"payload":"42.7"}"#).await;
    viewer.expect_error(403, "forbidden", None);
    assert_eq!(server.backend.actors.lock().len(), 2);
}

#[tokio::test]
async fn topics_are_changed_by_a_file_all_or_none() {
    let server = Server::start().await;
    let target = "/api/v1/workspaces/main/tags.csv";
    let send = async |query: &str, token: &str, file: &str| {
        let request = Request::new("POST", &format!("{target}{query}")).token(token);
        request.body("text/csv", file.as_bytes()).send(server.address).await
    };
    let whole = server.get("viewer", target).await.expect(200);
    assert_eq!(whole.header("content-type"), Some("text/csv; charset=utf-8; header=present"));
    let whole = whole.text().to_owned();
    assert_eq!(whole.lines().count(), 4, "{whole}");
    let part = server.get("viewer", &format!("{target}?prefix=hall")).await.expect(200);
    let part = part.text();
    let expected = "path,description,unit,retention,kinds,min,max,choices,strict\r\n\
                    hall/humidity,,°C,1d,,,,,false\r\n";
    assert_eq!(part, expected);
    let same = send("", "engineer", &whole).await.expect(200).value();
    assert_eq!((&same["rows"], &same["topics"]), (&json!(3), &json!(0)));
    assert_eq!(server.backend.commits.load(Ordering::SeqCst), 0, "nothing to write");

    let file = "path,unit\npress-4/pressure,bar\nhall/humidity,%\n";
    let preview = send("?preview=true", "engineer", file).await.expect(200).value();
    assert_eq!((&preview["written"], &preview["topics"]), (&json!(false), &json!(2)));
    let first = json!({"line": 2, "path": "press-4/pressure", "field": "unit", "from": "°C",
                       "to": "bar"});
    assert_eq!(preview["changes"][0], first);
    let wrong = format!("{file}press-4/none,x\n");
    let told = send("?preview=true", "engineer", &wrong).await.expect(200).value();
    assert_eq!(told["faults"][0]["line"], 4);
    send("", "engineer", &wrong).await.expect_error(422, "invalid", Some("path"));
    send("", "viewer", file).await.expect_error(403, "forbidden", None);
    let odd = Request::new("POST", target).token("engineer").body("text/plain", b"path");
    odd.send(server.address).await.expect_error(415, "unsupported_media_type", None);
    let inside = json!({"text": file}).to_string();
    let asked = format!("{target}?preview=true");
    let inside = server.post("engineer", &asked, &inside).await.expect(200).value();
    assert_eq!(inside, preview);
    assert_eq!(server.backend.commits.load(Ordering::SeqCst), 0, "nothing is written of these");

    let written = send("", "engineer", file).await.expect(200).value();
    assert_eq!(written["written"], true);
    assert_eq!(server.backend.commits.load(Ordering::SeqCst), 1);
    let again = server.get("viewer", &format!("{target}?prefix=hall")).await.expect(200);
    let again = again.text();
    assert!(again.contains("hall/humidity,,%,1d"), "{again}");
    let large = "x".repeat(2 * 1024 * 1024 + 1);
    send("", "engineer", &large).await.expect_error(413, "too_large", None);
}

#[tokio::test]
async fn a_person_keeps_views_that_nobody_else_sees() {
    let server = Server::start().await;
    let put = async |token: &str, name: &str, body: serde_json::Value| {
        let request = Request::new("PUT", &format!("/api/v1/views/{name}")).token(token);
        request.json(&body.to_string()).send(server.address).await
    };
    let view = json!({"topics": ["press-4/pressure"], "seconds": 900.0});
    let kept = put("viewer", "Press%204", view.clone()).await.expect(200).value();
    let expected = json!({"name": "Press 4", "topics": ["press-4/pressure"], "seconds": 900.0});
    assert_eq!(kept, expected);
    let own = server.get("viewer", "/api/v1/views").await.expect(200).value();
    assert_eq!(own["items"], json!([expected]));
    let others = server.get("engineer", "/api/v1/views").await.expect(200).value();
    assert_eq!(others["items"], json!([]));
    for (body, field) in [
        (json!({"topics": [], "seconds": 1}), "topics"),
        (json!({"topics": vec!["a"; 33], "seconds": 1}), "topics"),
        (json!({"topics": ["a//b"], "seconds": 1}), "topics[0]"),
        (json!({"topics": ["a"], "seconds": 0}), "seconds"),
        (json!({"topics": ["a"], "seconds": 1e300}), "seconds"),
    ] {
        put("viewer", "x", body).await.expect_error(422, "invalid", Some(field));
    }
    put("local", "x", view).await.expect_error(409, "conflict", None);
    let remove = Request::new("DELETE", "/api/v1/views/Press%204").token("viewer");
    remove.send(server.address).await.expect(204);
    assert!(server.backend.views.lock().is_empty());
}
