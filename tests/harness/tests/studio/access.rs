//! Access: people and clients are made, changed and ended by hand, and the trail tells of it.

use crate::scene::{PASSWORD, Scene, axe, look};
use millrace_harness::appliance::Credentials;
use millrace_harness::{Browser, Device, wait};

const NEW_PASSWORD: &str = "battery staple battery";
/// The buttons above a list.
const TOOLS: &str = ".access-part > .form-actions:first-child > button";
const SUBMIT: &str = "dialog[open] button[type=submit]";

fn open(scene: &Scene, part: &str) -> anyhow::Result<()> {
    scene.browser.go(&scene.address(&format!("/access/{part}"))?)?;
    scene.browser.until_text("h1", |title| title == "Access").map(drop)
}

/// The n-th button of somebody's row: role, password, account.
fn button_of(person: &str, number: u32) -> String {
    format!("tr[data-person={person}] .access-actions button:nth-of-type({number})")
}

/// Waits until the element's title is as it should be.
fn until_title(browser: &Browser, css: &str, part: &str) -> anyhow::Result<()> {
    let script = format!("const one = document.querySelector({css:?}); return one && one.title");
    wait::until(&format!("{part} as the title of {css}"), || {
        browser.run(&script).ok().filter(|title| title.as_str().is_some_and(|t| t.contains(part)))
    })
    .map(drop)
}

fn choose(browser: &Browser, css: &str, key: &str) -> anyhow::Result<()> {
    browser.find(css)?;
    let script = format!(
        "const one = document.querySelector({css:?}); one.value = {key:?};
         one.dispatchEvent(new Event('change', {{ bubbles: true }}))"
    );
    browser.run(&script).map(drop)
}

/// Types a password and the same again.
fn fill_passwords(browser: &Browser, password: &str) -> anyhow::Result<()> {
    browser.fill("dialog[open] .field:has(input[type=password]) input", password)?;
    browser.fill(
        "dialog[open] .field:has(input[type=password]) + .field input[type=password]",
        password,
    )
}

fn until_closed(browser: &Browser) -> anyhow::Result<()> {
    wait::until("the dialog to close", || {
        let open = browser.run("return Boolean(document.querySelector('dialog[open]'))").ok()?;
        (open == false).then_some(())
    })
}

fn sign_in_as(browser: &Browser, name: &str, password: &str) -> anyhow::Result<()> {
    browser.until_text("h1", |title| title == "Sign in")?;
    browser.fill("input[type=text]", name)?;
    browser.fill("input[type=password]", password)?;
    browser.click("button[type=submit]")?;
    browser.until_text(".title-bar-who", |who| who.starts_with(name)).map(drop)
}

