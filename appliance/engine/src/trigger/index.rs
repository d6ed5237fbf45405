//! Which triggers want a tag: a tree of filters, asked once per tag.
//!
//! **Invariants**: asking costs the length of the path and the number of matches, not the number
//! of triggers; what was removed is never found again.

use millrace_model::Filter;
use std::collections::BTreeMap;

/// The number of a pipeline and of one of its triggers.
pub(crate) type Target = (u32, u16);

/// All value triggers by workspace.
#[derive(Debug, Default)]
pub(crate) struct Index {
    workspaces: BTreeMap<u16, Level>,
}

#[derive(Debug, Default)]
struct Level {
    children: BTreeMap<Box<str>, Level>,
    ends: Vec<Target>,
    /// Filters that end in `#` here.
    rests: Vec<Target>,
}

impl Index {
    pub(crate) fn add(&mut self, workspace: u16, filter: &Filter, target: Target) {
        let mut at = self.workspaces.entry(workspace).or_default();
        for level in filter.as_str().split('/') {
            if level == "#" {
                at.rests.push(target);
                return;
            }
            at = at.children.entry(level.into()).or_default();
        }
        at.ends.push(target);
    }

    pub(crate) fn remove(&mut self, workspace: u16, filter: &Filter, target: Target) {
        if let Some(level) = self.workspaces.get_mut(&workspace) {
            level.remove(&mut filter.as_str().split('/'), target);
            if level.is_empty() {
                self.workspaces.remove(&workspace);
            }
        }
    }

    /// All triggers that want a path, in order, each once.
    pub(crate) fn find(&self, workspace: u16, path: &str) -> Vec<Target> {
        let mut found = Vec::new();
        if let Some(level) = self.workspaces.get(&workspace) {
            let names: Vec<&str> = path.split('/').collect();
            // A wildcard at the front does not match a name that begins with `$`.
            level.find(&names, !path.starts_with('$'), &mut found);
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Level {
    fn find(&self, names: &[&str], takes_wildcards: bool, found: &mut Vec<Target>) {
        if takes_wildcards {
            found.extend(&self.rests);
        }
        match names.split_first() {
            None => found.extend(&self.ends),
            Some((name, rest)) => {
                if let Some(child) = self.children.get(*name) {
                    child.find(rest, true, found);
                }
                if takes_wildcards && let Some(child) = self.children.get("+") {
                    child.find(rest, true, found);
                }
            }
        }
    }

    fn remove(&mut self, levels: &mut std::str::Split<'_, char>, target: Target) {
        match levels.next() {
            None => self.ends.retain(|known| *known != target),
            Some("#") => self.rests.retain(|known| *known != target),
            Some(level) => {
                if let Some(child) = self.children.get_mut(level) {
                    child.remove(levels, target);
                    if child.is_empty() {
                        self.children.remove(level);
                    }
                }
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.children.is_empty() && self.ends.is_empty() && self.rests.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_the_filters_match_and_nothing_removed() {
        let filters = ["a/b", "a/+", "a/#", "#", "+/b", "a", "$s/#", "x/y"];
        let mut index = Index::default();
        let filter = |text: &&str| Filter::new(text).unwrap();
        for (place, text) in (0u16..).zip(&filters) {
            index.add(1, &filter(text), (7, place));
        }
        for path in ["a/b", "a", "a/b/c", "b", "$s/x", "x/y", "x"] {
            let expected: Vec<_> = (0u16..)
                .zip(&filters)
                .filter(|(_, text)| filter(text).matches(path))
                .map(|(place, _)| (7, place))
                .collect();
            assert_eq!(index.find(1, path), expected, "{path}");
        }
        assert!(index.find(2, "a/b").is_empty());
        for (place, text) in (0u16..).zip(&filters) {
            index.remove(1, &filter(text), (7, place));
        }
        assert!(index.find(1, "a/b").is_empty() && index.workspaces.is_empty());
    }
}
