//! The text of the results page.
//!
//! **Invariants**
//! - What comes from a set is escaped: it cannot end a table's cell or begin markup.

use crate::all::class::{self, Group};
use crate::all::figures::shown;
use crate::set::{ClassRow, Figure, Set, State};

/// The whole page.
pub(super) fn page(set: &Set) -> String {
    let mut text = String::from("# Results\n\n");
    head(set, &mut text);
    overview(set, &mut text);
    for group in Group::ALL {
        section(set, group, &mut text);
    }
    text.push_str(LIMITS);
    text.push_str(METHOD);
    not_covered(set, &mut text);
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn head(set: &Set, text: &mut String) {
    let mut dates: Vec<&str> =
        set.rows.iter().filter(|row| is_run(row)).map(|row| day(&row.date)).collect();
    dates.sort_unstable();
    let (first, last) = (dates.first().copied(), dates.last().copied());
    let measured = match (first, last) {
        (Some(first), Some(last)) if first == last => first.to_owned(),
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => "nothing yet".to_owned(),
    };
    text.push_str("<!-- Written by `lab page` from a result set; not by hand. -->\n\n");
    text.push_str(&format!(
        "Measured {measured} by [the lab](../../perf/lab/README.md), profile `{}`.\n",
        set.profile.word()
    ));
    text.push_str(
        "Every figure is from a run on the machine below; each class has the command that measures \
         it again.\n\n",
    );
    let machine = &set.machine;
    let kind = if machine.virtual_machine { "virtual machine" } else { "bare metal" };
    let rows = [
        ("Build", set.build.named()),
        ("Version", set.build.version.clone().unwrap_or_else(|| "unknown".into())),
        ("Processor", machine.cpu.clone()),
        ("Logical cores", machine.cores.to_string()),
        ("Memory", format!("{} MB", machine.memory_mb)),
        ("Kernel", format!("Linux {}", machine.kernel)),
        ("Kind", kind.to_owned()),
        ("Measured with", set.conditions.named()),
    ];
    text.push_str("| | |\n|---|---|\n");
    for (name, value) in rows {
        text.push_str(&format!("| {name} | {} |\n", cell(&value)));
    }
    text.push('\n');
    if set.conditions.data_in_memory {
        text.push_str(
            "**The data lay in memory: a sync cost nothing, and the figures flatter.**\n\n",
        );
    }
}

/// The first figure of each measured class.
fn overview(set: &Set, text: &mut String) {
    text.push_str("## At a glance\n\n");
    text.push_str("| class | figure | median | limited by | lost or doubled |\n");
    text.push_str("|---|---|--:|---|--:|\n");
    for row in set.rows.iter().filter(|row| is_run(row)) {
        let (figure, value) = match row.figures.first() {
            Some(figure) => (figure.name.clone(), with_unit(figure, figure.value)),
            None => ("-".into(), "-".into()),
        };
        let failed = if row.state == State::Failed { " **failed**" } else { "" };
        text.push_str(&format!(
            "| [{}](#{}){failed} | {} | {} | {} | {} |\n",
            cell(&row.title),
            anchor(&row.title),
            cell(&figure),
            value,
            cell(row.limited_by.as_deref().unwrap_or("-")),
            lost(row),
        ));
    }
    text.push('\n');
}

fn section(set: &Set, group: Group, text: &mut String) {
    let rows: Vec<&ClassRow> =
        set.rows.iter().filter(|row| row.group == group.word() && is_run(row)).collect();
    if rows.is_empty() {
        return;
    }
    let title = match group {
        Group::Reference => "The published classes",
        Group::Beyond => "What publications leave out",
        Group::Harm => "When something breaks",
        Group::Peers => "Beside other programs",
    };
    text.push_str(&format!("## {title}\n\n"));
    for row in rows {
        class_section(row, text);
    }
}

fn class_section(row: &ClassRow, text: &mut String) {
    text.push_str(&format!("### {}\n\n{}\n\n", line(&row.title), sentences(&row.how)));
    if !row.figures.is_empty() {
        text.push_str("| figure | median | lowest | highest | repetitions |\n");
        text.push_str("|---|--:|--:|--:|--:|\n");
        for figure in &row.figures {
            text.push_str(&format!(
                "| {} | {} | {} | {} | {} |\n",
                cell(&figure.name),
                with_unit(figure, figure.value),
                shown(figure.lowest),
                shown(figure.highest),
                figure.count
            ));
        }
        text.push('\n');
    }
    if let Some(curve) = &row.curve {
        text.push_str(&format!(
            "![{}, step by step](curves/{}.svg)\n\n",
            line(&row.title),
            line(&row.class)
        ));
        let names: Vec<String> = curve.y.iter().map(|name| cell(name)).collect();
        text.push_str(&format!(
            "| offered {} | {} | limited by |\n",
            cell(&curve.x),
            names.join(" | ")
        ));
        text.push_str(&format!("|--:|{}---|\n", "--:|".repeat(names.len())));
        for point in &curve.points {
            let seen: Vec<String> =
                point.y.iter().map(|y| y.map_or("-".to_owned(), shown)).collect();
            text.push_str(&format!(
                "| {} | {} | {} |\n",
                shown(point.x),
                seen.join(" | "),
                cell(point.limited_by.as_deref().unwrap_or("-"))
            ));
        }
        text.push('\n');
    }
    let limit = row.limited_by.as_deref().unwrap_or("not classified");
    text.push_str(&format!(
        "{}; limited by: {}; lost or doubled: {}; {} s.\n",
        shown_date(&row.date),
        line(limit),
        lost(row),
        shown(row.seconds)
    ));
    match row.state {
        State::Failed => text.push_str("**It failed.**\n"),
        State::NoValidRow => text.push_str("**No row of it counts.**\n"),
        _ => {}
    }
    for note in &row.notes {
        text.push_str(&format!("{}.\n", capital(line(note).trim_end_matches('.'))));
    }
    text.push_str(&format!("\n```sh\n{}\n```\n\n", row.command.replace('`', "'")));
}

const LIMITS: &str = "## What limited\n\n\
    Read from counters of the same step.\n\n\
    | word | means |\n|---|---|\n\
    | nothing | The step stored or ran what was offered. |\n\
    | cpu | The server's core was full: a bigger machine does more. |\n\
    | slots | All places for waiting runs were taken while the CPU had room: a setting. |\n\
    | disk | The disk was busy all the time. |\n\
    | network | The network's share was full. |\n\
    | memory | The machine had no memory left. |\n\
    | load generator | The lab itself was late or full: nothing can be said about the server. |\n\
    | software | Nothing was full and the CPU had clear room: a limit in the program, and so a defect. |\n\
    | undetermined | Nothing was full, and the CPU was between the two. |\n\n";

const METHOD: &str = "## How it is measured\n\n\
    Server and load share one machine and are pinned to different cores; CPU is what the operating \
    system charges to the server's process.\n\
    Latency counts from the time at which a value was due, so a slow server cannot hide behind a \
    waiting client.\n\
    A step during which the load generator itself was late or full is not counted.\n\
    Ratios are made from rows of the same repetition, so that a machine that drifts drifts on both \
    sides.\n\
    With one repetition, lowest and highest are the figure itself and say nothing about noise.\n\n";

/// Classes without figures, and what no class covers.
fn not_covered(set: &Set, text: &mut String) {
    text.push_str("## Not covered\n\n");
    for row in set.rows.iter().filter(|row| !is_run(row)) {
        let why = row.notes.first().map_or(String::new(), |note| format!(": {}", line(note)));
        text.push_str(&format!(
            "- {}: {}{}.\n",
            line(&row.title),
            class::word(row.state),
            why.trim_end_matches('.')
        ));
    }
    text.push_str(
        "- Other machines than the one above: other processors, ARM, Windows.\n\
         - A load that comes over a real network from another machine.\n\
         - Several appliances that replicate: the product is one box.\n\
         - Writes inside of a disk's own cache that are reordered by a power cut.\n",
    );
}

/// Whether the class was run, well or not.
fn is_run(row: &ClassRow) -> bool {
    matches!(row.state, State::Measured | State::Failed | State::NoValidRow)
}

fn lost(row: &ClassRow) -> String {
    row.lost.map_or("-".to_owned(), |lost| lost.to_string())
}

fn with_unit(figure: &Figure, value: f64) -> String {
    format!("{} {}", shown(value), cell(&figure.unit)).trim_end().to_owned()
}

fn day(date: &str) -> &str {
    date.split('T').next().unwrap_or(date)
}

fn shown_date(date: &str) -> String {
    line(&date.replace('T', " ").replace('Z', " UTC"))
}

/// One sentence a line, as all our Markdown.
fn sentences(text: &str) -> String {
    line(text).replace(". ", ".\n")
}

/// One line without markup.
fn line(text: &str) -> String {
    text.replace(['\n', '\r'], " ").replace('<', "&lt;").replace('[', "\\[")
}

/// A sentence's first letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// A table's cell.
fn cell(text: &str) -> String {
    line(text).replace('|', "\\|")
}

/// The anchor that Markdown viewers give a heading.
fn anchor(title: &str) -> String {
    title
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-')
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}
