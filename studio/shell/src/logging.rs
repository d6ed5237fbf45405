//! Log files: one a day, the last fourteen, in the folder of state.

use anyhow::Context as _;
use std::io::Write as _;
use std::path::Path;
use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::LevelFilter;

/// Files that are kept.
const FILES_MAX: usize = 14;

/// Starts logging. What the guard holds is written when it is dropped.
pub(crate) fn start(folder: &Path) -> anyhow::Result<WorkerGuard> {
    std::fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    let files = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("studio")
        .filename_suffix("log")
        .max_log_files(FILES_MAX)
        .build(folder)
        .with_context(|| format!("write into {}", folder.display()))?;
    let (writer, guard) = tracing_appender::non_blocking(files);
    tracing_subscriber::fmt()
        .with_writer(writer)
        .with_ansi(false)
        .with_max_level(LevelFilter::INFO)
        .init();
    std::panic::set_hook(Box::new(|panic| {
        tracing::error!(%panic, "A part of the studio panicked.");
    }));
    Ok(guard)
}

/// Says why the program ends, where somebody may see it.
pub(crate) fn last_words(text: &str) {
    tracing::error!(error = text, "The studio ends.");
    // Without a terminal there is nobody to tell.
    let (Ok(()) | Err(_)) = writeln!(std::io::stderr(), "millrace-studio: {text}");
}
