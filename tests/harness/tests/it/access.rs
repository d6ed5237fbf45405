//! Goal: a revoked client is cut off at once; wrong credentials are refused.

use millrace_harness::appliance::Credentials;
use millrace_harness::{Appliance, Device, mqtt, wait};

#[test]
fn a_revoked_client_is_cut_off_at_once() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/t", client.id);
    assert_eq!(device.publish(&topic, "1")?.reason, 0);
    appliance.cli(&["client", "revoke", &client.id])?;
    let last = device.receive()?;
    assert_eq!((last.first, last.body.first()), (0xe0, Some(&0x87)), "{last:02x?}");
    assert!(device.is_closed());
    assert!(Device::connect(appliance.mqtt()?, &client, "d").is_err());
    Ok(())
}

/// The claim code that was shown last and is not `before`. It is shown after the appliance answers.
fn claim_code(appliance: &Appliance, before: &str) -> anyhow::Result<String> {
    wait::until("a claim code", || {
        let shown = appliance.announced();
        // A line that is not whole yet has no end.
        let whole = shown.rsplit_once('\n')?.0;
        let line = whole.lines().rev().find_map(|line| line.trim().strip_prefix("claim "))?;
        let code = line.split_whitespace().next()?;
        (code != before).then(|| code.to_owned())
    })
}

#[test]
fn the_first_admin_is_made_on_the_command_line_with_the_code_that_is_shown() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let code = claim_code(&appliance, "")?;
    assert!(appliance.announced().contains(&format!("`millrace claim {code} NAME`")));
    let claim = |code: &str, name: &str, password: &str| -> anyhow::Result<(bool, String)> {
        let done = appliance.output_of(&["claim", code, name], password)?;
        let said = [done.stdout, done.stderr].concat();
        Ok((done.status.success(), String::from_utf8_lossy(&said).into_owned()))
    };
    // A wrong code and a password that will not do leave the code good.
    let (is_done, said) = claim("2222-2222-2222-2222", "anna", "a long password")?;
    assert!(!is_done && said.contains("not the one that the appliance showed last"), "{said}");
    let (is_done, said) = claim(&code, "anna", "short")?;
    assert!(!is_done && said.contains("password"), "{said}");
    assert!(!said.contains("short\""), "a password is not repeated: {said}");
    // With a line break at its end, as `echo` gives it.
    let (is_done, said) = claim(&code, "anna", "a long password\n")?;
    assert!(is_done && said.contains("anna is the first admin"), "{said}");
    let login = serde_json::json!({ "name": "anna", "password": "a long password" });
    let (status, body) = appliance.send_json("POST", "/api/v1/login", None, &login)?;
    assert_eq!(status, 200, "{body}");
    let session: serde_json::Value = serde_json::from_str(&body)?;
    assert_eq!(session["role"], "admin", "{session}");
    let (is_done, said) = claim(&code, "bert", "another password")?;
    assert!(!is_done && said.contains("has its first admin already"), "{said}");
    Ok(())
}

#[test]
fn a_claim_code_that_was_tried_wrongly_too_often_is_shown_anew() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let code = claim_code(&appliance, "")?;
    for _ in 0..5 {
        let done = appliance.output_of(&["claim", "2222-2222-2222-2222", "anna"], "a password")?;
        assert!(!done.status.success());
    }
    claim_code(&appliance, &code)?;
    Ok(())
}

#[test]
fn wrong_credentials_are_refused_in_both_versions() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let wrong = Credentials { id: client.id, secret: "guess".to_owned() };
    for (level, code) in [(5, 0x86), (4, 4)] {
        let mut device = Device::open(appliance.mqtt()?)?;
        device.send(&mqtt::connect(level, "d", &wrong))?;
        let connack = device.receive()?;
        assert_eq!((connack.first, connack.body.get(1)), (0x20, Some(&code)), "level {level}");
        assert!(device.is_closed());
    }
    Ok(())
}

#[test]
fn a_device_cannot_take_over_another_clients_session() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let one = appliance.client("one", &["--publish", "#"])?;
    let two = appliance.client("two", &["--publish", "#"])?;
    let mut first = Device::connect(appliance.mqtt()?, &one, "same")?;
    let _second = Device::connect(appliance.mqtt()?, &two, "same")?;
    let topic = format!("mr/v1/main/_ingress/{}/t", one.id);
    assert_eq!(first.publish(&topic, "1")?.reason, 0);
    // The same client with the same MQTT client id takes its own session over.
    let _third = Device::connect(appliance.mqtt()?, &one, "same")?;
    let last = first.receive()?;
    assert_eq!((last.first, last.body.first()), (0xe0, Some(&0x8e)), "{last:02x?}");
    Ok(())
}
