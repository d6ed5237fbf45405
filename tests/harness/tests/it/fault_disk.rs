//! Goal: a disk that is full, read-only, locked or damaged costs nothing that was acknowledged,
//! is told with its reason, and where the cause goes away no restart is needed.
//! Method: a folder replaced by a file, a file system in memory that is too small (root only),
//! files emptied and garbled one kind at a time.

use millrace_harness::appliance::Credentials;
use millrace_harness::mount::{Mount, fill_disk};
use millrace_harness::{Appliance, Device, mqtt, wait};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

/// A journal that is full after some dozen of the values below.
const SMALL_JOURNAL: [&str; 2] = ["journal.segment_mib = 1", "journal.bytes_max_mib = 4"];
/// Bytes of one value.
const LARGE: usize = 50_000;

/// Publishes numbered texts one after the other, and counts what is acknowledged.
struct Publisher {
    acknowledged: Arc<AtomicU64>,
    thread: JoinHandle<anyhow::Result<()>>,
}

impl Publisher {
    fn start(appliance: &Appliance, client: &Credentials, count: u64) -> anyhow::Result<Self> {
        let mut device = Device::connect(appliance.mqtt()?, client, "d")?;
        let topic = format!("mr/v1/main/_ingress/{}/t", client.id);
        let acknowledged = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&acknowledged);
        let thread = std::thread::spawn(move || {
            for number in 0..count {
                let answer = device.publish(&topic, &payload(number))?;
                anyhow::ensure!(answer.reason == 0, "refused: {answer:?}");
                counter.fetch_add(1, Ordering::SeqCst);
            }
            Ok(())
        });
        Ok(Self { acknowledged, thread })
    }

    fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::SeqCst)
    }

    fn finish(self) -> anyhow::Result<()> {
        self.thread.join().expect("the publisher does not panic")
    }
}

fn payload(number: u64) -> String {
    format!("\"{number:06}{}\"", "x".repeat(LARGE))
}

fn client(appliance: &Appliance) -> anyhow::Result<Credentials> {
    appliance.client("c", &["--publish", "#", "--rate", "0"])
}

/// The numbers of the stored values of the topic, which must be in order and there once.
fn numbers(appliance: &Appliance) -> anyhow::Result<u64> {
    let values = appliance.values("main/t")?;
    for (number, value) in values.iter().enumerate() {
        assert!(value.starts_with(&format!("{number:06}x")), "at {number}: {:.20}", value);
    }
    Ok(values.len() as u64)
}

fn wait_for_issue(appliance: &Appliance, key: &str, is_open: bool) -> anyhow::Result<()> {
    let what = format!("{key} to be {}", if is_open { "raised" } else { "cleared" });
    wait::until(&what, || (appliance.has_issue(key).ok()? == is_open).then_some(()))
}

/// Puts a file where history wants to write: root cannot be kept out by rights.
fn block_history(appliance: &Appliance) -> anyhow::Result<PathBuf> {
    let folder = appliance.data().join("history/parts/1d");
    std::fs::remove_dir(&folder)?;
    std::fs::File::create(&folder)?;
    Ok(folder)
}

fn unblock_history(folder: &Path) -> anyhow::Result<()> {
    std::fs::remove_file(folder)?;
    std::fs::create_dir(folder)?;
    Ok(())
}

#[test]
fn a_stuck_reader_fills_the_journal_and_slows_devices_until_it_moves() -> anyhow::Result<()> {
    // Given history that cannot be written
    let mut appliance = Appliance::start(&SMALL_JOURNAL)?;
    let client = client(&appliance)?;
    let folder = block_history(&appliance)?;
    // When more values come than the journal holds
    let publisher = Publisher::start(&appliance, &client, 200)?;
    wait_for_issue(&appliance, "journal-full", true)?;
    // Then it says so, acknowledges nothing more, and answers questions
    wait_for_issue(&appliance, "historian-cannot-seal", true)?;
    assert_eq!(appliance.status("/health/ready")?, 503);
    assert_eq!(appliance.status("/health/live")?, 200);
    let acknowledged = publisher.acknowledged();
    assert!((20..200).contains(&acknowledged), "{acknowledged}");
    assert_eq!(numbers(&appliance)?, acknowledged);
    assert_eq!(publisher.acknowledged(), acknowledged);
    // And when history can be written, all goes on by itself
    unblock_history(&folder)?;
    publisher.finish()?;
    wait_for_issue(&appliance, "journal-full", false)?;
    wait_for_issue(&appliance, "historian-cannot-seal", false)?;
    assert_eq!(appliance.status("/health/ready")?, 200);
    assert_eq!(numbers(&appliance)?, 200);
    appliance.kill()?;
    appliance.start_again()?;
    assert_eq!(numbers(&appliance)?, 200);
    assert_eq!(appliance.ledger()?["balanced"], true);
    Ok(())
}

