//! What a process used, read from `/proc`.
//!
//! CPU is user + system of the whole process from `stat`, in ticks of 10 ms, which dead threads
//! stay part of. Threads by name come from `task/*/schedstat` in nanoseconds: they say where the
//! time went.
//!
//! **Invariants**
//! - A vanished process is an error that says so, never a zero.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// One look at a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) cpu: Duration,
    pub(crate) rss_bytes: u64,
    pub(crate) write_bytes: u64,
    pub(crate) switches: u64,
    pub(crate) threads: Vec<(String, Duration)>,
}

/// Reads all of it.
pub(crate) fn usage(pid: u32) -> Result<Usage> {
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let (threads, switches) = threads(pid);
    Ok(Usage {
        cpu: cpu(pid)?,
        rss_bytes: rss_bytes(pid)?,
        write_bytes: field(&io, "write_bytes:"),
        switches,
        threads,
    })
}

/// User and system time of the whole process.
pub(crate) fn cpu(pid: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))
        .with_context(|| format!("read the CPU time of process {pid}: it may have ended"))?;
    let ticks = cpu_ticks(&stat).with_context(|| format!("read the CPU time of {pid}"))?;
    let per_second = rustix::param::clock_ticks_per_second();
    Ok(Duration::from_nanos(ticks * (1_000_000_000 / per_second)))
}

/// Resident memory.
pub(crate) fn rss_bytes(pid: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))
        .with_context(|| format!("read the memory of process {pid}: it may have ended"))?;
    Ok(field(&status, "VmRSS:") * 1024)
}

/// How many cores the process may use; one at least.
pub(crate) fn allowed_cores(pid: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.map_or(1, |list| cores_of(list).max(1))
}

/// `0,2-5` are five.
fn cores_of(list: &str) -> usize {
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) =
            (first.trim().parse::<usize>().ok()?, last.trim().parse::<usize>().ok()?);
        Some(last.checked_sub(first)? + 1)
    };
    list.split(',').filter_map(count).sum()
}

/// The processes that this one has started.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let Ok(all) = fs::read_dir("/proc") else { return Vec::new() };
    let parent = |other: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{other}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    all.flatten()
        .filter_map(|entry| entry.file_name().to_string_lossy().parse().ok())
        .filter(|other| parent(*other) == Some(pid))
        .collect()
}

/// The most memory that was ever resident.
pub(crate) fn rss_peak_bytes(pid: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))
        .with_context(|| format!("read the memory of process {pid}: it may have ended"))?;
    Ok(field(&status, "VmHWM:") * 1024)
}

/// CPU of the calling thread's process in nanoseconds; the load generator has one thread.
pub(crate) fn own_cpu() -> Duration {
    let text = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    Duration::from_nanos(first_number(&text))
}

fn threads(pid: u32) -> (Vec<(String, Duration)>, u64) {
    let mut found: Vec<(String, Duration)> = Vec::new();
    let mut switches = 0;
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return (found, 0) };
    for task in tasks.flatten() {
        let folder = task.path();
        let name = fs::read_to_string(folder.join("comm")).unwrap_or_default();
        let spent = fs::read_to_string(folder.join("schedstat")).unwrap_or_default();
        let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
        switches += field(&status, "voluntary_ctxt_switches:");
        let spent = Duration::from_nanos(first_number(&spent));
        match found.iter_mut().find(|(known, _)| known == name.trim()) {
            Some((_, sum)) => *sum += spent,
            None => found.push((name.trim().to_owned(), spent)),
        }
    }
    (found, switches)
}

/// Fields 14 and 15 of `stat`; the name in field 2 may hold spaces and brackets.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

fn field(text: &str, name: &str) -> u64 {
    text.lines().find_map(|line| line.strip_prefix(name)).map_or(0, first_number)
}

fn first_number(text: &str) -> u64 {
    text.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_ticks_behind_a_name_with_brackets() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 1 0 1 1 1";
        assert_eq!(cpu_ticks(stat), Some(300));
        assert_eq!(cpu_ticks("garbage"), None);
    }

    #[test]
    fn sees_this_process() {
        let usage = usage(std::process::id()).unwrap();
        assert!(usage.rss_bytes > 100_000, "{usage:?}");
        assert!(!usage.threads.is_empty());
        assert!(rss_peak_bytes(std::process::id()).unwrap() >= usage.rss_bytes / 2);
    }

    #[test]
    fn counts_the_cores_of_a_list() {
        assert_eq!((cores_of("\t0"), cores_of("0,2-5"), cores_of("x")), (1, 5, 0));
        assert!(allowed_cores(std::process::id()) >= 1);
    }

    #[test]
    fn finds_the_processes_that_one_has_started() {
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        assert!(children(std::process::id()).contains(&child.id()));
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn says_so_when_the_process_is_gone() {
        let error = cpu(u32::MAX - 1).unwrap_err();
        assert!(format!("{error:#}").contains("may have ended"), "{error:#}");
    }
}
