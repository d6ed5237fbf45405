//! What of the tree is open and known.
//!
//! **Invariants**
//! - A branch that is closed is forgotten, with all below it: what is known is what is open.
//! - A branch is asked for by one question at a time.

use millrace_contract::v1;
use millrace_kit::TreeRow;
use std::collections::BTreeMap;

/// What a row of the tree is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// A branch, by its path.
    Branch(String),
    /// A topic, by its path.
    Topic(String),
    /// The rest of a branch is not loaded yet.
    More(String),
    /// The branch could not be loaded.
    Failed(String),
}

impl Node {
    fn key(&self) -> String {
        match self {
            Self::Branch(path) => format!("b{path}"),
            Self::Topic(path) => format!("t{path}"),
            Self::More(path) => format!("m{path}"),
            Self::Failed(path) => format!("f{path}"),
        }
    }

    /// The node of a row's key.
    pub(super) fn of_key(key: &str) -> Option<Self> {
        let mut chars = key.chars();
        let kind = chars.next()?;
        let path = chars.as_str().to_owned();
        match kind {
            'b' => Some(Self::Branch(path)),
            't' => Some(Self::Topic(path)),
            'm' => Some(Self::More(path)),
            'f' => Some(Self::Failed(path)),
            _ => None,
        }
    }
}

/// A question for the appliance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ask {
    /// The branch's path; empty for the root.
    pub(super) branch: String,
    /// The page behind this one.
    pub(super) after: Option<String>,
}

/// What is known of an open branch.
#[derive(Debug, Default)]
struct Children {
    levels: Vec<v1::Level>,
    next: Option<String>,
    is_asked: bool,
    failed: Option<String>,
}

/// What is open and known.
#[derive(Debug, Default)]
pub(super) struct Branches {
    open: BTreeMap<String, Children>,
}

impl Branches {
    /// Opens a branch, or closes it. Gives what has to be asked.
    pub(super) fn toggle(&mut self, branch: &str) -> Option<Ask> {
        if self.open.remove(branch).is_some() {
            let below = format!("{branch}/");
            self.open.retain(|path, _| !path.starts_with(&below));
            return None;
        }
        self.open.insert(branch.to_owned(), Children::default());
        self.ask(branch)
    }

    /// What has to be asked to know more of an open branch; nothing while it is being asked for.
    pub(super) fn ask(&mut self, branch: &str) -> Option<Ask> {
        let children = self.open.get_mut(branch)?;
        if children.is_asked {
            return None;
        }
        children.is_asked = true;
        children.failed = None;
        Some(Ask { branch: branch.to_owned(), after: children.next.clone() })
    }

    /// Asks for everything that is open anew.
    pub(super) fn renew(&mut self) -> Vec<Ask> {
        let open: Vec<String> = self.open.keys().cloned().collect();
        self.open = open.iter().map(|path| (path.clone(), Children::default())).collect();
        open.iter().filter_map(|path| self.ask(path)).collect()
    }

    /// Takes an answer; one for a branch that was closed meanwhile is let go.
    pub(super) fn take(&mut self, ask: &Ask, page: v1::Page<v1::Level>) {
        let Some(children) = self.open.get_mut(&ask.branch) else { return };
        if children.next != ask.after {
            return;
        }
        children.levels.extend(page.items);
        children.next = page.next;
        children.is_asked = false;
    }

    /// Notes that there was no answer.
    pub(super) fn fail(&mut self, ask: &Ask, why: String) {
        if let Some(children) = self.open.get_mut(&ask.branch) {
            children.is_asked = false;
            children.failed = Some(why);
        }
    }

    /// Whether a branch is open.
    pub(super) fn is_open(&self, branch: &str) -> bool {
        self.open.contains_key(branch)
    }

    /// Why a branch could not be loaded.
    pub(super) fn fault(&self, branch: &str) -> Option<&str> {
        self.open.get(branch)?.failed.as_deref()
    }

