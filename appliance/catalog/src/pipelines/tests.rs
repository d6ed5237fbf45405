//! Pipelines as people change them, each change applied as the journal gives it back.

use super::*;
use crate::pipelines::change::{DOCUMENT_BYTES_MAX, PIPELINES_MAX};

const MAIN: WorkspaceNumber = WorkspaceNumber(1);

fn place(name: &str) -> Place<'_> {
    Place { workspace: MAIN, workspace_name: "main", name }
}

fn by() -> By {
    By { who: "user:anna".into(), from: None, at: Timestamp(7) }
}

fn done<T>(pipelines: &Pipelines, change: Change<T>) -> T {
    change.definitions.iter().for_each(|definition| pipelines.apply(definition));
    change.result
}

fn save(pipelines: &Pipelines, name: &str, document: &str) -> Arc<PipelineRevision> {
    let change = pipelines.save(place(name), document.into(), "", None, &by()).unwrap();
    done(pipelines, change).revision
}

fn deploy(pipelines: &Pipelines, name: &str, revision: &Arc<PipelineRevision>) {
    done(pipelines, pipelines.deploy(place(name), revision, "", &by()).unwrap());
}

fn runs(pipelines: &Pipelines, name: &str) -> (Option<u32>, Option<u32>) {
    let pipeline = pipelines.find(MAIN, name).unwrap();
    let number = |revision: Option<&Arc<PipelineRevision>>| revision.map(|row| row.revision);
    (number(pipeline.deployed()), number(pipeline.previous()))
}

#[test]
fn a_pipeline_is_saved_deployed_rolled_back_undeployed_and_removed() {
    let pipelines = Pipelines::default();
    let first = save(&pipelines, "oee", "{1}");
    let second = save(&pipelines, "oee", "{2}");
    assert_eq!((first.pipeline, first.revision), (1, 1));
    assert_eq!((second.pipeline, second.revision), (1, 2));
    assert_eq!(pipelines.deployed().len(), 0);
    deploy(&pipelines, "oee", &first);
    deploy(&pipelines, "oee", &second);
    assert_eq!(runs(&pipelines, "oee"), (Some(2), Some(1)));
    let back = done(&pipelines, pipelines.roll_back(place("oee"), "", &by()).unwrap());
    assert_eq!(back.revision.unwrap().revision, 1);
    assert_eq!(runs(&pipelines, "oee"), (Some(1), Some(2)), "and forth again");
    let error = pipelines.remove(place("oee"), &by()).unwrap_err();
    assert_eq!(error, PipelineError::Deployed { name: "oee".into() });
    done(&pipelines, pipelines.undeploy(place("oee"), "maintenance", &by()).unwrap());
    assert_eq!(runs(&pipelines, "oee"), (None, Some(1)));
    let error = pipelines.undeploy(place("oee"), "", &by()).unwrap_err();
    assert_eq!(error, PipelineError::NotDeployed { name: "oee".into() });
    done(&pipelines, pipelines.remove(place("oee"), &by()).unwrap());
    assert!(pipelines.find(MAIN, "oee").is_none());
    assert!(pipelines.get(1).is_none());
    assert_eq!(save(&pipelines, "oee", "{}").pipeline, 2, "a number is never given out twice");
}

#[test]
fn every_change_is_in_the_audit_trail() {
    let pipelines = Pipelines::default();
    let mut actions = Vec::new();
    let mut note = |definitions: &[Definition]| {
        for definition in definitions {
            pipelines.apply(definition);
            if let Definition::Audit(entry) = definition {
                actions.push(format!("{} {} {}", entry.who, entry.action, entry.subject));
            }
        }
    };
    let saved = pipelines.save(place("a"), "{}".into(), "", None, &by()).unwrap();
    note(&saved.definitions);
    let revision = Arc::clone(&saved.result.revision);
    drop(saved);
    note(&pipelines.deploy(place("a"), &revision, "", &by()).unwrap().definitions);
    note(&pipelines.undeploy(place("a"), "", &by()).unwrap().definitions);
    note(&pipelines.roll_back(place("a"), "", &by()).unwrap().definitions);
    note(&pipelines.undeploy(place("a"), "", &by()).unwrap().definitions);
    note(&pipelines.remove(place("a"), &by()).unwrap().definitions);
    assert_eq!(
        actions,
        [
            "user:anna pipeline.save main/a@1",
            "user:anna pipeline.deploy main/a@1",
            "user:anna pipeline.undeploy main/a@1",
            "user:anna pipeline.rollback main/a@1",
            "user:anna pipeline.undeploy main/a@1",
            "user:anna pipeline.remove main/a",
        ]
    );
}

#[test]
fn the_same_document_makes_no_new_revision() {
    let pipelines = Pipelines::default();
    save(&pipelines, "a", "{}");
    let again = pipelines.save(place("a"), "{}".into(), "", None, &by()).unwrap();
    assert!(again.result.is_unchanged && again.definitions.is_empty());
    assert_eq!(again.result.revision.revision, 1);
}

