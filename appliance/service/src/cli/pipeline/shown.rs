//! Pipelines, runs and trials as lines for people.
//!
//! **Invariants**: a line says one thing; times of steps have one unit, milliseconds.

use crate::cli::output::counted;
use millrace_contract::v1;
use std::fmt::Write as _;

/// Longest datum on a line, in characters.
const DATUM_CHARACTERS_MAX: usize = 160;
/// Revisions of a shown pipeline.
const REVISIONS_SHOWN: usize = 10;
/// Effects and differences of a rehearsal.
const EFFECTS_SHOWN: usize = 20;

/// A fault of a document: where, then what.
pub(super) fn fault(fault: &v1::DocumentFault) -> String {
    let mut text = String::new();
    let mut part = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            let comma = if text.is_empty() { "" } else { ", " };
            text.push_str(&format!("{comma}{name} {value}"));
        }
    };
    part("step", fault.step.as_ref().map(|step| format!("`{step}`")));
    part("field", fault.field.as_ref().map(|field| format!("`{field}`")));
    part("line", fault.line.map(|line| line.to_string()));
    if text.is_empty() { fault.message.clone() } else { format!("{text}: {}", fault.message) }
}

/// A pipeline on one line.
pub(super) fn line(pipeline: &v1::Pipeline) -> String {
    let runs = pipeline.deployment.as_ref().and_then(|deployment| deployment.revision);
    let latest = pipeline.latest.revision;
    let state = match runs {
        None => format!("stopped (latest {latest})"),
        Some(runs) if runs == latest => format!("runs {runs}"),
        Some(runs) => format!("runs {runs} (latest {latest})"),
    };
    let counts = pipeline.activity.as_ref().map_or_else(String::new, counts);
    let mut line = format!("{:<32} {state:<20} {counts}", pipeline.name);
    line.truncate(line.trim_end().len());
    line
}

fn counts(activity: &v1::Activity) -> String {
    let mut text = counted(activity.ended, "run");
    if let Some(since) = &activity.since {
        text.push_str(&format!(" ended since {}", seconds(since)));
    }
    let mut part = |count: u64, what: &str| {
        if count > 0 {
            text.push_str(&format!(", {count} {what}"));
        }
    };
    part(activity.failed, "failed");
    part(activity.queued, "queued");
    part(activity.running, "running");
    part(activity.waiting, "waiting");
    part(activity.skipped, "skipped");
    part(activity.shed, "shed");
    part(activity.late, "late");
    if activity.script_kills > 0 {
        text.push_str(&format!(
            ", {} stopped at a limit",
            counted(activity.script_kills, "script")
        ));
    }
    if activity.quarantined {
        text.push_str(", QUARANTINED");
    }
    text
}

/// A time without its fraction of a second: nobody reads when counting began to the nanosecond.
fn seconds(time: &str) -> String {
    match time.split_once('.') {
        Some((whole, _)) => format!("{whole}Z"),
        None => time.to_owned(),
    }
}

/// A pipeline with its revisions.
pub(super) fn whole(pipeline: &v1::Pipeline, revisions: &[v1::Revision]) -> Vec<String> {
    let mut lines = vec![format!("{}/{}", pipeline.workspace, pipeline.name)];
    if !pipeline.description.is_empty() {
        lines.push(format!("  {}", pipeline.description));
    }
    match &pipeline.deployment {
        None => lines.push("never deployed".to_owned()),
        Some(deployment) => lines.push(deployment_line(deployment)),
    }
    if let Some(activity) = &pipeline.activity {
        lines.push(counts(activity));
        let mut used = format!("CPU {}", milliseconds(activity.cpu_us));
        if activity.memory_bytes_peak > 0 {
            let kib = activity.memory_bytes_peak.div_ceil(1024);
            used.push_str(&format!(", scripts took {kib} KiB of memory at most"));
        }
        lines.push(used);
        let times = |what: &str, first: &Option<String>, last: &Option<String>| {
            let (first, last) = (first.as_ref()?, last.as_ref()?);
            Some(format!("{what} first {first}, last {last}"))
        };
        lines.extend(times("shed", &activity.shed_first, &activity.shed_last));
        lines.extend(times("late", &activity.late_first, &activity.late_last));
        lines.extend(activity.last_run.as_ref().map(|at| format!("last run {at}")));
    }
    let runs = pipeline.deployment.as_ref().and_then(|deployment| deployment.revision);
    for row in revisions.iter().take(REVISIONS_SHOWN) {
        let mark = if Some(row.revision) == runs { "*" } else { " " };
        let note = if row.note.is_empty() { String::new() } else { format!("  {}", row.note) };
        lines.push(format!("{mark} {:>4}  {}  {}{note}", row.revision, row.at, row.author));
    }
    if let Some(more) = revisions.len().checked_sub(REVISIONS_SHOWN).filter(|more| *more > 0) {
        lines.push(format!("  and {}", counted(more, "older revision")));
    }
    lines
}

