//! Goal: pipelines at their worst cost nobody else, and tell no secret.
//! Method: endless scripts beside a good one, servers that give back what they are sent or do not
//! answer, kills while a call is under way; devices over MQTT, everything on the disk looked at.

use millrace_harness::{Appliance, Device, wait};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

const SECRET: &str = "open-sesame-4711";

/// Stores and deploys steps that follow one another in the order of their names.
fn deploy(appliance: &Appliance, name: &str, steps: &Value) -> anyhow::Result<()> {
    deploy_with(appliance, name, &json!({ "history": "full" }), steps)
}

fn deploy_with(
    appliance: &Appliance,
    name: &str,
    settings: &Value,
    steps: &Value,
) -> anyhow::Result<()> {
    let ids: Vec<_> = steps.as_object().map(|all| all.keys().collect()).unwrap_or_default();
    let wires: Vec<_> =
        ids.windows(2).map(|pair| json!({ "from": pair[0], "to": pair[1] })).collect();
    let document = json!({ "millrace": 1, "name": name, "settings": settings, "steps": steps, "wires": wires });
    let path = appliance.folder().join(format!("{name}.json"));
    File::create(&path)?.write_all(document.to_string().as_bytes())?;
    appliance.cli(&["pipeline", "import", &path.to_string_lossy(), "--deploy"])?;
    Ok(())
}

