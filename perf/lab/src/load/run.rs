//! The load generator's whole life: read the spec, connect, run the phases, report.
//!
//! **Invariants**
//! - Exactly one last line: `done` or `failed`.

use std::io::{self, Write as _};
use std::num::NonZeroU64;
use std::time::Duration;

use anyhow::{Context, Result};

use super::crowd::Crowd;
use super::frame;
use super::phase::{self, Window};
use super::resend;
use super::spec::{Event, Report, Spec};
use super::tally::latency;
use crate::measure::process;

const CONNECT_LIMIT: Duration = Duration::from_secs(60);

/// The body of the hidden `load` subcommand.
pub(crate) fn run() -> Result<()> {
    let outcome = run_spec(&mut tell);
    let last = match outcome {
        Ok(report) => Event::Done(Box::new(report)),
        Err(error) => Event::Failed { why: format!("{error:#}") },
    };
    tell(last);
    Ok(())
}

fn run_spec(tell: &mut dyn FnMut(Event)) -> Result<Report> {
    // The default slack of 50 us would make the generator late by design.
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1_000)).context("set timer slack")?;
    let spec: Spec = serde_json::from_reader(io::stdin().lock()).context("read the spec")?;
    let mut crowd = Crowd::new(spec)?;
    crowd.listen()?;
    let cpu_before = server_cpu(&crowd);
    let dialing = crowd.clock.now();
    crowd.connect_all(CONNECT_LIMIT)?;
    let connect_ms = (crowd.clock.now() - dialing) as f64 / 1e6;
    let sign_in_cpu = server_cpu(&crowd).saturating_sub(cpu_before);
    let sign_in = latency(&crowd.tally.sign_in);
    tell(Event::Connected);
    let mut first_contact = None;
    if crowd.spec.first_contact {
        let found = phase::first_contact(&mut crowd)?;
        tell(Event::FirstContact(found));
        first_contact = Some(found);
    }
    let has_load = crowd.spec.rate_per_s > 0.0 || crowd.spec.values_per_client > 0;
    let window = if has_load { Some(phase::load(&mut crowd, tell)?) } else { None };
    resend::come_back(&mut crowd, tell)?;
    let report = Report {
        connect_ms,
        sign_in,
        sign_in_cpu_us: sign_in_cpu.as_secs_f64() * 1e6,
        first_contact,
        ..report(&crowd, window.as_ref())
    };
    if let Some(file) = &crowd.spec.book {
        crowd.book.save(file)?;
    }
    sign_out(&mut crowd);
    Ok(report)
}

/// By the nanoseconds of its threads: a sign-in takes less than a tick.
fn server_cpu(crowd: &Crowd) -> Duration {
    let usage = crowd.spec.server_pid.and_then(|pid| process::usage(pid).ok());
    usage.map_or(Duration::ZERO, |usage| usage.threads.iter().map(|(_, spent)| *spent).sum())
}

fn report(crowd: &Crowd, window: Option<&Window>) -> Report {
    let tally = &crowd.tally;
    let spec = &crowd.spec;
    let most = crowd.clients.iter().map(|client| client.sent_before + client.sent).max();
    let mut report = Report {
        sent: tally.sent,
        acknowledged: tally.acknowledged,
        refused: tally.refused,
        refusals: tally.refusals.clone(),
        resent: tally.resent,
        open: crowd.in_flight as u64,
        ack: latency(&tally.ack),
        verdict: (tally.verdict.count() > 0).then(|| latency(&tally.verdict)),
        verdicts_refused: tally.verdicts_refused,
        lag: latency(&tally.lag),
        counter_next: spec.counter_first + most.unwrap_or(0) / u64::from(spec.tags.max(1)) + 1,
        ..Report::default()
    };
    let Some(Window { open, close, offered }) = window else { return report };
    let seconds = (close.at - open.at).max(1) as f64 / 1e9;
    let own = close.own_cpu.saturating_sub(open.own_cpu);
    let server = close.server.cpu.saturating_sub(open.server.cpu);
    let busy = close.cores.busy.saturating_sub(open.cores.busy);
    let stolen = close.cores.stolen.saturating_sub(open.cores.stolen);
    if !crowd.listeners.is_empty() {
        report.derived = Some(latency(&tally.derived));
        report.derived_by_tag = tally.derived_by_tag.iter().map(latency).collect();
    }
    for listener in &crowd.listeners {
        report.derived_arrived += listener.arrived;
        report.derived_repeated += listener.repeated;
        report.derived_overtaken += listener.overtaken;
    }
    report.window_s = seconds;
    report.window_offered = *offered;
    report.window_sent = close.sent - open.sent;
    report.window_acknowledged = close.acknowledged - open.acknowledged;
    report.window_bytes_out = close.bytes_out - open.bytes_out;
    report.window_bytes_in = close.bytes_in - open.bytes_in;
    report.generator_cpu_share = own.as_secs_f64() / seconds;
    report.server_cpu_us = server.as_secs_f64() * 1e6;
    report.foreign_cpu_share = busy.saturating_sub(own + server).as_secs_f64() / seconds;
    report.stolen_cpu_share = stolen.as_secs_f64() / seconds;
    report.server_switches = close.server.switches.saturating_sub(open.server.switches);
    report.server_threads_us = close
        .server
        .threads
        .iter()
        .map(|(name, spent)| {
            let before = open.server.threads.iter().find(|(known, _)| known == name);
            let before = before.map_or(Duration::ZERO, |(_, spent)| *spent);
            (name.clone(), spent.saturating_sub(before).as_secs_f64() * 1e6)
        })
        .collect();
    report
}

/// A clean end, so that the next run finds no half-open sessions.
fn sign_out(crowd: &mut Crowd) {
    let mut bytes = Vec::new();
    frame::disconnect(&mut bytes);
    for client in &mut crowd.clients {
        client.write(&bytes);
        client.disconnected();
    }
}

fn tell(event: Event) {
    let line = serde_json::to_string(&event).expect("an event is plain data");
    // A lab that is gone hears nothing; the kernel ends this process with it.
    let _heard = writeln!(io::stdout().lock(), "{line}");
}
