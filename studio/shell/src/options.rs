//! What the program is told when it starts: command line and environment, read once.
//!
//! `millrace-studio [--folder FOLDER] [FILE...]`. `STUDIO_VAULT=memory` keeps passwords in memory
//! only: for tests, and for computers without a keyring.

use anyhow::{Context as _, bail};
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Files that one start opens at most.
const FILES_MAX: usize = 32;

/// What the program is told.
#[derive(Debug)]
pub(crate) struct Options {
    /// Where profiles, projects and logs are.
    pub(crate) folder: PathBuf,
    /// Where exported files go.
    pub(crate) downloads: PathBuf,
    /// Pipelines' files to open.
    pub(crate) files: Vec<PathBuf>,
    /// Passwords stay in memory.
    pub(crate) forgets_passwords: bool,
}

impl Options {
    pub(crate) fn read() -> anyhow::Result<Self> {
        let home = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE")).map(PathBuf::from);
        let home = home.context("find the home folder: HOME is not set")?;
        let data = match cfg!(windows) {
            true => folder("LOCALAPPDATA").unwrap_or_else(|| home.join("AppData/Local")),
            false => folder("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share")),
        };
        let downloads = folder("XDG_DOWNLOAD_DIR").unwrap_or_else(|| home.join("Downloads"));
        let (named, files) = arguments(env::args_os().skip(1))?;
        let forgets_passwords = env::var_os("STUDIO_VAULT").is_some_and(|value| value == "memory");
        let folder = named.unwrap_or_else(|| data.join("millrace-studio"));
        let here = env::current_dir().unwrap_or_default();
        let files = files.iter().map(|file| here.join(file)).collect();
        Ok(Self { folder: here.join(folder), downloads, files, forgets_passwords })
    }
}

fn folder(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|folder| folder.is_absolute())
}

fn arguments(
    all: impl IntoIterator<Item = OsString>,
) -> anyhow::Result<(Option<PathBuf>, Vec<PathBuf>)> {
    let (mut named, mut files) = (None, Vec::new());
    let mut all = all.into_iter();
    while let Some(argument) = all.next() {
        if argument == "--folder" {
            named = Some(PathBuf::from(all.next().context("--folder needs a folder")?));
        } else if Path::new(&argument).to_string_lossy().starts_with("--") {
            bail!("no such option: {}; use --folder FOLDER and files", argument.to_string_lossy());
        } else if files.len() < FILES_MAX {
            files.push(PathBuf::from(argument));
        }
    }
    Ok((named, files))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(all: &[&str]) -> anyhow::Result<(Option<PathBuf>, Vec<PathBuf>)> {
        arguments(all.iter().map(OsString::from))
    }

    #[test]
    fn takes_a_folder_and_files() {
        let (folder, files) = read(&["a.millrace", "--folder", "/x", "b.millrace"]).unwrap();
        assert_eq!(folder, Some(PathBuf::from("/x")));
        assert_eq!(files, [PathBuf::from("a.millrace"), PathBuf::from("b.millrace")]);
        assert_eq!(read(&[]).unwrap(), (None, Vec::new()));
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        assert!(read(&["--fast"]).unwrap_err().to_string().contains("--fast"));
        assert!(read(&["--folder"]).unwrap_err().to_string().contains("needs a folder"));
    }
}
