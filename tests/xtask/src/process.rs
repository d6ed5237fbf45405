//! Child processes: run, read, read along, look up.
//!
//! **Invariants**
//! - A child that cannot be started or that fails is an error which names the command.

use std::env;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Lines that may wait between the child's two streams and the printer.
const LINES_MAX: usize = 1_000;
/// How often a child is looked at while it is waited for with a limit.
const POLL: Duration = Duration::from_millis(50);

/// The command as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let mut text = PathBuf::from(command.get_program())
        .file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    for argument in command.get_args() {
        let argument = argument.to_string_lossy();
        text.push(' ');
        if argument.is_empty() || argument.contains(' ') {
            text.push_str(&format!("'{argument}'"));
        } else {
            text.push_str(&argument);
        }
    }
    text
}

/// Runs a command on this terminal; its failure is an error.
pub(crate) fn must(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("start `{}`", shown(command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs a command and gives what it printed; its failure is an error with what it complained of.
pub(crate) fn read(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("start `{}`", shown(command)))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` ended with {}: {}", shown(command), output.status, complaint.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a command, prints its lines as they come and shows each to `see`. Gives whether it succeeded.
pub(crate) fn read_along(command: &mut Command, mut see: impl FnMut(&str)) -> Result<bool> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("start `{}`", shown(command)))?;
    let (send, receive) = sync_channel::<String>(LINES_MAX);
    let streams: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
        child.stderr.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
    ];
    let mut readers = Vec::new();
    for stream in streams.into_iter().flatten() {
        let send = send.clone();
        readers.push(thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            let mut line = Vec::new();
            while matches!(stream.read_until(b'\n', &mut line), Ok(count) if count > 0) {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                if send.send(text).is_err() {
                    return;
                }
                line.clear();
            }
        }));
    }
    drop(send);
    for line in receive {
        println!("{line}");
        see(&line);
    }
    for reader in readers {
        if reader.join().is_err() {
            bail!("the reader of `{}` ended early", shown(command));
        }
    }
    Ok(child.wait().with_context(|| format!("wait for `{}`", shown(command)))?.success())
}

/// Runs a command in silence for at most `limit`, then ends it. Gives whether it succeeded.
pub(crate) fn within(command: &mut Command, limit: Duration) -> Result<bool> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("start `{}`", shown(command)))?;
    let started = Instant::now();
    while started.elapsed() < limit {
        if let Some(status) = child.try_wait().context("look whether it has ended")? {
            return Ok(status.success());
        }
        thread::sleep(POLL);
    }
    child.kill().context("end what takes too long")?;
    child.wait().context("wait for what was ended")?;
    Ok(false)
}

/// Whether a program of that name can be started.
pub(crate) fn has(program: &str) -> bool {
    find(program).is_some()
}

/// Where a program of that name lies in PATH.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let file = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?)
        .map(|folder| folder.join(&file))
        .find(|path| path.is_file())
}

/// A duration as a person reads it: `4 min 12 s`, `3.2 s`.
pub(crate) fn spoken(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds >= 60 {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_a_command_as_typed() {
        let mut command = Command::new("some/folder/cargo");
        command.args(["clippy", "a b", ""]);
        assert_eq!(shown(&command), "cargo clippy 'a b' ''");
    }

    #[test]
    fn speaks_minutes_and_seconds() {
        assert_eq!(spoken(Duration::from_millis(3_240)), "3.2 s");
        assert_eq!(spoken(Duration::from_secs(252)), "4 min 12 s");
        assert_eq!(spoken(Duration::from_secs(61)), "1 min 01 s");
    }

    #[test]
    fn names_the_command_that_cannot_start() {
        let error =
            must(&mut Command::new("millrace-no-such-program")).expect_err("it is not there");
        assert!(format!("{error:#}").contains("start `millrace-no-such-program`"), "{error:#}");
    }
}
