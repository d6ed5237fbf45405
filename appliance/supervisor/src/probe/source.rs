//! Where the probe reads what the kernel says, as text.
//!
//! **Invariants**: nothing here is an error: what a system does not have is none.

use std::fs;
use std::path::PathBuf;

/// What a kernel says of waiting.
pub trait Source: Send {
    /// Each thread's number and its `schedstat`: nanoseconds on a CPU, nanoseconds in a run
    /// queue, turns.
    fn threads(&self) -> Vec<(u64, String)>;
    /// `cpu.pressure` of the process' own group, else the machine's.
    fn pressure(&self) -> Option<String>;
    /// `cpu.stat` of the process' own group.
    fn group_stat(&self) -> Option<String>;
}

/// The running system's files. Where there are none (not Linux) it is silent.
#[derive(Debug)]
pub struct SystemSource {
    tasks: PathBuf,
    group: Option<PathBuf>,
    machine: PathBuf,
}

impl Default for SystemSource {
    fn default() -> Self {
        Self::new()
    }
}

impl SystemSource {
    /// Looks up the process' own group once.
    #[must_use]
    pub fn new() -> Self {
        Self {
            tasks: PathBuf::from("/proc/self/task"),
            group: group(),
            machine: PathBuf::from("/proc/pressure/cpu"),
        }
    }
}

/// From this niceness on a thread is meant to wait for others: that is no starvation.
const NICE_BEHIND: i32 = 10;

/// The niceness in a thread's `stat` (proc_pid_stat(5), field 19; the name in field 2 may hold
/// anything, so what counts begins behind its last parenthesis, with field 3).
fn nice(stat: &str) -> Option<i32> {
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_ascii_whitespace().nth(16)?.parse().ok()
}

/// The folder of the process' group in the second version of control groups.
fn group() -> Option<PathBuf> {
    let text = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    // Where the first version is used too, the second lies beside it.
    ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
        .into_iter()
        .map(|root| PathBuf::from(root).join(path))
        .find(|folder| folder.join("cpu.stat").exists())
}

impl Source for SystemSource {
    fn threads(&self) -> Vec<(u64, String)> {
        let Ok(tasks) = fs::read_dir(&self.tasks) else { return Vec::new() };
        tasks
            .filter_map(|task| {
                let task = task.ok()?;
                let number = task.file_name().to_str()?.parse().ok()?;
                let stat = fs::read_to_string(task.path().join("stat")).ok()?;
                if nice(&stat)? >= NICE_BEHIND {
                    return None;
                }
                Some((number, fs::read_to_string(task.path().join("schedstat")).ok()?))
            })
            .collect()
    }

    fn pressure(&self) -> Option<String> {
        let of_group = self.group.as_ref().map(|folder| folder.join("cpu.pressure"));
        of_group
            .and_then(|path| fs::read_to_string(path).ok())
            .or_else(|| fs::read_to_string(&self.machine).ok())
    }

    fn group_stat(&self) -> Option<String> {
        fs::read_to_string(self.group.as_ref()?.join("cpu.stat")).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_niceness_is_found_behind_a_name_that_holds_parentheses() {
        let stat = |nice: i32| {
            format!("7 (a) b (c)) S 1 7 7 0 -1 4194368 10 0 0 0 5 6 0 0 20 {nice} 9 0 100 0 0 99")
        };
        assert_eq!(nice(&stat(0)), Some(0));
        assert_eq!(nice(&stat(19)), Some(19));
        assert_eq!(nice(&stat(-20)), Some(-20));
        assert_eq!(nice("7 (a) S 1 7"), None);
        assert_eq!(nice("no name"), None);
    }
}
