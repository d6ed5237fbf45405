//! Trends: live and history in one chart, gaps, quality, cursor, window, export.

use crate::scene::{Scene, keep_files, look, saved};
use millrace_harness::{Browser, Device, wait};

const LEGEND: &str = ".trends-legend tbody";

/// What is drawn of a line.
fn path(browser: &Browser, line: u32) -> String {
    let found = browser.run(&format!(
        "return document.querySelector('.chart-line-{line}')?.getAttribute('d') ?? ''"
    ));
    found.ok().and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
}

fn until_path(browser: &Browser, line: u32, good: impl Fn(&str) -> bool) -> anyhow::Result<String> {
    wait::until(&format!("line {line}"), || Some(path(browser, line)).filter(|path| good(path)))
}

#[test]
fn several_topics_are_drawn_live_and_from_history() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    browser.press(&["\u{e00a}", "3"]).unwrap();
    browser.until_text(".empty", |text| text.contains("No topic is in the chart")).unwrap();
    let options = ["--workspace", "main", "--publish", "#"];
    let client = scene.appliance.client("oven", &options).unwrap();
    let mut device = Device::connect(scene.appliance.mqtt().unwrap(), &client, "oven").unwrap();
    let mut publish = |path: &str, payload: &str| {
        let topic = format!("mr/v1/main/_ingress/{}/{path}", client.id);
        device.publish(&topic, payload).map(drop)
    };
    // The browser's clock is this machine's: a history of four minutes with a hole in it.
    let now = browser.run("return Date.now()").unwrap().as_f64().unwrap();
    let time = |seconds_ago: u32| {
        let script = format!("return new Date({now} - {seconds_ago} * 1000).toISOString()");
        browser.run(&script).unwrap().as_str().unwrap().to_owned()
    };
    let ago: Vec<u32> = (150..240).rev().step_by(5).chain((1..40).rev().step_by(5)).collect();
    for (number, seconds) in ago.iter().enumerate() {
        let quality = if number == 3 { "bad" } else { "good" };
        let payload = format!(
            r#"{{"value": {}, "timestamp": "{}", "quality": "{quality}"}}"#,
            20 + number,
            time(*seconds)
        );
        publish("oven/temperature", &payload).unwrap();
    }
    publish("oven/on", "true").unwrap();

    browser.go(&scene.address("/trends?topic=oven%2Ftemperature").unwrap()).unwrap();
    browser.until_text(LEGEND, |text| text.contains("oven/temperature")).unwrap();
    let drawn = until_path(browser, 1, |path| path.matches('L').count() > 10).unwrap();
    assert_eq!(drawn.matches('M').count(), 2, "the hole is a gap: {drawn}");
    let bad = browser.run("return document.querySelector('.chart-bad').getAttribute('d')").unwrap();
    assert_eq!(bad.as_str().unwrap().matches('M').count(), 1, "{bad}");
    // Live: what comes is drawn without anybody asking.
    publish("oven/temperature", "99.5").unwrap();
    browser.until_text(LEGEND, |text| text.contains("99.50")).unwrap();

    // A second topic, by search.
    browser.fill(".trends-pick input", "oven/o").unwrap();
    browser.click(".trends-hits button").unwrap();
    until_path(browser, 2, |path| !path.is_empty()).unwrap();
    look(browser, "trends").unwrap();

    // With the keyboard: a cursor, and another window that stands.
    browser.run("document.querySelector('.chart').focus()").unwrap();
    browser.press(&["\u{e012}"]).unwrap();
    browser.find(".chart-cursor").unwrap();
    browser.until_text(".trends-legend thead", |text| text.contains(':')).unwrap();
    browser.press(&["\u{e00c}"]).unwrap();
    browser.press(&["\u{e00e}"]).unwrap();
    browser.find(".toggle[aria-checked=false]").unwrap();
    browser.press(&["\u{e011}"]).unwrap();
    browser.find(".toggle[aria-checked=true]").unwrap();

    keep_files(browser).unwrap();
    browser.find(".trends-tools .form-actions > .button:last-child[aria-disabled=false]").unwrap();
    browser.click(".trends-tools .form-actions > .button:last-child").unwrap();
    let (kind, text) = saved(browser).unwrap();
    assert!(kind == "text/csv" && text.starts_with("path,unit,time,"), "{kind}: {text}");
    assert!(text.contains("\"oven/temperature\"") && text.contains(",bad"), "{text}");
    // The view is kept.
    browser.go(&scene.address("/trends").unwrap()).unwrap();
    browser
        .until_text(LEGEND, |text| text.contains("oven/temperature") && text.contains("oven/on"))
        .unwrap();
    browser.click(".trends-legend tbody tr:last-child button").unwrap();
    browser.until_text(LEGEND, |text| !text.contains("oven/on")).unwrap();
    scene.expect_quiet_console().unwrap();
}

#[test]
fn a_view_is_kept_on_the_appliance_and_shown_again() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    for path in ["hall/a", "hall/b"] {
        let tag = serde_json::json!({"path": path, "kind": "float"});
        let address = "/api/v1/workspaces/main/tags";
        let made = scene.appliance.send_json("POST", address, None, &tag).unwrap();
        assert_eq!(made.0, 201, "{}", made.1);
    }
    browser.go(&scene.address("/trends?topic=hall%2Fa").unwrap()).unwrap();
    browser.until_text(LEGEND, |text| text.contains("hall/a")).unwrap();
    browser.click(".trends-views button").unwrap();
    browser.fill("dialog[open] input", "Ofen <b>").unwrap();
    browser.click("dialog[open] .button-primary").unwrap();
    let view = ".trends-views option:nth-of-type(2)";
    browser.until_text(view, |text| text == "Ofen <b>").unwrap();
    look(browser, "trends-view").unwrap();

    // Another topic is on view; the kept one comes back by its name.
    browser.go(&scene.address("/trends?topic=hall%2Fb").unwrap()).unwrap();
    browser.until_text(LEGEND, |text| text.contains("hall/b")).unwrap();
    browser.until_text(view, |text| text == "Ofen <b>").unwrap();
    let choose = "const one = document.querySelector('.trends-views select');
        one.value = 'Ofen <b>'; one.dispatchEvent(new Event('change', { bubbles: true }))";
    browser.run(choose).unwrap();
    browser.until_text(LEGEND, |text| text.contains("hall/a") && !text.contains("hall/b")).unwrap();
    browser.find(".trends-views button[aria-disabled=false]:nth-of-type(2)").unwrap();
    browser.click(".trends-views button:nth-of-type(2)").unwrap();
    wait::until("the view to go", || {
        let left = browser.run("return document.querySelectorAll('.trends-views option').length");
        left.ok().filter(|left| *left == 1)
    })
    .unwrap();
}
