//! Goal: what an operator relies on: health, metrics, one instance a folder, clear faults.

use millrace_harness::{Appliance, Device};

#[test]
fn metrics_and_health_answer() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let text = appliance.text("/metrics")?;
    assert!(text.contains("# TYPE millrace_stored_values_total counter"), "{text}");
    assert!(text.contains("millrace_refused_values_total{reason=\"rate_limited\"} 0"), "{text}");
    assert!(appliance.text("/health/live")?.contains("live"));
    assert!(appliance.text("/health/ready")?.contains("ready"));
    Ok(())
}

#[test]
fn a_second_instance_on_the_same_folder_is_refused() -> anyhow::Result<()> {
    let appliance = Appliance::start(&[])?;
    let second = appliance.output(&["run"])?;
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(!second.status.success());
    assert!(said.contains("in use by another") && said.contains("--data"), "{said}");
    // The first one did not suffer.
    assert!(appliance.text("/health/ready")?.contains("ready"));
    Ok(())
}

#[test]
fn a_faulty_configuration_is_told_whole() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    assert!(appliance.stop()?);
    appliance.configure(&["broker.listen = \"0.0.0.0:1883\"", "log.level = \"loud\""])?;
    let check = appliance.output(&["check"])?;
    let said = String::from_utf8_lossy(&check.stderr).into_owned();
    assert!(!check.status.success());
    assert!(said.contains("allow_plain_mqtt") && said.contains("log.level"), "{said}");
    Ok(())
}

#[cfg(unix)]
#[test]
fn the_data_folder_is_for_its_owner_only() -> anyhow::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let appliance = Appliance::start(&[])?;
    let mode = |path: std::path::PathBuf| -> anyhow::Result<u32> {
        Ok(std::fs::metadata(path)?.permissions().mode() & 0o777)
    };
    assert_eq!(mode(appliance.data())?, 0o700);
    for file in ["local.token", "running.json"] {
        assert_eq!(mode(appliance.data().join(file))?, 0o600, "{file}");
    }
    Ok(())
}

#[test]
fn ten_thousand_new_topics_are_few_transactions() -> anyhow::Result<()> {
    let appliance = Appliance::start(&["admission.workspace_rate_per_s = 0"])?;
    let client = appliance.client("c", &["--publish", "#", "--rate", "0"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/all", client.id);
    let mut values = String::new();
    for number in 0..10_000 {
        if number > 0 {
            values.push(',');
        }
        values.push_str(&format!("\"t{number}\":{number}"));
    }
    let answer = device.publish(&topic, &format!("{{\"values\":{{{values}}}}}"))?;
    assert_eq!(answer.reason, 0, "{}", answer.text);
    let overview = appliance.get("/api/v1/overview")?;
    assert_eq!(overview["tags"], 10_000, "{overview}");
    Ok(())
}
