//! The script editor: faults at their line, names by keyboard, and the plain field without it.

use crate::scene::{Scene, look};
use anyhow::Context as _;
use millrace_harness::{Browser, wait};
use serde_json::{Value, json};
use std::io::Write as _;

const ENTER: &str = "\u{e007}";
const TAB: &str = "\u{e004}";
const CONTROL: &str = "\u{e009}";

/// The page's script that reads the editor's lines and what is marked.
const READ: &str = "
    const root = document.querySelector('.script-ready')?.shadowRoot;
    if (!root) return null;
    const lines = [...root.querySelectorAll('.cm-line')];
    const marked = lines.findIndex(line => line.classList.contains('fault-line'));
    return {
      lines: lines.map(line => line.textContent),
      marked: marked + 1,
      marks: root.querySelectorAll('.fault-mark').length,
      message: root.querySelector('.fault-message')?.textContent ?? '',
      said: root.querySelector('[role=status]').textContent,
      offered: [...root.querySelectorAll('.cm-tooltip-autocomplete li')]
        .map(entry => entry.textContent),
      focused: document.activeElement?.classList.contains('script-editor') ?? false,
    };";

fn until(browser: &Browser, what: &str, good: impl Fn(&Value) -> bool) -> anyhow::Result<Value> {
    let mut last = Value::Null;
    let found = wait::until(what, || {
        last = browser.run(READ).ok()?;
        good(&last).then(|| last.clone())
    });
    found.with_context(|| format!("the editor was: {last}"))
}

fn lines(read: &Value) -> Vec<&str> {
    read["lines"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Types into whatever has the focus, letter by letter.
fn type_text(browser: &Browser, text: &str) -> anyhow::Result<()> {
    text.chars().try_for_each(|letter| {
        let key = if letter == '\n' { ENTER.to_owned() } else { letter.to_string() };
        browser.press(&[&key])
    })
}

/// Puts another text into the editor, by keyboard.
fn retype(browser: &Browser, text: &str) -> anyhow::Result<()> {
    browser.press(&[CONTROL, "a"])?;
    type_text(browser, text)
}

/// A pipeline of two steps, opened in the designer, with `in` chosen by keyboard.
fn designer(scene: &Scene) -> anyhow::Result<()> {
    let document = json!({
        "millrace": 1, "name": "scripted",
        "steps": {
            "in": { "kind": "uns.subscribe", "fields": { "filters": ["oven/#"] } },
            "work": { "kind": "javascript", "fields": { "code": "return $item.value;" } },
        },
        "wires": [{ "from": "in", "port": "out", "to": "work" }],
    });
    let file = scene.appliance.folder().join("scripted.json");
    std::fs::File::create(&file)?.write_all(document.to_string().as_bytes())?;
    let file = file.to_str().context("a path that is text")?;
    scene.appliance.cli(&["pipeline", "import", file])?;
    let browser = &scene.browser;
    browser.go(&scene.address("/pipelines/main/scripted")?)?;
    browser.find(".canvas .step")?;
    browser.run(
        "window.violations = [];
         document.addEventListener('securitypolicyviolation',
           event => window.violations.push(event.violatedDirective + ' ' + event.blockedURI));
         document.querySelector('.canvas').focus();",
    )?;
    browser.press(&[TAB])?;
    browser.find("#field-in-id").map(drop)
}

/// The designer with the script of `work` in the editor, which has the focus; `None` where the bundle
/// was made without npm and has no editor.
fn script(scene: &Scene) -> anyhow::Result<Option<()>> {
    let browser = &scene.browser;
    scene.claim()?;
    designer(scene)?;
    let is_bundled = browser.run_later(
        "const done = arguments[arguments.length - 1];
         millrace.load('script').then(() => done(true), () => done(false));",
    )?;
    if is_bundled == json!(false) {
        println!("skipped: the bundle was made without npm and has no editor");
        return Ok(None);
    }
    browser.press(&[TAB])?;
    browser.find("#field-work-id")?;
    browser.press(&[ENTER])?;
    let first = until(browser, "the editor", |read| read["focused"] == json!(true))?;
    anyhow::ensure!(lines(&first) == ["return $item.value;"], "{first}");
    Ok(Some(()))
}

#[test]
fn faults_stand_at_their_line_until_they_are_mended() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let Some(()) = script(&scene).unwrap() else { return };
    let browser = &scene.browser;
    // When the text is no JavaScript, then the line is marked, and told.
    retype(browser, "const a = 1;\nconst b = (a;\nreturn b;").unwrap();
    let bad = until(browser, "a mark", |read| read["marks"] == json!(1)).unwrap();
    assert_eq!(bad["marked"], json!(2), "{bad}");
    assert!(bad["message"].as_str().unwrap().contains("not JavaScript"), "{bad}");
    assert!(bad["said"].as_str().unwrap().starts_with("line 2: "), "{bad}");
    // Mended, the mark is gone.
    retype(browser, "const a = 1;\nconst b = (a);\nreturn b;").unwrap();
    until(browser, "no mark", |read| read["marks"] == json!(0) && read["said"] == json!(""))
        .unwrap();
    // Tab leaves it. Its styles are constructed, and the page's policy had nothing to refuse.
    browser.press(&[TAB]).unwrap();
    until(browser, "another field", |read| read["focused"] == json!(false)).unwrap();
    let styles = browser
        .run(
            "const root = document.querySelector('.script-editor').shadowRoot;
             return [root.adoptedStyleSheets.length > 0, root.querySelectorAll('style').length,
               window.violations];",
        )
        .unwrap();
    assert_eq!(styles, json!([true, 0, []]));
    scene.expect_quiet_console().unwrap();
}

#[test]
fn what_a_test_run_throws_stands_at_its_line() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let Some(()) = script(&scene).unwrap() else { return };
    let browser = &scene.browser;
    retype(browser, "const a = 1;\nreturn nothing.at + a;").unwrap();
    until(browser, "the text", |read| lines(read).len() == 2).unwrap();
    browser.fill(".test-input", "{\"value\": 5}").unwrap();
    browser.click(".test .form-actions button").unwrap();
    let thrown = until(browser, "what was thrown", |read| read["marks"] == json!(1)).unwrap();
    assert_eq!(thrown["marked"], json!(2), "{thrown}");
    assert!(thrown["message"].as_str().unwrap().contains("not defined"), "{thrown}");
    browser.picture("script-light").unwrap();
    // The next change forgets it.
    browser.run("document.querySelector('.script-editor').focus()").unwrap();
    retype(browser, "return 1;").unwrap();
    until(browser, "no mark", |read| read["marks"] == json!(0)).unwrap();
    scene.expect_quiet_console().unwrap();
}

