//! Changing what is set of a topic: description, unit, retention, schema.
//!
//! **Invariants**
//! - What the form does not show (kinds of the schema) stays as it is.

use super::WORKSPACE;
use crate::context::Studio;
use crate::typed;
use crate::words::{Language, Message, namespace, shell, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Choice, Dialog, Field, FieldKind, Select, Toasts, Toggle, Weight};

const RETENTIONS: [v1::Retention; 5] = [
    v1::Retention::Days1,
    v1::Retention::Days7,
    v1::Retention::Days14,
    v1::Retention::Days32,
    v1::Retention::Keep,
];

/// The name of a class on the wire.
fn key(retention: v1::Retention) -> &'static str {
    match retention {
        v1::Retention::Days1 => "1d",
        v1::Retention::Days7 => "7d",
        v1::Retention::Days14 => "14d",
        v1::Retention::Days32 => "32d",
        v1::Retention::Keep => "keep",
    }
}

/// The class with this key.
pub(super) fn retention_of(text: &str) -> Option<v1::Retention> {
    RETENTIONS.into_iter().find(|one| key(*one) == text)
}

/// All classes to choose from.
pub(super) fn retentions(language: Language) -> Vec<Choice> {
    let choice = |one| Choice::new(key(one), language.say(super::details::retention(one)));
    RETENTIONS.into_iter().map(choice).collect()
}

/// The dialog.
#[component]
pub(super) fn Edit(
    /// The topic as it is.
    tag: RwSignal<Option<v1::Tag>>,
    /// Whether it is open.
    open: RwSignal<bool>,
    /// Called when something was changed.
    #[prop(into)]
    on_changed: Callback<()>,
) -> impl IntoView {
    view! {
        <Dialog title=t(namespace::EDIT) open close=t(shell::CANCEL)>
            {move || tag.get_untracked().map(|tag| view! { <Form tag open on_changed/> })}
        </Dialog>
    }
}

/// What stands in the form.
#[derive(Clone, Copy)]
struct Typed {
    description: RwSignal<String>,
    unit: RwSignal<String>,
    retention: RwSignal<String>,
    min: RwSignal<String>,
    max: RwSignal<String>,
    choices: RwSignal<String>,
    strict: RwSignal<bool>,
}

impl Typed {
    fn of(language: Language, tag: &v1::Tag) -> Self {
        let locale = language.0.get_untracked();
        let number = |number: Option<f64>| {
            number.map(|number| typed::written(locale, number)).unwrap_or_default()
        };
        Self {
            description: RwSignal::new(tag.description.clone()),
            unit: RwSignal::new(tag.unit.clone()),
            retention: RwSignal::new(key(tag.retention).to_owned()),
            min: RwSignal::new(number(tag.schema.min)),
            max: RwSignal::new(number(tag.schema.max)),
            choices: RwSignal::new(tag.schema.choices.join("\n")),
            strict: RwSignal::new(tag.schema.strict),
        }
    }

    /// The change, or the field that is no number.
    fn change(self, language: Language, tag: &v1::Tag) -> Result<v1::TagChange, &'static str> {
        let locale = language.0.get_untracked();
        let number = |text: RwSignal<String>, field: &'static str| {
            let text = text.get_untracked();
            match text.trim() {
                "" => Ok(None),
                text => typed::read(locale, text).map(Some).ok_or(field),
            }
        };
        let choices = self.choices.get_untracked();
        let lines = choices.lines().map(str::trim).filter(|line| !line.is_empty());
        Ok(v1::TagChange {
            unit: Some(self.unit.get_untracked().trim().to_owned()),
            description: Some(self.description.get_untracked().trim().to_owned()),
            retention: retention_of(&self.retention.get_untracked()),
            schema: Some(v1::Schema {
                kinds: tag.schema.kinds.clone(),
                min: number(self.min, "schema.min")?,
                max: number(self.max, "schema.max")?,
                choices: lines.map(str::to_owned).collect(),
                strict: self.strict.get_untracked(),
            }),
        })
    }
}

#[component]
fn Form(tag: v1::Tag, open: RwSignal<bool>, on_changed: Callback<()>) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let typed = Typed::of(language, &tag);
    // The field at fault, as the appliance names it, and the sentence.
    let fault = RwSignal::new(None::<(String, String)>);
    let toasts: Toasts = expect_context();
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let change = match typed.change(language, &tag) {
            Ok(change) => change,
            Err(field) => {
                let text = language.say(namespace::NO_NUMBER);
                return fault.set(Some((field.to_owned(), text)));
            }
        };
        let (studio, path) = (studio.clone(), tag.path.clone());
        leptos::task::spawn_local(async move {
            let address = ["workspaces", WORKSPACE, "tag"];
            let answer =
                studio.api.patch::<_, v1::Tag>(&address, &[("path", &path)], &change).await;
            match answer {
                Ok(_) => {
                    toasts.good(studio.language.say(namespace::SAVED));
                    on_changed.run(());
                    open.try_set(false);
                }
                Err(why) => {
                    let field = why.field().unwrap_or_default().to_owned();
                    fault.try_set(Some((field, why.text(studio.language))));
                }
            }
        });
    };
    let at = move |field: &'static str| at_field(fault, field);
    let other = move || {
        let known = ["unit", "description", "schema.min", "schema.max", "schema.choices"];
        fault.get().filter(|(field, _)| !known.contains(&field.as_str())).map(|(_, text)| text)
    };
    let choices = Signal::derive(move || retentions(language));
    view! {
        <form class="form" on:submit=save>
            <Field label=t(namespace::DESCRIPTION) value=typed.description fault=at("description") autofocus=true/>
            <Field label=t(namespace::UNIT) value=typed.unit fault=at("unit")/>
            <Select label=t(namespace::RETENTION) value=typed.retention choices/>
            <div class="topic-range">
                <Field label=t(namespace::MIN) value=typed.min kind=FieldKind::Number fault=at("schema.min")/>
                <Field label=t(namespace::MAX) value=typed.max kind=FieldKind::Number fault=at("schema.max")/>
            </div>
            <Field
                label=t(namespace::CHOICES)
                value=typed.choices
                kind=FieldKind::Long
                help=help(language, namespace::CHOICES_HELP)
                fault=at("schema.choices")
            />
            <Toggle label=t(namespace::STRICT_TOGGLE) value=typed.strict/>
            <p class="field-fault" role="alert">{other}</p>
            <div class="form-actions">
                <Button on_press=|()| {} submit=true weight=Weight::Primary>{t(namespace::SAVE)}</Button>
            </div>
        </form>
    }
}

/// The sentence of a fault that is at this field.
pub(super) fn at_field(
    fault: RwSignal<Option<(String, String)>>,
    field: &'static str,
) -> Signal<Option<String>> {
    Signal::derive(move || fault.get().filter(|(own, _)| own == field).map(|(_, text)| text))
}

/// A help that follows the language.
pub(super) fn help(language: Language, message: Message) -> Signal<Option<String>> {
    Signal::derive(move || Some(language.say(message)))
}
