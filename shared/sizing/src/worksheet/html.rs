//! The estimate as one page to print: tables, a bar for each load, limits, notes.
//!
//! **Invariants**
//! - It stands alone: no script, no font, no address that is asked.
//! - Words of the plan are escaped.

use super::cell::NOT_MEASURED;
use crate::estimate::{Estimate, State, estimate};
use crate::plan::Plan;
use crate::problem::Problem;
use crate::profile::Profile;
use std::fmt::Write as _;

const HEAD: &str = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<style>\n\
    @page { size: A4; margin: 14mm }\n\
    body { font: 10pt/1.35 system-ui, sans-serif; max-width: 190mm; margin: 0 auto; color: #1c2733 }\n\
    h1 { font-size: 16pt; margin: 0 } h2 { font-size: 11pt; margin: 10pt 0 2pt }\n\
    p { margin: 2pt 0 } .small { color: #5a6875; font-size: 8pt }\n\
    .verdict { font-size: 12pt; padding: 4pt 8pt; border-left: 4pt solid #2f6f9f; margin: 6pt 0 }\n\
    table { border-collapse: collapse; width: 100% } td, th { padding: 1pt 6pt 1pt 0 }\n\
    th { text-align: left; border-bottom: 0.5pt solid #9aa5b1; font-weight: 600 }\n\
    .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }\n\
    .sum td { border-top: 0.5pt solid #9aa5b1; font-weight: 600 }\n\
    .bar { background: #2f6f9f; height: 7pt } .raise { color: #a1260d; font-weight: 600 }\n\
    tr { break-inside: avoid } li { margin: 0 }\n</style>\n";

/// Appends; writing to a string cannot fail.
macro_rules! add {
    ($out:expr, $($words:tt)*) => {
        let _never_fails = write!($out, $($words)*);
    };
}

/// The page.
///
/// # Errors
/// As [`estimate`].
pub fn html(plan: &Plan, profile: &Profile) -> Result<String, Vec<Problem>> {
    let found = estimate(plan, profile)?;
    let mut out = String::from(HEAD);
    let name = escaped(&found.plan);
    add!(out, "<title>Sizing: {name}</title></head><body>\n<h1>Sizing: {name}</h1>\n");
    let used = &found.profile;
    add!(
        out,
        "<p class=\"small\">Profile <b>{}</b>: {}. {}. Measured {}. {}.</p>\n",
        escaped(&used.name),
        escaped(&used.title),
        escaped(&used.machine),
        escaped(&used.measured),
        escaped(&used.source)
    );
    verdict(&mut out, &found);
    cpu(&mut out, &found);
    stores(&mut out, &found);
    limits(&mut out, &found);
    out.push_str("<h2>To know</h2>\n<ul class=\"small\">\n");
    for note in &found.notes {
        add!(out, "<li>{}</li>\n", escaped(note));
    }
    out.push_str("</ul>\n</body></html>\n");
    Ok(out)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn verdict(out: &mut String, found: &Estimate) {
    if let Some(fit) = &found.fit {
        let (machine, text) = (escaped(&fit.machine), escaped(&fit.text));
        add!(out, "<p class=\"verdict\"><b>{machine}</b>: {text}");
        let word = |verdict: Option<crate::estimate::Verdict>| {
            verdict.map_or("unknown", crate::estimate::Verdict::word)
        };
        add!(
            out,
            " Memory {}, disk space {}, write operations {}.</p>\n",
            fit.memory.word(),
            word(fit.disk),
            word(fit.iops)
        );
    }
    let smallest = match &found.smallest {
        Some(size) => format!("The smallest machine of the profile that fits: {}.", size.name),
        None => "No machine of the profile fits: divide the plant over several boxes.".to_owned(),
    };
    add!(out, "<p>{}</p>\n", escaped(&smallest));
}

fn cpu(out: &mut String, found: &Estimate) {
    out.push_str(
        "<h2>Busy cores</h2>\n<table><tr><th>Load</th><th class=\"n\">per second</th>\
         <th class=\"n\">CPU of each</th><th class=\"n\">busy cores</th><th width=\"30%\"></th></tr>\n",
    );
    let most = found.cpu.items.iter().filter_map(|item| item.cores).fold(0.0, f64::max);
    for item in &found.cpu.items {
        let share = if most > 0.0 { item.cores.unwrap_or(0.0) / most * 100.0 } else { 0.0 };
        add!(
            out,
            "<tr><td>{}<br><span class=\"small\">{}</span></td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td><div class=\"bar\" style=\"width:{share:.1}%\"></div></td></tr>\n",
            escaped(&item.name),
            escaped(&item.text),
            grouped(item.per_s),
            number(item.us_each, " us"),
            item.cores.map_or_else(|| NOT_MEASURED.to_owned(), |cores| format!("{cores:.3}"))
        );
    }
    let cpu = &found.cpu;
    add!(
        out,
        "<tr class=\"sum\"><td>In all</td><td></td><td></td><td class=\"n\">{:.2}</td>\
         <td class=\"small\">{:.2} to {:.2} by the error band</td></tr></table>\n",
        cpu.busy_cores,
        cpu.least,
        cpu.most
    );
}

fn stores(out: &mut String, found: &Estimate) {
    let row = |out: &mut String, label: &str, value: String| {
        add!(out, "<tr><td>{}</td><td class=\"n\">{value}</td></tr>\n", escaped(label));
    };
    out.push_str("<h2>Memory, disk, network</h2>\n<table>\n");
    for item in &found.memory.items {
        row(out, &format!("Memory: {}", item.name), number(item.mb, " MB"));
    }
    row(out, "Memory in all", number(Some(found.memory.total_mb), " MB"));
    for history in &found.disk.history {
        let label = format!(
            "History {}: {} values a day, kept {} days",
            history.retention.name(),
            grouped(history.values_per_day),
            history.days
        );
        row(out, &label, bytes(history.bytes_kept));
    }
    row(out, "History that a day brings", bytes(found.disk.bytes_per_day));
    row(out, "History of runs", bytes(found.disk.run_bytes_kept));
    row(out, "On the disk in all", bytes(found.disk.total_bytes));
    row(out, "Write operations", number(found.disk.writes_per_s, " /s"));
    row(out, "Written to the disk", rate(found.disk.written_bytes_per_s));
    row(out, "Network in", rate(found.network.in_bytes_per_s));
    row(out, "Network out", rate(found.network.out_bytes_per_s));
    out.push_str("</table>\n");
}

fn limits(out: &mut String, found: &Estimate) {
    out.push_str(
        "<h2>Limits and defaults</h2>\n<table><tr><th>Setting</th><th class=\"n\">needed</th>\
         <th class=\"n\">limit</th><th></th></tr>\n",
    );
    for check in &found.checks {
        let class = if check.state == State::Reached { "raise" } else { "" };
        let needed = number(check.needed, "");
        let what = match check.state {
            State::Reached | State::Near => check.sentence.clone(),
            State::Good | State::Unknown => format!("{}: {}", check.state.word(), check.what),
        };
        add!(
            out,
            "<tr><td>{}</td><td class=\"n\">{needed}</td><td class=\"n\">{}</td>\
             <td class=\"{class}\">{}</td></tr>\n",
            escaped(&check.setting),
            grouped(check.limit),
            escaped(&what)
        );
    }
    out.push_str("</table>\n");
}

fn number(value: Option<f64>, unit: &str) -> String {
    value.map_or_else(|| NOT_MEASURED.to_owned(), |value| format!("{}{unit}", grouped(value)))
}

fn rate(value: Option<f64>) -> String {
    match value {
        Some(_) => format!("{}/s", bytes(value)),
        None => NOT_MEASURED.to_owned(),
    }
}

fn bytes(value: Option<f64>) -> String {
    let Some(mut value) = value else { return NOT_MEASURED.to_owned() };
    for unit in ["B", "KB", "MB", "GB"] {
        if value < 1000.0 {
            return format!("{value:.1} {unit}");
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// `12345.678` as `12,345.7`; small numbers with more digits.
fn grouped(value: f64) -> String {
    let text = match value.abs() {
        size if size >= 1000.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    };
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(a, b)| (a, Some(b)));
    let mut out = String::new();
    for (place, c) in whole.chars().enumerate() {
        let left = whole.len() - place;
        if place > 0 && left.is_multiple_of(3) && c.is_ascii_digit() && !out.ends_with('-') {
            out.push(',');
        }
        out.push(c);
    }
    if let Some(rest) = rest {
        out.push('.');
        out.push_str(rest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{bytes, grouped, html};
    use crate::{Plan, Profile};

    #[test]
    fn numbers_are_for_people() {
        let all: Vec<String> =
            [0.0, 1.0, 0.0313, 12.34, 999.0, 1000.0, 1_234_567.8, -1234.0].map(grouped).into();
        assert_eq!(all, ["0", "1", "0.031", "12.3", "999", "1,000", "1,234,568", "-1,234"]);
        assert_eq!(bytes(Some(1_530_000.0)), "1.5 MB");
        assert_eq!(bytes(None), "not measured");
    }

    #[test]
    fn the_page_says_what_fits_and_where_the_figures_are_from() {
        let profile = Profile::named("reference").unwrap();
        let mut plan = Plan::example();
        plan.name = "<script>&".into();
        let page = html(&plan, &profile).unwrap();
        assert!(page.contains("about 85 %") && page.contains("Profile <b>reference</b>"));
        assert!(page.contains("&lt;script&gt;&amp;") && !page.contains("<script"));
        plan.devices[0].count = f64::NAN;
        assert!(html(&plan, &profile).unwrap_err()[0].sentence.contains("not a number"));
    }
}