#[test]
fn people_are_added_changed_removed_and_brought_back() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    open(&scene, "people").unwrap();
    browser.until_text("tr[data-person=anna]", |row| row.contains("(you)")).unwrap();
    until_title(browser, &button_of("anna", 3), "last admin").unwrap();

    // What is wrong is told at its field, by the page and by the appliance.
    browser.click(TOOLS).unwrap();
    browser.find("dialog[open] input").unwrap();
    browser.click(SUBMIT).unwrap();
    browser.until_text("dialog[open]", |text| text.contains("A name is needed.")).unwrap();
    browser.fill("dialog[open] input[type=text]", "anna").unwrap();
    fill_passwords(browser, PASSWORD).unwrap();
    browser.click(SUBMIT).unwrap();
    browser.until_text("dialog[open]", |text| text.contains("already one named anna")).unwrap();
    browser.picture("access-person").unwrap();
    assert_eq!(axe(browser).unwrap(), Vec::<String>::new());
    browser.fill("dialog[open] input[type=text]", "bert").unwrap();
    // Enter does what the button does.
    browser.press(&["\u{e007}"]).unwrap();
    until_closed(browser).unwrap();
    browser.until_text("tr[data-person=bert]", |row| row.contains("Viewer")).unwrap();
    look(browser, "access-people").unwrap();

    // Another role, and another password.
    browser.click(&button_of("bert", 1)).unwrap();
    choose(browser, "dialog[open] select", "admin").unwrap();
    browser.click(SUBMIT).unwrap();
    until_closed(browser).unwrap();
    browser.until_text("tr[data-person=bert]", |row| row.contains("Admin")).unwrap();
    browser.click(&button_of("bert", 2)).unwrap();
    fill_passwords(browser, NEW_PASSWORD).unwrap();
    browser.click(SUBMIT).unwrap();
    until_closed(browser).unwrap();

    // With two admins one can go, and come back.
    browser.click(&button_of("bert", 3)).unwrap();
    browser.until_text("dialog[open]", |text| text.contains("The name stays taken")).unwrap();
    browser.picture("access-remove").unwrap();
    browser.click(SUBMIT).unwrap();
    until_closed(browser).unwrap();
    browser.until_text("tr[data-person=bert]", |row| row.contains("Removed")).unwrap();
    look(browser, "access-removed").unwrap();
    browser.click(&button_of("bert", 3)).unwrap();
    browser.click(SUBMIT).unwrap();
    until_closed(browser).unwrap();
    browser.until_text("tr[data-person=bert]", |row| row.contains("In use")).unwrap();
    browser.click(&button_of("bert", 1)).unwrap();
    choose(browser, "dialog[open] select", "viewer").unwrap();
    browser.click(SUBMIT).unwrap();
    until_closed(browser).unwrap();

    // A viewer sees all of it, and why none of it can be done.
    browser.click(".title-bar > .button:last-child").unwrap();
    sign_in_as(browser, "bert", NEW_PASSWORD).unwrap();
    open(&scene, "people").unwrap();
    browser.until_text("tr[data-person=anna]", |row| row.contains("Admin")).unwrap();
    until_title(browser, TOOLS, "needs the role admin").unwrap();
    until_title(browser, &button_of("anna", 2), "needs the role admin").unwrap();
    browser.click(&button_of("anna", 2)).unwrap();
    assert_eq!(browser.run("return document.querySelectorAll('dialog[open]').length").unwrap(), 0);
    look(browser, "access-viewer").unwrap();
    open(&scene, "clients").unwrap();
    until_title(browser, TOOLS, "needs the role engineer").unwrap();
    open(&scene, "audit").unwrap();
    browser.until_text(".empty", |text| text.contains("The audit trail is for admins")).unwrap();
    // The appliance said no to a name that is taken, and to what was asked while signing out.
    let errors = browser.console_errors().unwrap();
    let is_known = |error: &String| error.contains("409") || error.contains("401");
    assert!(errors.iter().all(is_known), "{errors:#?}");
}

/// Opens the form and fills it wrongly: the page and the appliance say so at the field.
fn ask_for_a_bad_client(browser: &Browser) -> anyhow::Result<()> {
    browser.click(TOOLS)?;
    browser.fill("dialog[open] input", "press-4")?;
    browser.click(SUBMIT)?;
    browser.until_text("dialog[open]", |text| text.contains("it may do nothing"))?;
    browser.fill("dialog[open] textarea", "press-4/#/x")?;
    browser.click(SUBMIT)?;
    browser.until_text("dialog[open] .field-fault:not(:empty)", |why| why.contains("wildcard"))?;
    browser.picture("access-new-client")?;
    assert_eq!(axe(browser)?, Vec::<String>::new());
    Ok(())
}

