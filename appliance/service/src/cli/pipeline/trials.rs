//! Trials without the plant: the test cases, and rehearsals over recorded history.

use super::documents::{document, lines, read};
use super::offline::Bench;
use super::{asked, shown, split};
use crate::cli::hints::is_file;
use crate::cli::local::Appliance;
use crate::cli::output::{Output, counted, json_line};
use anyhow::{Context as _, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use millrace_contract::v1;
use serde::Serialize;
use serde_json::value::RawValue;
use std::io::Write as _;
use std::path::Path;

/// Steps of the progress bar.
const BAR_STEPS: u64 = 1_000;

/// What to test.
#[derive(Debug, Args)]
pub(in crate::cli) struct TestArgs {
    /// Files, or stored pipelines; all are tested, also when one has failed.
    #[arg(required = true)]
    what: Vec<String>,
    /// The stored revision; the last one when left out.
    #[arg(long)]
    revision: Option<u32>,
    /// Only the case of this name; may be given several times.
    #[arg(long, value_name = "NAME")]
    case: Vec<String>,
    /// The workspace of a file.
    #[arg(long, default_value = "main")]
    workspace: String,
    #[command(flatten)]
    output: Output,
}

/// What to rehearse.
#[derive(Debug, Args)]
pub(in crate::cli) struct RehearseArgs {
    /// A file, or a stored pipeline.
    what: String,
    /// History from here: RFC 3339, a date, an epoch number, or back from now: -1h, -15m, -7d.
    #[arg(long, allow_hyphen_values = true)]
    from: String,
    /// To here, not included.
    #[arg(long, default_value = "now", allow_hyphen_values = true)]
    to: String,
    /// The stored revision; the last one when left out.
    #[arg(long)]
    revision: Option<u32>,
    /// The workspace of a file.
    #[arg(long, default_value = "main")]
    workspace: String,
    #[command(flatten)]
    output: Output,
}

/// The pipeline that a word names, and its document where the word is a file.
struct Meant {
    workspace: String,
    name: String,
    document: Option<Box<RawValue>>,
}

impl TestArgs {
    /// Whether files alone are to be tested, which needs no appliance.
    pub(super) fn are_files(&self) -> bool {
        self.what.iter().all(|what| is_file(what))
    }
}

fn meant(what: &str, workspace: &str) -> anyhow::Result<Meant> {
    let path = Path::new(what);
    if !is_file(what) {
        let (workspace, name) = match what.contains('/') {
            true => split(what),
            false => (workspace, what),
        };
        let (workspace, name) = (workspace.to_owned(), name.to_owned());
        return Ok(Meant { workspace, name, document: None });
    }
    let text = read(path)?;
    let name = document(&text).with_context(|| what.to_owned())?.name;
    let document = RawValue::from_string(text).with_context(|| format!("read {what}"))?;
    Ok(Meant { workspace: workspace.to_owned(), name, document: Some(document) })
}

pub(super) async fn test(appliance: &Appliance, args: &TestArgs) -> anyhow::Result<()> {
    let mut told = Told::new(args);
    for what in &args.what {
        told.add(what, ask_for_test(appliance, args, what).await)?;
    }
    told.end()
}

async fn ask_for_test(
    appliance: &Appliance,
    args: &TestArgs,
    what: &str,
) -> anyhow::Result<v1::TestReport> {
    let Meant { workspace, name, document } = meant(what, &args.workspace)?;
    let only = args.case.clone();
    let request = v1::TestRequest { revision: args.revision, document, cases: None, only };
    asked(appliance.api.test_pipeline(&workspace, &name, &request), "test", what).await
}

/// The same with nothing but this program: no appliance runs here.
pub(super) fn test_offline(args: &TestArgs) -> anyhow::Result<()> {
    let bench = Bench::new()?;
    let mut told = Told::new(args);
    for what in &args.what {
        told.add(what, test_file(&bench, args, what))?;
    }
    told.end()
}

fn test_file(bench: &Bench, args: &TestArgs, what: &str) -> anyhow::Result<v1::TestReport> {
    let examined = bench.examine(&read(Path::new(what))?);
    let Some(mut document) = examined.good().cloned() else {
        let faults: String = lines(&examined).map(|line| format!("\n  {line}")).collect();
        bail!("test {what}: the document has faults:{faults}");
    };
    let is_known = |name: &&String| document.cases.iter().any(|case| case.name == **name);
    if let Some(unknown) = args.case.iter().find(|name| !is_known(name)) {
        bail!("test {what}: there is no case '{unknown}'");
    }
    if !args.case.is_empty() {
        document.cases.retain(|case| args.case.contains(&case.name));
    }
    bench.test(&document).map_err(|faults| {
        anyhow::anyhow!("test {what}: {}", faults.first().map_or("", |fault| &fault.message))
    })
}

/// Tells of one pipeline after the other, and at the end of all together.
struct Told<'a> {
    args: &'a TestArgs,
    passed: u64,
    failed: u64,
    /// Pipelines that could not be tested.
    untested: u64,
}