    /// How many topics lie below a branch, if that is known.
    pub(super) fn count(&self, path: &str) -> Option<u64> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let levels = &self.open.get(parent)?.levels;
        levels.iter().find(|level| level.name == name && level.tag.is_none())?.topics
    }

    /// The unit of a topic, if it is known.
    pub(super) fn unit(&self, path: &str) -> Option<&str> {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let levels = &self.open.get(parent)?.levels;
        let tag =
            levels.iter().filter(|level| level.name == name).find_map(|level| level.tag.as_ref());
        tag.map(|tag| tag.unit.as_str())
    }

    /// Whether the root is known and has nothing.
    pub(super) fn is_empty(&self) -> bool {
        let root = self.open.get("");
        root.is_some_and(|root| !root.is_asked && root.failed.is_none() && root.levels.is_empty())
    }

    /// The rows, in order.
    pub(super) fn rows(&self) -> Vec<TreeRow> {
        let mut rows = Vec::new();
        self.add("", 0, &mut rows);
        rows
    }

    fn add(&self, branch: &str, depth: usize, rows: &mut Vec<TreeRow>) {
        let Some(children) = self.open.get(branch) else { return };
        let row = |node: &Node, text: &str, open| TreeRow {
            key: node.key(),
            text: text.to_owned(),
            depth,
            open,
        };
        for level in &children.levels {
            let path = match branch {
                "" => level.name.clone(),
                branch => format!("{branch}/{}", level.name),
            };
            if level.tag.is_some() {
                rows.push(row(&Node::Topic(path), &level.name, None));
            } else {
                let is_open = self.open.contains_key(&path);
                rows.push(row(&Node::Branch(path.clone()), &level.name, Some(is_open)));
                self.add(&path, depth + 1, rows);
            }
        }
        if children.failed.is_some() {
            rows.push(row(&Node::Failed(branch.to_owned()), "", None));
        } else if children.is_asked || children.next.is_some() {
            rows.push(row(&Node::More(branch.to_owned()), "", None));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(names: &[&str], next: Option<&str>) -> v1::Page<v1::Level> {
        let level = |name: &&str| match name.strip_suffix('/') {
            Some(name) => v1::Level { name: name.to_owned(), topics: Some(7), tag: None },
            None => v1::Level { name: (*name).to_owned(), topics: None, tag: Some(tag(name)) },
        };
        v1::Page { items: names.iter().map(level).collect(), next: next.map(str::to_owned) }
    }

    fn tag(path: &str) -> v1::Tag {
        v1::Tag {
            id: 1,
            workspace: "main".to_owned(),
            path: path.to_owned(),
            kind: v1::Kind::Float,
            unit: "bar".to_owned(),
            description: String::new(),
            retention: v1::Retention::Days1,
            schema: v1::Schema::default(),
            created: String::new(),
        }
    }

    fn keys(branches: &Branches) -> Vec<String> {
        branches
            .rows()
            .into_iter()
            .map(|row| format!("{}{}", "  ".repeat(row.depth), row.key))
            .collect()
    }

    #[test]
    fn opens_loads_and_forgets() {
        let mut branches = Branches::default();
        let root = branches.toggle("").expect("a question");
        assert_eq!(keys(&branches), ["m"]);
        assert_eq!(branches.ask(""), None, "one question at a time");
        branches.take(&root, page(&["a/", "b", "b/"], None));
        assert_eq!(keys(&branches), ["ba", "tb", "bb"]);
        assert_eq!((branches.count("a"), branches.unit("b")), (Some(7), Some("bar")));
        let below = branches.toggle("a").expect("a question");
        branches.take(&below, page(&["x", "y/"], Some("next")));
        let deeper = branches.toggle("a/y").expect("a question");
        branches.take(&deeper, page(&["z"], None));
        assert_eq!(keys(&branches), ["ba", "  ta/x", "  ba/y", "    ta/y/z", "  ma", "tb", "bb"]);
        let rest = branches.ask("a").expect("a question");
        assert_eq!(rest.after.as_deref(), Some("next"));
        assert_eq!(branches.toggle("a"), None);
        assert_eq!(keys(&branches), ["ba", "tb", "bb"], "closed with all below it");
        branches.take(&rest, page(&["late"], None));
        assert_eq!(keys(&branches), ["ba", "tb", "bb"], "an answer that comes too late");
    }

    #[test]
    fn tells_what_could_not_be_loaded_and_asks_again() {
        let mut branches = Branches::default();
        let root = branches.toggle("").expect("a question");
        branches.fail(&root, "away".to_owned());
        assert_eq!((keys(&branches), branches.fault("")), (vec!["f".to_owned()], Some("away")));
        assert!(!branches.is_empty(), "nobody knows that");
        let again = branches.ask("").expect("a question");
        branches.take(&again, page(&[], None));
        assert!(branches.is_empty() && keys(&branches).is_empty());
        assert_eq!(branches.renew(), [root]);
    }

    #[test]
    fn a_page_that_came_twice_is_taken_once() {
        let mut branches = Branches::default();
        let root = branches.toggle("").expect("a question");
        branches.take(&root, page(&["a"], Some("p2")));
        branches.take(&root, page(&["a"], Some("p2")));
        assert_eq!(keys(&branches), ["ta", "m"]);
    }

    #[test]
    fn finds_its_nodes_by_their_keys() {
        for node in [Node::Branch("ü/b".into()), Node::Topic(String::new()), Node::More("m".into())]
        {
            assert_eq!(Node::of_key(&node.key()), Some(node));
        }
        assert_eq!(Node::of_key(""), None);
    }
}
