//! The sheet of inputs: the plan, with the cells that a reader may change marked, and beside each
//! group what follows from it.

use super::cell::{Range, Sheet, Style, formula, input, maybe, text, title, word};
use super::costs::Costs;
use crate::estimate::SLOT_OVERHEAD_MS;
use crate::plan::{Detail, DeviceGroup, Payload, PipelineGroup, Plan, Priority, Trigger};
use crate::profile::{CostKey, Profile};

const SHEET: &str = "Plan";

/// Columns of the devices' table.
pub(super) struct Devices {
    pub(super) names: Range,
    pub(super) counts: Range,
    pub(super) tags: Range,
    pub(super) at_once: Range,
    pub(super) bytes: Range,
    pub(super) retention: Range,
    pub(super) values: Range,
    pub(super) sends: Range,
    pub(super) topics: Range,
    pub(super) each: Range,
    pub(super) history: Range,
}

/// Columns of the pipelines' table.
pub(super) struct Pipelines {
    pub(super) names: Range,
    pub(super) counts: Range,
    pub(super) script_ms: Range,
    pub(super) waiting_ms: Range,
    pub(super) in_order: Range,
    pub(super) trigger: Range,
    pub(super) publishes: Range,
    pub(super) priority: Range,
    pub(super) retention: Range,
    pub(super) runs: Range,
    pub(super) separate: Range,
    pub(super) published: Range,
    pub(super) topics: Range,
    pub(super) slots: Range,
    pub(super) parked: Range,
    pub(super) kept: Range,
    pub(super) scripted: Range,
}

/// A table of groups that are counted and have a rate.
pub(super) struct Simple {
    pub(super) names: Range,
    pub(super) counts: Range,
    pub(super) each: Range,
    pub(super) per_s: Range,
}

/// Cells of the machine.
pub(super) struct MachineCells {
    pub(super) logical: String,
    pub(super) memory: String,
    pub(super) disk: String,
    pub(super) iops: Option<String>,
}

pub(super) struct Inputs {
    pub(super) sheet: Sheet,
    pub(super) devices: Devices,
    pub(super) pipelines: Pipelines,
    pub(super) subscribers: Simple,
    pub(super) opcua: Simple,
    pub(super) routes: Simple,
    pub(super) machine: Option<MachineCells>,
}

impl Inputs {
    pub(super) fn new(plan: &Plan, profile: &Profile, costs: &Costs) -> Self {
        let widths: [f64; 19] = std::array::from_fn(|column| match column {
            0 => 28.0,
            17 => 18.0,
            _ => 13.0,
        });
        let mut sheet = Sheet::new(SHEET, &widths);
        sheet.push(vec![title(&plan.name)]);
        sheet.push(vec![text(
            "Change the marked cells; everything else follows. The result is on the sheet Result, \
             costs with their sources on Costs.",
        )]);
        let devices = devices(&mut sheet, plan, profile, costs);
        let pipelines = pipelines(&mut sheet, plan, profile, costs);
        let rows = |group: &crate::plan::SubscriberGroup| {
            (group.name.clone(), group.count, group.values_per_s, group.deliveries_per_s())
        };
        let all = plan.subscribers.iter().map(rows).collect();
        let heads = ["Live subscribers", "How many", "Values/s each", "Deliveries/s"];
        let subscribers = simple(&mut sheet, &heads, all, false);
        let rows = |group: &crate::plan::OpcUaGroup| {
            (group.name.clone(), group.items, group.interval_ms, group.updates_per_s())
        };
        let all = plan.opcua.iter().map(rows).collect();
        let heads = ["OPC UA items", "How many", "Interval, ms", "Updates/s"];
        let opcua = simple(&mut sheet, &heads, all, true);
        let rows = |group: &crate::plan::RouteGroup| {
            (group.name.clone(), group.count, group.values_per_s, group.total_per_s())
        };
        let all = plan.routes.iter().map(rows).collect();
        let heads = ["Routes", "How many", "Values/s each", "Values/s"];
        let routes = simple(&mut sheet, &heads, all, false);
        let machine = machine(&mut sheet, plan);
        Self { sheet, devices, pipelines, subscribers, opcua, routes, machine }
    }
}

