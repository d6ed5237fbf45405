//! Sets that are read, written, put together and refused.

use super::*;
use serde_json::json;

/// A set with one measured row.
pub(crate) fn set() -> Set {
    Set {
        millrace_lab: SCHEMA,
        profile: Profile::Quick,
        machine: Machine {
            cpu: "A CPU".into(),
            cores: 2,
            memory_mb: 8_000,
            kernel: "6.1".into(),
            virtual_machine: true,
        },
        build: Build {
            version: Some("millrace 0.1.0".into()),
            revision: Some("abc123abc123".into()),
            modified: Some(false),
            profile: "release".into(),
            binary: Some("1".into()),
        },
        conditions: Conditions {
            cpus: "0:1".into(),
            realtime: false,
            realtime_load: false,
            data_in_memory: false,
        },
        rows: vec![row("ingest", "2026-11-30T10:00:00Z")],
    }
}

/// A measured row with one figure.
pub(crate) fn row(class: &str, date: &str) -> ClassRow {
    ClassRow {
        class: class.into(),
        group: "reference".into(),
        title: "A class".into(),
        how: "Measured.".into(),
        state: State::Measured,
        date: date.into(),
        seconds: 3.0,
        command: format!("cargo xtask lab {class}"),
        figures: vec![figure("CPU per value", Better::Lower, [10.0, 9.8, 10.2])],
        limited_by: Some("cpu".into()),
        lost: Some(0),
        curve: None,
        notes: Vec::new(),
        result: json!({ "scenario": class }),
    }
}

/// A figure by its median, lowest and highest of five.
pub(crate) fn figure(name: &str, better: Better, [value, lowest, highest]: [f64; 3]) -> Figure {
    Figure { name: name.into(), unit: "us".into(), better, value, lowest, highest, count: 5 }
}

#[test]
fn survives_its_file_and_leaves_no_half_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("set.json");
    let set = set();
    set.write(&file).unwrap();
    set.write(&file).unwrap();
    assert_eq!(Set::read(&file).unwrap(), set);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn refuses_what_is_no_set_or_of_another_schema() {
    let why = |text: &str| format!("{:#}", Set::parse(text.as_bytes()).unwrap_err());
    assert!(why("{\"scenario\": \"ingest\"}").contains("`lab all` writes result sets"));
    assert!(why("{\"millrace_lab\": 2}").contains("schema 2"));
    assert!(why("{\"millrace_lab\": 1}").contains("read its fields"));
    assert!(why("nonsense").contains("JSON"));
}

#[test]
fn puts_parts_together_and_takes_the_later_row() {
    let mut all = set();
    let mut part = set();
    part.rows = vec![row("kill", "2026-11-30T11:00:00Z"), row("ingest", "2026-11-30T12:00:00Z")];
    all.merge(part).unwrap();
    assert_eq!(all.rows.len(), 2);
    assert_eq!(all.row("ingest").unwrap().date, "2026-11-30T12:00:00Z");
    let mut older = set();
    older.rows = vec![row("ingest", "2026-11-30T09:00:00Z")];
    all.merge(older).unwrap();
    assert_eq!(all.row("ingest").unwrap().date, "2026-11-30T12:00:00Z");
}

#[test]
fn refuses_to_mix_commits_machines_profiles_and_conditions() {
    let check = |change: &dyn Fn(&mut Set), expected: &str| {
        let mut other = set();
        change(&mut other);
        let why = set().merge(other).unwrap_err().to_string();
        assert!(why.contains(expected), "{why}");
    };
    check(&|set| set.build.revision = Some("def".into()), "abc123abc123 (release), the other of");
    check(&|set| set.build.modified = Some(true), "with changes");
    check(&|set| set.build.profile = "debug".into(), "(debug)");
    check(&|set| set.machine.cores = 4, "4 cores");
    check(&|set| set.profile = Profile::Full, "profile quick, the other of full");
    check(&|set| set.conditions.realtime_load = true, "--realtime-load");
}

#[test]
fn tells_changed_checkouts_apart_by_the_programs_bytes() {
    let changed = |binary: &str| {
        let mut set = set();
        set.build.modified = Some(true);
        set.build.binary = Some(binary.into());
        set
    };
    assert_eq!(changed("1").differs(&changed("1")), None);
    assert!(changed("1").differs(&changed("2")).is_some());
}
