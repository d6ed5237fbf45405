//! Memory, disk and network.

use super::labelled;
use crate::estimate::{MemoryItem, days};
use crate::profile::CostKey;
use crate::worksheet::cell::{Sheet, Style, formula, maybe, text};
use crate::worksheet::ground::Ground;
use millrace_model::Retention;

/// Cells that other tables look at.
pub(super) struct DiskCells {
    pub(super) total: String,
    pub(super) writes: String,
    pub(super) runs_kept: String,
    pub(super) class_keep: String,
}

/// Writes the rows and gives the cell of their sum.
pub(super) fn memory(sheet: &mut Sheet, ground: &Ground<'_>) -> String {
    let costs = ground.costs;
    sheet.heading(&["Memory", "MB"]);
    let first = sheet.next();
    let kb = |count: &str, key| format!("{count}*{}/1000", costs.of(key));
    // MIN skips the words of a cap that nobody measured: then there is no cap.
    let capped = |formula: String, key| format!("MIN({formula},{})", costs.of(key));
    let pipelines = &ground.inputs.pipelines;
    let (scripts, parked) = (pipelines.scripted.sum(), pipelines.parked.sum());
    let formulas = [
        // Words plus nothing are an error, so that a figure that is missing stays missing.
        format!("{}+0", costs.of(CostKey::MemoryBaseMb)),
        capped(kb(&ground.stored(), CostKey::MemoryRateKb), CostKey::MemoryRateMaxMb),
        kb(&ground.tags(), CostKey::MemoryTagKb),
        kb(&ground.clients(), CostKey::MemoryClientKb),
        kb(&pipelines.counts.sum(), CostKey::MemoryPipelineKb),
        capped(kb(&scripts, CostKey::MemoryScriptKb), CostKey::MemoryScriptMaxMb),
        format!("IF({parked}>0,{},0)", kb(&parked, CostKey::MemoryParkedKb)),
    ];
    for (MemoryItem { name, mb }, formula) in ground.found.memory.items.iter().zip(formulas) {
        sheet.push(vec![text(name), maybe(&formula, *mb, Style::Number)]);
    }
    let last = sheet.next() - 1;
    let total = ground.found.memory.total_mb;
    let total = formula(format!("SUM(B{first}:B{last})"), total, Style::Sum);
    labelled(sheet, "Memory in all", total)
}

/// Writes a row for each class and gives the cells of what they keep.
fn history(sheet: &mut Sheet, ground: &Ground<'_>) -> Vec<String> {
    sheet.heading(&["History", "Values/day", "Bytes/day", "Days kept", "Bytes kept"]);
    let mut kept = Vec::new();
    for class in Retention::ALL {
        let r = sheet.next();
        let (values, bytes) = ground.class(class);
        let row = ground.found.disk.history.iter().find(|row| row.retention == class);
        let (values_now, bytes_now, kept_now) = match row {
            Some(row) => (row.values_per_day, row.bytes_per_day, row.bytes_kept),
            // Nothing times a figure that nobody measured is not measured either.
            None => {
                let none = ground.profile.cost(CostKey::StoredNumberBytes).map(|_| 0.0);
                (0.0, none, none)
            }
        };
        sheet.push(vec![
            text(class.name()),
            formula(format!("({values})*86400"), values_now, Style::Whole),
            maybe(&format!("({bytes})*86400"), bytes_now, Style::Whole),
            formula(days(class).to_string(), days(class), Style::Whole),
            maybe(&format!("C{r}*D{r}"), kept_now, Style::Whole),
        ]);
        kept.push(sheet.address('E', r));
    }
    kept
}

/// Writes the rows of what stays on the disk and what is written.
pub(super) fn disk(sheet: &mut Sheet, ground: &Ground<'_>) -> DiskCells {
    let found = &ground.found.disk;
    let classes = history(sheet, ground);
    let kept = &ground.inputs.pipelines.kept;
    let runs = format!("IF({}>0,NA(),{})", kept.unmeasured(), kept.sum());
    let per_day = maybe(&runs, found.run_bytes_per_day, Style::Whole);
    let per_day = labelled(sheet, "Run history, bytes/day", per_day);
    let hours = ground.costs.of(CostKey::RunHistoryHours);
    let kept = maybe(&format!("{per_day}*{hours}/24"), found.run_bytes_kept, Style::Whole);
    let runs_kept = labelled(sheet, "Run history, bytes kept", kept);
    // Plus signs, not SUM: that would skip what is not measured.
    let total = format!("{}+{runs_kept}", classes.join("+"));
    let total = maybe(&total, found.total_bytes, Style::Sum);
    let total = labelled(sheet, "Bytes on the disk", total);
    let keys = [CostKey::CommitWrites, CostKey::WritesPerValue, CostKey::WritesPerRun];
    let writes = maybe(&ground.rate(keys), found.writes_per_s, Style::Number);
    let writes = labelled(sheet, "Write operations/s", writes);
    let keys = [CostKey::CommitBytes, CostKey::WrittenValueBytes, CostKey::WrittenRunBytes];
    let bytes = maybe(&ground.rate(keys), found.written_bytes_per_s, Style::Whole);
    labelled(sheet, "Bytes written/s", bytes);
    let class_keep = classes.last().cloned().unwrap_or_default();
    DiskCells { total, writes, runs_kept, class_keep }
}

/// Writes the rows of bytes in and out.
pub(super) fn network(sheet: &mut Sheet, ground: &Ground<'_>) {
    let (costs, found) = (ground.costs, &ground.found.network);
    sheet.heading(&["Network", "Bytes/s"]);
    let devices = &ground.inputs.devices;
    let text_bytes = match (devices.values.name(), devices.bytes.name()) {
        (Some(values), Some(bytes)) => format!("SUMPRODUCT({values},{bytes})"),
        _ => "0".to_owned(),
    };
    let value = costs.of(CostKey::NetworkValueBytes);
    let ack = costs.of(CostKey::NetworkAckBytes);
    let (sends, send) = (ground.sends(), costs.of(CostKey::NetworkInBytes));
    let incoming = format!("{sends}*{send}+{}*{value}+{text_bytes}", ground.incoming());
    labelled(sheet, "Received", maybe(&incoming, found.in_bytes_per_s, Style::Whole));
    let delivered = ground.inputs.subscribers.per_s.sum();
    let outgoing = format!("{sends}*{ack}+{delivered}*({ack}+{value})");
    labelled(sheet, "Sent", maybe(&outgoing, found.out_bytes_per_s, Style::Whole));
}