#[test]
fn a_kill_while_the_journal_is_full_loses_nothing_and_the_start_frees_it() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&SMALL_JOURNAL)?;
    let client = client(&appliance)?;
    let folder = block_history(&appliance)?;
    let publisher = Publisher::start(&appliance, &client, 200)?;
    wait_for_issue(&appliance, "journal-full", true)?;
    appliance.kill()?;
    let acknowledged = publisher.acknowledged();
    assert!(publisher.finish().is_err(), "the device was cut off");
    unblock_history(&folder)?;
    appliance.start_again()?;
    let there = numbers(&appliance)?;
    // What was in flight may be there as well.
    assert!((acknowledged..=acknowledged + 1).contains(&there), "{there} of {acknowledged}");
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/t", client.id);
    assert_eq!(device.publish(&topic, &payload(there))?.reason, 0);
    let ledger = appliance.ledger()?;
    assert_eq!(ledger["balanced"], true, "{ledger}");
    Ok(())
}

#[test]
fn a_full_memory_is_not_ready_and_a_stop_ends_all_the_same() -> anyhow::Result<()> {
    let mut appliance =
        Appliance::start(&["historian.memtable_mib = 4", "historian.seal_age_s = 1"])?;
    let client = client(&appliance)?;
    let folder = block_history(&appliance)?;
    let publisher = Publisher::start(&appliance, &client, 400)?;
    wait_for_issue(&appliance, "historian-cannot-seal", true)?;
    wait::until("it to say that it is not ready", || {
        (appliance.status("/health/ready").ok()? == 503).then_some(())
    })?;
    // Both memtables are full, long before the journal is.
    assert!(publisher.acknowledged() < 400);
    assert!(!appliance.has_issue("journal-full")?);
    assert!(appliance.stop()?, "a clean exit: {}", appliance.said());
    let acknowledged = publisher.acknowledged();
    assert!(publisher.finish().is_err(), "the device was told to go");
    unblock_history(&folder)?;
    appliance.start_again()?;
    let there = numbers(&appliance)?;
    assert!((acknowledged..=acknowledged + 1).contains(&there), "{there} of {acknowledged}");
    let ledger = appliance.ledger()?;
    assert_eq!(ledger["balanced"], true, "{ledger}");
    Ok(())
}

#[test]
fn a_journal_much_smaller_than_what_comes_never_stands_still() -> anyhow::Result<()> {
    // Nothing but the journal's size makes its readers move: history would wait ten minutes.
    let mut appliance = Appliance::start(&SMALL_JOURNAL)?;
    let client = client(&appliance)?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let (mut sent, mut acknowledged) = (0_u64, 0_u64);
    // 8 MB through 4 MiB, with new topics among them, as fast as the window allows.
    while acknowledged < 160 {
        while sent < 160 && sent - acknowledged < 20 {
            let path = if sent % 10 == 0 { format!("new/{sent}") } else { "t".to_owned() };
            let topic = format!("mr/v1/main/_ingress/{}/{path}", client.id);
            device.send(&mqtt::publish(&topic, payload(sent).as_bytes(), sent as u16 + 1))?;
            sent += 1;
        }
        let answer = device.answer()?;
        assert_eq!(answer.reason, 0, "{}", answer.text);
        acknowledged += 1;
    }
    appliance.kill()?;
    appliance.start_again()?;
    assert_eq!(appliance.values("main/t")?.len(), 144);
    let ledger = appliance.ledger()?;
    assert_eq!((&ledger["balanced"], &ledger["stored"]), (&true.into(), &160.into()), "{ledger}");
    assert_eq!(appliance.get("/api/v1/overview")?["tags"], 17);
    Ok(())
}

/// An appliance whose data lie on a disk of 40 MiB of its own; `None` where that cannot be.
fn on_small_disk() -> anyhow::Result<Option<(Appliance, Mount)>> {
    let mut appliance = Appliance::prepare(&[])?;
    let Some(mount) = Mount::memory(&appliance.data(), 40) else {
        println!("skipped: only root may mount a file system");
        return Ok(None);
    };
    appliance.start_again()?;
    Ok(Some((appliance, mount)))
}

