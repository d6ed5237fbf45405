//! The plan that the appliance has stored, and the load beside it.

use crate::cli::Place;
use crate::cli::local::{self, Appliance};
use crate::cli::output::{Output, json_line};
use anyhow::{Context as _, bail};
use millrace_contract::v1;
use millrace_sizing::Plan;
use std::fmt::Write as _;
use std::io::Write as _;

const NONE: &str = "the appliance has no plan; `millrace sizing set plan.toml` stores one";

pub(super) fn set(place: &Place, plan: &Plan) -> anyhow::Result<()> {
    let appliance = Appliance::connect(place)?;
    let new = v1::NewPlan { plan: serde_json::to_value(plan).context("write the plan")? };
    local::block_on(async { appliance.api.set_sizing_plan(&new).await.context("store the plan") })?;
    writeln!(
        std::io::stdout(),
        "Stored '{}'. The load is compared with it from now on: `millrace sizing compare`.",
        plan.name
    )?;
    Ok(())
}

pub(super) fn show(place: &Place) -> anyhow::Result<()> {
    let appliance = Appliance::connect(place)?;
    let asked =
        local::block_on(async { appliance.api.sizing_plan().await.context("ask for the plan") })?;
    let Some(stored) = asked else { bail!(NONE) };
    writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&stored.plan)?)?;
    Ok(())
}

pub(super) fn compare(place: &Place, output: Output) -> anyhow::Result<()> {
    let appliance = Appliance::connect(place)?;
    let asked = local::block_on(async {
        appliance.api.sizing_comparison().await.context("ask for the comparison")
    })?;
    let Some(found) = asked else { bail!(NONE) };
    if output.is_json() {
        return json_line(&found);
    }
    std::io::stdout().write_all(shown(&found).as_bytes())?;
    Ok(())
}

pub(super) fn clear(place: &Place) -> anyhow::Result<()> {
    let appliance = Appliance::connect(place)?;
    local::block_on(async { appliance.api.clear_sizing_plan().await.context("remove the plan") })?;
    writeln!(std::io::stdout(), "Removed.")?;
    Ok(())
}

fn shown(found: &v1::PlanComparison) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _never_fails = writeln!(out, "{}, over the last {:.0} s", found.plan, found.seconds);
    for item in &found.items {
        let now = item.now.map_or_else(|| "not known yet".to_owned(), |now| format!("{now:.0}"));
        let over = match (item.exceeded, item.over_s > 0.0) {
            (true, _) => format!("  EXCEEDED for {:.0} min", item.over_s / 60.0),
            (false, true) => format!("  above the plan for {:.0} s", item.over_s),
            (false, false) => String::new(),
        };
        let _never_fails = writeln!(
            out,
            "  {:<20} planned {:>12.0}, now {now:>12}{over}",
            item.what, item.planned
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::shown;
    use millrace_contract::v1;

    #[test]
    fn what_is_above_the_plan_is_told_with_its_time() {
        let item = |now, over_s, exceeded| v1::PlanItem {
            name: "values_per_s".into(),
            what: "values per second".into(),
            planned: 10_000.0,
            now,
            over_s,
            exceeded,
        };
        let items = vec![
            item(Some(13_400.0), 960.0, true),
            item(Some(10_500.0), 7.0, false),
            item(None, 0.0, false),
        ];
        let text = shown(&v1::PlanComparison { plan: "Line 4".into(), seconds: 60.0, items });
        for words in [
            "planned        10000, now        13400",
            "EXCEEDED for 16 min",
            "for 7 s",
            "not known yet",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
