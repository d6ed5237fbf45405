//! `millrace calibrate`: measures what this machine costs and keeps it as the profile `box`.

use super::local::Appliance;
use super::output::{Output, json_line};
use super::sizing::BOX_PROFILE;
use super::{Place, check};
use crate::calibrate::{Ended, Guard, Progress, Wish, calibrate};
use anyhow::{Context as _, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use millrace_journal::{Disk as _, RealDisk};
use millrace_sizing::Profile;
use millrace_supervisor::Shutdown;
use serde::{Deserialize, Serialize};
use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
A private box is started in a folder of its own below the data folder, on the same disk, with
clients, topics and pipelines of its own; production is not touched. It is loaded with at most some
40,000 values and 4,000 runs a second, and stops by itself when production's commits or threads
begin to wait longer than before. Ctrl-C ends it; nothing is left behind either way.

Examples:
  millrace calibrate
  millrace calibrate --out press-hall-server.json
  millrace sizing --input plan.toml --profile box";

/// How long threads may take to end after everything has stopped.
const END_LIMIT: Duration = Duration::from_secs(5);

/// How to measure.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CalibrateArgs {
    /// How long the loads are measured together.
    #[arg(long, value_name = "SECONDS", default_value_t = 170,
          value_parser = clap::value_parser!(u64).range(20..=3600))]
    seconds: u64,
    /// Writes the profile here instead of keeping it as this box's own.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// For a program that watches: progress as JSON lines, and an end of standard input cancels.
    #[arg(long, hide = true)]
    piped: bool,
    #[command(flatten)]
    output: Output,
}

/// A line of `--piped`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(crate) enum PipedLine {
    /// How far it is.
    Progress {
        /// What it does now.
        text: String,
        /// The share that is done.
        done: f64,
        /// Seconds that are left.
        left_s: f64,
    },
    /// The profile is kept.
    Measured,
    /// It was cancelled.
    Cancelled,
    /// Production began to wait.
    Yielded {
        /// Why it gave way.
        text: String,
    },
}

pub(super) fn run(place: &Place, args: &CalibrateArgs) -> anyhow::Result<()> {
    let data = check::load(place)?.config.data_dir;
    let wish = Wish { data: data.clone(), duration: Duration::from_secs(args.seconds) };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("network")
        .enable_all()
        .build()
        .context("start the runtime")?;
    let ended = runtime.block_on(async {
        let cancel = Shutdown::new();
        let signals = super::run::Signals::listen()?;
        if args.piped {
            cancel_at_end_of_input(cancel.clone())?;
        }
        // Without an appliance there is no production to give way to.
        let guard = Appliance::connect(place).ok().map(|production| Guard::new(production.api));
        let bar = Bar::new(args.piped)?;
        let measuring = calibrate(&wish, guard, &cancel, |progress| bar.show(progress));
        tokio::pin!(measuring);
        let ended = tokio::select! {
            ended = &mut measuring => ended,
            () = signals.wait() => {
                cancel.begin();
                measuring.await
            }
        };
        bar.finish();
        ended
    });
    runtime.shutdown_timeout(END_LIMIT);
    match ended? {
        Ended::Measured(profile) => keep(&profile, &data, args),
        Ended::Cancelled if args.piped => json_line(&PipedLine::Cancelled),
        Ended::Cancelled => bail!("cancelled; nothing was kept and nothing is left behind"),
        Ended::Yielded(text) if args.piped => json_line(&PipedLine::Yielded { text }),
        Ended::Yielded(text) => bail!("{text}; try again when there is less load"),
    }
}

/// Writes the profile and tells what was measured.
fn keep(profile: &Profile, data: &std::path::Path, args: &CalibrateArgs) -> anyhow::Result<()> {
    let file = args.out.clone().unwrap_or_else(|| data.join(BOX_PROFILE));
    let text = format!("{}\n", profile.to_json());
    RealDisk
        .durable_write(&file, text.as_bytes())
        .with_context(|| format!("write {}", file.display()))?;
    if args.piped {
        return json_line(&PipedLine::Measured);
    }
    if args.output.is_json() {
        return json_line(profile);
    }
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}, measured {}", profile.machine, profile.measured)?;
    for key in millrace_sizing::profile::CostKey::ALL {
        if profile.source_of(key).starts_with("Measured here")
            && let Some(value) = profile.cost(key)
        {
            writeln!(
                out,
                "  {:<16} {value:>10.3} {:<3} {}",
                key.name(),
                key.unit(),
                key.meaning()
            )?;
        }
    }
    let name = match &args.out {
        Some(file) => file.display().to_string(),
        None => "box".to_owned(),
    };
    writeln!(out, "Kept. Size with it: millrace sizing --input plan.toml --profile {name}")?;
    Ok(())
}

/// Whoever started this holds its standard input open; when that ends, so does the measurement.
fn cancel_at_end_of_input(cancel: Shutdown) -> anyhow::Result<()> {
    let watching = move || {
        let mut line = String::new();
        // A line, an end and a fault are all a wish to stop.
        let _ended = std::io::stdin().lock().read_line(&mut line).is_ok();
        cancel.begin();
    };
    millrace_supervisor::spawn::thread("stdin", watching).context("watch standard input")?;
    Ok(())
}

/// Progress, for a person or a program.
enum Bar {
    Person(ProgressBar),
    Program,
}

impl Bar {
    fn new(piped: bool) -> anyhow::Result<Self> {
        if piped {
            return Ok(Self::Program);
        }
        let bar = ProgressBar::new(1000);
        bar.set_style(ProgressStyle::with_template("{bar:40} {msg}")?);
        Ok(Self::Person(bar))
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 1000")]
    fn show(&self, progress: &Progress) {
        let left_s = progress.left.as_secs_f64();
        match self {
            Self::Person(bar) => {
                bar.set_position((progress.done.clamp(0.0, 1.0) * 1000.0) as u64);
                bar.set_message(format!("{left_s:.0} s left  {}", progress.text));
            }
            Self::Program => {
                let (text, done) = (progress.text.clone(), progress.done);
                // When nobody reads any more, standard input has ended too.
                let _told = json_line(&PipedLine::Progress { text, done, left_s }).is_ok();
            }
        }
    }

    fn finish(&self) {
        if let Self::Person(bar) = self {
            bar.finish_and_clear();
        }
    }
}
