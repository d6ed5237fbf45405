//! The inspector: the fields of the current step, made from its kind.
//!
//! A field shows its help, its default, what is wrong with it, and what a plain expression gives on
//! the sample of the test panel. What is typed goes into the document letter by letter, as one entry
//! of the history.
//!
//! **Invariants**
//! - The form is built anew when another step becomes current, or when the document is changed by
//!   something else than this form.

use super::desk::Desk;
use super::hints::{Hints, Known};
use super::script::Script;
use super::values::{Control, control, read, shown};
use crate::words::{Language, pipelines, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_editor::Editor;
use millrace_editor::history::Grain;
use millrace_flow::document::{OnError, Step};
use millrace_flow::expression::{Root, Simple, Split, simple, split};
use millrace_flow::script::line_of;
use millrace_flow::{Data, Edit, FieldForm, FieldSpec, Transaction};
use serde_json::Value;

/// The inspector.
#[component]
pub(super) fn Inspector() -> impl IntoView {
    let desk = Desk::here();
    let language = desk.studio().language;
    let current = Memo::new(move |_| {
        desk.editor.with(|editor| editor.selection().current().map(str::to_owned))
    });
    let many = Memo::new(move |_| desk.editor.with(|editor| editor.selection().steps().len()));
    // Which version the form itself has made.
    let own = StoredValue::new(0_u64);
    let foreign = Memo::new(move |before: Option<&u64>| {
        let version = desk.version.get();
        if own.get_value() == version { before.copied().unwrap_or_default() } else { version }
    });
    let form = move || {
        foreign.track();
        // Another language is another form.
        language.0.track();
        let step = current.get().and_then(|id| {
            let step =
                desk.editor.with_untracked(|editor| editor.document().steps.get(&id).cloned());
            step.map(|step| (id, step))
        });
        match step {
            None => view! { <p class="muted">{t(pipelines::INSPECTOR_EMPTY)}</p> }.into_any(),
            Some((id, step)) => view! { <Form id step own/> }.into_any(),
        }
    };
    let several = move || {
        let count = many.get();
        (count > 1).then(|| {
            let text = language.say_with(pipelines::SEVERAL, &[("n", &count.to_string())]);
            view! { <p class="muted">{text}</p> }
        })
    };
    // A key or a fault leads to the form.
    Effect::new(move |_| {
        let Some((step, field)) = desk.wanted.get() else { return };
        request_animation_frame(move || {
            focus_field(&step, &field);
            desk.wanted.try_set(None);
        });
    });
    let leave = move |event: leptos::ev::KeyboardEvent| {
        if event.key() == "Escape" {
            event.prevent_default();
            desk.editor.update(Editor::seal);
            desk.home.update(|count| *count += 1);
        }
    };
    view! {
        <aside class="inspector" aria-label=t(pipelines::INSPECTOR) on:keydown=leave>
            {several}
            {form}
        </aside>
    }
}

/// The id of a field's element.
fn element_id(step: &str, field: &str) -> String {
    format!("field-{step}-{field}")
}

fn focus_field(step: &str, field: &str) {
    // `cases[1].test` is in the field `cases`.
    let field = field.split(['[', '.']).next().unwrap_or_default();
    let first = ["id"];
    let names = [field].into_iter().filter(|name| !name.is_empty()).chain(first);
    for name in names {
        if millrace_kit::id::focus(&element_id(step, name)) {
            return;
        }
    }
}

#[component]
fn Form(id: String, step: Step, own: StoredValue<u64>) -> impl IntoView {
    let desk = Desk::here();
    let language = desk.spoken();
    let is_read_only = desk.editor.with_untracked(|editor| editor.is_read_only);
    let kind = step.known_kind();
    let head = match kind {
        Some(kind) => view! {
            <h2>{kind.name}</h2>
            <p class="muted">{kind.summary}</p>
        }
        .into_any(),
        None => {
            let text = language.say_with(pipelines::UNKNOWN_KIND, &[("kind", &step.kind)]);
            view! { <h2>{step.kind.clone()}</h2> <p class="muted">{text}</p> }.into_any()
        }
    };
    let fields = kind.map(|kind| kind.fields).unwrap_or_default().iter().map(|field| {
        let value = step.fields.get(field.name).cloned();
        view! { <FieldRow step=id.clone() field value own is_read_only/> }
    });
    let is_trigger = step.is_trigger();
    let further = (!is_trigger).then(|| {
        view! { <Failure id=id.clone() step=step.clone() is_read_only/> }
    });
    view! {
        {head}
        <div class="form">
            <Identity id=id.clone() label=step.label.clone() own is_read_only/>
            {fields.collect_view()}
            {further}
        </div>
    }
}

/// Changes the document from the form, which then need not be built anew.
fn change(desk: Desk, own: StoredValue<u64>, name: &str, edit: Edit, grain: Grain) {
    own.set_value(desk.version.get_untracked() + 1);
    desk.apply(name, edit, Some(grain));
}

#[component]
fn Identity(id: String, label: String, own: StoredValue<u64>, is_read_only: bool) -> impl IntoView {
    let desk = Desk::here();
    let language = desk.spoken();
    let help = language.say_with(pipelines::STEP_ID_HELP, &[("id", &id)]);
    let rename = {
        let from = id.clone();
        move |event| {
            let to = event_target_value(&event).trim().to_owned();
            if to != from && millrace_flow::validate::is_step_id(&to) {
                let edit = Edit::RenameStep { from: from.clone(), to: to.clone() };
                desk.apply("rename", edit, None);
                desk.editor.update(|editor| {
                    editor.jump_to(&to);
                });
            }
        }
    };
    let relabel = {
        let step = id.clone();
        move |event| {
            let edit = Edit::SetLabel { step: step.clone(), label: event_target_value(&event) };
            let grain = Grain::Field { step: step.clone(), field: "label".into() };
            change(desk, own, "label", edit, grain);
        }
    };
    let (id_element, label_element) = (element_id(&id, "id"), element_id(&id, "label"));
    view! {
        <div class="field">
            <label class="field-label" for=id_element.clone()>{t(pipelines::STEP_ID)}</label>
            <input class="field-input" id=id_element prop:value=id.clone() spellcheck="false" readonly=is_read_only on:change=rename/>
            <p class="field-help">{help}</p>
        </div>
        <div class="field">
            <label class="field-label" for=label_element.clone()>{t(pipelines::LABEL)}</label>
            <input class="field-input" id=label_element prop:value=label readonly=is_read_only on:input=relabel/>
        </div>
    }
}

/// What becomes of a value that was typed.
fn set(desk: Desk, own: StoredValue<u64>, step: &str, field: &FieldSpec, text: &str) {
    let before = desk.editor.with_untracked(|editor| {
        editor.document().steps.get(step).and_then(|step| step.fields.get(field.name).cloned())
    });
    let (id, name) = (step.to_owned(), field.name.to_owned());
    let edit = match read(field.form, before.as_ref(), text) {
        Some(value) if Some(&value) == before.as_ref() => return,
        Some(value) => Edit::SetField { step: id.clone(), field: name.clone(), value },
        None if before.is_none() => return,
        None => Edit::UnsetField { step: id.clone(), field: name.clone() },
    };
    change(desk, own, &format!("change {name}"), edit, Grain::Field { step: id, field: name });
}

#[component]
fn FieldRow(
    step: String,
    field: &'static FieldSpec,
    value: Option<Value>,
    own: StoredValue<u64>,
    is_read_only: bool,
) -> impl IntoView {
    let desk = Desk::here();
    let language = desk.spoken();
    let id = element_id(&step, field.name);
    let text = value.as_ref().map(|value| shown(field.form, value)).unwrap_or_default();
    let typed = RwSignal::new(text);
    let step = StoredValue::new(step);
    let put = Callback::new(move |text: String| {
        step.with_value(|step| set(desk, own, step, field, &text));
    });
    let faults = Signal::derive(move || step.with_value(|step| faults_of(desk, step, field.name)));
    let how = control(field.form, value.as_ref());
    let hints = (field.form == FieldForm::Code && how == Control::Code)
        .then(|| step.with_value(|step| offered(desk, step.clone())));
    let input = match how.clone() {
        Control::Words(words) => view! {
            <WordsInput id=id.clone() words typed put is_read_only/>
        }
        .into_any(),
        Control::Code => view! {
            <Script label=field.name id=id.clone() value=typed on_change=put faults hints is_read_only/>
        }
        .into_any(),
        Control::Json | Control::Lines => {
            let rows = typed.with_untracked(|text| text.lines().count()).clamp(2, 10).to_string();
            view! {
                <textarea class="field-input field-long" id=id.clone() rows=rows spellcheck="false" readonly=is_read_only
                    prop:value=typed
                    on:input=move |event| { let text = event_target_value(&event); typed.set(text.clone()); put.run(text); }
                ></textarea>
            }
            .into_any()
        }
        Control::Line | Control::Secret => view! {
            <input class="field-input" id=id.clone() spellcheck="false" autocomplete="off" readonly=is_read_only
                placeholder=field.default.unwrap_or_default()
                prop:value=typed
                on:input=move |event| { let text = event_target_value(&event); typed.set(text.clone()); put.run(text); }
            />
        }
        .into_any(),
    };
    let mut help = vec![field.doc.to_owned()];
    match how {
        Control::Lines => help.push(language.say(pipelines::LINES)),
        Control::Secret => help.push(language.say(pipelines::SECRET_HELP)),
        _ => {}
    }
    if let Some(default) = field.default {
        help.push(language.say_with(pipelines::DEFAULT, &[("value", default)]));
    }
    let needed = field.is_required.then(|| format!(" · {}", language.say(pipelines::REQUIRED)));
    let shows_faults = how != Control::Code;
    let own_faults = move || {
        let texts = faults.get().into_iter().map(|(_, text)| text);
        if shows_faults { texts.collect::<Vec<_>>().join(" ") } else { String::new() }
    };
    let given = field.allows_expression.then(|| view! { <Preview step=step.get_value() typed/> });
    view! {
        <div class="field">
            <label class="field-label" for=id>{field.name} <span class="muted">{field.form.name()}{needed}</span></label>
            {input}
            <p class="field-fault" role="alert">{own_faults}</p>
            {given}
            <p class="field-help">{help.join(" ")}</p>
        </div>
    }
}

#[component]
fn WordsInput(
    id: String,
    words: Vec<&'static str>,
    typed: RwSignal<String>,
    put: Callback<String>,
    is_read_only: bool,
) -> impl IntoView {
    let none = t(pipelines::NOT_SET);
    let options = words.into_iter().map(|word| {
        view! { <option value=word selected=move || typed.with(|typed| typed == word)>{word}</option> }
    });
    view! {
        <select class="field-input select" id=id disabled=is_read_only
            on:change=move |event| { let text = event_target_value(&event); typed.set(text.clone()); put.run(text); }
        >
            <option value="" selected=move || typed.with(String::is_empty)>{none}</option>
            {options.collect_view()}
        </select>
    }
}

/// Faults of a field, by line (0 = none in particular).
fn faults_of(desk: Desk, step: &str, field: &str) -> Vec<(u32, String)> {
    let is_field = |of: Option<&str>| {
        of.and_then(|of| of.split(['[', '.']).next()).is_some_and(|of| of == field)
    };
    let mut found: Vec<(u32, String)> = desk.faults.with(|faults| {
        let own = faults.iter().filter(|fault| {
            fault.step.as_deref() == Some(step) && is_field(fault.field.as_deref())
        });
        own.map(|fault| (0, fault.message.clone())).collect()
    });
    found.extend(desk.told.with(|told| {
        let own = told.iter().filter(|fault| {
            fault.step.as_deref() == Some(step) && is_field(fault.field.as_deref())
        });
        let rows = own.map(|fault| (line_of(&fault.message).unwrap_or(0), fault.message.clone()));
        rows.collect::<Vec<_>>()
    }));
    // What a script did in the last test is known by its line alone.
    found.extend(desk.ran.with(|ran| {
        let own =
            ran.as_ref().filter(|fault| field == "code" && fault.step.as_deref() == Some(step));
        own.and_then(|fault| Some((line_of(&fault.message)?, fault.message.clone())))
    }));
    found
}

/// What is offered in a step's script.
fn offered(desk: Desk, step: String) -> Signal<Hints> {
    let variables = RwSignal::new(Vec::<String>::new());
    leptos::task::spawn_local(async move {
        let workspace = desk.at.with_value(|at| at.workspace.clone());
        let asked: Result<v1::Page<v1::Variable>, _> =
            desk.studio().api.get(&["workspaces", &workspace, "variables"], &[]).await;
        // Without their names there is the rest.
        if let Ok(page) = asked {
            variables.try_set(page.items.into_iter().map(|variable| variable.name).collect());
        }
    });
    Memo::new(move |_| {
        desk.version.track();
        let input = desk.input.with(|input| serde_json::from_str(input).ok());
        desk.editor.with_untracked(|editor| {
            desk.pinned.with(|pinned| {
                variables.with(|variables| {
                    let document = editor.document();
                    Known { document, step: &step, input, pinned, variables }.hints()
                })
            })
        })
    })
    .into()
}

/// What the expressions of a text give on the sample.
#[component]
fn Preview(step: String, typed: RwSignal<String>) -> impl IntoView {
    let desk = Desk::here();
    // What the step is given: what is pinned before it, else the sample of the test panel.
    let given_before = Memo::new(move |_| {
        desk.version.track();
        let before = desk.editor.with_untracked(|editor| {
            let wires = editor.document().wires.iter().filter(|wire| wire.to == step);
            wires.map(|wire| wire.from.clone()).collect::<Vec<_>>()
        });
        desk.pinned.with(|pinned| before.iter().find_map(|id| pinned.get(id).cloned()))
    });
    let language = desk.studio().language;
    let text = move || {
        let typed = typed.get();
        if !typed.contains("{{") {
            return None;
        }
        let Ok(Split::Whole(source)) = split(typed.trim()) else { return None };
        Some(match simple(source.text) {
            None => language.say(pipelines::PREVIEW_SCRIPT),
            Some(Simple::Literal(data)) => given(language, &data),
            Some(Simple::Path(path)) => {
                let sample = match &path.root {
                    Root::Item | Root::Trigger => {
                        let pinned = given_before.get().filter(|_| path.root == Root::Item);
                        let input = || desk.input.with(|input| serde_json::from_str(input).ok());
                        pinned.or_else(input)
                    }
                    Root::Step(step) => desk.pinned.with(|pinned| pinned.get(&**step).cloned()),
                    Root::Run | Root::Variable(_) => None,
                };
                match sample {
                    None => language.say(pipelines::PREVIEW_NONE),
                    Some(sample) => match Data::from(sample).follow(&path.keys) {
                        Ok(data) => given(language, &data),
                        Err(fault) => fault.to_string(),
                    },
                }
            }
        })
    };
    view! { <p class="field-preview">{text}</p> }
}

fn given(language: Language, data: &Data) -> String {
    let is_missing = *data == Data::Missing;
    let text = if is_missing { "undefined".to_owned() } else { data.to_json_text() };
    language.say_with(pipelines::PREVIEW, &[("value", &text)])
}

/// What happens when the step fails, its longest time, whether it is off.
#[component]
fn Failure(id: String, step: Step, is_read_only: bool) -> impl IntoView {
    let desk = Desk::here();
    let language = desk.spoken();
    let chosen = match &step.on_error {
        OnError::Stop => "stop".to_owned(),
        OnError::Continue => "continue".to_owned(),
        OnError::GoTo(step) => format!(">{step}"),
    };
    let others = desk.editor.with_untracked(|editor| {
        let steps = editor.document().steps.iter();
        let fits = steps.filter(|(other, step)| **other != id && !step.is_trigger());
        fits.map(|(other, _)| other.clone()).collect::<Vec<_>>()
    });
    let mut choices = vec![
        ("stop".to_owned(), language.say(pipelines::ON_ERROR_STOP)),
        ("continue".to_owned(), language.say(pipelines::ON_ERROR_CONTINUE)),
    ];
    choices.extend(others.into_iter().map(|step| {
        (format!(">{step}"), language.say_with(pipelines::ON_ERROR_GO_TO, &[("step", &step)]))
    }));
    let options = choices.into_iter().map(|(key, text)| {
        let is_chosen = key == chosen;
        view! { <option value=key selected=is_chosen>{text}</option> }
    });
    let step_id = StoredValue::new(id.clone());
    let set_error = move |event| {
        let value = event_target_value(&event);
        let on_error = match value.strip_prefix('>') {
            Some(step) => OnError::GoTo(step.to_owned()),
            None if value == "continue" => OnError::Continue,
            None => OnError::Stop,
        };
        desk.apply("on_error", Edit::SetOnError { step: step_id.get_value(), on_error }, None);
    };
    let set_timeout_ms = move |event| {
        let text = event_target_value(&event);
        let timeout_ms = text.trim().parse().ok();
        if timeout_ms.is_some() || text.trim().is_empty() {
            desk.apply("timeout", Edit::SetTimeout { step: step_id.get_value(), timeout_ms }, None);
        }
    };
    let set_disabled = move |event| {
        let disabled = event_target_checked(&event);
        let edit = Edit::SetDisabled { step: step_id.get_value(), disabled };
        desk.apply("switch", Transaction::from(edit), None);
    };
    let timeout = step.timeout_ms.map(|ms| ms.to_string()).unwrap_or_default();
    let default = step.known_kind().and_then(|kind| kind.timeout_ms).map(|ms| ms.to_string());
    let (error_id, timeout_id) = (element_id(&id, "on_error"), element_id(&id, "timeout_ms"));
    view! {
        <div class="field">
            <label class="field-label" for=error_id.clone()>{t(pipelines::ON_ERROR)}</label>
            <select class="field-input select" id=error_id disabled=is_read_only on:change=set_error>
                {options.collect_view()}
            </select>
        </div>
        <div class="field">
            <label class="field-label" for=timeout_id.clone()>{t(pipelines::TIMEOUT)}</label>
            <input class="field-input figures" id=timeout_id inputmode="numeric" readonly=is_read_only
                placeholder=default prop:value=timeout on:change=set_timeout_ms/>
        </div>
        <label class="field-check">
            <input type="checkbox" disabled=is_read_only prop:checked=step.disabled on:change=set_disabled/>
            {t(pipelines::DISABLED)}
        </label>
    }
}
