//! Child processes that are pinned to a core and cannot outlive the lab.
//!
//! The lab starts itself as `launch-child`, which pins itself, asks the kernel to be killed when
//! its parent ends, and becomes the wanted program by `exec`. Both settings survive the `exec`, so
//! no unsafe code between fork and exec is needed, and the process id is the program's own.
//!
//! **Invariants**
//! - Children are started from the main thread: the kernel's signal follows the parent *thread*.
//! - Only processes that a guard holds are ever signalled.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child as Process, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::stop;

/// A thread inside a slow sync stands only after it.
const FREEZE_LIMIT: Duration = Duration::from_secs(20);

/// The two cores of a run: `--cpus SERVER:LOAD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cores {
    /// The core of the server under test; none = not pinned.
    pub(crate) server: Option<usize>,
    /// The core of the load generator and of the lab itself.
    pub(crate) load: Option<usize>,
}

impl std::str::FromStr for Cores {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "none" {
            return Ok(Self { server: None, load: None });
        }
        let pair = text.split_once(':').and_then(|(server, load)| {
            Some(Self { server: Some(server.parse().ok()?), load: Some(load.parse().ok()?) })
        });
        match pair {
            Some(cores) if cores.server != cores.load => Ok(cores),
            _ => Err(anyhow!("write two different cores as SERVER:LOAD, for example 0:1, or none")),
        }
    }
}

/// Where a child's standard streams go.
pub(crate) enum Speech {
    /// Input and output are pipes to the lab, errors are the lab's own.
    Pipes,
    Silent,
    /// Errors go to a file: a pipe that nobody reads would stop a talkative child.
    ErrorsTo(File),
    /// The same, in a process group of its own: a terminal's Ctrl-C does not reach it.
    Apart(File),
}

/// A running child; dropped means killed and reaped.
pub(crate) struct Child {
    process: Process,
    name: String,
}

impl Child {
    /// Starts `program` pinned to `core`.
    pub(crate) fn start(
        name: &str,
        program: &Path,
        arguments: &[OsString],
        core: Option<usize>,
        speech: Speech,
    ) -> Result<Self> {
        let mut command = Command::new(own_program()?);
        command.arg("launch-child");
        if let Some(core) = core {
            command.arg("--core").arg(core.to_string());
        }
        command.arg("--").arg(program).args(arguments);
        match speech {
            Speech::Pipes => command.stdin(Stdio::piped()).stdout(Stdio::piped()),
            Speech::Silent => {
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
            }
            Speech::ErrorsTo(file) => {
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file)
            }
            Speech::Apart(file) => {
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).process_group(0)
            }
        };
        let process = command.spawn().with_context(|| format!("start {name}"))?;
        Ok(Self { process, name: name.to_owned() })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn take_stdout(&mut self) -> Result<ChildStdout> {
        self.process.stdout.take().with_context(|| format!("take the output of {}", self.name))
    }

    pub(crate) fn take_stdin(&mut self) -> Result<ChildStdin> {
        self.process.stdin.take().with_context(|| format!("take the input of {}", self.name))
    }

    /// Fails when the child has ended by itself.
    pub(crate) fn check_alive(&mut self) -> Result<()> {
        match self.process.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => bail!("{} ended by itself with {status}", self.name),
            Err(error) => Err(error).with_context(|| format!("look at {}", self.name)),
        }
    }

    /// Whether it ended well; none while it runs.
    pub(crate) fn ended(&mut self) -> Result<Option<bool>> {
        let status = self.process.try_wait().with_context(|| format!("look at {}", self.name))?;
        Ok(status.map(|status| status.success()))
    }

    /// Asks the child to end, waits at most `limit` even when the lab is being stopped, and kills
    /// it then.
    pub(crate) fn end_gently(mut self, limit: Duration) -> Result<()> {
        self.signal(Signal::TERM)?;
        let end = Instant::now() + limit;
        while self.ended()?.is_none() && Instant::now() < end {
            std::thread::park_timeout(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Sends `signal` to this child alone.
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let pid = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        kill_process(pid.context("take the child's process id")?, signal)
            .with_context(|| format!("signal {}", self.name))
    }

    /// Stops the child where it stands (SIGSTOP), and waits until all its threads stand.
    pub(crate) fn freeze(&self) -> Result<()> {
        self.signal(Signal::STOP)?;
        let tasks = format!("/proc/{}/task", self.process.id());
        stop::wait_for("all threads to stand", FREEZE_LIMIT, Duration::from_millis(1), || {
            let all = std::fs::read_dir(&tasks).context("look at the child's threads")?;
            let stands = |task: std::fs::DirEntry| {
                let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
                stat.rsplit_once(')').is_none_or(|(_, rest)| rest.starts_with(" T"))
            };
            Ok(all.flatten().all(stands).then_some(()))
        })
    }

    /// `kill -9`, and waits for the end.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.process.kill().with_context(|| format!("kill {}", self.name))?;
        self.process.wait().with_context(|| format!("reap {}", self.name))?;
        Ok(())
    }

    /// Asks the child to end (SIGTERM) and waits at most `limit`.
    pub(crate) fn stop(mut self, limit: Duration) -> Result<()> {
        self.signal(Signal::TERM)?;
        let name = self.name.clone();
        let process = &mut self.process;
        stop::wait_for(&format!("{name} to end"), limit, Duration::from_millis(10), || {
            Ok(process.try_wait()?)
        })?;
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // An error here means that the process is gone already, which is what is wanted.
        let _gone = self.process.kill();
        let _reaped = self.process.wait();
    }
}

