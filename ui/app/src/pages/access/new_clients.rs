//! Adding clients: names, filters, and what else they may do.
//!
//! **Invariants**
//! - What is wrong stands at its field, whoever found it: the page or the appliance.
//! - A client that may do nothing is not asked for.

mod rights;
mod wish;

pub(super) use rights::RightsDialog;

use super::issued::Issued;
use super::new_person::Refused;
use super::permissions::retention_name;
use super::some;
use crate::api::Fault;
use crate::context::Studio;
use crate::words::{Language, access, shell, t};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_kit::{Button, Choice, Dialog, Field, FieldKind, Progress, Select, Toggle, Weight};
use wish::{Place, Typed, wish};

/// Retention classes by their key in the form; the empty key is the appliance's setting.
const CLASSES: [(&str, v1::Retention); 5] = [
    ("1d", v1::Retention::Days1),
    ("7d", v1::Retention::Days7),
    ("14d", v1::Retention::Days14),
    ("32d", v1::Retention::Days32),
    ("keep", v1::Retention::Keep),
];

/// The dialog.
#[component]
pub(super) fn NewClientsDialog(open: RwSignal<bool>, issued: Issued) -> impl IntoView {
    view! {
        <Dialog title=t(access::ADD_CLIENT) open close=t(shell::CANCEL)><Form open issued/></Dialog>
    }
}

/// What is typed, and what is wrong with it.
#[derive(Clone, Copy)]
struct Fields {
    name: RwSignal<String>,
    count: RwSignal<String>,
    publish: RwSignal<String>,
    subscribe: RwSignal<String>,
    may_create: RwSignal<bool>,
    retention: RwSignal<String>,
    rate: RwSignal<String>,
    faults: [RwSignal<Option<String>>; 6],
    working: RwSignal<bool>,
}

impl Fields {
    fn new() -> Self {
        let text = |text: &str| RwSignal::new(text.to_owned());
        Self {
            name: text(""),
            count: text("1"),
            publish: text(""),
            subscribe: text(""),
            may_create: RwSignal::new(true),
            retention: text(""),
            rate: text(""),
            faults: [(); 6].map(|()| RwSignal::new(None)),
            working: RwSignal::new(false),
        }
    }

    /// What a client may do now.
    fn of(client: &v1::Client) -> Self {
        let class = CLASSES.iter().find(|(_, class)| Some(*class) == client.retention);
        let fields = Self::new();
        fields.name.set(client.name.clone());
        fields.publish.set(client.publish.join("\n"));
        fields.subscribe.set(client.subscribe.join("\n"));
        fields.may_create.set(client.may_create);
        fields.retention.set(class.map(|(key, _)| (*key).to_owned()).unwrap_or_default());
        fields.rate.set(client.rate_per_s.map(|rate| rate.to_string()).unwrap_or_default());
        fields
    }

    fn fault(self, place: Place) -> RwSignal<Option<String>> {
        let [name, count, publish, subscribe, rate, whole] = self.faults;
        match place {
            Place::Name => name,
            Place::Count => count,
            Place::Publish => publish,
            Place::Subscribe => subscribe,
            Place::Rate => rate,
            Place::Whole => whole,
        }
    }

    fn wish(self, language: Language) -> Option<v1::NewClients> {
        let class = self.retention.get_untracked();
        let typed = Typed {
            name: self.name.get_untracked(),
            count: self.count.get_untracked(),
            publish: self.publish.get_untracked(),
            subscribe: self.subscribe.get_untracked(),
            may_create: self.may_create.get_untracked(),
            retention: CLASSES.iter().find(|(key, _)| *key == class).map(|(_, class)| *class),
            rate: self.rate.get_untracked(),
        };
        self.faults.iter().for_each(|fault| fault.set(None));
        match wish(&typed, untrack(|| language.locale())) {
            Ok(wish) => Some(wish),
            Err(faults) => {
                for (place, message) in faults {
                    self.fault(place).set(Some(language.say(message)));
                }
                None
            }
        }
    }

    fn refused(self, why: &Fault, language: Language) {
        let place = Place::of(why.field().unwrap_or_default());
        self.fault(place).try_set(Some(why.text(language)));
    }
}

#[component]
fn Form(open: RwSignal<bool>, issued: Issued) -> impl IntoView {
    let studio = Studio::here();
    let language = studio.language;
    let fields = Fields::new();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if fields.working.get_untracked() {
            return;
        }
        let Some(wish) = fields.wish(language) else { return };
        fields.working.set(true);
        let api = studio.api.clone();
        leptos::task::spawn_local(async move {
            let answer = api.post::<_, v1::ClientsCreated>(&["clients"], &wish).await;
            fields.working.try_set(false);
            match answer {
                Ok(created) => {
                    open.try_set(false);
                    issued.show(created.clients);
                }
                Err(why) => fields.refused(&why, language),
            }
        });
    };
    let fault = move |place| fields.fault(place);
    view! {
        <form class="form new-clients" on:submit=submit>
            <div class="access-pair">
                <Field label=t(access::NAME) value=fields.name help=some(access::CLIENT_NAME_HELP) fault=fault(Place::Name) autofocus=true/>
                <Field label=t(access::COUNT) value=fields.count kind=FieldKind::Number help=some(access::COUNT_HELP) fault=fault(Place::Count)/>
            </div>
            <Permitted fields/>
            <Refused fault=fault(Place::Whole).into()/>
            <div class="form-actions">
                <Button on_press=|()| {} submit=true weight=Weight::Primary>{t(access::CREATE_CLIENTS)}</Button>
                <Show when=move || fields.working.get()><Progress label=t(access::WORKING)/></Show>
            </div>
        </form>
    }
}

/// The fields about what a client may do.
#[component]
fn Permitted(fields: Fields) -> impl IntoView {
    let language = Studio::here().language;
    let classes = Signal::derive(move || {
        let class = |(key, class): (&str, v1::Retention)| {
            Choice::new(key, language.say(retention_name(class)))
        };
        let setting = Choice::new("", language.say(access::BY_SETTING));
        std::iter::once(setting).chain(CLASSES.map(class)).collect::<Vec<_>>()
    });
    let fault = move |place| fields.fault(place);
    view! {
        <div class="access-pair">
            <Field label=t(access::PUBLISH) value=fields.publish kind=FieldKind::Long fault=fault(Place::Publish)/>
            <Field label=t(access::SUBSCRIBE) value=fields.subscribe kind=FieldKind::Long fault=fault(Place::Subscribe)/>
        </div>
        <p class="field-help">{t(access::FILTERS_HELP)}</p>
        <Toggle label=t(access::CREATES) value=fields.may_create/>
        <div class="access-pair">
            <Select label=t(access::RETENTION) value=fields.retention choices=classes/>
            <Field label=t(access::RATE) value=fields.rate kind=FieldKind::Number help=some(access::RATE_HELP) fault=fault(Place::Rate) unit="/s"/>
        </div>
    }
}
