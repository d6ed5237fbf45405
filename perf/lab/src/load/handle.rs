//! The lab's side of a load generator: start it, hear it, wait for its report.
//!
//! **Invariants**
//! - Dropping the handle ends the generator.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::spec::{Event, Report, Spec};
use crate::launch::{Child, Speech, is_load_realtime, own_program};
use crate::stop;

/// Lines that may wait; a generator says fewer than ten things in its life.
const LINES_MAX: usize = 64;
const SLICE: Duration = Duration::from_millis(100);

/// The generator's program and arguments.
fn command() -> Result<(PathBuf, Vec<OsString>)> {
    let own = own_program()?;
    if !is_load_realtime() {
        return Ok((own, vec!["load".into()]));
    }
    let arguments = vec!["--rr".into(), "10".into(), own.into_os_string(), "load".into()];
    Ok(("chrt".into(), arguments))
}

/// A running generator.
pub(crate) struct Load {
    events: Receiver<String>,
    // Last, so that the reader's end closes when the child is gone.
    _child: Child,
}

impl Load {
    /// Starts a generator on `core` and hands it its spec.
    pub(crate) fn start(spec: &Spec, core: Option<usize>) -> Result<Self> {
        let (program, arguments) = command()?;
        let mut child =
            Child::start("the load generator", &program, &arguments, core, Speech::Pipes)?;
        let mut input = child.take_stdin()?;
        input.write_all(&serde_json::to_vec(spec)?).context("hand the load its spec")?;
        drop(input);
        let output = BufReader::new(child.take_stdout()?);
        let (sender, events) = sync_channel(LINES_MAX);
        thread::Builder::new().name("load-events".into()).spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { events, _child: child })
    }

    /// The next event; `meanwhile` is called ten times a second until it comes.
    pub(crate) fn next(
        &self,
        limit: Duration,
        meanwhile: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Event> {
        let end = Instant::now() + limit;
        loop {
            stop::check()?;
            match self.events.recv_timeout(SLICE) {
                Ok(line) => {
                    let event = serde_json::from_str(&line)
                        .with_context(|| format!("read the load's line '{line}'"))?;
                    if let Event::Failed { why } = event {
                        bail!("the load failed: {why}");
                    }
                    return Ok(event);
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < end => meanwhile()?,
                Err(RecvTimeoutError::Timeout) => {
                    bail!("the load generator said nothing for {limit:?}")
                }
                Err(RecvTimeoutError::Disconnected) => bail!("the load generator ended early"),
            }
        }
    }

    /// Waits for the report and gives every event before it to `heard`.
    pub(crate) fn finish(
        &self,
        limit: Duration,
        heard: &mut dyn FnMut(&Event),
        meanwhile: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Report> {
        loop {
            match self.next(limit, meanwhile)? {
                Event::Done(report) => return Ok(*report),
                event => heard(&event),
            }
        }
    }
}