#[test]
fn a_clients_secret_is_shown_once_renewed_and_ended() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    open(&scene, "clients").unwrap();
    browser.until_text(".empty", |text| text.contains("Add a client for each device")).unwrap();
    look(browser, "access-no-clients").unwrap();

    ask_for_a_bad_client(browser).unwrap();
    browser.fill("dialog[open] textarea", "press-4/#\nhall/+/temperature").unwrap();
    browser.click(SUBMIT).unwrap();
    let first = secret(browser, None).unwrap();
    browser.picture("access-secret").unwrap();
    assert_eq!(axe(browser).unwrap(), Vec::<String>::new());
    browser.click("dialog[open] .secret button").unwrap();
    browser
        .until_text(".toast-corner", |text| text.contains("Copied") || text.contains("copy it"))
        .unwrap();
    browser.click("dialog[open] .button-primary").unwrap();
    until_closed(browser).unwrap();
    let page = browser.run("return document.documentElement.outerHTML").unwrap();
    assert!(!page.as_str().unwrap().contains(&first.secret), "the secret is still in the page");

    // The device signs in with it; a new secret cuts it off.
    let mqtt = scene.appliance.mqtt().unwrap();
    let mut device = Device::connect(mqtt, &first, "press-4").unwrap();
    let topic = format!("mr/v1/main/_ingress/{}/press-4/temperature", first.id);
    assert_eq!(device.publish(&topic, "42.7").unwrap().reason, 0);
    browser.until_text(".table-row", |row| row.contains("press-4/#")).unwrap();
    browser.click(".table-row").unwrap();
    browser
        .until_text(".permissions", |text| text.contains("press-4 and everything below it"))
        .unwrap();
    look(browser, "access-clients").unwrap();
    browser.click(&format!("{TOOLS}:nth-of-type(3)")).unwrap();
    browser.until_text("dialog[open]", |text| text.contains("cut off at once")).unwrap();
    browser.picture("access-renew").unwrap();
    browser.click("dialog[open] .button-danger").unwrap();
    let second = secret(browser, Some(&first)).unwrap();
    browser.click("dialog[open] .button-primary").unwrap();
    until_closed(browser).unwrap();
    assert_eq!(device.receive().unwrap().first, 0xe0);
    assert!(device.is_closed());
    assert!(Device::connect(mqtt, &first, "press-4").is_err(), "the old secret is refused");
    let mut device = Device::connect(mqtt, &second, "press-4").unwrap();
    assert_eq!(device.publish(&topic, "42.8").unwrap().reason, 0);

    // Its end.
    browser.click(&format!("{TOOLS}:nth-of-type(4)")).unwrap();
    browser.until_text("dialog[open]", |text| text.contains("never comes back")).unwrap();
    browser.click("dialog[open] .button-danger").unwrap();
    until_closed(browser).unwrap();
    assert_eq!(device.receive().unwrap().first, 0xe0);
    browser.click(".access-tools .toggle").unwrap();
    browser.until_text(".table-row", |row| row.contains("Revoked")).unwrap();
    look(browser, "access-revoked").unwrap();

    // The trail tells all of it, newest first; the tabs go by the arrows.
    browser.run("document.querySelector('[role=tab][aria-selected=true]').focus()").unwrap();
    browser.press(&["\u{e014}"]).unwrap();
    browser.until_text(".roles", |text| text.contains("Read the audit trail")).unwrap();
    look(browser, "access-roles").unwrap();
    browser.run("document.querySelector('[role=tab][aria-selected=true]').focus()").unwrap();
    browser.press(&["\u{e010}"]).unwrap();
    browser.until_text(".table-row", |row| row.contains("revoked a client")).unwrap();
    assert_eq!(browser.path().unwrap(), "/access/audit");
    let trail = browser.text(".table-body").unwrap();
    for part in ["renewed a secret", "added a client", "claimed the appliance", "anna", "127.0.0.1"]
    {
        assert!(trail.contains(part), "{part} is not in: {trail}");
    }
    look(browser, "access-audit").unwrap();
    let errors = browser.console_errors().unwrap();
    assert!(errors.iter().all(|error| error.contains("422")), "{errors:#?}");
}

/// The secret that is shown, once it is another one than before.
fn secret(browser: &Browser, before: Option<&Credentials>) -> anyhow::Result<Credentials> {
    let is_new = |text: &str| text.len() > 20 && before.is_none_or(|old| old.secret != text);
    let secret = browser.until_text("dialog[open] .secret code", is_new)?;
    let inbox = "mr/v1/main/_ingress/press-4/";
    browser.until_text("dialog[open]", |text| text.contains(inbox))?;
    Ok(Credentials { id: "press-4".to_owned(), secret })
}

