//! Busy cores by item, with the chart.

use crate::estimate::{CpuItem, CpuPart};
use crate::profile::CostKey;
use crate::worksheet::cell::{
    Cell, Chart, NOT_MEASURED, Range, Sheet, Style, formula, maybe, text, words,
};
use crate::worksheet::ground::Ground;

/// A row's name and rate come from the plan's sheet, its cost from the costs'.
struct Source {
    name: Option<String>,
    per_s: String,
    us: String,
}

/// Writes the rows and gives the cell of their sum.
pub(super) fn rows(sheet: &mut Sheet, ground: &Ground<'_>) -> String {
    sheet.heading(&[
        "Load",
        "Kind",
        "Per second",
        "CPU of each, us",
        "Busy cores",
        "",
        "What it is",
    ]);
    let first = sheet.next();
    let items = &ground.found.cpu.items;
    for (item, source) in items.iter().zip(sources(ground)) {
        let r = sheet.next();
        let name = match source.name {
            Some(name) => words(name, &item.name, Style::Plain),
            None => text(&item.name),
        };
        sheet.push(vec![
            name,
            text(kind(item.part)),
            formula(source.per_s, item.per_s, Style::Number),
            maybe(&source.us, item.us_each, Style::Number),
            maybe(&format!("C{r}*D{r}/1000000"), item.cores, Style::Number),
            Cell::Empty,
            text(&item.text),
        ]);
    }
    let last = sheet.next() - 1;
    sheet.chart = Some(chart(first, last, items));
    let cpu = &ground.found.cpu;
    let sum = formula(format!("SUM(E{first}:E{last})"), cpu.busy_cores, Style::Sum);
    let busy = super::labelled(sheet, "Busy cores in all", sum);
    let band = ground.costs.or_0(CostKey::ErrorBand);
    let least = formula(format!("{busy}*MAX(0,1-{band})"), cpu.least, Style::Number);
    super::labelled(sheet, "At least", least);
    let most = formula(format!("{busy}*(1+{band})"), cpu.most, Style::Number);
    super::labelled(sheet, "At most", most);
    busy
}

fn kind(part: CpuPart) -> &'static str {
    match part {
        CpuPart::Wakes => "shared",
        CpuPart::Devices => "devices",
        CpuPart::Pipelines => "pipelines",
        CpuPart::Subscribers => "subscribers",
        CpuPart::OpcUa => "OPC UA",
        CpuPart::Routes => "routes",
    }
}

fn chart(first: usize, last: usize, items: &[CpuItem]) -> Chart {
    Chart {
        title: "Busy cores".to_owned(),
        names: format!("Result!$A${first}:$A${last}"),
        numbers: format!("Result!$E${first}:$E${last}"),
        name_cache: items.iter().map(|item| item.name.clone()).collect(),
        number_cache: items.iter().map(|item| item.cores.unwrap_or(0.0)).collect(),
    }
}

/// One for each row of the estimate, in its order.
fn sources(ground: &Ground<'_>) -> Vec<Source> {
    let (inputs, costs, plan) = (ground.inputs, ground.costs, ground.plan);
    let mut all = Vec::new();
    for number in 0..plan.devices.len() {
        let table = &inputs.devices;
        let bytes = table.bytes.cell(number);
        let us = format!(
            "{}/{}+{}+IF({bytes}>0,{bytes}*{},0)",
            costs.or_0(CostKey::MessageUs),
            table.at_once.cell(number),
            costs.or_0(CostKey::ValueUs),
            costs.of(CostKey::PayloadByteUs),
        );
        let name = Some(table.names.cell(number));
        all.push(Source { name, per_s: table.values.cell(number), us });
    }
    for number in 0..plan.pipelines.len() {
        let table = &inputs.pipelines;
        let cell = |range: &Range| range.cell(number);
        let us = format!(
            "{}+{}*{}+IF({}=\"separate\",{}+{},0)+IF({}=1,{},0)+IF({script}>0,{script}*1000*{},0)\
             +IF({}>0,{},0)",
            costs.of(CostKey::RunUs),
            costs.of(CostKey::PublishUs),
            cell(&table.publishes),
            cell(&table.trigger),
            costs.or_0(CostKey::MessageUs),
            costs.or_0(CostKey::ValueUs),
            cell(&table.in_order),
            costs.of(CostKey::InOrderUs),
            costs.of(CostKey::ScriptFactor),
            cell(&table.waiting_ms),
            costs.of(CostKey::WaitingUs),
            script = cell(&table.script_ms),
        );
        all.push(Source { name: Some(cell(&table.names)), per_s: cell(&table.runs), us });
    }
    for (table, count, key) in [
        (&inputs.subscribers, plan.subscribers.len(), CostKey::DeliveryUs),
        (&inputs.opcua, plan.opcua.len(), CostKey::OpcUaUpdateUs),
        (&inputs.routes, plan.routes.len(), CostKey::RouteUs),
    ] {
        for number in 0..count {
            let us = format!("IF(ISNUMBER({0}),{0},\"{NOT_MEASURED}\")", costs.of(key));
            let name = Some(table.names.cell(number));
            all.push(Source { name, per_s: table.per_s.cell(number), us });
        }
    }
    let per_s = format!("MIN({},{})", ground.wakes(), costs.or_0(CostKey::WakesPerSMax));
    all.push(Source { name: None, per_s, us: costs.or_0(CostKey::WakeUs) });
    all
}
