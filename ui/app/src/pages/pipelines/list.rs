//! The list of pipelines: what each does now, and the way into the designer.
//!
//! **Invariants**
//! - Stopping a pipeline names it and says what happens; deploying is the designer's, where the
//!   changes are in sight.

use super::At;
use super::deploy::some;
use super::import::ImportDialog;
use super::moment;
use super::rates::{Counters, Rate};
use super::waiting::Waiting;
use crate::api::Fault;
use crate::asked::Entry;
use crate::context::Studio;
use crate::pages::Page;
use crate::poll::poll;
use crate::words::{Message, pipelines, shell, t};
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use millrace_contract::v1;
use millrace_flow::validate::is_pipeline_name;
use millrace_kit::{Button, Column, Dialog, Empty, Field, Notice, Priority, Table, Toasts, Weight};
use std::collections::HashMap;
use std::time::Duration;

/// Most pipelines that are listed.
const LISTED: &str = "1000";
/// The workspace that the list shows.
pub(super) const WORKSPACE: &str = "main";

/// The list.
#[expect(clippy::too_many_lines, reason = "one piece of markup, with what it listens to")]
#[component]
pub(super) fn List() -> impl IntoView {
    let studio = Studio::here();
    let listed = poll(&studio, Duration::from_secs(3), |api| async move {
        let address = ["workspaces", WORKSPACE, "pipelines"];
        api.get::<v1::Page<v1::Pipeline>>(&address, &[("limit", LISTED)]).await
    });
    let rows = RwSignal::new(Vec::<v1::Pipeline>::new());
    let rates = RwSignal::new(HashMap::<String, Rate>::new());
    let version = RwSignal::new(0_u64);
    let counters = StoredValue::new(Counters::default());
    let clock = studio.clock;
    Effect::new(move |_| {
        listed.value.with(|page| {
            let Some(page) = page else { return };
            let now = clock.now_untracked().split_millis().0 as f64 / 1_000.0;
            let looked = counters.try_update_value(|counters| counters.look(now, &page.items));
            rates.set(looked.unwrap_or_default());
            rows.set(page.items.clone());
            version.update(|version| *version += 1);
        });
    });
    let chosen = RwSignal::new(None::<usize>);
    let picked =
        Memo::new(move |_| chosen.get().and_then(|at| rows.with(|rows| rows.get(at).cloned())));
    let navigate = use_navigate();
    let open = {
        let navigate = navigate.clone();
        Callback::new(move |at: usize| {
            let name = rows.with_untracked(|rows| rows.get(at).map(|row| row.name.clone()));
            if let Some(name) = name {
                let at = At { workspace: WORKSPACE.to_owned(), name };
                navigate(&at.path(), leptos_router::NavigateOptions::default());
            }
        })
    };
    let (making, importing, stopping) =
        (RwSignal::new(false), RwSignal::new(false), RwSignal::new(false));
    let asked = studio.asked;
    Effect::new(move |_| {
        if asked.chosen() == Some(Entry::NewPipeline) {
            making.set(true);
            asked.done();
        }
    });
    let may_edit = studio.sessions.may(v1::Role::Engineer);
    let language = studio.language;
    let read_only = Signal::derive(move || (!may_edit).then(|| language.say(pipelines::READ_ONLY)));
    let not_running = Signal::derive(move || {
        let runs = picked.with(|picked| picked.as_ref().is_some_and(is_running));
        read_only.get().or_else(|| (!runs).then(|| language.say(pipelines::STOPPED)))
    });
    let none_picked = Signal::derive(move || picked.with(Option::is_none).then(|| "–".to_owned()));
    let cells = {
        let studio = studio.clone();
        Callback::new(move |at: usize| {
            let row = rows.with(|rows| rows.get(at).cloned());
            row.map(|row| cells(&studio, &row, rates)).unwrap_or_default()
        })
    };
    let export = {
        let studio = studio.clone();
        move |()| {
            if let Some(pipeline) = picked.get_untracked() {
                export(&studio, &pipeline.name);
            }
        }
    };
    let fault = move || listed.fault.with(|fault| fault.as_ref().map(|fault| fault.text(language)));
    let fault_text = Signal::derive(move || fault().unwrap_or_default());
    let is_empty =
        move || listed.value.with(|page| page.as_ref().is_some_and(|page| page.items.is_empty()));
    view! {
        <Page title=pipelines::TITLE>
            <div class="form-actions">
                <Button weight=Weight::Primary on_press=move |()| making.set(true) off_because=read_only>{t(pipelines::NEW)}</Button>
                <Button on_press=move |()| importing.set(true) off_because=read_only>{t(pipelines::IMPORT)}</Button>
                <Button on_press=move |()| if let Some(at) = chosen.get_untracked() { open.run(at); } off_because=none_picked>{t(pipelines::OPEN)}</Button>
                <Button on_press=export off_because=none_picked>{t(pipelines::EXPORT)}</Button>
                <Button weight=Weight::Danger on_press=move |()| stopping.set(true) off_because=not_running>{t(pipelines::UNDEPLOY)}</Button>
            </div>
            <Show when=move || fault().is_some()>
                <Notice priority=Priority::Three title=t(pipelines::TITLE) text=fault_text/>
            </Show>
            <Waiting/>
            <Show when=is_empty>
                <Empty title=t(pipelines::NONE) next=t(pipelines::NONE_NEXT)/>
            </Show>
            <Table
                label=t(pipelines::TITLE)
                columns=columns()
                count=Signal::derive(move || rows.with(Vec::len))
                row=cells
                version
                chosen
                on_open=open
            />
            <NewDialog open=making/>
            <ImportDialog open=importing/>
            <StopDialog open=stopping picked/>
        </Page>
    }
}

