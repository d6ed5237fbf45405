//! The first minutes: claim, overview, sign out and in, an appliance that goes away and comes back.

use crate::scene::{PASSWORD, Scene, axe};
use millrace_harness::Device;

/// One value from a device, acknowledged.
fn publish(scene: &Scene, payload: &str) -> anyhow::Result<()> {
    let client =
        scene.appliance.client("press-4", &["--workspace", "main", "--publish", "press-4/#"])?;
    let mut device = Device::connect(scene.appliance.mqtt()?, &client, "press-4")?;
    let topic = format!("mr/v1/main/_ingress/{}/press-4/temperature", client.id);
    device.publish(&topic, payload)?;
    Ok(())
}

#[test]
fn claims_and_sees_what_is_stored() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    browser.until_text("h1", |title| title == "Claim this appliance").unwrap();
    browser.picture("claim-light").unwrap();
    assert_eq!(axe(browser).unwrap(), Vec::<String>::new());
    scene.claim().unwrap();
    publish(&scene, "42.7").unwrap();
    let part = |number: u32| format!(".balance-part:nth-of-type({number}) .value-digits");
    browser.until_text(".balance", |text| text.contains("adds up")).unwrap();
    browser.until_text(&part(1), |text| text == "1").unwrap();
    browser.until_text(".figures-grid", |text| text.contains("/s") && text.contains("ms")).unwrap();
    browser.until_text(".lanes", |text| text.contains("High") && text.contains("Low")).unwrap();
    browser.picture("overview-light").unwrap();
    assert_eq!(axe(browser).unwrap(), Vec::<String>::new());
    scene.expect_quiet_console().unwrap();
}

#[test]
fn turns_dark_and_german_and_stays_so() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    browser.press(&["\u{e00a}", "d"]).unwrap();
    browser.find("html[data-theme=dark]").unwrap();
    browser.run("const s = document.querySelector('.title-bar select'); s.value = 'de'; s.dispatchEvent(new Event('change', {bubbles: true}))").unwrap();
    browser.until_text("h1", |title| title == "Überblick").unwrap();
    browser.picture("overview-dark-german").unwrap();
    assert_eq!(axe(browser).unwrap(), Vec::<String>::new());
    // A reload keeps session, language and theme.
    browser.go(&scene.address("/sizing").unwrap()).unwrap();
    browser.find("html[data-theme=dark][lang=de]").unwrap();
    browser.until_text(".title-bar-who", |who| who.starts_with("anna")).unwrap();
    scene.expect_quiet_console().unwrap();
}

#[test]
fn leads_to_signing_in_and_back_again() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    browser.run("sessionStorage.clear()").unwrap();
    browser.go(&scene.address("/trends").unwrap()).unwrap();
    browser.until_text("h1", |title| title == "Sign in").unwrap();
    browser.picture("sign-in-light").unwrap();
    browser.fill("input[type=text]", "anna").unwrap();
    browser.fill("input[type=password]", "not the password").unwrap();
    browser.click("button[type=submit]").unwrap();
    browser.until_text(".field-fault:not(:empty)", |why| why.contains("not right")).unwrap();
    browser.fill("input[type=password]", PASSWORD).unwrap();
    browser.click("button[type=submit]").unwrap();
    browser.until_text("h1", |title| title == "Trends").unwrap();
    assert_eq!(browser.path().unwrap(), "/trends");
}

#[test]
fn tells_that_the_appliance_is_away_and_goes_on_when_it_is_back() {
    let Some(mut scene) = Scene::open(&[]).unwrap() else { return };
    scene.claim().unwrap();
    scene.browser.until_text(".balance", |text| text.contains("adds up")).unwrap();
    scene
        .away(|browser, _| {
            browser.until_text(".connection-bar", |text| text.contains("No connection since"))?;
            // What was known stays in sight, and is told to be old.
            browser.until_text(".balance", |text| text.contains("s ago"))?;
            assert!(!browser.text("body")?.contains("Nothing is wrong"), "nobody knows that");
            browser.picture("overview-away").map(drop)
        })
        .unwrap();
    // The appliance knows no session from before its start: it asks to sign in again.
    let browser = &scene.browser;
    browser.until_text("h1", |title| title == "Sign in").unwrap();
    browser.until_text(".notice", |text| text.contains("Your session has ended")).unwrap();
}

#[test]
fn keys_and_palette_reach_every_page() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    browser.press(&["\u{e00a}", "4"]).unwrap();
    browser.until_text("h1", |title| title == "Pipelines").unwrap();
    browser.press(&["?"]).unwrap();
    browser.until_text("dialog[open]", |text| text.contains("alt+4")).unwrap();
    browser.press(&["\u{e00c}"]).unwrap();
    browser.press(&["\u{e009}", "\u{e008}", "p"]).unwrap();
    browser.fill("dialog[open] input", "siz").unwrap();
    browser.press(&["\u{e007}"]).unwrap();
    browser.until_text("h1", |title| title == "Sizing").unwrap();
    scene.expect_quiet_console().unwrap();
}

#[test]
fn an_issue_is_told_and_acknowledged() {
    let Some(mut scene) = Scene::open(&[]).unwrap() else { return };
    scene.claim().unwrap();
    scene
        .away(|_, data| {
            let mut catalog = std::fs::File::create(data.join("catalog.db"))?;
            std::io::Write::write_all(&mut catalog, b"this is no database, not even nearly so")?;
            Ok(())
        })
        .unwrap();
    scene.sign_in().unwrap();
    let browser = &scene.browser;
    let told = browser.until_text(".issue", |text| text.contains("→")).unwrap();
    assert!(told.contains("catalog"), "{told}");
    browser.picture("overview-issue").unwrap();
    browser.click(".issue button").unwrap();
    browser.until_text(".issue-side", |text| text.contains("Acknowledged by")).unwrap();
    browser.picture("overview-issue-acknowledged").unwrap();
    assert_eq!(axe(browser).unwrap(), Vec::<String>::new());
}