#[test]
fn names_are_offered_and_taken_by_keyboard() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let Some(()) = script(&scene).unwrap() else { return };
    let browser = &scene.browser;
    browser.fill(".test-input", "{\"value\": 5, \"quality\": \"good\"}").unwrap();
    browser.run("document.querySelector('.script-editor').focus()").unwrap();
    // What the sample holds.
    retype(browser, "return $item.").unwrap();
    let fields = json!(["quality\"good\"", "value5"]);
    until(browser, "the fields", |read| read["offered"] == fields).unwrap();
    type_text(browser, "va").unwrap();
    until(browser, "one field", |read| read["offered"] == json!(["value5"])).unwrap();
    rest(browser).unwrap();
    browser.press(&[ENTER]).unwrap();
    until(browser, "the field", |read| lines(read) == ["return $item.value"]).unwrap();
    // The library, with its arguments.
    type_text(browser, " + mill.cla").unwrap();
    until(browser, "the library", |read| read["offered"] == json!(["clamp(x, low, high)"]))
        .unwrap();
    rest(browser).unwrap();
    browser.press(&[ENTER]).unwrap();
    until(browser, "the call", |read| lines(read) == ["return $item.value + mill.clamp"]).unwrap();
    // A step before this one by its name, with the bracket closed.
    type_text(browser, "($step[\"").unwrap();
    until(browser, "the steps", |read| read["offered"] == json!(["inuns.subscribe"])).unwrap();
    rest(browser).unwrap();
    browser.press(&[ENTER]).unwrap();
    let text = "return $item.value + mill.clamp($step[\"in\"]";
    until(browser, "the step", |read| lines(read) == [text]).unwrap();
    // Undo is the editor's while it has the focus: the steps are all there.
    browser.press(&[CONTROL, "z"]).unwrap();
    until(browser, "undone", |read| lines(read).concat().len() < text.len()).unwrap();
    let steps = browser.run("return document.querySelectorAll('.canvas .step').length").unwrap();
    assert_eq!(steps, json!(2));
    browser.press(&[TAB]).unwrap();
    look(browser, "script").unwrap();
    scene.expect_quiet_console().unwrap();
}

/// Lets the list of names stand as long as the editor wants before a key chooses from it, by the
/// page's own clock: so nobody chooses what they have not seen.
fn rest(browser: &Browser) -> anyhow::Result<()> {
    let now = || browser.run("return performance.now()").ok()?.as_f64();
    let seen = now().context("the page's clock")?;
    wait::until("a list that was seen", || (now()? - seen > 100.0).then_some(()))
}

#[test]
fn without_the_editor_a_plain_field_remains_and_says_so() {
    let Some(scene) = Scene::open(&[]).unwrap() else { return };
    let browser = &scene.browser;
    scene.claim().unwrap();
    designer(&scene).unwrap();
    browser.run("millrace.load = () => Promise.reject(new Error('no such part'))").unwrap();
    browser.press(&[TAB]).unwrap();
    browser
        .until_text(".inspector", |text| text.contains("could not be loaded (no such part)"))
        .unwrap();
    browser.fill("#field-work-code", "return 1;\nreturn 2;").unwrap();
    browser.until_text(".script-numbers", |text| text.contains('2')).unwrap();
    // It is a part of the document like any other text.
    browser
        .until_text(".designer-bar .muted", |text| text.to_lowercase().contains("draft"))
        .unwrap();
    scene.expect_quiet_console().unwrap();
}
