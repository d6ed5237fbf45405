//! *Connected but silent*: a connection that used to send and sends no more, though it is there.
//!
//! What a connection usually does is learned: the mean time between its values while it sent. It
//! is silent after ten times that, and after five minutes at least. One that never sent (a
//! subscriber) is never silent. What was learned outlives the connection: a gateway that comes back
//! and stays silent is told, counted from when it came back.
//!
//! **Invariants**: one issue for all, naming [`NAMED_MAX`]; only what is connected is named; what
//! is remembered of those that left is bounded in time and number.

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
/// Forgotten so long after it left.
const REMEMBERED_FOR: Duration = Duration::from_hours(24);
/// Most that are remembered after they left; who left first is forgotten first.
const REMEMBERED_MAX: usize = 10_000;

/// One open connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Who is connected.
    pub name: String,
    /// Values that came from there since it connected.
    pub values: u64,
}

type Connections = Box<dyn Fn() -> Vec<Connection> + Send>;

#[derive(Clone, Copy, Debug)]
struct Known {
    values: u64,
    /// Whether a value came since it was known.
    has_sent: bool,
    /// Intervals between values, and how long they were together.
    intervals: (u64, Duration),
    /// When a value came last, or when it came back.
    last: Duration,
    left: Option<Duration>,
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
    fn new(values: u64, now: Duration) -> Self {
        Self { values, has_sent: false, intervals: (0, Duration::ZERO), last: now, left: None }
    }

    /// Takes over that it is connected and how many values it has sent.
    fn see(&mut self, values: u64, now: Duration) {
        // Who goes and comes all the time is as silent as who stays.
        if self.left.take().is_some_and(|left| now.saturating_sub(left) >= SILENT_MIN) {
            self.last = now;
        }
        if values < self.values {
            // A new connection counts anew.
            self.values = 0;
        }
        if values != self.values {
            if self.has_sent {
                self.intervals.0 += values.saturating_sub(self.values);
                self.intervals.1 += now.saturating_sub(self.last);
            }
            self.has_sent = true;
            self.values = values;
            self.last = now;
        }
    }

    /// How long it has been silent, if that is too long.
    fn silent(&self, now: Duration) -> Option<Duration> {
        let (count, together) = self.intervals;
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let usual = together.checked_div(count).unwrap_or_default();
        let silent = now.saturating_sub(self.last);
        let is_long = silent >= SILENT_MIN.max(usual.saturating_mul(INTERVALS));
        (self.has_sent && is_long).then_some(silent)
    }
}

impl ConnectedButSilent {
    /// Notes who left, and forgets whom it need not remember.
    fn part_with(&mut self, now: Duration, gone: HashMap<String, Known>) {
        let mut gone: Vec<_> = gone
            .into_iter()
            .map(|(name, known)| (known.left.unwrap_or(now), name, known))
            .filter(|(left, _, known)| known.has_sent && now.saturating_sub(*left) < REMEMBERED_FOR)
            .collect();
        if gone.len() > REMEMBERED_MAX {
            gone.sort_unstable_by_key(|(left, ..)| std::cmp::Reverse(*left));
            gone.truncate(REMEMBERED_MAX);
        }
        let with_time = |(left, name, known)| (name, Known { left: Some(left), ..known });
        self.known.extend(gone.into_iter().map(with_time));
    }
}

impl Watch for ConnectedButSilent {
    fn tick(&mut self) {
        let now = self.clock.monotonic();
        let mut before = std::mem::take(&mut self.known);
        let mut silent = Vec::new();
        for Connection { name, values } in (self.connections)() {
            let mut known = before.remove(&name).unwrap_or_else(|| Known::new(values, now));
            known.see(values, now);
            silent.extend(known.silent(now).map(|time| (time, name.clone())));
            self.known.insert(name, known);
        }
        self.part_with(now, before);
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
    fn one_that_sends_seldom_is_given_its_time() {
        let mut world = World::new();
        world.tick(0, &[("lab", 0)]);
        for hour in 1..=4 {
            assert_eq!(world.tick(60, &[("lab", hour)]), None);
        }
        assert_eq!(world.tick(599, &[("lab", 4)]), None, "ten hours are usual for it");
        assert!(world.tick(1, &[("lab", 4)]).is_some());
        assert_eq!(world.tick(1, &[]), None, "not connected is another matter");
    }

    #[test]
    fn a_gateway_that_comes_back_and_stays_silent_is_told_from_its_return_on() {
        let mut world = World::new();
        world.tick(0, &[("gateway", 0)]);
        for minute in 1..=5 {
            world.tick(1, &[("gateway", minute * 60)]);
        }
        world.tick(1, &[]);
        assert_eq!(world.tick(60, &[]), None, "it is not there");
        assert_eq!(world.tick(1, &[("gateway", 0)]), None, "just back");
        assert_eq!(world.tick(4, &[("gateway", 0)]), None, "too early");
        let text = world.tick(1, &[("gateway", 0)]).expect("raised");
        assert!(text.contains("gateway (for 5 min)"), "{text}");
    }

    #[test]
    fn a_gateway_that_connects_anew_every_minute_and_sends_nothing_is_silent_too() {
        let mut world = World::new();
        world.tick(0, &[("gateway", 0)]);
        for minute in 1..=5 {
            world.tick(1, &[("gateway", minute * 60)]);
        }
        assert_eq!(world.tick(1, &[]), None);
        assert_eq!(world.tick(1, &[("gateway", 0)]), None);
        assert_eq!(world.tick(1, &[]), None);
        assert_eq!(world.tick(1, &[("gateway", 0)]), None);
        assert!(world.tick(1, &[("gateway", 0)]).is_some(), "five minutes after its last value");
        assert_eq!(world.tick(1, &[("gateway", 1)]), None, "one value of the new connection");
    }

    #[test]
    fn who_left_is_forgotten_after_a_day_and_beyond_the_most_that_are_remembered() {
        let mut world = World::new();
        let names: Vec<String> = (0..=REMEMBERED_MAX).map(|number| number.to_string()).collect();
        let with = |values| names.iter().map(|name| (name.as_str(), values)).collect::<Vec<_>>();
        world.tick(0, &with(0));
        world.tick(1, &with(1));
        world.tick(1, &[("panel", 0)]);
        world.tick(1, &[]);
        assert_eq!(world.watch.known.len(), REMEMBERED_MAX, "and nobody who never sent");
        world.tick(24 * 60, &[]);
        assert!(world.watch.known.is_empty());
    }
}
