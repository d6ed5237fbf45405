//! Settings: what is in force and where it comes from, limits, listeners, and what waits for a start.

use crate::scene::{PASSWORD, Scene, keep_files, look, saved};
use serde_json::Value;

const SETTINGS: &[&str] = &["broker.clients_max = 7", "http.tls_listen = \"127.0.0.1:0\""];

#[test]
fn tells_what_is_in_force_and_where_it_comes_from() {
    let Some(scene) = Scene::open(SETTINGS).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    browser.go(&scene.address("/settings").unwrap()).unwrap();
    browser.until_text("h1", |title| title == "Settings").unwrap();
    browser.until_text(".settings-facts", |text| text.contains("Millrace 0.")).unwrap();
    browser.until_text(".limits", |text| text.contains("0 of 7")).unwrap();
    let listeners = browser.until_text(".listeners", |text| text.contains("TLS")).unwrap();
    let http = scene.appliance.http_address().unwrap().to_string();
    assert!(listeners.contains(&http), "{listeners}");
    // The fingerprint is the one that the appliance prints at its start.
    let announced = scene.appliance.announced();
    let printed =
        announced.split("SHA-256 ").nth(1).and_then(|rest| rest.split_whitespace().next());
    let shown = browser.until_text(".fingerprint code", |text| text.len() == 95).unwrap();
    assert_eq!(Some(shown.as_str()), printed);
    browser.until_text(".settings", |text| text.contains("days left")).unwrap();
    look(browser, "settings").unwrap();

    // A setting is found by what it does; its default and its place are told.
    browser.fill(".settings-tools input", "connected at once").unwrap();
    browser.until_text(".settings-count", |text| text.starts_with("1 of ")).unwrap();
    let row = browser.text(".settings-groups").unwrap();
    for part in ["broker.clients_max", "7", "5000", "file", "MQTT clients connected at once."] {
        assert!(row.contains(part), "{part} is not in: {row}");
    }
    browser.fill(".settings-tools input", " ").unwrap();
    browser.click(".settings-tools .toggle").unwrap();
    browser
        .until_text(".settings-groups", |text| {
            text.contains("variable or command line") && !text.contains("broker.root")
        })
        .unwrap();

    // The report has what the page shows, and no secret.
    keep_files(browser).unwrap();
    browser.click(".settings-stack .panel-head button").unwrap();
    let (kind, text) = saved(browser).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(kind, "application/json");
    assert_eq!(report["system"]["certificate"]["fingerprint"], shown.as_str());
    assert_eq!(report["version"]["product"], "millrace");
    let token = browser.run("return Object.values(sessionStorage).join(' ')").unwrap();
    let token: Value = serde_json::from_str(token.as_str().unwrap()).unwrap();
    for secret in [PASSWORD, "argon2", token["token"].as_str().unwrap()] {
        assert!(!text.contains(secret), "the report holds {secret}");
    }
    scene.expect_quiet_console().unwrap();
}

#[test]
fn tells_what_waits_for_a_start_and_whether_it_would_fail() {
    let Some(scene) = Scene::open(SETTINGS).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    browser.go(&scene.address("/settings").unwrap()).unwrap();
    browser.until_text(".settings-stack", |text| text.contains("nothing waits")).unwrap();
    scene.write_settings(&["broker.clients_max = 9"]).unwrap();
    browser
        .until_text(".settings-stack", |text| {
            text.contains("After the next start") && text.contains("broker.clients_max 7 9")
        })
        .unwrap();
    scene.write_settings(&["broker.clients_max = \"many\""]).unwrap();
    let told = browser
        .until_text(".settings-stack", |text| text.contains("The next start would fail"))
        .unwrap();
    assert!(told.contains("line "), "{told}");
    look(browser, "settings-waits").unwrap();
    // What runs is as it was.
    browser.until_text(".limits", |text| text.contains("0 of 7")).unwrap();
    scene.expect_quiet_console().unwrap();
}
