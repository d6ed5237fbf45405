//! Opening a folder: which parts are live, whatever state the folder is in.
//!
//! With a good manifest: files that it does not name are left over from a seal that a crash cut
//! off. The journal still has their values, so they are moved to `quarantine/` (adopting them
//! would give every value twice). Parts that it names and that are missing or too short are set
//! aside with an issue, unless their time has come.
//! Without one, the parts are asked: those of seals that the journal's cursor has passed are live,
//! the others go to quarantine and come again from the journal.
//!
//! **Invariants**: opening succeeds whenever the folder can be listed and written; nothing is
//! deleted here except unfinished `.new` files and parts that retention had given up.

use crate::error::{Error, Result, chain};
use crate::manifest::{Loaded, Manifest};
use crate::part::{Part, PartFacts, PartList, Standing};
use crate::retention::is_expired;
use crate::shared::Around;
use millrace_model::Retention;
use millrace_supervisor::{Issue, Severity};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// What was found in a folder.
pub(crate) struct Recovered {
    pub(crate) manifest: Manifest,
    pub(crate) parts: PartList,
    /// Records up to here need not be replayed.
    pub(crate) checkpoint: u64,
    pub(crate) quarantined: Vec<String>,
    pub(crate) is_rebuilt: bool,
}

struct Recovery<'a> {
    around: &'a Around,
    dir: &'a Path,
    quarantined: Vec<String>,
}

pub(crate) fn recover(around: &Around, dir: &Path, journal_last_seq: u64) -> Result<Recovered> {
    let mut recovery = Recovery { around, dir, quarantined: Vec::new() };
    let files = recovery.files()?;
    let (mut manifest, is_rebuilt) = match Manifest::load(around.disk.as_ref(), dir) {
        Loaded::Current(mut manifest) => {
            recovery.finish_removal(&mut manifest, &files);
            recovery.set_orphans_aside(&manifest, &files)?;
            (manifest, false)
        }
        Loaded::Nothing if files.is_empty() => (Manifest::empty(), false),
        Loaded::Nothing => {
            let why = "there is none though there are parts";
            (recovery.rebuild(Manifest::empty(), &files, why, journal_last_seq)?, true)
        }
        Loaded::Damaged { why, previous } => {
            let base = previous.unwrap_or_else(Manifest::empty);
            (recovery.rebuild(base, &files, &why, journal_last_seq)?, true)
        }
    };
    let position = around.cursor.position().0;
    let mut checkpoint = manifest.checkpoint.max(position);
    let is_journal_behind = journal_last_seq < manifest.checkpoint;
    if is_journal_behind {
        // A power cut took journal records that were not synced yet but sealed already, or the
        // journal began anew. Either way seqs up to the old checkpoint are given again, so it
        // must not hide them.
        checkpoint = if position == 0 { 0 } else { journal_last_seq.max(position) };
        manifest.checkpoint = checkpoint;
        manifest.epoch += 1;
        recovery.raise_journal_behind(journal_last_seq);
    }
    let parts = recovery.take_stock(&mut manifest, &files);
    if is_rebuilt || is_journal_behind {
        manifest.store(around.disk.as_ref(), dir)?;
    }
    recovery.tell_quarantine();
    Ok(Recovered { manifest, parts, checkpoint, quarantined: recovery.quarantined, is_rebuilt })
}

