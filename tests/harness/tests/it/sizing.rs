//! Goal: a buyer sizes a machine without an appliance, an operator sees when the plant outgrows its
//! plan, and measuring the machine leaves nothing behind.

use anyhow::Context as _;
use millrace_harness::{Appliance, Device, wait};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;

fn example() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/sizing-plan.toml");
    file.display().to_string()
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::File::create(file)?.write_all(text.as_bytes())?;
    Ok(())
}

#[test]
fn a_plan_is_sized_without_an_appliance() -> anyhow::Result<()> {
    let appliance = Appliance::prepare(&[])?;
    let sized = appliance.cli(&["sizing", "--input", &example(), "--profile", "reference"])?;
    for words in ["Profile reference:", "1.590", "about 85 %", "c3-highcpu-4"] {
        assert!(sized.contains(words), "{words}: {sized}");
    }
    let json = appliance.cli(&["sizing", "--input", &example(), "--json"])?;
    let found: Value = serde_json::from_str(&json)?;
    assert_eq!(found["profile"]["name"], "millrace");
    let busy = found["cpu"]["busy_cores"].as_f64().context("a number")?;
    assert!(busy > 0.0 && busy < 1.5, "{busy}");
    for (name, begins) in [("sizing.xlsx", "PK"), ("sizing.html", "<!doctype html>")] {
        let file = appliance.folder().join(name);
        let out = file.display().to_string();
        appliance.cli(&["sizing", "--input", &example(), "--out", &out])?;
        assert!(std::fs::read(&file)?.starts_with(begins.as_bytes()), "{name}");
    }
    assert!(!appliance.data().exists(), "nothing was made that nobody asked for");
    Ok(())
}

#[test]
fn bad_input_is_told_in_sentences() -> anyhow::Result<()> {
    let appliance = Appliance::prepare(&[])?;
    let plan = appliance.folder().join("plan.toml");
    let path = plan.display().to_string();
    let good = std::fs::read_to_string(example())?;
    let refused = |text: &str, options: &[&str], sentence: &str| -> anyhow::Result<()> {
        write(&plan, text)?;
        let arguments = [&["sizing", "--input", &path], options].concat();
        let output = appliance.output(&arguments)?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(sentence), "{sentence}: {said}");
        Ok(())
    };
    refused(&good.replace("count = 400", "count = -400"), &[], "-400 is negative")?;
    refused(&good.replace("interval_ms = 1000", "interval_ms = 0"), &[], "It is zero")?;
    refused(&good.replace("count = 400", "count = 400_000"), &[], "at most 5000000")?;
    refused(&good.replace("count = 400", "count = nan"), &[], "not a number")?;
    refused(&good, &["--profile", "fast"], "no profile and no file 'fast'")?;
    refused(&good, &["--profile", "box"], "millrace calibrate")?;
    refused(&good, &["--out", "sizing.pdf"], "neither .xlsx")?;
    let old = appliance.folder().join("old.json");
    let profile = appliance.cli(&["sizing", "profile", "millrace"])?;
    write(&old, &profile.replacen("\"format\": 1", "\"format\": 9", 1))?;
    refused(&good, &["--profile", &old.display().to_string()], "format 9; this version reads 1")?;
    Ok(())
}

