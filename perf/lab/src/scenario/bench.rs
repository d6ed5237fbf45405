//! An appliance with devices and a live subscriber, for rows of pipelines' runs.
//!
//! **Invariants**
//! - Each row goes on with the counters where the one before ended, so that a value read back names
//!   one message of the whole call.

use std::path::PathBuf;

use anyhow::Result;
use indicatif::ProgressBar;
use tempfile::TempDir;

use super::flows::TWIN;
use super::options::{Common, Durability};
use super::row::{Place, Plan, Row, Wish, measure, spec};
use crate::http::Http;
use crate::load::book;
use crate::load::crowd::wall_clock;
use crate::load::handle::Load;
use crate::load::spec::{Credential, Keep, Live, Payload};
use crate::measure::statistics::rounded;
use crate::output;
use crate::readback::{Comparison, read_back_below};
use crate::server::appliance::Appliance;
use crate::server::{Target, free_address};

/// Topics that are read back value by value.
const READ_BACK_TOPICS: u32 = 40;
/// The reference's rule for the load generator.
const GENERATOR_CPU_MAX: f64 = 0.85;

/// The appliance with its devices and its subscriber.
pub(crate) struct Bench<'a> {
    pub(crate) common: &'a Common,
    pub(crate) bar: ProgressBar,
    pub(crate) appliance: Appliance,
    pub(crate) http: Http,
    pub(crate) clients: Vec<Credential>,
    pub(crate) live: Live,
    pub(crate) folder: TempDir,
    pub(crate) counter_next: u64,
    pub(crate) began: i64,
    books: Vec<PathBuf>,
    book_count: usize,
}

/// How a bench's appliance differs from the usual one.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) durability: Durability,
    /// Its data, where not in the bench's own folder.
    pub(crate) data: Option<PathBuf>,
    /// With a second listener, over TLS.
    pub(crate) has_tls: bool,
}

impl Default for Start {
    fn default() -> Self {
        Self { durability: Durability::Sync, data: None, has_tls: false }
    }
}

impl<'a> Bench<'a> {
    pub(crate) fn start(common: &'a Common, devices: usize) -> Result<Self> {
        Self::start_as(common, devices, Start::default())
    }

    /// As `start`, with another appliance than the usual.
    pub(crate) fn start_as(common: &'a Common, devices: usize, start: Start) -> Result<Self> {
        common.prepare()?;
        let folder = common.folder()?;
        let mut setup = common.setup(folder.path(), start.durability)?;
        setup.data = start.data.unwrap_or(setup.data);
        setup.tls = if start.has_tls { Some(free_address()?) } else { None };
        let appliance = Appliance::start(setup)?;
        let clients = appliance.create_clients(devices)?;
        let credential = appliance.create_subscriber(&format!("{TWIN}#"))?;
        let live = Live { credential, filter: format!("mr/v1/main/{TWIN}#"), share: 1.0 };
        let http = appliance.http();
        Ok(Self {
            common,
            bar: output::progress(0),
            appliance,
            http,
            clients,
            live,
            folder,
            counter_next: 0,
            began: wall_clock() - 1_000_000_000,
            books: Vec::new(),
            book_count: 0,
        })
    }

    /// One row whose derived values the subscriber awaits.
    pub(crate) fn row(&mut self, plan: &Plan) -> Result<Row> {
        self.measure(plan, vec![self.live.clone()])
    }

    /// One row with other wishes; gives what it takes to name the appliance's listener, too.
    pub(crate) fn row_as(
        &mut self,
        plan: &Plan,
        change: &dyn Fn(&mut Wish, &mut Target),
    ) -> Result<Row> {
        let mut wish = self.wish(Vec::new());
        let mut target = self.appliance.target(self.clients.clone());
        change(&mut wish, &mut target);
        self.measure_target(plan, &wish, &target)
    }

    /// One row of devices from whose values nothing is derived.
    pub(crate) fn row_alone(&mut self, plan: &Plan) -> Result<Row> {
        let row = self.measure(plan, Vec::new())?;
        self.books.clear();
        Ok(row)
    }

    /// What is wanted beside a load; its book is read back.
    fn wish(&mut self, live: Vec<Live>) -> Wish {
        let book = self.folder.path().join(format!("book-{}", self.book_count));
        self.book_count += 1;
        self.books.push(book.clone());
        Wish {
            counter_first: self.counter_next,
            keep: Keep::Sample(READ_BACK_TOPICS),
            book: Some(book),
            live,
            generator_cpu_max: GENERATOR_CPU_MAX,
            ..Wish::default()
        }
    }

    fn measure(&mut self, plan: &Plan, live: Vec<Live>) -> Result<Row> {
        let wish = self.wish(live);
        let target = self.appliance.target(self.clients.clone());
        self.measure_target(plan, &wish, &target)
    }

    fn measure_target(&mut self, plan: &Plan, wish: &Wish, target: &Target) -> Result<Row> {
        self.appliance.check_alive()?;
        let place = Place {
            load_core: self.common.cpus.load,
            data: Some(self.folder.path()),
            bar: &self.bar,
        };
        let row = measure("appliance", target, plan, wish, &place)?;
        self.counter_next = row.report.counter_next;
        self.bar.inc(1);
        Ok(row)
    }

    /// Starts a load whose derived values the subscriber awaits, and leaves it to the caller.
    pub(crate) fn start_load(&mut self, plan: &Plan) -> Result<Load> {
        let wish = self.wish(vec![self.live.clone()]);
        let target = self.appliance.target(self.clients.clone());
        Load::start(&spec(&target, plan, &wish), self.common.cpus.load)
    }

    /// Reads the derived topics of all rows since the last call back; devices have `tags` tags.
    pub(crate) fn read_back(&mut self, tags: u32) -> Result<Comparison> {
        self.read_back_below(TWIN, tags)
    }

    /// Reads the topics below `prefix` of all rows since the last call back.
    pub(crate) fn read_back_below(&mut self, prefix: &str, tags: u32) -> Result<Comparison> {
        self.bar.set_message("read back");
        let mut entries = Vec::new();
        for file in self.books.drain(..) {
            entries.extend(book::read(&file)?);
        }
        let bar = &self.bar;
        read_back_below(&mut self.http, prefix, &entries, tags, self.began, &mut || {
            bar.tick();
            crate::stop::check()
        })
    }
}

/// A load on all devices.
pub(crate) fn plan(devices: usize, tags: u32, rate_per_s: f64, seconds: u64) -> Plan {
    Plan {
        clients: devices,
        tags,
        rate_per_s,
        warmup_ms: 2_000,
        measure_ms: seconds * 1_000,
        values_per_client: 0,
        in_flight: 100,
        batch: 1,
        payload: Payload::Plain,
        verdict_every: 0,
    }
}

/// Runs that ended in time for the window.
pub(crate) fn runs(row: &Row) -> f64 {
    row.report.derived.map_or(0.0, |found| found.count as f64)
}

pub(crate) fn runs_per_s(row: &Row) -> f64 {
    rounded(runs(row) / row.report.window_s.max(1e-9), 1)
}

pub(crate) fn cpu_us_per_run(row: &Row) -> f64 {
    row.report.server_cpu_us / runs(row).max(1.0)
}