#[test]
fn two_people_do_not_overwrite_one_another() {
    let pipelines = Pipelines::default();
    let first = pipelines.save(place("a"), "{1}".into(), "", Some(0), &by()).unwrap();
    // While the first is on its way to the disk nobody else changes the same pipeline.
    let busy = pipelines.save(place("a"), "{2}".into(), "", None, &by()).unwrap_err();
    assert_eq!(busy, PipelineError::Busy { name: "a".into() });
    pipelines.save(place("b"), "{}".into(), "", None, &by()).unwrap();
    done(&pipelines, first);
    let moved = pipelines.save(place("a"), "{2}".into(), "", Some(0), &by()).unwrap_err();
    assert_eq!(moved, PipelineError::Moved { name: "a".into(), latest: 1 });
    pipelines.save(place("a"), "{2}".into(), "", Some(1), &by()).unwrap();
}

#[test]
fn memory_holds_what_matters_and_takes_an_older_revision_over_with_its_deployment() {
    let pipelines = Pipelines::default();
    let all: Vec<_> = (1..=9).map(|n| save(&pipelines, "a", &format!("{{{n}}}"))).collect();
    let held = |pipelines: &Pipelines| -> Vec<u32> {
        pipelines.find(MAIN, "a").unwrap().revisions().map(|row| row.revision).collect()
    };
    assert_eq!(held(&pipelines), [9]);
    deploy(&pipelines, "a", &all[2]);
    assert_eq!((held(&pipelines), runs(&pipelines, "a")), (vec![3, 9], (Some(3), None)));
    deploy(&pipelines, "a", &all[4]);
    save(&pipelines, "a", "{10}");
    assert_eq!((held(&pipelines), runs(&pipelines, "a")), (vec![3, 5, 10], (Some(5), Some(3))));
    // A snapshot brings the same state about, in whatever order it is told.
    let restored = Pipelines::default();
    pipelines.definitions().iter().for_each(|definition| restored.apply(definition));
    assert_eq!(restored.find(MAIN, "a"), pipelines.find(MAIN, "a"));
    pipelines.definitions().iter().for_each(|definition| restored.apply(definition));
    assert_eq!(restored.find(MAIN, "a"), pipelines.find(MAIN, "a"), "applied again");
    let other = save(&pipelines, "b", "{}");
    let error = pipelines.deploy(place("a"), &other, "", &by()).unwrap_err();
    assert_eq!(error, PipelineError::UnknownRevision { name: "a".into(), revision: 1 });
}

#[test]
fn lists_a_workspace_page_by_page_in_the_order_of_names() {
    let pipelines = Pipelines::default();
    for name in ["c", "a", "b"] {
        save(&pipelines, name, "{}");
    }
    let elsewhere = Place { workspace: WorkspaceNumber(2), workspace_name: "lab", name: "aa" };
    done(&pipelines, pipelines.save(elsewhere, "{}".into(), "", None, &by()).unwrap());
    let names = |after: Option<&str>, limit| -> Vec<String> {
        let page = pipelines.list(MAIN, after, limit);
        page.iter().map(|pipeline| pipeline.name().to_owned()).collect()
    };
    assert_eq!(names(None, 2), ["a", "b"]);
    assert_eq!(names(Some("b"), 2), ["c"]);
    assert_eq!(names(Some("c"), 2), Vec::<String>::new());
}

#[test]
fn refuses_what_no_pipeline_can_be() {
    let pipelines = Pipelines::default();
    let refused = |name: &str, document: &str, note: &str| {
        pipelines.save(place(name), document.into(), note, None, &by()).unwrap_err()
    };
    for name in ["", "A", "a b", "-a", "a_b", "ä", &"x".repeat(65)] {
        assert_eq!(refused(name, "{}", ""), PipelineError::NameInvalid, "{name}");
    }
    let long = |what, bytes_max| PipelineError::TooLong { what, bytes_max };
    let text = "x".repeat(DOCUMENT_BYTES_MAX + 1);
    assert_eq!(refused("a", &text, ""), long("document", DOCUMENT_BYTES_MAX));
    assert_eq!(refused("a", "{}", &text), long("note", 2_000));
    let unknown = PipelineError::Unknown { name: "a".into() };
    assert_eq!(pipelines.roll_back(place("a"), "", &by()).unwrap_err(), unknown);
    save(&pipelines, "a", "{}");
    let nothing = PipelineError::NothingBefore { name: "a".into() };
    assert_eq!(pipelines.roll_back(place("a"), "", &by()).unwrap_err(), nothing);
}

#[test]
fn the_box_has_a_limit_of_pipelines() {
    let pipelines = Pipelines::default();
    for number in 0..PIPELINES_MAX {
        save(&pipelines, &format!("p{number}"), "{}");
    }
    let full = pipelines.save(place("more"), "{}".into(), "", None, &by()).unwrap_err();
    assert_eq!(full, PipelineError::TooMany { max: PIPELINES_MAX });
    pipelines.save(place("p0"), "{1}".into(), "", None, &by()).unwrap();
}
