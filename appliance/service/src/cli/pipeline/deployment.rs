//! What runs: deploy, undeploy, roll back, remove. Each tells what runs afterwards, as the engine
//! says.

use super::{asked, shown, split};
use crate::cli::hints::quoted;
use crate::cli::local::Appliance;
use crate::cli::output::{Output, json_line};
use anyhow::bail;
use clap::Args;
use millrace_client::Error;
use millrace_contract::v1;
use std::io::Write as _;

/// What to deploy.
#[derive(Debug, Args)]
pub(in crate::cli) struct DeployArgs {
    /// The pipeline.
    name: String,
    /// The revision; the last one when left out.
    #[arg(long)]
    revision: Option<u32>,
    /// Why: stands beside the deployment.
    #[arg(long, default_value = "")]
    note: String,
    #[command(flatten)]
    output: Output,
}

/// What to stop or roll back.
#[derive(Debug, Args)]
pub(in crate::cli) struct UndeployArgs {
    /// The pipeline.
    name: String,
    /// Why: stands beside the deployment.
    #[arg(long, default_value = "")]
    note: String,
    #[command(flatten)]
    output: Output,
}

pub(super) async fn deploy(appliance: &Appliance, args: &DeployArgs) -> anyhow::Result<()> {
    let (workspace, name) = split(&args.name);
    let new = v1::NewDeployment { revision: args.revision, note: args.note.clone() };
    let deploying = appliance.api.deploy_pipeline(workspace, name, &new);
    tell(&asked(deploying, "deploy", &args.name).await?, args.output)
}

pub(super) async fn undeploy(appliance: &Appliance, args: &UndeployArgs) -> anyhow::Result<()> {
    let (workspace, name) = split(&args.name);
    let note = v1::Note { note: args.note.clone() };
    let stopping = appliance.api.undeploy_pipeline(workspace, name, &note);
    tell(&asked(stopping, "undeploy", &args.name).await?, args.output)
}

pub(super) async fn roll_back(appliance: &Appliance, args: &UndeployArgs) -> anyhow::Result<()> {
    let (workspace, name) = split(&args.name);
    let note = v1::Note { note: args.note.clone() };
    let rolling = appliance.api.roll_back_pipeline(workspace, name, &note);
    tell(&asked(rolling, "roll back", &args.name).await?, args.output)
}

pub(super) async fn remove(appliance: &Appliance, name: &str) -> anyhow::Result<()> {
    let (workspace, pipeline) = split(name);
    let removed = appliance.api.remove_pipeline(workspace, pipeline).await;
    if let Err(Error::Refused { detail, .. }) = &removed
        && detail.code == v1::ErrorCode::Conflict
    {
        let (why, quoted) = (detail.message.trim_end_matches('.'), quoted(name));
        bail!("remove {name}: {why}; `millrace pipeline undeploy {quoted}` stops it");
    }
    asked(async { removed }, "remove", name).await?;
    writeln!(std::io::stdout(), "Removed {name}.")?;
    Ok(())
}

/// Tells what runs.
pub(super) fn tell(running: &v1::Running, output: Output) -> anyhow::Result<()> {
    if output.is_json() {
        return json_line(running);
    }
    let mut out = std::io::stdout().lock();
    for line in shown::running(running) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
