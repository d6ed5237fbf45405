//! Goal: a person connects, is asked about the certificate once, stays signed in through the
//! keyring, is warned when the certificate changes, and works offline; a page can do nothing else.

use crate::plant::{PASSWORD, Plant, document};
use millrace_harness::Device;
use millrace_studio_harness::{Desktop, Window, missing};
use serde_json::{Value, json};

/// What is told where the machine cannot run this.
fn desktop() -> anyhow::Result<Option<Desktop>> {
    let missing = missing();
    if missing.is_empty() {
        return Desktop::start().map(Some);
    }
    println!("skipped: a window needs packages that are not here: {}", missing.join(" "));
    Ok(None)
}

fn connect(window: &Window, id: &Value) -> anyhow::Result<Value> {
    Ok(window.call(&json!({"call": "connect", "profile": id}))?["state"].clone())
}

fn api(window: &Window, id: &Value, path: &str) -> anyhow::Result<Value> {
    window.call(&json!({"call": "api", "profile": id, "method": "GET", "path": path}))
}

/// Adds the appliance, compares the fingerprint as a person would, and signs in.
fn sign_in(window: &Window, plant: &Plant) -> anyhow::Result<Value> {
    let call = json!({"call": "add_profile", "name": "Press hall", "address": plant.address});
    let id = window.call(&call)?["profile"]["id"].clone();
    let state = connect(window, &id)?;
    assert_eq!(state["state"], "not_trusted", "{state}");
    assert_eq!(state["presented"], plant.fingerprint()?, "what the appliance itself prints");
    let trust = json!({"call": "trust", "profile": id, "fingerprint": state["presented"]});
    assert_eq!(window.call(&trust)?["state"]["state"], "signed_out");
    let wrong = json!({"call": "sign_in", "profile": id, "name": "anna", "password": "guess"});
    assert_eq!(window.call(&wrong)?["rejected"]["code"], "refused");
    let call = json!({"call": "sign_in", "profile": id, "name": "anna", "password": PASSWORD,
        "remember": true});
    let answer = window.call(&call)?;
    assert_eq!(answer["state"]["state"], "online", "{answer}");
    Ok(id)
}

#[test]
fn a_person_connects_and_stays_signed_in_through_the_keyring() -> anyhow::Result<()> {
    let Some(desktop) = desktop()? else { return Ok(()) };
    let plant = Plant::start()?;
    let mut window = Window::open(&desktop, &[])?;
    window.picture("studio-start")?;
    window.greet()?;
    let id = sign_in(&window, &plant)?;
    let overview = api(&window, &id, "/api/v1/overview")?;
    assert_eq!(overview["status"], 200, "{overview}");

    // A value on its way from a device to the page.
    let live = json!({"call": "live", "session": window.session(), "profile": id,
        "workspace": "main", "filters": ["press/#"]});
    let stream = window.call(&live)?["stream"].clone();
    let has = |event: &Value, word: &str| {
        event["event"] == "live" && event["stream"] == stream && event.to_string().contains(word)
    };
    window.event("the subscription", |event| has(event, "subscribed"))?;
    let client = plant.appliance.client("press", &["--publish", "#"])?;
    let mut device = Device::connect(plant.appliance.mqtt()?, &client, "press")?;
    let inbox = format!("mr/v1/main/_ingress/{}/press/raw", client.id);
    assert_eq!(device.publish(&inbox, "42.5")?.reason, 0);
    let event = window.event("the value", |event| has(event, "42.5"))?;
    assert_eq!(event["connected"], true);

    // Killed at once and started again: the list is whole, the keyring signs in.
    let folder = window.folder().to_owned();
    window.kill()?;
    let mut window = Window::open(&desktop, &[])?;
    let greeting = window.greet()?;
    assert_eq!(greeting["profiles"][0]["name"], "Press hall", "{greeting}");
    assert_eq!(greeting["notices"], json!([]));
    assert_eq!(connect(&window, &id)?["state"], "online");
    let mut seen = api(&window, &id, "/api/v1/me")?.to_string();
    assert!(seen.contains("anna"), "{seen}");
    for entry in ["profiles.json", "running.json"] {
        seen.push_str(&std::fs::read_to_string(folder.join(entry))?);
    }
    for entry in std::fs::read_dir(folder.join("logs"))? {
        seen.push_str(&std::fs::read_to_string(entry?.path())?);
    }
    assert!(!seen.contains(PASSWORD), "the password is in the keyring only");
    window.close()
}

#[test]
fn a_changed_certificate_is_refused_until_a_person_decides() -> anyhow::Result<()> {
    let Some(desktop) = desktop()? else { return Ok(()) };
    let mut plant = Plant::start()?;
    let mut window = Window::open(&desktop, &[])?;
    window.greet()?;
    let id = sign_in(&window, &plant)?;
    let pinned = plant.fingerprint()?;
    plant.change_certificate()?;
    let event = window.event("the warning", |event| event["state"]["state"] == "not_trusted")?;
    assert_eq!(event["state"]["pinned"], pinned);
    assert_eq!(event["state"]["presented"], plant.fingerprint()?);
    let refused = api(&window, &id, "/api/v1/overview")?;
    assert_eq!(refused["rejected"]["code"], "certificate_changed", "{refused}");
    let again = json!({"call": "sign_in", "profile": id, "name": "anna", "password": PASSWORD});
    assert_eq!(window.call(&again)?["rejected"]["code"], "certificate_changed");
    window.picture("studio-changed-certificate")?;
    let mut trust = json!({"call": "trust", "profile": id, "fingerprint": plant.fingerprint()?});
    assert_eq!(window.call(&trust)?["rejected"]["field"], "replaces");
    trust["replaces"] = json!(pinned);
    let answer = window.call(&trust)?;
    assert_eq!(answer["state"]["state"], "online", "{answer}");
    window.close()
}

