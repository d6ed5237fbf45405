//! The namespace: a tree of many topics, live values, what is set of one, and hostile names.

use crate::scene::{Scene, axe, keep_files, look, saved};
use millrace_harness::appliance::Credentials;
use millrace_harness::{Browser, Device, wait};

const TREE: &str = ".tree";
const DETAILS: &str = ".namespace-details";

fn client(scene: &Scene) -> anyhow::Result<(Credentials, Device)> {
    let client = scene
        .appliance
        .client("press-4", &["--workspace", "main", "--publish", "#", "--subscribe", "#"])?;
    let device = Device::connect(scene.appliance.mqtt()?, &client, "press-4")?;
    Ok((client, device))
}

fn publish(
    client: &Credentials,
    device: &mut Device,
    path: &str,
    payload: &str,
) -> anyhow::Result<()> {
    device.publish(&format!("mr/v1/main/_ingress/{}/{path}", client.id), payload).map(drop)
}

/// Clicks the row of the tree whose name is this.
fn click_row(browser: &Browser, name: &str, part: &str) -> anyhow::Result<()> {
    let script = format!(
        "const row = [...document.querySelectorAll('.tree-row')].find(
           one => one.querySelector('.tree-text').textContent === {name:?});
         if (!row) return false;
         (row.querySelector({part:?}) ?? row).click();
         return true"
    );
    wait::until(&format!("the row {name}"), || {
        browser.run(&script).ok().filter(|done| *done == true)
    })
    .map(drop)
}

