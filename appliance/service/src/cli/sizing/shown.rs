//! An estimate as lines for people.

use millrace_sizing::estimate::{Estimate, State, Verdict};
use std::fmt::Write as _;

/// Characters of a load's name on its line.
const NAME_CHARS: usize = 30;

/// Appends; writing to a string cannot fail.
macro_rules! put {
    ($out:expr, $($words:tt)*) => {
        let _never_fails = writeln!($out, $($words)*);
    };
}

/// The whole estimate.
pub(super) fn estimate(found: &Estimate) -> String {
    let mut out = String::new();
    let used = &found.profile;
    put!(out, "{}", found.plan);
    put!(out, "Profile {}: {}, measured {}", used.name, used.title, used.measured);
    cpu(&mut out, found);
    fit(&mut out, found);
    stores(&mut out, found);
    limits(&mut out, found);
    put!(out, "\nTo know");
    for note in &found.notes {
        put!(out, "  {note}");
    }
    out
}

fn cpu(out: &mut String, found: &Estimate) {
    put!(out, "\n  {:<NAME_CHARS$} {:>12} {:>12} {:>12}", "Load", "per second", "us each", "cores");
    for item in &found.cpu.items {
        let name: String = item.name.chars().take(NAME_CHARS).collect();
        let us = item.us_each.map_or_else(|| "-".to_owned(), |us| format!("{us:.1}"));
        let cores =
            item.cores.map_or_else(|| "not measured".to_owned(), |cores| format!("{cores:.3}"));
        put!(out, "  {name:<NAME_CHARS$} {:>12.1} {us:>12} {cores:>12}", item.per_s);
    }
    let cpu = &found.cpu;
    put!(
        out,
        "  {:<NAME_CHARS$} {:>12} {:>12} {:>12.3}   ({:.2} to {:.2} by the error band)",
        "Busy cores in all",
        "",
        "",
        cpu.busy_cores,
        cpu.least,
        cpu.most
    );
}

fn fit(out: &mut String, found: &Estimate) {
    if let Some(fit) = &found.fit {
        let word = |verdict: Option<Verdict>| verdict.map_or("unknown", Verdict::word);
        put!(out, "\n{}: {}", fit.machine, fit.text);
        put!(
            out,
            "Memory {}, disk space {}, write operations {}.",
            fit.memory.word(),
            word(fit.disk),
            word(fit.iops)
        );
    }
    match &found.smallest {
        Some(size) => {
            put!(out, "The smallest machine of the profile that fits: {}.", size.name);
        }
        None => {
            put!(out, "No machine of the profile fits: divide the plant over several boxes.");
        }
    }
}

fn stores(out: &mut String, found: &Estimate) {
    let (disk, network) = (&found.disk, &found.network);
    put!(out, "\n  Memory           {:.0} MB", found.memory.total_mb);
    for row in &disk.history {
        put!(
            out,
            "  History {:<8} {} a day, {} in {}",
            row.retention.name(),
            bytes(row.bytes_per_day),
            bytes(row.bytes_kept),
            days(row.days)
        );
    }
    put!(
        out,
        "  Run history      {} a day, {} kept",
        bytes(disk.run_bytes_per_day),
        bytes(disk.run_bytes_kept)
    );
    put!(out, "  Disk in all      {}", bytes(disk.total_bytes));
    let writes = disk.writes_per_s;
    let writes = writes.map_or_else(|| "not measured".to_owned(), |count| format!("{count:.0}/s"));
    put!(out, "  Disk writes      {writes}, {}", rate(disk.written_bytes_per_s));
    put!(
        out,
        "  Network          {} in, {} out",
        rate(network.in_bytes_per_s),
        rate(network.out_bytes_per_s)
    );
}

fn limits(out: &mut String, found: &Estimate) {
    let raise =
        found.checks.iter().filter(|check| matches!(check.state, State::Reached | State::Near));
    let lines: Vec<&str> = raise.map(|check| check.sentence.as_str()).collect();
    let good = found.checks.iter().filter(|check| check.state == State::Good).count();
    if lines.is_empty() {
        put!(out, "\nNo limit has to be raised ({good} have room).");
    } else {
        put!(out, "\nLimits to raise ({good} others have room)");
    }
    for text in lines {
        put!(out, "  {text}");
    }
    let unknown = found.checks.iter().filter(|check| check.state == State::Unknown);
    for check in unknown {
        put!(out, "  {}: the profile has no figure for {}.", check.setting, check.what);
    }
}

fn days(days: f64) -> String {
    if (days - 1.0).abs() < f64::EPSILON { "1 day".to_owned() } else { format!("{days} days") }
}

fn rate(value: Option<f64>) -> String {
    value.map_or_else(|| "not measured".to_owned(), |_| format!("{}/s", bytes(value)))
}

fn bytes(value: Option<f64>) -> String {
    let Some(mut value) = value else { return "not measured".to_owned() };
    for unit in ["B", "KB", "MB", "GB"] {
        if value < 1000.0 {
            return format!("{value:.1} {unit}");
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

#[cfg(test)]
mod tests {
    use super::estimate;
    use millrace_sizing::{Plan, Profile};

    #[test]
    fn the_lines_say_the_profile_the_sum_and_what_to_raise() {
        let profile = Profile::named("reference").unwrap();
        let mut plan = Plan::example();
        let text = estimate(&millrace_sizing::estimate(&plan, &profile).unwrap());
        for words in ["Profile reference:", "1.590", "about 85 %", "No limit has to be raised"] {
            assert!(text.contains(words), "{words}: {text}");
        }
        plan.devices[0].count = 800.0;
        let text = estimate(&millrace_sizing::estimate(&plan, &profile).unwrap());
        assert!(text.contains("perWorkspaceRatePerSec is 20000: raise it"), "{text}");
    }
}
