//! Sizing: without an appliance's help while one types, and with it against the real load.

use crate::scene::{Scene, axe, keep_files, look, saved};
use millrace_harness::{Browser, wait};

/// How many devices: the field behind the first group's name.
const COUNT: &str = ".sizing-name + .field input";
const VERDICT: &str = ".sizing-verdict";

fn choose(browser: &Browser, entry: &str) -> anyhow::Result<()> {
    browser.click(".sizing-tools .menu button")?;
    browser.find(".menu-list")?;
    let found = browser.run(&format!(
        "const entry = [...document.querySelectorAll('.menu-entry')].find(one => one.textContent.includes({entry:?}));
         if (entry) entry.click(); return Boolean(entry)"
    ))?;
    anyhow::ensure!(found == true, "no entry {entry}");
    Ok(())
}

#[test]
fn estimates_while_one_types_and_nobody_is_signed_in() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    browser.go(&scene.address("/sizing").unwrap()).unwrap();
    browser.until_text("h1", |title| title == "Sizing").unwrap();
    browser.until_text(VERDICT, |text| text.contains("it fits")).unwrap();
    browser.until_text(".sizing-facts", |text| text.contains("vCPU")).unwrap();
    browser.until_text(".sizing-outcome", |text| text.contains("sign in.")).unwrap();
    look(browser, "sizing").unwrap();

    // Thirty times the devices: another verdict at once, and the limit that has to be raised.
    browser.fill(COUNT, "12000").unwrap();
    browser.until_text(VERDICT, |text| text.contains("too small")).unwrap();
    let limits = browser
        .until_text(".sizing-limits", |text| text.contains("admission.workspace_rate_per_s"))
        .unwrap();
    assert!(limits.contains("raise it"), "{limits}");
    look(browser, "sizing-over").unwrap();
    browser.click(".sizing-limit-field .button").unwrap();
    browser
        .until_text(".sizing-limits li:first-child", |text| {
            !text.contains("admission.workspace_rate_per_s") || !text.contains("raise it")
        })
        .unwrap();

    // What cannot be computed with stands at its field; what was known stays.
    browser.fill(COUNT, "-5").unwrap();
    browser.until_text(".field-fault:not(:empty)", |why| why.contains("-5 is negative")).unwrap();
    browser.until_text(VERDICT, |text| text.contains("too small")).unwrap();
    browser
        .until_text(".sizing-outcome .notice", |text| text.contains("computed with: 1."))
        .unwrap();
    browser.find(".sizing-tools button[aria-disabled=true]").unwrap();
    look(browser, "sizing-fault").unwrap();

    // A reload brings the last plan that could be computed with.
    browser.go(&scene.address("/sizing").unwrap()).unwrap();
    browser.until_text(VERDICT, |text| text.contains("too small")).unwrap();
    choose(browser, "worked example").unwrap();
    browser.until_text(VERDICT, |text| text.contains("it fits")).unwrap();
    scene.expect_quiet_console().unwrap();
}

#[test]
fn plans_are_made_by_keyboard_and_saved() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    browser.go(&scene.address("/sizing").unwrap()).unwrap();
    browser.until_text(VERDICT, |text| text.contains("it fits")).unwrap();
    choose(browser, "empty plan").unwrap();
    browser.until_text(".sizing-faults", |text| text.contains("nothing to estimate")).unwrap();
    // The button in the head of the devices, by Enter: the new group's name has the focus.
    browser.run("document.querySelector('.sizing-inputs .panel .button').focus()").unwrap();
    browser.press(&["\u{e007}"]).unwrap();
    browser.find(".sizing-name input:focus").unwrap();
    browser.fill(".sizing-name input", "<b>=Press</b>").unwrap();
    browser.until_text(".sizing-group-head strong", |name| name == "<b>=Press</b>").unwrap();
    browser.until_text(VERDICT, |text| text.contains("busy")).unwrap();
    browser.until_text(".sizing-table tbody", |text| text.contains("<b>=Press</b>")).unwrap();
    // Numbers are written as the language does.
    browser.run("const s = document.querySelector('.title-bar select'); s.value = 'de'; s.dispatchEvent(new Event('change', {bubbles: true}))").unwrap();
    browser.until_text("h1", |title| title == "Auslegung").unwrap();
    browser.fill(COUNT, "1.5").unwrap();
    browser.until_text(".field-fault:not(:empty)", |why| !why.is_empty()).unwrap();
    browser.fill(COUNT, "1.500").unwrap();
    browser.until_text(".sizing-facts", |text| text.contains("1.500")).unwrap();
    look(browser, "sizing-german").unwrap();

    keep_files(browser).unwrap();
    browser.click(".sizing-tools .button-primary").unwrap();
    let (kind, sheet) = saved(browser).unwrap();
    assert!(kind.contains("spreadsheetml") && sheet.starts_with("PK"), "{kind}");
    browser.click(".sizing-tools > .button:last-child").unwrap();
    let (kind, page) = saved(browser).unwrap();
    assert!(kind == "text/html" && page.contains("&lt;b&gt;=Press"), "{kind}: {page}");
    choose(browser, "Als Datei sichern").unwrap();
    let (kind, plan) = saved(browser).unwrap();
    assert!(kind == "application/json" && plan.contains("\"count\": 1500"), "{kind}: {plan}");
    scene.expect_quiet_console().unwrap();
}

#[test]
fn the_plan_stands_beside_the_load_and_the_box_is_measured() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    browser.press(&["\u{e00a}", "7"]).unwrap();
    browser
        .until_text(".sizing-outcome", |text| text.contains("The appliance keeps no plan"))
        .unwrap();
    choose(browser, "Store on the appliance").unwrap();
    browser
        .until_text(".sizing-outcome", |text| {
            text.contains("planned") && text.contains("Values per second") && text.contains("now")
        })
        .unwrap();
    browser.run("[...document.querySelectorAll('.sizing-measure .button')][0].click()").unwrap();
    // It is cancelled; on a machine that is too busy it may have given way before, and says so.
    let ends = ["Cancelled.", "Gave way to the plant.", "Could not measure."];
    wait::until("the end of the measurement", || {
        browser.run("document.querySelector('.sizing-measure .progress .button')?.click()").ok()?;
        let text = browser.text(".sizing-measure").ok()?;
        ends.iter().any(|end| text.contains(end)).then_some(())
    })
    .unwrap();
    browser.picture("sizing-measured").unwrap();
    assert_eq!(axe(browser).unwrap(), Vec::<String>::new());
    choose(browser, "Remove from the appliance").unwrap();
    browser
        .until_text(".sizing-outcome", |text| text.contains("The appliance keeps no plan"))
        .unwrap();
    scene.expect_quiet_console().unwrap();
}
