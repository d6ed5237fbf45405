//! The worksheet says what the library says: by itself, and after LibreOffice has recalculated it.

mod office;

use super::cell::{Cell, NOT_MEASURED, Sheet};
use super::{sheets, worksheet};
use crate::plan::{
    Detail, Machine, OpcUaGroup, Payload, Plan, Priority, RouteGroup, SubscriberGroup, Trigger,
};
use crate::profile::Profile;
use millrace_model::Retention;

/// A plan that uses everything.
fn everything() -> Plan {
    let mut plan = Plan::example();
    plan.name = "=1+1".into();
    let mut gateways = plan.devices[0].clone();
    gateways.name = "@SUM(A1:A9)".into();
    (gateways.count, gateways.tags, gateways.at_once) = (7.0, 300.0, 20.0);
    gateways.interval_ms = 333.0;
    gateways.retention = Retention::Keep;
    let mut events = plan.devices[0].clone();
    events.name = "+49 \"line\" <3> & more".into();
    (events.count, events.tags, events.interval_ms) = (3.0, 2.0, 60_000.0);
    (events.payload, events.payload_bytes) = (Payload::Structured, Some(350.0));
    events.retention = Retention::Days32;
    plan.devices.extend([gateways, events]);
    let mut waiting = plan.pipelines[0].clone();
    waiting.name = "-cmd|' /C calc'!A0".into();
    (waiting.count, waiting.runs_per_s, waiting.waiting_ms) = (11.0, 0.35, 1_500.0);
    (waiting.in_order, waiting.trigger, waiting.publishes) = (true, Trigger::Device, 3.0);
    (waiting.priority, waiting.retention) = (Priority::High, Retention::Days7);
    let mut timed = plan.pipelines[1].clone();
    timed.name = "Nightly".into();
    (timed.runs_per_s, timed.script_ms, timed.trigger) = (0.01, 99.0, Trigger::Timer);
    timed.history = Detail::Standard;
    plan.pipelines.extend([waiting, timed]);
    plan.subscribers.push(SubscriberGroup { name: "Wall".into(), count: 3.0, values_per_s: 900.0 });
    plan.opcua.push(OpcUaGroup { name: "PLC".into(), items: 100.0, interval_ms: 500.0 });
    plan.routes.push(RouteGroup { name: "MES".into(), count: 2.0, values_per_s: 10.0 });
    plan
}

/// Plans and profiles that the sheets are tried with.
fn cases() -> Vec<(&'static str, Plan, Profile)> {
    let reference = || Profile::named("reference").unwrap();
    let millrace = || Profile::named("millrace").unwrap();
    let mut bare = Plan::example();
    bare.pipelines.clear();
    bare.machine = None;
    let mut only_pipelines = Plan::example();
    only_pipelines.devices.clear();
    only_pipelines.pipelines[0].history = Detail::Full;
    let mut full = everything();
    full.settings.insert("admission.workspace_rate_per_s".into(), 60_000.0);
    let mut small = everything();
    let machine = small.machine.take().unwrap();
    small.machine = Some(Machine { cores: 1.0, memory_gb: 0.1, iops: None, ..machine });
    vec![
        ("example", Plan::example(), reference()),
        ("own", Plan::example(), millrace()),
        ("bare", bare, reference()),
        ("only-pipelines", only_pipelines, millrace()),
        ("everything", full, millrace()),
        ("small", small, reference()),
    ]
}

fn find<'a>(sheets: &'a [Sheet], name: &str, label: &str) -> &'a Cell {
    let sheet = sheets.iter().find(|sheet| sheet.name == name).unwrap();
    let is_it =
        |row: &&Vec<Cell>| matches!(row.first(), Some(Cell::Text(text, _)) if text == label);
    &sheet.rows.iter().find(is_it).unwrap()[1]
}

fn number(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Formula(_, value, _) => *value,
        other => panic!("{other:?} is no formula with a number"),
    }
}

#[test]
fn the_results_sheet_holds_the_estimate() {
    for (name, plan, profile) in cases() {
        let found = crate::estimate(&plan, &profile).unwrap();
        let sheets = sheets(&plan, &profile).unwrap();
        let at = |label| number(find(&sheets, "Result", label));
        assert_eq!(at("Busy cores in all"), Some(found.cpu.busy_cores), "{name}");
        assert_eq!(at("Memory in all"), Some(found.memory.total_mb), "{name}");
        assert_eq!(at("Bytes on the disk"), found.disk.total_bytes, "{name}");
        assert_eq!(at("Write operations/s"), found.disk.writes_per_s, "{name}");
        assert_eq!(at("Received"), found.network.in_bytes_per_s, "{name}");
        for check in &found.checks {
            assert_eq!(number(find(&sheets, "Limits", &check.setting)), check.needed, "{name}");
        }
    }
}

