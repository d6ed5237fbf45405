//! Goal: a device's value becomes a derived one, whatever happens in between.
//! Method: pipelines stored and deployed by the command line, devices over MQTT, history read back.

use millrace_harness::{Answer, Appliance, Device, mqtt, wait};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const DEVICES: usize = 4;
const WINDOW: u64 = 16;
/// Within so long a document that cannot run is refused.
const ANSWER: Duration = Duration::from_secs(5);

/// Writes a document into the appliance's folder; gives its path.
fn document(appliance: &Appliance, name: &str, steps: serde_json::Value) -> anyhow::Result<String> {
    let wires: Vec<serde_json::Value> = steps
        .as_object()
        .map(|steps| steps.keys().collect::<Vec<_>>())
        .unwrap_or_default()
        .windows(2)
        .map(|pair| json!({ "from": pair[0], "to": pair[1] }))
        .collect();
    let document = json!({ "millrace": 1, "name": name, "steps": steps, "wires": wires });
    let path = appliance.folder().join(format!("{name}.json"));
    File::create(&path)?.write_all(document.to_string().as_bytes())?;
    Ok(path.to_string_lossy().into_owned())
}

/// Steps that publish each value of `in/...` again below `out/`.
fn twin() -> serde_json::Value {
    json!({
        "a-in": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
        "b-set": { "kind": "set", "fields": { "fields": { "line": "L1" } } },
        "c-out": { "kind": "uns.publish", "fields": { "path": "out/{{ $trigger.path }}" } },
    })
}

fn values(appliance: &Appliance, topic: &str) -> Vec<String> {
    appliance.values(topic).unwrap_or_default()
}

#[test]
fn a_value_becomes_a_derived_one_and_the_run_is_kept() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let file = document(&appliance, "twin", twin())?;
    let said = appliance.cli(&["pipeline", "import", &file, "--deploy"])?;
    assert!(said.contains("twin"), "{said}");
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/in/t", client.id);
    let payload = r#"{"value":9007199254740993,"timestamp":"2026-11-30T12:00:00.000000001Z"}"#;
    // The time window takes what is recent; without a time the device's value has ours.
    let _too_old = device.publish(&topic, payload)?;
    assert_eq!(device.publish(&topic, r#"{"value":9007199254740993}"#)?.reason, 0);
    wait::until("the derived value", || {
        values(&appliance, "main/out/in/t")
            .last()
            .filter(|row| row.ends_with("9007199254740993"))
            .map(|_| ())
    })?;
    let runs = wait::until("the run in the history", || {
        let said = appliance.cli(&["pipeline", "runs", "twin"]).ok()?;
        said.contains("ok").then_some(said)
    })?;
    assert!(!runs.contains("failed"), "{runs}");
    // A step that is tried with the live value is given what the trigger gives.
    let step = "/api/v1/workspaces/main/pipelines/twin/steps/b-set/test";
    let (status, tried) = appliance.send_json("POST", step, None, &json!({ "live": "in/t" }))?;
    assert_eq!(status, 200, "{tried}");
    let tried = tried.replace('\\', "");
    for part in [r#""quality":"good""#, r#""topic":"mr/v1/main/in/t""#, r#""line":"L1""#] {
        assert!(tried.contains(part), "{part}: {tried}");
    }
    // What goes by the clock says when it is due, and what ran when that was.
    let steps = json!({
        "a-tick": { "kind": "schedule", "fields": { "every_ms": 3_600_000 } },
        "b-set": { "kind": "set", "fields": { "fields": { "line": "L1" } } },
    });
    let file = document(&appliance, "hourly", steps)?;
    let said = appliance.cli(&["pipeline", "import", &file, "--deploy"])?;
    assert!(said.contains("next at 2"), "{said}");
    let said = appliance.cli(&["pipeline", "show", "twin"])?;
    assert!(said.contains("last run 2"), "{said}");
    Ok(())
}

/// Publishes counters until the connection ends; gives how many were acknowledged.
fn publish_until_cut(mut device: Device, topic: &str) -> u64 {
    let (mut sent, mut acknowledged) = (0_u64, 0_u64);
    loop {
        while sent - acknowledged < WINDOW {
            sent += 1;
            let id = (sent % 60_000) as u16 + 1;
            if device.send(&mqtt::publish(topic, sent.to_string().as_bytes(), id)).is_err() {
                return acknowledged;
            }
        }
        match device.answer() {
            Ok(Answer { reason: 0, .. }) => acknowledged += 1,
            Ok(answer) => panic!("refused: {answer:?}"),
            Err(_) => return acknowledged,
        }
    }
}

#[test]
fn kill_loses_no_run_and_stores_each_derived_value_once() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&["admission.workspace_rate_per_s = 0"])?;
    let file = document(&appliance, "twin", twin())?;
    appliance.cli(&["pipeline", "import", &file, "--deploy"])?;
    let mut expected = BTreeMap::new();
    let mut stored_before = 0;
    for round in 0..4 {
        let mut threads = Vec::new();
        for number in 0..DEVICES {
            let name = format!("d{round}-{number}");
            let client = appliance.client(&name, &["--publish", "#", "--rate", "0"])?;
            let device = Device::connect(appliance.mqtt()?, &client, "d")?;
            let path = format!("in/{name}");
            let topic = format!("mr/v1/main/_ingress/{}/{path}", client.id);
            threads.push((path, std::thread::spawn(move || publish_until_cut(device, &topic))));
        }
        wait::until("values to be stored", || {
            let stored = appliance.ledger().ok()?["stored"].as_u64()?;
            (stored > stored_before + 600).then_some(())
        })?;
        appliance.kill()?;
        for (path, thread) in threads {
            expected.insert(path, thread.join().expect("the device's thread"));
        }
        appliance.start_again()?;
        stored_before = appliance.ledger()?["stored"].as_u64().unwrap_or(0);
    }
    for (path, acknowledged) in &expected {
        let sources = values(&appliance, &format!("main/{path}"));
        assert!(sources.len() as u64 >= *acknowledged, "{path}");
        // Each stored value has started a run, and each run ends.
        let derived = wait::until("all runs to have ended", || {
            let derived = values(&appliance, &format!("main/out/{path}"));
            (derived.len() >= sources.len()).then_some(derived)
        })?;
        let of = |rows: &[String]| -> Vec<u64> {
            let mut numbers: Vec<u64> = rows
                .iter()
                .map(|row| row.rsplit(',').next().unwrap_or("").parse().expect("a number"))
                .collect();
            numbers.sort_unstable();
            numbers
        };
        assert_eq!(of(&derived), of(&sources), "{path}: each once");
    }
    let ledger = appliance.ledger()?;
    assert_eq!(ledger["balanced"], true, "{ledger}");
    Ok(())
}

