//! One line of rates that refreshes on a terminal; elsewhere a line every ten seconds.

use super::output::counted;
use crate::wiring::{Appliance, Rates};
use indicatif::{ProgressBar, ProgressStyle};
use millrace_supervisor::{Shutdown, spawn};
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

/// The line's task.
#[derive(Debug)]
pub(super) struct StatusLine(Option<JoinHandle<()>>);

impl StatusLine {
    /// Starts showing rates, if wanted.
    pub(super) fn start(
        wanted: bool,
        appliance: &Appliance,
        shutdown: Shutdown,
    ) -> anyhow::Result<Self> {
        if !wanted {
            return Ok(Self(None));
        }
        let rates = appliance.rates();
        let terminal = std::io::stdout().is_terminal();
        let bar = ProgressBar::new_spinner();
        bar.set_style(ProgressStyle::with_template("{spinner} {msg}")?);
        let period = Duration::from_secs(if terminal { 1 } else { 10 });
        let task = spawn::task("status-line", async move {
            // Half a period off: devices that send on the full second since their start would
            // else fall now on this side of a tick and now on that.
            let mut tick = interval_at(Instant::now() + period / 2, period);
            tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
            tick.tick().await;
            let (mut before, mut read_at) = (rates.read(), Instant::now());
            loop {
                tokio::select! {
                    _ = tick.tick() => {}
                    () = shutdown.begun() => break,
                }
                let now = rates.read();
                let text = describe(&before, &now, read_at.elapsed());
                (before, read_at) = (now, Instant::now());
                if terminal {
                    bar.set_message(text);
                    bar.tick();
                } else if writeln!(std::io::stdout(), "{text}").is_err() {
                    // Nobody reads any more.
                    break;
                }
            }
            bar.finish_and_clear();
        });
        Ok(Self(Some(task)))
    }

    /// Waits until the line has gone.
    pub(super) async fn end(self) {
        if let Some(task) = self.0 {
            // A line that failed to draw is no reason not to stop.
            let _gone = task.await.is_err();
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "rates for the eye")]
fn describe(before: &Rates, now: &Rates, period: Duration) -> String {
    let rate = |new: u64, old: u64| new.saturating_sub(old) as f64 / period.as_secs_f64();
    format!(
        "{:.0} values/s stored  {:.0} refused/s  {:.0} commits/s  {}  {}  {}  {} stored in all",
        rate(now.stored, before.stored),
        rate(now.refused, before.refused),
        rate(now.commits, before.commits),
        counted(now.connections, "device"),
        counted(now.tags, "topic"),
        counted(now.issues, "issue"),
        now.stored,
    )
}
