//! Goal: a clock that jumps takes no history with it, is told, and a person can say it is right.
//! Method: nobody may set the machine's clock for a test, so the time that history has noted last
//! is set instead: to the next start its own clock then looks 60 days ahead, or an hour behind.
//! What happens while the process runs is in the historian's own tests, which have a test clock.

use millrace_harness::{Appliance, Device, wait};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// CRC-32C, bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
    let byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc));
    !bytes.iter().fold(!0, byte)
}

/// Moves the time that history has noted last by so many nanoseconds.
fn shift_noted_time(data: &Path, nanos: i64) -> anyhow::Result<()> {
    let file = data.join("history/manifest.json");
    let text = std::fs::read_to_string(&file)?;
    let (json, _) = text.split_once('\n').expect("a line and its checksum");
    let mut manifest: serde_json::Value = serde_json::from_str(json)?;
    let noted = manifest["wall_time_max"].as_i64().expect("a time");
    manifest["wall_time_max"] = (noted + nanos).into();
    let json = serde_json::to_string(&manifest)?;
    let text = format!("{json}\ncrc32c {:08x}\n", crc32c(json.as_bytes()));
    std::fs::File::create(&file)?.write_all(text.as_bytes())?;
    Ok(())
}

/// A stopped appliance with a part that is two days old and of the class 1d: the next look at
/// a believed clock removes it.
fn with_expired_part() -> anyhow::Result<Appliance> {
    let mut appliance = Appliance::start(&["historian.default_retention = \"keep\""])?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/t", client.id);
    assert_eq!(device.publish(&topic, "1")?.reason, 0);
    let payload = format!("{{\"value\":2,\"timestamp\":{}}}", two_days_ago_nanos()?);
    let answer = device.publish(&topic, &payload)?;
    assert_eq!(answer.reason, 0, "{}", answer.text);
    appliance.patch_tag("main", "t", r#"{"retention":"1d"}"#)?;
    assert!(appliance.stop()?);
    Ok(appliance)
}

fn two_days_ago_nanos() -> anyhow::Result<u128> {
    // The time of a new file is the machine's clock.
    let now = tempfile::tempfile()?.metadata()?.modified()?;
    Ok((now - 2 * DAY).duration_since(UNIX_EPOCH)?.as_nanos())
}

fn rows(appliance: &Appliance) -> anyhow::Result<usize> {
    Ok(appliance.cli(&["query", "raw", "main/t", "--from", "-7d"])?.lines().count() - 1)
}

fn wait_for_rows(appliance: &Appliance, count: usize) -> anyhow::Result<()> {
    wait::until("the old part to go", || (rows(appliance).ok()? == count).then_some(()))
}

#[test]
fn a_clock_that_is_right_lets_old_history_go() -> anyhow::Result<()> {
    let mut appliance = with_expired_part()?;
    appliance.start_again()?;
    wait_for_rows(&appliance, 1)?;
    assert!(!appliance.has_issue("clock-in-doubt")?);
    Ok(())
}

#[test]
fn a_clock_sixty_days_ahead_removes_nothing_until_a_person_says_it_is_right() -> anyhow::Result<()>
{
    let mut appliance = with_expired_part()?;
    shift_noted_time(&appliance.data(), -i64::try_from((60 * DAY).as_nanos())?)?;
    appliance.start_again()?;
    wait::until("the jump to be told", || {
        appliance.has_issue("clock-in-doubt").ok()?.then_some(())
    })?;
    assert_eq!(rows(&appliance)?, 2);
    appliance.post("/api/v1/issues/clock-in-doubt/acknowledge")?;
    wait_for_rows(&appliance, 1)?;
    assert!(!appliance.has_issue("clock-in-doubt")?);
    // And it stays right after the next start.
    assert!(appliance.stop()?);
    appliance.start_again()?;
    assert_eq!(rows(&appliance)?, 1);
    assert!(!appliance.has_issue("clock-in-doubt")?);
    Ok(())
}

#[test]
fn a_clock_an_hour_behind_alarms_nobody() -> anyhow::Result<()> {
    let mut appliance = with_expired_part()?;
    shift_noted_time(&appliance.data(), i64::try_from(HOUR.as_nanos())?)?;
    appliance.start_again()?;
    // The part is older than its class by more than an hour, so it goes.
    wait_for_rows(&appliance, 1)?;
    assert!(!appliance.has_issue("clock-in-doubt")?);
    Ok(())
}