fn columns() -> Vec<Column> {
    vec![
        Column::texts(t(pipelines::NAME), "2fr"),
        Column::texts(t(pipelines::STATE), "2fr"),
        Column::numbers(t(pipelines::RATE), "80px"),
        Column::numbers(t(pipelines::FAILURES), "80px"),
        Column::numbers(t(pipelines::QUEUE), "80px"),
        Column::numbers(t(pipelines::CPU), "80px"),
        Column::numbers(t(pipelines::LAST_RUN), "180px"),
    ]
}

fn is_running(pipeline: &v1::Pipeline) -> bool {
    pipeline.deployment.as_ref().is_some_and(|deployment| deployment.revision.is_some())
}

fn state(studio: &Studio, pipeline: &v1::Pipeline) -> String {
    let language = studio.language;
    let number =
        |message: Message, number: u32| language.say_with(message, &[("n", &number.to_string())]);
    if pipeline.activity.as_ref().is_some_and(|activity| activity.quarantined) {
        return language.say(pipelines::QUARANTINED);
    }
    match &pipeline.deployment {
        None => language.say(pipelines::NEVER_DEPLOYED),
        Some(deployment) => match deployment.revision {
            None => language.say(pipelines::STOPPED),
            Some(runs) if runs == pipeline.latest.revision => {
                number(pipelines::RUNS_REVISION, runs)
            }
            Some(runs) => number(pipelines::RUNS_OLDER, runs),
        },
    }
}

fn cells(
    studio: &Studio,
    row: &v1::Pipeline,
    rates: RwSignal<HashMap<String, Rate>>,
) -> Vec<AnyView> {
    let locale = studio.language.locale();
    let rate = rates.with_untracked(|rates| rates.get(&row.name).copied());
    let activity = row.activity.clone().unwrap_or_default();
    let runs = rate.map_or_else(|| "–".to_owned(), |rate| locale.reading(rate.runs));
    let cpu = rate
        .map_or_else(|| "–".to_owned(), |rate| format!("{} %", locale.reading(rate.cpu_percent)));
    let last = activity.last_run.as_ref().map_or_else(|| "–".to_owned(), |at| moment(studio, at));
    let is_bad = activity.quarantined;
    let failed = locale.integer(i128::from(activity.failed));
    let (name, address) = (row.name.clone(), format!("/pipelines/{WORKSPACE}/{}", row.name));
    vec![
        view! { <a href=address>{name}</a> }.into_any(),
        view! { <span class:fault-text=is_bad>{state(studio, row)}</span> }.into_any(),
        runs.into_any(),
        failed.into_any(),
        locale.integer(i128::from(activity.queued)).into_any(),
        cpu.into_any(),
        last.into_any(),
    ]
}

fn export(studio: &Studio, name: &str) {
    let (studio, name) = (studio.clone(), name.to_owned());
    leptos::task::spawn_local(async move {
        let address = ["workspaces", WORKSPACE, "pipelines", &name, "export"];
        if let Ok(bytes) = studio.api.get_bytes(&address, &[]).await {
            studio.host.save_file(&format!("{name}.json"), "application/json", &bytes);
        }
    });
}

/// The dialog that asks for a new pipeline's name.
#[component]
pub(super) fn NewDialog(open: RwSignal<bool>) -> impl IntoView {
    view! { <Dialog title=t(pipelines::NEW) open close=t(shell::CANCEL)><NewForm/></Dialog> }
}

#[component]
fn NewForm() -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let (name, fault) = (RwSignal::new(String::new()), RwSignal::new(None::<String>));
    let navigate = use_navigate();
    let go = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let name = name.get_untracked().trim().to_owned();
        if !is_pipeline_name(&name) {
            return fault.set(Some(language.say(pipelines::BAD_NAME)));
        }
        let at = At { workspace: WORKSPACE.to_owned(), name };
        navigate(&at.path(), leptos_router::NavigateOptions::default());
    };
    view! {
        <form class="form" on:submit=go>
            <Field label=t(pipelines::NEW_NAME) value=name fault help=some(pipelines::NEW_HELP) autofocus=true/>
            <div class="form-actions">
                <Button on_press=|()| {} submit=true weight=Weight::Primary>{t(pipelines::CREATE)}</Button>
            </div>
        </form>
    }
}

#[component]
fn StopDialog(open: RwSignal<bool>, picked: Memo<Option<v1::Pipeline>>) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let toasts = use_context::<Toasts>();
    let text = move |message: Message| {
        let name =
            picked.with(|picked| picked.as_ref().map(|of| of.name.clone()).unwrap_or_default());
        language.say_with(message, &[("name", &name)])
    };
    let go = move |()| {
        let Some(pipeline) = picked.get_untracked() else { return };
        let studio = studio.clone();
        leptos::task::spawn_local(async move {
            let address = ["workspaces", WORKSPACE, "pipelines", &pipeline.name, "undeploy"];
            let answer: Result<v1::Running, Fault> =
                studio.api.post(&address, &v1::Note::default()).await;
            open.try_set(false);
            let Some(toasts) = toasts else { return };
            match answer {
                Ok(running) => toasts.good(
                    studio.language.say_with(pipelines::UNDEPLOYED, &[("name", &running.name)]),
                ),
                Err(fault) => toasts.bad(Priority::Two, fault.text(studio.language)),
            }
        });
    };
    view! {
        <Dialog title=Signal::derive(move || text(pipelines::UNDEPLOY_TITLE)) open close=t(shell::CANCEL)>
            <p>{move || text(pipelines::UNDEPLOY_TEXT)}</p>
            <div class="form-actions">
                <Button weight=Weight::Danger on_press=go.clone()>{move || text(pipelines::UNDEPLOY_DO)}</Button>
            </div>
        </Dialog>
    }
}
