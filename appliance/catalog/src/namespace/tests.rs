//! Tests of the namespace.

use super::*;
use std::time::Instant;

const MAIN: WorkspaceNumber = WorkspaceNumber(1);

fn new_tag(path: &str) -> NewTag<'_> {
    NewTag {
        workspace: MAIN,
        path,
        kind: Kind::Float,
        retention: Retention::Days7,
        by: ClientNumber(3),
        now: Timestamp(5),
        client_tags_max: 10_000,
    }
}

fn namespace() -> Namespace {
    let namespace = Namespace::new(200_000);
    namespace.apply(&Definition::Workspace(Workspace {
        number: MAIN,
        name: "main".into(),
        created: Timestamp(1),
    }));
    namespace
}

fn define(namespace: &Namespace, path: &str) -> Arc<Tag> {
    let (tag, _) = namespace.create(new_tag(path)).unwrap();
    namespace.apply(&Definition::Tag(Tag::clone(&tag)));
    tag
}

#[test]
fn a_pending_tag_asks_for_its_definition_until_it_is_durable() {
    let namespace = namespace();
    let (first, created) = namespace.create(new_tag("press/t")).unwrap();
    assert!(created);
    // Another connection meets the tag before its definition is committed.
    let (second, created) = namespace.create(new_tag("press/t")).unwrap();
    assert_eq!((second.id, created), (first.id, true), "one number, and the definition again");
    assert_eq!(namespace.find(MAIN, "press/t"), None, "not durable yet");
    namespace.apply(&Definition::Tag(Tag::clone(&first)));
    assert_eq!(namespace.find(MAIN, "press/t").unwrap().id, first.id);
    let (_, created) = namespace.create(new_tag("press/t")).unwrap();
    assert!(!created);
    assert_eq!(namespace.tags_created_by(ClientNumber(3)), 1);
    assert_eq!(namespace.tag_count(), 1);
    assert_eq!(namespace.path(first.id).as_deref(), Some("main/press/t"));
    assert_eq!(namespace.find_text("main/press/t").unwrap().id, first.id);
}

#[test]
fn refuses_tags_over_the_quota_of_client_and_box() {
    let namespace = Namespace::new(3);
    let small = |path| NewTag { client_tags_max: 2, ..new_tag(path) };
    namespace.create(small("a")).unwrap();
    namespace.create(small("b")).unwrap();
    assert_eq!(namespace.create(small("c")), Err(CreateError::ClientQuota { max: 2 }));
    assert!(namespace.create(small("a")).is_ok(), "what exists stays writable");
    let other = NewTag { by: ClientNumber(4), ..small("c") };
    namespace.create(other).unwrap();
    let over = NewTag { by: ClientNumber(5), ..small("d") };
    assert_eq!(namespace.create(over), Err(CreateError::BoxQuota { max: 3 }));
    assert_eq!(namespace.tag_count(), 3);
}

#[test]
fn numbers_stay_above_all_that_was_seen() {
    let namespace = namespace();
    let seen =
        Tag { id: TagId(700), ..Tag::clone(&Namespace::new(1).create(new_tag("x")).unwrap().0) };
    namespace.apply(&Definition::Tag(seen.clone()));
    namespace.apply(&Definition::Tag(seen));
    assert_eq!(namespace.tag_count(), 1, "applied twice, there once");
    assert_eq!(namespace.create(new_tag("y")).unwrap().0.id, TagId(701));
    namespace.reserve_through(TagId(900));
    assert_eq!(namespace.create(new_tag("z")).unwrap().0.id, TagId(901));
}

#[test]
fn a_changed_tag_changes_the_generation_and_a_new_one_does_not() {
    let namespace = namespace();
    let tag = define(&namespace, "a");
    let before = namespace.generation();
    define(&namespace, "b");
    namespace.apply(&Definition::Tag(Tag::clone(&tag)));
    assert_eq!(namespace.generation(), before);
    let changed = Tag { retention: Retention::Keep, ..Tag::clone(&tag) };
    namespace.apply(&Definition::Tag(changed));
    assert_ne!(namespace.generation(), before);
    assert_eq!(namespace.retention(tag.id), Retention::Keep);
    assert_eq!(namespace.find(MAIN, "a").unwrap().retention, Retention::Keep);
    assert_eq!(namespace.retention(TagId(u32::MAX)), Retention::Days1, "unknown: the default");
}

