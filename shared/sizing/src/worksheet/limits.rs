//! The sheet of limits: each limit and default of the product, what the plan needs of it, and whether
//! it has to be raised. What a reader has set is entered here.

use super::cell::{Cell, Sheet, Style, input, maybe, text, title, words, wrapped};
use super::ground::Ground;
use super::result::Cells;
use crate::estimate::{CLOSE, Check};
use crate::profile::{CostKey, Limit, Measure};

pub(super) fn sheet(ground: &Ground<'_>, cells: &Cells) -> Sheet {
    let mut sheet = Sheet::new("Limits", &[52.0, 16.0, 16.0, 16.0, 10.0, 10.0, 52.0, 60.0]);
    sheet.push(vec![title("Limits and defaults")]);
    sheet.heading(&[
        "Setting",
        "The plan needs",
        "Default",
        "Set to",
        "Unit",
        "Verdict",
        "What it limits",
        "At the limit",
    ]);
    for (limit, check) in ground.profile.limits.iter().zip(&ground.found.checks) {
        let r = sheet.next();
        row(&mut sheet, r, limit, check, &needed(limit.measure, ground, cells));
    }
    sheet
}

fn row(sheet: &mut Sheet, r: usize, limit: &Limit, check: &Check, needed: &str) {
    let most = format!("IF(ISNUMBER(D{r}),D{r},C{r})");
    let verdict = format!(
        "IF(ISNUMBER(B{r}),IF(OR({most}=0,B{r}=0),\"good\",IF(B{r}>={most},\"raise\",\
         IF(B{r}>={most}*{CLOSE},\"near\",\"good\"))),\"unknown\")"
    );
    let set = match check.is_set {
        true => input(check.limit),
        false => Cell::Text(String::new(), Style::Input),
    };
    sheet.push(vec![
        text(&limit.setting),
        maybe(needed, check.needed, Style::Number),
        Cell::Number(limit.default, Style::Whole),
        set,
        text(&limit.unit),
        words(verdict, check.state.word(), Style::Sum),
        wrapped(&limit.what),
        wrapped(&limit.at_limit),
    ]);
}

/// What the plan needs of a limit, as a formula.
fn needed(measure: Measure, ground: &Ground<'_>, cells: &Cells) -> String {
    let inputs = ground.inputs;
    let (devices, pipelines) = (&inputs.devices, &inputs.pipelines);
    let costs = ground.costs;
    let runs = pipelines.runs.sum();
    let minute = || format!("{runs}*60*{}", costs.of(CostKey::QueuedRunBytes));
    match measure {
        Measure::ClientRate => devices.each.max(),
        Measure::WorkspaceRate => ground.device_values(),
        Measure::Clients => ground.clients(),
        Measure::ClientTags => devices.tags.max(),
        Measure::Tags => ground.tags(),
        Measure::PayloadBytes => devices.bytes.max(),
        Measure::SubscriberSecond => inputs.subscribers.each.max(),
        Measure::LaneSlots => {
            let lane = |name| pipelines.slots.sum_if(&pipelines.priority, name);
            format!("MAX({},{},{})", lane("high"), lane("normal"), lane("low"))
        }
        Measure::Parked => pipelines.parked.sum(),
        Measure::ParkedMib => {
            let (parked, each) = (pipelines.parked.sum(), costs.of(CostKey::MemoryParkedKb));
            format!("IF({parked}=0,0,{parked}*{each}*1000/1048576)")
        }
        Measure::QueueMinute => format!("IF({runs}=0,0,{})", minute()),
        Measure::QueueMinuteMib => format!("IF({runs}=0,0,{}/1048576)", minute()),
        Measure::ScriptMs => pipelines.script_ms.max(),
        Measure::RunHistoryMib => format!("{}/1048576", cells.runs_kept),
        Measure::JournalMinuteMib => {
            let commit = costs.of(CostKey::CommitBytes);
            let value = costs.of(CostKey::WrittenValueBytes);
            let (commits, stored) = (ground.commits(), ground.stored());
            format!("({commits}*{commit}+{stored}*{value})*60/1048576")
        }
        Measure::KeepYearMib => format!("{}/1048576", cells.class_keep),
    }
}
