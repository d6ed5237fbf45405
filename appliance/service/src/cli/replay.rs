//! `millrace replay`: a recording goes in as a device would send it, over MQTT.
//!
//! First the whole file is checked, then the question is settled whether the topics keep values
//! as old as the recording's, then the values go out, paced by the recording's own times and the
//! client's rate limit. Every value is answered for: stored, or refused with the row.

use super::Place;
use super::hints::quoted;
use super::local::{self, Appliance};
use super::output::counted;
use crate::publisher::{Answer, Answers, Device, Publisher};
use crate::recording::{self, Reading, Row, Survey, Zone};
use anyhow::{Context as _, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use millrace_contract::v1;
use millrace_model::Retention;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

/// Values in flight: enough to fill a commit, far below the broker's receive maximum.
const IN_FLIGHT: u16 = 500;
/// Share of the client's rate limit that a replay takes, so that jitter refuses nothing.
const RATE_SHARE: f64 = 0.9;
/// Refusals told one by one; the rest are counted.
const REFUSALS_SHOWN: usize = 10;

/// What to replay and how.
#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// The CSV file: a header, a time column, a column per topic.
    file: PathBuf,
    /// Where the columns go: each becomes the topic PATH/<column>.
    #[arg(long)]
    path: String,
    /// The workspace.
    #[arg(long, default_value = "main")]
    workspace: String,
    /// Name of the time column.
    #[arg(long, default_value = "time", value_name = "COLUMN")]
    time: String,
    /// The character between cells.
    #[arg(long, default_value_t = ',')]
    separator: char,
    /// Zone of times that carry none, e.g. Europe/Berlin; UTC when left out.
    #[arg(long)]
    zone: Option<String>,
    /// How many times faster than recorded.
    #[arg(long, default_value_t = 1.0, conflicts_with = "as_fast_as_possible")]
    speed: f64,
    /// As fast as the client's rate limit lets it.
    #[arg(long)]
    as_fast_as_possible: bool,
    /// Shifts all times by the same amount, so that the last row is now.
    #[arg(long)]
    shift_to_now: bool,
    /// Retention class of the topics that the replay creates: 1d, 7d, 14d, 32d or keep.
    #[arg(long)]
    retention: Option<String>,
    /// Signs in as this API client; without it the command makes one and revokes it at the end.
    #[arg(long, requires = "secret_file")]
    client: Option<String>,
    /// File that holds the client's secret.
    #[arg(long, value_name = "FILE")]
    secret_file: Option<PathBuf>,
}

/// Writes the sample recording.
pub(super) fn sample(file: &Path) -> anyhow::Result<()> {
    if file.as_os_str() == "-" {
        return Ok(recording::write_sample(&mut std::io::stdout().lock())?);
    }
    let mut out = std::fs::File::create_new(file)
        .with_context(|| format!("create {} (it must not exist yet)", file.display()))?;
    recording::write_sample(&mut out)?;
    writeln!(std::io::stderr(), "Wrote {}.", file.display())?;
    Ok(())
}

pub(super) fn run(place: &Place, args: &ReplayArgs) -> anyhow::Result<()> {
    let reading = args.reading()?;
    let survey = reading.survey()?;
    let mut err = std::io::stderr();
    writeln!(
        err,
        "{}: {}, {} of {}, {} to {}{}",
        args.file.display(),
        counted(survey.rows, "row"),
        counted(survey.values, "value"),
        counted(survey.columns.len(), "topic"),
        survey.first.to_rfc3339(),
        survey.last.to_rfc3339(),
        if args.zone.is_none() { " (times without zone read as UTC)" } else { "" },
    )?;
    // A decimal comma makes a text of a number, which nobody wants to find out on a chart.
    for (column, text) in &survey.texts {
        writeln!(err, "  '{column}' holds text, such as {text}")?;
    }
    local::block_on(async {
        let appliance = Appliance::connect(place)?;
        let shift = args.settle_times(&appliance, &survey).await?;
        let (device, made) = args.device(&appliance).await?;
        let rate = appliance.client_rate(&device.id).await?;
        let prefix =
            format!("{}/{}/_ingress/{}/{}", appliance.root, args.workspace, device.id, args.path);
        let sending = Sending { args, reading: &reading, survey: &survey, shift, rate, prefix };
        let before = redelivered(&appliance, &device.id).await?;
        let outcome = sending.run(&device).await;
        let after = redelivered(&appliance, &device.id).await?;
        if made {
            appliance.api.revoke_client(&device.id).await.context("revoke the replay's client")?;
        }
        outcome?.report(&survey, after.saturating_sub(before))
    })
}

