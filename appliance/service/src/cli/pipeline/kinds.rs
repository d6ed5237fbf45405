//! The kinds of steps, as this program knows them: a list, or one with its fields and ports.
//!
//! **Invariants**: needs no appliance; says what `docs/formats/pipeline.md` says, from the same
//! table.

use crate::cli::output::{Output, json_line};
use anyhow::bail;
use clap::Args;
use millrace_flow::kind::{ALL, Kind};
use millrace_flow::kinds::unit::UNITS;
use millrace_flow::{FieldForm, FieldSpec};
use std::io::Write as _;

/// Most ports that are listed one by one.
const PORTS_SHOWN: usize = 4;

/// Which kinds.
#[derive(Debug, Args)]
pub(in crate::cli) struct KindsArgs {
    /// A kind, such as uns.publish; all kinds when left out.
    kind: Option<String>,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(args: &KindsArgs) -> anyhow::Result<()> {
    let Some(name) = &args.kind else {
        for kind in ALL {
            tell(args.output, kind, |kind| vec![line(kind)])?;
        }
        return Ok(());
    };
    let Some(kind) = ALL.iter().find(|kind| kind.name == name) else {
        let meant = millrace_flow::kind::meant(name);
        let meant = meant.map_or(";".to_owned(), |near| format!("; did you mean {near}?"));
        bail!("there is no kind {name}{meant} `millrace pipeline kinds` lists all");
    };
    tell(args.output, kind, whole)
}

fn tell(output: Output, kind: &Kind, lines: fn(&Kind) -> Vec<String>) -> anyhow::Result<()> {
    if output.is_json() {
        return json_line(&json(kind));
    }
    let mut out = std::io::stdout().lock();
    for line in lines(kind) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn line(kind: &Kind) -> String {
    format!("{:<18} {:<10} {}", kind.name, kind.group.name(), kind.summary)
}

fn whole(kind: &Kind) -> Vec<String> {
    let mut lines = vec![format!("{} ({})", kind.name, kind.group.name())];
    lines.push(format!("  {}", kind.summary));
    lines.push(format!("output ports: {}", ports(kind)));
    if let Some(ms) = kind.timeout_ms {
        lines.push(format!("timeout unless the step has its own: {ms} ms"));
    }
    if kind.is_stateful {
        lines.push("keeps lasting state".to_owned());
    }
    if kind.is_outside {
        lines.push("acts outside: stubbed in rehearsals and test cases".to_owned());
    }
    if !kind.fields.is_empty() {
        lines.push("fields:".to_owned());
    }
    for field in kind.fields {
        push_field("", field, &mut lines);
    }
    if kind.name == "unit" {
        let symbols: Vec<_> = UNITS.iter().map(|unit| unit.symbol).collect();
        lines.push(format!("units: {}", symbols.join(" ")));
    }
    lines
}

fn ports(kind: &Kind) -> String {
    match kind.ports {
        [] => "none".to_owned(),
        [first, .., last] if kind.ports.len() > PORTS_SHOWN => {
            format!("{first}, ... (one for each case), {last}")
        }
        few => few.join(", "),
    }
}

fn push_field(before: &str, field: &FieldSpec, lines: &mut Vec<String>) {
    let name = format!("{before}{}", field.name);
    let mut holds = field.form.name();
    if field.allows_expression {
        holds.push_str(", or {{ expression }}");
    }
    let needed = match (field.is_required, field.default) {
        (true, _) => "; required".to_owned(),
        (false, Some(default)) => format!("; {default} if left out"),
        (false, None) => String::new(),
    };
    lines.push(format!("  {name}: {holds}{needed}"));
    lines.push(format!("      {}", field.doc));
    if let FieldForm::Items(specs) = field.form {
        for spec in specs {
            push_field(&format!("{name}[]."), spec, lines);
        }
    }
}

fn json(kind: &Kind) -> serde_json::Value {
    let fields: Vec<_> = kind
        .fields
        .iter()
        .map(|field| {
            serde_json::json!({
                "name": field.name,
                "holds": field.form.name(),
                "required": field.is_required,
                "default": field.default_value(),
                "expression": field.allows_expression,
                "doc": field.doc,
            })
        })
        .collect();
    serde_json::json!({
        "kind": kind.name,
        "group": kind.group.name(),
        "summary": kind.summary,
        "ports": kind.ports,
        "timeout_ms": kind.timeout_ms,
        "fields": fields,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_with_all_that_a_document_needs() {
        let kind = millrace_flow::kind::find("uns.publish").unwrap();
        let lines = whole(kind).join("\n");
        for part in ["uns.publish (system)", "output ports: out", "path: tag path", "; required"] {
            assert!(lines.contains(part), "{part}: {lines}");
        }
        let switch = whole(millrace_flow::kind::find("switch").unwrap()).join("\n");
        assert!(switch.contains("cases[].equals"), "{switch}");
        assert!(switch.contains("1, ... (one for each case), otherwise"), "{switch}");
        assert_eq!(json(kind)["fields"][0]["name"], kind.fields[0].name);
    }

    #[test]
    fn an_unknown_kind_is_told_what_was_probably_meant() {
        let args = |kind: &str| KindsArgs { kind: Some(kind.into()), output: Output::TEXT };
        let told = run(&args("uns.publihs")).unwrap_err().to_string();
        assert!(told.contains("did you mean uns.publish? `millrace pipeline kinds`"), "{told}");
        let told = run(&args("teleport")).unwrap_err().to_string();
        assert!(told.contains("there is no kind teleport; `millrace pipeline kinds`"), "{told}");
    }
}
