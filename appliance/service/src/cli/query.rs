//! `millrace query`: last values, raw history, ranges.

use super::Place;
use super::local::{self, Appliance};
use super::output::Output;
use clap::{Args, Subcommand, ValueEnum};
use std::io::Write as _;

/// What to ask for.
#[derive(Debug, Subcommand)]
pub(super) enum QueryVerb {
    /// The last value of one or several topics.
    Last {
        /// WORKSPACE/PATH, one or several.
        #[arg(required = true)]
        topics: Vec<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Every sample of a topic in a time range, in the order of source time.
    Raw(RawArgs),
    /// Minimum, maximum, first and last number per interval, for a chart; empty ones are left out.
    Range(RangeArgs),
}

/// Which samples.
#[derive(Debug, Args)]
pub(super) struct RawArgs {
    /// WORKSPACE/PATH.
    topic: String,
    /// From here: RFC 3339, a date, an epoch number, or back from now: -1h, -15m, -7d.
    #[arg(long, default_value = "-1h", allow_hyphen_values = true)]
    from: String,
    /// To here, not included.
    #[arg(long, default_value = "now", allow_hyphen_values = true)]
    to: String,
    /// Form of the answer: lines of source_time,receive_time,quality,kind,value, or one JSON object
    /// a line.
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// The same as --format json.
    #[arg(long)]
    json: bool,
    /// At most so many samples; all when left out.
    #[arg(long)]
    limit: Option<u64>,
}

/// Form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Csv,
    Json,
}

/// Which range.
#[derive(Debug, Args)]
pub(super) struct RangeArgs {
    /// WORKSPACE/PATH.
    topic: String,
    /// From here: RFC 3339, a date, an epoch number, or back from now: -1h, -15m, -7d.
    #[arg(long, default_value = "-1h", allow_hyphen_values = true)]
    from: String,
    /// To here, not included.
    #[arg(long, default_value = "now", allow_hyphen_values = true)]
    to: String,
    /// Into how many intervals.
    #[arg(long, default_value_t = 60)]
    points: u32,
    /// Form of the answer: lines of start,count,min,max,first,last, or one JSON object a line.
    #[arg(long, value_enum, default_value_t = Format::Csv)]
    format: Format,
    /// The same as --format json.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(place: &Place, verb: QueryVerb) -> anyhow::Result<()> {
    let appliance = Appliance::connect(place)?;
    local::block_on(async {
        match verb {
            QueryVerb::Last { topics, output } => last(&appliance, &topics, output).await,
            QueryVerb::Raw(args) => raw(&appliance, &args).await,
            QueryVerb::Range(args) => range(&appliance, &args).await,
        }
    })
}

async fn last(appliance: &Appliance, topics: &[String], output: Output) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for topic in topics {
        let (workspace, path) = local::split_topic(topic)?;
        let found = appliance.api.last(workspace, &[path]).await;
        let found = local::about_topic(found, "ask for", topic)?;
        for value in found {
            if output.is_json() {
                writeln!(out, "{}", serde_json::to_string(&value)?)?;
                continue;
            }
            match value.sample {
                None => writeln!(out, "{topic}  no value in history")?,
                Some(sample) => writeln!(
                    out,
                    "{topic}  {} {}  source {}  received {}  quality {}",
                    sample.value.get(),
                    value.unit,
                    sample.source_time,
                    sample.receive_time,
                    sample.quality
                )?,
            }
        }
    }
    Ok(())
}

async fn raw(appliance: &Appliance, args: &RawArgs) -> anyhow::Result<()> {
    let (workspace, path) = local::split_topic(&args.topic)?;
    let query = millrace_client::RawQuery {
        path: path.to_owned(),
        from: args.from.clone(),
        to: args.to.clone(),
        limit: args.limit,
    };
    let mut out = std::io::stdout().lock();
    let format = if args.json { Format::Json } else { args.format };
    let incomplete = match format {
        Format::Csv => {
            let answer = appliance.api.raw_csv(workspace, &query, &mut out).await;
            local::about_topic(answer, "ask for", &args.topic)?
        }
        Format::Json => {
            let mut pages = appliance.api.raw(workspace, &query);
            while let Some(samples) =
                local::about_topic(pages.next().await, "ask for", &args.topic)?
            {
                for sample in samples {
                    writeln!(out, "{}", serde_json::to_string(&sample)?)?;
                }
            }
            pages.is_incomplete()
        }
    };
    out.flush()?;
    warn_incomplete(incomplete)
}

async fn range(appliance: &Appliance, args: &RangeArgs) -> anyhow::Result<()> {
    let (workspace, path) = local::split_topic(&args.topic)?;
    let answer = appliance.api.range(workspace, path, &args.from, &args.to, args.points).await;
    let answer = local::about_topic(answer, "ask for", &args.topic)?;
    let mut out = std::io::stdout().lock();
    if args.json || args.format == Format::Json {
        for bucket in &answer.buckets {
            writeln!(out, "{}", serde_json::to_string(bucket)?)?;
        }
        out.flush()?;
        return warn_incomplete(answer.incomplete);
    }
    writeln!(out, "start,count,min,max,first,last")?;
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:?}"));
    for bucket in answer.buckets {
        writeln!(
            out,
            "{},{},{},{},{},{}",
            bucket.start,
            bucket.count,
            number(bucket.min),
            number(bucket.max),
            number(bucket.first),
            number(bucket.last)
        )?;
    }
    out.flush()?;
    warn_incomplete(answer.incomplete)
}

/// On standard error, so that it does not get among the values.
fn warn_incomplete(incomplete: bool) -> anyhow::Result<()> {
    if incomplete {
        writeln!(
            std::io::stderr(),
            "This is not all: a part of history is damaged or missing. `millrace issues` says which."
        )?;
    }
    Ok(())
}
