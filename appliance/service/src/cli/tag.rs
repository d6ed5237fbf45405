//! `millrace tag`: topics and their properties.

use super::Place;
use super::local::{self, Appliance};
use super::output::Output;
use clap::{Args, Subcommand};
use millrace_contract::v1;
use std::io::Write as _;

/// What to do with topics.
#[derive(Debug, Subcommand)]
pub(super) enum TagVerb {
    /// Lists the topics of a workspace.
    List {
        /// WORKSPACE or WORKSPACE/PREFIX.
        #[arg(default_value = "main")]
        topic: String,
        /// Only topics whose path, unit or description contains this text.
        #[arg(long)]
        search: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Changes what a topic is.
    Set(SetArgs),
}

/// What to change.
#[derive(Debug, Args)]
pub(super) struct SetArgs {
    /// WORKSPACE/PATH.
    topic: String,
    /// Unit of measure.
    #[arg(long)]
    unit: Option<String>,
    /// What it is.
    #[arg(long)]
    description: Option<String>,
    /// How long its history is kept: 1d, 7d, 14d, 32d or keep.
    #[arg(long)]
    retention: Option<String>,
}

pub(super) fn run(place: &Place, verb: TagVerb) -> anyhow::Result<()> {
    let appliance = Appliance::connect(place)?;
    local::block_on(async {
        match verb {
            TagVerb::List { topic, search, output } => {
                list(&appliance, &topic, search.as_deref(), output).await
            }
            TagVerb::Set(args) => set(&appliance, args).await,
        }
    })
}

async fn list(
    appliance: &Appliance,
    topic: &str,
    search: Option<&str>,
    output: Output,
) -> anyhow::Result<()> {
    let (workspace, prefix) = topic.split_once('/').unwrap_or((topic, ""));
    let mut after = None;
    let mut out = std::io::stdout().lock();
    loop {
        let page = appliance.api.tags(workspace, prefix, search, after.as_deref()).await;
        let page = local::about_topic(page, "list", topic)?;
        for tag in page.items {
            if output.is_json() {
                writeln!(out, "{}", serde_json::to_string(&tag)?)?;
                continue;
            }
            writeln!(
                out,
                "{workspace}/{}  {}  {}  {}",
                tag.path,
                local::retention(tag.retention).name(),
                tag.unit,
                tag.description
            )?;
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}

async fn set(appliance: &Appliance, args: SetArgs) -> anyhow::Result<()> {
    let (workspace, path) = local::split_topic(&args.topic)?;
    let retention = args.retention.as_deref().map(local::parse_retention).transpose()?;
    let change = v1::TagChange {
        unit: args.unit,
        description: args.description,
        retention: retention.map(local::retention_dto),
        schema: None,
    };
    let changed = appliance.api.update_tag(workspace, path, &change).await;
    local::about_topic(changed, "change", &args.topic)?;
    writeln!(std::io::stdout(), "Changed {}.", args.topic)?;
    Ok(())
}