fn deployment_line(deployment: &v1::Deployment) -> String {
    let mut text = match deployment.revision {
        Some(revision) => format!("runs revision {revision}"),
        None => "stopped".to_owned(),
    };
    text.push_str(&format!(" since {}, by {}", deployment.at, deployment.by));
    if !deployment.note.is_empty() {
        text.push_str(&format!(": {}", deployment.note));
    }
    if let Some(previous) = deployment.previous {
        text.push_str(&format!(" (before: {previous})"));
    }
    text
}

/// What runs of a pipeline now.
pub(super) fn running(running: &v1::Running) -> Vec<String> {
    let mut lines = match running.deployment.revision {
        Some(revision) => vec![format!("{}: runs revision {revision}", running.name)],
        None => vec![format!("{}: stopped", running.name)],
    };
    for trigger in &running.triggers {
        let mut line = format!("  {} ({})", trigger.step, trigger.kind);
        if !trigger.detail.is_empty() {
            line.push_str(&format!(" {}", trigger.detail));
        }
        if let Some(tags) = trigger.tags {
            line.push_str(&format!(": {} now", counted(tags, "topic")));
        }
        if let Some(next) = &trigger.next {
            line.push_str(&format!(": next at {next}"));
        }
        lines.push(line);
    }
    lines
}

/// A run on one line.
pub(super) fn run(run: &v1::Run) -> String {
    let mut line = format!(
        "{:<16} {:<11} {}  rev {}  {}  took {}  waited {}",
        run.id,
        run.status.name(),
        run.started,
        run.revision,
        run.trigger,
        milliseconds(run.took_us),
        milliseconds(run.waited_us)
    );
    if run.attempt > 1 {
        line.push_str(&format!("  attempt {}", run.attempt));
    }
    if let Some(by) = &run.by {
        line.push_str(&format!("  by {by}"));
    }
    if let Some(fault) = &run.fault {
        line.push_str(&format!("  {}", run_fault(fault)));
    }
    if let Some(waits) = &run.waiting {
        line.push_str(&format!("  {}", wait(waits)));
    }
    line
}

/// At which step, for what and since when a run waits.
fn wait(wait: &v1::RunWait) -> String {
    let what = match wait.what {
        v1::RunWaitFor::Answer => "for an answer",
        v1::RunWaitFor::Time => "for its time",
        v1::RunWaitFor::Retry => "to try again",
        v1::RunWaitFor::Items => "for the items of its list",
        v1::RunWaitFor::Branch => "for its branch",
        v1::RunWaitFor::Call => "for the pipeline that it calls",
        v1::RunWaitFor::Inputs => "for its other inputs",
    };
    let mut text = format!("step `{}` waits {what} since {}", wait.step, wait.since);
    if let Some(until) = &wait.until {
        text.push_str(&format!(", until {until}"));
    }
    text
}

fn run_fault(fault: &v1::RunFault) -> String {
    let step = fault.step.as_ref().map(|step| format!("step `{step}`: "));
    format!("{}{} ({})", step.unwrap_or_default(), fault.message, fault.code)
}

