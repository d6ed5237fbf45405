//! Designs in and out: list, show, validate, import, export, diff.

use super::offline::Bench;
use super::{asked, deployment, shown, split};
use crate::cli::hints::{is_file, missing_of_pipeline};
use crate::cli::local::Appliance;
use crate::cli::output::{Output, counted, json_line};
use anyhow::{Context as _, bail};
use clap::Args;
use millrace_contract::v1;
use millrace_flow::{Document, Examined, Severity};
use serde_json::value::RawValue;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Files of a folder that are taken.
const EXTENSION: &str = "json";

/// Which pipelines to list.
#[derive(Debug, Args)]
pub(in crate::cli) struct ListArgs {
    /// The workspace.
    #[arg(default_value = "main")]
    workspace: String,
    #[command(flatten)]
    output: Output,
}

/// Which pipeline to show.
#[derive(Debug, Args)]
pub(in crate::cli) struct ShowArgs {
    /// The pipeline.
    name: String,
    #[command(flatten)]
    output: Output,
}

/// Which files to check.
#[derive(Debug, Args)]
pub(in crate::cli) struct ValidateArgs {
    /// Files, or folders whose .json files are taken; - = standard input.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
}

/// What to import.
#[derive(Debug, Args)]
pub(in crate::cli) struct ImportArgs {
    /// Files, or folders whose .json files are taken; - = standard input.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The workspace.
    #[arg(long, default_value = "main")]
    workspace: String,
    /// What is new: stands beside the revision for good.
    #[arg(long, default_value = "")]
    note: String,
    /// Lets each of them run as soon as it is stored.
    #[arg(long)]
    deploy: bool,
    #[command(flatten)]
    output: Output,
}

/// What to export.
#[derive(Debug, Args)]
pub(in crate::cli) struct ExportArgs {
    /// The pipeline; with --all the workspace.
    #[arg(required_unless_present = "all")]
    name: Option<String>,
    /// A revision's number, latest or deployed.
    #[arg(long, default_value = "latest")]
    revision: String,
    /// All pipelines of the workspace, each into a file of its own in the folder --to.
    #[arg(long, requires = "to")]
    all: bool,
    /// The file (or with --all the folder) to write; standard output when left out.
    #[arg(long, value_name = "PATH")]
    to: Option<PathBuf>,
}

