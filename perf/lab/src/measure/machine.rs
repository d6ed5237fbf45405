//! The machine, the build and the disk, for the head of a result file and for its counters.
//!
//! **Invariants**
//! - A figure that the kernel does not give is `None`, never a guess.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Who measured: enough to tell two result files apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) memory_mb: u64,
    pub(crate) kernel: String,
    pub(crate) virtual_machine: bool,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Build {
    pub(crate) version: Option<String>,
    pub(crate) revision: Option<String>,
    /// True when the checkout had changes that are in no revision.
    pub(crate) modified: Option<bool>,
    /// Of the binary under test, judged by its folder name.
    pub(crate) profile: String,
    /// A sum of the binary's bytes; only in result sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) binary: Option<String>,
}

impl Machine {
    /// For a sentence.
    pub(crate) fn named(&self) -> String {
        let Self { cpu, cores, memory_mb, kernel, .. } = self;
        format!("{cpu}, {cores} cores, {memory_mb} MB, Linux {kernel}")
    }
}

impl Build {
    /// For a sentence.
    pub(crate) fn named(&self) -> String {
        let revision = self.revision.as_deref().unwrap_or("no known commit");
        let changes = if self.modified == Some(true) { " with changes" } else { "" };
        format!("{revision}{changes} ({})", self.profile)
    }
}

/// Reads the machine.
pub(crate) fn machine() -> Machine {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("unknown", |rest| rest.trim_start_matches([' ', '\t', ':']));
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Machine {
        cpu: model.to_owned(),
        // Not what this process may use: the lab is pinned to one of them.
        cores: cpuinfo.lines().filter(|line| line.starts_with("processor")).count(),
        memory_mb: number_of(&memory, "MemTotal:") / 1024,
        kernel: release.trim().to_owned(),
        virtual_machine: cpuinfo.contains("hypervisor"),
    }
}

/// Reads the build: the binary's own version and the checkout it lies in, where there is one.
pub(crate) fn build(appliance: Option<&Path>) -> Build {
    let version = appliance.and_then(|path| output_of(Command::new(path).arg("version")));
    let revision = output_of(Command::new("git").args(["rev-parse", "--short=12", "HEAD"]));
    let modified = revision
        .is_some()
        .then(|| output_of(Command::new("git").args(["status", "--porcelain", "-uno"])).is_some());
    let folder = appliance.and_then(Path::parent).and_then(Path::file_name);
    let profile = folder.map_or("unknown".into(), |name| name.to_string_lossy().into_owned());
    Build { version, revision, modified, profile, binary: None }
}

/// A sum that two different programs hardly share (FNV-1a over words of eight bytes).
pub(crate) fn sum_of(file: &Path) -> std::io::Result<String> {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for chunk in fs::read(file)?.chunks(8) {
        let mut word = [0; 8];
        for (place, byte) in word.iter_mut().zip(chunk) {
            *place = *byte;
        }
        sum = (sum ^ u64::from_le_bytes(word)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    Ok(format!("{sum:016x}"))
}

/// Time of all cores since the start of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CoreTimes {
    /// The load's and the server's included.
    pub(crate) busy: Duration,
    /// What the host gave to other virtual machines while a core here wanted to run.
    pub(crate) stolen: Duration,
}

/// Reads the times of all cores.
pub(crate) fn core_times() -> CoreTimes {
    core_times_of(&fs::read_to_string("/proc/stat").unwrap_or_default())
}

fn core_times_of(stat: &str) -> CoreTimes {
    let per_second = rustix::param::clock_ticks_per_second();
    let mut times = CoreTimes::default();
    let total = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
    for (at, word) in total.enumerate() {
        let ticks: u64 = word.parse().unwrap_or(0);
        let time = Duration::from_millis(ticks * 1_000 / per_second);
        match at {
            // user nice system idle iowait irq softirq steal
            0..=2 | 5 | 6 => times.busy += time,
            7 => times.stolen += time,
            _ => {}
        }
    }
    times
}

/// Counters of the block device that a folder lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DiskCounters {
    pub(crate) writes: u64,
    pub(crate) written_bytes: u64,
    pub(crate) busy_ms: u64,
}

/// None when the folder lies on no block device that the kernel counts (tmpfs, overlay).
pub(crate) fn disk_counters(folder: &Path) -> Option<DiskCounters> {
    let device = fs::metadata(folder).ok()?.dev();
    let text = fs::read_to_string("/proc/diskstats").ok()?;
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    parse_diskstats(&text, major, minor)
}

fn parse_diskstats(text: &str, major: u32, minor: u32) -> Option<DiskCounters> {
    text.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| fields.get(at).and_then(|word| word.parse::<u64>().ok());
        if number(0)? != u64::from(major) || number(1)? != u64::from(minor) {
            return None;
        }
        Some(DiskCounters {
            writes: number(7)?,
            written_bytes: number(9)? * 512,
            busy_ms: number(12)?,
        })
    })
}

/// True when what is written there never reaches a disk: syncs cost nothing, figures flatter.
pub(crate) fn lies_in_memory(folder: &Path) -> bool {
    const TMPFS: i64 = 0x0102_1994;
    #[expect(clippy::unnecessary_cast, reason = "the field's type differs between platforms")]
    rustix::fs::statfs(folder).is_ok_and(|found| found.f_type as i64 == TMPFS)
}

/// Share of the machine's memory that is still free for use.
pub(crate) fn memory_free_share() -> f64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = number_of(&text, "MemTotal:").max(1);
    number_of(&text, "MemAvailable:") as f64 / total as f64
}

/// Now, as in RFC 3339.
pub(crate) fn date() -> String {
    jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default().to_string()
}

fn number_of(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

fn output_of(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_counters_of_the_right_device() {
        let text =
            "   7 0 loop0 1 0 8 0 1 0 8 0 0 4 4\n 254 0 vda 10 0 80 5 2000 3 4096 9 0 77 20\n";
        let found = parse_diskstats(text, 254, 0).unwrap();
        assert_eq!(found, DiskCounters { writes: 2000, written_bytes: 4096 * 512, busy_ms: 77 });
        assert_eq!(parse_diskstats(text, 8, 1), None);
    }

    #[test]
    fn tells_busy_from_idle_and_stolen_time() {
        let tick = Duration::from_millis(1_000 / rustix::param::clock_ticks_per_second());
        let times = core_times_of("cpu  1 2 4 100 100 8 16 3 0 0\ncpu0 9 9 9 9 9 9 9 9\n");
        assert_eq!(times, CoreTimes { busy: tick * 31, stolen: tick * 3 });
        assert_eq!(core_times_of(""), CoreTimes::default());
    }

    #[test]
    fn knows_this_machine() {
        let machine = machine();
        assert!(machine.cores >= 1 && machine.memory_mb > 0, "{machine:?}");
        assert!(core_times().busy > Duration::ZERO);
        assert!((0.0..=1.0).contains(&memory_free_share()));
    }
}
