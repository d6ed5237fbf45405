//! A disk that fails where it is told.
//!
//! Operations that change something (create, write, cut, sync, rename, remove) are counted; the
//! n-th can be made to fail, once or from then on. A full disk refuses to grow files, or to write
//! at all, until it is told otherwise.
//!
//! **Invariants**: reading never fails; a failed write may leave a part, as a real one does.

use crate::disk::{Disk, DiskFile, OpenMode};
use parking_lot::Mutex;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What happens to the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is done.
    Error,
    /// A write leaves its first half; anything else does nothing.
    ShortWrite,
    /// It is done and reported as failed.
    DoneButError,
}

#[derive(Debug, Default)]
struct Plan {
    done: u64,
    /// Fails at this number, and from there on if `lasting`.
    at: Option<u64>,
    lasting: bool,
    fault: Option<Fault>,
    syncs_fail: bool,
    writes_full: bool,
    growth_full: bool,
    failed: u64,
}

/// Wraps a disk with faults.
#[derive(Clone)]
pub struct FaultyDisk {
    inner: Arc<dyn Disk>,
    plan: Arc<Mutex<Plan>>,
}

struct FaultyFile {
    inner: Box<dyn DiskFile>,
    plan: Arc<Mutex<Plan>>,
    path: PathBuf,
}

impl FaultyDisk {
    /// Without faults at first.
    #[must_use]
    pub fn new(inner: Arc<dyn Disk>) -> Self {
        Self { inner, plan: Arc::default() }
    }

    /// The n-th operation from now on fails (1 is the next); `lasting` lets all later ones fail too.
    pub fn fail_at(&self, n: u64, fault: Fault, lasting: bool) {
        let mut plan = self.plan.lock();
        plan.at = Some(plan.done + n);
        plan.fault = Some(fault);
        plan.lasting = lasting;
    }

    /// Every sync fails, or none.
    pub fn fail_syncs(&self, fail: bool) {
        self.plan.lock().syncs_fail = fail;
    }

    /// No space at all, not even inside existing files; or space again.
    pub fn set_full(&self, full: bool) {
        self.plan.lock().writes_full = full;
    }

    /// No space to make or grow files, while existing ones can be written; or space again.
    pub fn set_growth_full(&self, full: bool) {
        self.plan.lock().growth_full = full;
    }

    /// No more faults.
    pub fn heal(&self) {
        let mut plan = self.plan.lock();
        *plan = Plan { done: plan.done, failed: plan.failed, ..Plan::default() };
    }

    /// Operations so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.plan.lock().done
    }

    /// Operations that were made to fail so far.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.plan.lock().failed
    }

    fn change(&self, kind: Kind, work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        run(&self.plan, kind, work, || Ok(()))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Write,
    Growth,
    Sync,
    Other,
}

fn full() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, "no space left on the test's disk")
}

fn run(
    plan: &Mutex<Plan>,
    kind: Kind,
    work: impl FnOnce() -> io::Result<()>,
    half: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    let mut plan = plan.lock();
    plan.done += 1;
    let no_space = match kind {
        Kind::Write => plan.writes_full,
        Kind::Growth => plan.writes_full || plan.growth_full,
        Kind::Sync | Kind::Other => false,
    };
    let now = match plan.at {
        Some(at) if plan.lasting => plan.done >= at,
        Some(at) => plan.done == at,
        None => false,
    };
    let sync_fails = kind == Kind::Sync && plan.syncs_fail;
    let fault = plan.fault.filter(|_| now);
    if no_space || sync_fails || fault.is_some() {
        plan.failed += 1;
    }
    drop(plan);
    if no_space {
        return Err(full());
    }
    let error = || io::Error::other("the test's disk fails here");
    match fault {
        None if sync_fails => Err(error()),
        None => work(),
        Some(Fault::Error) => Err(error()),
        Some(Fault::ShortWrite) => half().and_then(|()| Err(error())),
        Some(Fault::DoneButError) => work().and_then(|()| Err(error())),
    }
}

impl Disk for FaultyDisk {
    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        self.change(Kind::Other, || self.inner.create_folder(folder))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        self.inner.list(folder)
    }

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Box<dyn DiskFile>> {
        if matches!(mode, OpenMode::CreateNew | OpenMode::Truncate) {
            self.change(Kind::Growth, || Ok(()))?;
        }
        let inner = self.inner.open(path, mode)?;
        Ok(Box::new(FaultyFile { inner, plan: Arc::clone(&self.plan), path: path.to_owned() }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.change(Kind::Other, || self.inner.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.change(Kind::Other, || self.inner.remove(path))
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.change(Kind::Sync, || self.inner.sync_folder(folder))
    }

    fn len(&self, path: &Path) -> io::Result<Option<u64>> {
        self.inner.len(path)
    }
}

impl DiskFile for FaultyFile {
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        let end = position + bytes.len() as u64;
        let kind = if end > self.inner.len()? { Kind::Growth } else { Kind::Write };
        let half = bytes.split_at(bytes.len() / 2).0;
        run(
            &self.plan,
            kind,
            || self.inner.write_all_at(bytes, position),
            || self.inner.write_all_at(half, position),
        )
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.path.display())))
    }

    fn read_at(&self, into: &mut [u8], position: u64) -> io::Result<usize> {
        self.inner.read_at(into, position)
    }

    fn sync_data(&self) -> io::Result<()> {
        run(&self.plan, Kind::Sync, || self.inner.sync_data(), || Ok(()))
    }

    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        let grows = length > self.inner.len()?;
        let kind = if grows { Kind::Growth } else { Kind::Write };
        run(&self.plan, kind, || self.inner.set_len(length), || Ok(()))
    }
}