fn payload(payload: Payload) -> &'static str {
    match payload {
        Payload::Number => "number",
        Payload::Bool => "bool",
        Payload::Text => "text",
        Payload::Structured => "structured",
    }
}

fn devices(sheet: &mut Sheet, plan: &Plan, profile: &Profile, costs: &Costs) -> Devices {
    sheet.heading(&[
        "Devices",
        "How many",
        "Topics each",
        "Interval, ms",
        "Values at once",
        "Payload",
        "Bytes of text",
        "History",
        "Values/s",
        "Sends/s",
        "Topics",
        "Values/s each",
        "History, bytes/s",
    ]);
    let (first, count) = (sheet.next(), plan.devices.len());
    for group in &plan.devices {
        let r = sheet.next();
        let number = costs.of(CostKey::StoredNumberBytes);
        let share = costs.of(CostKey::StoredTextShare);
        let history = format!("I{r}*({number}+IF(G{r}>0,G{r}*{share},0))");
        let values = group.values_per_s();
        sheet.push(vec![
            word(&group.name),
            input(group.count),
            input(group.tags),
            input(group.interval_ms),
            input(group.at_once),
            word(payload(group.payload)),
            input(group.length()),
            word(group.retention.name()),
            formula(format!("B{r}*C{r}*1000/D{r}"), values, Style::Number),
            formula(format!("I{r}/E{r}"), group.messages_per_s(), Style::Number),
            formula(format!("B{r}*C{r}"), group.count * group.tags, Style::Whole),
            formula(format!("I{r}/B{r}"), values / group.count, Style::Number),
            maybe(&history, stored_per_s(group, profile), Style::Number),
        ]);
    }
    let range = |column| Range::new(SHEET, column, first, count);
    Devices {
        names: range('A'),
        counts: range('B'),
        tags: range('C'),
        at_once: range('E'),
        bytes: range('G'),
        retention: range('H'),
        values: range('I'),
        sends: range('J'),
        topics: range('K'),
        each: range('L'),
        history: range('M'),
    }
}

/// Bytes of history per second of a group.
fn stored_per_s(group: &DeviceGroup, profile: &Profile) -> Option<f64> {
    let number = profile.cost(CostKey::StoredNumberBytes)?;
    let text = match group.length() > 0.0 {
        true => group.length() * profile.cost(CostKey::StoredTextShare)?,
        false => 0.0,
    };
    Some(group.values_per_s() * (number + text))
}

fn pipelines(sheet: &mut Sheet, plan: &Plan, profile: &Profile, costs: &Costs) -> Pipelines {
    sheet.heading(&[
        "Pipelines",
        "How many",
        "Runs/s each",
        "Script, ms",
        "Waiting, ms",
        "In order, 1/0",
        "Trigger",
        "Publishes",
        "Run history",
        "Priority",
        "History",
        "Runs/s",
        "Triggers/s",
        "Published/s",
        "Topics",
        "Slots held",
        "Runs waiting",
        "Run history, bytes/day",
        "With script",
    ]);
    let (first, count) = (sheet.next(), plan.pipelines.len());
    for group in &plan.pipelines {
        pipeline(sheet, group, profile, costs);
    }
    let range = |column| Range::new(SHEET, column, first, count);
    Pipelines {
        names: range('A'),
        counts: range('B'),
        script_ms: range('D'),
        waiting_ms: range('E'),
        in_order: range('F'),
        trigger: range('G'),
        publishes: range('H'),
        priority: range('J'),
        retention: range('K'),
        runs: range('L'),
        separate: range('M'),
        published: range('N'),
        topics: range('O'),
        slots: range('P'),
        parked: range('Q'),
        kept: range('R'),
        scripted: range('S'),
    }
}

