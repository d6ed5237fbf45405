//! Goal: damaged and missing files never keep the box from starting, and lose nothing that is
//! somewhere else.
//! Method: files are removed or garbled while the appliance is stopped.

use millrace_harness::{Appliance, Device};
use std::path::{Path, PathBuf};

fn flip_a_byte(file: &Path, position: usize) -> anyhow::Result<()> {
    let mut bytes = std::fs::read(file)?;
    let byte = bytes.get_mut(position).expect("the file is long enough");
    *byte ^= 0x10;
    let mut out = std::fs::File::create(file)?;
    std::io::Write::write_all(&mut out, &bytes)?;
    Ok(())
}

fn find_part(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries.filter_map(Result::ok).map(|entry| entry.path()).find_map(|path| {
        if path.is_dir() {
            return find_part(&path);
        }
        path.extension().is_some_and(|ending| ending == "parquet").then_some(path)
    })
}

#[test]
fn a_lost_catalog_is_rebuilt_with_clients_and_secrets() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let topic = format!("mr/v1/main/_ingress/{}/plant/t", client.id);
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    assert_eq!(device.publish(&topic, "1")?.reason, 0);
    for damage in ["missing", "garbage"] {
        assert!(appliance.stop()?);
        for name in ["catalog.db", "catalog.db-wal", "catalog.db-shm"] {
            let file = appliance.data().join(name);
            if file.exists() {
                std::fs::remove_file(&file)?;
            }
        }
        if damage == "garbage" {
            let mut file = std::fs::File::create(appliance.data().join("catalog.db"))?;
            std::io::Write::write_all(&mut file, b"this is no database, not even nearly so")?;
        }
        appliance.start_again()?;
        assert!(appliance.has_issue("catalog-rebuilt")?, "{damage}");
        let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
        assert_eq!(device.publish(&topic, "2")?.reason, 0, "{damage}");
    }
    let csv = appliance.cli(&["query", "raw", "main/plant/t", "--from", "-1h"])?;
    assert_eq!(csv.lines().count(), 4, "{csv}");
    Ok(())
}

#[test]
fn a_flipped_byte_in_a_part_is_found_and_said() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/t", client.id);
    for value in 0..50 {
        assert_eq!(device.publish(&topic, &value.to_string())?.reason, 0);
    }
    assert!(appliance.stop()?);
    assert!(appliance.output(&["verify"])?.status.success(), "good before");
    let part = find_part(&appliance.data().join("history")).expect("a part");
    flip_a_byte(&part, 100)?;
    let verified = appliance.output(&["verify"])?;
    assert!(!verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    appliance.start_again()?;
    // The answer leaves the part out rather than give a wrong value.
    let csv = appliance.cli(&["query", "raw", "main/t", "--from", "-1h"])?;
    for row in csv.lines().skip(1) {
        let value: u32 = row.rsplit(',').next().unwrap_or("").parse()?;
        assert!(value < 50, "{row}");
    }
    Ok(())
}

#[test]
fn a_torn_journal_tail_is_cut() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    let client = appliance.client("c", &["--publish", "#"])?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/t", client.id);
    for value in 0..20 {
        assert_eq!(device.publish(&topic, &value.to_string())?.reason, 0);
    }
    appliance.kill()?;
    let journal = appliance.data().join("journal");
    let segment = std::fs::read_dir(&journal)?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .find(|path| {
            std::fs::read(path).is_ok_and(|bytes| {
                bytes.len() > 1 << 20 && bytes.get(8192..8200).is_some_and(|b| b != [0; 8])
            })
        })
        .expect("a segment with frames");
    let bytes = std::fs::read(&segment)?;
    let last = bytes.iter().rposition(|byte| *byte != 0).expect("something is written");
    flip_a_byte(&segment, last)?;
    appliance.start_again()?;
    let csv = appliance.cli(&["query", "raw", "main/t", "--from", "-1h"])?;
    let values: Vec<u32> = csv
        .lines()
        .skip(1)
        .map(|row| row.rsplit(',').next().unwrap_or("").parse().expect("a number"))
        .collect();
    // Only the damaged frame may be missing, and it was the last.
    assert!(values.len() >= 18, "{values:?}");
    assert_eq!(values, (0..values.len() as u32).collect::<Vec<_>>());
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    assert_eq!(device.publish(&topic, "99")?.reason, 0);
    Ok(())
}