#[test]
fn a_value_arrives_live_in_the_tree() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    browser.press(&["\u{e00a}", "2"]).unwrap();
    browser.until_text(".empty", |text| text.contains("There are no topics yet")).unwrap();
    let (client, mut device) = client(&scene).unwrap();
    for (path, payload) in [
        ("hall-3/press-4/temperature", r#"{"value": 42.75}"#),
        ("hall-3/press-4/pressure", r#"{"value": 7.5, "quality": "bad"}"#),
        ("hall-3/press-4/count", r#"{"value": 9223372036854775807}"#),
        ("hall-3/press-4/state", r#"{"value": "<img src=x onerror=document.title='evil'>"}"#),
        ("hall-3/über/🔥 ofen", "true"),
        ("plain", "1"),
    ] {
        publish(&client, &mut device, path, payload).unwrap();
    }
    browser.go(&scene.address("/namespace").unwrap()).unwrap();
    browser.until_text(TREE, |text| text.contains("hall-3") && text.contains("plain")).unwrap();
    click_row(browser, "hall-3", ".tree-sign").unwrap();
    click_row(browser, "press-4", ".tree-sign").unwrap();
    // With the keyboard: down to the branch below and into it.
    click_row(browser, "über", ".tree-text").unwrap();
    browser.run("document.querySelector('.tree').focus()").unwrap();
    browser.press(&["\u{e014}"]).unwrap();
    let tree = browser
        .until_text(TREE, |text| {
            ["42.75", "9,223,372,036,854,775,807", "Bad", "<img src=x", "🔥 ofen", "s ago"]
                .iter()
                .all(|part| text.contains(part))
        })
        .unwrap();
    assert!(tree.contains("hall-3\n5"), "a branch tells how many topics it has: {tree}");
    publish(&client, &mut device, "hall-3/press-4/temperature", "43.25").unwrap();
    browser.until_text(TREE, |text| text.contains("43.25")).unwrap();

    click_row(browser, "temperature", ".tree-text").unwrap();
    browser
        .until_text(DETAILS, |text| {
            text.contains("hall-3/press-4/temperature")
                && text.contains("43.25")
                && text.contains("Clients that may write")
                && text.contains("press-4")
        })
        .unwrap();
    look(browser, "namespace").unwrap();
    assert_eq!(browser.run("return document.title").unwrap(), "Namespace · Millrace");
    scene.expect_quiet_console().unwrap();
}

#[test]
fn a_topic_is_made_found_and_described() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    browser.press(&["\u{e00a}", "2"]).unwrap();
    browser.click(".namespace-tools .button").unwrap();
    browser.fill("dialog[open] .form > .field:nth-of-type(1) input", "a//b").unwrap();
    browser.press(&["\u{e007}"]).unwrap();
    browser.until_text("dialog[open] .field-fault:not(:empty)", |why| !why.is_empty()).unwrap();
    browser.picture("namespace-refused").unwrap();
    browser.fill("dialog[open] .form > .field:nth-of-type(1) input", "hall-3/oven").unwrap();
    browser.press(&["\u{e007}"]).unwrap();
    browser.until_text(DETAILS, |text| text.contains("hall-3/oven")).unwrap();
    browser.until_text(TREE, |text| text.contains("hall-3")).unwrap();

    browser.until_text(".topic .form-actions", |text| text.contains("Change")).unwrap();
    browser.find(".topic .form-actions button[aria-disabled=false]:nth-of-type(2)").unwrap();
    browser.click(".topic .form-actions button:nth-of-type(2)").unwrap();
    browser
        .fill("dialog[open] .form > .field:nth-of-type(1) input", "Temperatur des Ofens")
        .unwrap();
    browser.fill("dialog[open] .form > .field:nth-of-type(2) input", "°C").unwrap();
    browser.fill("dialog[open] .topic-range .field:nth-of-type(1) input", "20").unwrap();
    browser.fill("dialog[open] .topic-range .field:nth-of-type(2) input", "10").unwrap();
    browser.click("dialog[open] .button-primary").unwrap();
    browser.until_text("dialog[open] .field-fault:not(:empty)", |why| !why.is_empty()).unwrap();
    browser.fill("dialog[open] .topic-range .field:nth-of-type(2) input", "900").unwrap();
    browser.picture("namespace-edit").unwrap();
    browser.click("dialog[open] .button-primary").unwrap();
    browser
        .until_text(DETAILS, |text| {
            text.contains("Temperatur des Ofens")
                && text.contains("°C")
                && text.contains("20 … 900")
        })
        .unwrap();
    browser.fill(".namespace-tools input", "des ofens").unwrap();
    browser
        .until_text(".namespace-list", |text| {
            text.contains("hall-3/oven") && text.contains("Found: 1")
        })
        .unwrap();
    look(browser, "namespace-search").unwrap();
    browser.fill(".namespace-tools input", "no such thing").unwrap();
    browser.until_text(".namespace-list", |text| text.contains("Nothing has this text")).unwrap();
    scene.expect_quiet_console().unwrap();
}

#[test]
fn a_branch_of_many_topics_is_loaded_as_one_scrolls() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    let (client, mut device) = client(&scene).unwrap();
    for number in 0..1_200 {
        publish(&client, &mut device, &format!("many/t{number:05}"), &number.to_string()).unwrap();
    }
    browser.press(&["\u{e00a}", "2"]).unwrap();
    click_row(browser, "many", ".tree-sign").unwrap();
    browser.until_text(TREE, |text| text.contains("t00010")).unwrap();
    let rows = browser.run("return document.querySelectorAll('.tree-row').length").unwrap();
    assert!(rows.as_u64().unwrap() < 100, "only what is in sight is built: {rows}");
    // To the end, whatever comes in between.
    wait::until("the last row", || {
        browser
            .run("const tree = document.querySelector('.tree'); tree.scrollTop = tree.scrollHeight")
            .ok()?;
        browser.text(TREE).ok().filter(|text| text.contains("t01199") && text.contains("1,199"))
    })
    .unwrap();
    scene.expect_quiet_console().unwrap();
}

fn make(scene: &Scene, path: &str, schema: &str) -> anyhow::Result<()> {
    let schema: serde_json::Value = serde_json::from_str(schema)?;
    let tag = serde_json::json!({"path": path, "kind": "float", "schema": schema});
    let made = scene.appliance.send_json("POST", "/api/v1/workspaces/main/tags", None, &tag)?;
    anyhow::ensure!(made.0 == 201, "{}", made.1);
    Ok(())
}

#[test]
fn a_topic_tells_its_last_refusals_and_takes_a_test_value() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    make(&scene, "oven", r#"{"kinds": ["float"], "max": 10, "strict": true}"#).unwrap();
    let (client, mut device) = client(&scene).unwrap();
    let evil = r#""<img src=x onerror=document.title='evil'>""#;
    publish(&client, &mut device, "oven", evil).unwrap();
    browser.go(&scene.address("/namespace").unwrap()).unwrap();
    click_row(browser, "oven", ".tree-text").unwrap();
    browser
        .until_text(DETAILS, |text| {
            text.contains("Last refusals")
                && text.contains("Of the wrong kind")
                && text.contains("<img src=x onerror")
                && text.contains(&client.id)
        })
        .unwrap();
    look(browser, "namespace-refusals").unwrap();
    browser.find(".topic .form-actions button[aria-disabled=false]:nth-of-type(3)").unwrap();
    browser.click(".topic .form-actions button:nth-of-type(3)").unwrap();
    browser.fill("dialog[open] textarea", "42.5").unwrap();
    browser.click("dialog[open] .button-primary").unwrap();
    browser
        .until_text("dialog[open] .topic-verdict", |text| {
            text.contains("Outside of the range") && text.contains("42.5")
        })
        .unwrap();
    browser.picture("namespace-test-value").unwrap();
    assert_eq!(axe(browser).unwrap(), Vec::<String>::new());
    browser.fill("dialog[open] textarea", "7.5").unwrap();
    browser.click("dialog[open] .button-primary").unwrap();
    browser.until_text("dialog[open] .topic-verdict", |text| text.contains("Stored.")).unwrap();
    browser.click("dialog[open] .dialog-head button").unwrap();
    browser.until_text(".topic-refusals", |text| text.contains("42.5")).unwrap();
    browser.until_text(DETAILS, |text| text.contains("7.5")).unwrap();
    assert_eq!(browser.run("return document.title").unwrap(), "Namespace · Millrace");
}

/// Gives the dialog's file field a file.
fn give(browser: &Browser, text: &str) -> anyhow::Result<()> {
    browser.find("dialog[open] input[type=file]")?;
    let script = format!(
        "const input = document.querySelector('dialog[open] input[type=file]');
         const files = new DataTransfer();
         files.items.add(new File([{text:?}], 'topics.csv', {{ type: 'text/csv' }}));
         input.files = files.files;
         input.dispatchEvent(new Event('change', {{ bubbles: true }}))"
    );
    browser.run(&script).map(drop)
}

#[test]
fn topics_are_changed_by_a_file_that_was_looked_at() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    make(&scene, "hall/a", "{}").unwrap();
    make(&scene, "hall/b", "{}").unwrap();
    browser.go(&scene.address("/namespace").unwrap()).unwrap();
    browser.until_text(TREE, |text| text.contains("hall")).unwrap();
    keep_files(browser).unwrap();
    browser.click(".namespace-tools .button:nth-of-type(2)").unwrap();
    browser.fill(".topic-bulk .field input", "hall/").unwrap();
    browser.click(".topic-bulk .form-actions button").unwrap();
    let (_, file) = saved(browser).unwrap();
    assert!(file.starts_with("path,description,unit") && file.contains("hall/b,"), "{file}");

    give(browser, "path,unit\nhall/a,bar\nhall/z,bar\n").unwrap();
    browser
        .until_text("dialog[open]", |text| {
            text.contains("Line 3") && text.contains("There is no such topic")
        })
        .unwrap();
    browser.find("dialog[open] .button-primary[aria-disabled=true]").unwrap();
    browser.picture("namespace-bulk-fault").unwrap();
    give(browser, &file.replace("hall/a,,", "hall/a,<b>Oven</b>,bar")).unwrap();
    browser
        .until_text("dialog[open]", |text| {
            text.contains("Topics that change: 1") && text.contains("<b>Oven</b>")
        })
        .unwrap();
    browser.picture("namespace-bulk").unwrap();
    assert_eq!(axe(browser).unwrap(), Vec::<String>::new());
    browser.find("dialog[open] .button-primary[aria-disabled=false]").unwrap();
    browser.click("dialog[open] .button-primary").unwrap();
    let changed = wait::until("the change", || {
        let tag = scene.appliance.get("/api/v1/workspaces/main/tag?path=hall/a").ok()?;
        (tag["unit"] == "bar").then_some(tag)
    });
    assert_eq!(changed.unwrap()["description"], "<b>Oven</b>");
}
