//! The designer's layout: bar, canvas, inspector, tabs below, dialogs over it.
//!
//! **Invariants**
//! - What the editor says is heard (`aria-live`) and seen in the bar.
//! - When a dialog closes, the focus goes back to the canvas.

use super::canvas::Canvas;
use super::deploy::{DeployDialog, store};
use super::desk::{Desk, Over};
use super::dialogs::{KeysDialog, QuickAddDialog, SearchDialog, SettingsDialog};
use super::faults::FaultList;
use super::inspector::Inspector;
use super::merging::MergeDialog;
use super::rehearsal::Rehearsal;
use super::revisions::Revisions;
use super::runs::Runs;
use super::test_panel::TestPanel;
use crate::words::{offline, pipelines, t};
use leptos::html::Div;
use leptos::prelude::*;
use leptos_router::components::A;
use millrace_editor::Action;
use millrace_kit::{Button, Choice, Tabs, Weight};

/// The designer of an opened pipeline.
#[component]
pub(super) fn Bench(desk: Desk) -> impl IntoView {
    let studio = desk.studio();
    let name = desk.at.with_value(|at| at.name.clone());
    studio.host.set_title(&format!("{name} · Millrace"));
    let canvas = NodeRef::<Div>::new();
    let focus = move || {
        if let Some(canvas) = canvas.get_untracked() {
            // Without the focus the page is as usable as before.
            let _unfocused = canvas.focus().is_err();
        }
    };
    desk.follow_menu();
    let was_open = StoredValue::new(false);
    Effect::new(move |_| {
        let is_open = desk.over.get() != Over::Nothing;
        if was_open.get_value() && !is_open && desk.wanted.with_untracked(Option::is_none) {
            request_animation_frame(focus);
        }
        was_open.set_value(is_open);
    });
    Effect::new(move |_| {
        desk.home.track();
        if canvas.get().is_some() {
            request_animation_frame(focus);
        }
    });
    let tabs = Signal::derive(move || {
        let say = |message| studio.language.say(message);
        let errors = desk.faults.with(Vec::len) + desk.told.with(Vec::len);
        let faults = if errors == 0 {
            say(pipelines::FAULTS)
        } else {
            format!("{} ({errors})", say(pipelines::FAULTS))
        };
        vec![
            Choice::new("test", say(pipelines::TEST)),
            Choice::new("faults", faults),
            Choice::new("runs", say(pipelines::RUNS)),
            Choice::new("revisions", say(pipelines::REVISIONS)),
            Choice::new("rehearsal", say(pipelines::REHEARSE)),
        ]
    });
    let is_away = Memo::new(move |_| desk.away().is_some());
    let below = move || match desk.tab.get().as_str() {
        "runs" | "revisions" | "rehearsal" if is_away.get() => {
            view! { <p class="muted">{move || desk.away()}</p> }.into_any()
        }
        "faults" => view! { <FaultList/> }.into_any(),
        "runs" => view! { <Runs/> }.into_any(),
        "revisions" => view! { <Revisions/> }.into_any(),
        "rehearsal" => view! { <Rehearsal/> }.into_any(),
        _ => view! { <TestPanel/> }.into_any(),
    };
    view! {
        <div class="designer">
            <Bar/>
            <div class="designer-middle">
                <Canvas node=canvas/>
                <Inspector/>
            </div>
            <div class="designer-below">
                <Tabs label=t(pipelines::TABS) tabs shown=desk.tab>{below}</Tabs>
            </div>
            <QuickAddDialog/>
            <SearchDialog/>
            <KeysDialog/>
            <SettingsDialog/>
            <DeployDialog/>
            <MergeDialog/>
        </div>
    }
}