/// A run with what its steps did.
pub(super) fn run_detail(detail: &v1::RunDetail) -> Vec<String> {
    let mut lines = vec![run(&detail.run)];
    let item = |what: &str, item: &Option<v1::Item>| {
        item.as_ref().map(|item| format!("{what}{}", datum(item)))
    };
    lines.extend(item("input   ", &detail.input));
    for step in &detail.steps {
        let times = if step.count == 1 {
            String::new()
        } else {
            format!("  {}", counted(step.count, "time"))
        };
        let at = format!("+{}", milliseconds(step.began_us));
        let status = format!("{:?}", step.status).to_lowercase();
        lines.push(format!(
            "  {at:>12}  {:<24} {status:<10} {}{times}",
            step.step,
            milliseconds(step.took_us)
        ));
        lines.extend(step.fault.iter().map(|fault| format!("      fault   {}", run_fault(fault))));
        lines.extend(item("      input   ", &step.input));
        lines.extend(item("      output  ", &step.output));
    }
    lines.extend(detail.waits.iter().map(|row| format!("  {}", wait(row))));
    for line in &detail.lines {
        lines.push(format!("  {:<5} `{}`: {}", line.level, line.step, line.text));
    }
    lines.extend(item("output  ", &detail.output));
    if detail.left_out > 0 {
        let entries = counted(detail.left_out, "entry");
        lines.push(format!("  left out for their size: {entries}"));
    }
    lines
}

/// How a test case went.
pub(super) fn case(case: &v1::CaseReport) -> Vec<String> {
    let mut lines =
        vec![format!("{} {}", if case.passed { "ok    " } else { "FAILED" }, case.name)];
    if case.passed {
        return lines;
    }
    lines.extend(case.problems.iter().map(|problem| format!("       {problem}")));
    lines
        .extend(case.faults.iter().map(|fault| format!("       run failed: {}", run_fault(fault))));
    if !case.effects.is_empty() {
        lines.push("       what it did:".to_owned());
        lines.extend(case.effects.iter().map(|row| format!("         {}", effect(row))));
    }
    lines
}

fn effect(effect: &v1::Effect) -> String {
    let kind = format!("{:?}", effect.kind).to_lowercase();
    let mut text = format!("{kind} {}", effect.target);
    if let Some(value) = &effect.value {
        text.push_str(&format!(" = {}", datum(value)));
    }
    if let Some(time) = &effect.time {
        text.push_str(&format!("  at {time}"));
    }
    text
}

/// What came of a rehearsal.
pub(super) fn rehearsal(report: &v1::RehearsalReport) -> Vec<String> {
    let mut lines = vec![format!(
        "{} to {}: {}, {}, {} failed, {}",
        report.from,
        report.to,
        counted(report.values, "value"),
        counted(report.runs, "run"),
        report.failed,
        counted(report.effects_total, "effect")
    )];
    lines.extend(report.faults.iter().map(|fault| format!("  failed: {}", run_fault(fault))));
    if report.incomplete {
        let text = "  This is not all: a part of history is damaged or missing, or there is more \
                    than a rehearsal takes.";
        lines.push(text.to_owned());
    }
    if report.by_clock > 0 {
        lines.push(format!("  Of these, started by the clock: {}.", report.by_clock));
    }
    if !report.triggers_left_out.is_empty() {
        let steps = report.triggers_left_out.join(", ");
        lines.push(format!("  Not rehearsed, since nothing of it is recorded: {steps}."));
    }
    if !report.todays_values.is_empty() {
        let topics = report.todays_values.join(", ");
        lines.push(format!("  What it saw of these topics is today's value: {topics}."));
    }
    let Some(deployed) = report.compared_with else {
        lines.push("Nothing is deployed to compare with. It would have done:".to_owned());
        let shown = report.effects.iter().take(EFFECTS_SHOWN);
        lines.extend(shown.map(|row| format!("  {}", effect(row))));
        lines.extend(more(report.effects_total));
        return lines;
    };
    if report.differences_total == 0 {
        lines.push(format!("It does the same as the deployed revision {deployed}."));
        return lines;
    }
    let total = report.differences_total;
    let differences = counted(total, "difference");
    lines.push(format!("{differences} from the deployed revision {deployed}:"));
    for row in report.differences.iter().take(EFFECTS_SHOWN) {
        let kind = format!("{:?}", row.kind).to_lowercase();
        let side = |item: &Option<v1::Item>| item.as_ref().map_or("nothing".to_owned(), datum);
        let mut line = format!("  {kind} {}", row.target);
        if let Some(time) = &row.time {
            // A string never refuses a write.
            let _written = write!(line, "  at {time}").is_ok();
        }
        lines.push(format!("{line}: {} -> {}", side(&row.deployed), side(&row.rehearsed)));
    }
    lines.extend(more(total));
    lines
}