/// The body of the hidden `launch-child`: pins, ties its life to the parent's, becomes `program`.
pub(crate) fn become_program(core: Option<usize>, program: &[OsString]) -> Result<()> {
    pin(core)?;
    set_parent_process_death_signal(Some(Signal::KILL)).context("tie the child to the lab")?;
    let (first, rest) = program.split_first().context("name a program after --")?;
    let error = Command::new(first).args(rest).exec();
    Err(error).with_context(|| format!("start {}", PathBuf::from(first).display()))
}

/// Pins this process to one core.
pub(crate) fn pin(core: Option<usize>) -> Result<()> {
    let Some(core) = core else { return Ok(()) };
    if core >= CpuSet::MAX_CPU {
        bail!("there is no core {core}");
    }
    let mut set = CpuSet::new();
    set.set(core);
    sched_setaffinity(None, &set).with_context(|| {
        format!("pin to core {core}: this machine may have fewer, choose with --cpus SERVER:LOAD")
    })
}

/// Whether this process, and so its children, runs before ordinary ones.
pub(crate) fn is_realtime() -> bool {
    const POLICIES: [&str; 2] = ["1", "2"];
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Field 41; the first one behind the name is field 3.
    let policy = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(38));
    policy.is_some_and(|policy| POLICIES.contains(&policy))
}

static LOAD_IS_REALTIME: AtomicBool = AtomicBool::new(false);

/// From now on load generators run before ordinary programs.
pub(crate) fn make_load_realtime() {
    LOAD_IS_REALTIME.store(true, Ordering::Relaxed);
}

/// Whether load generators do, though this process does not.
pub(crate) fn is_load_realtime() -> bool {
    LOAD_IS_REALTIME.load(Ordering::Relaxed)
}

/// Starts this program anew under SCHED_RR, in its place. Returns only an error.
pub(crate) fn become_realtime() -> Result<()> {
    let mut command = Command::new("chrt");
    command.args(["--rr", "10"]).arg(own_program()?).args(std::env::args_os().skip(1));
    let error = command.exec();
    Err(error).context("run chrt: it comes with util-linux, and --realtime needs root")
}

/// The lab's own binary.
pub(crate) fn own_program() -> Result<PathBuf> {
    std::env::current_exe().context("find the lab's own program file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_two_cores_and_refuses_the_same_twice() {
        let cores: Cores = "0:1".parse().unwrap();
        assert_eq!(cores, Cores { server: Some(0), load: Some(1) });
        assert_eq!("none".parse::<Cores>().unwrap(), Cores { server: None, load: None });
        for wrong in ["1:1", "0", "a:b", ""] {
            assert!(wrong.parse::<Cores>().is_err(), "{wrong}");
        }
    }
}
