//! Runs: list them, look into one, start one, cancel some.

use super::{asked, shown, split};
use crate::cli::hints::quoted;
use crate::cli::local::Appliance;
use crate::cli::output::{Output, json_line};
use anyhow::bail;
use clap::Args;
use millrace_client::{Error, RunsQuery};
use millrace_contract::v1;
use std::io::Write as _;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long the appliance is asked to wait within one request.
const WAIT_MS: u64 = 10_000;
/// Between two questions whether a run has ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// Which runs.
#[derive(Debug, Args)]
pub(in crate::cli) struct RunsArgs {
    /// The pipeline.
    name: String,
    /// A run's id: shows this one with each step's input, output, time and fault, as far as the
    /// pipeline keeps them.
    run: Option<String>,
    /// Only runs with this status: queued, running, waiting, ok, failed, stopped or skipped; several
    /// with commas between. What was canceled has stopped, and `canceled` is taken for it.
    #[arg(long)]
    status: Option<String>,
    /// Begun from here: RFC 3339, a date, an epoch number, or back from now: -1h, -15m, -7d.
    #[arg(long, allow_hyphen_values = true)]
    from: Option<String>,
    /// Begun before this time.
    #[arg(long, allow_hyphen_values = true)]
    to: Option<String>,
    /// At most so many.
    #[arg(long, default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    output: Output,
}

/// Which runs to cancel.
#[derive(Debug, Args)]
pub(in crate::cli) struct CancelArgs {
    /// The pipeline.
    name: String,
    /// Ids of runs; `millrace pipeline runs NAME --status queued,running,waiting` lists them.
    #[arg(required = true)]
    runs: Vec<String>,
    #[command(flatten)]
    output: Output,
}

/// Which run to start.
#[derive(Debug, Args)]
pub(in crate::cli) struct TriggerArgs {
    /// The pipeline; it must be deployed.
    name: String,
    /// The run's input, a JSON object; the trigger's own when left out.
    #[arg(long, value_name = "JSON", conflicts_with = "again")]
    input: Option<String>,
    /// The trigger step, where the pipeline has several manual ones.
    #[arg(long, value_name = "STEP", conflicts_with = "again")]
    trigger: Option<String>,
    /// Takes the input of this earlier run.
    #[arg(long, value_name = "RUN")]
    again: Option<String>,
    /// Does not wait for the run's end.
    #[arg(long)]
    no_wait: bool,
    /// Waits so long for the run's end.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    wait: u64,
    #[command(flatten)]
    output: Output,
}

pub(super) async fn runs(appliance: &Appliance, args: &RunsArgs) -> anyhow::Result<()> {
    let (workspace, name) = split(&args.name);
    if let Some(run) = &args.run {
        let found = asked(appliance.api.run(workspace, name, run), "show a run of", &args.name);
        let Some(detail) = found.await? else {
            let name = quoted(&args.name);
            bail!(
                "there is no run {run} of {}, or it is not kept any more; `millrace pipeline runs \
                 {name}` lists its runs",
                args.name
            );
        };
        return tell(&detail, args.output);
    }
    let query = RunsQuery {
        status: args.status.clone(),
        from: args.from.clone(),
        to: args.to.clone(),
        limit: args.limit,
    };
    let all = asked(appliance.api.runs(workspace, name, &query), "list runs of", &args.name);
    for run in all.await? {
        if args.output.is_json() {
            json_line(&run)?;
        } else {
            writeln!(std::io::stdout(), "{}", shown::run(&run))?;
        }
    }
    Ok(())
}

pub(super) async fn cancel(appliance: &Appliance, args: &CancelArgs) -> anyhow::Result<()> {
    let (workspace, name) = split(&args.name);
    for run in &args.runs {
        let canceling = appliance.api.cancel_run(workspace, name, run);
        let canceled = asked(canceling, "cancel a run of", &args.name).await?;
        if args.output.is_json() {
            json_line(&canceled)?;
            continue;
        }
        let what = match canceled.was {
            v1::RunStatus::Running => "ends within its script or behind its step",
            _ => "ends",
        };
        writeln!(std::io::stdout(), "{run} was {}: it {what}.", canceled.was.name())?;
    }
    Ok(())
}

pub(super) async fn trigger(appliance: &Appliance, args: &TriggerArgs) -> anyhow::Result<()> {
    let (workspace, name) = split(&args.name);
    let started = match &args.again {
        Some(run) => {
            let again = appliance.api.run_again(workspace, name, run);
            asked(again, "run again", &args.name).await?
        }
        None => {
            let input = args.input.as_deref().map(serde_json::from_str).transpose();
            let Ok(input) = input else {
                bail!("--input takes a JSON object, such as '{{\"value\": 1}}'");
            };
            let wait_ms = (!args.no_wait).then_some(WAIT_MS.min(args.wait.saturating_mul(1_000)));
            let run = v1::NewRun { trigger: args.trigger.clone(), input, wait_ms };
            let started = appliance.api.trigger_pipeline(workspace, name, &run).await;
            let next = started.as_ref().err().and_then(|error| next_to_trigger(error, args));
            let started = asked(async { started }, "trigger", &args.name).await;
            match next {
                Some(next) => started.map_err(|error| anyhow::anyhow!("{error:#}; {next}"))?,
                None => started?,
            }
        }
    };
    if args.no_wait {
        if args.output.is_json() {
            return json_line(&started);
        }
        writeln!(std::io::stdout(), "{}", started.id)?;
        return Ok(());
    }
    let detail = match started.ended {
        Some(detail) => detail,
        None => wait(appliance, args, &started.id).await?,
    };
    tell(&detail, args.output)?;
    match detail.run.status {
        v1::RunStatus::Ok => Ok(()),
        status => bail!("the run {} ended as {}", started.id, status.name()),
    }
}

/// What to do about a run that cannot be started.
fn next_to_trigger(error: &Error, args: &TriggerArgs) -> Option<String> {
    let Error::Refused { detail, .. } = error else { return None };
    let name = quoted(&args.name);
    match (detail.code, detail.field.as_deref()) {
        (v1::ErrorCode::Conflict, None) if detail.message.contains("deploy") => {
            Some(format!("`millrace pipeline deploy {name}` lets it run"))
        }
        (v1::ErrorCode::Invalid, Some("trigger")) if detail.message.contains("nobody") => {
            Some(format!("`millrace pipeline test {name}` runs its test cases"))
        }
        (v1::ErrorCode::Invalid, Some("trigger")) => {
            Some(format!("name one with --trigger; `millrace pipeline show {name}` lists them"))
        }
        _ => None,
    }
}

/// Asks until the run has ended.
async fn wait(
    appliance: &Appliance,
    args: &TriggerArgs,
    run: &str,
) -> anyhow::Result<v1::RunDetail> {
    let (workspace, name) = split(&args.name);
    let limit = Duration::from_secs(args.wait);
    let started = Instant::now();
    while started.elapsed() < limit {
        let found = asked(appliance.api.run(workspace, name, run), "ask for", run).await?;
        if let Some(detail) = found.filter(|detail| detail.run.status.has_ended()) {
            return Ok(detail);
        }
        sleep(LOOK_INTERVAL).await;
    }
    bail!(
        "the run {run} goes on, but {} s are over; `millrace pipeline runs {} {run}` shows how it \
         ends",
        args.wait,
        quoted(&args.name)
    )
}

fn tell(detail: &v1::RunDetail, output: Output) -> anyhow::Result<()> {
    if output.is_json() {
        return json_line(detail);
    }
    let mut out = std::io::stdout().lock();
    for line in shown::run_detail(detail) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
