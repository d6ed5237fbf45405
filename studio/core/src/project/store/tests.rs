//! Files of projects: drafts survive everything but being thrown away.

use super::*;
use crate::clock::SystemClock;

fn store(folder: &tempfile::TempDir) -> Store {
    Store::new(folder.path().join("projects"), Arc::new(SystemClock))
}

fn profile() -> ProfileId {
    ProfileId::try_from("00000000000000aa".to_owned()).unwrap()
}

fn place(name: &str) -> Place {
    Place::new(profile(), "main".to_owned(), name.to_owned()).unwrap()
}

fn document(name: &str, label: &str) -> String {
    format!(
        r#"{{"millrace":1,"name":"{name}","steps":{{"in":{{"kind":"manual","label":"{label}"}}}}}}"#
    )
}

fn known(revision: u32, document: String) -> Known {
    Known {
        revision,
        at: "t".to_owned(),
        author: "user:bo".to_owned(),
        note: String::new(),
        deployed: Some(revision),
        document,
        fetched: "t".to_owned(),
    }
}

#[test]
fn a_fetch_leaves_a_draft_and_its_base_alone() {
    let folder = tempfile::tempdir().unwrap();
    let first = document("p", "one");
    store(&folder).set_known(&place("p"), known(1, first.clone())).unwrap();
    let base = store(&folder).document_of(&place("p"), 1).unwrap();
    assert_eq!(base.as_ref(), Some(&first));
    store(&folder).set_draft(&place("p"), &document("p", "mine"), 1, base).unwrap();
    store(&folder).set_known(&place("p"), known(2, document("p", "theirs"))).unwrap();
    let kept = store(&folder).read(&place("p")).unwrap();
    let draft = kept.draft.unwrap();
    assert_eq!((draft.base, draft.base_document), (1, Some(first.clone())));
    assert_eq!(kept.known.unwrap().revision, 2);
    assert_eq!(store(&folder).document_of(&place("p"), 1).unwrap(), Some(first));
    assert_eq!(store(&folder).document_of(&place("p"), 3).unwrap(), None);
    // It is gone there: the draft stays here.
    store(&folder).keep_only(&profile(), "main", &[]).unwrap();
    let kept = store(&folder).read(&place("p")).unwrap();
    assert!(kept.known.is_none() && kept.draft.is_some());
}

#[test]
fn lists_what_is_known_and_edited() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    assert_eq!(store.list(&profile(), "main").unwrap(), []);
    store.set_known(&place("b"), known(3, document("b", ""))).unwrap();
    store.set_draft(&place("a"), &document("a", ""), 0, None).unwrap();
    let list = store.list(&profile(), "main").unwrap();
    let [a, b] = list.as_slice() else { panic!("{list:?}") };
    assert_eq!((a.name.as_str(), a.revision, a.draft_base), ("a", None, Some(0)));
    assert_eq!((b.name.as_str(), b.revision, b.draft_base), ("b", Some(3), None));
    assert!(store.has_drafts(&profile()).unwrap());
    store.drop_draft(&place("a")).unwrap();
    assert!(!store.has_drafts(&profile()).unwrap());
    assert_eq!(store.list(&profile(), "main").unwrap().len(), 1, "nothing is left of a");
    store.forget(&profile()).unwrap();
    assert_eq!(store.list(&profile(), "main").unwrap(), []);
}

#[test]
fn a_draft_that_was_edited_while_it_was_deployed_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    store.set_draft(&place("p"), &document("p", "one"), 0, None).unwrap();
    let sent = store.read(&place("p")).unwrap().draft.unwrap();
    store.set_draft(&place("p"), &document("p", "two"), 0, None).unwrap();
    store.draft_stored(&place("p"), &sent, known(1, document("p", "one"))).unwrap();
    let draft = store.read(&place("p")).unwrap().draft.unwrap();
    assert_eq!((draft.base, draft.base_document.clone()), (1, Some(document("p", "one"))));
    store.draft_stored(&place("p"), &draft, known(2, document("p", "two"))).unwrap();
    assert!(store.read(&place("p")).unwrap().draft.is_none());
}

#[test]
fn damage_is_set_aside_and_the_next_try_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    for damage in ["", "{", r#"{"version":2}"#, "\u{0}"] {
        let path = place("p").file(&store.projects);
        file::write(&path, damage.as_bytes()).unwrap();
        let fault = store.read(&place("p")).unwrap_err();
        assert_eq!(fault.code, FaultCode::Storage);
        assert!(fault.message.contains("damaged-"), "{}", fault.message);
        assert!(store.read(&place("p")).unwrap().known.is_none());
    }
}

#[test]
fn refuses_what_is_no_draft_of_this_pipeline() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let refused = |document: &str| {
        let fault = store.set_draft(&place("p"), document, 0, None).unwrap_err();
        (fault.code, fault.field)
    };
    assert_eq!(refused("{"), (FaultCode::Invalid, Some("document")));
    assert_eq!(refused(&document("other", "")), (FaultCode::Invalid, Some("document")));
    let long = "x".repeat(65);
    assert_eq!(
        Place::new(profile(), long.clone(), "p".to_owned()).unwrap_err().field,
        Some("workspace")
    );
    assert_eq!(Place::new(profile(), "main".to_owned(), long).unwrap_err().field, Some("name"));
}
