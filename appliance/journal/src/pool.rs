//! All segments: those with records, in order, and those ready for use.
//!
//! A slot file is made once: filled with zeros, synced and named. Later it changes only its header
//! and its frames, because syncing a file whose blocks are all there costs less than half of
//! syncing one that grows. The oldest segments go back to the ready ones when every cursor has
//! passed them.
//!
//! **Invariants**
//! - There are never more slot files than the byte limit allows.
//! - A file gets its name only when it is filled and synced; what a crash leaves unfinished ends
//!   in `.new` and holds no records.
//! - The header of a new life is synced before the first frame is written.
//! - The newest segment is never recycled.
//! - The lock is not held over any disk operation.

use crate::disk::{Disk, DiskFile, OpenMode};
use crate::error::{Error, Result};
use crate::frame::{PAGE_BYTES, SegmentId};
use crate::header::Header;
use crate::segment::{Segment, file_name};
use crate::seq::Seq;
use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::warn;

/// Zeros are written in pieces of this size: what they are copied from stays in the cache.
const FILL_BYTES: usize = 64 * 1024;
/// After so many bytes they are synced, and the disk is left to the writer for a while: one large
/// heap of unwritten pages would make each of its syncs wait.
const FILL_STEP_BYTES: u64 = 1 << 20;
/// A step of filling is followed by a pause of so many times its length.
const FILL_PAUSES: u32 = 4;
/// The longest pause: 64 MiB are filled in two to three seconds.
const FILL_PAUSE_MAX: Duration = Duration::from_millis(40);

/// A filled file that is ready for a new life.
pub(crate) struct Free {
    pub(crate) slot: u32,
    pub(crate) file: Arc<dyn DiskFile>,
}

/// Why there is no segment.
#[derive(Debug)]
pub(crate) enum NoSegment {
    /// All are in use.
    AllInUse,
    /// One could not be made.
    Fault(Error),
}

#[derive(Default)]
pub(crate) struct Slots {
    pub(crate) live: VecDeque<Arc<Segment>>,
    pub(crate) free: VecDeque<Free>,
    /// Numbers of all files that exist or are being made.
    pub(crate) taken: BTreeSet<u32>,
    pub(crate) next_order: u64,
    is_making: bool,
    /// Somebody waits for the segment that is being made: no more pauses.
    is_hurried: bool,
}

impl Slots {
    pub(crate) fn new(free: VecDeque<Free>, taken: BTreeSet<u32>) -> Self {
        Self { free, taken, ..Self::default() }
    }
}

pub(crate) struct Pool {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    segment_bytes: u64,
    slots_max: usize,
    slots: Mutex<Slots>,
    made: Condvar,
}

impl Pool {
    pub(crate) fn new(
        disk: Arc<dyn Disk>,
        dir: &Path,
        segment_bytes: u64,
        slots_max: usize,
        slots: Slots,
    ) -> Self {
        let dir = dir.to_owned();
        Self { disk, dir, segment_bytes, slots_max, slots: Mutex::new(slots), made: Condvar::new() }
    }

    /// A ready segment, or a new one; waits if one is being made. One caller, the writer.
    pub(crate) fn acquire(&self) -> Result<Free, NoSegment> {
        let mut slots = self.slots.lock();
        loop {
            if let Some(free) = slots.free.pop_front() {
                return Ok(free);
            }
            if slots.is_making {
                slots.is_hurried = true;
                self.made.notify_all();
                self.made.wait(&mut slots);
                continue;
            }
            let slot = self.reserve(&mut slots).ok_or(NoSegment::AllInUse)?;
            slots.is_hurried = true;
            drop(slots);
            let made = self.make(slot);
            slots = self.slots.lock();
            self.end_making(&mut slots, slot, made).map_err(NoSegment::Fault)?;
        }
    }

    /// Makes one segment ahead of need, if none is ready and there may be more.
    pub(crate) fn prepare(&self) -> Result<()> {
        let mut slots = self.slots.lock();
        if !slots.free.is_empty() || slots.is_making {
            return Ok(());
        }
        let Some(slot) = self.reserve(&mut slots) else {
            return Ok(());
        };
        drop(slots);
        let made = self.make(slot);
        let mut slots = self.slots.lock();
        self.end_making(&mut slots, slot, made)
    }

    /// Whoever makes a segment now does it without pauses.
    pub(crate) fn hurry(&self) {
        self.slots.lock().is_hurried = true;
        self.made.notify_all();
    }

    fn reserve(&self, slots: &mut Slots) -> Option<u32> {
        if slots.taken.len() >= self.slots_max {
            return None;
        }
        let slot = (1..u32::MAX).find(|slot| !slots.taken.contains(slot))?;
        slots.taken.insert(slot);
        slots.is_making = true;
        Some(slot)
    }

    /// Under the same lock that ends the making, the new one is ready: who waits finds it.
    fn end_making(&self, slots: &mut Slots, slot: u32, made: Result<Free>) -> Result<()> {
        slots.is_making = false;
        slots.is_hurried = false;
        self.made.notify_all();
        match made {
            Ok(free) => slots.free.push_back(free),
            Err(error) => {
                slots.taken.remove(&slot);
                return Err(error);
            }
        }
        Ok(())
    }

    fn make(&self, slot: u32) -> Result<Free> {
        let path = self.path(slot);
        let unfinished = path.with_extension("journal.new");
        let made = self.fill(&unfinished).and_then(|()| {
            self.disk.rename(&unfinished, &path)?;
            self.disk.sync_folder(&self.dir)?;
            self.disk.open(&path, OpenMode::Write)
        });
        match made {
            Ok(file) => Ok(Free { slot, file: Arc::from(file) }),
            Err(source) => {
                // Give the space back at once: on a full disk somebody else needs it more.
                for left in [&unfinished, &path] {
                    self.remove_if_there(left);
                }
                Err(Error::Io { action: "prepare", path, source })
            }
        }
    }

