//! Bytes that changed, files that went or came: a journal always opens and keeps what is intact.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

const PAGE: usize = 4096;

type All = Vec<(Seq, Vec<u8>)>;

/// Commits of many sizes over three segments, and what they hold.
fn small_journal() -> (ForgetfulDisk, All) {
    static BUILT: LazyLock<(ForgetfulDisk, All)> = LazyLock::new(build);
    (BUILT.0.copy(1), BUILT.1.clone())
}

fn build() -> (ForgetfulDisk, All) {
    let disk = ForgetfulDisk::new(1);
    let mut rig = Rig::open(Arc::new(disk.clone()));
    let sizes = [40, 4000, 4100, 9000, 100, 12_000, 8];
    let mut number = 0;
    while segments(&disk).len() < 3 || number % 7 != 0 {
        let size = sizes[number % sizes.len()];
        rig.append(&[record(number as u64, size), record(number as u64, 30)]);
        assert!(rig.writer.step());
        number += 1;
    }
    let all = rig.all();
    (disk, all)
}

struct Frame {
    bytes: Range<usize>,
    seqs: Range<u64>,
}

/// Finds the frames by their magic alone: an opinion that does not use the code under test.
fn frames(content: &[u8]) -> Vec<Frame> {
    let at = |from: usize, bytes: usize| {
        let mut number = [0; 8];
        number[..bytes].copy_from_slice(&content[from..from + bytes]);
        u64::from_le_bytes(number)
    };
    let starts = (PAGE..content.len()).step_by(PAGE);
    let starts = starts.filter(|start| content[*start..].starts_with(b"MRJF"));
    let frame = |start: usize| Frame {
        bytes: start..start + 40 + at(start + 8, 4) as usize,
        seqs: at(start + 16, 8)..at(start + 16, 8) + at(start + 12, 4),
    };
    starts.map(frame).collect()
}

type Hurt<'a> = &'a dyn Fn(&mut Vec<u8>, usize);

/// Damages `path` at `offset`; what `is_hurt` does not cover must be there afterwards.
fn check(
    disk: &ForgetfulDisk,
    all: &[(Seq, Vec<u8>)],
    path: &Path,
    hurt: impl FnOnce(&mut Vec<u8>),
    is_hurt: impl Fn(&Frame) -> bool,
    what: &str,
) {
    let disk = disk.copy(1);
    let mut content = disk.content(path).expect("the file is there");
    let lost: Vec<_> = frames(&content).into_iter().filter(|frame| is_hurt(frame)).collect();
    hurt(&mut content);
    disk.put(path, &content);
    let mut rig = Rig::open(Arc::new(disk.clone()));
    let is_lost = |seq: Seq| lost.iter().any(|frame| frame.seqs.contains(&seq.0));
    let expected: Vec<_> = all.iter().filter(|(seq, _)| !is_lost(*seq)).cloned().collect();
    assert!(rig.all() == expected, "{what}: {:?}", rig.report);
    let newest = all.last().expect("records").0;
    if lost.iter().any(|frame| !frame.seqs.contains(&newest.0)) {
        assert_ne!(rig.report.issues, Vec::<String>::new(), "{what}");
    }
    // It goes on, and the new record survives the next start as well.
    let seq = rig.commit(b"after the damage");
    assert!(seq > expected.last().map_or(Seq::ZERO, |(seq, _)| *seq), "{what}");
    disk.crash_hard();
    let again = Rig::open(Arc::new(disk)).all();
    assert!(again.len() == expected.len() + 1, "{what}: the second start loses something");
    assert_eq!(again.last(), Some(&(seq, b"after the damage".to_vec())), "{what}");
}

fn overlaps(frame: &Frame, bytes: Range<usize>) -> bool {
    frame.bytes.start < bytes.end && bytes.start < frame.bytes.end
}

