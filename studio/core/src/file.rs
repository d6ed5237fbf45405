//! Files that are whole whatever kills the program: written new, synced, then renamed.
//!
//! **Invariants**: a reader finds the old or the new content, never a part of one; what cannot be
//! read is renamed, not removed, so that a person can look at it; no file larger than its limit is
//! read.

use crate::fault::{Fault, FaultCode, Result};
use jiff::Timestamp;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// What a file holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// There is no such file.
    Absent,
    /// Its bytes.
    Bytes(Vec<u8>),
    /// It is larger than it may be.
    TooLarge,
}

/// Reads a file of at most `bytes_max`.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Result<Content> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::Absent),
        Err(error) => return Err(storage("read", path, &error)),
    };
    let mut bytes = Vec::new();
    let read = file.take(bytes_max + 1).read_to_end(&mut bytes);
    let count = read.map_err(|error| storage("read", path, &error))?;
    let is_too_large = u64::try_from(count).unwrap_or(u64::MAX) > bytes_max;
    Ok(if is_too_large { Content::TooLarge } else { Content::Bytes(bytes) })
}

/// Puts `bytes` in the place of what the file held.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    make_folder(folder)?;
    replace(path, folder, bytes).map_err(|error| storage("write", path, &error))
}

fn replace(path: &Path, folder: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = with_ending(path, "new");
    let mut file = File::create(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    drop(file);
    rename(&new, path)?;
    sync_folder(folder)
}

/// Removes a file; none is fine.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(storage("remove", path, &error)),
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    sync_folder(folder).map_err(|error| storage("remove", path, &error))
}

/// Makes a folder that its owner alone can read.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(folder).map_err(|error| storage("make", folder, &error))
}

/// Renames what cannot be read, and says where it is now.
pub(crate) fn set_aside(path: &Path, now: Timestamp) -> Result<PathBuf> {
    let second = now.strftime("%Y%m%dT%H%M%SZ");
    for attempt in 0..100 {
        let aside = with_ending(path, &format!("damaged-{second}-{attempt}"));
        if !aside.exists() {
            rename(path, &aside).map_err(|error| storage("set aside", path, &error))?;
            return Ok(aside);
        }
    }
    Err(Fault::new(FaultCode::Storage, format!("{} cannot be set aside.", path.display())))
}

/// Makes a new file beside those that are there: `name (2).json` when `name.json` is taken.
pub(crate) fn create_beside(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    make_folder(folder)?;
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => (stem, format!(".{ending}")),
        _ => (name, String::new()),
    };
    for attempt in 1..1_000 {
        let free = match attempt {
            1 => folder.join(name),
            _ => folder.join(format!("{stem} ({attempt}){ending}")),
        };
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&free) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(storage("write", &free, &error)),
        };
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        return written.map(|()| free.clone()).map_err(|error| storage("write", &free, &error));
    }
    Err(Fault::new(FaultCode::Storage, format!("There are too many files named {name}.")))
}

#[expect(clippy::disallowed_methods, reason = "the folder is synced by whoever calls this")]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

/// Without it a power cut can lose the new name. Windows keeps names in its own journal and opens
/// no folder as a file.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

fn storage(verb: &str, path: &Path, error: &io::Error) -> Fault {
    tracing::error!(path = %path.display(), %error, "Could not {verb} a file.");
    let message = format!("Cannot {verb} {}: {error}.", path.display());
    Fault::new(FaultCode::Storage, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_was_cut_off_anywhere_leaves_the_old_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write(&path, b"old content").unwrap();
        let new = b"the new content";
        for cut in 0..=new.len() {
            // What a kill between the first byte and the rename leaves behind.
            let mut torn = File::create(folder.path().join("a.json.new")).unwrap();
            torn.write_all(&new[..cut]).unwrap();
            assert_eq!(read(&path, 100).unwrap(), Content::Bytes(b"old content".to_vec()));
        }
        write(&path, new).unwrap();
        assert_eq!(read(&path, 100).unwrap(), Content::Bytes(new.to_vec()));
    }

    #[test]
    fn reads_no_more_than_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        assert_eq!(read(&path, 4).unwrap(), Content::Absent);
        write(&path, b"1234").unwrap();
        assert_eq!(read(&path, 4).unwrap(), Content::Bytes(b"1234".to_vec()));
        assert_eq!(read(&path, 3).unwrap(), Content::TooLarge);
        let fault = read(folder.path(), 3).unwrap_err();
        assert_eq!(fault.code, FaultCode::Storage);
    }

    #[test]
    fn what_is_set_aside_twice_in_a_second_is_kept_twice() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let now = Timestamp::UNIX_EPOCH;
        write(&path, b"1").unwrap();
        let first = set_aside(&path, now).unwrap();
        write(&path, b"2").unwrap();
        let second = set_aside(&path, now).unwrap();
        assert_ne!(first, second);
        assert_eq!(read(&first, 9).unwrap(), Content::Bytes(b"1".to_vec()));
        assert_eq!(read(&path, 9).unwrap(), Content::Absent);
    }

    #[test]
    fn an_export_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let first = create_beside(folder.path(), "a.json", b"1").unwrap();
        let second = create_beside(folder.path(), "a.json", b"2").unwrap();
        assert!(second.ends_with("a (2).json"));
        assert_eq!(read(&first, 9).unwrap(), Content::Bytes(b"1".to_vec()));
    }
}