#[test]
fn the_load_is_compared_with_the_stored_plan() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    let none = appliance.output(&["sizing", "compare"])?;
    assert!(String::from_utf8_lossy(&none.stderr).contains("has no plan"), "{none:?}");
    appliance.cli(&["sizing", "set", &example()])?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/a", client.id);
    device.publish(&topic, "1")?;
    let item = |appliance: &Appliance, name: &str| -> Option<Value> {
        let found = appliance.get("/api/v1/sizing/comparison").ok()?;
        let items = found["items"].as_array()?;
        items.iter().find(|item| item["name"] == name).cloned()
    };
    let devices = wait::until("the device to be seen", || {
        item(&appliance, "devices").filter(|item| item["now"].as_f64() >= Some(1.0))
    })?;
    assert_eq!(devices["planned"], 400.0);
    wait::until("the value to be seen", || {
        item(&appliance, "values_per_s").filter(|item| item["now"].as_f64() > Some(0.0))
    })?;
    let said = appliance.cli(&["sizing", "compare"])?;
    assert!(said.contains("planned") && said.contains("10310"), "{said}");
    // A plan with faults is refused whole, and the one that is stored stays.
    let bad = json!({ "plan": { "format": 1, "name": "x" } });
    let (status, text) = appliance.send_json("PUT", "/api/v1/sizing/plan", None, &bad)?;
    assert!(status == 422 || status == 400, "{status} {text}");
    assert!(text.contains("nothing to estimate"), "{text}");
    // It outlives a restart, and who set it is written down.
    assert!(appliance.stop()?);
    appliance.start_again()?;
    assert_eq!(appliance.get("/api/v1/sizing/plan")?["plan"]["name"], "Worked example");
    let audit = appliance.get("/api/v1/audit")?;
    assert!(audit.to_string().contains("sizing.set"), "{audit}");
    appliance.cli(&["sizing", "clear"])?;
    assert_eq!(appliance.status("/api/v1/sizing/plan")?, 404);
    Ok(())
}

/// Everything that a calibration must not change.
fn belongings(appliance: &Appliance) -> anyhow::Result<Vec<String>> {
    let all = [
        "/api/v1/clients",
        "/api/v1/workspaces",
        "/api/v1/workspaces/main/tags",
        "/api/v1/workspaces/main/pipelines",
    ];
    all.iter().map(|path| Ok(appliance.get(path)?.to_string())).collect()
}

#[test]
fn a_cancelled_calibration_leaves_nothing_behind() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let before = belongings(&appliance)?;
    let path = "/api/v1/sizing/calibration";
    assert_eq!(appliance.get(path)?["state"], "idle");
    let (status, text) = appliance.send_json("POST", path, None, &Value::Null)?;
    assert_eq!(status, 202, "{text}");
    let (status, _) = appliance.send_json("POST", path, None, &Value::Null)?;
    assert_eq!(status, 409, "one at a time");
    let folder = appliance.data().join("calibration");
    wait::until("the calibration to run", || {
        let now = appliance.get(path).ok()?;
        (folder.exists() && now["left_s"].as_f64() > Some(0.0)).then_some(())
    })?;
    let (status, text) = appliance.send_json("DELETE", path, None, &Value::Null)?;
    assert_eq!(status, 200, "{text}");
    let ended = wait::until("the calibration to end", || {
        appliance.get(path).ok().filter(|now| now["state"] != "running")
    })?;
    assert_eq!(ended["state"], "cancelled", "{ended}");
    assert!(!folder.exists(), "its folder is gone");
    assert_eq!(belongings(&appliance)?, before);
    assert_eq!(appliance.status("/api/v1/sizing/profile")?, 404, "nothing was kept");
    assert_eq!(appliance.send_json("DELETE", path, None, &Value::Null)?.0, 409);
    Ok(())
}

#[test]
fn what_a_killed_calibration_leaves_goes_at_the_next_start() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    let before = belongings(&appliance)?;
    let mut calibration = appliance.spawn(&["calibrate", "--seconds", "600"])?;
    let folder = appliance.data().join("calibration");
    let running = folder.join("running.json");
    let seen = wait::until("the private box", || running.exists().then_some(()));
    calibration.kill()?;
    calibration.wait()?;
    seen?;
    assert!(folder.exists(), "a kill leaves its folder");
    assert_eq!(belongings(&appliance)?, before, "and nothing else");
    assert!(appliance.stop()?);
    appliance.start_again()?;
    assert!(!folder.exists(), "the next start removes it");
    Ok(())
}
