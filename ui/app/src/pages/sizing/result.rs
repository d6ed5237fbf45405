//! The outcome: does it fit, how far may it grow, and what takes the processor.
//!
//! **Invariants**
//! - The profile and its error band stand beside the figure, always.
//! - What has no figure is a dash with its reason, never a zero.

use super::desk::Desk;
use super::phrase;
use crate::words::{Language, sizing, t};
use leptos::prelude::*;
use millrace_kit::{Badge, Notice, Panel, Priority};
use millrace_sizing::Estimate;
use millrace_sizing::estimate::{CpuItem, Verdict};
use std::sync::Arc;

/// What is wrong with the plan, in a list.
#[component]
pub(super) fn Faults() -> impl IntoView {
    let desk = Desk::here();
    let text = Signal::derive(move || {
        let count = desk.problems().len().to_string();
        desk.studio().language.say_with(sizing::FAULTS_TEXT, &[("n", &count)])
    });
    let list = move || {
        let line = |fault: millrace_sizing::Problem| {
            view! { <li><code>{fault.at}</code> " " {fault.sentence}</li> }
        };
        desk.problems().into_iter().take(FAULTS_SHOWN).map(line).collect_view()
    };
    view! {
        <Show when=move || !desk.problems().is_empty()>
            <Notice priority=Priority::Three title=t(sizing::FAULTS) text/>
            <ul class="sizing-faults" lang="en">{list}</ul>
        </Show>
    }
}

/// Faults in the list; the others stand at their fields.
const FAULTS_SHOWN: usize = 5;

/// Does it fit, and what takes the processor.
#[component]
pub(super) fn Outcome() -> impl IntoView {
    let desk = Desk::here();
    let language = desk.studio().language;
    let body = move || desk.shown.get().map(|found| outcome(language, &found));
    let profile = move || {
        desk.shown
            .get()
            .map(|found| view! { <span class="muted">{found.profile.name.clone()}</span> })
    };
    view! { <Panel title=t(sizing::OUTCOME) aside=profile>{body}</Panel> }
}

fn outcome(language: Language, found: &Arc<Estimate>) -> impl IntoView + use<> {
    let locale = language.locale();
    let cores = |number: f64| locale.number(number, 2);
    let (busy, least, most) = (found.cpu.busy_cores, found.cpu.least, found.cpu.most);
    let sentence = match &found.fit {
        Some(fit) => phrase::fit(language, fit, busy),
        None => language.say_with(sizing::BUSY, &[("busy", &cores(busy))]),
    };
    let priority = found.fit.as_ref().and_then(|fit| match fit.cpu {
        Verdict::Fits => None,
        Verdict::Close => Some((Priority::Three, sizing::VERDICT_CLOSE)),
        Verdict::Over => Some((Priority::Two, sizing::VERDICT_OVER)),
    });
    let badge = priority.map(|(priority, label)| view! { <Badge priority label=t(label)/> });
    let band = language.say_with(sizing::BAND, &[("least", &cores(least)), ("most", &cores(most))]);
    let smallest = found.smallest.as_ref().map_or_else(
        || language.say(sizing::NONE_FITS),
        |size| {
            let memory = locale.number(size.memory_gb, 0);
            let values = [("name", size.name.as_str()), ("memory", memory.as_str())];
            language.say_with(sizing::SMALLEST_IS, &values)
        },
    );
    let load = &found.load;
    let facts = [
        (sizing::SMALLEST, smallest),
        (sizing::LOAD_DEVICES, locale.amount(load.devices)),
        (sizing::LOAD_TAGS, locale.amount(load.tags)),
        (sizing::LOAD_VALUES, format!("{} /s", locale.amount(load.device_values_per_s))),
        (sizing::LOAD_STORED, format!("{} /s", locale.amount(load.stored_values_per_s))),
        (sizing::LOAD_RUNS, format!("{} /s", locale.amount(load.runs_per_s))),
        (sizing::LOAD_DELIVERIES, format!("{} /s", locale.amount(load.deliveries_per_s))),
    ];
    let facts = facts.into_iter().map(|(label, text)| {
        view! { <div><dt>{t(label)}</dt><dd class="figures">{text}</dd></div> }
    });
    let bar = found.fit.as_ref().map(|fit| {
        view! { <FitBar busy least most line=fit.line_cores cores=fit.logical_cores/> }
    });
    let rows = found.cpu.items.iter().map(|item| cpu_row(language, item, busy)).collect_view();
    let used = &found.profile;
    view! {
        <p class="sizing-verdict">{badge} <span>{sentence}</span></p>
        {bar}
        <p class="muted sizing-aside">{band}</p>
        <dl class="sizing-facts">{facts.collect_view()}</dl>
        <div class="sizing-scroll">
            <table class="sizing-table">
                <caption class="visually-hidden">{t(sizing::CPU)}</caption>
                <thead><tr>
                    <th>{t(sizing::CPU)}</th><th>{t(sizing::PER_S)}</th><th>{t(sizing::US_EACH)}</th>
                    <th>{t(sizing::CORES_BUSY)}</th><th>{t(sizing::SHARE)}</th>
                </tr></thead>
                <tbody>{rows}</tbody>
                <tfoot><tr><th>{t(sizing::TOTAL)}</th><td></td><td></td><td>{cores(busy)}</td><td></td></tr></tfoot>
            </table>
        </div>
        <p class="muted sizing-aside" lang="en">
            {format!("{}: {}. {}. {}.", used.name, used.title, used.machine, used.measured)}
        </p>
    }
}