#[test]
fn what_was_deployed_runs_after_a_restart_and_what_was_stopped_does_not() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    let runs = document(&appliance, "runs", twin())?;
    appliance.cli(&["pipeline", "import", &runs, "--deploy"])?;
    let other = json!({
        "a-in": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
        "b-out": { "kind": "uns.publish", "fields": { "path": "never/{{ $trigger.path }}" } },
    });
    let stopped = document(&appliance, "stopped", other)?;
    appliance.cli(&["pipeline", "import", &stopped, "--deploy"])?;
    appliance.cli(&["pipeline", "undeploy", "stopped"])?;
    appliance.kill()?;
    appliance.start_again()?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/in/t", client.id);
    assert_eq!(device.publish(&topic, "5")?.reason, 0);
    wait::until("the derived value", || {
        (!values(&appliance, "main/out/in/t").is_empty()).then_some(())
    })?;
    let never = appliance.output(&["query", "last", "main/never/in/t"])?;
    assert!(!never.status.success(), "{never:?}");
    Ok(())
}

#[test]
fn a_document_that_cannot_run_is_refused_with_step_and_field_and_what_ran_goes_on()
-> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let file = document(&appliance, "twin", twin())?;
    appliance.cli(&["pipeline", "import", &file, "--deploy"])?;
    let mut broken = twin();
    broken["b-set"] =
        json!({ "kind": "javascript", "fields": { "code": "return $item.value +;" } });
    // As large as a document may be, so that the answer takes as long as it can.
    for number in 0..997 {
        broken[format!("d-{number:03}")] =
            json!({ "kind": "javascript", "fields": { "code": "return $item;" } });
    }
    let file = document(&appliance, "twin", broken)?;
    let began = Instant::now();
    let refused = appliance.output(&["pipeline", "import", &file, "--deploy"])?;
    let took = began.elapsed();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("b-set"), "{said}");
    assert!(took < ANSWER, "{took:?}");
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/in/t", client.id);
    assert_eq!(device.publish(&topic, "5")?.reason, 0);
    wait::until("the derived value", || {
        (!values(&appliance, "main/out/in/t").is_empty()).then_some(())
    })?;
    Ok(())
}