fn more(total: u64) -> Option<String> {
    let more = total.checked_sub(EFFECTS_SHOWN as u64).filter(|more| *more > 0)?;
    Some(format!("  and {more} more; --json shows the first thousand"))
}

fn datum(item: &v1::Item) -> String {
    let (text, is_whole) = item.text();
    let mut short: String = text.chars().take(DATUM_CHARACTERS_MAX).collect();
    if !is_whole || short.len() < text.len() {
        short.push_str(&format!("... ({})", counted(item.bytes, "byte")));
    }
    short
}

fn milliseconds(us: u64) -> String {
    format!("{}.{:03} ms", us / 1_000, us % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline(latest: u32, runs: Option<u32>) -> v1::Pipeline {
        let deployment = v1::Deployment {
            revision: runs,
            previous: Some(1),
            at: "t".into(),
            by: "user:anna".into(),
            note: String::new(),
        };
        v1::Pipeline {
            number: 1,
            workspace: "main".into(),
            name: "scale".into(),
            description: "bar".into(),
            latest: revision(latest),
            deployment: Some(deployment),
            activity: Some(v1::Activity {
                since: Some("2026-11-30T22:15:03.123456789Z".into()),
                ended: 7,
                shed: 2,
                ..v1::Activity::default()
            }),
        }
    }

    fn revision(revision: u32) -> v1::Revision {
        v1::Revision { revision, at: "t".into(), author: "user:anna".into(), note: String::new() }
    }

    #[test]
    fn a_pipeline_on_one_line_says_whether_something_newer_waits() {
        assert!(line(&pipeline(3, Some(3))).contains("runs 3  "));
        assert!(line(&pipeline(3, Some(2))).contains("runs 2 (latest 3)"));
        assert!(line(&pipeline(3, None)).contains("stopped (latest 3)"));
        let since = "7 runs ended since 2026-11-30T22:15:03Z, 2 shed";
        assert!(line(&pipeline(3, Some(3))).ends_with(since), "{}", line(&pipeline(3, Some(3))));
    }

    #[test]
    fn the_running_revision_is_marked() {
        let lines = whole(&pipeline(2, Some(1)), &[revision(2), revision(1)]);
        assert!(lines.iter().any(|line| line.starts_with("*    1")), "{lines:#?}");
        assert!(lines.iter().any(|line| line.starts_with("     2")), "{lines:#?}");
        assert!(lines.contains(&"runs revision 1 since t, by user:anna (before: 1)".to_owned()));
    }

    #[test]
    fn a_fault_names_step_field_and_line() {
        let mut row =
            v1::DocumentFault { message: "unexpected token".into(), ..Default::default() };
        assert_eq!(fault(&row), "unexpected token");
        row.step = Some("calc".into());
        row.field = Some("code".into());
        row.line = Some(3);
        assert_eq!(fault(&row), "step `calc`, field `code`, line 3: unexpected token");
    }

    #[test]
    fn a_long_datum_is_cut_and_says_so() {
        let text = format!("\"{}\"", "ü".repeat(500));
        let whole = v1::Item::new(&text, text.len() as u64);
        let shown = datum(&whole);
        assert!(shown.ends_with("... (1002 bytes)"), "{shown}");
        assert_eq!(datum(&v1::Item::new("7", 1)), "7");
        assert_eq!(datum(&v1::Item::new("[1,2", 9)), "[1,2... (9 bytes)");
    }
}
