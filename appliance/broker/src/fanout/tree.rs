//! The subscriptions as a tree of topic levels: which subscribers want a topic.
//!
//! **Invariants**: a subscriber comes out once, with the highest QoS of its matching filters; a
//! wildcard at the front matches no topic that begins with `$` (MQTT 5.0, 4.7.2), and, in the
//! same spirit, a wildcard does not match a level right below the workspace that begins with `_`
//! or `$`: verdicts and inboxes are named in full or not received. Empty branches are pruned.
//! Depth is bounded by the filters (32 levels).

use std::sync::Arc;

use hashbrown::HashMap;
use millrace_model::Filter;

use super::subscriber::Subscriber;

/// A subscriber that a topic matches.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) subscriber: Arc<Subscriber>,
    pub(super) qos: u8,
}

/// The tree.
#[derive(Debug)]
pub(super) struct Tree {
    trunk: Branch,
    /// `<root>/`: only below it are levels reserved.
    root_prefix: Box<str>,
    /// The level right below the workspace.
    reserved_depth: usize,
}

#[derive(Debug, Default)]
struct Branch {
    children: HashMap<String, Branch, foldhash::fast::RandomState>,
    plus: Option<Box<Branch>>,
    /// Filters that end here.
    here: Vec<Target>,
    /// Filters that end here with `#`.
    below: Vec<Target>,
}

impl Tree {
    pub(super) fn new(root: &str) -> Self {
        Self {
            trunk: Branch::default(),
            root_prefix: format!("{root}/").into(),
            reserved_depth: root.split('/').count() + 1,
        }
    }

    /// Adds a subscription or changes its QoS; whether it is new.
    pub(super) fn insert(&mut self, filter: &Filter, target: Target) -> bool {
        let mut branch = &mut self.trunk;
        for level in filter.as_str().split('/') {
            match level {
                "#" => return put(&mut branch.below, target),
                "+" => branch = branch.plus.get_or_insert_with(Box::default),
                _ => branch = branch.children.entry_ref(level).or_default(),
            }
        }
        put(&mut branch.here, target)
    }

    /// Takes a subscription away; whether it was there.
    pub(super) fn remove(&mut self, filter: &Filter, subscriber: u64) -> bool {
        self.trunk.remove_level(&mut filter.as_str().split('/'), subscriber)
    }

    /// All subscribers that `topic` matches.
    pub(super) fn matches(&self, topic: &str) -> Vec<Target> {
        let levels: Vec<&str> = topic.split('/').collect();
        let reserved_level = levels
            .get(self.reserved_depth)
            .filter(|level| level.starts_with(['_', '$']) && topic.starts_with(&*self.root_prefix));
        let literal_depth = match reserved_level {
            Some(_) => Some(self.reserved_depth),
            None if topic.starts_with('$') => Some(0),
            None => None,
        };
        let mut search = Search { literal_depth, found: Vec::new() };
        search.walk(&self.trunk, &levels, 0);
        search.found
    }
}

/// One search. The level at `literal_depth` may be matched by its name only: neither by `#` at
/// or above it nor by `+` in its place.
struct Search {
    literal_depth: Option<usize>,
    found: Vec<Target>,
}

impl Search {
    fn walk(&mut self, branch: &Branch, levels: &[&str], depth: usize) {
        if self.literal_depth.is_none_or(|literal| depth > literal) {
            self.collect(&branch.below);
        }
        let Some((level, rest)) = levels.split_first() else {
            self.collect(&branch.here);
            return;
        };
        if let Some(child) = branch.children.get(*level) {
            self.walk(child, rest, depth + 1);
        }
        if let Some(plus) = &branch.plus
            && self.literal_depth != Some(depth)
        {
            self.walk(plus, rest, depth + 1);
        }
    }

    fn collect(&mut self, targets: &[Target]) {
        for target in targets {
            let known =
                self.found.iter_mut().find(|known| known.subscriber.id == target.subscriber.id);
            match known {
                Some(known) => known.qos = known.qos.max(target.qos),
                None => self.found.push(target.clone()),
            }
        }
    }
}

impl Branch {
    fn remove_level(&mut self, levels: &mut dyn Iterator<Item = &str>, subscriber: u64) -> bool {
        let Some(level) = levels.next() else { return take(&mut self.here, subscriber) };
        match level {
            "#" => take(&mut self.below, subscriber),
            "+" => {
                let Some(plus) = &mut self.plus else { return false };
                let removed = plus.remove_level(levels, subscriber);
                if plus.is_empty() {
                    self.plus = None;
                }
                removed
            }
            _ => {
                let Some(child) = self.children.get_mut(level) else { return false };
                let removed = child.remove_level(levels, subscriber);
                if child.is_empty() {
                    self.children.remove(level);
                }
                removed
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.children.is_empty()
            && self.plus.is_none()
            && self.here.is_empty()
            && self.below.is_empty()
    }
}

fn put(targets: &mut Vec<Target>, target: Target) -> bool {
    match targets.iter_mut().find(|known| known.subscriber.id == target.subscriber.id) {
        Some(known) => {
            known.qos = target.qos;
            false
        }
        None => {
            targets.push(target);
            true
        }
    }
}

fn take(targets: &mut Vec<Target>, subscriber: u64) -> bool {
    match targets.iter().position(|known| known.subscriber.id == subscriber) {
        Some(position) => {
            targets.swap_remove(position);
            true
        }
        None => false,
    }
}
