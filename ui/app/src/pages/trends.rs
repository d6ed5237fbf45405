//! Trends: several topics in one chart, live and from history.
//!
//! The appliance condenses what is in the window to one interval for each pixel or two, with least and
//! most kept; where there are few samples they are taken as they are, with their quality.
//!
//! **Invariants**
//! - What is asked for grows with the width of the chart and the number of lines, not with the rate.
//! - What was loaded stays in sight when the appliance is away, and is told to be old.

mod desk;
mod export;
mod legend;
mod load;
mod pick;
mod series;
mod views;

use crate::context::Studio;
use crate::pages::Page;
use crate::words::{shell, t, trends};
use desk::{Desk, SPANS};
use legend::Legend;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use millrace_kit::{
    Button, Chart, ChartAct, ChartTexts, Choice, Empty, Notice, Priority, Select, Toggle,
};
use millrace_model::Timestamp;
use millrace_model::time::NANOS_PER_MILLI;
use pick::Pick;
use views::Views;

/// The workspace that is shown; this version has one.
const WORKSPACE: &str = "main";

/// The page.
#[component]
pub fn Trends() -> impl IntoView {
    let studio = Studio::here();
    let desk = Desk::open(&studio);
    provide_context(desk);
    // A link from a topic brings it along.
    let asked = use_query_map().with_untracked(|query| query.get("topic"));
    if let Some(path) = asked.filter(|path| !path.is_empty()) {
        desk.add(path);
    }
    let is_empty = Memo::new(move |_| desk.topics.with(Vec::is_empty));
    let language = studio.language;
    let fault = Signal::derive(move || {
        desk.fault
            .with(|fault| fault.as_ref().map(|fault| fault.text(language)))
            .unwrap_or_default()
    });
    let is_incomplete =
        move || desk.series.with(|all| all.iter().any(|series| series.is_incomplete));
    view! {
        <Page title=trends::TITLE>
            <div class="trends-tools">
                <Pick/>
                <Tools/>
                <Views/>
            </div>
            <Show when=move || fault.with(|fault| !fault.is_empty())>
                <Notice priority=Priority::Three title=t(trends::NOT_LOADED) text=fault/>
            </Show>
            <Show when=is_incomplete>
                <Notice priority=Priority::Three title=t(trends::INCOMPLETE) text=t(trends::INCOMPLETE_TEXT)/>
            </Show>
            <Show
                when=move || !is_empty.get()
                fallback=|| view! { <Empty title=t(trends::NONE) next=t(trends::NONE_NEXT)/> }
            >
                <TheChart/>
                <Legend/>
            </Show>
        </Page>
    }
}

/// Which window, live or not, and what can be done with a button instead of a drag.
#[component]
fn Tools() -> impl IntoView {
    let desk = Desk::here();
    let studio = desk.studio();
    let language = studio.language;
    let choices = Signal::derive(move || {
        let mut choices: Vec<Choice> =
            SPANS.iter().map(|span| Choice::new(span.key, language.say(span.text))).collect();
        choices.push(Choice::new("", language.say(trends::OTHER_SPAN)));
        choices
    });
    let span = RwSignal::new(String::new());
    // A window that was zoomed has the length of none of the choices.
    Effect::new(move |_| {
        let length = desk.window.get().length();
        let found = SPANS.iter().find(|span| (span.millis - length).abs() < 1.0);
        span.set(found.map(|span| span.key.to_owned()).unwrap_or_default());
    });
    crate::pages::sizing::follow(span, move |key| {
        if let Some(found) = SPANS.iter().find(|span| span.key == key)
            && (found.millis - desk.window.get_untracked().length()).abs() >= 1.0
        {
            desk.show(found.millis);
        }
    });
    let pan = move |share: f64| {
        move |()| desk.act(ChartAct::Window(desk.window.get_untracked().panned(share)))
    };
    let zoom = move |factor: f64| {
        move |()| desk.act(ChartAct::Window(desk.window.get_untracked().zoomed(factor, 0.5)))
    };
    let live = RwSignal::new(true);
    Effect::new(move |_| live.set(desk.live.get()));
    let turn = move |on: bool| if on { desk.act(ChartAct::Live) } else { desk.live.set(false) };
    let export = move |()| {
        let studio = desk.studio();
        let text = desk.series.with_untracked(|all| export::csv(all, desk.window.get_untracked()));
        studio.host.save_file("trends.csv", "text/csv", text.as_bytes());
    };
    let off = Signal::derive(move || {
        desk.series
            .with(|all| all.iter().all(|series| series.line.points.is_empty()))
            .then(|| language.say(trends::NOTHING_TO_EXPORT))
    });
    view! {
        <div class="form-actions">
            <Select label=t(trends::SPAN) value=span choices compact=true/>
            <Toggle label=t(shell::LIVE) value=live on_change=turn/>
            <Button on_press=pan(-0.5) label=language.say(trends::EARLIER)>"◀"</Button>
            <Button on_press=pan(0.5) label=language.say(trends::LATER)>"▶"</Button>
            <Button on_press=zoom(0.5) label=language.say(trends::NEARER)>"+"</Button>
            <Button on_press=zoom(2.0) label=language.say(trends::FARTHER)>"−"</Button>
            <Button on_press=export off_because=off>{t(trends::EXPORT)}</Button>
        </div>
    }
}

#[component]
fn TheChart() -> impl IntoView {
    let desk = Desk::here();
    let studio = desk.studio();
    let language = studio.language;
    let lines = Signal::derive(move || {
        desk.series.with(|all| all.iter().map(|series| series.line.clone()).collect::<Vec<_>>())
    });
    let host = studio.host.clone();
    let clock = studio.clock;
    let offset = {
        let host = host.clone();
        Signal::derive(move || host.utc_offset_minutes(clock.now_untracked()))
    };
    let time = Callback::new(move |(at, step): (f64, f64)| {
        let at = timestamp(at);
        let locale = language.locale();
        let whole = locale.date_time(at, host.utc_offset_minutes(at));
        let (date, time) = whole.split_once(' ').unwrap_or((&whole, ""));
        match step {
            step if step >= 86_400_000.0 => date.to_owned(),
            step if step >= 60_000.0 => time.get(..5).unwrap_or(time).to_owned(),
            _ => time.to_owned(),
        }
    });
    let number = Callback::new(move |number: f64| language.locale().amount(number));
    let texts = ChartTexts { label: t(trends::CHART), help: t(trends::KEYS), time, number };
    let window = Signal::derive(move || desk.window.get());
    view! {
        <div class="trends-chart" class:trends-old=move || desk.fault.with(Option::is_some)>
            <Chart
                lines
                window
                cursor=desk.cursor
                texts
                offset_minutes=offset
                on_act=move |act| desk.act(act)
            />
        </div>
    }
}

/// A time of the chart as a time of the model.
fn timestamp(millis: f64) -> Timestamp {
    #[expect(clippy::cast_possible_truncation, reason = "a cast of a double saturates")]
    let millis = millis as i64;
    Timestamp(millis.saturating_mul(NANOS_PER_MILLI))
}

/// A time of the model as a time of the chart.
fn millis(at: Timestamp) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a hundredth of a millisecond is not seen")]
    let nanos = at.0 as f64;
    nanos / NANOS_PER_MILLI as f64
}
