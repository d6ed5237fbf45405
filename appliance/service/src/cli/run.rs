//! `millrace run`: the appliance, until Ctrl-C or SIGTERM.

use super::status_line::StatusLine;
use super::{Place, check};
use crate::wiring::{self, Appliance};
use crate::{demo, logging};
use anyhow::Context as _;
use clap::Args;
use millrace_supervisor::Shutdown;
use std::io::Write as _;
use std::time::Duration;

/// How long threads may take to end after everything has stopped.
const END_LIMIT: Duration = Duration::from_secs(5);
/// File handles beside those of the clients: sockets that are not signed in yet, HTTP, parts,
/// segments, the catalog.
const FILES_OF_ITS_OWN: u64 = 3_000;

/// How to run.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Also runs 20 simulated devices with 10 topics each, a value a second.
    #[arg(long)]
    demo: bool,
    /// Shows one line of rates that refreshes.
    #[arg(long)]
    status: bool,
}

pub(super) fn run(place: &Place, args: &RunArgs) -> anyhow::Result<()> {
    let loaded = check::load(place)?;
    let folder = wiring::claim_folder(&loaded.config.data_dir)?;
    let _logging = logging::start(&loaded.config)?;
    allow_open_files(loaded.config.broker.clients_max);
    let workers = match loaded.config.broker.worker_threads {
        // The journal has a thread of its own; with two cores that leaves one for the network.
        0 => std::thread::available_parallelism().map_or(1, |cores| cores.get() - 1).max(1),
        fixed => fixed,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .thread_name("network")
        .enable_all()
        .build()
        .context("start the runtime")?;
    let result = runtime.block_on(async {
        let shutdown = Shutdown::new();
        // Listening for the signals before anything starts: an early Ctrl-C stops cleanly too.
        let signals = Signals::listen()?;
        let appliance = Appliance::start(loaded, folder, shutdown.clone()).await?;
        announce(&appliance)?;
        let devices = match args.demo {
            true => Some(demo::start(&appliance, shutdown.clone()).await?),
            false => None,
        };
        let line = StatusLine::start(args.demo || args.status, &appliance, shutdown.clone())?;
        signals.wait().await;
        writeln!(std::io::stderr(), "\nStopping: what is in flight is made durable first.")?;
        shutdown.begin();
        line.end().await;
        if let Some(devices) = devices {
            devices.end().await;
        }
        appliance.stop().await
    });
    // A thread that waits for a journal which did not even start must not keep the process.
    runtime.shutdown_timeout(END_LIMIT);
    result
}

/// Takes as many file handles as the system gives: each client is one.
fn allow_open_files(clients_max: u32) {
    let needed = u64::from(clients_max) + FILES_OF_ITS_OWN;
    match millrace_journal::disk::allow_open_files(needed) {
        Ok(allowed) if allowed >= needed => {}
        Ok(allowed) => tracing::warn!(
            "The system allows {allowed} open files: broker.clients_max = {clients_max} clients \
             need {needed}. Raise the limit of the service, or lower the setting."
        ),
        Err(error) => tracing::warn!("The limit of open files was not raised: {error}."),
    }
}

fn announce(appliance: &Appliance) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "Millrace {} is ready.", env!("CARGO_PKG_VERSION"))?;
    writeln!(out, "  MQTT   {}", appliance.mqtt_address())?;
    if let Some(address) = appliance.mqtts_address() {
        writeln!(out, "  MQTTS  {address}")?;
    }
    writeln!(out, "  HTTP   http://{}/", appliance.http_address())?;
    if let Some(address) = appliance.https_address() {
        writeln!(out, "  HTTPS  https://{address}/")?;
    }
    if !appliance.certificate_fingerprint().is_empty() {
        writeln!(out, "  TLS    SHA-256 {}", appliance.certificate_fingerprint())?;
    }
    writeln!(out, "  data   {}", appliance.data_dir().display())?;
    if let Some(code) = appliance.claim_code() {
        writeln!(
            out,
            "  claim  {code}  (makes you the first admin: `millrace claim {code} NAME`, or at the HTTP \
             address; valid for an hour)"
        )?;
    }
    out.flush()?;
    Ok(())
}

/// Ctrl-C and the wish of the system that the program ends.
#[cfg(unix)]
pub(super) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(super) fn listen() -> anyhow::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).context("listen for Ctrl-C")?,
            terminate: signal(SignalKind::terminate()).context("listen for SIGTERM")?,
        })
    }

    pub(super) async fn wait(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Ctrl-C and the wish of the system that the program ends.
#[cfg(windows)]
pub(super) struct Signals {
    interrupt: tokio::signal::windows::CtrlC,
    shutdown: tokio::signal::windows::CtrlShutdown,
}

#[cfg(windows)]
impl Signals {
    pub(super) fn listen() -> anyhow::Result<Self> {
        Ok(Self {
            interrupt: tokio::signal::windows::ctrl_c().context("listen for Ctrl-C")?,
            shutdown: tokio::signal::windows::ctrl_shutdown().context("listen for shutdown")?,
        })
    }

    pub(super) async fn wait(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.shutdown.recv() => {}
        }
    }
}