#[test]
fn words_of_a_plan_are_never_formulas() {
    let plan = everything();
    let bytes = worksheet(&plan, &Profile::named("millrace").unwrap()).unwrap();
    // Nothing is compressed, so the parts can be read as they are.
    let text = String::from_utf8_lossy(&bytes);
    let formulas: Vec<&str> =
        text.split("<f>").skip(1).filter_map(|rest| rest.split("</f>").next()).collect();
    assert!(formulas.len() > 100, "{}", formulas.len());
    for bad in ["1+1", "A1:A9", "calc", "+49"] {
        assert!(!formulas.iter().any(|formula| formula.contains(bad)), "{bad}");
        let as_text = text.split("<is>").skip(1).filter_map(|rest| rest.split("</is>").next());
        assert!(as_text.into_iter().any(|text| text.contains(bad)), "{bad} is not there as text");
    }
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    let profile = Profile::named("millrace").unwrap();
    assert_eq!(worksheet(&everything(), &profile), worksheet(&everything(), &profile));
}

#[test]
fn a_bad_plan_gives_no_worksheet() {
    let mut plan = Plan::example();
    plan.devices[0].count = -1.0;
    let problems = worksheet(&plan, &Profile::named("millrace").unwrap()).unwrap_err();
    assert!(problems[0].sentence.contains("negative"), "{problems:?}");
}

/// What a cell is expected to show: a number, or words.
#[derive(Clone, Debug, PartialEq)]
enum Shown {
    Number(f64),
    Words(String),
}

fn expected(cell: &Cell) -> Option<Shown> {
    match cell {
        Cell::Empty => None,
        Cell::Text(text, _) => Some(Shown::Words(text.clone())),
        Cell::Number(number, _) | Cell::Formula(_, Some(number), _) => Some(Shown::Number(*number)),
        Cell::Formula(_, None, _) => Some(Shown::Words(NOT_MEASURED.to_owned())),
        Cell::Words(_, words, _) => Some(Shown::Words(words.clone())),
    }
}

/// Holds every cell of a sheet against what was read; gives the number of formulas.
fn compare(name: &str, sheet: &Sheet, cells: &[Vec<String>]) -> usize {
    let mut formulas = 0;
    for (row, line) in sheet.rows.iter().enumerate() {
        for (column, cell) in line.iter().enumerate() {
            let Some(expected) = expected(cell) else { continue };
            let at = format!("{name}, {} {row}/{column}: {cell:?}", sheet.name);
            let found = cells.get(row).and_then(|line| line.get(column)).cloned();
            let found = found.unwrap_or_default();
            formulas += usize::from(matches!(cell, Cell::Formula(..) | Cell::Words(..)));
            match expected {
                Shown::Words(words) => assert_eq!(found, words, "{at}"),
                Shown::Number(number) => {
                    let found: f64 = found.parse().unwrap_or_else(|_| panic!("{found}: {at}"));
                    let off = (found - number).abs() / number.abs().max(1.0);
                    assert!(off <= 1e-9, "{found} is not {number}: {at}");
                }
            }
        }
    }
    formulas
}

#[test]
fn libreoffice_recalculates_every_cell_to_the_librarys_number() {
    let Some(office) = office::Office::find() else {
        println!(
            "skipped: there is no LibreOffice here (Debian: apt-get install libreoffice-calc)"
        );
        return;
    };
    let cases = cases();
    // With every result in the files wrong, what comes out was calculated.
    let forged: Vec<(&str, Vec<u8>)> = cases
        .iter()
        .map(|(name, plan, profile)| {
            (*name, office::without_results(&worksheet(plan, profile).unwrap()))
        })
        .collect();
    let mut compared = 0;
    for ((name, plan, profile), read) in cases.iter().zip(office.recalculated(&forged)) {
        for (sheet, cells) in sheets(plan, profile).unwrap().iter().zip(read) {
            compared += compare(name, sheet, &cells);
        }
    }
    assert!(compared > 500, "only {compared} formulas were compared");
}
