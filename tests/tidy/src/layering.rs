//! Who may use whom: the table of docs/architecture.md against what cargo says.
//!
//! **Invariants**
//! - Arrows go down only, dev-dependencies too; what is not in the table is refused.
//! - Each foreign engine has one owner.
//! - The shared words stay free of runtimes, files and sockets, and the light packages of what is heavy.

mod rules;

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId};

use crate::tree::{none, one, root};
use rules::{Crate, Rules};

/// What the rules look at, free of cargo's types so that canaries can forge it.
#[derive(Clone, Default)]
struct Graph {
    /// Crate, what it uses of the workspace and outside, and whether only in tests.
    uses: Vec<(String, String, bool)>,
    members: BTreeSet<String>,
    default_members: BTreeSet<String>,
    /// All that a member's normal and build dependencies bring, itself included.
    brings: BTreeMap<String, BTreeSet<String>>,
}

fn faults(graph: &Graph, rules: &Rules) -> Vec<String> {
    let mut faults = Vec::new();
    for member in &graph.members {
        if rules.of(member).is_none() {
            faults
                .push(format!("{member}: is not in the table; a new crate needs a decision page"));
        }
    }
    for (from, to, only_in_tests) in &graph.uses {
        if let (Some(from_rule), true) = (rules.of(from), graph.members.contains(to)) {
            edge(from, from_rule, to, *only_in_tests, rules, &mut faults);
        }
        let owners = rules.owners.iter().find(|(engine, _)| engine == to).map(|(_, owners)| owners);
        if let Some(owners) =
            owners.filter(|owners| !only_in_tests && !owners.contains(&from.as_str()))
        {
            faults.push(format!("{from} uses {to}, which belongs to {}", owners.join(", ")));
        }
    }
    for (member, banned) in rules.free_of {
        let brought = graph.brings.get(*member);
        for engine in
            banned.iter().filter(|engine| brought.is_some_and(|all| all.contains(**engine)))
        {
            faults.push(format!("{member} has to stay free of {engine}"));
        }
    }
    for member in &graph.default_members {
        if rules.heavy.contains(&member.as_str()) {
            faults.push(format!("{member}: is heavy and must not be a default member"));
        }
        for engine in rules.heavy_engines {
            if graph.brings.get(member).is_some_and(|all| all.contains(*engine)) {
                faults.push(format!("{member}: a default member brings {engine}"));
            }
        }
    }
    faults
}

fn edge(
    from: &str,
    rule: &Crate,
    to: &str,
    only_in_tests: bool,
    rules: &Rules,
    faults: &mut Vec<String>,
) {
    let Some(aim) = rules.of(to) else { return };
    if aim.tier > rule.tier {
        faults.push(format!("{from} uses {to}: upwards, tier {} to {}", rule.tier, aim.tier));
    } else if !only_in_tests && !rule.may_use.contains(&to) {
        faults
            .push(format!("{from} uses {to}: not in the table; a new edge needs a decision page"));
    }
}

/// Cargo's view of the workspace.
fn graph() -> Graph {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .other_options(vec!["--locked".to_owned()])
        .exec()
        .expect("cargo metadata");
    let mut graph = Graph::default();
    for package in metadata.workspace_packages() {
        graph.members.insert(package.name.to_string());
        for dependency in &package.dependencies {
            let only_in_tests = dependency.kind == DependencyKind::Development;
            graph.uses.push((package.name.to_string(), dependency.name.clone(), only_in_tests));
        }
        let all = reachable(&metadata, &package.id);
        graph.brings.insert(package.name.to_string(), all);
    }
    for package in metadata.workspace_default_packages() {
        graph.default_members.insert(package.name.to_string());
    }
    graph
}

fn reachable(metadata: &Metadata, from: &PackageId) -> BTreeSet<String> {
    let resolve = metadata.resolve.as_ref().expect("cargo metadata resolves");
    let edges: BTreeMap<&PackageId, Vec<&PackageId>> = resolve
        .nodes
        .iter()
        .map(|node| {
            let normal = node.deps.iter().filter(|dependency| {
                dependency.dep_kinds.iter().any(|kind| kind.kind != DependencyKind::Development)
            });
            (&node.id, normal.map(|dependency| &dependency.pkg).collect())
        })
        .collect();
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(id) = open.pop() {
        if seen.insert(id) {
            open.extend(edges.get(id).into_iter().flatten());
        }
    }
    seen.into_iter().map(|id| metadata[id].name.to_string()).collect()
}

#[test]
fn arrows_go_down_only() {
    none(&faults(&graph(), &rules::RULES));
}

#[test]
fn the_table_names_only_crates_that_are_there() {
    let graph = graph();
    let gone: Vec<String> = rules::RULES
        .crates
        .iter()
        .filter(|rule| !graph.members.contains(rule.name))
        .map(|rule| format!("{}: is in the table but not in the workspace", rule.name))
        .collect();
    none(&gone);
}

#[test]
fn the_tables_own_arrows_go_down() {
    for rule in rules::RULES.crates {
        for aim in rule.may_use {
            let tier = rules::RULES.of(aim).map(|aim| aim.tier);
            assert!(tier.is_some_and(|tier| tier <= rule.tier), "{} -> {aim}", rule.name);
        }
    }
}

/// A small world for canaries: `low` and `side` below `high`; `high` may use `low`.
const SMALL: Rules = Rules {
    crates: &[
        Crate { name: "low", tier: 0, may_use: &[] },
        Crate { name: "side", tier: 0, may_use: &[] },
        Crate { name: "high", tier: 1, may_use: &["low"] },
    ],
    owners: &[("engine", &["high"])],
    free_of: &[("low", &["runtime"])],
    heavy: &["high"],
    heavy_engines: &["giant"],
};

fn small(uses: &[(&str, &str, bool)]) -> Graph {
    let mut graph = Graph::default();
    graph.members.extend(["low", "side", "high"].map(str::to_owned));
    let owned =
        |(from, to, tests): &(&str, &str, bool)| ((*from).to_owned(), (*to).to_owned(), *tests);
    graph.uses.extend(uses.iter().map(owned));
    graph
}

#[test]
fn canary_objects_to_edges_that_are_not_in_the_table() {
    none(&faults(&small(&[("high", "low", false), ("high", "side", true)]), &SMALL));
    one(&faults(&small(&[("high", "side", false)]), &SMALL), "high uses side: not in the table");
    one(&faults(&small(&[("low", "high", false)]), &SMALL), "upwards");
    one(&faults(&small(&[("low", "high", true)]), &SMALL), "upwards");
}

#[test]
fn canary_objects_to_an_unknown_crate() {
    let mut graph = small(&[]);
    graph.members.insert("new".to_owned());
    one(&faults(&graph, &SMALL), "new: is not in the table");
}

#[test]
fn canary_objects_to_an_engine_outside_its_room() {
    none(&faults(&small(&[("high", "engine", false), ("low", "engine", true)]), &SMALL));
    one(&faults(&small(&[("low", "engine", false)]), &SMALL), "belongs to high");
}

#[test]
fn canary_objects_to_weight_where_it_must_be_light() {
    let mut graph = small(&[]);
    graph.brings.insert("low".to_owned(), ["runtime".to_owned()].into());
    one(&faults(&graph, &SMALL), "free of runtime");
    let mut graph = small(&[]);
    graph.default_members.insert("high".to_owned());
    one(&faults(&graph, &SMALL), "is heavy");
    let mut graph = small(&[]);
    graph.default_members.insert("low".to_owned());
    graph.brings.insert("low".to_owned(), ["giant".to_owned()].into());
    one(&faults(&graph, &SMALL), "brings giant");
}