#[test]
fn a_full_disk_acknowledges_nothing_and_goes_on_when_there_is_space() -> anyhow::Result<()> {
    let Some((mut appliance, _mount)) = on_small_disk()? else { return Ok(()) };
    let client = client(&appliance)?;
    let ballast = appliance.data().join("ballast");
    assert!(fill_disk(&ballast)? > 1 << 20);
    let publisher = Publisher::start(&appliance, &client, 300)?;
    wait_for_issue(&appliance, "journal-degraded", true)?;
    assert_eq!(appliance.status("/health/ready")?, 503);
    let acknowledged = publisher.acknowledged();
    assert!(acknowledged < 300);
    assert_eq!(numbers(&appliance)?, acknowledged);
    assert_eq!(publisher.acknowledged(), acknowledged);
    std::fs::remove_file(&ballast)?;
    publisher.finish()?;
    wait_for_issue(&appliance, "journal-degraded", false)?;
    assert_eq!(appliance.status("/health/ready")?, 200);
    appliance.kill()?;
    appliance.start_again()?;
    assert_eq!(numbers(&appliance)?, 300);
    let ledger = appliance.ledger()?;
    assert_eq!(ledger["balanced"], true, "{ledger}");
    Ok(())
}

#[test]
fn a_start_on_a_full_disk_waits_for_space_and_not_for_a_restart() -> anyhow::Result<()> {
    let Some((mut appliance, _mount)) = on_small_disk()? else { return Ok(()) };
    let client = client(&appliance)?;
    Publisher::start(&appliance, &client, 20)?.finish()?;
    appliance.kill()?;
    let ballast = appliance.data().join("ballast");
    fill_disk(&ballast)?;
    appliance.launch()?;
    wait::until("it to say what is wrong", || {
        appliance.said().contains("No space left").then_some(())
    })?;
    assert!(appliance.lives());
    std::fs::remove_file(&ballast)?;
    wait::until("the appliance to be ready", || {
        (appliance.status("/health/ready").ok()? == 200).then_some(())
    })?;
    assert!(appliance.lives());
    assert_eq!(numbers(&appliance)?, 20);
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = format!("mr/v1/main/_ingress/{}/t", client.id);
    assert_eq!(device.publish(&topic, &payload(20))?.reason, 0);
    // The disk of the test stays a small one, and the machine may be busy.
    let stays = |key: &String| key == "disk-low" || key == "cpu-starved";
    wait::until("all other issues to be cleared", || {
        appliance.issues().ok()?.iter().all(stays).then_some(())
    })
}

#[test]
fn a_stop_on_a_full_disk_ends_and_says_why() -> anyhow::Result<()> {
    let Some((mut appliance, _mount)) = on_small_disk()? else { return Ok(()) };
    let client = client(&appliance)?;
    let ballast = appliance.data().join("ballast");
    fill_disk(&ballast)?;
    let publisher = Publisher::start(&appliance, &client, 300)?;
    wait_for_issue(&appliance, "journal-degraded", true)?;
    assert!(!appliance.stop()?, "its last records are not on the disk");
    let said = appliance.said();
    assert!(said.contains("could not commit") && said.contains("acknowledged"), "{said}");
    let acknowledged = publisher.acknowledged();
    assert!(publisher.finish().is_err(), "the device was cut off");
    std::fs::remove_file(&ballast)?;
    appliance.start_again()?;
    let there = numbers(&appliance)?;
    assert!((acknowledged..=acknowledged + 1).contains(&there), "{there} of {acknowledged}");
    Ok(())
}

#[test]
fn a_data_folder_that_cannot_be_written_is_refused_by_name() -> anyhow::Result<()> {
    let mut appliance = Appliance::prepare(&[])?;
    let data = appliance.data();
    std::fs::File::create(&data)?;
    let said = appliance.start_refused()?;
    assert!(said.contains(&data.display().to_string()), "{said}");
    std::fs::remove_file(&data)?;
    let Some(_mount) = Mount::read_only(&data) else {
        println!("half skipped: only root may mount a file system");
        return Ok(());
    };
    let said = appliance.start_refused()?;
    assert!(said.contains(&data.display().to_string()) && said.contains("ead-only"), "{said}");
    Ok(())
}

/// Another program that holds the catalog's lock, until it is dropped.
struct Holder(std::process::Child);

