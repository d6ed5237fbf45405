//! The pipelines without the appliance: as they were last read, and as they were edited here.
//!
//! **Invariants**
//! - What is shown of the appliance is of the last reading, and says so.

use super::At;
use super::import::ImportDialog;
use super::list::{NewDialog, WORKSPACE};
use super::waiting::Waiting;
use crate::asked::Entry as Wanted;
use crate::context::Studio;
use crate::pages::Page;
use crate::project::{Entry, moment};
use crate::words::{offline, pipelines, t};
use leptos::prelude::*;
use millrace_kit::{Button, Column, Empty, Table, Weight};

/// The list.
#[component]
pub(super) fn Offline() -> impl IntoView {
    let studio = Studio::here();
    let project = studio.project;
    project.reload();
    let stored = project.stored();
    let version = RwSignal::new(0_u64);
    Effect::new(move |_| {
        stored.track();
        version.update(|version| *version += 1);
    });
    let (making, importing) = (RwSignal::new(false), RwSignal::new(false));
    let asked = studio.asked;
    Effect::new(move |_| {
        if asked.chosen() == Some(Wanted::NewPipeline) {
            making.set(true);
            asked.done();
        }
    });
    let row = Callback::new(move |at: usize| {
        let entry = stored.with(|stored| stored.entries.get(at).cloned());
        entry.map(|entry| cells(&studio, &entry)).unwrap_or_default()
    });
    let columns = vec![
        Column::texts(t(pipelines::NAME), "2fr"),
        Column::texts(t(offline::LAST_SEEN), "2fr"),
        Column::texts(t(offline::DRAFT), "3fr"),
    ];
    let count = Signal::derive(move || stored.with(|stored| stored.entries.len()));
    view! {
        <Page title=pipelines::TITLE>
            <div class="form-actions">
                <Button weight=Weight::Primary on_press=move |()| making.set(true)>{t(pipelines::NEW)}</Button>
                <Button on_press=move |()| importing.set(true)>{t(pipelines::IMPORT)}</Button>
            </div>
            <Waiting/>
            <Show when=move || count.get() == 0>
                <Empty title=t(offline::NONE) next=t(offline::NONE_NEXT)/>
            </Show>
            <Table label=t(pipelines::TITLE) columns count row version/>
            <NewDialog open=making/>
            <ImportDialog open=importing/>
        </Page>
    }
}

fn cells(studio: &Studio, entry: &Entry) -> Vec<AnyView> {
    let at = At { workspace: WORKSPACE.to_owned(), name: entry.name.clone() };
    vec![
        view! { <a href=at.path()>{at.name.clone()}</a> }.into_any(),
        seen(studio, entry).into_any(),
        draft(studio, entry).unwrap_or_else(|| "–".to_owned()).into_any(),
    ]
}

/// What the appliance had.
fn seen(studio: &Studio, entry: &Entry) -> String {
    let language = studio.language;
    let Some(revision) = entry.revision else { return language.say(offline::SEEN_NOT) };
    let n = revision.to_string();
    match entry.deployed {
        None => language.say_with(offline::SEEN, &[("n", &n)]),
        Some(ran) if ran == revision => language.say_with(offline::SEEN_RAN, &[("n", &n)]),
        Some(ran) => {
            language.say_with(offline::SEEN_RAN_OTHER, &[("n", &n), ("m", &ran.to_string())])
        }
    }
}

/// What its draft was made from, and when it was kept.
pub(super) fn draft(studio: &Studio, entry: &Entry) -> Option<String> {
    let time = moment(studio, entry.draft_saved.as_ref()?);
    let base = entry.draft_base.filter(|base| *base > 0);
    Some(match base {
        None => studio.language.say_with(offline::DRAFT_NEW, &[("time", &time)]),
        Some(base) => studio
            .language
            .say_with(offline::DRAFT_OF, &[("n", &base.to_string()), ("time", &time)]),
    })
}