fn cpu_row(language: Language, item: &CpuItem, busy: f64) -> impl IntoView + use<> {
    let locale = language.locale();
    let or_dash = |number: Option<f64>, digits| {
        number.map_or_else(|| "–".to_owned(), |number| locale.number(number, digits))
    };
    let share = item.cores.filter(|_| busy > 0.0).map(|cores| cores / busy * 100.0);
    let reason = item.us_each.is_none().then(|| item.text.clone());
    view! {
        <tr>
            <th>
                {phrase::item_name(language, item)}
                <span class="muted">" " {t(phrase::part(item.part))}</span>
                {reason.map(|reason| view! { <span class="muted sizing-reason" lang="en">{reason}</span> })}
            </th>
            <td>{locale.amount(item.per_s)}</td>
            <td>{or_dash(item.us_each, 1)}</td>
            <td>{or_dash(item.cores, 3)}</td>
            <td>{share.map_or_else(|| "–".to_owned(), |share| format!("{} %", locale.number(share, 0)))}</td>
        </tr>
    }
}

/// Busy cores on the machine's cores, with the error band, and the line to stay under.
#[component]
fn FitBar(busy: f64, least: f64, most: f64, line: f64, cores: f64) -> impl IntoView {
    let language = Language::here();
    // What is over the machine still has to be seen: the scale grows with it.
    let scale = cores.max(most).max(f64::MIN_POSITIVE);
    let at = move |number: f64| format!("{:.2}%", (number / scale * 100.0).clamp(0.0, 100.0));
    let label = move || {
        let locale = language.locale();
        let numbers = [locale.number(busy, 2), locale.amount(line), locale.amount(cores)];
        let [busy, line, cores] = numbers.each_ref().map(String::as_str);
        language.say_with(sizing::BAR, &[("busy", busy), ("line", line), ("cores", cores)])
    };
    let line_text = move || {
        let line = language.locale().amount(line);
        language.say_with(sizing::LINE, &[("line", &line)])
    };
    view! {
        <div class="fit-bar" class:fit-bar-over={busy > line} role="img" aria-label=label>
            <div class="fit-bar-track" style:width=at(cores)></div>
            <div class="fit-bar-busy" style:width=at(busy)></div>
            <div class="fit-bar-band" style:left=at(least) style:width=at((most - least).max(0.0))></div>
            <div class="fit-bar-line" style:left=at(line)></div>
            <div class="fit-bar-text muted" style:left=at(line)>{line_text}</div>
        </div>
    }
}

/// What one has to know to judge the figures.
#[component]
pub(super) fn Notes() -> impl IntoView {
    let desk = Desk::here();
    let notes = move || {
        let notes = desk.shown.get().map(|found| found.notes.clone()).unwrap_or_default();
        notes.into_iter().map(|note| view! { <li>{note}</li> }).collect_view()
    };
    view! {
        <Panel title=t(sizing::NOTES)><ul class="sizing-notes" lang="en">{notes}</ul></Panel>
    }
}