    fn fill(&self, path: &Path) -> io::Result<()> {
        let file = self.disk.open(path, OpenMode::Truncate)?;
        let zeros = vec![0; FILL_BYTES];
        let mut position = 0;
        let mut step = Instant::now();
        while position < self.segment_bytes {
            let left = usize::try_from(self.segment_bytes - position).unwrap_or(FILL_BYTES);
            let piece = zeros.get(..left).unwrap_or(&zeros);
            file.write_all_at(piece, position)?;
            position += piece.len() as u64;
            if position.is_multiple_of(FILL_STEP_BYTES) && position < self.segment_bytes {
                file.sync_data()?;
                self.rest_from_filling(step.elapsed());
                step = Instant::now();
            }
        }
        file.sync_data()
    }

    /// The pause after a step that took so long.
    fn rest_from_filling(&self, step: Duration) {
        let until = Instant::now() + (step * FILL_PAUSES).min(FILL_PAUSE_MAX);
        let mut slots = self.slots.lock();
        while !slots.is_hurried && !self.made.wait_until(&mut slots, until).timed_out() {}
    }

    fn remove_if_there(&self, path: &Path) -> bool {
        match self.disk.remove(path) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) => {
                warn!(path = %path.display(), %error, "A file of no use cannot be removed.");
                false
            }
        }
    }

    /// Begins a new life of a file, and appends it to the segments in use.
    pub(crate) fn activate(&self, free: Free, first: Seq) -> Result<Arc<Segment>> {
        let Free { slot, file } = free;
        let order = {
            let mut slots = self.slots.lock();
            slots.next_order += 1;
            slots.next_order
        };
        let header = Header { id: random_id(), order, first, segment_bytes: self.segment_bytes };
        let page = header.encode();
        let written = file
            .write_all_at(&page, 0)
            .and_then(|()| file.write_all_at(&page, header.frames_end()))
            // Before the first frame: a frame under a header that is not there cannot be checked.
            .and_then(|()| file.sync_data());
        match written {
            Ok(()) => {
                let segment = Arc::new(Segment::new(slot, header, file));
                self.slots.lock().live.push_back(Arc::clone(&segment));
                Ok(segment)
            }
            Err(source) => {
                drop(file);
                self.throw_away(slot);
                Err(Error::Io { action: "begin", path: self.path(slot), source })
            }
        }
    }

    /// A segment failed before it held anything durable.
    pub(crate) fn discard(&self, segment: &Segment) {
        segment.retire();
        self.slots.lock().live.retain(|live| live.header.order != segment.header.order);
        self.throw_away(segment.slot);
    }

    fn throw_away(&self, slot: u32) {
        // If it stays, its number stays taken, and its frames are void: a later segment begins at
        // the same seq.
        if self.remove_if_there(&self.path(slot)) {
            self.slots.lock().taken.remove(&slot);
        }
    }

    /// Puts segments whose records are all at or below `seq` back to the ready ones. Answers how
    /// many became ready or went.
    pub(crate) fn recycle(&self, seq: Seq) -> usize {
        let mut count = 0;
        let mut unusable = Vec::new();
        let mut slots = self.slots.lock();
        while slots.live.get(1).is_some_and(|next| next.first() <= seq.next()) {
            let Some(segment) = slots.live.pop_front() else { break };
            segment.retire();
            count += 1;
            // After the limit was lowered there may be too many files.
            let is_wanted = slots.taken.len() - unusable.len() <= self.slots_max;
            if segment.is_reusable && is_wanted {
                let free = Free { slot: segment.slot, file: Arc::clone(&segment.file) };
                slots.free.push_back(free);
            } else {
                unusable.push(segment.slot);
            }
        }
        drop(slots);
        for slot in unusable {
            self.throw_away(slot);
        }
        count
    }

    /// Where a reader of records from `seq` on begins.
    pub(crate) fn find(&self, seq: Seq) -> Option<Arc<Segment>> {
        let slots = self.slots.lock();
        let at = slots.live.partition_point(|segment| segment.first() <= seq);
        slots.live.get(at.saturating_sub(1)).cloned()
    }

    /// The segment after this one.
    pub(crate) fn after(&self, order: u64) -> Option<Arc<Segment>> {
        let slots = self.slots.lock();
        let at = slots.live.partition_point(|segment| segment.header.order <= order);
        slots.live.get(at).cloned()
    }

    pub(crate) fn newest(&self) -> Option<Arc<Segment>> {
        self.slots.lock().live.back().cloned()
    }

    pub(crate) fn has_none_ready(&self) -> bool {
        self.slots.lock().free.is_empty()
    }

    pub(crate) fn oldest(&self) -> Option<Seq> {
        self.slots.lock().live.front().map(|segment| segment.first())
    }

    /// Live and ready.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let slots = self.slots.lock();
        (slots.live.len(), slots.free.len())
    }

    pub(crate) fn path(&self, slot: u32) -> PathBuf {
        self.dir.join(file_name(slot))
    }

    /// Frames of a new segment start here and end at `frames_end`.
    pub(crate) const fn frames_start() -> u64 {
        PAGE_BYTES
    }
}

fn random_id() -> SegmentId {
    let mut id = SegmentId::default();
    getrandom::fill(&mut id).expect("the system gives random numbers, or nothing here is safe");
    id
}
