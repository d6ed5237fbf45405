//! The sheet of results: busy cores by item with a chart, the fit, memory, disk and network.

mod cpu;
mod stores;

use super::cell::{Cell, Sheet, Style, formula, text, title, words};
use super::ground::Ground;
use crate::estimate::{CLOSE, Verdict, percent_below};
use crate::profile::CostKey;

/// Cells that the sheet of limits looks at.
pub(super) struct Cells {
    pub(super) runs_kept: String,
    pub(super) class_keep: String,
}

pub(super) fn sheet(ground: &Ground<'_>) -> (Sheet, Cells) {
    let found = ground.found;
    let mut sheet = Sheet::new("Result", &[34.0, 22.0, 16.0, 16.0, 16.0, 16.0, 60.0]);
    sheet.push(vec![title(&format!("What '{}' takes", found.plan))]);
    sheet.push(vec![text(&format!(
        "Profile '{}': {}, measured {}.",
        found.profile.name, found.profile.title, found.profile.measured
    ))]);
    let busy = cpu::rows(&mut sheet, ground);
    let memory = stores::memory(&mut sheet, ground);
    let disk = stores::disk(&mut sheet, ground);
    stores::network(&mut sheet, ground);
    fit(&mut sheet, ground, &busy, &memory, &disk);
    smallest(&mut sheet, ground, &busy, &memory);
    (sheet, Cells { runs_kept: disk.runs_kept, class_keep: disk.class_keep })
}

fn verdict(need: &str, have: &str) -> String {
    format!("IF({need}>{have},\"over\",IF({need}>={have}*{CLOSE},\"close\",\"fits\"))")
}

/// The judgements about the plan's machine.
fn fit(sheet: &mut Sheet, ground: &Ground<'_>, busy: &str, memory: &str, disk: &stores::DiskCells) {
    let (Some(machine), Some(fit)) = (&ground.inputs.machine, &ground.found.fit) else { return };
    sheet.heading(&["Fit", "", ""]);
    let line = format!("{}*{}", machine.logical, ground.costs.or_0(CostKey::CpuLine));
    let row = |label: &str, cell| vec![text(label), cell];
    let line = formula(line, fit.line_cores, Style::Number);
    let line_row = sheet.push(row("Cores under the line", line));
    let line = sheet.address('B', line_row);
    let share = formula(format!("{busy}/{line}"), fit.share_of_line, Style::Percent);
    sheet.push(row("Busy cores by that line", share));
    sheet.push(row("CPU", words(verdict(busy, &line), fit.cpu.word(), Style::Sum)));
    let growth = format!("IF({busy}>0,{line}/{busy}-1,0)");
    let growth_row = sheet.push(row("Room to grow", formula(growth, fit.growth, Style::Percent)));
    let growth = sheet.address('B', growth_row);
    let about =
        formula(format!("FLOOR({growth}*100/5,1)*5"), percent_below(fit.growth), Style::Whole);
    if fit.growth >= 0.0 {
        sheet.push(row("Room to grow, about %", about));
    }
    let have = format!("{}*1000", machine.memory);
    sheet.push(row("Memory", words(verdict(memory, &have), fit.memory.word(), Style::Sum)));
    let unknown = |need: &str, have: &str, found: Option<Verdict>| {
        let formula = format!("IF(ISNUMBER({need}),{},\"unknown\")", verdict(need, have));
        words(formula, found.map_or("unknown", Verdict::word), Style::Sum)
    };
    let have = format!("{}*1000000000", machine.disk);
    sheet.push(row("Disk space", unknown(&disk.total, &have, fit.disk)));
    if let Some(have) = &machine.iops {
        sheet.push(row("Write operations", unknown(&disk.writes, have, fit.iops)));
    }
}

/// The smallest machine of the profile that fits with room.
fn smallest(sheet: &mut Sheet, ground: &Ground<'_>, busy: &str, memory: &str) {
    let costs = ground.costs;
    sheet.heading(&["Machines", "Logical cores", "Memory, GB", "Fits with room"]);
    let first = sheet.next();
    let line = ground.profile.cost(CostKey::CpuLine).unwrap_or(1.0);
    for (number, size) in ground.profile.sizes.iter().enumerate() {
        let r = sheet.next();
        let cpu = format!("{busy}<B{r}*{}*{CLOSE}", costs.or_0(CostKey::CpuLine));
        let fits = Verdict::of(ground.found.cpu.busy_cores, size.logical_cores * line)
            == Verdict::Fits
            && Verdict::of(ground.found.memory.total_mb, size.memory_gb * 1000.0) == Verdict::Fits;
        sheet.push(vec![
            words(costs.size_names.cell(number), &size.name, Style::Plain),
            formula(costs.size_cores.cell(number), size.logical_cores, Style::Whole),
            formula(costs.size_memory.cell(number), size.memory_gb, Style::Whole),
            formula(
                format!("IF(AND({cpu},{memory}<C{r}*1000*{CLOSE}),1,0)"),
                f64::from(u8::from(fits)),
                Style::Whole,
            ),
        ]);
    }
    let last = sheet.next() - 1;
    let found = ground.found.smallest.as_ref().map_or("none of these", |size| size.name.as_str());
    let formula =
        format!("IFERROR(INDEX(A{first}:A{last},MATCH(1,D{first}:D{last},0)),\"none of these\")");
    sheet.push(vec![text("Smallest that fits"), words(formula, found, Style::Sum)]);
}

/// A number that may be missing, in its own row.
fn labelled(sheet: &mut Sheet, label: &str, cell: Cell) -> String {
    let row = sheet.push(vec![text(label), cell]);
    sheet.address('B', row)
}
