//! Goal: what the command line says when something is not as it was meant, and that what it advises
//! works.

use millrace_harness::{Appliance, wait};
use serde_json::json;
use std::fs::File;
use std::io::Write as _;

/// What a command that must fail says.
fn refused(appliance: &Appliance, arguments: &[&str]) -> anyhow::Result<String> {
    let done = appliance.output(arguments)?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success(), "{arguments:?}: {said}");
    Ok(said)
}

/// A file with a pipeline.
fn file(appliance: &Appliance, name: &str, document: &serde_json::Value) -> anyhow::Result<String> {
    let path = appliance.folder().join(format!("{name}.json"));
    File::create(&path)?.write_all(document.to_string().as_bytes())?;
    Ok(path.to_string_lossy().into_owned())
}

/// A script that throws in its second line, by hand.
fn thrower() -> serde_json::Value {
    json!({
        "millrace": 1, "name": "thrower",
        "steps": {
            "in": { "kind": "manual" },
            "calc": { "kind": "javascript", "fields": { "code": "const a = 1;\nthrow new Error('bad')" } }
        },
        "wires": [{ "from": "in", "to": "calc" }]
    })
}

#[test]
fn what_is_not_there_is_told_with_a_command_that_shows_what_is() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let path = file(&appliance, "thrower", &thrower())?;
    appliance.cli(&["pipeline", "import", &path, "--deploy"])?;
    let check = |arguments: &[&str], expected: &str| -> anyhow::Result<()> {
        let said = refused(&appliance, arguments)?;
        assert!(said.contains(expected), "{arguments:?}: {said}");
        // The commands that it names can be typed.
        for command in said.split('`').filter_map(|part| part.strip_prefix("millrace ")) {
            let words: Vec<_> = command.split_whitespace().collect();
            appliance.cli(&words)?;
        }
        Ok(())
    };
    let runs = "`millrace pipeline runs thrower` lists its runs";
    check(&["pipeline", "cancel", "thrower", "1-99"], runs)?;
    check(&["pipeline", "trigger", "thrower", "--again", "1-99"], runs)?;
    check(&["pipeline", "runs", "thrower", "1-99"], runs)?;
    check(&["pipeline", "cancel", "nobody", "1-99"], "`millrace pipeline list`")?;
    check(
        &["pipeline", "deploy", "thrower", "--revision", "7"],
        "`millrace pipeline show thrower`",
    )?;
    check(&["pipeline", "diff", "thrower", "--from", "7"], "`millrace pipeline show thrower`")?;
    check(&["pipeline", "show", &path], "is a file, and this takes the name")?;
    check(&["query", "last", "press-4/flow"], "did you mean main/press-4/flow?")?;
    check(&["query", "last", "main/press-4/flow"], "`millrace tag list main`")?;
    check(&["query", "raw", "main/press-4/#"], "`millrace tag list main/press-4`")?;
    check(&["secret", "remove", "gone"], "`millrace secret list`")?;
    check(&["variable", "remove", "gone"], "`millrace variable list`")?;
    check(&["client", "revoke", "gone"], "`millrace client list`")?;
    check(&["issues", "acknowledge", "gone"], "`millrace issues`")?;
    check(&["pipeline", "runs", "thrower", "--from", "soon"], "'soon' is no time")?;
    check(&["pipeline", "list", "lab"], "this version has one, 'main'")?;
    Ok(())
}

#[test]
fn a_pipeline_that_cannot_be_started_by_hand_says_what_can_be_done() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let path = file(&appliance, "thrower", &thrower())?;
    appliance.cli(&["pipeline", "import", &path])?;
    let said = refused(&appliance, &["pipeline", "trigger", "thrower"])?;
    assert!(said.contains("`millrace pipeline deploy thrower`"), "{said}");
    appliance.cli(&["pipeline", "deploy", "thrower"])?;
    // A file is compared with the pipeline of its name.
    assert!(appliance.cli(&["pipeline", "diff", &path])?.contains("They do the same."));
    let said = refused(&appliance, &["pipeline", "remove", "thrower"])?;
    assert!(said.contains("`millrace pipeline undeploy thrower`"), "{said}");
    let other = json!({
        "millrace": 1, "name": "scheduled",
        "steps": {
            "often": { "kind": "schedule", "fields": { "every_ms": 60_000 } },
            "note": { "kind": "log", "fields": { "message": "x" } }
        },
        "wires": [{ "from": "often", "to": "note" }]
    });
    let path = file(&appliance, "scheduled", &other)?;
    appliance.cli(&["pipeline", "import", &path, "--deploy"])?;
    let said = refused(&appliance, &["pipeline", "trigger", "scheduled"])?;
    assert!(said.contains("no `manual` trigger"), "{said}");
    Ok(())
}

#[test]
fn a_script_that_throws_is_told_with_its_line_once() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let path = file(&appliance, "thrower", &thrower())?;
    appliance.cli(&["pipeline", "import", &path, "--deploy"])?;
    let done = appliance.output(&["pipeline", "trigger", "thrower"])?;
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let first = said.lines().next().unwrap_or_default();
    assert!(first.contains("step `calc`: line 2: Error: bad (script)"), "{said}");
    assert_eq!(first.matches("line").count(), 1, "{said}");
    wait::until("the run to be counted", || {
        let listed = appliance.cli(&["pipeline", "list"]).ok()?;
        (listed.contains("1 run ended since 20") && listed.contains("1 failed")).then_some(())
    })?;
    // What was canceled has stopped: both words are taken.
    appliance.cli(&["pipeline", "runs", "thrower", "--status", "canceled,stopped"])?;
    Ok(())
}

#[test]
fn a_deployment_says_that_its_secrets_cannot_be_opened() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    let document = json!({
        "millrace": 1, "name": "hook",
        "steps": {
            "in": { "kind": "http", "fields": { "path": "orders", "secret": { "secret": "token" } } },
            "note": { "kind": "log", "fields": { "message": "x" } }
        },
        "wires": [{ "from": "in", "to": "note" }]
    });
    let path = file(&appliance, "hook", &document)?;
    let set = appliance.output_of(&["secret", "set", "token"], "hunter2")?;
    assert!(set.status.success(), "{set:?}");
    appliance.cli(&["pipeline", "import", &path, "--deploy"])?;
    assert!(appliance.stop()?);
    File::create(appliance.data().join("secret.key"))?.write_all(b"0123")?;
    appliance.start_again()?;
    let said = refused(&appliance, &["pipeline", "deploy", "hook"])?;
    assert!(
        said.contains("step `in`, field `secret`: the secret `token` cannot be opened"),
        "{said}"
    );
    assert!(said.contains("restore secret.key"), "{said}");
    assert!(appliance.has_issue("secret-key-unreadable")?);
    Ok(())
}