/// Values of a client that were in history already, as the ledger counts them.
async fn redelivered(appliance: &Appliance, id: &str) -> anyhow::Result<u64> {
    let ledger = appliance.api.ledger().await.context("ask for the ledger")?;
    let row = ledger.clients.iter().find(|row| row.id == id);
    Ok(row.map_or(0, |row| row.counts.redelivered))
}

impl ReplayArgs {
    fn reading(&self) -> anyhow::Result<Reading> {
        if self.path.contains(['+', '#']) {
            bail!(
                "--path takes the beginning of the topics, without `+` and `#`: with --path plant/pump \
                 the column Pressure becomes plant/pump/Pressure"
            );
        }
        if !(self.speed.is_finite() && self.speed > 0.0) {
            bail!("--speed takes a number above 0");
        }
        let separator = u8::try_from(self.separator).ok().filter(u8::is_ascii);
        Ok(Reading {
            file: self.file.clone(),
            time_column: self.time.clone(),
            separator: separator.context("--separator takes one ASCII character")?,
            zone: match &self.zone {
                Some(name) => Zone::named(name)?,
                None => Zone::utc(),
            },
        })
    }

    /// How far to shift the recording's times, or why it cannot be kept as it is.
    async fn settle_times(&self, appliance: &Appliance, survey: &Survey) -> anyhow::Result<i64> {
        let now = local::now();
        if self.shift_to_now {
            return Ok(now.nanos_since(survey.last));
        }
        for column in &survey.columns {
            let path = format!("{}/{column}", self.path);
            let (class, is_new) = self.class_of(appliance, &path).await?;
            let Some(age) = class.age_nanos() else { continue };
            if now.nanos_since(survey.first) > age {
                let topic = format!("{}/{path}", self.workspace);
                let keep = match is_new {
                    true => "Give --retention keep".to_owned(),
                    false => {
                        let quoted = quoted(&topic);
                        format!("Run `millrace tag set {quoted} --retention keep` before")
                    }
                };
                bail!(
                    "the recording begins at {}, and {topic} keeps only {} of history. {keep}, or \
                     give --shift-to-now to move the recording to the present",
                    survey.first.to_rfc3339(),
                    class.name(),
                );
            }
        }
        Ok(0)
    }

    /// How long a topic's history is kept, and whether the replay will create it.
    async fn class_of(
        &self,
        appliance: &Appliance,
        path: &str,
    ) -> anyhow::Result<(Retention, bool)> {
        if let Some(tag) = appliance.tag(&self.workspace, path).await? {
            return Ok((local::retention(tag.retention), false));
        }
        let named = match (&self.retention, &self.client) {
            (Some(name), _) => Some(local::parse_retention(name)?),
            (None, Some(id)) => appliance.client_retention(id).await?,
            (None, None) => None,
        };
        let class = match named {
            Some(class) => class,
            None => appliance.default_retention().await?,
        };
        Ok((class, true))
    }

    /// The device to publish as, and whether it was made for this replay.
    async fn device(&self, appliance: &Appliance) -> anyhow::Result<(Device, bool)> {
        let address = appliance.mqtt;
        if let (Some(id), Some(file)) = (&self.client, &self.secret_file) {
            let secret = std::fs::read_to_string(file)
                .with_context(|| format!("read the secret from {}", file.display()))?;
            let secret = secret.trim().to_owned();
            return Ok((
                Device { address, id: id.clone(), secret, in_flight_max: IN_FLIGHT },
                false,
            ));
        }
        let retention = self.retention.as_deref().map(local::parse_retention).transpose()?;
        let new = v1::NewClients {
            name: format!("replay-{}", self.path.replace('/', "-")),
            count: 1,
            workspace: self.workspace.clone(),
            publish: vec![format!("{}/#", self.path)],
            subscribe: Vec::new(),
            may_create: true,
            retention: retention.map(local::retention_dto),
            rate_per_s: None,
        };
        let created =
            appliance.api.create_clients(&new).await.context("make a client to replay as")?;
        let made = created.clients.into_iter().next().context("the appliance made no client")?;
        let device =
            Device { address, id: made.client.id, secret: made.secret, in_flight_max: IN_FLIGHT };
        Ok((device, true))
    }
}

/// One pass of values to the broker.
struct Sending<'a> {
    args: &'a ReplayArgs,
    reading: &'a Reading,
    survey: &'a Survey,
    shift: i64,
    rate: u32,
    prefix: String,
}

#[derive(Default)]
struct Outcome {
    stored: u64,
    refused: BTreeMap<String, u64>,
    shown: Vec<String>,
}

