//! Goal: who may not write, is too fast, or sends the wrong shape learns why, and it is counted.
//! Method: one device per reason; PUBACK reason code and string, then the ledger.

use millrace_harness::{Appliance, Device, wait};

#[test]
fn a_refusal_names_its_reason_and_is_counted() -> anyhow::Result<()> {
    let appliance = Appliance::start(&["admission.client_tags_max = 3"])?;
    let client = appliance.client("press", &["--publish", "press/#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let inbox = |path: &str| format!("mr/v1/main/_ingress/{}/{path}", client.id);
    let mut check = |topic: String, payload: &str, reason: u8, text: &str| -> anyhow::Result<()> {
        let answer = device.publish(&topic, payload)?;
        assert_eq!(answer.reason, reason, "{topic} {payload}: {}", answer.text);
        assert!(answer.text.contains(text), "{topic} {payload}: {}", answer.text);
        Ok(())
    };
    check(inbox("oven/t"), "1", 0x87, "")?;
    check("mr/v1/main/_ingress/other/press/t".to_owned(), "1", 0x87, "")?;
    check("mr/v1/main/press/t".to_owned(), "1", 0x87, "")?;
    check("factory/line".to_owned(), "1", 0x83, "")?;
    check(inbox("press/t"), "{\"value\":", 0x99, "")?;
    check(inbox("press/t"), "{\"value\":1e400}", 0x99, "")?;
    check(inbox("press/t"), "{\"value\":18446744073709551616}", 0x99, "")?;
    check(inbox("press/t"), "NaN", 0x99, "")?;
    check(inbox("press/t"), &format!("{}1{}", "[".repeat(40), "]".repeat(40)), 0x99, "")?;
    check(inbox("press/t"), "{\"value\":1,\"timestamp\":\"1970-01-01T00:00:00Z\"}", 0x99, "")?;
    check(inbox("press/t"), "{\"value\":1,\"timestamp\":\"2100-01-01T00:00:00Z\"}", 0x99, "")?;
    for path in ["press/1", "press/2", "press/3"] {
        check(inbox(path), "1", 0, "")?;
    }
    check(inbox("press/4"), "1", 0x97, "")?;
    let ledger = appliance.ledger()?;
    assert_eq!(ledger["balanced"], true, "{ledger}");
    assert_eq!(ledger["stored"], 3, "{ledger}");
    assert_eq!(ledger["refused"], 12, "{ledger}");
    assert_eq!(ledger["refused_by_reason"]["not_authorized"], 3, "{ledger}");
    assert_eq!(ledger["refused_by_reason"]["topic_quota"], 1, "{ledger}");
    Ok(())
}

#[test]
fn a_client_over_its_rate_is_told_so() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let client = appliance.client("fast", &["--publish", "#", "--rate", "5"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/t", client.id);
    let mut codes = Vec::new();
    for _ in 0..30 {
        codes.push(device.publish(&topic, "1")?.reason);
    }
    assert_eq!(codes[0], 0);
    assert!(codes.contains(&0x97), "{codes:02x?}");
    // It goes on when it slows down.
    wait::until("the limit to pass", || {
        (device.publish(&topic, "1").ok()?.reason == 0).then_some(())
    })
}

#[test]
fn a_schema_is_held_strictly_or_softly() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/level", client.id);
    assert_eq!(device.publish(&topic, "1")?.reason, 0);
    appliance.patch_tag("main", "level", r#"{"schema":{"max":10,"strict":true}}"#)?;
    assert_eq!(device.publish(&topic, "11")?.reason, 0x99);
    appliance.patch_tag("main", "level", r#"{"schema":{"max":10,"strict":false}}"#)?;
    assert_eq!(device.publish(&topic, "12")?.reason, 0);
    let last = appliance.cli(&["query", "last", "main/level", "--json"])?;
    let last: serde_json::Value = serde_json::from_str(&last)?;
    assert_eq!(last["sample"]["value"], 12);
    assert_eq!(last["sample"]["quality"], 0x4094_0000);
    Ok(())
}
