//! Opening a journal whatever state it is in.
//!
//! Every slot file is looked at: its header tells its place in the order, then its frames are
//! read from front to back. What follows the last intact frame of the newest segment is a torn
//! tail and is cut. A bad frame with intact ones behind it is damage: a copy goes to `quarantine/`,
//! the rest is kept. A file that is no segment at all is set aside there. Nothing is deleted.
//!
//! **Invariants**
//! - Opening fails only if the folder cannot be made or listed.
//! - Frames count only up to the first seq of any later segment: what a failed sync left behind
//!   was written again there.
//! - After any doubt new frames go to a fresh segment; after a clean tail they may go on there.
//! - The next seq is above everything that a frame, a header or a cursor knows of.
//! - What is read as durable is synced first: a process may have been killed before its sync.

mod files;
mod quarantine;
mod scan;

use crate::config::Config;
use crate::core::Core;
use crate::cursor::{Cursors, Trouble};
use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::group_commit::Queue;
use crate::health::Health;
use crate::keeper::Signal;
use crate::pool::{Free, Pool, Slots};
use crate::segment::{Gap, Segment};
use crate::seq::Seq;
use crate::writer::Tail;
use quarantine::Quarantine;
use scan::Scanned;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tracing::{info, warn};

/// What was found when the journal was opened.
#[derive(Clone, Debug, Default)]
pub struct Recovery {
    /// Oldest record that is there; above `last_seq` if there is none.
    pub first_seq: Seq,
    /// Highest record that is there.
    pub last_seq: Seq,
    /// The seq that the next record is given.
    pub next_seq: Seq,
    /// Damage and loss, each as a sentence for a person. Empty after a stop or a plain crash.
    pub issues: Vec<String>,
    /// What nobody need act on (a torn tail that was cut).
    pub notes: Vec<String>,
    /// Files with what could not be used.
    pub quarantined: Vec<PathBuf>,
    /// Segments with records.
    pub segments: usize,
    /// Frames that are intact.
    pub frames: u64,
    /// Records in them.
    pub records: u64,
}

/// Opens the folder; also answers where the writer goes on.
pub(crate) fn open(config: Config, disk: Arc<dyn Disk>) -> Result<(Core, Option<Tail>, Recovery)> {
    config.check()?;
    let dir = config.dir.clone();
    disk.create_folder(&dir).map_err(Error::io("make", &dir))?;
    let names = disk.list(&dir).map_err(Error::io("list", &dir))?;
    let mut report = Recovery::default();
    let (cursors, trouble) = Cursors::load(Arc::clone(&disk), &dir);
    match trouble {
        None => {}
        Some(Trouble::OlderPage) => {
            let note = "a save of the cursors was torn: the save before it is used".to_owned();
            report.notes.push(note);
        }
        Some(Trouble::Lost(why)) => {
            report.issues.push(format!("the cursors are lost ({why}): readers begin anew"));
        }
    }
    let mut quarantine = Quarantine::new(Arc::clone(&disk), &dir);
    let found = files::sort(&config, disk.as_ref(), &names, &mut quarantine, &mut report);

    let (lowest, highest) = cursors.bounds();
    let mut slots = Slots::new(found.free, found.taken);
    let mut state = State { next: lowest.next(), lowest, tail: None };
    let bounds = bounds(&found.segments);
    for (segment, bound) in found.segments.into_iter().zip(bounds) {
        slots.next_order = slots.next_order.max(segment.header.order);
        state.take(&mut slots, segment, bound, &mut quarantine, &mut report);
    }
    let tail = state.tail.take().filter(|tail| sync(tail, &mut report));
    if highest >= state.next {
        report.issues.push(format!(
            "records {} to {highest} had been read and are lost: new ones continue above",
            state.next
        ));
        state.next = highest.next();
    }
    report.quarantined = quarantine.files;
    report.next_seq = state.next;
    report.segments = slots.live.len();
    if report.first_seq == Seq::ZERO {
        report.first_seq = state.next;
    }
    log(&report);
    let durable = Seq(state.next.0.saturating_sub(1));
    let core = Core {
        queue: Queue::new(config.queue_bytes_max(), durable, state.next),
        pool: Pool::new(Arc::clone(&disk), &dir, config.segment_bytes, config.slots_max(), slots),
        cursors,
        health: Health::default(),
        signal: Signal::default(),
        wants_segment: AtomicBool::new(tail.is_none()),
        config,
    };
    Ok((core, tail, report))
}

