//! Opening a pipeline: its last revision, what runs of it, and a draft that was left. Where the
//! appliance cannot be reached, the desktop program has what was last read.
//!
//! **Invariants**
//! - A pipeline that is not there yet opens empty; one that cannot be read says why.

use super::bench::Bench;
use super::desk::{Base, Desk, Over};
use super::{At, drafts};
use crate::api::{Api, Fault};
use crate::context::Studio;
use crate::words::{Language, pipelines, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_flow::Document;
use millrace_flow::document::{FORMAT, Settings};
use millrace_kit::{Notice, Priority, Progress, Toasts};
use std::collections::BTreeMap;

/// What was found of a pipeline.
#[derive(Clone)]
struct Found {
    base: Base,
    deployed: Option<Base>,
    draft: Option<drafts::Found>,
}

/// The designer of a pipeline, once it is loaded.
#[component]
pub(super) fn Opened(at: At) -> impl IntoView {
    let studio = Studio::here();
    let found = RwSignal::new(None::<Result<Found, String>>);
    let loading = {
        let (language, name) = (studio.language, at.name.clone());
        Signal::derive(move || language.say_with(pipelines::LOADING, &[("name", &name)]))
    };
    let place = at.clone();
    leptos::task::spawn_local(async move {
        let loaded = load(&studio, &place).await;
        found.try_set(Some(loaded.map_err(|why| say(&why, studio.language))));
    });
    move || match found.get() {
        None => view! { <div class="designer-wait"><Progress label=loading/></div> }.into_any(),
        Some(Err(why)) => {
            let text = Signal::derive(move || why.clone());
            view! { <Notice priority=Priority::Two title=t(pipelines::TITLE) text/> }.into_any()
        }
        Some(Ok(found)) => {
            let Standing { base, draft, theirs } = stand(&at, &found);
            if draft.is_some()
                && let Some(toasts) = use_context::<Toasts>()
            {
                toasts.good(Studio::here().text(pipelines::DRAFT_KEPT).get_untracked());
            }
            let desk = Desk::new(at.clone(), base, found.deployed, draft);
            if theirs.is_some() {
                desk.theirs.set(theirs);
                desk.over.set(Over::Merge);
            }
            view! { <Bench desk/> }.into_any()
        }
    }
}

/// Why a pipeline cannot be opened.
enum Unopened {
    Api(Fault),
    Document(String),
}

fn say(why: &Unopened, language: Language) -> String {
    match why {
        Unopened::Api(fault) => fault.text(language),
        Unopened::Document(message) => message.clone(),
    }
}

/// How a draft stands to what was found.
struct Standing {
    /// What it was made from.
    base: Base,
    draft: Option<Document>,
    /// What the appliance has since: to be brought together with the draft.
    theirs: Option<Base>,
}

fn stand(at: &At, found: &Found) -> Standing {
    let latest = found.base.clone();
    let draft = found.draft.clone().filter(|draft| draft.document != latest.document);
    let Some(draft) = draft else { return Standing { base: latest, draft: None, theirs: None } };
    if draft.revision == latest.revision {
        return Standing { base: latest, draft: Some(draft.document), theirs: None };
    }
    // A new pipeline was made from nothing.
    let made_from = match draft.revision {
        0 => Some(empty(&at.name)),
        _ => draft.base,
    };
    match made_from {
        // It was removed at the appliance: what is stored next is its first revision again.
        _ if latest.revision == 0 => {
            Standing { base: latest, draft: Some(draft.document), theirs: None }
        }
        Some(document) => Standing {
            base: Base { revision: draft.revision, document },
            draft: Some(draft.document),
            theirs: Some(latest),
        },
        // Without its base it cannot be brought together with anything.
        None => Standing { base: latest, draft: None, theirs: None },
    }
}

async fn load(studio: &Studio, at: &At) -> Result<Found, Unopened> {
    let draft = drafts::find(studio, at).await;
    let loaded = match ask(&studio.api, at).await {
        Err(Unopened::Api(fault)) if fault.is_unreachable() && studio.project.is_there() => {
            last_read(studio, at).await
        }
        loaded => loaded,
    };
    loaded.map(|found| Found { draft, ..found })
}

/// What was last read of a pipeline; one that was not there opens empty.
async fn last_read(studio: &Studio, at: &At) -> Result<Found, Unopened> {
    let Some(known) = studio.project.pipeline(&at.name).await.known else {
        let base = Base { revision: 0, document: empty(&at.name) };
        return Ok(Found { base, deployed: None, draft: None });
    };
    let document = Document::parse(&known.document);
    let document = document.map_err(|fault| Unopened::Document(fault.to_string()))?;
    let base = Base { revision: known.revision, document };
    let deployed = (known.deployed == Some(known.revision)).then(|| base.clone());
    Ok(Found { base, deployed, draft: None })
}

/// The last revision: the appliance's, else as it was last read.
pub(super) async fn latest(studio: &Studio, at: &At) -> Option<Base> {
    match revision(&studio.api, at, "latest").await {
        Ok(base) => Some(base),
        Err(Unopened::Api(fault)) if fault.is_unreachable() && studio.project.is_there() => {
            last_read(studio, at).await.ok().map(|found| found.base)
        }
        Err(_) => None,
    }
}

async fn ask(api: &Api, at: &At) -> Result<Found, Unopened> {
    let pipeline: v1::Pipeline = match api.get(&at.segments(&[]), &[]).await {
        Ok(pipeline) => pipeline,
        Err(fault) if fault.code() == Some(v1::ErrorCode::NotFound) => {
            return Ok(Found {
                base: Base { revision: 0, document: empty(&at.name) },
                deployed: None,
                draft: None,
            });
        }
        Err(fault) => return Err(Unopened::Api(fault)),
    };
    let base = revision(api, at, "latest").await?;
    let running = pipeline.deployment.as_ref().and_then(|deployment| deployment.revision);
    let deployed = match running {
        None => None,
        Some(running) if running == base.revision => Some(base.clone()),
        Some(_) => Some(revision(api, at, "deployed").await?),
    };
    Ok(Found { base, deployed, draft: None })
}

async fn revision(api: &Api, at: &At, which: &str) -> Result<Base, Unopened> {
    let stored: v1::StoredRevision =
        api.get(&at.segments(&["revisions", which]), &[]).await.map_err(Unopened::Api)?;
    let document = Document::parse(stored.document.get());
    let document = document.map_err(|fault| Unopened::Document(fault.to_string()))?;
    Ok(Base { revision: stored.revision.revision, document })
}

/// One revision of a pipeline, or why not.
pub(super) async fn fetch(
    api: &Api,
    at: &At,
    which: &str,
    language: Language,
) -> Result<Base, String> {
    revision(api, at, which).await.map_err(|why| say(&why, language))
}

/// A pipeline with nothing in it.
pub(super) fn empty(name: &str) -> Document {
    Document {
        millrace: FORMAT,
        name: name.to_owned(),
        description: String::new(),
        settings: Settings::default(),
        steps: BTreeMap::new(),
        wires: Vec::new(),
        cases: Vec::new(),
        layout: BTreeMap::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(description: &str) -> Document {
        Document { description: description.to_owned(), ..empty("p") }
    }

    fn found(latest: (u32, &str), draft: Option<(u32, Option<&str>, &str)>) -> Standing {
        let base = Base { revision: latest.0, document: document(latest.1) };
        let draft = draft.map(|(revision, base, text)| drafts::Found {
            revision,
            base: base.map(document),
            document: document(text),
        });
        let at = At { workspace: "main".to_owned(), name: "p".to_owned() };
        stand(&at, &Found { base, deployed: None, draft })
    }

    #[test]
    fn a_draft_stands_on_what_it_was_made_from() {
        let same = found((1, "a"), Some((1, Some("a"), "mine")));
        assert_eq!(
            (same.base.revision, same.draft, same.theirs),
            (1, Some(document("mine")), None)
        );
        let moved = found((2, "theirs"), Some((1, Some("a"), "mine")));
        assert_eq!((moved.base.revision, moved.base.document), (1, document("a")));
        assert_eq!(moved.theirs.map(|theirs| theirs.revision), Some(2));
        // Somebody made one of the same name.
        let both = found((1, "theirs"), Some((0, None, "mine")));
        assert_eq!((both.base.revision, both.base.document), (0, empty("p")));
        assert!(both.theirs.is_some());
        // It was removed there.
        let removed = found((0, ""), Some((3, Some("a"), "mine")));
        assert_eq!((removed.base.revision, removed.theirs), (0, None));
        assert!(removed.draft.is_some());
    }

    #[test]
    fn a_draft_that_says_nothing_new_or_has_no_base_is_none() {
        assert!(found((2, "a"), Some((1, Some("b"), "a"))).draft.is_none());
        assert!(found((2, "a"), Some((1, None, "mine"))).draft.is_none());
        assert!(found((2, "a"), None).draft.is_none());
    }
}