#[test]
fn flips_and_zeros_anywhere_cost_only_the_frame_they_hit() {
    let (disk, all) = small_journal();
    let flip: Hurt<'_> = &|content, at| content[at] ^= 0x40;
    let zero: Hurt<'_> = &|content, at| content[at..at + 512].fill(0);
    for path in segments(&disk) {
        let content = disk.content(&path).expect("the file is there");
        let pages = (0..content.len()).step_by(PAGE);
        let sample = (0..content.len() - 512).step_by(1999);
        for at in pages.chain(sample) {
            let what = format!("{} at {at}", path.display());
            let is_hurt = |frame: &Frame| overlaps(frame, at..at + 1);
            check(&disk, &all, &path, |content| flip(content, at), is_hurt, &what);
            // Zeros on zeros are no damage.
            let is_hurt = |frame: &Frame| {
                let inside = frame.bytes.start.max(at)..frame.bytes.end.min(at + 512);
                content.get(inside).is_some_and(|bytes| bytes.iter().any(|byte| *byte != 0))
            };
            check(&disk, &all, &path, |content| zero(content, at), is_hurt, &what);
        }
    }
}

#[test]
fn a_file_cut_anywhere_keeps_the_frames_before_the_cut() {
    let (disk, all) = small_journal();
    for path in segments(&disk) {
        let length = disk.content(&path).expect("the file is there").len();
        let cuts = (0..length).step_by(PAGE).chain([1, 11, 63, 64, 5000, length - 1]);
        for cut in cuts {
            let what = format!("{} cut at {cut}", path.display());
            // Without either header nothing can be checked, and the whole file is set aside.
            let is_hurt = |frame: &Frame| cut < 64 || frame.bytes.end > cut;
            check(&disk, &all, &path, |content| content.truncate(cut), is_hurt, &what);
        }
    }
}

#[test]
fn damaged_bytes_are_copied_before_they_are_passed_over() {
    let (disk, _) = small_journal();
    let path = segments(&disk)[0].clone();
    let mut content = disk.content(&path).expect("the file is there");
    let second = frames(&content)[1].bytes.clone();
    content[second.start + 50] ^= 1;
    disk.put(&path, &content);
    for _ in 0..2 {
        let rig = Rig::open(Arc::new(disk.clone()));
        let [copy] = &rig.report.quarantined[..] else { panic!("{:?}", rig.report) };
        let kept = disk.content(copy).expect("the copy is there");
        assert_eq!(kept, content[second.start..second.start + kept.len()]);
        assert!(kept.len() >= second.len());
    }
}

#[test]
fn files_that_are_no_segments_are_set_aside_and_reported() {
    let (disk, all) = small_journal();
    let copy = disk.content(&segments(&disk)[0]).expect("the file is there");
    let mut foreign: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    foreign.insert("segment-0091.journal", Vec::new());
    foreign.insert("segment-0092.journal", b"hello world".to_vec());
    foreign.insert("segment-0093.journal", vec![0; 30_000]);
    foreign.insert("segment-0094.journal", (0..200_000u32).map(|n| (n * 7) as u8).collect());
    foreign.insert("segment-0095.journal", copy);
    for (name, bytes) in &foreign {
        disk.put(&PathBuf::from(DIR).join(name), bytes);
    }
    let rig = Rig::open(Arc::new(disk.clone()));
    assert_eq!(rig.all(), all);
    assert_eq!(rig.report.issues.len(), foreign.len(), "{:?}", rig.report);
    for (name, bytes) in &foreign {
        let issue = rig.report.issues.iter().find(|issue| issue.contains(name));
        assert!(issue.is_some_and(|issue| issue.contains("set aside")), "{issue:?}");
        let aside =
            rig.report.quarantined.iter().find(|path| path.to_string_lossy().contains(name));
        let aside = aside.expect("it says where");
        assert_eq!(disk.content(aside).as_ref(), Some(bytes), "nothing is deleted");
    }
    drop(rig);
    let again = Rig::open(Arc::new(disk));
    assert_eq!(again.report.issues, Vec::<String>::new(), "said once");
}

