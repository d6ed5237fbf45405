//! What the table promises.

use super::*;
use crate::cli::Cli;
use crate::set::Profile;
use clap::Parser as _;

const PROFILES: [Profile; 3] = [Profile::Smoke, Profile::Quick, Profile::Full];
/// A third of the room is for what a busy machine adds.
const QUICK_SECONDS_MAX: u64 = 15 * 60;

#[test]
fn names_each_class_once_in_letters_of_a_file_name() {
    let mut names: Vec<&str> = all().map(|class| class.name).collect();
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    assert!(names.iter().all(|name| name.chars().all(is_plain)));
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
    assert_eq!((place("ingest"), place("no-such")), (0, usize::MAX));
}

#[test]
fn every_command_is_one_that_the_lab_understands() {
    for class in all() {
        for profile in PROFILES {
            let Ok(run) = class.way(profile) else { continue };
            let words = run
                .arguments
                .split(' ')
                .map(|word| if word.starts_with('{') { "13000" } else { word });
            let typed = std::iter::once("lab").chain(words);
            if let Err(error) = Cli::try_parse_from(typed) {
                panic!("{}: {error}", class.name);
            }
        }
    }
}

#[test]
fn the_quick_profile_fits_into_a_quarter_of_an_hour() {
    let seconds: u64 = all().map(|class| class.seconds(Profile::Quick)).sum();
    assert!(seconds < QUICK_SECONDS_MAX, "{seconds} s");
}

#[test]
fn has_the_classes_of_the_reference_and_those_that_it_does_not_cover() {
    let wanted = [
        "ingest",
        "pipelines-pass-through",
        "pipelines-script",
        "pipelines-waits",
        "pipelines-in-order",
        "mixed-pass-through",
        "mixed-script",
        "fleet-1000",
        "fleet-2000",
        "payload-string",
        "payload-object",
        "payload-array",
        "payload-large",
        "subscribers",
        "qos-0",
        "tls",
        "websocket",
        "devices-5000",
        "storm",
        "reading-history",
        "durability-interval",
        "slow-disk",
        "soak",
        "history-minimal",
        "history-full",
        "priority",
        "kill",
        "powercut",
        "peers-plant",
        "node-red",
    ];
    for name in wanted {
        assert!(all().any(|class| class.name == name), "{name}");
    }
}