/// A case in the answer for programs.
#[derive(Serialize)]
struct CaseLine<'a> {
    /// As it was asked for.
    what: &'a str,
    #[serde(flatten)]
    case: &'a v1::CaseReport,
}

impl<'a> Told<'a> {
    fn new(args: &'a TestArgs) -> Self {
        Self { args, passed: 0, failed: 0, untested: 0 }
    }

    fn add(&mut self, what: &str, report: anyhow::Result<v1::TestReport>) -> anyhow::Result<()> {
        let is_one = self.args.what.len() == 1;
        let report = match report {
            Ok(report) => report,
            Err(error) if is_one => return Err(error),
            Err(error) => {
                self.untested += 1;
                writeln!(std::io::stderr(), "{error:#}")?;
                return Ok(());
            }
        };
        self.passed += report.passed;
        self.failed += report.failed;
        if self.args.output.is_json() {
            for case in &report.cases {
                json_line(&CaseLine { what, case })?;
            }
            return Ok(());
        }
        let mut out = std::io::stdout().lock();
        if !is_one {
            writeln!(out, "{what}")?;
        }
        for line in report.cases.iter().flat_map(shown::case) {
            writeln!(out, "{}{line}", if is_one { "" } else { "  " })?;
        }
        if report.cases.is_empty() {
            writeln!(std::io::stderr(), "{what} has no test cases.")?;
        }
        Ok(())
    }

    fn end(self) -> anyhow::Result<()> {
        let Self { args, passed, failed, untested } = self;
        if !args.output.is_json() {
            writeln!(std::io::stdout(), "{passed} passed, {failed} failed")?;
        }
        if failed > 0 {
            bail!("{failed} of {} failed", counted(passed + failed, "case"));
        }
        if untested > 0 {
            bail!("{} not tested: see above", counted(untested, "pipeline"));
        }
        Ok(())
    }
}

pub(super) async fn rehearse(appliance: &Appliance, args: &RehearseArgs) -> anyhow::Result<()> {
    let Meant { workspace, name, document } = meant(&args.what, &args.workspace)?;
    let (from, to) = (args.from.clone(), args.to.clone());
    let request = v1::RehearsalRequest { revision: args.revision, document, from, to };
    let bar = progress()?;
    let told = bar.clone();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a share of the bar, between 0 and its length"
    )]
    let tell = move |done: f64, values: u64| {
        told.set_position((done.clamp(0.0, 1.0) * BAR_STEPS as f64) as u64);
        told.set_message(counted(values, "value"));
    };
    let rehearsing = appliance.api.rehearse_pipeline(&workspace, &name, &request, tell);
    let report = asked(rehearsing, "rehearse", &args.what).await;
    bar.finish_and_clear();
    let report = report?;
    if args.output.is_json() {
        return json_line(&report);
    }
    let mut out = std::io::stdout().lock();
    for line in shown::rehearsal(&report) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn progress() -> anyhow::Result<ProgressBar> {
    let bar = ProgressBar::new(BAR_STEPS);
    bar.set_style(ProgressStyle::with_template("{bar:40} {percent} %  {msg}  {eta} left")?);
    Ok(bar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_file_or_a_stored_pipeline() {
        let stored = meant("scale", "main").unwrap();
        assert_eq!((stored.workspace.as_str(), stored.name.as_str()), ("main", "scale"));
        assert!(stored.document.is_none());
        assert_eq!(meant("lab/scale", "main").unwrap().workspace, "lab");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.json");
        let mut file = std::fs::File::create(&path).unwrap();
        file.write_all(br#"{"millrace":1,"name":"scale","steps":{}}"#).unwrap();
        let file = meant(path.to_str().unwrap(), "lab").unwrap();
        assert_eq!((file.workspace.as_str(), file.name.as_str()), ("lab", "scale"));
        assert!(file.document.is_some());
        let missing = folder.path().join("none.json");
        assert!(meant(missing.to_str().unwrap(), "main").is_err());
    }
}