/// The bar above the canvas.
#[component]
fn Bar() -> impl IntoView {
    let desk = Desk::here();
    let language = desk.studio().language;
    let name = desk.at.with_value(|at| at.name.clone());
    let state = move || {
        let base = desk.base.with(|base| base.revision);
        let runs = desk.deployed.with(|deployed| deployed.as_ref().map(|of| of.revision));
        let changed = desk.is_changed();
        let runs = match runs {
            None if base == 0 => String::new(),
            None => language.say(pipelines::STOPPED),
            Some(n) => language.say_with(pipelines::RUNS_REVISION, &[("n", &n.to_string())]),
        };
        let draft = if changed { language.say(pipelines::DRAFT) } else { String::new() };
        [runs, draft].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · ")
    };
    let off = move |is_off: fn(&millrace_editor::Editor) -> bool| {
        Signal::derive(move || {
            let reason = language.say(pipelines::READ_ONLY);
            let nothing = "–".to_owned();
            desk.editor.with(|editor| {
                if editor.is_read_only { Some(reason) } else { is_off(editor).then_some(nothing) }
            })
        })
    };
    let never = |_: &millrace_editor::Editor| false;
    let away_or = move |off: Signal<Option<String>>| {
        Signal::derive(move || desk.away().or_else(|| off.get()))
    };
    let kept = move || {
        let project = desk.studio().project;
        project.refused().map(|why| language.say_with(offline::NOT_KEPT, &[("why", &why)]))
    };
    let unchanged = Signal::derive(move || (!desk.is_changed()).then(|| "–".to_owned()));
    view! {
        <div class="designer-bar">
            <div class="designer-line">
                <A href="/pipelines" attr:class="designer-back">"← " {t(pipelines::BACK)}</A>
                <h1>{name}</h1>
                <span class="muted">{state}</span>
                <span class="field-fault" role="alert">{kept}</span>
                <div class="designer-main">
                <Button weight=Weight::Quiet on_press=move |()| discard(desk) off_because=unchanged>{t(pipelines::DISCARD)}</Button>
                <Button on_press=move |()| export(desk)>{t(pipelines::EXPORT)}</Button>
                <Button on_press=move |()| store(desk) off_because=away_or(off(never))>{t(pipelines::SAVE)}</Button>
                <Button weight=Weight::Primary on_press=move |()| desk.over.set(Over::Deploy) off_because=away_or(off(never))>
                    {t(pipelines::DEPLOY)}
                </Button>
                </div>
            </div>
            <div class="designer-line">
                <Button weight=Weight::Quiet on_press=move |()| desk.run(Action::QuickAdd) off_because=off(never)>
                    {t(pipelines::ADD)}
                </Button>
                <Button weight=Weight::Quiet on_press=move |()| desk.run(Action::Undo) off_because=off(|editor| editor.history().is_empty())>
                    {t(pipelines::UNDO)}
                </Button>
                <Button weight=Weight::Quiet on_press=move |()| desk.run(Action::Redo) off_because=off(|editor| editor.history().redo_name().is_none())>
                    {t(pipelines::REDO)}
                </Button>
                <Button weight=Weight::Quiet on_press=move |()| desk.run(Action::Arrange) off_because=off(never)>
                    {t(pipelines::ARRANGE)}
                </Button>
                <Button weight=Weight::Quiet on_press=move |()| desk.run(Action::Fit)>{t(pipelines::FIT)}</Button>
                <Button weight=Weight::Quiet on_press=move |()| desk.is_frozen.update(|is| *is = !*is)>
                    {t(pipelines::FREEZE)}
                </Button>
                <Button weight=Weight::Quiet on_press=move |()| desk.over.set(Over::Settings)>{t(pipelines::SETTINGS)}</Button>
                <Button weight=Weight::Quiet on_press=move |()| desk.over.set(Over::Search)>{t(pipelines::COMMANDS)}</Button>
                <Button weight=Weight::Quiet on_press=move |()| desk.over.set(Over::Keys)>"?"</Button>
                <p class="designer-said" id="designer-said" role="status" aria-live="polite">
                    {move || if desk.is_frozen.get() { language.say(pipelines::FROZEN) } else { desk.said.get() }}
                </p>
            </div>
        </div>
    }
}

/// Goes back to what is stored; undo brings the draft back.
fn discard(desk: Desk) {
    let document = desk.base.with_untracked(|base| base.document.clone());
    desk.act(|editor| editor.take_over("discard draft", &document));
}

/// Hands the draft to the person as a file.
fn export(desk: Desk) {
    let name = desk.at.with_value(|at| format!("{}.json", at.name));
    let text = desk.document().to_text();
    desk.studio().host.save_file(&name, "application/json", text.as_bytes());
}
