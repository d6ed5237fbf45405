//! The legend: each line with its value at the cursor and what the window's numbers come to.
//!
//! **Invariants**
//! - Without a cursor the last value of the window stands there.

use super::desk::Desk;
use super::series::Series;
use super::timestamp;
use crate::words::{t, trends, units};
use leptos::prelude::*;
use millrace_kit::{Button, ChartSign, Quality, Weight};

/// The legend.
#[component]
pub(super) fn Legend() -> impl IntoView {
    let desk = Desk::here();
    let studio = desk.studio();
    let language = studio.language;
    let host = studio.host.clone();
    let at = move || {
        desk.cursor.get().map_or_else(
            || language.say(trends::LAST),
            |at| {
                let at = timestamp(at);
                language.locale().date_time(at, host.utc_offset_minutes(at))
            },
        )
    };
    let rows = move || {
        let topics = desk.topics.get();
        let row = |(number, path): (usize, String)| view! { <Row number path/> };
        topics.into_iter().enumerate().map(row).collect_view()
    };
    view! {
        <div class="sizing-scroll">
            <table class="sizing-table trends-legend">
                <caption class="visually-hidden">{t(trends::LEGEND)}</caption>
                <thead><tr>
                    <th>{t(trends::TOPIC)}</th><th>{at}</th><th>{t(trends::LEAST)}</th>
                    <th>{t(trends::MEAN)}</th><th>{t(trends::MOST)}</th><th>{t(trends::COUNT)}</th><th></th>
                </tr></thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
}

#[component]
fn Row(number: usize, path: String) -> impl IntoView {
    let desk = Desk::here();
    let language = desk.studio().language;
    let own = StoredValue::new(path.clone());
    let series = Memo::new(move |_| {
        desk.series.with(|all| {
            own.with_value(|path| all.iter().find(|series| series.path == *path).cloned())
        })
    });
    let sums = Memo::new(move |_| series.with(|series| series.as_ref()?.sums(desk.window.get())));
    let locale = move || language.locale();
    let or_dash = move |number: Option<f64>| {
        number.map_or_else(|| "–".to_owned(), |number| locale().reading(number))
    };
    let now = move || {
        let point = match desk.cursor.get() {
            Some(at) => series.with(|series| series.as_ref().and_then(|series| series.at(at))),
            None => series.with(|series| last(series.as_ref()?)),
        };
        let mark = match point.map(|point| point.quality) {
            Some(Quality::Bad) => format!(" ({})", language.say(units::BAD)),
            Some(Quality::Uncertain) => " (?)".to_owned(),
            _ => String::new(),
        };
        or_dash(point.map(|point| point.last)) + &mark
    };
    let unit = move || {
        series.with(|series| {
            series.as_ref().map(|series| series.line.unit.clone()).unwrap_or_default()
        })
    };
    let count = move || {
        sums.get().map_or_else(|| "–".to_owned(), |sums| locale().integer(i128::from(sums.count)))
    };
    let name = path.clone();
    view! {
        <tr>
            <th>
                <span class="trends-name"><ChartSign at=number/> {path} <span class="muted">{unit}</span></span>
            </th>
            <td class="trends-now">{now}</td>
            <td>{move || or_dash(sums.get().map(|sums| sums.least))}</td>
            <td>{move || or_dash(sums.get().map(|sums| sums.mean))}</td>
            <td>{move || or_dash(sums.get().map(|sums| sums.most))}</td>
            <td>{count}</td>
            <td>
                <Button weight=Weight::Quiet on_press=move |()| own.with_value(|path| desk.remove(path))>
                    "✕" <span class="visually-hidden">{t(trends::REMOVE)} " " {name}</span>
                </Button>
            </td>
        </tr>
    }
}

fn last(series: &Series) -> Option<millrace_kit::ChartPoint> {
    series.line.points.last().copied()
}