impl Sending<'_> {
    async fn run(&self, device: &Device) -> anyhow::Result<Outcome> {
        let (publisher, mut answers) = device.halves();
        let bar = progress(self.survey.values);
        let receive = self.receive(&mut answers, &bar);
        let send = self.send(&publisher);
        // Both must end well; the first failure ends the replay.
        let ((), outcome) = tokio::try_join!(send, receive)?;
        bar.finish_and_clear();
        publisher.disconnect().await;
        Ok(outcome)
    }

    async fn send(&self, publisher: &Publisher) -> anyhow::Result<()> {
        let mut pace = Pace::new(self.rate);
        let started = Instant::now();
        let mut rows = self.reading.rows()?;
        while let Some(row) = rows.next()? {
            if !self.args.as_fast_as_possible {
                let since_first = row.time.nanos_since(self.survey.first).max(0).unsigned_abs();
                let due = Duration::from_nanos(since_first).div_f64(self.args.speed);
                tokio::time::sleep_until(started + due).await;
            }
            self.send_row(publisher, &row, &mut pace).await?;
        }
        Ok(())
    }

    async fn send_row(
        &self,
        publisher: &Publisher,
        row: &Row,
        pace: &mut Pace,
    ) -> anyhow::Result<()> {
        let time = row.time.plus_nanos(self.shift).to_rfc3339();
        for (column, value) in self.survey.columns.iter().zip(&row.values) {
            let Some(value) = value else { continue };
            pace.wait().await;
            let payload = format!("{{\"value\":{value},\"timestamp\":\"{time}\"}}");
            let topic = format!("{}/{column}", self.prefix);
            publisher.publish(row.line, topic, payload.into_bytes()).await?;
        }
        Ok(())
    }

    async fn receive(&self, answers: &mut Answers, bar: &ProgressBar) -> anyhow::Result<Outcome> {
        let mut outcome = Outcome::default();
        for _ in 0..self.survey.values {
            let Answer { label: line, refusal } = answers.next().await?;
            bar.inc(1);
            match refusal {
                None => outcome.stored += 1,
                Some(reason) => {
                    if outcome.shown.len() < REFUSALS_SHOWN {
                        outcome.shown.push(format!("row {line}: {reason}"));
                    }
                    *outcome.refused.entry(reason).or_default() += 1;
                }
            }
        }
        Ok(outcome)
    }
}

impl Outcome {
    /// A value that history had already is acknowledged as any other; the ledger tells them apart.
    fn report(&self, survey: &Survey, redelivered: u64) -> anyhow::Result<()> {
        let mut out = std::io::stdout().lock();
        let stored = self.stored.saturating_sub(redelivered);
        writeln!(out, "{stored} of {} stored.", counted(survey.values, "value"))?;
        if redelivered > 0 {
            writeln!(out, "In history already, with the same time and value: {redelivered}.")?;
        }
        if self.refused.is_empty() {
            return Ok(());
        }
        for line in &self.shown {
            writeln!(out, "  {line}")?;
        }
        for (reason, count) in &self.refused {
            writeln!(out, "  refused {count}: {reason}")?;
        }
        bail!(
            "refused: {}; correct what the reasons name and replay again",
            counted(self.refused.values().sum::<u64>(), "value")
        )
    }
}

/// Spreads values so that the client's limit is never reached.
struct Pace {
    started: Instant,
    sent: u64,
    per_second: Option<f64>,
}

impl Pace {
    fn new(rate: u32) -> Self {
        let per_second = (rate > 0).then(|| f64::from(rate) * RATE_SHARE);
        Self { started: Instant::now(), sent: 0, per_second }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    async fn wait(&mut self) {
        if let Some(rate) = self.per_second {
            let due = self.started + Duration::from_secs_f64(self.sent as f64 / rate);
            if due > Instant::now() {
                tokio::time::sleep_until(due).await;
            } else if Instant::now() - due > Duration::from_millis(500) {
                // A pause (a gap in the recording) must not be caught up in one burst.
                self.started = Instant::now();
                self.sent = 0;
            }
        }
        self.sent += 1;
    }
}

fn progress(values: u64) -> ProgressBar {
    let bar = ProgressBar::new(values);
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} values  {per_sec}  {eta} left");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;
    use millrace_model::Timestamp;

    #[test]
    fn a_class_that_does_not_exist_is_named() {
        let error = local::parse_retention("2d").unwrap_err().to_string();
        assert!(error.contains("'2d' is no retention class"), "{error}");
        assert_eq!(local::parse_retention("keep").unwrap(), Retention::Keep);
    }

    #[test]
    fn a_shift_moves_the_last_row_to_now() {
        let (last, now) = (Timestamp(1_000), Timestamp(5_000));
        assert_eq!(last.plus_nanos(now.nanos_since(last)), now);
    }
}
