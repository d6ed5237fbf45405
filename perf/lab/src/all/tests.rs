//! Beginning, going on and refusing, without a server.

use super::*;
use crate::set::tests::row;
use clap::Parser as _;

#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    options: AllOptions,
}

fn options(words: &[&str]) -> AllOptions {
    Line::parse_from(std::iter::once("all").chain(words.iter().copied())).options
}

#[test]
fn goes_on_with_a_file_of_the_same_build_and_refuses_another() {
    let folder = tempfile::tempdir().unwrap();
    let (program, file) = (folder.path().join("millrace"), folder.path().join("set.json"));
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let words = ["--appliance", program.to_str().unwrap(), "--json", file.to_str().unwrap()];
    let options = options(&words);
    let mut set = begin(&options).unwrap();
    assert!(set.rows.is_empty());
    set.put(row("ingest", "2026-11-30T10:00:00Z"));
    set.write(&file).unwrap();
    assert_eq!(begin(&options).unwrap().rows.len(), 1);
    // Given a file of another commit
    set.build.revision = Some("0123456789ab".into());
    set.write(&file).unwrap();
    let why = format!("{:#}", begin(&options).unwrap_err());
    assert!(why.contains("0123456789ab") && why.contains("Name another file"), "{why}");
}

#[test]
fn asks_for_an_appliance_before_anything_else() {
    let why = begin(&options(&["--appliance", "no/such/program"])).unwrap_err().to_string();
    assert!(why.contains("no/such/program") && why.contains("cargo build"), "{why}");
}

#[test]
fn lists_each_class_with_its_time() {
    let options = options(&["--profile", "full", "--part", "harm"]);
    let text = list(options.profile, &chosen(&options).unwrap());
    assert!(text.contains("kill") && text.contains("All together about"), "{text}");
    assert!(!text.contains("fleet"), "{text}");
}

#[test]
fn a_row_says_its_state_where_it_has_no_figure() {
    let mut set = crate::set::tests::set();
    set.put(ClassRow {
        state: State::NotBuilt,
        figures: Vec::new(),
        notes: vec!["there is none".into()],
        ..row("websocket", "2026-11-30T10:00:00Z")
    });
    let text = summary(&set);
    assert!(text.contains("not built") && text.contains("there is none"), "{text}");
    assert!(text.contains("CPU per value, us"), "{text}");
}
