//! Logging: daily files in `<data_dir>/log`, one JSON object or text line an event, kept for
//! `log.files_max` days. Warnings and errors also go to standard error, for a service manager.
//!
//! **Invariants**: the writer never blocks the hot path (a bounded queue drops and counts when
//! the disk stalls); the guard lives as long as the process, so the last lines are written.

use crate::config::{Config, LogFormat};
use anyhow::Context as _;
use millrace_journal::{Disk as _, RealDisk};
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

/// Keeps the log's writer thread.
#[derive(Debug)]
pub(crate) struct Logging {
    _guard: WorkerGuard,
}

/// Starts logging as configured.
///
/// # Errors
/// When the folder cannot be written, or logging runs already.
pub(crate) fn start(config: &Config) -> anyhow::Result<Logging> {
    let level: LevelFilter = config.log.level.parse().context("read log.level")?;
    let folder = config.data_dir.join("log");
    RealDisk.create_folder(&folder).with_context(|| format!("make {}", folder.display()))?;
    let appender = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("millrace")
        .filename_suffix("log")
        .max_log_files(config.log.files_max)
        .build(&folder)
        .with_context(|| format!("open the log in {}", folder.display()))?;
    let (writer, guard) = tracing_appender::non_blocking(appender);
    let file = fmt::layer().with_writer(writer).with_ansi(false);
    let file = match config.log.format {
        LogFormat::Json => file.json().flatten_event(true).with_filter(level).boxed(),
        LogFormat::Text => file.with_filter(level).boxed(),
    };
    let console = fmt::layer()
        .with_writer(std::io::stderr)
        .with_target(false)
        .with_filter(LevelFilter::WARN.min(level));
    tracing_subscriber::registry().with(file).with(console).try_init().context("start logging")?;
    Ok(Logging { _guard: guard })
}
