//! Recomputing every checksum of a history folder, with the historian stopped or running.
//!
//! **Invariants**: reads only; every byte of every live part is covered.

use crate::error::chain;
use crate::manifest::{Loaded, Manifest};
use crate::part::{PartFacts, PartFile, PartIndex};
use millrace_journal::Disk;
use std::path::Path;
use std::sync::Arc;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Live parts.
    pub parts: u64,
    /// Samples in them.
    pub rows: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Names of damaged files, and what is wrong with each.
    pub damaged: Vec<(String, String)>,
}

/// Verifies the folder of a historian.
#[must_use]
pub fn verify(disk: &dyn Disk, dir: &Path) -> Report {
    let mut report = Report::default();
    let manifest = match Manifest::load(disk, dir) {
        Loaded::Current(manifest) => manifest,
        Loaded::Nothing => return report,
        Loaded::Damaged { why, previous } => {
            report.damaged.push(("manifest.json".to_owned(), why));
            match previous {
                Some(manifest) => manifest,
                None => return report,
            }
        }
    };
    for facts in &manifest.parts {
        report.parts += 1;
        report.rows += facts.rows;
        report.bytes += facts.bytes;
        if let Err(error) = verify_part(disk, dir, facts) {
            report.damaged.push((facts.name.clone(), chain(&error)));
        }
    }
    report
}

fn verify_part(disk: &dyn Disk, dir: &Path, facts: &PartFacts) -> crate::error::Result<()> {
    let path = dir.join("parts").join(&facts.name);
    let file = Arc::new(PartFile::open(disk, &path, &facts.name, facts.bytes)?);
    let index = PartIndex::load(&file, facts)?;
    index.check_all(&file, &facts.name)?;
    let rows: usize = (0..index.group_count()).map(|group| index.group_rows(group)).sum();
    if rows as u64 != facts.rows {
        let what = format!("it has {rows} samples instead of {}", facts.rows);
        return Err(crate::error::Error::damaged(&facts.name, what));
    }
    Ok(())
}