#[test]
fn edited_offline_and_deployed_later() -> anyhow::Result<()> {
    let Some(desktop) = desktop()? else { return Ok(()) };
    let mut plant = Plant::start()?;
    plant.save(&document(2))?;
    let mut window = Window::open(&desktop, &[])?;
    window.greet()?;
    let id = sign_in(&window, &plant)?;
    let call = |name: &str, more: Value| {
        let mut call = json!({"call": name, "profile": id, "workspace": "main", "name": "scale"});
        for (key, value) in more.as_object().into_iter().flatten() {
            call[key] = value.clone();
        }
        window.call(&call)
    };
    let fetch = json!({"call": "fetch", "profile": id, "workspace": "main"});
    assert_eq!(window.call(&fetch)?["entries"][0]["revision"], 1);
    plant.appliance.stop()?;
    window.event("the loss", |event| event["state"]["state"] == "waiting")?;
    let known = call("pipeline", json!({}))?["known"].clone();
    assert_eq!(known["revision"], 1, "it is there without the appliance");
    let draft = json!({"document": document(3).to_string(), "base": 1});
    assert_eq!(call("save_draft", draft)?["answer"], "done");
    assert_eq!(call("compare", json!({}))?["is_fresh"], false);
    let deploy = json!({"expected": 1, "run": true, "note": "made offline"});
    assert_eq!(call("deploy", deploy.clone())?["rejected"]["code"], "offline");

    plant.appliance.start_again()?;
    window.event("the return", |event| event["state"]["state"] == "online")?;
    let compared = call("compare", json!({}))?;
    assert_eq!((&compared["relation"], &compared["is_fresh"]), (&json!("ahead"), &json!(true)));
    let answer = call("deploy", deploy)?;
    assert_eq!(answer, json!({"answer": "deployed", "revision": 2, "runs": true}));
    let pipeline = plant.appliance.get("/api/v1/workspaces/main/pipelines/scale")?;
    assert_eq!(pipeline["deployment"]["revision"], 2, "{pipeline}");
    assert_eq!(pipeline["latest"]["note"], "made offline");
    window.close()
}

#[test]
fn files_are_opened_and_a_page_can_do_nothing_but_call() -> anyhow::Result<()> {
    let Some(desktop) = desktop()? else { return Ok(()) };
    let plant = Plant::start()?;
    let file = desktop.home().join("pump.millrace");
    std::io::Write::write_all(&mut std::fs::File::create(&file)?, b"{\"millrace\": 1}")?;
    let window = Window::open(&desktop, &[&file.display().to_string()])?;
    window.shows("pump.millrace")?;
    window.shows("Open the appliance where it belongs")?;

    // A second start hands its file to this window and ends.
    window.start_again(&desktop, &desktop.home().join("valve.millrace"))?;
    window.shows("valve.millrace")?;
    window.shows("There is no such file.")?;

    let plain = format!("http://{}/api/v1/version", plant.appliance.http_address()?);
    let rejected = |script: &str| -> anyhow::Result<String> {
        let answer = window.promise(script, &json!(plain))?;
        assert!(answer.get("rejected").is_some(), "{script}: {answer}");
        Ok(answer.to_string())
    };
    rejected("return (await fetch(argument)).text()")?;
    rejected(
        "return new Promise((yes, no) => { const socket = new WebSocket(argument.replace('http', \
         'ws')); socket.onopen = yes; socket.onerror = () => no('refused'); })",
    )?;
    rejected("return eval('1 + 1')")?;
    rejected("return new Function('return 1')()")?;
    for (command, arguments) in [
        ("plugin:event|listen", "{ event: 'x', target: { kind: 'Any' }, handler: 1 }"),
        ("plugin:window|close", "{}"),
        ("plugin:webview|create_webview_window", "{ options: {} }"),
        ("plugin:path|resolve_directory", "{ directory: 1 }"),
        ("plugin:app|version", "{}"),
        ("read_file", "{}"),
    ] {
        let invoke = format!("return window.__TAURI_INTERNALS__.invoke('{command}', {arguments})");
        let said = rejected(&invoke)?;
        assert!(said.contains("not allowed") || said.contains("not found"), "{command}: {said}");
    }
    let unknown = window.call(&json!({"call": "read_file", "path": "/etc/passwd"}))?;
    assert!(unknown["rejected"].to_string().contains("unknown variant"), "{unknown}");
    // An event handler in text does not run, an inline script does not either.
    window.run(
        "document.body.insertAdjacentHTML('beforeend', \"<img src=x onerror='window.bad = 1'>\"); \
         const script = document.createElement('script'); script.textContent = 'window.bad = 2'; \
         document.body.append(script);",
    )?;
    assert_eq!(window.run("return window.bad ?? null")?, Value::Null);
    // And the window stays with the pages.
    window.run("location.href = 'https://example.com/'")?;
    assert!(window.title()?.contains("Millrace"));
    assert_eq!(window.run("return location.host")?, "localhost");
    window.close()
}
