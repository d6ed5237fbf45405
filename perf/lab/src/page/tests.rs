//! The page of a kept set, byte for byte.
//!
//! After a wanted change: `lab page` the set into a folder of your own, compare, and copy what it
//! wrote over `page.txt` (its README.md; not named so here, where its links lead nowhere) and
//! `ingest.svg`.

use super::*;

const SET: &str = include_str!("tests/set.json");
const PAGE: &str = include_str!("tests/page.txt");
const CURVE: &str = include_str!("tests/ingest.svg");

fn kept() -> Set {
    Set::parse(SET.as_bytes()).unwrap()
}

#[test]
fn writes_the_same_bytes_from_the_same_set() {
    let folder = tempfile::tempdir().unwrap();
    let stale = folder.path().join("curves/gone.svg");
    fs::create_dir_all(stale.parent().unwrap()).unwrap();
    File::create(&stale).unwrap();
    assert_eq!(write(&kept(), folder.path()).unwrap(), 2);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("README.md"), PAGE);
    assert_eq!(read("curves/ingest.svg"), CURVE);
    assert!(!stale.exists());
}

#[test]
fn tells_what_was_not_measured_and_what_failed() {
    let text = markdown::page(&kept());
    assert!(text.contains("- MQTT over WebSocket: not built: "), "{text}");
    assert!(text.contains("**It failed.**"), "{text}");
    assert!(text.contains("cargo xtask lab ingest --steps"), "{text}");
}

#[test]
fn words_of_a_set_are_no_markup() {
    let mut set = kept();
    set.rows[0].title = "a | b <script> [x](y)".into();
    let text = markdown::page(&set);
    assert!(!text.contains("<script>") && !text.contains(" [x](y)"), "{text}");
    assert!(text.contains("a \\| b"), "{text}");
}
