//! What the plan takes of memory, disk and network.
//!
//! **Invariants**
//! - A total that lacks a part says so by a dash; the notes say which part.

use super::desk::Desk;
use super::phrase;
use crate::words::{Language, Message, sizing, t};
use leptos::prelude::*;
use millrace_kit::{Badge, Panel, Priority};
use millrace_sizing::Estimate;
use millrace_sizing::estimate::Verdict;

/// Memory, disk, network.
#[component]
pub(super) fn Stores() -> impl IntoView {
    let desk = Desk::here();
    let language = desk.studio().language;
    let part = move |build: fn(Language, &Estimate) -> AnyView| {
        move || desk.shown.get().map(|found| build(language, &found))
    };
    view! {
        <Panel title=t(sizing::MEMORY_PART)>{part(memory)}</Panel>
        <Panel title=t(sizing::DISK_PART)>{part(disk)}</Panel>
        <Panel title=t(sizing::NETWORK_PART)>{part(network)}</Panel>
    }
}

fn memory(language: Language, found: &Estimate) -> AnyView {
    let locale = language.locale();
    let mb = |mb: Option<f64>| {
        mb.map_or_else(|| "–".to_owned(), |mb| format!("{} MB", locale.number(mb, 1)))
    };
    let rows: Vec<(String, String)> = found
        .memory
        .items
        .iter()
        .map(|item| (phrase::memory(language, &item.name), mb(item.mb)))
        .collect();
    let verdict = found.fit.as_ref().map(|fit| fit.memory);
    table(rows, Some((mb(Some(found.memory.total_mb)), verdict)))
}

fn disk(language: Language, found: &Estimate) -> AnyView {
    let locale = language.locale();
    let bytes = |bytes: Option<f64>| of_bytes(language, bytes);
    let disk = &found.disk;
    let per_s = |number: Option<f64>| {
        number.map_or_else(|| "–".to_owned(), |number| format!("{} /s", locale.amount(number)))
    };
    let day =
        |message: Message, retention: &str| language.say_with(message, &[("class", retention)]);
    let mut rows: Vec<(String, String)> = disk
        .history
        .iter()
        .map(|row| (day(sizing::HISTORY_KEPT, row.retention.name()), bytes(row.bytes_kept)))
        .collect();
    rows.push((language.say(sizing::HISTORY_DAY), bytes(disk.bytes_per_day)));
    rows.push((language.say(sizing::RUNS_KEPT), bytes(disk.run_bytes_kept)));
    let writes = |label: Message, text: String, verdict: Option<Verdict>| {
        (language.say(label) + &said(language, verdict), text)
    };
    let iops = found.fit.as_ref().and_then(|fit| fit.iops);
    rows.push(writes(sizing::WRITES, per_s(disk.writes_per_s), iops));
    let written = disk.written_bytes_per_s.map(|_| bytes(disk.written_bytes_per_s) + "/s");
    rows.push(writes(sizing::WRITTEN, written.unwrap_or_else(|| "–".to_owned()), None));
    let verdict = found.fit.as_ref().and_then(|fit| fit.disk);
    table(rows, Some((bytes(disk.total_bytes), verdict)))
}

fn network(language: Language, found: &Estimate) -> AnyView {
    let rate = |bytes: Option<f64>| match bytes {
        Some(_) => of_bytes(language, bytes) + "/s",
        None => "–".to_owned(),
    };
    let rows = vec![
        (language.say(sizing::NETWORK_IN), rate(found.network.in_bytes_per_s)),
        (language.say(sizing::NETWORK_OUT), rate(found.network.out_bytes_per_s)),
    ];
    table(rows, None)
}

fn of_bytes(language: Language, bytes: Option<f64>) -> String {
    let Some(bytes) = bytes else { return "–".to_owned() };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the plan's check keeps it finite and positive; a cast saturates"
    )]
    let (text, unit) = language.locale().bytes(bytes.max(0.0) as u64);
    format!("{text} {unit}")
}

/// A judgement that is worth a word: that it fits is not.
fn said(language: Language, verdict: Option<Verdict>) -> String {
    match verdict {
        None | Some(Verdict::Fits) => String::new(),
        Some(verdict) => format!(" · {}", language.say(phrase::verdict(verdict))),
    }
}

fn table(rows: Vec<(String, String)>, total: Option<(String, Option<Verdict>)>) -> AnyView {
    let rows =
        rows.into_iter().map(|(name, text)| view! { <tr><th>{name}</th><td>{text}</td></tr> });
    let total = total.map(|(text, verdict)| {
        let badge = verdict.and_then(|verdict| match verdict {
            Verdict::Fits => None,
            Verdict::Close => Some((Priority::Three, verdict)),
            Verdict::Over => Some((Priority::Two, verdict)),
        });
        let badge = badge.map(|(priority, verdict)| {
            let label = phrase::verdict(verdict);
            view! { <Badge priority label=t(label)/> " " {t(label)} }
        });
        view! { <tfoot><tr><th>{t(sizing::TOTAL)} " " {badge}</th><td>{text}</td></tr></tfoot> }
    });
    view! { <table class="sizing-table"><tbody>{rows.collect_view()}</tbody>{total}</table> }
        .into_any()
}