impl Holder {
    fn lock(file: &Path) -> anyhow::Result<Option<Self>> {
        let script = "import sqlite3, sys\n\
                      base = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=20)\n\
                      base.execute('BEGIN EXCLUSIVE')\n\
                      print('locked', flush=True)\n\
                      sys.stdin.read()\n";
        let child = Command::new("python3")
            .args(["-c", script])
            .arg(file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = child else { return Ok(None) };
        let mut line = String::new();
        let out = child.stdout.take().expect("it is a pipe");
        BufReader::new(out).read_line(&mut line)?;
        Ok((line.trim() == "locked").then_some(Self(child)))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ended = self.0.kill().is_err() || self.0.wait().is_err();
    }
}

#[test]
fn a_locked_catalog_delays_nobody_and_is_caught_up_with() -> anyhow::Result<()> {
    let mut appliance = Appliance::start(&[])?;
    let client = client(&appliance)?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    let topic = |path: &str| format!("mr/v1/main/_ingress/{}/{path}", client.id);
    let Some(holder) = Holder::lock(&appliance.data().join("catalog.db"))? else {
        println!("skipped: there is no python3 with SQLite to lock the catalog");
        return Ok(());
    };
    // New topics are acknowledged all the same: the journal has them.
    for path in ["one", "two"] {
        assert_eq!(device.publish(&topic(path), "1")?.reason, 0);
    }
    wait_for_issue(&appliance, "catalog-cannot-write", true)?;
    assert_eq!(appliance.status("/health/ready")?, 200);
    // Nor does a start wait for whoever holds it.
    appliance.kill()?;
    appliance.start_again()?;
    let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
    assert_eq!(device.publish(&topic("three"), "1")?.reason, 0);
    drop(holder);
    wait_for_issue(&appliance, "catalog-cannot-write", false)?;
    assert!(appliance.stop()?);
    appliance.start_again()?;
    assert_eq!(appliance.get("/api/v1/overview")?["tags"], 3);
    assert_eq!(appliance.issues()?, Vec::<String>::new());
    Ok(())
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => files.extend(files_below(&path)),
            path => files.push(path),
        }
    }
    files.sort();
    files
}

fn copy_folder(from: &Path, to: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let (path, to) = {
            let entry = entry?;
            (entry.path(), to.join(entry.file_name()))
        };
        if path.is_dir() {
            copy_folder(&path, &to)?;
        } else {
            std::fs::copy(&path, &to)?;
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Debug)]
enum Damage {
    /// A bit at each of these places is turned over.
    Flip(&'static [usize]),
    Empty,
    Remove,
}

impl Damage {
    fn inflict(self, file: &Path) -> anyhow::Result<()> {
        let bytes = match self {
            Self::Remove => return Ok(std::fs::remove_file(file)?),
            Self::Empty => Vec::new(),
            Self::Flip(places) => {
                let mut bytes = std::fs::read(file)?;
                places.iter().for_each(|place| bytes[*place] ^= 0x10);
                bytes
            }
        };
        std::fs::File::create(file)?.write_all(&bytes)?;
        Ok(())
    }
}

/// A stopped appliance with 20 values in a part, 20 more in the journal only, and its folder.
struct Whole {
    appliance: Appliance,
    client: Credentials,
    pristine: PathBuf,
}

impl Whole {
    fn new() -> anyhow::Result<Self> {
        let mut appliance = Appliance::start(&[])?;
        let client = client(&appliance)?;
        let topic = format!("mr/v1/main/_ingress/{}/t", client.id);
        for half in 0..2 {
            let mut device = Device::connect(appliance.mqtt()?, &client, "d")?;
            for value in 0..20 {
                assert_eq!(device.publish(&topic, &(half * 20 + value).to_string())?.reason, 0);
            }
            if half == 0 {
                // Twice, so that there is a manifest before the last one.
                assert!(appliance.stop()?);
                appliance.start_again()?;
            }
        }
        appliance.kill()?;
        let pristine = appliance.folder().join("pristine");
        copy_folder(&appliance.data(), &pristine)?;
        Ok(Self { appliance, client, pristine })
    }

