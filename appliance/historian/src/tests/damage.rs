//! Damaged and missing parts: set aside and said, never silently wrong.

use super::rig::{HOUR, Rig, SECOND, START};
use millrace_model::TagId;
use std::path::Path;

fn two_hours(rig: &mut Rig) {
    for number in 0..40i64 {
        rig.float(1, START + number * HOUR / 20, number as f64);
        rig.float(3, START + number * HOUR / 20, 0.25);
    }
    rig.seal();
}

#[test]
fn a_flipped_byte_anywhere_in_a_part_is_noticed() {
    let mut rig = Rig::new();
    two_hours(&mut rig);
    let expected = rig.raw(1);
    let (path, length) = rig.part_files().remove(0);
    let good = rig.disk.content(&path).expect("is there");
    let step = usize::try_from(length / 97).expect("small").max(1);
    for position in (0..good.len()).step_by(step) {
        rig.stop();
        let mut bytes = good.clone();
        bytes[position] ^= 0x10;
        rig.disk.put(&path, &bytes);
        rig.restart();
        let page = rig.page(1);
        assert!(page.incomplete, "byte {position} of {length}");
        assert!(page.samples.iter().all(|sample| expected.contains(sample)));
        assert_eq!(page.samples.len(), 20, "the other part still answers");
        assert!(rig.issues.list().iter().any(|issue| issue.key.starts_with("part-damaged:")));
        assert_eq!(rig.history().verify().damaged.len(), 1);
        assert!(rig.page(1).incomplete, "and says so each time");
        let _last = rig.history().last(TagId(1));
    }
    rig.stop();
    rig.disk.put(&path, &good);
    rig.restart();
    assert_eq!(rig.raw(1), expected, "a restored file answers again");
}

#[test]
fn missing_short_and_zeroed_parts_are_said() {
    let mut rig = Rig::new();
    two_hours(&mut rig);
    let files = rig.part_files();
    assert_eq!(files.len(), 2);
    let good = rig.disk.content(&files[0].0).expect("is there");
    let mut zeroed = good.clone();
    let tail = zeroed.len() - 1_024;
    zeroed[tail..].fill(0);
    for bytes in [None, Some(Vec::new()), Some(good[..good.len() / 2].to_vec()), Some(zeroed)] {
        rig.stop();
        match &bytes {
            None => rig.disk.take(&files[0].0),
            Some(bytes) => rig.disk.put(&files[0].0, bytes),
        }
        rig.restart();
        let page = rig.page(1);
        assert_eq!((page.samples.len(), page.incomplete), (20, true));
        assert!(!rig.issues.list().is_empty());
        // Sealing goes on.
        let time = START + 3 * HOUR + rig.records.len() as i64 * SECOND;
        rig.float(9, time, 1.0);
        rig.seal();
    }
    rig.stop();
    rig.disk.put(&files[0].0, &good);
    rig.restart();
    rig.assert_is_oracle();
}

#[test]
fn garbage_in_place_of_a_part_without_a_manifest_goes_to_quarantine() {
    let mut rig = Rig::new();
    two_hours(&mut rig);
    let files = rig.part_files();
    rig.stop();
    rig.disk.take(Path::new("/history/manifest.json"));
    rig.disk.take(Path::new("/history/manifest.previous.json"));
    rig.disk.put(&files[0].0, &[0x5a; 5_000]);
    let opened = rig.restart();
    assert_eq!(opened.quarantined.len(), 1);
    assert_eq!(rig.page(1).samples.len(), 20);
}