#[test]
fn leaves_out_definitions_that_cannot_be() {
    let namespace = namespace();
    let tag = define(&namespace, "a");
    namespace.apply(&Definition::Tag(Tag { path: "other".into(), ..Tag::clone(&tag) }));
    assert_eq!(namespace.get(tag.id).unwrap().path, "a");
    for id in [0, TAG_NUMBER_MAX + 1, u32::MAX] {
        let bad = Tag { id: TagId(id), path: format!("p{id}"), ..Tag::clone(&tag) };
        namespace.apply(&Definition::Tag(bad));
    }
    assert_eq!(namespace.tag_count(), 1);
    assert_eq!(namespace.create(new_tag("n")).unwrap().0.id, TagId(tag.id.0 + 1));
}

#[test]
fn lists_pages_in_order_and_searches_words() {
    let namespace = namespace();
    for path in ["b/2", "a/1", "b/1", "b", "bc", "c/Volume Flow RateRMS"] {
        define(&namespace, path);
    }
    let paths = |tags: Vec<Arc<Tag>>| tags.iter().map(|t| t.path.clone()).collect::<Vec<_>>();
    assert_eq!(paths(namespace.list(MAIN, "b/", None, 9)), ["b/1", "b/2"]);
    assert_eq!(paths(namespace.list(MAIN, "", Some("b"), 2)), ["b/1", "b/2"]);
    assert_eq!(paths(namespace.list(MAIN, "b", Some("b/2"), 9)), ["bc"]);
    assert!(namespace.list(WorkspaceNumber(2), "", None, 9).is_empty());
    define(&namespace, "b/15");
    assert_eq!(paths(namespace.list(MAIN, "b/", None, 9)), ["b/1", "b/15", "b/2"]);
    assert_eq!(paths(namespace.search("rms flow", 9)), ["c/Volume Flow RateRMS"]);
    assert!(namespace.search("rms nothing", 9).is_empty());
    // A change shows in the list.
    let tag = namespace.find(MAIN, "b/1").unwrap();
    namespace.apply(&Definition::Tag(Tag { unit: "bar".into(), ..Tag::clone(&tag) }));
    assert_eq!(namespace.list(MAIN, "b/1", None, 1)[0].unit, "bar");
    assert_eq!(namespace.definitions().len(), 8);
}

#[test]
fn many_threads_create_one_tag_each_path() {
    // Goal: the same 2,000 paths from four threads end as 2,000 tags with distinct numbers.
    let namespace = Arc::new(namespace());
    let started = Instant::now();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let namespace = Arc::clone(&namespace);
            std::thread::spawn(move || {
                (0..2_000)
                    .map(|n| namespace.create(new_tag(&format!("line/{n}"))).unwrap().0.id.0)
                    .collect::<Vec<_>>()
            })
        })
        .collect();
    let ids: Vec<Vec<u32>> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(ids.windows(2).all(|pair| pair[0] == pair[1]), "all threads see the same numbers");
    let mut unique = ids[0].clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), 2_000);
    assert_eq!(namespace.tags_created_by(ClientNumber(3)), 2_000);
    eprintln!("8,000 creates from 4 threads took {:?}", started.elapsed());
}

/// All levels of a branch in pages of `limit`, as text.
fn levels(namespace: &Namespace, branch: &str, limit: usize) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let (page, more) = namespace.levels(MAIN, branch, after.as_deref(), limit);
        after = page.last().map(|level| level.key(branch));
        all.extend(page.iter().map(|level| match level {
            Level::Tag(tag) => tag.path.clone(),
            Level::Branch { name, tags } => format!("{name}/ {tags}"),
        }));
        if !more {
            return all;
        }
    }
}

#[test]
fn a_branch_tells_what_stands_directly_below_it() {
    let namespace = namespace();
    for path in ["b", "b/c", "b-x", "b/d/e", "b/d/f", "b0", "a/x/y", "z/1", "ä/1", "ä/2"] {
        define(&namespace, path);
    }
    namespace.apply(&Definition::Workspace(Workspace {
        number: WorkspaceNumber(2),
        name: "other".into(),
        created: Timestamp(1),
    }));
    let (tag, _) =
        namespace.create(NewTag { workspace: WorkspaceNumber(2), ..new_tag("b/q") }).unwrap();
    namespace.apply(&Definition::Tag(Tag::clone(&tag)));
    let expected = ["a/ 1", "b", "b-x", "b/ 3", "b0", "z/ 1", "ä/ 2"];
    for limit in [1, 2, 3, 100] {
        assert_eq!(levels(&namespace, "", limit), expected, "pages of {limit}");
        assert_eq!(levels(&namespace, "b/", limit), ["b/c", "d/ 2"], "pages of {limit}");
    }
    assert_eq!(levels(&namespace, "nothing/", 10), Vec::<String>::new());
}