fn pipeline(sheet: &mut Sheet, group: &PipelineGroup, profile: &Profile, costs: &Costs) {
    let r = sheet.next();
    let trigger = match group.trigger {
        Trigger::Separate => "separate",
        Trigger::Device => "device",
        Trigger::Timer => "timer",
    };
    let (detail, key) = match group.history {
        Detail::Minimal => ("minimal", CostKey::RunMinimalBytes),
        Detail::Standard => ("standard", CostKey::RunStandardBytes),
        Detail::Full => ("full", CostKey::RunFullBytes),
    };
    let priority = match group.priority {
        Priority::High => "high",
        Priority::Normal => "normal",
        Priority::Low => "low",
    };
    let runs = group.total_runs_per_s();
    let (script, waiting) = (group.script_ms, group.waiting_ms);
    let bytes = format!(
        "IF(I{r}=\"minimal\",{},IF(I{r}=\"full\",{},{}))",
        costs.of(CostKey::RunMinimalBytes),
        costs.of(CostKey::RunFullBytes),
        costs.of(CostKey::RunStandardBytes)
    );
    let kept = profile.cost(key).map(|bytes| group.kept_runs_per_s() * 86_400.0 * bytes);
    let slots = format!("L{r}*(D{r}+E{r}+{SLOT_OVERHEAD_MS})/1000");
    let scripted = if script > 0.0 { group.count } else { 0.0 };
    sheet.push(vec![
        word(&group.name),
        input(group.count),
        input(group.runs_per_s),
        input(script),
        input(waiting),
        input(f64::from(u8::from(group.in_order))),
        word(trigger),
        input(group.publishes),
        word(detail),
        word(priority),
        word(group.retention.name()),
        formula(format!("B{r}*C{r}"), runs, Style::Number),
        formula(format!("IF(G{r}=\"separate\",L{r},0)"), group.separate_per_s(), Style::Number),
        formula(format!("L{r}*H{r}"), group.published_per_s(), Style::Number),
        formula(format!("B{r}*H{r}"), group.count * group.publishes, Style::Whole),
        formula(slots, runs * (script + waiting + SLOT_OVERHEAD_MS) / 1000.0, Style::Number),
        formula(format!("L{r}*E{r}/1000"), runs * waiting / 1000.0, Style::Number),
        maybe(&format!("B{r}*MIN(C{r},1)*86400*{bytes}"), kept, Style::Whole),
        formula(format!("IF(D{r}>0,B{r},0)"), scripted, Style::Whole),
    ]);
}

/// A table of names, counts, what each has, and the total per second.
fn simple(
    sheet: &mut Sheet,
    heads: &[&str; 4],
    rows: Vec<(String, f64, f64, f64)>,
    by_interval: bool,
) -> Simple {
    sheet.heading(heads);
    let (first, count) = (sheet.next(), rows.len());
    for (name, count, each, per_s) in rows {
        let r = sheet.next();
        let total = if by_interval { format!("B{r}*1000/C{r}") } else { format!("B{r}*C{r}") };
        let total = formula(total, per_s, Style::Number);
        sheet.push(vec![word(&name), input(count), input(each), total]);
    }
    let range = |column| Range::new(SHEET, column, first, count);
    Simple { names: range('A'), counts: range('B'), each: range('C'), per_s: range('D') }
}

fn machine(sheet: &mut Sheet, plan: &Plan) -> Option<MachineCells> {
    let machine = plan.machine.as_ref()?;
    sheet.heading(&["Machine", ""]);
    sheet.push(vec![text("Name"), word(&machine.name)]);
    let cores = sheet.push(vec![text("Cores"), input(machine.cores)]);
    let threads = f64::from(u8::from(machine.hyper_threads));
    let threads = sheet.push(vec![text("Two threads a core, 1/0"), input(threads)]);
    let memory = sheet.push(vec![text("Memory, GB"), input(machine.memory_gb)]);
    let disk = sheet.push(vec![text("Disk, GB"), input(machine.disk_gb)]);
    let iops = machine.iops.map(|iops| {
        let row = sheet.push(vec![text("Write operations/s of the disk"), input(iops)]);
        sheet.address('B', row)
    });
    let logical = format!("B{cores}*IF(B{threads}=1,2,1)");
    let logical = formula(logical, machine.logical_cores(), Style::Whole);
    let logical = sheet.push(vec![text("Logical cores (vCPU)"), logical]);
    Some(MachineCells {
        logical: sheet.address('B', logical),
        memory: sheet.address('B', memory),
        disk: sheet.address('B', disk),
        iops,
    })
}