/// A server that is given each request's head and answers with what the function says, or not at all.
struct Server {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(
        answer: impl Fn(usize, &str) -> Option<String> + Send + 'static,
    ) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let server = Self { port: listener.local_addr()?.port(), heads: Arc::default() };
        let heads = Arc::clone(&server.heads);
        std::thread::Builder::new().name("server".to_owned()).spawn(move || {
            // Connections that are not answered stay open.
            let mut open = Vec::new();
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let Some(head) = read_head(&mut stream) else { continue };
                let number = {
                    let mut heads = heads.lock().unwrap_or_else(PoisonError::into_inner);
                    heads.push(head.clone());
                    heads.len()
                };
                match answer(number, &head) {
                    Some(body) => {
                        let length = body.len();
                        let text = format!(
                            "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                        );
                        let _gone = stream.write_all(text.as_bytes());
                    }
                    None => open.push(stream),
                }
            }
        })?;
        Ok(server)
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && head.len() < 10_000 {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

/// Files below a folder that hold these bytes.
fn holding(folder: &Path, wanted: &[u8], found: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            holding(&path, wanted, found)?;
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(wanted.len()).any(|part| part == wanted)
        {
            found.push(path.display().to_string());
        }
    }
    Ok(())
}

#[test]
fn ten_endless_scripts_do_not_keep_a_good_one_from_its_values() -> anyhow::Result<()> {
    // Given ten scripts that never end and one that does, all of them on every value.
    let appliance = Appliance::start(&["scripts.cpu_ms = 50", "pipelines.worker_threads = 2"])?;
    let start = json!({ "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } });
    for number in 0..10 {
        let script = json!({ "kind": "javascript", "fields": { "code": "for (;;);" } });
        let steps = json!({ "a": start, "b": script });
        deploy(&appliance, &format!("endless-{number}"), &steps)?;
    }
    let code = "return { value: $item.value * 2 }";
    let good = json!({
        "a": start,
        "b": { "kind": "javascript", "fields": { "code": code } },
        "c": { "kind": "uns.publish", "fields": { "path": "out/good" } },
    });
    deploy(&appliance, "good", &good)?;
    // When values come.
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/in/t", client.id);
    for value in 1..=20 {
        assert_eq!(device.publish(&topic, &value.to_string())?.reason, 0);
    }
    // Then the good one has done all of them.
    wait::until("the last derived value", || {
        let rows = appliance.values("main/out/good").unwrap_or_default();
        rows.last().filter(|row| row.ends_with("40")).map(|_| ())
    })?;
    let runs = wait::until("its runs in the history", || {
        let said = appliance.cli(&["pipeline", "runs", "good"]).ok()?;
        said.contains("ok").then_some(said)
    })?;
    assert!(!runs.contains("failed"), "{runs}");
    // And each of the others was stopped and waits for its next turn.
    for number in 0..10 {
        let name = format!("endless-{number}");
        wait::until("a stopped run of each", || {
            let said = appliance.cli(&["pipeline", "runs", &name, "--status", "failed"]).ok()?;
            said.contains("CPU time").then_some(())
        })?;
    }
    Ok(())
}

/// Deploys `long`, whose script may compute for a minute, which is longer than a test waits.
fn deploy_long(appliance: &Appliance, code: &str) -> anyhow::Result<()> {
    let steps = json!({
        "a-go": { "kind": "manual" },
        "b-work": { "kind": "javascript", "fields": { "code": code } },
        "c-out": { "kind": "uns.publish", "fields": { "path": "out/long" } },
    });
    deploy_with(appliance, "long", &json!({ "limits": { "cpu_ms": 60_000 } }), &steps)
}

fn runs_of_long(appliance: &Appliance, status: &str) -> Option<Vec<Value>> {
    let said = appliance.cli(&["pipeline", "runs", "long", "--status", status, "--json"]).ok()?;
    let rows: Vec<Value> = said.lines().filter_map(|row| serde_json::from_str(row).ok()).collect();
    (!rows.is_empty()).then_some(rows)
}

/// Starts a run and waits until it computes; gives its id.
fn start_long(appliance: &Appliance) -> anyhow::Result<String> {
    let id = appliance.cli(&["pipeline", "trigger", "long", "--no-wait"])?.trim().to_owned();
    wait::until("the run to compute", || {
        let rows = runs_of_long(appliance, "running")?;
        rows.iter().any(|row| row["id"] == id.as_str()).then_some(())
    })?;
    Ok(id)
}

/// Waits until a run ended as stopped; gives its fault.
fn stopped_long(appliance: &Appliance, id: &str) -> anyhow::Result<Value> {
    wait::until("the run to be stopped", || {
        let rows = runs_of_long(appliance, "stopped")?;
        rows.into_iter().find(|row| row["id"] == id).map(|row| row["fault"].clone())
    })
}

#[test]
fn what_a_person_does_to_an_endless_script_does_not_wait_for_its_limit() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    deploy_long(&appliance, "for (;;);")?;
    // Canceled: it ends, and says where it was.
    let id = start_long(&appliance)?;
    appliance.cli(&["pipeline", "cancel", "long", &id])?;
    let fault = stopped_long(&appliance, &id)?;
    assert_eq!((&fault["code"], &fault["step"]), (&json!("canceled"), &json!("b-work")));
    let text = fault["message"].as_str().unwrap_or_default();
    assert!(text.contains("while the step `b-work` computed"), "{fault}");
    // A kill right after the answer takes neither the cancel nor its entry back.
    let id = start_long(&appliance)?;
    appliance.cli(&["pipeline", "cancel", "long", &id])?;
    appliance.kill()?;
    appliance.start_again()?;
    let fault = stopped_long(&appliance, &id)?;
    assert_eq!(fault["code"], "canceled");
    assert!(runs_of_long(&appliance, "queued,running,waiting").is_none());
    // Undeployed: it ends.
    let id = start_long(&appliance)?;
    appliance.cli(&["pipeline", "undeploy", "long"])?;
    assert_eq!(stopped_long(&appliance, &id)?["code"], "undeployed");
    // Switched off: it stays as it is, and runs again after the start.
    appliance.cli(&["pipeline", "deploy", "long"])?;
    let id = start_long(&appliance)?;
    assert!(appliance.stop()?);
    appliance.start_again()?;
    wait::until("the run to compute again", || {
        let rows = runs_of_long(&appliance, "running")?;
        rows.iter().any(|row| row["id"] == id.as_str()).then_some(())
    })?;
    // Corrected: it runs on the new revision.
    deploy_long(&appliance, "return { value: 42 };")?;
    wait::until("the value of the corrected revision", || {
        let rows = appliance.values("main/out/long").unwrap_or_default();
        rows.last().filter(|row| row.ends_with("42")).map(|_| ())
    })?;
    let rows = wait::until("its entry", || runs_of_long(&appliance, "ok"))?;
    let row = rows.iter().find(|row| row["id"] == id.as_str());
    assert_eq!(row.map(|row| &row["revision"]), Some(&json!(2)), "{rows:?}");
    Ok(())
}

#[test]
fn a_secret_that_a_server_gives_back_is_told_nowhere() -> anyhow::Result<()> {
    // Given a server that answers with the head of the request, and full history.
    let server = Server::start(|_, head| Some(head.to_owned()))?;
    let appliance =
        Appliance::start(&["actions.allow_hosts = [\"127.0.0.1\"]", "log.level = \"debug\""])?;
    let secret = "/api/v1/workspaces/main/secrets/mes-token";
    appliance.send_json("PUT", secret, None, &json!({ "value": SECRET }))?;
    let ask = json!({ "url": server.url(), "bearer": { "secret": "mes-token" }, "answer": "text" });
    let steps = json!({
        "a": { "kind": "manual" },
        "b-ask": { "kind": "http.request", "fields": ask },
        "c-tell": { "kind": "log", "fields": { "message": "{{ $item.body }}", "level": "warn" } },
        "d-fail": { "kind": "javascript", "fields": {
            "code": "console.log($item.body); throw new Error('got ' + $item.body)" } },
    });
    deploy(&appliance, "echo", &steps)?;
    // When it runs.
    let run = appliance.output(&["pipeline", "trigger", "echo"])?;
    assert!(!run.status.success(), "it throws what it was given");
    let said =
        String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
    // Then the server has seen it and nobody else.
    assert!(server.heads()[0].contains(SECRET), "{:?}", server.heads());
    assert!(said.contains("<secret mes-token>") && !said.contains(SECRET), "{said}");
    let listed = wait::until("the run in the history", || {
        let listed = appliance.cli(&["pipeline", "runs", "echo", "--json"]).ok()?;
        listed.contains("\"id\"").then_some(listed)
    })?;
    let row: Value = serde_json::from_str(listed.lines().next().unwrap_or_default())?;
    let id = row["id"].as_str().unwrap_or_default();
    let detail = appliance.cli(&["pipeline", "runs", "echo", id, "--json"])?;
    assert!(detail.contains("<secret mes-token>") && !detail.contains(SECRET), "{detail}");
    appliance.cli(&["pipeline", "export", "echo"]).map(|text| {
        assert!(text.contains("mes-token") && !text.contains(SECRET), "{text}");
    })?;
    let mut found = Vec::new();
    holding(&appliance.data(), SECRET.as_bytes(), &mut found)?;
    assert!(found.is_empty(), "on the disk in {found:?}");
    Ok(())
}

#[test]
fn a_kill_during_a_call_outside_makes_it_again_and_stores_its_value_once() -> anyhow::Result<()> {
    // Given a server that never answers its first request.
    let server = Server::start(|number, _| (number > 1).then(|| "42".to_owned()))?;
    let mut appliance = Appliance::start(&["actions.allow_hosts = [\"127.0.0.1\"]"])?;
    let ask = json!({ "url": server.url(), "method": "POST", "answer": "json" });
    let steps = json!({
        "a": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
        "b-ask": { "kind": "http.request", "fields": ask },
        "c-out": { "kind": "uns.publish", "fields": {
            "path": "out/answer", "value": "{{ $item.body }}" } },
    });
    deploy(&appliance, "ask", &steps)?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/in/t", client.id);
    assert_eq!(device.publish(&topic, "1")?.reason, 0);
    wait::until("the call", || (server.heads().len() == 1).then_some(()))?;
    // When the box is killed while it waits for the answer.
    appliance.kill()?;
    appliance.start_again()?;
    // Then it asks again, under the same key, and the answer is stored once.
    wait::until("the answer", || {
        let rows = appliance.values("main/out/answer").unwrap_or_default();
        rows.last().filter(|row| row.ends_with("42")).map(|_| ())
    })?;
    assert_eq!(appliance.values("main/out/answer")?.len(), 1);
    let keys: Vec<_> = server
        .heads()
        .iter()
        .map(|head| {
            let head = head.to_ascii_lowercase();
            let key = head.lines().find_map(|line| line.strip_prefix("idempotency-key: "));
            key.map(str::to_owned)
        })
        .collect();
    assert_eq!(keys.len(), 2, "{keys:?}");
    assert!(keys[0].is_some() && keys[0] == keys[1], "{keys:?}");
    Ok(())
}
