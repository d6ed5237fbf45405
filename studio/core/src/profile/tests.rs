//! Profiles: what is kept, what is refused, and what damage does.

use super::*;
use crate::clock::SystemClock;

fn open(folder: &tempfile::TempDir) -> (Profiles, Option<Notice>) {
    Profiles::open(folder.path().join("profiles.json"), Arc::new(SystemClock)).unwrap()
}

fn text(folder: &tempfile::TempDir) -> String {
    std::fs::read_to_string(folder.path().join("profiles.json")).unwrap()
}

#[test]
fn profiles_are_there_again_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (mut profiles, notice) = open(&folder);
    assert!(notice.is_none());
    let press = profiles.add("Press hall", "https://10.0.0.7", false).unwrap();
    let fingerprint = Fingerprint::of(b"one");
    profiles.pin(&press.id, fingerprint, None).unwrap();
    profiles.signed_in(&press.id, "anna", true).unwrap();
    let (again, notice) = open(&folder);
    assert!(notice.is_none());
    assert_eq!(again.all(), profiles.all());
    let press = again.get(&press.id).unwrap();
    assert_eq!(press.pin.as_ref().unwrap().fingerprint, fingerprint);
    assert!(press.remembered);
}

#[test]
fn a_damaged_file_is_set_aside_and_said_so() {
    for damage in ["", "{", "{\"version\":1,\"profiles\":[{}]}", "\u{0}\u{0}", "[1]"] {
        let folder = tempfile::tempdir().unwrap();
        file::write(&folder.path().join("profiles.json"), damage.as_bytes()).unwrap();
        let (mut profiles, notice) = open(&folder);
        let notice = notice.unwrap();
        assert!(notice.message.contains("damaged-"), "{}", notice.message);
        assert!(profiles.all().is_empty());
        profiles.add("New", "box", false).unwrap();
        let names: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        let aside = names.iter().find(|name| name.contains("damaged-")).unwrap();
        assert_eq!(std::fs::read_to_string(folder.path().join(aside)).unwrap(), damage);
    }
}

#[test]
fn a_file_of_a_later_version_is_kept_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profiles.json");
    file::write(&path, br#"{"version":2,"profiles":[],"more":1}"#).unwrap();
    let (_, notice) = open(&folder);
    assert!(notice.unwrap().message.contains("version 2"));
}

#[test]
fn every_byte_of_the_file_may_be_cut_or_turned_without_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let (mut profiles, _) = open(&folder);
    profiles.add("Press", "box", false).unwrap();
    let good = text(&folder).into_bytes();
    for at in 0..good.len() {
        let (Ok(_) | Err(_)) = parse(&good[..at]);
        let mut turned = good.clone();
        turned[at] ^= 0x21;
        let (Ok(_) | Err(_)) = parse(&turned);
    }
    assert_eq!(parse(&good).unwrap(), profiles.all());
}

#[test]
fn a_pin_is_replaced_only_by_somebody_who_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let (mut profiles, _) = open(&folder);
    let id = profiles.add("Press", "box", false).unwrap().id;
    let (one, two) = (Fingerprint::of(b"one"), Fingerprint::of(b"two"));
    profiles.pin(&id, one, None).unwrap();
    let fault = profiles.pin(&id, two, None).unwrap_err();
    assert_eq!((fault.code, fault.field), (FaultCode::Invalid, Some("replaces")));
    let fault = profiles.pin(&id, two, Some(two)).unwrap_err();
    assert_eq!(fault.field, Some("replaces"));
    let pin = profiles.pin(&id, two, Some(one)).unwrap().pin.unwrap();
    assert_eq!((pin.fingerprint, pin.before), (two, Some(one)));
}

#[test]
fn another_address_is_another_box() {
    let folder = tempfile::tempdir().unwrap();
    let (mut profiles, _) = open(&folder);
    let id = profiles.add("Press", "box", false).unwrap().id;
    profiles.pin(&id, Fingerprint::of(b"one"), None).unwrap();
    assert!(profiles.change(&id, "Press 2", "box", false).unwrap().pin.is_some());
    assert!(profiles.change(&id, "Press 2", "other", false).unwrap().pin.is_none());
}

#[test]
fn refuses_what_is_no_profile() {
    let folder = tempfile::tempdir().unwrap();
    let (mut profiles, _) = open(&folder);
    profiles.add("Press", "box", false).unwrap();
    let mut refused =
        |name: &str, address: &str| profiles.add(name, address, false).unwrap_err().field.unwrap();
    assert_eq!(refused("Press", "other"), "name");
    assert_eq!(refused("", "other"), "name");
    assert_eq!(refused("a\nb", "other"), "name");
    assert_eq!(refused(&"x".repeat(129), "other"), "name");
    assert_eq!(refused("Saw", "http://10.0.0.8"), "address");
    profiles.add("Saw", "http://10.0.0.8", true).unwrap();
    for at in 2..PROFILES_MAX {
        profiles.profiles.push(Profile { name: at.to_string(), ..profiles.profiles[0].clone() });
    }
    let fault = profiles.add("One more", "box", false).unwrap_err();
    assert_eq!(fault.code, FaultCode::TooLarge);
}

#[test]
fn a_write_that_fails_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (mut profiles, _) = open(&folder);
    let id = profiles.add("Press", "box", false).unwrap().id;
    // A folder stands where the new file would be made.
    std::fs::create_dir(folder.path().join("profiles.json.new")).unwrap();
    let fault = profiles.add("Saw", "box", false).unwrap_err();
    assert_eq!(fault.code, FaultCode::Storage);
    assert_eq!(profiles.all().len(), 1);
    assert_eq!(profiles.forgotten(&id).unwrap().name, "Press");
}
