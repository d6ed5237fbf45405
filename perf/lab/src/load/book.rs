//! What was sent and what became of it: the truth that the read-back is compared with.
//!
//! One entry per kept value, written to a file outside of the server's disk at the end of a run.
//!
//! **Invariants**
//! - An entry's topic is its number in the run: `client * tags + tag`.
//! - Entries are never removed: what was sent stays known, acknowledged or not.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context, Result};

use super::spec::Keep;

/// The slot of a value that is not kept.
pub(crate) const NOT_KEPT: u32 = u32::MAX;

/// One value and what became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) topic: u32,
    pub(crate) counter: u64,
    /// Nanoseconds since 1970; zero = sent without one.
    pub(crate) source_time: i64,
    pub(crate) acknowledged: bool,
    /// Acknowledged before the server went down.
    pub(crate) before_down: bool,
    pub(crate) resent: bool,
    pub(crate) refused: bool,
}

/// All kept values of a run.
#[derive(Debug)]
pub(crate) struct Book {
    entries: Vec<Entry>,
    keep: Keep,
    topics: u32,
}

impl Book {
    pub(crate) fn new(keep: Keep, topics: u32) -> Self {
        Self { entries: Vec::new(), keep, topics }
    }

    /// Writes a sent value down; gives the place to acknowledge it at.
    pub(crate) fn sent(&mut self, topic: u32, counter: u64, source_time: i64) -> u32 {
        if !keeps(self.keep, self.topics, topic) {
            return NOT_KEPT;
        }
        let Ok(place) = u32::try_from(self.entries.len()) else { return NOT_KEPT };
        self.entries.push(Entry { topic, counter, source_time, ..Entry::default() });
        place
    }

    /// Changes the entry at `place`, if it is kept.
    pub(crate) fn note(&mut self, place: u32, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.entries.get_mut(place as usize) {
            change(entry);
        }
    }

    /// Marks all that is acknowledged by now as acknowledged before the server went down.
    pub(crate) fn server_down(&mut self) {
        for entry in &mut self.entries {
            entry.before_down = entry.acknowledged;
        }
    }

    /// Writes all entries to a file.
    pub(crate) fn save(&self, file: &Path) -> Result<()> {
        let mut out = BufWriter::new(
            File::create(file).with_context(|| format!("create {}", file.display()))?,
        );
        for entry in &self.entries {
            let flags = [entry.acknowledged, entry.before_down, entry.resent, entry.refused];
            let flags = flags.iter().fold(0, |all, flag| all << 1 | u8::from(*flag));
            writeln!(out, "{} {} {} {flags}", entry.topic, entry.counter, entry.source_time)?;
        }
        out.flush().with_context(|| format!("write {}", file.display()))
    }
}

/// Reads the entries of a file.
pub(crate) fn read(file: &Path) -> Result<Vec<Entry>> {
    let opened = File::open(file).with_context(|| format!("open {}", file.display()))?;
    let mut entries = Vec::new();
    for line in BufReader::new(opened).lines() {
        let line = line.with_context(|| format!("read {}", file.display()))?;
        entries.push(parse(&line).with_context(|| format!("read the line '{line}'"))?);
    }
    Ok(entries)
}

/// The topics that a sample of `count` out of `topics` holds, evenly spread.
pub(crate) fn keeps(keep: Keep, topics: u32, topic: u32) -> bool {
    match keep {
        Keep::Nothing => false,
        Keep::Everything => true,
        Keep::Sample(count) => {
            let stride = (topics / count.max(1)).max(1);
            // A prime step inside each stride, so that all tags of a device get their turn.
            topic / stride < count && topic % stride == (topic / stride * 7) % stride
        }
    }
}

fn parse(line: &str) -> Option<Entry> {
    let mut words = line.split(' ');
    let topic = words.next()?.parse().ok()?;
    let counter = words.next()?.parse().ok()?;
    let source_time = words.next()?.parse().ok()?;
    let flags: u8 = words.next()?.parse().ok()?;
    Some(Entry {
        topic,
        counter,
        source_time,
        acknowledged: flags & 8 != 0,
        before_down: flags & 4 != 0,
        resent: flags & 2 != 0,
        refused: flags & 1 != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_as_many_topics_as_asked_over_all_tags() {
        let chosen: Vec<u32> =
            (0..10_000).filter(|topic| keeps(Keep::Sample(40), 10_000, *topic)).collect();
        assert_eq!(chosen.len(), 40);
        let tags: std::collections::BTreeSet<u32> = chosen.iter().map(|topic| topic % 10).collect();
        assert!(tags.len() >= 5, "{tags:?}");
        assert_eq!((0..30).filter(|topic| keeps(Keep::Sample(40), 30, *topic)).count(), 30);
    }

    #[test]
    fn keeps_what_became_of_each_value_through_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("book");
        let mut book = Book::new(Keep::Everything, 10);
        let first = book.sent(3, 17, 0);
        let second = book.sent(4, 18, 99);
        book.note(first, |entry| entry.acknowledged = true);
        book.server_down();
        book.note(second, |entry| (entry.acknowledged, entry.resent) = (true, true));
        book.note(NOT_KEPT, |entry| entry.refused = true);
        book.save(&file).unwrap();
        let found = read(&file).unwrap();
        assert_eq!(found, book.entries);
        assert!(found[0].before_down && !found[1].before_down && found[1].resent);
    }
}