/// For each segment the lowest first seq of all that come after it.
fn bounds(segments: &[Segment]) -> Vec<Option<Seq>> {
    let mut lowest = None;
    let mut bounds: Vec<_> = segments
        .iter()
        .rev()
        .map(|segment| {
            let bound = lowest;
            lowest =
                Some(lowest.map_or(segment.first(), |lowest: Seq| lowest.min(segment.first())));
            bound
        })
        .collect();
    bounds.reverse();
    bounds
}

struct State {
    /// The seq that should come next.
    next: Seq,
    /// Below this nobody misses anything.
    lowest: Seq,
    tail: Option<Tail>,
}

impl State {
    fn take(
        &mut self,
        slots: &mut Slots,
        mut segment: Segment,
        bound: Option<Seq>,
        quarantine: &mut Quarantine,
        report: &mut Recovery,
    ) {
        let is_newest = bound.is_none();
        let scanned = scan::frames(&segment, bound);
        self.report_missing(&segment, &scanned, bound, report);
        let gaps = scanned.damage(&segment, bound);
        for gap in &gaps {
            // Zeros are no evidence: the missing records were reported.
            if let Some(copied) = quarantine.copy(&segment, *gap) {
                let Gap { start, end } = gap;
                let name = segment.name();
                report
                    .issues
                    .push(format!("{name} is damaged from byte {start} to {end}: {copied}"));
            }
        }
        if scanned.looks_torn && is_newest {
            report.notes.push(format!(
                "{} ended in an unfinished commit at byte {}: it was never acknowledged and is cut",
                segment.name(),
                scanned.end
            ));
        }
        report.frames += scanned.frames;
        report.records += scanned.records;
        if let Some(first) = scanned.first {
            if report.first_seq == Seq::ZERO {
                report.first_seq = first;
            }
            report.last_seq = report.last_seq.max(scanned.last);
        }
        self.next = self.next.max(scanned.last.next()).max(segment.first());
        // Missing up to the next segment was reported here, not to be said again there.
        self.next = self.next.max(bound.unwrap_or_default());
        if scanned.frames == 0 && !is_newest && gaps.is_empty() && segment.is_reusable {
            // It was begun and never used.
            slots.free.push_back(Free { slot: segment.slot, file: segment.file });
            return;
        }
        segment.advance(scanned.end);
        segment.gaps = scanned.gaps;
        let goes_on = is_newest && segment.is_reusable && gaps.is_empty() && !scanned.looks_torn;
        let segment = Arc::new(segment);
        if goes_on {
            self.tail = Some(Tail { segment: Arc::clone(&segment), position: scanned.end });
        }
        slots.live.push_back(segment);
    }

    /// Tells of seqs that should be there and are not.
    fn report_missing(
        &self,
        segment: &Segment,
        scanned: &Scanned,
        bound: Option<Seq>,
        report: &mut Recovery,
    ) {
        // Without any record or cursor before it, a journal may begin anywhere.
        let is_begin = report.first_seq == Seq::ZERO && self.lowest == Seq::ZERO;
        let mut next = if is_begin { segment.first() } else { self.next };
        let ends = scanned.runs.iter().map(|run| (run.first, run.last.next()));
        for (first, after) in ends.chain(bound.map(|bound| (bound, bound))) {
            if first > next && first > self.lowest {
                report.issues.push(format!(
                    "records {} to {} are missing in or beside {}",
                    next.max(self.lowest.next()),
                    first.0 - 1,
                    segment.name()
                ));
            }
            next = next.max(after);
        }
    }
}

/// What a killed process had written but not synced must not vanish after it was read.
fn sync(tail: &Tail, report: &mut Recovery) -> bool {
    let synced = tail.segment.file.sync_data();
    if let Err(error) = &synced {
        report.issues.push(format!("{} cannot be synced: {error}", tail.segment.name()));
    }
    synced.is_ok()
}

fn log(report: &Recovery) {
    for note in &report.notes {
        warn!(%note, "The journal was not closed.");
    }
    for issue in &report.issues {
        warn!(%issue, "The journal was damaged.");
    }
    info!(
        first = report.first_seq.0,
        last = report.last_seq.0,
        segments = report.segments,
        "Opened the journal."
    );
}

impl Scanned {
    /// The damaged stretches: those between frames, and the end if records are missing there.
    fn damage(&self, segment: &Segment, bound: Option<Seq>) -> Vec<Gap> {
        let mut damage = self.gaps.clone();
        let next = self.runs.last().map_or(segment.first(), |run| run.last.next());
        if bound.is_some_and(|bound| bound > next) {
            damage.push(Gap { start: self.end, end: segment.header.frames_end() });
        }
        damage
    }
}