    /// Starts on the folder as it was before all damage, but for `damage`.
    fn start_with(
        &mut self,
        damage: impl FnOnce(&Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        std::fs::remove_dir_all(self.appliance.data())?;
        copy_folder(&self.pristine, &self.appliance.data())?;
        damage(&self.appliance.data())?;
        self.appliance.start_again()?;
        // Whatever is lost, the next value is taken and found.
        let mut device = Device::connect(self.appliance.mqtt()?, &self.client, "d")?;
        let topic = format!("mr/v1/main/_ingress/{}/t", self.client.id);
        assert_eq!(device.publish(&topic, "1000")?.reason, 0);
        Ok(())
    }

    /// The values of the topic but for the one that came after the damage.
    fn values(&self) -> anyhow::Result<Vec<u32>> {
        let values = self.appliance.values("main/t")?;
        let mut values: Vec<u32> =
            values.iter().map(|value| value.parse().expect("a number")).collect();
        assert_eq!(values.pop(), Some(1000));
        Ok(values)
    }
}

fn find(data: &Path, name: &str) -> PathBuf {
    let files = files_below(data);
    let found = files.iter().find(|path| path.to_string_lossy().contains(name));
    found.unwrap_or_else(|| panic!("no {name} among {files:?}")).clone()
}

#[test]
fn damage_in_each_kind_of_file_is_told_and_costs_only_what_was_there() -> anyhow::Result<()> {
    use Damage::{Empty, Flip, Remove};
    let all: Vec<u32> = (0..40).collect();
    let mut whole = Whole::new()?;
    // Which file, what happens to it, the issue that tells of it, and which values stay.
    let rows: [(&str, Damage, &str, &[u32]); 14] = [
        ("history/manifest.json", Flip(&[30]), "historian-manifest-rebuilt", &all),
        ("history/manifest.json", Empty, "historian-manifest-rebuilt", &all),
        ("history/manifest.json", Remove, "historian-manifest-rebuilt", &all),
        ("journal/cursors", Flip(&[30, 4096 + 30]), "journal-recovered-0", &all),
        ("journal/cursors", Empty, "journal-recovered-0", &all),
        ("journal/cursors", Remove, "", &all),
        // A segment's header has a copy at the segment's end.
        ("journal/segment-0001", Flip(&[20]), "", &all),
        ("journal/segment-0001", Empty, "journal-recovered-0", &all[..20]),
        ("catalog.db", Flip(&[5]), "catalog-rebuilt", &all),
        ("catalog.db", Empty, "catalog-rebuilt", &all),
        (".parquet", Flip(&[100]), "part-damaged:", &all[20..]),
        (".parquet", Empty, "part-damaged:", &all[20..]),
        (".parquet", Remove, "part-damaged:", &all[20..]),
        ("local.token", Empty, "", &all),
    ];
    for (name, damage, issue, stay) in rows {
        whole.start_with(|data| damage.inflict(&find(data, name)))?;
        let values = whole.values()?;
        let issues = whole.appliance.issues()?;
        assert_eq!(values, stay, "{name} {damage:?}: {issues:?}");
        let is_told = issues.iter().any(|key| key.starts_with(issue));
        assert!(issue.is_empty() || is_told, "{name} {damage:?}: {issues:?}");
        whole.appliance.kill()?;
    }
    Ok(())
}

#[test]
fn an_answer_without_a_missing_part_says_that_it_is_incomplete() -> anyhow::Result<()> {
    let mut whole = Whole::new()?;
    let ask = "/api/v1/workspaces/main/raw?path=t&from=-1h";
    whole.start_with(|_| Ok(()))?;
    assert!(whole.appliance.get(ask)?.get("incomplete").is_none());
    whole.appliance.kill()?;
    whole.start_with(|data| Ok(std::fs::remove_file(find(data, ".parquet"))?))?;
    let answer = whole.appliance.get(ask)?;
    assert_eq!(answer["incomplete"], true, "{answer}");
    assert_eq!(answer["items"].as_array().map(Vec::len), Some(21));
    let range = whole.appliance.get("/api/v1/workspaces/main/range?path=t&from=-1h")?;
    assert_eq!(range["incomplete"], true, "{range}");
    let output = whole.appliance.output(&["query", "raw", "main/t", "--from", "-1h"])?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("not all"), "{said}");
    Ok(())
}

#[test]
fn empty_files_in_every_folder_are_no_trouble() -> anyhow::Result<()> {
    let mut whole = Whole::new()?;
    whole.start_with(|data| {
        let mut folders: Vec<PathBuf> =
            files_below(data).iter().filter_map(|file| file.parent().map(Path::to_owned)).collect();
        folders
            .extend(["history/parts/7d", "history/quarantine", "quarantine"].map(|f| data.join(f)));
        folders.sort();
        folders.dedup();
        for folder in folders {
            std::fs::create_dir_all(&folder)?;
            for name in ["empty", "empty.new", "segment-0077.journal", "x.parquet", "x.json"] {
                std::fs::File::create(folder.join(name))?;
            }
        }
        Ok(())
    })?;
    assert_eq!(whole.values()?, (0..40).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn a_lost_journal_keeps_history_and_gives_no_number_twice() -> anyhow::Result<()> {
    let mut whole = Whole::new()?;
    whole.start_with(|data| Ok(std::fs::remove_dir_all(data.join("journal"))?))?;
    // What was in the journal alone is gone with it; what was in a part is not.
    assert_eq!(whole.values()?, (0..20).collect::<Vec<_>>());
    whole.appliance.kill()?;
    whole.appliance.start_again()?;
    assert_eq!(whole.values()?, (0..20).collect::<Vec<_>>());
    Ok(())
}
