//! Opening a pipeline: its last revision, what runs of it, and a draft that was left.
//!
//! **Invariants**
//! - A pipeline that is not there yet opens empty; one that cannot be read says why.

use super::bench::Bench;
use super::desk::{Base, Desk};
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
    let (api, language, place) = (studio.api.clone(), studio.language, at.clone());
    leptos::task::spawn_local(async move {
        let loaded = load(&api, &place).await;
        found.set(Some(loaded.map_err(|why| say(&why, language))));
    });
    move || match found.get() {
        None => view! { <div class="designer-wait"><Progress label=loading/></div> }.into_any(),
        Some(Err(why)) => {
            let text = Signal::derive(move || why.clone());
            view! { <Notice priority=Priority::Two title=t(pipelines::TITLE) text/> }.into_any()
        }
        Some(Ok(found)) => {
            let draft = drafts::find(Studio::here().host.as_ref(), &at);
            let draft = draft.filter(|(revision, document)| {
                *revision == found.base.revision && *document != found.base.document
            });
            if draft.is_some()
                && let Some(toasts) = use_context::<Toasts>()
            {
                toasts.good(Studio::here().text(pipelines::DRAFT_KEPT).get_untracked());
            }
            let draft = draft.map(|(_, document)| document);
            let desk = Desk::new(at.clone(), found.base, found.deployed, draft);
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

async fn load(api: &Api, at: &At) -> Result<Found, Unopened> {
    let pipeline: v1::Pipeline = match api.get(&at.segments(&[]), &[]).await {
        Ok(pipeline) => pipeline,
        Err(fault) if fault.code() == Some(v1::ErrorCode::NotFound) => {
            return Ok(Found {
                base: Base { revision: 0, document: empty(&at.name) },
                deployed: None,
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
    Ok(Found { base, deployed })
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
