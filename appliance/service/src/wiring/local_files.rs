//! The small files for the command line on the same box: its token, and where the appliance listens.
//!
//! A full disk does not take them, and is no reason not to start: the journal may have room in its
//! own files, and history can be read. They are tried again each second, with an issue meanwhile.
//!
//! **Invariants**: written in their order, so that whoever sees the last has all; nothing is
//! written once the stop has begun, which removes them.

use super::folder::{Folder, keep};
use super::state::Shared;
use millrace_supervisor::{Issue, Severity, spawn};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const KEY: &str = "local-files-not-written";
const RETRY: Duration = Duration::from_secs(1);

/// Names and contents.
pub(super) type Files = Vec<(&'static str, Vec<u8>)>;

/// Writes the files now, or as soon as that is possible.
pub(super) fn write_soon(shared: &Arc<Shared>, folder: &Folder, files: Files) {
    if let Err(error) = write_all(&folder.path, &files) {
        raise(shared, &error);
        let (shared, path) = (Arc::clone(shared), folder.path.clone());
        // Ends by itself.
        drop(spawn::task("local-files", try_again(shared, path, files)));
    }
}

fn write_all(folder: &Path, files: &Files) -> anyhow::Result<()> {
    files.iter().try_for_each(|(name, bytes)| keep(folder, name, bytes))
}

async fn try_again(shared: Arc<Shared>, folder: PathBuf, files: Files) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(RETRY) => {}
            () = shared.shutdown.begun() => return,
        }
        match write_all(&folder, &files) {
            Ok(()) => break,
            Err(error) => raise(&shared, &error),
        }
    }
    shared.issues.clear(KEY);
}

fn raise(shared: &Shared, error: &anyhow::Error) {
    shared.issues.raise(Issue {
        key: KEY.to_owned(),
        severity: Severity::Warning,
        what: format!("The files for the command line cannot be written: {error:#}."),
        effect: "Commands on this box cannot sign in; devices and the API are not affected."
            .to_owned(),
        remedy: "Free space on the disk, or make the data folder writable. It goes on by itself."
            .to_owned(),
    });
}
