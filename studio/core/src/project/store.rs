//! The files of projects.
//!
//! **Invariants**: as in [`super`]; a file has a version; one change at a time, so a fetch that runs
//! beside an edit does not write an older draft back.

use super::place::{self, Place};
use super::{Draft, Entry, Known};
use crate::clock::Clock;
use crate::fault::{Fault, FaultCode, Result};
use crate::file::{self, Content};
use crate::limits::{ENTRY_BYTES_MAX, PIPELINES_MAX};
use crate::profile::ProfileId;
use jiff::Timestamp;
use millrace_flow::Document;
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The version of a pipeline's file.
const VERSION: u32 = 1;

/// A pipeline's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kept {
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) known: Option<Known>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) draft: Option<Draft>,
}

/// All projects of this computer.
pub(crate) struct Store {
    projects: PathBuf,
    clock: Arc<dyn Clock>,
    /// Held by whoever reads a file to change it.
    writing: Mutex<()>,
}

impl Store {
    pub(crate) fn new(projects: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self { projects, clock, writing: Mutex::default() }
    }

    pub(super) fn projects(&self) -> &Path {
        &self.projects
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, ()> {
        self.writing.lock()
    }

    /// What is kept of a pipeline; nothing is fine.
    pub(crate) fn read(&self, place: &Place) -> Result<Kept> {
        let path = place.file(&self.projects);
        let empty = Kept { version: VERSION, known: None, draft: None };
        let why = match file::read(&path, ENTRY_BYTES_MAX)? {
            Content::Absent => return Ok(empty),
            Content::TooLarge => "it is larger than it can be".to_owned(),
            Content::Bytes(bytes) => match serde_json::from_slice::<Kept>(&bytes) {
                Ok(kept) if kept.version == VERSION => return Ok(kept),
                Ok(kept) => format!("it has version {}", kept.version),
                Err(error) => error.to_string(),
            },
        };
        let aside = file::set_aside(&path, self.clock.now())?;
        tracing::error!(aside = %aside.display(), why, "A pipeline's file could not be read.");
        let message = format!(
            "What was kept of {} could not be read ({why}). It was kept as {}; ask again to go on \
             without it.",
            place.name,
            aside.display()
        );
        Err(Fault::new(FaultCode::Storage, message))
    }

    fn write(&self, place: &Place, kept: &Kept) -> Result<()> {
        let path = place.file(&self.projects);
        if kept.known.is_none() && kept.draft.is_none() {
            return file::remove(&path);
        }
        let bytes = serde_json::to_vec(kept)
            .map_err(|error| Fault::new(FaultCode::Storage, format!("No JSON: {error}.")))?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > ENTRY_BYTES_MAX {
            let message = format!("A pipeline's file has at most {ENTRY_BYTES_MAX} bytes.");
            return Err(Fault::new(FaultCode::TooLarge, message));
        }
        file::write(&path, &bytes)
    }

    /// The pipelines of a workspace by name. Files that cannot be read are left out of the list;
    /// asking for one of them says why.
    pub(crate) fn list(&self, profile: &ProfileId, workspace: &str) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for name in self.names(profile, workspace)? {
            let place = Place::new(profile.clone(), workspace.to_owned(), name)?;
            let Ok(Content::Bytes(bytes)) =
                file::read(&place.file(&self.projects), ENTRY_BYTES_MAX)
            else {
                continue;
            };
            let kept = serde_json::from_slice::<Kept>(&bytes).ok();
            let known = kept.as_ref().and_then(|kept| kept.known.as_ref());
            let draft = kept.as_ref().and_then(|kept| kept.draft.as_ref());
            entries.push(Entry {
                name: place.name,
                revision: known.map(|known| known.revision),
                deployed: known.and_then(|known| known.deployed),
                fetched: known.map(|known| known.fetched.clone()),
                draft_base: draft.map(|draft| draft.base),
                draft_saved: draft.map(|draft| draft.saved.clone()),
            });
        }
        Ok(entries)
    }