#[test]
fn a_run_that_waits_is_listed_opened_and_canceled_also_after_a_kill() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    let steps = json!({
        "a-go": { "kind": "manual" },
        "b-hold": { "kind": "wait", "fields": { "for_ms": 3_600_000 } },
    });
    let file = document(&appliance, "hold", steps)?;
    appliance.cli(&["pipeline", "import", &file, "--deploy"])?;
    let start = || appliance.cli(&["pipeline", "trigger", "hold", "--no-wait"]);
    let first = start()?.trim().to_owned();
    let second = start()?.trim().to_owned();
    let list = |appliance: &Appliance| {
        let said = appliance.cli(&["pipeline", "runs", "hold", "--json"])?;
        let rows = said.lines().map(serde_json::from_str);
        Ok::<Vec<serde_json::Value>, anyhow::Error>(rows.collect::<Result<_, _>>()?)
    };
    let both_wait = |appliance: &Appliance| {
        let rows = list(appliance).ok()?;
        let waits = rows.len() == 2 && rows.iter().all(|row| row["status"] == "waiting");
        waits.then_some(rows)
    };
    let rows = wait::until("both to wait", || both_wait(&appliance))?;
    assert_eq!((&rows[0]["id"], &rows[1]["id"]), (&json!(second), &json!(first)));
    let waiting = &rows[0]["waiting"];
    assert_eq!((&waiting["step"], &waiting["what"]), (&json!("b-hold"), &json!("time")));
    assert!(waiting["since"].is_string() && waiting["until"].is_string(), "{waiting}");
    let opened = appliance.cli(&["pipeline", "runs", "hold", &first])?;
    assert!(opened.contains("a-go") && opened.contains("step `b-hold` waits"), "{opened}");
    // After a kill they wait on, until the same time
    appliance.kill()?;
    appliance.start_again()?;
    let again = wait::until("both to wait again", || both_wait(&appliance))?;
    assert_eq!(again[0]["waiting"]["until"], waiting["until"]);
    assert_eq!(again[0]["waiting"]["since"], waiting["since"], "it has waited since then");
    // One is canceled, the other loses its pipeline: both have an entry that says so
    let said = appliance.cli(&["pipeline", "cancel", "hold", &first])?;
    assert!(said.contains("was waiting"), "{said}");
    appliance.cli(&["pipeline", "undeploy", "hold"])?;
    let ended = wait::until("both to be in the history", || {
        let rows = list(&appliance).ok()?;
        let ended = rows.len() == 2 && rows.iter().all(|row| row["status"] == "stopped");
        ended.then_some(rows)
    })?;
    let mut codes: Vec<_> = ended.iter().map(|row| row["fault"]["code"].to_string()).collect();
    codes.sort();
    assert_eq!(codes, [r#""canceled""#, r#""undeployed""#]);
    let refused = appliance.output(&["pipeline", "cancel", "hold", &first])?;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("has ended: stopped"), "{said}");
    Ok(())
}

/// Asks a server that nobody runs, with a secret.
fn asking() -> serde_json::Value {
    json!({
        "a-go": { "kind": "manual" },
        "b-ask": {
            "kind": "http.request",
            "fields": { "url": "http://192.0.2.1/", "bearer": { "secret": "mes-token" } }
        },
    })
}

fn issue(appliance: &Appliance, key: &str) -> Option<String> {
    let said = appliance.cli(&["issues", "--json"]).ok()?;
    said.lines().find(|line| line.contains(&format!("\"{key}"))).map(str::to_owned)
}

#[test]
fn a_secret_that_is_not_there_is_told_at_the_deployment() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let file = document(&appliance, "ask", asking())?;
    appliance.cli(&["pipeline", "import", &file])?;
    let refused = appliance.output(&["pipeline", "deploy", "ask"])?;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success(), "{said}");
    assert!(
        said.contains("step `b-ask`, field `bearer`: there is no secret `mes-token`"),
        "{said}"
    );
    let value = appliance.folder().join("token");
    File::create(&value)?.write_all(b"hunter2")?;
    let value = value.to_string_lossy().into_owned();
    appliance.cli(&["secret", "set", "mes-token", "--from-file", &value])?;
    appliance.cli(&["pipeline", "deploy", "ask"])?;
    // One that goes later is told by an issue, which goes when it is there again
    appliance.cli(&["secret", "remove", "mes-token"])?;
    let told = issue(&appliance, "secret-missing:ask").unwrap_or_default();
    assert!(told.contains("mes-token"), "{told}");
    appliance.cli(&["secret", "set", "mes-token", "--from-file", &value])?;
    assert_eq!(issue(&appliance, "secret-missing:ask"), None);
    Ok(())
}

