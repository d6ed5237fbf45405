//! Goal: a revoked client is cut off at once; wrong credentials are refused.

use millrace_harness::appliance::Credentials;
use millrace_harness::{Appliance, Device, mqtt};

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