/// What to compare.
#[derive(Debug, Args)]
pub(in crate::cli) struct DiffArgs {
    /// The pipeline; or a file, which is compared with the pipeline of its name as --file is.
    name: String,
    /// The one before: a revision's number, latest or deployed.
    #[arg(long, default_value = "deployed")]
    from: String,
    /// The one after.
    #[arg(long, default_value = "latest", conflicts_with = "file")]
    to: String,
    /// Compares with this file instead of --to.
    #[arg(long)]
    file: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

pub(super) async fn list(appliance: &Appliance, args: &ListArgs) -> anyhow::Result<()> {
    let all = asked(appliance.api.pipelines(&args.workspace), "list pipelines of", &args.workspace);
    let all = all.await?;
    if all.is_empty() && !args.output.is_json() {
        let mut err = std::io::stderr();
        writeln!(err, "There is none yet; `millrace pipeline import FILE` stores one.")?;
    }
    for pipeline in all {
        if args.output.is_json() {
            json_line(&pipeline)?;
        } else {
            writeln!(std::io::stdout(), "{}", shown::line(&pipeline))?;
        }
    }
    Ok(())
}

pub(super) async fn show(appliance: &Appliance, args: &ShowArgs) -> anyhow::Result<()> {
    let (workspace, name) = split(&args.name);
    let pipeline = asked(appliance.api.pipeline(workspace, name), "show", &args.name).await?;
    let Some(pipeline) = pipeline else {
        let message = format!("there is no pipeline {}", args.name);
        bail!("{}", missing_of_pipeline(&message, &args.name));
    };
    if args.output.is_json() {
        return json_line(&pipeline);
    }
    let revisions = asked(appliance.api.revisions(workspace, name), "show", &args.name).await?;
    let mut out = std::io::stdout().lock();
    for line in shown::whole(&pipeline, &revisions) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

pub(super) fn validate(args: &ValidateArgs) -> anyhow::Result<()> {
    let (mut all, mut bad) = (0_usize, 0);
    let bench = Bench::new()?;
    for file in expand(&args.files)? {
        let text = read(&file)?;
        let examined = bench.examine(&text);
        let is_good = examined.good().is_some();
        all += 1;
        bad += usize::from(!is_good);
        if args.output.is_json() {
            let (file, faults) = (file.display().to_string(), &examined.faults);
            json_line(&serde_json::json!({ "file": file, "good": is_good, "faults": faults }))?;
            continue;
        }
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}: {}", file.display(), if is_good { "good" } else { "has faults" })?;
        for line in lines(&examined) {
            writeln!(out, "  {line}")?;
        }
    }
    if bad > 0 {
        let all = counted(all, "file");
        bail!("{bad} of {all} cannot be deployed; correct what is told above");
    }
    Ok(())
}

pub(super) async fn import(appliance: &Appliance, args: &ImportArgs) -> anyhow::Result<()> {
    // All are read and judged before any is stored.
    let mut good = Vec::new();
    let mut bad = String::new();
    let bench = Bench::new()?;
    for file in expand(&args.files)? {
        let text = read(&file)?;
        let examined = bench.examine(&text);
        match examined.good().map(|document| document.name.clone()) {
            Some(name) => good.push((file, name, text)),
            None => {
                let lines: String = lines(&examined).map(|line| format!("\n    {line}")).collect();
                bad.push_str(&format!("\n  {}:{lines}", file.display()));
            }
        }
    }
    if !bad.is_empty() {
        bail!("nothing was stored, because of faults:{bad}");
    }
    for (file, name, text) in good {
        let document =
            RawValue::from_string(text).with_context(|| format!("read {}", file.display()))?;
        let new = v1::NewRevision { document, note: args.note.clone(), expected: None };
        let saving = appliance.api.save_pipeline(&args.workspace, &name, &new);
        let saved = asked(saving, "store", &name).await?;
        if args.output.is_json() {
            json_line(&saved)?;
        } else {
            let mut out = std::io::stdout().lock();
            let what = if saved.unchanged { "is unchanged" } else { "stored" };
            writeln!(out, "{name}: revision {} {what}", saved.revision.revision)?;
            for warning in &saved.warnings {
                writeln!(std::io::stderr(), "  note: {}", shown::fault(warning))?;
            }
        }
        if args.deploy {
            let revision = Some(saved.revision.revision);
            let new = v1::NewDeployment { revision, note: args.note.clone() };
            let deploying = appliance.api.deploy_pipeline(&args.workspace, &name, &new);
            let running = asked(deploying, "deploy", &name).await?;
            deployment::tell(&running, args.output)?;
        }
    }
    Ok(())
}

pub(super) async fn export(appliance: &Appliance, args: &ExportArgs) -> anyhow::Result<()> {
    if !args.all {
        let name = args.name.as_deref().unwrap_or_default();
        let (workspace, pipeline) = split(name);
        let export = appliance.api.export_pipeline(workspace, pipeline, &args.revision);
        let text = asked(export, "export", name).await?;
        return match &args.to {
            None => Ok(std::io::stdout().write_all(text.as_bytes())?),
            Some(file) => write(file, &text),
        };
    }
    let workspace = args.name.as_deref().unwrap_or("main");
    let folder = args.to.as_deref().context("--all needs the folder --to")?;
    std::fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    let all = asked(appliance.api.pipelines(workspace), "list pipelines of", workspace).await?;
    let mut count = 0_u64;
    for pipeline in all {
        // With `deployed`, those that do not run are left out.
        let runs = pipeline.deployment.as_ref().is_some_and(|row| row.revision.is_some());
        if args.revision == "deployed" && !runs {
            continue;
        }
        let export = appliance.api.export_pipeline(workspace, &pipeline.name, &args.revision);
        let text = asked(export, "export", &pipeline.name).await?;
        write(&folder.join(format!("{}.{EXTENSION}", pipeline.name)), &text)?;
        count += 1;
    }
    let files = counted(count, "file");
    writeln!(std::io::stderr(), "Wrote {files} into {}.", folder.display())?;
    Ok(())
}

pub(super) async fn diff(appliance: &Appliance, args: &DiffArgs) -> anyhow::Result<()> {
    let (named, file) = match (&args.file, is_file(&args.name)) {
        (None, true) => {
            let document = document(&read(Path::new(&args.name))?);
            (document.with_context(|| args.name.clone())?.name, Some(PathBuf::from(&args.name)))
        }
        (file, _) => (args.name.clone(), file.clone()),
    };
    let (workspace, name) = split(&named);
    let lines = match &file {
        None => {
            let diff = appliance.api.diff_pipeline(workspace, name, &args.from, &args.to);
            let diff = asked(diff, "compare", &named).await?;
            if args.output.is_json() {
                return json_line(&diff);
            }
            diff.lines
        }
        Some(file) => {
            let export = appliance.api.export_pipeline(workspace, name, &args.from);
            let before = document(&asked(export, "compare", &named).await?)?;
            let after = document(&read(file)?).with_context(|| file.display().to_string())?;
            let transaction = millrace_flow::diff(&before, &after);
            if args.output.is_json() {
                return json_line(&serde_json::json!({
                    "lines": millrace_flow::diff::lines(&before, &transaction),
                    "edits": transaction,
                }));
            }
            millrace_flow::diff::lines(&before, &transaction)
        }
    };
    let mut out = std::io::stdout().lock();
    if lines.is_empty() {
        writeln!(out, "They do the same.")?;
    }
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Reads a document; a fault tells its line.
pub(super) fn document(text: &str) -> anyhow::Result<Document> {
    Document::parse(text).map_err(|fault| anyhow::anyhow!("no pipeline document: {fault}"))
}

/// All faults and warnings as lines.
pub(super) fn lines(examined: &Examined) -> impl Iterator<Item = String> {
    examined.faults.iter().map(|fault| match fault.severity {
        Severity::Error => fault.to_string(),
        Severity::Warning => format!("note: {fault}"),
    })
}

/// The files that are meant: a folder stands for its .json files.
pub(super) fn expand(files: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for file in files {
        if !file.is_dir() {
            all.push(file.clone());
            continue;
        }
        let entries =
            std::fs::read_dir(file).with_context(|| format!("read {}", file.display()))?;
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.with_context(|| format!("read {}", file.display()))?.path();
            if path.extension().is_some_and(|extension| extension == EXTENSION) {
                found.push(path);
            }
        }
        if found.is_empty() {
            bail!("{} holds no .{EXTENSION} file", file.display());
        }
        found.sort();
        all.append(&mut found);
    }
    Ok(all)
}

/// The text of a file, or of standard input.
pub(super) fn read(file: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    let most = millrace_flow::text::DOCUMENT_BYTES_MAX as u64 * 2;
    if file.as_os_str() == "-" {
        std::io::stdin().take(most).read_to_string(&mut text).context("read standard input")?;
    } else {
        let name = || format!("read {}", file.display());
        let opened = std::fs::File::open(file).with_context(name)?;
        opened.take(most).read_to_string(&mut text).with_context(name)?;
    }
    Ok(text)
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let name = || format!("write {}", file.display());
    let mut out = std::fs::File::create(file).with_context(name)?;
    out.write_all(text.as_bytes()).with_context(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_for_its_files_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.json", "a.json", "notes.md"] {
            std::fs::File::create(folder.path().join(name)).unwrap();
        }
        let files = expand(&[folder.path().to_owned(), "x.json".into()]).unwrap();
        let names: Vec<_> =
            files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["a.json", "b.json", "x.json"]);
        let empty = tempfile::tempdir().unwrap();
        let error = expand(&[empty.path().to_owned()]).unwrap_err().to_string();
        assert!(error.contains("holds no .json file"), "{error}");
    }

    #[test]
    fn every_fault_is_told_with_its_place() {
        let bench = Bench::new().unwrap();
        let told = |text: &str| {
            let examined = bench.examine(text);
            assert!(examined.good().is_none(), "{examined:?}");
            lines(&examined).collect::<Vec<_>>()
        };
        let faults = told("{\n  \"millrace\": 1,\n  \"steps\": {},\n  \"name\": 7\n}");
        assert!(faults[0].starts_with("`name`, line 4: takes text"), "{faults:?}");
        let text = r#"{"millrace":1,"name":"a","steps":{"in":{"kind":"manual"},"x":{"kind":"teleport"}},
                      "wires":[{"from":"in","to":"x"}]}"#;
        let faults = told(text);
        assert!(faults[0].starts_with("step `x`"), "{faults:?}");
        let text = r#"{"millrace":1,"name":"a","steps":{"in":{"kind":"manual"},
                      "x":{"kind":"javascript","fields":{"code":"return 1;\nreturn )"}}},
                      "wires":[{"from":"in","to":"x"}]}"#;
        let faults = told(text);
        let place = "step `x`, field `code`: line 2, column 8";
        assert!(faults[0].starts_with(place), "{faults:?}");
    }
}
