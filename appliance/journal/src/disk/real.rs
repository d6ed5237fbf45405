//! The operating system's files.
//!
//! The only place with system-specific code: positioned reads and writes, owner-only rights and
//! the sync of a folder.

use super::{Disk, DiskFile, OpenMode};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Files of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

struct RealFile(File);

impl Disk for RealDisk {
    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        create_owned_folder(folder)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                // A name that is not UTF-8 is none of ours.
                names.extend(entry.file_name().into_string().ok());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true);
        match mode {
            OpenMode::Read => {}
            OpenMode::Write => drop(options.write(true)),
            OpenMode::CreateNew => drop(options.write(true).create_new(true)),
            OpenMode::Truncate => drop(options.write(true).create(true).truncate(true)),
        }
        for_owner_only(&mut options);
        Ok(Box::new(RealFile(options.open(path)?)))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the Disk that all others use")]
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    #[cfg(unix)]
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()
    }

    #[cfg(not(unix))]
    fn sync_folder(&self, _folder: &Path) -> io::Result<()> {
        // NTFS journals names by itself and has no call for it.
        Ok(())
    }

    fn len(&self, path: &Path) -> io::Result<Option<u64>> {
        match fs::metadata(path) {
            Ok(facts) => Ok(Some(facts.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl DiskFile for RealFile {
    #[cfg(unix)]
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.0, bytes, position)
    }

    #[cfg(windows)]
    fn write_all_at(&self, mut bytes: &[u8], mut position: u64) -> io::Result<()> {
        use std::os::windows::fs::FileExt;
        while !bytes.is_empty() {
            match self.0.seek_write(bytes, position) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    bytes = bytes.split_at_checked(count).unwrap_or_default().1;
                    position += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    #[cfg(unix)]
    fn read_at(&self, into: &mut [u8], position: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.0, into, position)
    }

    #[cfg(windows)]
    fn read_at(&self, into: &mut [u8], position: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.0, into, position)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }
}

/// Files that are created are for their owner.
#[cfg(unix)]
pub(super) fn for_owner_only(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
pub(super) fn for_owner_only(_options: &mut OpenOptions) {}

/// Makes a folder and its missing parents, for their owner.
pub(super) fn create_owned_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_a_file_as_a_whole() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("file");
        RealDisk.durable_write(&path, b"a first and longer text").expect("write");
        RealDisk.durable_write(&path, b"second").expect("write");
        assert_eq!(RealDisk.read(&path, 100).expect("read"), b"second");
        assert_eq!(RealDisk.list(folder.path()).expect("list"), ["file"]);
        assert_eq!(RealDisk.len(&path).expect("length"), Some(6));
        let refused = RealDisk.read(&path, 5).expect_err("above the limit");
        assert_eq!(refused.kind(), io::ErrorKind::FileTooLarge);
    }

    #[cfg(unix)]
    #[test]
    fn what_it_makes_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let inner = folder.path().join("a/b");
        RealDisk.create_folder(&inner).expect("create");
        RealDisk.durable_write(&inner.join("file"), b"x").expect("write");
        let mode = |path: &Path| fs::metadata(path).expect("facts").permissions().mode() & 0o777;
        assert_eq!(mode(&inner), 0o700);
        assert_eq!(mode(&inner.join("file")), 0o600);
    }
}
