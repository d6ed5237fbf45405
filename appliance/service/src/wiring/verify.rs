//! Checks the files of a stopped appliance without changing them.

use super::open::journal_config;
use crate::cli::output::counted;
use crate::config::Config;
use anyhow::Context as _;
use millrace_journal::{Disk, Journal, RealDisk};
use std::sync::Arc;

/// What was found in one part of the data folder.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) part: &'static str,
    pub(crate) summary: String,
    pub(crate) faults: Vec<String>,
}

/// Looks at journal, history and catalog.
pub(crate) fn verify(config: &Config) -> anyhow::Result<Vec<Finding>> {
    let data = &config.data_dir;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let settings = journal_config(config, data);
    let journal = Journal::inspect(settings, Arc::clone(&disk)).context("read the journal")?;
    let history = millrace_historian::verify(disk.as_ref(), &data.join("history"));
    let catalog = millrace_catalog::verify(&data.join("catalog.db"));
    Ok(vec![
        Finding {
            part: "journal",
            summary: format!(
                "{}, {}",
                counted(journal.segments, "segment"),
                counted(journal.records, "record")
            ),
            faults: journal.issues,
        },
        Finding {
            part: "history",
            summary: format!(
                "{}, {}, {}",
                counted(history.parts, "part"),
                counted(history.rows, "sample"),
                counted(history.bytes, "byte")
            ),
            faults: history
                .damaged
                .into_iter()
                .map(|(file, why)| format!("{file}: {why}"))
                .collect(),
        },
        Finding {
            part: "catalog",
            summary: "one database".to_owned(),
            faults: catalog.err().into_iter().collect(),
        },
    ])
}
