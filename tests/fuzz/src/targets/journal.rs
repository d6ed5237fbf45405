//! Recovery of the journal from damaged files.
//!
//! The input is a list of changes, eight bytes each, to the files of a good journal of several
//! segments: which file, what to do, where, with what.
//!
//! **Invariants** held: opening always succeeds; every record that is read is the one that was
//! written under its seq, in rising order; without a change all are there; the journal takes new
//! records afterwards, above all old seqs, and gives them back.

use super::ensure;
use crate::runner::Target;
use millrace_journal::disk::testing::ForgetfulDisk;
use millrace_journal::{Committed, Config, Durability, Error, Follower, Journal, RecordBuf, Seq};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub(super) const TARGET: Target = Target {
    name: "journal",
    corpus,
    words: &[
        b"\x00\x00\x00\x00",
        b"\x00\x10\x00\x00",
        b"\x00\x20\x00\x00",
        b"\xff\xff\xff\xff",
        b"\x00\x01",
    ],
    check,
};

const FOLDER: &str = "journal";
const SEGMENT_BYTES: u64 = 8 * 4096;
const RECORD_COUNT: u64 = 150;
const CHANGES_MAX: usize = 16;
/// More errors than segments can have holes: the reader does not come forward.
const ERRORS_MAX: usize = 1_000;

fn corpus() -> Vec<Vec<u8>> {
    vec![
        Vec::new(),
        b"\x00\x00\x00\x20\x00\x01\x02\x03".to_vec(),
        b"\x01\x01\x00\x10\x00\x00\x00\x00\x02\x02\x40\x20\x00\xff\xff\xff".to_vec(),
        b"\x02\x03\x00\x00\x01\x00\x00\x00\x03\x04\x00\x00\x00\x00\x00\x00".to_vec(),
    ]
}

struct Nobody;

impl Follower for Nobody {
    fn committed(&mut self, _batch: &Committed<'_>) {}
}

fn config() -> Config {
    Config {
        segment_bytes: SEGMENT_BYTES,
        bytes_max: SEGMENT_BYTES * 32,
        commit_interval: Duration::ZERO,
        durability: Durability::Sync,
        ..Config::new(FOLDER)
    }
}

fn record(seq: u64) -> Vec<u8> {
    let length = usize::try_from(seq * 7 % 300).unwrap_or(0);
    seq.to_le_bytes().into_iter().cycle().take(8 + length).collect()
}

/// A journal that was stopped cleanly.
fn template() -> Result<&'static ForgetfulDisk, String> {
    static TEMPLATE: OnceLock<Result<ForgetfulDisk, String>> = OnceLock::new();
    TEMPLATE.get_or_init(write_template).as_ref().map_err(Clone::clone)
}

fn write_template() -> Result<ForgetfulDisk, String> {
    let disk = Arc::new(ForgetfulDisk::new(1));
    let (journal, _) = Journal::open(config(), disk.clone()).map_err(|error| error.to_string())?;
    journal.start(Box::new(Nobody));
    let mut buf = RecordBuf::new();
    for seq in 1..=RECORD_COUNT {
        buf.push(&record(seq));
        if seq % 5 == 0 {
            journal.append_durable_blocking(&mut buf).map_err(|error| error.to_string())?;
        }
    }
    journal.close();
    Ok(disk.copy(1))
}

fn check(input: &[u8]) -> Result<(), String> {
    let disk = Arc::new(template()?.copy(2));
    for change in input.chunks_exact(8).take(CHANGES_MAX) {
        apply(&disk, change);
    }
    let (journal, recovery) =
        Journal::open(config(), disk).map_err(|error| format!("does not open: {error}"))?;
    journal.start(Box::new(Nobody));
    let checked = check_open(&journal, recovery.next_seq, input.len() < 8);
    journal.close();
    checked
}

fn apply(disk: &ForgetfulDisk, change: &[u8]) {
    let mut files = disk.files();
    files.sort();
    let [file, how, a, b, c, with @ ..] = change else { return };
    let Some(path) = files.get(usize::from(*file) % files.len().max(1)) else { return };
    let Some(mut content) = disk.content(path) else { return };
    let position = u32::from_le_bytes([*a, *b, *c, 0]);
    let position = usize::try_from(position).unwrap_or(0).checked_rem(content.len()).unwrap_or(0);
    match how % 6 {
        0 => overwrite(&mut content, position, with),
        1 => overwrite(&mut content, position, &[0; 512]),
        2 => {
            if let Some(byte) = content.get_mut(position) {
                *byte ^= with.first().copied().unwrap_or(1) | 1;
            }
        }
        3 => content.truncate(position),
        4 => return remove_or_copy(disk, path, &files, with),
        _ => {
            // A piece of the file somewhere else in it: stale and doubled frames.
            let piece: Vec<u8> = content.iter().skip(position).take(4096).copied().collect();
            let to = position / 2 / 4096 * 4096;
            overwrite(&mut content, to, &piece);
        }
    }
    disk.put(path, &content);
}

fn remove_or_copy(disk: &ForgetfulDisk, path: &Path, files: &[std::path::PathBuf], with: &[u8]) {
    let other = files.get(usize::from(with.first().copied().unwrap_or(0)) % files.len().max(1));
    match other.and_then(|other| disk.content(other)) {
        Some(content) if with.get(1).is_some_and(|byte| byte % 2 == 0) => disk.put(path, &content),
        _ => disk.take(path),
    }
}

fn overwrite(content: &mut [u8], position: usize, with: &[u8]) {
    for (byte, new) in content.iter_mut().skip(position).zip(with) {
        *byte = *new;
    }
}

fn check_open(journal: &Journal, next_seq: Seq, is_whole: bool) -> Result<(), String> {
    let old_count = read(journal, |seq, bytes| {
        ensure(seq.0 <= RECORD_COUNT && bytes == record(seq.0), "a record that was never written")
    })?;
    ensure(!is_whole || old_count == RECORD_COUNT, "records of a whole journal are missing")?;
    let mut buf = RecordBuf::new();
    buf.push(b"new");
    let range = journal.append_durable_blocking(&mut buf).map_err(|error| error.to_string())?;
    ensure(range.first >= next_seq, "a seq below the promised one")?;
    let mut is_there = false;
    let count = read(journal, |seq, bytes| {
        is_there |= seq == range.first && bytes == b"new";
        Ok(())
    })?;
    ensure(is_there && count == old_count + 1, "the new record or an old one is gone")
}

/// Reads all there is, in order; returns how many records that were.
fn read(
    journal: &Journal,
    mut each: impl FnMut(Seq, &[u8]) -> Result<(), String>,
) -> Result<u64, String> {
    let mut reader = journal.reader(Seq::ZERO);
    let (mut count, mut last, mut errors) = (0, Seq::ZERO, 0);
    loop {
        match reader.next() {
            Ok(Some(batch)) => {
                for (seq, bytes) in batch.records() {
                    ensure(seq > last, "seqs do not rise")?;
                    each(seq, bytes)?;
                    (last, count) = (seq, count + 1);
                }
            }
            Ok(None) => return Ok(count),
            Err(Error::Overrun { .. } | Error::Damaged { .. }) => errors += 1,
            Err(error) => return Err(format!("reading stops: {error}")),
        }
        ensure(errors < ERRORS_MAX, "the reader does not come forward")?;
    }
}
