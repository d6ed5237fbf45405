//! Drafts that were not stored, kept on this machine: in a browser by the page, in the desktop
//! program by the program, which also knows what each was made from.
//!
//! **Invariants** (of those that the page keeps)
//! - At most [`DRAFTS_MAX`] drafts and [`DRAFTS_BYTES_MAX`] bytes are kept; the oldest make room. One
//!   that is too large alone is not kept.
//! - What cannot be read is forgotten, never a fault.

use super::At;
use crate::context::Studio;
use crate::host::{Host, Kept};
use millrace_flow::Document;
use serde::{Deserialize, Serialize};

/// Most drafts that are kept.
const DRAFTS_MAX: usize = 20;
/// Most bytes that they take together; browsers keep about five million characters.
const DRAFTS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Where they are kept.
const PLACE: Kept = Kept::Page("pipeline-drafts");

/// All drafts, the oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
struct Drafts {
    all: Vec<Draft>,
}

/// A draft.
#[derive(Debug, Serialize, Deserialize)]
struct Draft {
    workspace: String,
    name: String,
    /// The revision that it was made from.
    revision: u32,
    text: String,
}

impl Draft {
    fn is_of(&self, at: &At) -> bool {
        self.workspace == at.workspace && self.name == at.name
    }
}

impl Drafts {
    fn read(text: Option<&str>) -> Self {
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    fn put(&mut self, at: &At, revision: u32, text: String) {
        self.forget(at);
        if text.len() <= DRAFTS_BYTES_MAX {
            let (workspace, name) = (at.workspace.clone(), at.name.clone());
            self.all.push(Draft { workspace, name, revision, text });
        }
        let is_over = |all: &[Draft]| {
            let bytes: usize = all.iter().map(|draft| draft.text.len()).sum();
            all.len() > DRAFTS_MAX || bytes > DRAFTS_BYTES_MAX
        };
        while is_over(&self.all) {
            self.all.remove(0);
        }
    }

    fn forget(&mut self, at: &At) {
        self.all.retain(|draft| !draft.is_of(at));
    }

    fn find(&self, at: &At) -> Option<(u32, Document)> {
        let draft = self.all.iter().find(|draft| draft.is_of(at))?;
        Some((draft.revision, Document::parse(&draft.text).ok()?))
    }
}

/// A draft that was found.
#[derive(Clone)]
pub(super) struct Found {
    /// The revision that it was made from; 0 = none.
    pub(super) revision: u32,
    /// That revision's document, where it is known here.
    pub(super) base: Option<Document>,
    /// The draft.
    pub(super) document: Document,
}

/// The draft of a pipeline.
pub(super) async fn find(studio: &Studio, at: &At) -> Option<Found> {
    if !studio.project.is_there() {
        let drafts = Drafts::read(studio.host.kept(PLACE).as_deref());
        let (revision, document) = drafts.find(at)?;
        return Some(Found { revision, base: None, document });
    }
    let draft = studio.project.pipeline(&at.name).await.draft?;
    let base = draft.base_document.as_deref().and_then(|text| Document::parse(text).ok());
    Some(Found { revision: draft.base, base, document: Document::parse(&draft.document).ok()? })
}

/// Keeps a draft in place of the one before.
pub(super) fn keep(studio: &Studio, at: &At, revision: u32, document: &Document) {
    if studio.project.is_there() {
        return studio.project.keep(&at.name, revision, document.to_text());
    }
    change(studio.host.as_ref(), |drafts| drafts.put(at, revision, document.to_text()));
}

/// As [`keep`], and waits until it is kept; gives why it is not.
pub(super) async fn keep_now(
    studio: &Studio,
    at: &At,
    revision: u32,
    document: &Document,
) -> Result<(), String> {
    if studio.project.is_there() {
        return studio.project.save(&at.name, revision, &document.to_text()).await;
    }
    keep(studio, at, revision, document);
    Ok(())
}

/// Forgets a pipeline's draft.
pub(super) fn forget(studio: &Studio, at: &At) {
    if studio.project.is_there() {
        return studio.project.forget(&at.name);
    }
    change(studio.host.as_ref(), |drafts| drafts.forget(at));
}

fn change(host: &dyn Host, change: impl FnOnce(&mut Drafts)) {
    let mut drafts = Drafts::read(host.kept(PLACE).as_deref());
    change(&mut drafts);
    if drafts.all.is_empty() {
        return host.keep(PLACE, None);
    }
    if let Ok(text) = serde_json::to_string(&drafts) {
        host.keep(PLACE, Some(&text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &str) -> At {
        At { workspace: "main".into(), name: name.into() }
    }

    fn text(name: &str) -> String {
        format!(r#"{{"millrace": 1, "name": "{name}", "steps": {{}}}}"#)
    }

    #[test]
    fn each_pipeline_has_one_draft() {
        let mut drafts = Drafts::default();
        drafts.put(&at("a"), 1, text("a"));
        drafts.put(&at("b"), 7, text("b"));
        drafts.put(&at("a"), 2, text("a"));
        assert_eq!(drafts.find(&at("a")).map(|(revision, _)| revision), Some(2));
        assert_eq!(drafts.all.len(), 2);
        drafts.forget(&at("a"));
        assert!(drafts.find(&at("a")).is_none() && drafts.find(&at("b")).is_some());
    }

    #[test]
    fn the_oldest_make_room_and_one_that_is_too_large_is_not_kept() {
        let mut drafts = Drafts::default();
        for number in 0..30 {
            let name = format!("p{number}");
            drafts.put(&at(&name), 1, text(&name));
        }
        assert_eq!(drafts.all.len(), DRAFTS_MAX);
        assert!(drafts.find(&at("p9")).is_none() && drafts.find(&at("p10")).is_some());
        drafts.put(&at("large"), 1, " ".repeat(DRAFTS_BYTES_MAX + 1));
        assert!(drafts.find(&at("large")).is_none() && drafts.find(&at("p29")).is_some());
    }

    #[test]
    fn what_cannot_be_read_is_no_draft() {
        for text in [None, Some(""), Some("{}"), Some("[1]")] {
            assert!(Drafts::read(text).all.is_empty(), "{text:?}");
        }
        let mut drafts = Drafts::default();
        drafts.put(&at("a"), 1, "no document".into());
        assert!(drafts.find(&at("a")).is_none());
    }
}