#[test]
fn a_damaged_key_and_a_deleted_state_are_told_and_stop_nothing() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    let value = appliance.folder().join("token");
    File::create(&value)?.write_all(b"hunter2")?;
    let value = value.to_string_lossy().into_owned();
    appliance.cli(&["secret", "set", "mes-token", "--from-file", &value])?;
    let file = document(&appliance, "ask", asking())?;
    appliance.cli(&["pipeline", "import", &file, "--deploy"])?;
    assert!(appliance.stop()?);
    File::create(appliance.data().join("secret.key"))?.write_all(b"damaged")?;
    std::fs::remove_file(appliance.data().join("state.db"))?;
    appliance.start_again()?;
    let told = issue(&appliance, "secret-key-unreadable").unwrap_or_default();
    assert!(told.contains("secret.key") && told.contains("Restore"), "{told}");
    let told = issue(&appliance, "pipeline-state-lost").unwrap_or_default();
    assert!(told.contains("state.db is not there"), "{told}");
    // What needs the secret fails and says why; a new one is not taken
    let failed = appliance.output(&["pipeline", "trigger", "ask"])?;
    let said = String::from_utf8_lossy(&failed.stdout).into_owned();
    assert!(said.contains("secret.key cannot be read"), "{said}");
    let refused = appliance.output(&["secret", "set", "other", "--from-file", &value])?;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("secret.key cannot be read"), "{said}");
    assert_eq!(std::fs::read(appliance.data().join("secret.key"))?, b"damaged");
    Ok(())
}

#[test]
fn an_endless_script_fails_at_its_limit_with_its_line_and_raises_an_issue() -> anyhow::Result<()> {
    let appliance = Appliance::start(&["scripts.cpu_ms = 50"])?;
    let steps = json!({
        "a-in": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
        "b-js": { "kind": "javascript", "fields": { "code": "let x = 0;\nwhile (true) x++;" } },
    });
    let file = document(&appliance, "endless", steps)?;
    appliance.cli(&["pipeline", "import", &file, "--deploy"])?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/in/t", client.id);
    assert_eq!(device.publish(&topic, "5")?.reason, 0);
    let said = wait::until("the failed run", || {
        let said = appliance.cli(&["pipeline", "runs", "endless", "--status", "failed"]).ok()?;
        said.contains("failed").then_some(said)
    })?;
    assert!(said.contains("CPU") || said.contains("cpu"), "{said}");
    wait::until("the issue", || {
        let issues = appliance.issues().ok()?;
        issues.iter().any(|key| key.contains("script")).then_some(())
    })?;
    Ok(())
}

#[test]
fn a_webhook_starts_a_run_and_answers_with_its_result() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let steps = json!({
        "a-in": { "kind": "http", "fields": {
            "path": "orders", "secret": { "secret": "hook" }, "answer": "result" } },
        "b-stop": { "kind": "stop", "fields": { "output": { "got": "{{ $trigger.json.order }}" } } },
    });
    let file = document(&appliance, "orders", steps)?;
    let secret = "/api/v1/workspaces/main/secrets/hook";
    appliance.send_json("PUT", secret, None, &json!({ "value": "open-sesame" }))?;
    appliance.cli(&["pipeline", "import", &file, "--deploy"])?;
    let order = json!({ "order": "4711" });
    let (status, _) = appliance.send_json("POST", "/hooks/main/orders", Some("wrong"), &order)?;
    assert_eq!(status, 401);
    let (status, body) =
        appliance.send_json("POST", "/hooks/main/orders", Some("open-sesame"), &order)?;
    assert_eq!((status, body.contains("4711")), (200, true), "{body}");
    Ok(())
}

