//! *Connected but silent*: a connection that used to send and sends no more, though it is there.
//!
//! What a connection usually does is learned: the mean time between its values while it sent. It
//! is silent after ten times that, and after five minutes at least. One that never sent (a
//! subscriber) is never silent.
//!
//! **Invariants**: one issue for all, naming [`NAMED_MAX`]; what is learned is bounded by the
//! connections that are given.

use super::Watch;
use crate::clock::Clock;
use crate::issues::{Issue, Issues, Severity};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Key of the issue.
const ISSUE: &str = "connected-but-silent";
/// Never silent before.
const SILENT_MIN: Duration = Duration::from_mins(5);
/// Silent after so many of its usual intervals.
const INTERVALS: u32 = 10;
/// Connections named in the issue.
const NAMED_MAX: usize = 10;

/// One open connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Who is connected.
    pub name: String,
    /// Values that came from there so far, over all its connections.
    pub values: u64,
}

type Connections = Box<dyn Fn() -> Vec<Connection> + Send>;

#[derive(Clone, Copy, Debug)]
struct Known {
    values: u64,
    /// When the first value after it was known was seen, and how many there were then.
    began: Option<(Duration, u64)>,
    last: Duration,
}

/// Watches connections.
pub struct ConnectedButSilent {
    clock: Arc<dyn Clock>,
    issues: Arc<Issues>,
    connections: Connections,
    known: HashMap<String, Known>,
}

impl fmt::Debug for ConnectedButSilent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectedButSilent")
            .field("known", &self.known.len())
            .finish_non_exhaustive()
    }
}

impl ConnectedButSilent {
    /// `connections` gives those that are open now.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, issues: Arc<Issues>, connections: Connections) -> Self {
        Self { clock, issues, connections, known: HashMap::new() }
    }
}

impl Known {
    /// How long it has been silent, if that is too long.
    fn silent(&self, now: Duration) -> Option<Duration> {
        let (began, first) = self.began?;
        let intervals = u32::try_from(self.values.saturating_sub(first)).unwrap_or(u32::MAX);
        let usual = self.last.saturating_sub(began).checked_div(intervals).unwrap_or_default();
        let silent = now.saturating_sub(self.last);
        (silent >= SILENT_MIN.max(usual.saturating_mul(INTERVALS))).then_some(silent)
    }
}

impl Watch for ConnectedButSilent {
    fn tick(&mut self) {
        let now = self.clock.monotonic();
        let mut before = std::mem::take(&mut self.known);
        let mut silent = Vec::new();
        for Connection { name, values } in (self.connections)() {
            let fresh = Known { values, began: None, last: now };
            let mut known = before.remove(&name).unwrap_or(fresh);
            if values != known.values {
                known.values = values;
                known.last = now;
                known.began.get_or_insert((now, values));
            }
            silent.extend(known.silent(now).map(|time| (time, name.clone())));
            self.known.insert(name, known);
        }
        if silent.is_empty() {
            self.issues.clear(ISSUE);
            return;
        }
        silent.sort_by(|a, b| b.cmp(a));
        let named: Vec<_> = silent
            .iter()
            .take(NAMED_MAX)
            .map(|(time, name)| format!("{name} (for {} min)", time.as_secs() / 60))
            .collect();
        let more = silent.len().saturating_sub(NAMED_MAX);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        self.issues.raise(Issue {
            key: ISSUE.to_owned(),
            severity: Severity::Warning,
            what: format!(
                "Connected, but nothing comes any more from: {}{more}.",
                named.join(", ")
            ),
            effect: "Their topics show old values; pipelines that wait for them do not run."
                .to_owned(),
            remedy: "Look at the device or gateway: its connection is open, so its network and \
                     sign-in are right; what it reads from may be down."
                .to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::TestClock;
    use millrace_model::Timestamp;
    use parking_lot::Mutex;

    struct World {
        clock: Arc<TestClock>,
        issues: Arc<Issues>,
        open: Arc<Mutex<Vec<Connection>>>,
        watch: ConnectedButSilent,
    }

    impl World {
        fn new() -> Self {
            let clock = Arc::new(TestClock::new(Timestamp(0)));
            let issues = Arc::new(Issues::new(clock.clone()));
            let open = Arc::new(Mutex::new(Vec::new()));
            let given = open.clone();
            let connections = Box::new(move || given.lock().clone());
            let watch = ConnectedButSilent::new(clock.clone(), issues.clone(), connections);
            Self { clock, issues, open, watch }
        }

        /// Each of these has so many values after so much time.
        fn tick(&mut self, minutes: u64, open: &[(&str, u64)]) -> Option<String> {
            self.clock.advance(Duration::from_mins(minutes));
            let connection =
                |(name, values): &(&str, u64)| Connection { name: (*name).into(), values: *values };
            *self.open.lock() = open.iter().map(connection).collect();
            self.watch.tick();
            self.issues.list().first().map(|issue| issue.what.clone())
        }
    }

    #[test]
    fn a_press_that_stops_sending_raises_and_its_next_value_clears() {
        let mut world = World::new();
        world.tick(0, &[("press-1", 0), ("panel", 0)]);
        for minute in 1..=5 {
            assert_eq!(world.tick(1, &[("press-1", minute * 60), ("panel", 0)]), None);
        }
        assert_eq!(world.tick(4, &[("press-1", 300), ("panel", 0)]), None, "too early");
        let text = world.tick(1, &[("press-1", 300), ("panel", 0)]).expect("raised");
        assert!(text.contains("press-1 (for 5 min)") && !text.contains("panel"), "{text}");
        assert_eq!(world.tick(1, &[("press-1", 301), ("panel", 0)]), None, "it is back");
    }

    #[test]
    fn one_that_sends_seldom_is_given_its_time_and_one_that_left_is_forgotten() {
        let mut world = World::new();
        world.tick(0, &[("lab", 0)]);
        for hour in 1..=4 {
            assert_eq!(world.tick(60, &[("lab", hour)]), None);
        }
        assert_eq!(world.tick(599, &[("lab", 4)]), None, "ten hours are usual for it");
        assert!(world.tick(1, &[("lab", 4)]).is_some());
        assert_eq!(world.tick(1, &[]), None, "not connected is another matter");
        assert!(world.watch.known.is_empty());
    }
}
