//! The overview: what is wrong now, and how much goes through.
//!
//! It asks for the figures of `/metrics` by name once every two seconds, for issues and the ledger
//! beside that, and keeps the last minutes of each figure for its small trend.
//!
//! **Invariants**
//! - Every figure has its unit and says how old it is when it is not of now.
//! - What the appliance does not measure is a dash, never a zero.

mod balance;
mod figure;
mod issues;
mod machine;
mod runs;
mod snapshot;
mod trail;

use crate::context::Studio;
use crate::pages::Page;
use crate::poll::poll;
use crate::words::{faults, overview, t};
use balance::Balance;
use figure::{Figure, Form};
use issues::Issues;
use leptos::prelude::*;
use machine::Machine;
use millrace_contract::v1;
use millrace_kit::{Freshness, Notice, Panel, Priority};
use runs::Runs;
use snapshot::{Pair, Snapshot};
use std::time::Duration;
use trail::Trail;

/// How often figures are asked for.
const PERIOD: Duration = Duration::from_secs(2);

/// What is asked for, beside what the panels ask for.
const MEASURES: &[&str] = &[
    "received_values",
    "stored_values",
    "refused_values",
    "journal_commit_times",
    "journal_queued_bytes",
    "mqtt_connections",
    "mqtt_refused_connections",
    "mqtt_slow_subscribers",
    "mqtt_dropped_messages",
    "tags",
];

/// The last minutes of the first panel's figures.
#[derive(Clone, Copy)]
struct Trails {
    received: Trail,
    stored: Trail,
    refused: Trail,
    commit: Trail,
    queued: Trail,
    connected: Trail,
    turned_away: Trail,
    slowed: Trail,
    tags: Trail,
    machine: machine::Trails,
}

impl Trails {
    fn new() -> Self {
        Self {
            received: Trail::new(),
            stored: Trail::new(),
            refused: Trail::new(),
            commit: Trail::new(),
            queued: Trail::new(),
            connected: Trail::new(),
            turned_away: Trail::new(),
            slowed: Trail::new(),
            tags: Trail::new(),
            machine: machine::Trails::new(),
        }
    }

    fn add(self, pair: Pair<'_>) {
        self.received.add(pair.rate("received_values"));
        self.stored.add(pair.rate("stored_values"));
        self.refused.add(pair.rate("refused_values"));
        self.commit.add(pair.p99("journal_commit_times"));
        self.queued.add(pair.now.value("journal_queued_bytes"));
        self.connected.add(pair.now.value("mqtt_connections"));
        self.turned_away.add(pair.now.sum("mqtt_refused_connections"));
        self.slowed.add(pair.now.value("mqtt_slow_subscribers"));
        self.tags.add(pair.now.value("tags"));
        self.machine.add(pair);
    }
}

/// The page.
#[component]
pub fn Overview() -> impl IntoView {
    let studio = Studio::here();
    let all: Vec<&str> =
        [MEASURES, runs::MEASURES, machine::MEASURES].into_iter().flatten().copied().collect();
    let names = all.join(",");
    let measures = poll(&studio, PERIOD, move |api| {
        let names = names.clone();
        async move { api.get::<v1::Measures>(&["measures"], &[("names", &names)]).await }
    });
    let trails = Trails::new();
    let moments = RwSignal::new(None::<(Snapshot, Snapshot)>);
    let latest = RwSignal::new(None::<Snapshot>);
    let (clock, host) = (studio.clock, studio.host.clone());
    Effect::new(move |_| {
        let Some(answer) = measures.value.get() else { return };
        let Some(at) = millrace_model::Timestamp::from_rfc3339(&answer.at) else { return };
        clock.compare(host.now(), at);
        let now = Snapshot::new(at, answer.items);
        // The first moment has no rates yet, but all that is not one.
        let before = latest.get_untracked().unwrap_or_else(|| now.clone());
        trails.add(Pair { before: &before, now: &now });
        moments.set(Some((before, now.clone())));
        latest.set(Some(now));
    });
    let language = studio.language;
    let fault = move || measures.fault.get().map(|fault| fault.text(language)).unwrap_or_default();
    let freshness = measures.freshness;
    view! {
        <Page title=overview::TITLE>
            <Show when=move || measures.has_news()>
                <Notice priority=Priority::Two title=t(faults::TITLE) text=Signal::derive(fault)/>
            </Show>
            <div class="overview">
                <Issues/>
                <Ingest trails freshness/>
                <Balance/>
                <div class="overview-columns">
                    <Runs moments=moments.into() freshness/>
                    <div class="overview-stack">
                        <Machine trails=trails.machine now=latest.into() freshness/>
                    </div>
                </div>
            </div>
        </Page>
    }
}

#[component]
fn Ingest(trails: Trails, freshness: Signal<Freshness>) -> impl IntoView {
    view! {
        <Panel title=t(overview::INGEST)>
            <div class="figures-grid">
                <Figure label=overview::RECEIVED trail=trails.received form=Form::Reading("/s") freshness/>
                <Figure label=overview::STORED trail=trails.stored form=Form::Reading("/s") freshness/>
                <Figure label=overview::REFUSED trail=trails.refused form=Form::Reading("/s") freshness/>
                <Figure label=overview::COMMIT trail=trails.commit form=Form::Milliseconds freshness/>
                <Figure label=overview::QUEUED trail=trails.queued form=Form::Bytes freshness/>
                <Figure label=overview::CONNECTED trail=trails.connected form=Form::Count freshness/>
                <Figure label=overview::TURNED_AWAY trail=trails.turned_away form=Form::Count freshness/>
                <Figure label=overview::SLOWED trail=trails.slowed form=Form::Count freshness/>
                <Figure label=overview::TAGS trail=trails.tags form=Form::Count freshness/>
            </div>
        </Panel>
    }
}