/// Given a run that computes longer than `run_redelivery_ms`; when that is over; then it is taken
/// again by another worker, publishes once, and an issue names a starved CPU first.
#[test]
fn a_run_that_computes_for_too_long_is_taken_again() -> anyhow::Result<()> {
    let settings = ["pipelines.run_redelivery_ms = 1000", "scripts.cpu_ms = 6000"];
    let appliance = Appliance::start(&settings)?;
    let code = "while ($run.attempt === 1) {} return $run.attempt;";
    let steps = json!({
        "a-in": { "kind": "uns.subscribe", "fields": { "filters": ["in/#"] } },
        "b-slow": { "kind": "javascript", "fields": { "code": code } },
        "c-out": { "kind": "uns.publish", "fields": { "path": "out", "value": "{{ $item }}" } },
    });
    let file = document(&appliance, "slow", steps)?;
    appliance.cli(&["pipeline", "import", &file, "--deploy"])?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/in/t", client.id);
    assert_eq!(device.publish(&topic, "5")?.reason, 0);
    let issue = wait::until("the issue", || {
        let issues = appliance.get("/api/v1/issues").ok()?;
        let issues = issues.get("issues").or_else(|| issues.get("items"))?.as_array()?.clone();
        let is_late = |issue: &serde_json::Value| {
            issue["key"].as_str().is_some_and(|key| key.starts_with("runs-late:"))
        };
        issues.into_iter().find(is_late)
    })?;
    assert!(issue["remedy"].to_string().contains("starved of CPU"), "{issue}");
    wait::until("the value of the second attempt", || {
        (!values(&appliance, "main/out").is_empty()).then_some(())
    })?;
    let out = values(&appliance, "main/out");
    assert!(out.len() == 1 && out[0].ends_with('2'), "{out:?}");
    Ok(())
}

/// Given a pipeline that calls its own webhook; when it is called once; then the calls are counted
/// and end, the last one is answered with 409, and an issue tells it.
#[test]
fn a_pipeline_that_calls_itself_over_its_webhook_is_stopped() -> anyhow::Result<()> {
    let appliance =
        Appliance::start(&["actions.allow_hosts = [\"127.0.0.1\"]", "pipelines.hops_max = 3"])?;
    let url = format!("http://{}/hooks/main/again", appliance.http_address()?);
    let secret = json!({ "secret": "hook" });
    let steps = json!({
        "a-in": { "kind": "http", "fields": { "path": "again", "secret": secret } },
        "b-call": { "kind": "http.request", "fields": {
            "url": url, "method": "POST", "bearer": secret, "body": {} } },
    });
    let file = document(&appliance, "again", steps)?;
    let path = "/api/v1/workspaces/main/secrets/hook";
    appliance.send_json("PUT", path, None, &json!({ "value": "open-sesame" }))?;
    appliance.cli(&["pipeline", "import", &file, "--deploy"])?;
    let (status, body) =
        appliance.send_json("POST", "/hooks/main/again", Some("open-sesame"), &json!({}))?;
    assert_eq!(status, 202, "{body}");
    wait::until("the issue", || {
        let issues = appliance.issues().ok()?;
        issues.iter().any(|key| key.starts_with("pipeline-loop:")).then_some(())
    })?;
    let runs = wait::until("the last run", || {
        let said = appliance.cli(&["pipeline", "runs", "again", "--status", "failed"]).ok()?;
        said.contains("409").then_some(said)
    })?;
    assert_eq!(runs.matches("409").count(), 1, "the others went well: {runs}");
    Ok(())
}

/// The example pipelines of the documents: each is valid and its cases pass.
#[test]
fn the_examples_pass_their_own_cases() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "json") {
            files.push(path.to_string_lossy().into_owned());
        }
    }
    assert_eq!(files.len(), 10);
    let test = |files: &[String]| -> anyhow::Result<(bool, String)> {
        let words: Vec<_> =
            ["pipeline", "test"].into_iter().chain(files.iter().map(String::as_str)).collect();
        let tested = appliance.output(&words)?;
        let said = [tested.stdout, tested.stderr].concat();
        Ok((tested.status.success(), String::from_utf8_lossy(&said).into_owned()))
    };
    let (is_good, said) = test(&files)?;
    assert!(is_good && said.contains(" passed, 0 failed"), "{said}");
    assert!(files.iter().all(|file| said.lines().any(|line| line == file)), "{said}");
    // One that cannot be tested is told, and the others are tested all the same.
    let (is_good, said) = test(&["missing.json".into(), files.swap_remove(0)])?;
    assert!(!is_good && said.contains("missing.json") && said.contains(" passed, 0 failed"));
    assert!(said.contains("1 pipeline not tested"), "{said}");
    Ok(())
}