    /// The names for which there is a file.
    fn names(&self, profile: &ProfileId, workspace: &str) -> Result<Vec<String>> {
        let folder = place::folder(&self.projects, profile, workspace);
        let files = match std::fs::read_dir(&folder) {
            Ok(files) => files,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                let message = format!("Cannot read {}: {error}.", folder.display());
                return Err(Fault::new(FaultCode::Storage, message));
            }
        };
        let mut names: Vec<String> = files
            .filter_map(|entry| place::read_name(entry.ok()?.file_name().to_str()?))
            .take(PIPELINES_MAX)
            .collect();
        names.sort();
        Ok(names)
    }

    /// Whether any draft of this appliance would be lost with it.
    pub(crate) fn has_drafts(&self, profile: &ProfileId) -> Result<bool> {
        let Ok(workspaces) = std::fs::read_dir(self.projects.join(profile.as_str())) else {
            return Ok(false);
        };
        for workspace in workspaces.filter_map(std::result::Result::ok) {
            let name = format!("{}.json", workspace.file_name().to_string_lossy());
            let Some(workspace) = place::read_name(&name) else { continue };
            if self.list(profile, &workspace)?.iter().any(|entry| entry.draft_saved.is_some()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Forgets everything of an appliance.
    pub(crate) fn forget(&self, profile: &ProfileId) -> Result<()> {
        let folder = self.projects.join(profile.as_str());
        match std::fs::remove_dir_all(&folder) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => {
                let message = format!("Cannot remove {}: {error}.", folder.display());
                Err(Fault::new(FaultCode::Storage, message))
            }
        }
    }

    /// Notes what the appliance has.
    pub(crate) fn set_known(&self, place: &Place, known: Known) -> Result<()> {
        let _writing = self.lock();
        let mut kept = self.read(place)?;
        kept.known = Some(known);
        self.write(place, &kept)
    }

    /// Notes that the appliance has no such pipeline any more.
    pub(crate) fn set_unknown(&self, place: &Place) -> Result<()> {
        let _writing = self.lock();
        let mut kept = self.read(place)?;
        kept.known = None;
        self.write(place, &kept)
    }

    /// Pipelines that the appliance does not have any more go, but for their drafts.
    pub(crate) fn keep_only(
        &self,
        profile: &ProfileId,
        workspace: &str,
        names: &[String],
    ) -> Result<()> {
        let _writing = self.lock();
        for name in self.names(profile, workspace)? {
            if names.contains(&name) {
                continue;
            }
            let place = Place::new(profile.clone(), workspace.to_owned(), name)?;
            let mut kept = self.read(&place)?;
            kept.known = None;
            self.write(&place, &kept)?;
        }
        Ok(())
    }

    /// The document of a revision, if it is known here: as a draft's base or as what the appliance
    /// had last.
    pub(crate) fn document_of(&self, place: &Place, revision: u32) -> Result<Option<String>> {
        let kept = self.read(place)?;
        if let Some(draft) = kept.draft.filter(|draft| draft.base == revision) {
            return Ok(draft.base_document);
        }
        Ok(kept.known.filter(|known| known.revision == revision).map(|known| known.document))
    }

    /// Keeps a draft that was made from this base (`None` for a new pipeline).
    pub(crate) fn set_draft(
        &self,
        place: &Place,
        document: &str,
        base: u32,
        base_document: Option<String>,
    ) -> Result<()> {
        let read = Document::parse(document).map_err(|fault| {
            Fault::invalid("document", format!("This is no pipeline: {fault}."))
        })?;
        if read.name != place.name {
            let message = format!("The document is that of {}, not of {}.", read.name, place.name);
            return Err(Fault::invalid("document", message));
        }
        let _writing = self.lock();
        let mut kept = self.read(place)?;
        let saved = self.clock.now().to_string();
        kept.draft = Some(Draft { base, base_document, document: document.to_owned(), saved });
        self.write(place, &kept)
    }

    pub(crate) fn drop_draft(&self, place: &Place) -> Result<()> {
        let _writing = self.lock();
        let mut kept = self.read(place)?;
        kept.draft = None;
        self.write(place, &kept)
    }

    /// A draft was stored at the appliance. It goes, unless it was saved anew in between.
    pub(crate) fn draft_stored(&self, place: &Place, stored: &Draft, known: Known) -> Result<()> {
        let _writing = self.lock();
        let mut kept = self.read(place)?;
        match &mut kept.draft {
            Some(draft) if draft.document == stored.document => kept.draft = None,
            Some(draft) => {
                draft.base = known.revision;
                draft.base_document = Some(known.document.clone());
            }
            None => {}
        }
        kept.known = Some(known);
        self.write(place, &kept)
    }
}

#[cfg(test)]
mod tests;