impl Recovery<'_> {
    /// All parts in all folders, by name; unfinished files are removed.
    fn files(&self) -> Result<BTreeSet<String>> {
        let disk = &self.around.disk;
        let quarantine = self.dir.join("quarantine");
        disk.create_folder(&quarantine).map_err(Error::io("create", &quarantine))?;
        let mut files = BTreeSet::new();
        for class in Retention::ALL {
            let folder = self.dir.join("parts").join(class.name());
            disk.create_folder(&folder).map_err(Error::io("create", &folder))?;
            for file in disk.list(&folder).map_err(Error::io("list", &folder))? {
                if file.ends_with(".new") {
                    self.remove(&folder.join(&file));
                } else {
                    files.insert(format!("{}/{file}", class.name()));
                }
            }
        }
        Ok(files)
    }

    fn remove(&self, path: &Path) {
        if let Err(error) = self.around.disk.remove(path) {
            tracing::warn!(path = %path.display(), %error, "A left-over file stays.");
        }
    }

    fn finish_removal(&self, manifest: &mut Manifest, files: &BTreeSet<String>) {
        for name in manifest.removed.iter().filter(|name| files.contains(*name)) {
            self.remove(&self.dir.join("parts").join(name));
        }
    }

    fn set_orphans_aside(&mut self, manifest: &Manifest, files: &BTreeSet<String>) -> Result<()> {
        let known: BTreeSet<&str> = manifest
            .parts
            .iter()
            .map(|facts| facts.name.as_str())
            .chain(manifest.removed.iter().map(String::as_str))
            .collect();
        for name in files.iter().filter(|name| !known.contains(name.as_str())) {
            self.quarantine(name, "no manifest names it")?;
        }
        Ok(())
    }

    fn quarantine(&mut self, name: &str, why: &str) -> Result<()> {
        let disk = &self.around.disk;
        let from = self.dir.join("parts").join(name);
        let folder = self.dir.join("quarantine");
        let to = folder.join(name.replace('/', "-"));
        disk.rename(&from, &to).map_err(Error::io("set aside", &from))?;
        for folder in [Some(folder.as_path()), from.parent()].into_iter().flatten() {
            disk.sync_folder(folder).map_err(Error::io("sync", folder))?;
        }
        tracing::warn!(part = name, why, "Moved a file to quarantine.");
        self.quarantined.push(name.to_owned());
        Ok(())
    }

    /// Makes a manifest of the parts themselves.
    fn rebuild(
        &mut self,
        mut manifest: Manifest,
        files: &BTreeSet<String>,
        why: &str,
        journal_last_seq: u64,
    ) -> Result<Manifest> {
        let disk = Arc::clone(&self.around.disk);
        let known: BTreeSet<String> = manifest.parts.iter().map(|f| f.name.clone()).collect();
        let mut found = Vec::new();
        for name in files.iter().filter(|name| !known.contains(*name)) {
            let path = self.dir.join("parts").join(name);
            match PartFacts::recover(disk.as_ref(), &path, name) {
                Ok(facts) => found.push(facts),
                Err(error) => self.quarantine(name, &chain(&error))?,
            }
        }
        let all = || manifest.parts.iter().chain(&found);
        let epoch = all().map(|facts| facts.epoch).max().unwrap_or(0);
        let last_seq = all().filter(|f| f.epoch == epoch).map(|f| f.last_seq).max().unwrap_or(0);
        let next_seal = all().map(|facts| facts.seal + 1).max().unwrap_or(1);
        let position = self.around.cursor.position().0;
        // A journal that ends before its parts is not the one that they came from: its cursor
        // says nothing about them, and it cannot bring their values again.
        let is_other_journal = journal_last_seq < last_seq;
        let mut adopted = 0;
        for facts in found {
            if is_other_journal || facts.epoch < epoch || facts.last_seq <= position {
                manifest.parts.push(facts);
                adopted += 1;
            } else {
                self.quarantine(&facts.name, "the journal has its values")?;
            }
        }
        let taken = manifest.parts.iter().filter(|facts| facts.epoch == epoch);
        manifest.checkpoint = taken.map(|facts| facts.last_seq).max().unwrap_or(0);
        manifest.epoch = manifest.epoch.max(epoch);
        manifest.next_seal = manifest.next_seal.max(next_seal);
        manifest.removed.clear();
        self.raise(
            "historian-manifest-rebuilt",
            Severity::Warning,
            [
                format!("The manifest of history could not be used ({why}); it was made anew from {adopted} parts."),
                "History is whole as far as its parts are.".to_owned(),
                "Check the disk if this happens again.".to_owned(),
            ],
        );
        Ok(manifest)
    }

    /// Compares the manifest's parts with the files that are there.
    fn take_stock(&self, manifest: &mut Manifest, files: &BTreeSet<String>) -> PartList {
        let now = self.around.clock.now().0;
        let mut parts = Vec::new();
        manifest.parts.retain(|facts| {
            let path = self.dir.join("parts").join(&facts.name);
            let is_there = files.contains(&facts.name);
            if !is_there && is_expired(facts.class, facts.time_max, now) {
                // Removed for its age before the manifest could say so.
                return false;
            }
            let part = Part::new(facts.clone());
            let length = self.around.disk.len(&path).ok().flatten();
            if length != Some(facts.bytes) {
                part.set_standing(Standing::Damaged);
                let found = length.map_or("missing".to_owned(), |n| format!("{n} bytes long"));
                self.raise(
                    &format!("part-damaged:{}", facts.name),
                    Severity::Critical,
                    [
                        format!("Part {} is {found} instead of {} bytes long.", facts.name, facts.bytes),
                        format!(
                            "{} samples are left out of answers, which say that they are incomplete.",
                            facts.rows
                        ),
                        "Restore the file from a backup and start again, or check the disk."
                            .to_owned(),
                    ],
                );
            }
            parts.push(part);
            true
        });
        PartList::new(parts)
    }

    fn raise_journal_behind(&self, journal_last_seq: u64) {
        self.raise(
            "historian-journal-behind",
            Severity::Warning,
            [
                format!(
                    "The journal ends at {journal_last_seq}, before what history has taken over."
                ),
                "History is whole; the ledger may count values that it does not know.".to_owned(),
                "None, if the journal was removed on purpose or power failed while durability was \
                 `interval`. Else check the disk."
                    .to_owned(),
            ],
        );
    }

    fn tell_quarantine(&self) {
        let count = self.quarantined.len();
        if count > 0 {
            self.raise(
                "historian-quarantined",
                Severity::Notice,
                [
                    format!("{count} files were moved to the folder `quarantine` of history."),
                    "Values that the journal still has were taken from there.".to_owned(),
                    "Remove the files when they are not needed any more.".to_owned(),
                ],
            );
        }
    }

    fn raise(&self, key: &str, severity: Severity, texts: [String; 3]) {
        let [what, effect, remedy] = texts;
        self.around.issues.raise(Issue { key: key.to_owned(), severity, what, effect, remedy });
    }
}
