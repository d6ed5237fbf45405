//! Topics as last read: bounded, whole, found again.

use super::*;
use crate::clock::SystemClock;
use std::sync::Arc;

fn store(folder: &tempfile::TempDir) -> Store {
    Store::new(folder.path().join("projects"), Arc::new(SystemClock))
}

fn profile() -> ProfileId {
    ProfileId::try_from("00000000000000aa".to_owned()).unwrap()
}

fn tag(path: &str, unit: &str, description: &str) -> v1::Tag {
    let tag = serde_json::json!({"id": 1, "workspace": "main", "path": path, "kind": "float",
        "unit": unit, "description": description, "retention": "32d", "schema": {}, "created": "t"});
    serde_json::from_value(tag).unwrap()
}

fn last(path: &str, value: &str) -> v1::LastValue {
    let sample = format!(
        r#"{{"path":"{path}","unit":"","sample":{{"source_time":"t1","receive_time":"t2",
        "quality":0,"kind":"float","value":{value}}}}}"#
    );
    serde_json::from_str(&sample).unwrap()
}

#[test]
fn a_value_keeps_its_digits_and_one_that_is_too_large_is_left_out() {
    let large = format!("\"{}\"", "x".repeat(SAMPLE_BYTES_MAX));
    let gathered = gather(
        vec![tag("a", "mm", "Stroke"), tag("b", "", ""), tag("c", "", "")],
        vec![last("a", "9223372036854775807"), last("b", &large), last("gone", "1")],
    );
    let sample = gathered[0].sample.as_ref().unwrap();
    assert_eq!((sample.value.as_str(), sample.time.as_str()), ("9223372036854775807", "t1"));
    assert_eq!((&gathered[1].sample, &gathered[2].sample), (&None, &None));
    assert_eq!(gathered.len(), 3);
}

#[test]
fn topics_are_found_by_path_unit_and_description() {
    let folder = tempfile::tempdir().unwrap();
    let topics =
        gather(vec![tag("press/stroke", "mm", "Hub"), tag("oven/t", "°C", "Zone 1")], vec![]);
    store(&folder).set_topics(&profile(), "main", topics, true).unwrap();
    let found = |search: &str| {
        let (topics, all) = store(&folder).topics(&profile(), "main", search).unwrap();
        (topics.into_iter().map(|topic| topic.path).collect::<Vec<_>>(), all)
    };
    assert_eq!(found("PRESS"), (vec!["press/stroke".to_owned()], 1));
    assert_eq!(found("hub").1, 1);
    assert_eq!(found("°c").0, ["oven/t"]);
    assert_eq!(found("").1, 2);
    assert_eq!(found("nothing").1, 0);
    let reading = store(&folder).reading(&profile(), "main").unwrap().unwrap();
    assert_eq!((reading.topics, reading.is_cut), (2, true));
    // They are no pipelines.
    assert!(store(&folder).list(&profile(), "main").unwrap().is_empty());
}

#[test]
fn more_topics_than_are_kept_or_shown_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    let tags = (0..=TOPICS_MAX).map(|number| tag(&format!("t/{number}"), "", "")).collect();
    let topics = gather(tags, vec![]);
    assert_eq!(topics.len(), TOPICS_MAX);
    store(&folder).set_topics(&profile(), "main", topics, true).unwrap();
    let (shown, all) = store(&folder).topics(&profile(), "main", "t/").unwrap();
    assert_eq!((shown.len(), all), (TOPICS_SHOWN_MAX, TOPICS_MAX));
}

#[test]
fn damaged_files_are_set_aside_and_are_none() {
    let folder = tempfile::tempdir().unwrap();
    store(&folder).set_topics(&profile(), "main", vec![], false).unwrap();
    let within = place::folder(&folder.path().join("projects"), &profile(), "main");
    for name in ["topics.json", "read.json"] {
        file::write(&within.join(name), b"{\"version\":1,\"top").unwrap();
    }
    assert_eq!(store(&folder).topics(&profile(), "main", "").unwrap().1, 0);
    assert_eq!(store(&folder).reading(&profile(), "main").unwrap(), None);
    let names = std::fs::read_dir(&within).unwrap();
    let kept = names
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains("damaged"));
    assert_eq!(kept.count(), 2, "a person can look at them");
}
