//! `millrace client`: the devices and programs that sign in.

use super::Place;
use super::hints::or_list;
use super::local::{self, Appliance};
use super::output::Output;
use anyhow::Context as _;
use clap::{Args, Subcommand};
use millrace_contract::v1;
use std::io::Write as _;

/// What to do with API clients.
#[derive(Debug, Subcommand)]
pub(super) enum ClientVerb {
    /// Adds a client and shows its secret, this once.
    Add(AddArgs),
    /// Lists clients, those that are in force.
    List {
        /// Also those that were revoked.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Revokes a client: cuts it off and refuses its tokens at once, for good.
    Revoke {
        /// The client's id.
        id: String,
    },
}

/// A new client.
#[derive(Debug, Args)]
pub(super) struct AddArgs {
    /// A name; it becomes the id where nobody has it yet.
    name: String,
    /// The workspace.
    #[arg(long, default_value = "main")]
    workspace: String,
    /// Topic paths that it may publish on, with + and # as wildcards; may be given several times.
    #[arg(long, value_name = "FILTER")]
    publish: Vec<String>,
    /// Topic paths that it may subscribe to and query; may be given several times.
    #[arg(long, value_name = "FILTER")]
    subscribe: Vec<String>,
    /// Its first value on a new path does not create the topic.
    #[arg(long)]
    no_create: bool,
    /// Retention class of the topics that it creates: 1d, 7d, 14d, 32d or keep.
    #[arg(long)]
    retention: Option<String>,
    /// Values per second that it may write, 0 = no limit; the box's setting when left out.
    #[arg(long, value_name = "PER_SECOND")]
    rate: Option<u32>,
    /// How many to add: NAME-1, NAME-2, ...
    #[arg(long, default_value_t = 1)]
    count: u32,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(place: &Place, verb: ClientVerb) -> anyhow::Result<()> {
    let appliance = Appliance::connect(place)?;
    local::block_on(async {
        match verb {
            ClientVerb::Add(args) => add(&appliance, args).await,
            ClientVerb::List { all, output } => list(&appliance, all, output).await,
            ClientVerb::Revoke { id } => {
                let revoked = appliance.api.revoke_client(&id).await;
                or_list(revoked, &format!("revoke {id}"), "millrace client list")?;
                writeln!(std::io::stdout(), "Revoked {id}.")?;
                Ok(())
            }
        }
    })
}

async fn add(appliance: &Appliance, args: AddArgs) -> anyhow::Result<()> {
    let retention = args.retention.as_deref().map(local::parse_retention).transpose()?;
    let new = v1::NewClients {
        name: args.name,
        count: args.count,
        workspace: args.workspace,
        publish: args.publish,
        subscribe: args.subscribe,
        may_create: !args.no_create,
        retention: retention.map(local::retention_dto),
        rate_per_s: args.rate,
    };
    let created = appliance.api.create_clients(&new).await.context("add the client")?;
    let mut out = std::io::stdout().lock();
    for made in created.clients {
        let (client, secret) = (made.client, made.secret);
        if args.output.is_json() {
            let line = serde_json::json!({ "id": client.id, "secret": secret });
            writeln!(out, "{line}")?;
            continue;
        }
        writeln!(out, "id      {}", client.id)?;
        writeln!(out, "secret  {secret}")?;
        let inbox = format!("{}/{}/_ingress/{}", appliance.root, client.workspace, client.id);
        writeln!(out, "inbox   {inbox}/<path>")?;
        if new.count == 1 && client.id != new.name {
            writeln!(
                std::io::stderr(),
                "Its id is not '{}': somebody had that id already, or it cannot be one.",
                new.name
            )?;
        }
    }
    if !args.output.is_json() {
        writeln!(
            std::io::stderr(),
            "The secret is shown this once; the appliance keeps only a hash."
        )?;
    }
    if new.publish.is_empty() && new.subscribe.is_empty() {
        writeln!(
            std::io::stderr(),
            "It may neither publish nor subscribe: add another with --publish or --subscribe."
        )?;
    }
    Ok(())
}

async fn list(appliance: &Appliance, all: bool, output: Output) -> anyhow::Result<()> {
    let clients = appliance.api.clients().await.context("list the clients")?;
    let mut out = std::io::stdout().lock();
    for client in clients {
        if client.revoked.is_some() && !all {
            continue;
        }
        if output.is_json() {
            writeln!(out, "{}", serde_json::to_string(&client)?)?;
            continue;
        }
        let state = if client.revoked.is_some() { "revoked" } else { "active" };
        writeln!(
            out,
            "{:<24} {:<8} {:<10} publish {}  subscribe {}",
            client.id,
            state,
            client.workspace,
            shown(&client.publish),
            shown(&client.subscribe)
        )?;
    }
    Ok(())
}

fn shown(filters: &[String]) -> String {
    if filters.is_empty() { "-".to_owned() } else { filters.join(",") }
}
