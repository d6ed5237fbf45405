//! Other devices that send meanwhile, on topics of their own.
//!
//! **Invariants**
//! - They have API clients of their own and count on from load to load, so that all that they sent
//!   can be read back.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::bench::{Bench, plan};
use super::row::{Plan, Wish, spec};
use crate::load::book;
use crate::load::handle::Load;
use crate::load::spec::{Credential, Event, Keep, Report};
use crate::readback::{Comparison, read_back_below};
use crate::stop;

/// In front of their paths.
const PREFIX: &str = "beside/";
/// Topics of theirs that are read back.
const READ_BACK_TOPICS: u32 = 40;
const EVENT_LIMIT: Duration = Duration::from_secs(120);

/// The devices.
pub(crate) struct Others {
    clients: Vec<Credential>,
    tags: u32,
    rate: f64,
    counter_next: u64,
    book: PathBuf,
    /// What was found of all their loads.
    pub(crate) compared: Comparison,
    pub(crate) reports: Vec<Report>,
}

impl Others {
    /// `rate` is values a second of all of them.
    pub(crate) fn new(bench: &Bench<'_>, devices: usize, tags: u32, rate: f64) -> Result<Self> {
        Ok(Self {
            clients: bench.appliance.create_clients(devices)?,
            tags,
            rate,
            counter_next: 0,
            book: bench.folder.path().join("book-beside"),
            compared: Comparison::default(),
            reports: Vec::new(),
        })
    }

    /// Starts them, and returns once they are measured; they send for `seconds` from then on.
    pub(crate) fn start(&self, bench: &Bench<'_>, seconds: u64) -> Result<Load> {
        let target = bench.appliance.target(self.clients.clone());
        let wish = Wish {
            prefix: PREFIX.into(),
            counter_first: self.counter_next,
            keep: Keep::Sample(READ_BACK_TOPICS),
            book: Some(self.book.clone()),
            ..Wish::default()
        };
        let plan =
            Plan { warmup_ms: 300, ..plan(self.clients.len(), self.tags, self.rate, seconds) };
        let load = Load::start(&spec(&target, &plan, &wish), bench.common.cpus.load)?;
        loop {
            let event =
                load.next(EVENT_LIMIT, &mut || Ok(())).context("start the other devices")?;
            match event {
                Event::Measuring => return Ok(load),
                Event::Connected => {}
                other => bail!("the other devices said {other:?} before they began"),
            }
        }
    }

    /// Waits for their end and reads back what they sent.
    pub(crate) fn finish(&mut self, load: &Load, bench: &mut Bench<'_>) -> Result<()> {
        let report = load.finish(EVENT_LIMIT, &mut |_| {}, &mut || Ok(()))?;
        self.counter_next = report.counter_next;
        self.reports.push(report);
        let entries = book::read(&self.book)?;
        let (tags, began) = (self.tags, bench.began);
        let found =
            read_back_below(&mut bench.http, PREFIX, &entries, tags, began, &mut stop::check)?;
        self.compared.add(found);
        Ok(())
    }
}