#[test]
fn a_prepared_segment_and_an_unfinished_one_are_no_damage() {
    let (disk, all) = small_journal();
    let dir = PathBuf::from(DIR);
    disk.put(&dir.join("segment-0009.journal"), &vec![0; SEGMENT_BYTES as usize]);
    disk.put(&dir.join("segment-0008.journal.new"), &[0; 5000]);
    let rig = Rig::open(Arc::new(disk.clone()));
    assert_eq!(rig.report.issues, Vec::<String>::new());
    assert_eq!(rig.all(), all);
    assert_eq!(rig.journal.stats().segments_free, 1);
    assert!(disk.content(&dir.join("segment-0008.journal.new")).is_none());
}

#[test]
fn a_lost_segment_in_the_middle_is_a_reported_gap() {
    let (disk, all) = small_journal();
    let middle = segments(&disk)[1].clone();
    let lost = frames(&disk.content(&middle).expect("the file is there"));
    disk.take(&middle);
    let mut rig = Rig::open(Arc::new(disk));
    let first = lost[0].seqs.start;
    let last = lost[lost.len() - 1].seqs.end - 1;
    let issue = format!("records {first} to {last} are missing");
    assert!(rig.report.issues.iter().any(|text| text.contains(&issue)), "{:?}", rig.report);
    let expected: Vec<_> =
        all.iter().filter(|(seq, _)| !(first..=last).contains(&seq.0)).cloned().collect();
    assert_eq!(rig.all(), expected);
    assert_eq!(rig.commit(b"on").0, all[all.len() - 1].0.0 + 1);
}

#[test]
fn after_losing_all_segments_no_seq_is_given_twice() {
    let (disk, all) = small_journal();
    let newest = all[all.len() - 1].0;
    let rig = Rig::open(Arc::new(disk.clone()));
    rig.journal.register_cursor("test").checkpoint(newest).expect("durable");
    rig.keep();
    drop(rig);
    for path in segments(&disk) {
        disk.take(&path);
    }
    let mut rig = Rig::open(Arc::new(disk));
    assert_eq!(rig.report.next_seq, newest.next());
    assert_eq!(rig.commit(b"above"), newest.next());
    // An owner who knows of more can say so.
    rig.journal.skip_past(Seq(5000));
    assert_eq!(rig.commit(b"far above"), Seq(5001));
    assert_eq!(read_all(&rig.journal, newest).len(), 2);
}

#[test]
fn a_damaged_cursor_file_falls_back_and_is_reported() {
    let (disk, _) = small_journal();
    let file = PathBuf::from(DIR).join("cursors");
    for seq in [3, 5] {
        let rig = Rig::open(Arc::new(disk.clone()));
        rig.journal.register_cursor("test").checkpoint(Seq(seq)).expect("durable");
        rig.keep();
    }
    let good = disk.content(&file).expect("saved");
    let position = |disk: &ForgetfulDisk| {
        let rig = Rig::open(Arc::new(disk.clone()));
        let position = rig.journal.register_cursor("test").position();
        (position, rig.report.issues, rig.report.notes.len())
    };
    assert_eq!(position(&disk), (Seq(5), Vec::new(), 0));
    let mut found = Vec::new();
    for at in [100, PAGE + 100] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        disk.put(&file, &bad);
        let (position, issues, notes) = position(&disk);
        assert_eq!((issues.len(), notes), (0, 1), "{issues:?}");
        found.push(position.0);
    }
    found.sort_unstable();
    assert_eq!(found, [3, 5], "one page each");
    for bad in [Vec::new(), vec![7; 3], vec![7; 20_000]] {
        disk.put(&file, &bad);
        let (position, issues, _) = position(&disk);
        assert_eq!((position, issues.len()), (Seq(0), 1), "{issues:?}");
    }
}

