//! Measuring what this machine costs, beside production: a private box in a folder of its own on the
//! same disk, with clients, topics and pipelines of its own, loaded for about three minutes.
//!
//! Production is not touched: nothing is created in it, so nothing can be left behind in it. The
//! private box and the load run in this one process; the load has a thread of its own, and what the
//! process used beside that thread is the box's. Seven loads are measured in turn, three rounds each,
//! and the medians become a profile ([`millrace_sizing::calibration`]).
//!
//! **Invariants**
//! - The private box listens on loopback with ports that the system gives, and lives in a folder that
//!   is removed whatever happens; what a kill leaves is removed at the next start.
//! - The load is bounded: at most some 40,000 values and 4,000 runs a second, and scripts for a fifth
//!   of a core.
//! - It stops as soon as production's values or threads begin to wait longer than before.

mod generator;
mod guard;
mod place;
mod private_box;
mod rounds;
mod wire;

pub(crate) use guard::Guard;
pub(crate) use place::sweep;

use anyhow::Context as _;
use millrace_sizing::calibration::{self, About};
use millrace_sizing::{Problem, Profile};
use millrace_supervisor::{Clock as _, Shutdown, SystemClock};
use std::path::PathBuf;
use std::time::Duration;

/// What to measure with.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    /// The data folder of the box that this machine runs; the private one lies below it.
    pub(crate) data: PathBuf,
    /// How long all loads are measured together.
    pub(crate) duration: Duration,
}

/// How far it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Progress {
    /// What it does now.
    pub(crate) text: String,
    /// The share that is done.
    pub(crate) done: f64,
    /// What is left.
    pub(crate) left: Duration,
}

/// How it ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// With a profile.
    Measured(Box<Profile>),
    /// Somebody cancelled it.
    Cancelled,
    /// Production began to wait; why.
    Yielded(String),
}

/// Measures; `cancel` ends it early, in good order.
///
/// # Errors
/// When the private box cannot be started, or what was measured contradicts itself.
pub(crate) async fn calibrate(
    wish: &Wish,
    guard: Option<Guard>,
    cancel: &Shutdown,
    mut tell: impl FnMut(&Progress),
) -> anyhow::Result<Ended> {
    tell(&Progress { text: "starting a private box".to_owned(), done: 0.0, left: wish.duration });
    let place = place::Place::claim(&wish.data)?;
    let private = private_box::PrivateBox::start(&place).await?;
    let measured = rounds::measure(&private, guard, wish.duration, cancel, &mut tell).await;
    // Whatever came out: the box is stopped before its folder goes.
    let stopped = private.stop().await;
    drop(place);
    let observations = match measured? {
        rounds::Outcome::Measured(observations) => observations,
        rounds::Outcome::Cancelled => return Ok(Ended::Cancelled),
        rounds::Outcome::Yielded(why) => return Ok(Ended::Yielded(why)),
    };
    stopped.context("stop the private box")?;
    let base = Profile::named("millrace").map_err(|problems| told(&problems))?;
    let profile = calibration::profile(&observations, &base, &about(wish))
        .map_err(|problems| told(&problems))?;
    Ok(Ended::Measured(Box::new(profile)))
}

fn told(problems: &[Problem]) -> anyhow::Error {
    let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
    anyhow::anyhow!("{}", all.join(" "))
}

fn about(wish: &Wish) -> About {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let now = SystemClock::new().now().to_rfc3339();
    About {
        machine: format!("{} with {cores} logical cores", processor()),
        measured: now.split('T').next().unwrap_or(&now).to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        method: format!(
            "millrace calibrate, {} loads in {} rounds over {} s, medians; production beside it",
            calibration::Load::ALL.len(),
            rounds::ROUNDS,
            wish.duration.as_secs()
        ),
    }
}

/// What the system calls the processor, where it tells.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim().to_owned());
    name.unwrap_or_else(|| format!("A processor ({})", std::env::consts::ARCH))
}
