//! People and dashboards that read while devices write: all last values, and charts of topics.
//!
//! **Invariants**
//! - A reader waits between its questions: it is a dashboard, not a second load.
//! - An answer other than success ends the measurement with the server's words.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use crate::http::{Http, encode, expect_success};
use crate::load::client::path;
use crate::measure::histogram::Histogram;
use crate::measure::statistics::rounded;
use crate::server::appliance::Appliance;

/// Dashboards that refresh together.
const READERS: usize = 4;
/// Between the refreshes of one.
const PAUSE: Duration = Duration::from_millis(200);
/// Charts of a refresh.
const CHARTS: usize = 4;

/// What they saw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) per_s: f64,
    pub(super) last_p99_ms: f64,
    pub(super) range_p99_ms: f64,
}

/// Running readers.
pub(super) struct Readers {
    threads: Vec<JoinHandle<Result<Seen>>>,
    is_over: Arc<AtomicBool>,
    began: Instant,
}

/// Times of one reader's questions.
#[derive(Default)]
struct Seen {
    last: Vec<u64>,
    range: Vec<u64>,
}

impl Readers {
    pub(super) fn start(appliance: &Appliance) -> Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        for number in 0..READERS {
            let (mut http, is_over) = (appliance.http(), Arc::clone(&is_over));
            let read = move || {
                let mut seen = Seen::default();
                while !is_over.load(Ordering::Relaxed) {
                    refresh(&mut http, number, &mut seen)?;
                    thread::park_timeout(PAUSE);
                }
                Ok(seen)
            };
            let name = format!("reader-{number}");
            threads.push(thread::Builder::new().name(name).spawn(read).context("start a reader")?);
        }
        Ok(Self { threads, is_over, began: Instant::now() })
    }

    /// Ends them; what they saw.
    pub(super) fn end(self) -> Result<Read> {
        self.is_over.store(true, Ordering::Relaxed);
        let seconds = self.began.elapsed().as_secs_f64();
        let (mut last, mut range) = (Histogram::default(), Histogram::default());
        for thread in self.threads {
            thread.thread().unpark();
            let seen = thread.join().map_err(|_| anyhow!("a reader ended in a panic"))??;
            seen.last.iter().for_each(|nanos| last.record(*nanos));
            seen.range.iter().for_each(|nanos| range.record(*nanos));
        }
        let p99 = |times: &Histogram| rounded(times.percentile_ms(0.99).unwrap_or(f64::NAN), 3);
        Ok(Read {
            per_s: rounded((last.count() + range.count()) as f64 / seconds.max(1e-9), 1),
            last_p99_ms: p99(&last),
            range_p99_ms: p99(&range),
        })
    }
}

/// All last values, page by page, and some charts.
fn refresh(http: &mut Http, number: usize, seen: &mut Seen) -> Result<()> {
    let began = Instant::now();
    let mut after = String::new();
    loop {
        let page = format!("/api/v1/workspaces/main/last?filter=%23&limit=1000{after}");
        let answer = http.get(&page)?;
        expect_success("GET", &page, &answer)?;
        match next_of(&answer.body) {
            Some(next) => after = format!("&after={}", encode(&next)),
            None => break,
        }
    }
    seen.last.push(nanos(began));
    for chart in 0..CHARTS {
        let began = Instant::now();
        let tag = encode(&path(number * CHARTS + chart, 0));
        let wanted = format!("/api/v1/workspaces/main/range?path={tag}&from=-1h&points=500");
        let answer = http.get(&wanted)?;
        // A device that has not sent yet has no topic to draw.
        if answer.status != 404 {
            expect_success("GET", &wanted, &answer)?;
            seen.range.push(nanos(began));
        }
    }
    Ok(())
}

fn nanos(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// The cursor of the next page, without reading the whole page as JSON: it stands at its end.
fn next_of(body: &[u8]) -> Option<String> {
    let tail = body.get(body.len().saturating_sub(2_000)..).unwrap_or(body);
    let text = String::from_utf8_lossy(tail);
    let (_, rest) = text.rsplit_once("\"next\":\"")?;
    rest.split('"').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_next_page_or_none() {
        assert_eq!(next_of(b"{\"items\":[],\"next\":\"abc\"}").as_deref(), Some("abc"));
        assert_eq!(next_of(b"{\"items\":[],\"next\":null}"), None);
        assert_eq!(next_of(b"{\"items\":[]}"), None);
    }
}
