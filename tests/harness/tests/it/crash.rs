//! Goal: what was acknowledged before a kill is there after it, once, and the ledger adds up.
//! Method: devices that publish while the process is killed; everything is read back by value.

use millrace_harness::{Answer, Appliance, Device, mqtt};
use std::collections::BTreeMap;

const DEVICES: usize = 8;
const WINDOW: u16 = 16;

/// Publishes counters until the connection ends; gives what was acknowledged and what was sent.
fn publish_until_cut(mut device: Device, topic: &str) -> (u64, u64) {
    let (mut sent, mut acknowledged) = (0_u64, 0_u64);
    loop {
        while sent - acknowledged < u64::from(WINDOW) {
            sent += 1;
            let id = (sent % 60_000) as u16 + 1;
            if device.send(&mqtt::publish(topic, sent.to_string().as_bytes(), id)).is_err() {
                return (acknowledged, sent);
            }
        }
        match device.answer() {
            Ok(Answer { reason: 0, .. }) => acknowledged += 1,
            Ok(answer) => panic!("refused: {answer:?}"),
            Err(_) => return (acknowledged, sent),
        }
    }
}

#[test]
fn kill_loses_nothing_that_was_acknowledged() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&["admission.workspace_rate_per_s = 0"])?;
    let options = ["--publish", "#", "--rate", "0"];
    let mut sent_total = 0;
    let mut expected = BTreeMap::new();
    for round in 0..3 {
        let mut threads = Vec::new();
        for number in 0..DEVICES {
            let client = appliance.client(&format!("d{round}-{number}"), &options)?;
            let device = Device::connect(appliance.mqtt()?, &client, "d")?;
            let path = format!("r{round}/d{number}");
            let topic = format!("mr/v1/main/_ingress/{}/{path}", client.id);
            let thread = std::thread::spawn(move || publish_until_cut(device, &topic));
            threads.push((path, thread));
        }
        // Until enough is under way that the kill hits the middle of it.
        millrace_harness::wait::until("values to be stored", || {
            let stored = appliance.ledger().ok()?["stored"].as_u64()?;
            (stored > sent_total + 500).then_some(())
        })?;
        appliance.kill()?;
        for (path, thread) in threads {
            let (acknowledged, sent) = thread.join().expect("the device's thread");
            sent_total += sent;
            expected.insert(path, (acknowledged, sent));
        }
        appliance.start_again()?;
        for (path, (acknowledged, sent)) in &expected {
            let topic = format!("main/{path}");
            let asked = appliance.output(&["query", "raw", &topic, "--from", "-1h"])?;
            let said = String::from_utf8_lossy(&asked.stderr).into_owned();
            // A device that was cut before its first value was stored has no topic.
            assert!(asked.status.success() || said.contains("no such tag"), "{path}: {said}");
            let csv = String::from_utf8(asked.stdout)?;
            let values: Vec<u64> = csv
                .lines()
                .skip(1)
                .map(|row| row.rsplit(',').next().unwrap_or("").parse().expect("a number"))
                .collect();
            let all: Vec<u64> = (1..=values.len() as u64).collect();
            assert_eq!(values, all, "{path}: in order, each once");
            assert!(values.len() as u64 >= *acknowledged, "{path}: {acknowledged} acknowledged");
            assert!(values.len() as u64 <= *sent, "{path}: {sent} sent");
        }
        let ledger = appliance.ledger()?;
        assert_eq!(ledger["balanced"], true, "{ledger}");
        assert_eq!(ledger["in_flight"], 0, "{ledger}");
    }
    Ok(())
}

#[test]
fn a_resent_value_with_source_time_counts_as_redelivered() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&["historian.default_retention = \"keep\""])?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let topic = format!("mr/v1/main/_ingress/{}/t", client.id);
    let payload = r#"{"value":7,"timestamp":"2026-03-01T12:00:00Z"}"#;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    assert_eq!(device.publish(&topic, payload)?.reason, 0);
    appliance.kill()?;
    appliance.start_again()?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    assert_eq!(device.publish(&topic, payload)?.reason, 0);
    let ledger = appliance.ledger()?;
    assert_eq!((ledger["stored"].as_u64(), ledger["redelivered"].as_u64()), (Some(1), Some(1)));
    let csv = appliance.cli(&["query", "raw", "main/t", "--from", "2026-01-01T00:00:00Z"])?;
    assert_eq!(csv.lines().count(), 2, "{csv}");
    Ok(())
}

#[test]
fn a_clean_stop_acknowledges_and_loses_nothing() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    let client = appliance.client("c", &["--publish", "#", "--rate", "0"])?;
    let device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/t", client.id);
    let thread = std::thread::spawn(move || publish_until_cut(device, &topic));
    millrace_harness::wait::until("values to be stored", || {
        (appliance.ledger().ok()?["stored"].as_u64()? > 300).then_some(())
    })?;
    assert!(appliance.stop()?, "a clean exit");
    let (acknowledged, _) = thread.join().expect("the device's thread");
    appliance.start_again()?;
    let ledger = appliance.ledger()?;
    assert_eq!(ledger["balanced"], true, "{ledger}");
    assert_eq!(ledger["interrupted"], 0, "{ledger}");
    assert_eq!(ledger["stored"].as_u64(), Some(acknowledged), "{ledger}");
    Ok(())
}
