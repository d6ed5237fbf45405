//! A place below the allowed folder, checked before and after a file is opened.
//!
//! The name is judged as text first (no `..`, no absolute path, no device names); then each folder
//! on the way is looked at and must be a folder itself, not a symbolic link; and once a file is
//! open it must be the very file that the checked path leads to. Somebody who swaps a folder for a
//! link between check and opening so gains at most an empty file, never a byte of ours.
//!
//! **Invariants**: a [`Place`] names something below its root by plain names alone.

use millrace_engine::step::StepFault;
use same_file::Handle;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Folders between the allowed folder and a file.
const DEPTH_MAX: usize = 16;
/// Bytes of one name.
const NAME_BYTES_MAX: usize = 200;

/// A file below the allowed folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    root: PathBuf,
    folders: Vec<String>,
    name: String,
}

impl Place {
    /// The place of a file called `a/b.csv` in documents.
    pub(crate) fn new(root: &Path, file: &str) -> Result<Self, StepFault> {
        let mut names: Vec<String> = file.split('/').map(str::to_owned).collect();
        let bad = |what: &str| StepFault::lasting("refused", format!("the file `{file}` {what}"));
        if names.len() > DEPTH_MAX {
            return Err(bad("lies too deep"));
        }
        if !names.iter().all(|name| is_plain(name)) {
            return Err(bad(
                "is no plain name below the allowed folder: no `..`, no absolute path, no \
                 characters that a system takes for something else",
            ));
        }
        let name = names.pop().ok_or_else(|| bad("has no name"))?;
        Ok(Self { root: root.to_owned(), folders: names, name })
    }

    /// The path, if every folder on the way is one and the file, if it is there, is a file.
    pub(crate) fn checked(&self) -> Result<PathBuf, StepFault> {
        self.walk(false)
    }

    fn walk(&self, creates: bool) -> Result<PathBuf, StepFault> {
        let mut path = fs::canonicalize(&self.root).map_err(|error| {
            let root = self.root.display();
            StepFault::passing("unreachable", format!("the allowed folder {root}: {error}"))
        })?;
        for folder in &self.folders {
            path.push(folder);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() => {}
                Ok(_) => return Err(self.refused(folder, "is no folder of its own")),
                Err(error) if error.kind() == io::ErrorKind::NotFound && creates => {
                    fs::create_dir(&path).map_err(|error| self.broken(&error))?;
                }
                Err(error) => return Err(self.broken(&error)),
            }
        }
        path.push(&self.name);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() => Ok(path),
            Ok(_) => Err(self.refused(&self.name, "is no plain file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path),
            Err(error) => Err(self.broken(&error)),
        }
    }

    /// Opens the file for reading and appending; creates it and the folders before it.
    pub(crate) fn open(&self) -> Result<File, StepFault> {
        let path = self.walk(true)?;
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .map_err(|error| self.broken(&error))?;
        self.prove(&path, &file)?;
        Ok(file)
    }

    /// Whether the open file is the one that the checked path leads to.
    fn prove(&self, path: &Path, file: &File) -> Result<(), StepFault> {
        if self.walk(false)? != path {
            return Err(self.refused(&self.name, "was moved while it was opened"));
        }
        let same = || -> io::Result<bool> {
            let opened = Handle::from_file(file.try_clone()?)?;
            let parent = path.parent().unwrap_or(path);
            Ok(fs::canonicalize(parent)? == parent && opened == Handle::from_path(path)?)
        };
        match same() {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.refused(&self.name, "was moved while it was opened")),
            Err(error) => Err(self.broken(&error)),
        }
    }

    #[cfg(test)]
    pub(crate) fn prove_for_test(&self, path: &Path, file: &File) -> Result<(), StepFault> {
        self.prove(path, file)
    }

    /// The place of the n-th renamed file.
    pub(crate) fn numbered(&self, number: u32) -> Self {
        Self { name: format!("{}.{number}", self.name), ..self.clone() }
    }

    /// The folder that the file lies in.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folders.iter().fold(self.root.clone(), |path, folder| path.join(folder))
    }

    fn refused(&self, name: &str, what: &str) -> StepFault {
        let message = format!("`{name}` in the allowed folder {what} (a symbolic link?): not used");
        StepFault::lasting("refused", message)
    }

    pub(crate) fn broken(&self, error: &io::Error) -> StepFault {
        let message = format!("the file `{}`: {error}", self.name);
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
                StepFault::lasting("answer", message)
            }
            _ => StepFault::passing("unreachable", message),
        }
    }
}

/// A name that means the same on every system and nothing but a name.
fn is_plain(name: &str) -> bool {
    const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let is_numbered_device = ["com", "lpt"]
        .iter()
        .any(|device| stem.strip_prefix(device).is_some_and(|number| number.chars().count() == 1));
    !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && !name.starts_with(' ')
        && !name.ends_with(['.', ' '])
        && !name.chars().any(|c| c.is_control() || "\\:*?\"<>|".contains(c))
        && !DEVICES.contains(&stem.as_str())
        && !is_numbered_device
}
