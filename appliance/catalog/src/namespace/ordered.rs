//! The tags in the order of their paths, for people who browse.
//!
//! Creating a tag only pushes it on a list; whoever asks for a page sorts that list and merges it
//! into the ordered one. So ten thousand first values cost no tree, and browsing never blocks a
//! device for longer than a push.
//!
//! **Invariants**: the ordered list is sorted by (workspace, path) and has each tag once.

use millrace_model::{Tag, TagId, WorkspaceNumber};
use parking_lot::Mutex;
use std::sync::Arc;

/// What stands directly below a branch.
#[derive(Clone, Debug, PartialEq)]
pub enum Level {
    /// A tag.
    Tag(Arc<Tag>),
    /// A further branch.
    Branch {
        /// Its own level of the path.
        name: String,
        /// Durable tags anywhere below it.
        tags: usize,
    },
}

impl Level {
    /// What comes after a branch's levels in the order of the list: `name` for a tag, `name/` for a
    /// branch, since a place can be both.
    #[must_use]
    pub fn key(&self, branch: &str) -> String {
        match self {
            Self::Tag(tag) => tag.path.strip_prefix(branch).unwrap_or(&tag.path).to_owned(),
            Self::Branch { name, .. } => format!("{name}/"),
        }
    }
}

/// The ordered list and what is not in it yet.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    added: Mutex<Vec<Arc<Tag>>>,
    sorted: Mutex<Arc<Vec<Arc<Tag>>>>,
}

impl Ordered {
    pub(super) fn add(&self, tag: &Arc<Tag>) {
        self.added.lock().push(Arc::clone(tag));
    }

    pub(super) fn list(
        &self,
        workspace: WorkspaceNumber,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
        get: impl Fn(TagId) -> Option<Arc<Tag>>,
    ) -> Vec<Arc<Tag>> {
        let sorted = self.sorted();
        let start = sorted.partition_point(|tag| {
            let place = (tag.workspace, tag.path.as_str());
            place < (workspace, prefix) || after.is_some_and(|after| place <= (workspace, after))
        });
        let rest = sorted.iter().skip(start);
        rest.take_while(|tag| tag.workspace == workspace && tag.path.starts_with(prefix))
            .take(limit)
            .filter_map(|tag| get(tag.id))
            .collect()
    }

    /// What stands directly below `branch` (empty, or ending in `/`), from the first behind `after`;
    /// and whether there is more. Each branch is skipped over by two searches, so it costs what it
    /// gives, however many tags there are.
    pub(super) fn levels(
        &self,
        workspace: WorkspaceNumber,
        branch: &str,
        after: Option<&str>,
        limit: usize,
        get: impl Fn(TagId) -> Option<Arc<Tag>>,
    ) -> (Vec<Level>, bool) {
        let sorted = self.sorted();
        let place =
            |tag: &Arc<Tag>, aim: &str| (tag.workspace, tag.path.as_str()) < (workspace, aim);
        // What begins with `name/` ends before `name0`: 0 is the sign behind the slash.
        let behind = |name: &str| format!("{branch}{name}0");
        let mut at = match after {
            None => sorted.partition_point(|tag| place(tag, branch)),
            Some(key) => match key.strip_suffix('/') {
                Some(name) => sorted.partition_point(|tag| place(tag, &behind(name))),
                None => {
                    let aim = format!("{branch}{key}");
                    sorted.partition_point(|tag| place(tag, &aim) || tag.path == aim)
                }
            },
        };
        let mut levels = Vec::new();
        while let Some(tag) = sorted.get(at).filter(|tag| tag.workspace == workspace) {
            let Some(rest) = tag.path.strip_prefix(branch) else { break };
            if levels.len() == limit {
                return (levels, true);
            }
            match rest.split_once('/') {
                None => {
                    levels.extend(get(tag.id).map(Level::Tag));
                    at += 1;
                }
                Some((name, _)) => {
                    let aim = behind(name);
                    let end = sorted.partition_point(|tag| place(tag, &aim));
                    // The tag at `at` is one of them: it goes on.
                    levels.push(Level::Branch { name: name.to_owned(), tags: end - at });
                    at = end;
                }
            }
        }
        (levels, false)
    }

    pub(super) fn search(
        &self,
        text: &str,
        limit: usize,
        get: impl Fn(TagId) -> Option<Arc<Tag>>,
    ) -> Vec<Arc<Tag>> {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        let has_all = |tag: &Arc<Tag>| {
            let hay = format!("{}\n{}\n{}", tag.path, tag.description, tag.unit).to_lowercase();
            words.iter().all(|word| hay.contains(word.as_str()))
        };
        let sorted = self.sorted();
        sorted.iter().filter_map(|tag| get(tag.id)).filter(has_all).take(limit).collect()
    }

    pub(super) fn all(&self, get: impl Fn(TagId) -> Option<Arc<Tag>>) -> Vec<Arc<Tag>> {
        self.sorted().iter().filter_map(|tag| get(tag.id)).collect()
    }

    fn sorted(&self) -> Arc<Vec<Arc<Tag>>> {
        let mut sorted = self.sorted.lock();
        let added = std::mem::take(&mut *self.added.lock());
        if !added.is_empty() {
            let mut next = Vec::with_capacity(sorted.len() + added.len());
            next.extend(sorted.iter().cloned());
            next.extend(added);
            // The standard sort finds the sorted run at the front and merges.
            next.sort_by(|a, b| (a.workspace, &a.path).cmp(&(b.workspace, &b.path)));
            *sorted = Arc::new(next);
        }
        Arc::clone(&sorted)
    }
}
