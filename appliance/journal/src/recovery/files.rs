//! Looks at each file of the folder: a segment, a prepared one, or something to set aside.

use super::Recovery;
use super::quarantine::Quarantine;
use crate::config::Config;
use crate::disk::{Disk, DiskFile, OpenMode, read_full};
use crate::frame::PAGE_BYTES;
use crate::header::{Header, HeaderPage};
use crate::pool::Free;
use crate::segment::{Segment, slot_of};
use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::path::Path;
use std::sync::Arc;
use tracing::warn;

/// Zeros are looked for in pieces of this size.
const PIECE_BYTES: usize = 1 << 18;

/// What the folder holds.
#[derive(Default)]
pub(super) struct Found {
    /// In their order.
    pub(super) segments: Vec<Segment>,
    pub(super) free: VecDeque<Free>,
    pub(super) taken: BTreeSet<u32>,
}

enum Look {
    Segment { header: Header, file: Arc<dyn DiskFile>, length: u64, can_write: bool },
    Prepared { file: Arc<dyn DiskFile>, can_write: bool },
    Foreign(String),
}

pub(super) fn sort(
    config: &Config,
    disk: &dyn Disk,
    names: &[String],
    quarantine: &mut Quarantine,
    report: &mut Recovery,
) -> Found {
    let mut found = Found::default();
    let mut ids = BTreeSet::new();
    for name in names {
        if name.ends_with(".journal.new") {
            remove_unfinished(disk, &config.dir.join(name));
            continue;
        }
        let Some(slot) = slot_of(name) else { continue };
        found.taken.insert(slot);
        let foreign = match look(config, disk, &config.dir.join(name)) {
            Ok(Look::Segment { header, file, length, can_write }) => {
                if ids.insert(header.id) {
                    if length < header.segment_bytes {
                        report.issues.push(format!(
                            "{name} has only {length} of {} bytes",
                            header.segment_bytes
                        ));
                    }
                    let mut segment = Segment::new(slot, header, file);
                    segment.is_reusable = can_write
                        && length == config.segment_bytes
                        && header.segment_bytes == config.segment_bytes;
                    found.segments.push(segment);
                    continue;
                }
                "a copy of another segment".to_owned()
            }
            Ok(Look::Prepared { file, can_write }) => {
                if can_write {
                    found.free.push_back(Free { slot, file });
                }
                continue;
            }
            Ok(Look::Foreign(why)) => why,
            Err(error) => format!("a file that cannot be read ({error})"),
        };
        match quarantine.set_aside(name) {
            Ok(to) => {
                found.taken.remove(&slot);
                report.issues.push(format!("{name} is {foreign}: set aside as {}", to.display()));
            }
            Err(error) => report.issues.push(format!(
                "{name} is {foreign} and could not be set aside ({error}): it is left alone"
            )),
        }
    }
    found.segments.sort_by_key(|segment| segment.header.order);
    found
}

/// A file that a crash left without its name: nothing was ever written to it but zeros.
fn remove_unfinished(disk: &dyn Disk, path: &Path) {
    if let Err(error) = disk.remove(path) {
        warn!(path = %path.display(), %error, "An unfinished segment cannot be removed.");
    }
}

fn look(config: &Config, disk: &dyn Disk, path: &Path) -> io::Result<Look> {
    let (file, can_write) = match disk.open(path, OpenMode::Write) {
        Ok(file) => (file, true),
        // A read-only file can still be read.
        Err(_) => (disk.open(path, OpenMode::Read)?, false),
    };
    let file: Arc<dyn DiskFile> = Arc::from(file);
    let length = file.len()?;
    let head = header_at(file.as_ref(), 0);
    // The copy's place follows from the size that the header tells; without it from the file's.
    let claimed = match head {
        HeaderPage::Header(header) => header.segment_bytes,
        _ => length,
    };
    let tail = header_at(file.as_ref(), claimed.saturating_sub(PAGE_BYTES));
    // A truncated or odd file lacks its copy at the end, but may have it where we would write it.
    let tail = match tail {
        HeaderPage::Damaged | HeaderPage::Zero => {
            header_at(file.as_ref(), config.segment_bytes.saturating_sub(PAGE_BYTES))
        }
        good => good,
    };
    Ok(match HeaderPage::of_copies(head, tail) {
        HeaderPage::Header(header) => Look::Segment { header, file, length, can_write },
        HeaderPage::Version(version) => Look::Foreign(format!("of a later version ({version})")),
        HeaderPage::Zero if length != config.segment_bytes => {
            Look::Foreign(format!("not a segment ({length} zeros)"))
        }
        HeaderPage::Zero | HeaderPage::Damaged if length == 0 => Look::Foreign("empty".to_owned()),
        HeaderPage::Zero if is_zero(file.as_ref(), length)? => Look::Prepared { file, can_write },
        HeaderPage::Zero | HeaderPage::Damaged => {
            Look::Foreign("not a segment (no header)".to_owned())
        }
    })
}

fn header_at(file: &dyn DiskFile, position: u64) -> HeaderPage {
    let mut page = vec![0; PAGE_BYTES as usize];
    match read_full(file, &mut page, position) {
        Ok(count) => {
            page.truncate(count);
            HeaderPage::decode(&page)
        }
        Err(_) => HeaderPage::Damaged,
    }
}

fn is_zero(file: &dyn DiskFile, length: u64) -> io::Result<bool> {
    let mut piece = vec![0; PIECE_BYTES];
    let mut position = 0;
    while position < length {
        let count = read_full(file, &mut piece, position)?;
        if count == 0 || piece.iter().take(count).any(|byte| *byte != 0) {
            return Ok(false);
        }
        position += count as u64;
    }
    Ok(true)
}
