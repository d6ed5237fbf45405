//! Checks the files of a stopped appliance without changing them.

use millrace_journal::{Disk, RealDisk};
use std::path::Path;

/// What was found in one part of the data folder.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) part: &'static str,
    pub(crate) summary: String,
    pub(crate) faults: Vec<String>,
}

/// Looks at journal, history and catalog.
pub(crate) fn verify(data: &Path) -> anyhow::Result<Vec<Finding>> {
    let disk: &dyn Disk = &RealDisk;
    let history = millrace_historian::verify(disk, &data.join("history"));
    Ok(vec![Finding {
        part: "history",
        summary: format!(
            "{} parts, {} samples, {} bytes",
            history.parts, history.rows, history.bytes
        ),
        faults: history.damaged.into_iter().map(|(file, why)| format!("{file}: {why}")).collect(),
    }])
}
