//! `millrace pipeline`: designs in and out, what runs, what ran, and trials without the plant.

mod deployment;
mod documents;
mod kinds;
mod offline;
mod runs;
mod shown;
mod trials;

use super::local::{self, Appliance};
use super::{Place, hints};
use anyhow::{Context as _, bail};
use clap::Subcommand;
use millrace_client::Error;
use std::future::Future;

const EXAMPLES: &str = "\
Examples:
  millrace pipeline kinds uns.publish
  millrace pipeline validate scale.json
  millrace pipeline test scale.json
  millrace pipeline rehearse scale.json --from -1d
  millrace pipeline import scale.json --note 'bar instead of psi' --deploy
  millrace pipeline list
  millrace pipeline runs scale --status failed
  millrace pipeline runs scale --status queued,running,waiting
  millrace pipeline cancel scale 7-123456
  millrace pipeline rollback scale

NAME is WORKSPACE/NAME, or NAME alone in the workspace main.";

/// What to do with pipelines.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(super) enum PipelineVerb {
    /// Lists the pipelines of a workspace and what each has done since the appliance started, or
    /// since it was deployed first after that; a new revision goes on counting.
    List(documents::ListArgs),
    /// Shows one pipeline: its revisions, what runs, how its runs go.
    Show(documents::ShowArgs),
    /// Checks files without an appliance: every fault with its step and field.
    Validate(documents::ValidateArgs),
    /// Lists the kinds of steps, or shows one with its fields and ports; needs no appliance.
    Kinds(kinds::KindsArgs),
    /// Stores files as new revisions. What runs goes on; --deploy lets them run.
    Import(documents::ImportArgs),
    /// Writes designs as files for git: in a stable order, without secrets.
    Export(documents::ExportArgs),
    /// Tells what is different between two revisions, or a file and what is deployed.
    Diff(documents::DiffArgs),
    /// Lets a revision run, the last one if none is named, and tells what runs now.
    Deploy(deployment::DeployArgs),
    /// Stops a pipeline; it stays stopped.
    Undeploy(deployment::UndeployArgs),
    /// Lets the revision run again that ran before.
    Rollback(deployment::UndeployArgs),
    /// Removes a pipeline that does not run, with all its revisions.
    Remove {
        /// The pipeline.
        name: String,
    },
    /// Lists runs, those that have not ended first, or shows one with what each step did.
    Runs(runs::RunsArgs),
    /// Cancels runs that have not ended: each ends as `stopped` and is in the list then.
    Cancel(runs::CancelArgs),
    /// Starts a run by hand, or one with the input of an earlier run.
    Trigger(runs::TriggerArgs),
    /// Runs the test cases of files or stored pipelines; nothing outside is touched.
    Test(trials::TestArgs),
    /// Feeds recorded history through a file or a revision and compares with what is deployed.
    Rehearse(trials::RehearseArgs),
}

pub(super) fn run(place: &Place, verb: PipelineVerb) -> anyhow::Result<()> {
    // Without an appliance.
    match &verb {
        PipelineVerb::Validate(args) => return documents::validate(args),
        PipelineVerb::Kinds(args) => return kinds::run(args),
        _ => {}
    }
    let appliance = match (Appliance::connect(place), &verb) {
        (Ok(appliance), _) => appliance,
        (Err(_), PipelineVerb::Test(args)) if args.are_files() => {
            return trials::test_offline(args);
        }
        (Err(error), _) => return Err(error),
    };
    local::block_on(async {
        match verb {
            PipelineVerb::List(args) => documents::list(&appliance, &args).await,
            PipelineVerb::Show(args) => documents::show(&appliance, &args).await,
            PipelineVerb::Validate(args) => documents::validate(&args),
            PipelineVerb::Kinds(args) => kinds::run(&args),
            PipelineVerb::Import(args) => documents::import(&appliance, &args).await,
            PipelineVerb::Export(args) => documents::export(&appliance, &args).await,
            PipelineVerb::Diff(args) => documents::diff(&appliance, &args).await,
            PipelineVerb::Deploy(args) => deployment::deploy(&appliance, &args).await,
            PipelineVerb::Undeploy(args) => deployment::undeploy(&appliance, &args).await,
            PipelineVerb::Rollback(args) => deployment::roll_back(&appliance, &args).await,
            PipelineVerb::Remove { name } => deployment::remove(&appliance, &name).await,
            PipelineVerb::Runs(args) => runs::runs(&appliance, &args).await,
            PipelineVerb::Cancel(args) => runs::cancel(&appliance, &args).await,
            PipelineVerb::Trigger(args) => runs::trigger(&appliance, &args).await,
            PipelineVerb::Test(args) => trials::test(&appliance, &args).await,
            PipelineVerb::Rehearse(args) => trials::rehearse(&appliance, &args).await,
        }
    })
}

/// Splits `lab/scale` into workspace and name; `scale` alone is in `main`.
fn split(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or(("main", name))
}

/// Waits for an answer about a pipeline; a refusal is told with all faults of the document.
async fn asked<T>(
    answer: impl Future<Output = Result<T, Error>>,
    doing: &str,
    name: &str,
) -> anyhow::Result<T> {
    let answer = answer.await;
    if let Err(error) = &answer
        && let Some(message) = hints::not_found(error)
    {
        bail!("{doing} {name}: {}", hints::missing_of_pipeline(message, name));
    }
    match answer {
        Err(Error::Refused { detail, .. }) if !detail.faults.is_empty() => {
            let lines: String =
                detail.faults.iter().map(|fault| format!("\n  {}", shown::fault(fault))).collect();
            bail!("{doing} {name}: the document has faults:{lines}")
        }
        answer => answer.with_context(|| format!("{doing} {name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_alone_is_in_main() {
        assert_eq!(split("scale"), ("main", "scale"));
        assert_eq!(split("lab/scale"), ("lab", "scale"));
    }
}