#[test]
fn a_torn_tail_is_cut_quietly_and_never_written_over() {
    let (disk, all) = small_journal();
    let path = segments(&disk)[2].clone();
    let mut content = disk.content(&path).expect("the file is there");
    let last = frames(&content).pop().expect("a frame");
    content[last.bytes.end - 1] ^= 1;
    disk.put(&path, &content);
    let mut rig = Rig::open(Arc::new(disk.clone()));
    assert_eq!(rig.report.issues, Vec::<String>::new());
    assert_eq!(rig.report.notes.len(), 1);
    let kept: Vec<_> = all.iter().filter(|(seq, _)| seq.0 < last.seqs.start).cloned().collect();
    assert_eq!(rig.all(), kept);
    assert_eq!(rig.commit(b"fresh").0, last.seqs.start);
    assert_eq!(disk.content(&path), Some(content), "it went to a fresh segment");
}

#[test]
fn damage_after_opening_is_told_once_and_passed_over() {
    let (disk, all) = small_journal();
    let path = segments(&disk)[1].clone();
    let rig = Rig::open(Arc::new(disk.clone()));
    let content = disk.content(&path).expect("the file is there");
    let hit = frames(&content).remove(1);
    let file = disk.open(&path, crate::disk::OpenMode::Write).expect("opens");
    file.write_all_at(b"!", hit.bytes.start as u64 + 60).expect("writes");
    let mut reader = rig.journal.reader(Seq::ZERO);
    let mut seen = Vec::new();
    let mut errors = Vec::new();
    loop {
        match reader.next() {
            Ok(None) => break,
            Ok(Some(batch)) => seen.extend(batch.records().map(|(seq, _)| seq)),
            Err(error) => errors.push(error),
        }
    }
    assert!(matches!(&errors[..], [crate::Error::Damaged { .. }]), "{errors:?}");
    let expected: Vec<_> =
        all.iter().map(|(seq, _)| *seq).filter(|seq| !hit.seqs.contains(&seq.0)).collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_reader_without_a_cursor_is_told_when_it_is_overrun() {
    let mut rig = Rig::open(Arc::new(ForgetfulDisk::new(1)));
    let cursor = rig.journal.register_cursor("other");
    rig.commit(&record(1, 9000));
    let mut reader = rig.journal.reader(Seq::ZERO);
    assert_eq!(reader.next().expect("readable").expect("a frame").first, Seq(1));
    for number in 2..200 {
        let seq = rig.commit(&record(number, 9000));
        cursor.checkpoint(seq).expect("durable");
        rig.keep();
    }
    let mut told = 0;
    let mut last = Seq(1);
    loop {
        match reader.next() {
            Ok(Some(batch)) => {
                assert!(batch.first > last);
                last = batch.last();
            }
            Ok(None) => break,
            Err(error) => {
                assert!(matches!(error, crate::Error::Overrun { after: Seq(1), .. }), "{error}");
                told += 1;
            }
        }
    }
    assert_eq!((told, last), (1, Seq(199)));
}

/// The end of a sealed segment is damage, unlike that of the newest: its records are missing.
#[test]
fn a_damaged_end_of_a_sealed_segment_is_copied_and_reported() {
    let (disk, all) = small_journal();
    let path = segments(&disk)[0].clone();
    let mut content = disk.content(&path).expect("the file is there");
    let last = frames(&content).pop().expect("a frame");
    content[last.bytes.start] ^= 1;
    disk.put(&path, &content);
    let rig = Rig::open(Arc::new(disk.clone()));
    assert_eq!(rig.report.issues.len(), 2, "{:?}", rig.report);
    let copy = disk.content(&rig.report.quarantined[0]).expect("the copy is there");
    assert_eq!(copy[..last.bytes.len() - 1], content[last.bytes.start..last.bytes.end - 1]);
    let expected: Vec<_> = all.into_iter().filter(|(seq, _)| !last.seqs.contains(&seq.0)).collect();
    assert_eq!(rig.all(), expected);
}

#[test]
fn impossible_numbers_in_a_frame_are_damage() {
    let (disk, all) = small_journal();
    let path = segments(&disk)[0].clone();
    let content = disk.content(&path).expect("the file is there");
    let frame = frames(&content).remove(1);
    for at in [8, 12, 16] {
        let hurt = |content: &mut Vec<u8>| {
            let start = frame.bytes.start + at;
            content[start..start + 4].fill(0xff);
            content[start + 4..start + 8].fill(if at == 16 { 0xff } else { 0 });
        };
        let is_hurt = |other: &Frame| other.bytes == frame.bytes;
        check(&disk, &all, &path, hurt, is_hurt, &format!("field at {at}"));
    }
}

#[test]
fn fewer_segments_than_before_are_reached_by_recycling() {
    let (disk, all) = small_journal();
    let newest = all[all.len() - 1].0;
    let smaller = Config { bytes_max: 3 * SEGMENT_BYTES, ..config() };
    for number in 5..8 {
        let name = format!("segment-{number:04}.journal");
        disk.put(&PathBuf::from(DIR).join(name), &vec![0; SEGMENT_BYTES as usize]);
    }
    let mut rig = Rig::open_with(smaller, Arc::new(disk.clone()));
    let cursor = rig.journal.register_cursor("test");
    cursor.checkpoint(newest).expect("durable");
    for number in 0..60 {
        cursor.checkpoint(rig.commit(&record(number, 9000))).expect("durable");
        rig.keep();
    }
    assert_eq!(segments(&disk).len(), 3);
}

#[test]
fn looking_at_a_damaged_journal_changes_nothing() {
    let (disk, all) = small_journal();
    let path = segments(&disk)[0].clone();
    let mut content = disk.content(&path).expect("the file is there");
    content[PAGE + 60] ^= 1;
    disk.put(&path, &content);
    disk.put(&PathBuf::from(DIR).join("segment-0007.journal"), &vec![0; SEGMENT_BYTES as usize]);
    disk.put(&PathBuf::from(DIR).join("segment-0008.journal"), b"foreign");
    let state = |disk: &ForgetfulDisk| {
        disk.files().into_iter().map(|path| (disk.content(&path), path)).collect::<Vec<_>>()
    };
    let before = state(&disk);
    let report = Journal::inspect(config(), Arc::new(disk.clone())).expect("readable");
    assert_eq!(report.records as usize, all.len() - 2);
    assert_eq!(report.issues.len(), 3, "{report:?}");
    assert!(state(&disk) == before);
    let missing = Config::new("/nowhere");
    let nothing = Journal::inspect(missing, Arc::new(crate::RealDisk)).map(|report| report.records);
    assert!(matches!(nothing, Err(crate::Error::Io { .. })), "{nothing:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    /// Several files are hurt at once, the cursors too: it opens, gives nothing that was not
    /// there, goes on, and finds that again.
    #[test]
    fn opens_whatever_stands_in_the_files(
        edits in proptest::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(),
             proptest::collection::vec(any::<u8>(), 0..600), any::<bool>()),
            1..6,
        ),
    ) {
        let (disk, all) = small_journal();
        Rig::open(Arc::new(disk.clone())).keep();
        for (file, at, bytes, cut) in edits {
            let files = disk.files();
            let path = file.get(&files);
            let mut content = disk.content(path).expect("the file is there");
            if content.is_empty() {
                continue;
            }
            let at = at.index(content.len());
            if cut && bytes.is_empty() {
                content.truncate(at);
            }
            for (place, byte) in content.iter_mut().skip(at).zip(bytes) {
                *place = byte;
            }
            disk.put(path, &content);
        }
        let mut rig = Rig::open(Arc::new(disk.clone()));
        let left = rig.all();
        prop_assert!(left.iter().all(|(seq, bytes)| all[seq.0 as usize - 1] == (*seq, bytes.clone())));
        prop_assert!(left.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let seq = rig.commit(b"on");
        prop_assert!(left.last().is_none_or(|(last, _)| *last < seq));
        disk.crash_hard();
        let again = Rig::open(Arc::new(disk)).all();
        prop_assert!(again.len() == left.len() + 1 && again.last() == Some(&(seq, b"on".to_vec())));
    }
}