#[test]
fn long_lists_come_in_pages_and_names_are_only_text() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    let bad = "<img src=x onerror=window.bad=1>";
    for name in [bad, "مضخة 🏭"] {
        scene.appliance.client(name, &["--publish", "#"]).unwrap();
    }
    open(&scene, "clients").unwrap();
    browser.until_text(".table-body", |text| text.contains("onerror")).unwrap();
    browser.click(TOOLS).unwrap();
    browser.fill("dialog[open] input", "press").unwrap();
    browser.fill("dialog[open] input[inputmode]", "250").unwrap();
    browser.fill("dialog[open] textarea", "#").unwrap();
    browser.click(SUBMIT).unwrap();
    wait::until("all secrets", || {
        let count = browser.run("return document.querySelectorAll('.secrets li').length").ok()?;
        (count == 250).then_some(())
    })
    .unwrap();
    browser.picture("access-many-secrets").unwrap();
    browser.click("dialog[open] .button-primary").unwrap();
    until_closed(browser).unwrap();
    let end = ".access-part .access-part > .form-actions";
    browser.until_text(end, |text| text.contains("200 loaded")).unwrap();
    browser.click(&format!("{end} button")).unwrap();
    browser.until_text(end, |text| text.contains("252 loaded") && !text.contains("more")).unwrap();
    browser.fill(".access-tools input", "PRESS 117").unwrap();
    browser
        .until_text(".table-body", |text| text.contains("press-117") && !text.contains("press-116"))
        .unwrap();
    browser.fill(".access-tools input", "مضخة").unwrap();
    browser.until_text(".table-body", |text| text.contains("🏭")).unwrap();
    look(browser, "access-many").unwrap();
    open(&scene, "audit").unwrap();
    let end = ".access-part > .form-actions:last-child";
    browser.until_text(end, |text| text.contains("200 loaded")).unwrap();
    browser.click(&format!("{end} button")).unwrap();
    browser.until_text(end, |text| text.contains("254 loaded")).unwrap();
    assert_eq!(browser.run("return typeof window.bad").unwrap(), "undefined");
    scene.expect_quiet_console().unwrap();
}

#[test]
fn the_own_password_is_changed_and_a_clients_permissions_too() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    open(&scene, "people").unwrap();
    browser.until_text("tr[data-person=anna]", |row| row.contains("(you)")).unwrap();
    browser.click(&format!("{TOOLS}:nth-of-type(2)")).unwrap();
    let field = |number: u32| format!(".own-password > .field:nth-of-type({number}) input");
    browser.fill(&field(1), "wrong horse battery").unwrap();
    browser.fill(&field(2), NEW_PASSWORD).unwrap();
    browser.fill(&field(3), NEW_PASSWORD).unwrap();
    browser.click(SUBMIT).unwrap();
    browser.until_text("dialog[open] .field-fault:not(:empty)", |why| why.contains("old")).unwrap();
    assert_eq!(axe(browser).unwrap(), Vec::<String>::new());
    browser.picture("access-own-password").unwrap();
    browser.fill(&field(1), PASSWORD).unwrap();
    browser.click(SUBMIT).unwrap();
    until_closed(browser).unwrap();

    // Still signed in here; the client keeps its secret.
    let client = scene.appliance.client("press-4", &["--publish", "press-4/#"]).unwrap();
    open(&scene, "clients").unwrap();
    browser.until_text(".table-body", |text| text.contains("press-4/#")).unwrap();
    browser.click(".table-row").unwrap();
    browser.find(&format!("{TOOLS}:nth-of-type(2)[aria-disabled=false]")).unwrap();
    browser.click(&format!("{TOOLS}:nth-of-type(2)")).unwrap();
    browser.until_text("dialog[open]", |text| text.contains("keeps its id and secret")).unwrap();
    browser.fill("dialog[open] textarea", "oven/#").unwrap();
    assert_eq!(axe(browser).unwrap(), Vec::<String>::new());
    browser.picture("access-rights").unwrap();
    browser.click(SUBMIT).unwrap();
    until_closed(browser).unwrap();
    browser.until_text(".permissions", |text| text.contains("oven")).unwrap();
    let mut device = Device::connect(scene.appliance.mqtt().unwrap(), &client, "d").unwrap();
    let topic = format!("mr/v1/main/_ingress/{}/oven/t", client.id);
    assert_eq!(device.publish(&topic, "1").unwrap().reason, 0);

    browser.click(".title-bar > .button:last-child").unwrap();
    sign_in_as(browser, "anna", NEW_PASSWORD).unwrap();
}
