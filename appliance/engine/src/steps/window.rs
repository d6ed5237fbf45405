//! `window`: aggregates values over time, per key.
//!
//! Values go into panes: a tumbling window is one pane, a sliding one several, a session a pane
//! that grows. A window closes when time has passed its end by `lateness_ms`: the time of the
//! key's own values, or the clock less the lag that these values had. So a device that sends what
//! it kept during an hour without network gets its windows as a live one does.
//!
//! Who sends a closed window out? The value that shows that time has passed; or, where no value
//! comes, one of at most [`KEEPERS_MAX`] runs per key that wait for the end of the next window. A
//! run that has sent something cannot go on waiting, so the last one that waits sends only when
//! nothing stays open behind it; the next value then waits in its place.
//!
//! **Invariants**: each value counts once in each of its windows, or is counted as late; a window
//! goes out once; state is written by the key and pane that changed, and commits with the run.

mod digest;
mod grid;
mod head;
mod output;
mod tally;

use super::read;
use super::state::{Key, get, map_of, needs_later_runs, token};
use super::text::{bad_input, over_limit};
use super::work::Work;
use crate::compile::{CompileFault, Compiler};
use crate::step::{Context, Outcome, Step, StepFault};
use grid::{Grid, Span};
use head::{Head, Keeper};
use jiff::tz::TimeZone;
use millrace_flow::Data;
use millrace_model::Timestamp;
use millrace_model::time::NANOS_PER_SECOND;
use output::Aggregates;
use std::sync::Arc;
use tally::Tally;

/// Most runs of one key that wait for a window's end.
const KEEPERS_MAX: usize = 2;
/// A waiting run that is so late was lost with its pipeline's runs; another may wait instead.
const KEEPER_LOST: i64 = 60 * NANOS_PER_SECOND;
/// Most windows that one execution closes; the rest follows with the next.
const CLOSED_AT_ONCE_MAX: usize = 1_000;
/// Most sessions of a key that are open at once: late values may begin some in between.
const SESSIONS_MAX: usize = 1_000;
/// The state that counts the keys with an open window.
const OPEN_KEYS: &str = "n";

struct Window {
    work: Work,
    key: Key,
    mode: Mode,
    lateness: i64,
    by_source: bool,
    aggregates: Aggregates,
    keys_max: i64,
}

enum Mode {
    Grid(Grid),
    Session { gap: i64 },
}

pub(super) fn compile(
    _: &super::Spec,
    compiler: &mut Compiler<'_>,
) -> Result<Arc<dyn Step>, CompileFault> {
    needs_later_runs(compiler)?;
    let needed = |name: &str| {
        read::span(compiler, name)?
            .filter(|span| *span > 0)
            .ok_or_else(|| compiler.fault(name, "is missing"))
    };
    let mode = match compiler.choice("mode", &[("tumbling", 0), ("sliding", 1), ("session", 2)])? {
        0 => {
            let size = needed("size_ms")?;
            Mode::Grid(Grid::new(size, size, zone(compiler)?))
        }
        1 => {
            let (size, every) = (needed("size_ms")?, needed("every_ms")?);
            if size % every != 0 {
                return Err(compiler.fault("every_ms", "must divide `size_ms`"));
            }
            Mode::Grid(Grid::new(every, size, zone(compiler)?))
        }
        _ => Mode::Session { gap: needed("gap_ms")? },
    };
    Ok(Arc::new(Window {
        key: Key::compile(compiler)?,
        mode,
        lateness: read::span(compiler, "lateness_ms")?.unwrap_or(0),
        by_source: compiler.choice("time", &[("source", true), ("receive", false)])?,
        aggregates: Aggregates::compile(compiler)?,
        keys_max: i64::try_from(compiler.whole("keys_max")?.unwrap_or(10_000)).unwrap_or(i64::MAX),
        work: Work::compile(compiler)?,
    }))
}

fn zone(compiler: &Compiler<'_>) -> Result<Option<TimeZone>, CompileFault> {
    match compiler.optional_text("zone")?.as_deref() {
        None | Some("UTC") => Ok(None),
        Some(name) => TimeZone::get(name)
            .map(Some)
            .map_err(|_| compiler.fault("zone", format!("`{name}` is no time zone"))),
    }
}

impl Step for Window {
    fn waits_for_runs(&self) -> bool {
        true
    }

    fn execute(&self, context: &mut dyn Context, input: &Data) -> Result<Outcome, StepFault> {
        let value = self.work.value(context, input)?;
        let key = self.key.text(context)?;
        let now = context.now().0;
        let before = Head::read(context, &key);
        let mut head = before.clone();
        let known = head.latest(context, &key).unwrap_or(i64::MIN);
        let time = match self.source_time(context)? {
            Some(time) => time,
            // A clock that was set back must not make all that comes too late.
            None => now.max(known).max(head.closed.unwrap_or(i64::MIN)),
        };
        if self.is_late(&head, time, known) {
            head.late += 1;
            head.write(context, &key)?;
            return Ok(Outcome::Nothing);
        }
        self.count_keys(context, head.panes.is_empty(), 1)?;
        let pane = self.take_in(context, &key, &mut head, &value, time)?;
        if time >= known {
            head.lag = if head.panes == before.panes { head.lag } else { now.saturating_sub(time) };
        }
        let outputs = self.close(context, &key, &mut head, known.max(time))?;
        if !outputs.is_empty() {
            self.count_keys(context, head.panes.is_empty(), -1)?;
            head.write(context, &key)?;
            return Ok(Outcome::Many(outputs));
        }
        drop_lost(&mut head, now);
        if head.keepers.len() < KEEPERS_MAX {
            if time >= known {
                head.lag = now.saturating_sub(time);
            }
            let keeper = Keeper { token: token(context), wakes: self.next_end(&head, pane) };
            return self.wait(context, key, head, keeper);
        }
        if head != before {
            head.write(context, &key)?;
        }
        Ok(Outcome::Nothing)
    }

    fn resume(&self, context: &mut dyn Context, done: Data) -> Result<Outcome, StepFault> {
        let Data::Text(key) = get(&done, "key") else {
            return Err(bad_input("the wait gave back something else"));
        };
        let token = get(&done, "token");
        let mut head = Head::read(context, &key);
        let Some(place) = head.keepers.iter().position(|keeper| keeper.token == token) else {
            return Ok(Outcome::Nothing);
        };
        let mut keeper = head.keepers.remove(place);
        // The time of the wait's end counts, if the run's own time stood still meanwhile.
        let now = context.now().0.max(keeper.wakes);
        drop_lost(&mut head, now);
        let known = head.latest(context, &key).unwrap_or(i64::MIN);
        let mark = known.max(now.saturating_sub(head.lag));
        let (Some(next), Some(end)) = (head.panes.first(), head.panes.last()) else {
            head.write(context, &key)?;
            return Ok(Outcome::Nothing);
        };
        let (next, end) = (self.next_end(&head, *next), self.last_end(&head, *end));
        let is_due = next.saturating_sub(head.lag) <= mark;
        let ends_all = end.saturating_sub(head.lag) <= mark;
        if !is_due || (!ends_all && head.keepers.is_empty()) {
            keeper.wakes = if is_due { end } else { next };
            return self.wait(context, key.to_string(), head, keeper);
        }
        let outputs = self.close(context, &key, &mut head, mark)?;
        self.count_keys(context, head.panes.is_empty(), -1)?;
        head.write(context, &key)?;
        Ok(if outputs.is_empty() { Outcome::Nothing } else { Outcome::Many(outputs) })
    }
}

impl Window {
    /// When the triggering value was measured, if that is what counts.
    fn source_time(&self, context: &mut dyn Context) -> Result<Option<i64>, StepFault> {
        if !self.by_source {
            return Ok(None);
        }
        let time = read::time_of(&get(context.trigger(), "time"), "$trigger.time")?;
        Ok(time.map(|time| time.0))
    }

    /// Whether a value's last window is closed already, given the latest time that was known.
    fn is_late(&self, head: &Head, time: i64, known: i64) -> bool {
        match &self.mode {
            Mode::Grid(grid) => {
                let end = grid.last_end(grid.pane_of(time));
                head.closed.is_some_and(|closed| end <= closed)
                    || end.saturating_add(self.lateness) <= known
            }
            Mode::Session { gap } => {
                let joins = |pane: &Span| {
                    pane.start.saturating_sub(*gap) < time && time < pane.end.saturating_add(*gap)
                };
                time.saturating_add(*gap).saturating_add(self.lateness) <= known
                    && !head.panes.iter().any(joins)
            }
        }
    }

    /// Puts a value into its pane or session.
    fn take_in(
        &self,
        context: &mut dyn Context,
        key: &str,
        head: &mut Head,
        value: &Data,
        time: i64,
    ) -> Result<Span, StepFault> {
        let pane = match &self.mode {
            Mode::Grid(grid) => {
                let pane = grid.pane_of(time);
                head.open(pane);
                pane
            }
            Mode::Session { gap } => self.session(context, key, head, (time, *gap))?,
        };
        let mut tally = Head::tally(context, key, pane);
        if self.aggregates.need_ranks() {
            tally.keep_ranks();
        }
        tally.add(value, time);
        Head::keep(context, key, pane, &tally)?;
        Ok(pane)
    }

    /// The session that a time belongs to: it may be new, grow, or join two that were apart.
    fn session(
        &self,
        context: &mut dyn Context,
        key: &str,
        head: &mut Head,
        (time, gap): (i64, i64),
    ) -> Result<Span, StepFault> {
        let touches = |pane: &Span| {
            pane.start.saturating_sub(gap) < time && time < pane.end.saturating_add(gap)
        };
        let joined: Vec<Span> = head.panes.iter().copied().filter(touches).collect();
        head.panes.retain(|pane| !touches(pane));
        let mut span = Span { start: time, end: time };
        let mut tally = Tally::default();
        for pane in &joined {
            span.start = span.start.min(pane.start);
            span.end = span.end.max(pane.end);
        }
        let is_same_entry = matches!(joined.as_slice(), [only] if only.start == span.start);
        if !joined.is_empty() && !is_same_entry {
            for pane in &joined {
                tally.join(&Head::tally(context, key, *pane));
                Head::forget(context, key, *pane)?;
            }
            Head::keep(context, key, span, &tally)?;
        }
        head.open(span);
        if head.panes.len() > SESSIONS_MAX {
            return Err(over_limit(format!(
                "more than {SESSIONS_MAX} sessions of `{key}` are open"
            )));
        }
        Ok(span)
    }

    /// Closes all windows whose end has passed; gives what they came to.
    fn close(
        &self,
        context: &mut dyn Context,
        key: &str,
        head: &mut Head,
        mark: i64,
    ) -> Result<Vec<(u8, Data)>, StepFault> {
        let mut outputs = Vec::new();
        while let Some(first) = head.panes.first().copied()
            && outputs.len() < CLOSED_AT_ONCE_MAX
        {
            let end = self.end_after(head, first);
            if end.saturating_add(self.lateness) > mark {
                break;
            }
            let (window, parts) = match &self.mode {
                Mode::Session { .. } => (first, vec![first]),
                Mode::Grid(grid) => {
                    let window = grid.window_to(end);
                    let is_part =
                        |pane: &&Span| window.start <= pane.start && pane.end <= window.end;
                    (window, head.panes.iter().filter(is_part).copied().collect())
                }
            };
            let mut tally = Tally::default();
            for part in parts {
                tally.join(&Head::tally(context, key, part));
            }
            outputs.push((0, self.aggregates.output(key, window, &tally, head.late)));
            if head.mark < Some(tally.last_time()) {
                head.mark = Some(tally.last_time());
            }
            match &self.mode {
                Mode::Session { .. } => {
                    head.panes.remove(0);
                    Head::forget(context, key, first)?;
                }
                Mode::Grid(grid) => {
                    head.closed = Some(end);
                    while let Some(first) = head.panes.first().copied()
                        && grid.last_end(first) <= end
                    {
                        head.panes.remove(0);
                        Head::forget(context, key, first)?;
                    }
                }
            }
        }
        Ok(outputs)
    }

    /// The end of the next window that a pane is part of and that is not closed.
    fn end_after(&self, head: &Head, pane: Span) -> i64 {
        match &self.mode {
            Mode::Session { gap } => pane.end.saturating_add(*gap),
            Mode::Grid(grid) => match head.closed {
                Some(closed) if closed >= pane.end => grid.pane_of(closed).end,
                _ => pane.end,
            },
        }
    }

    /// When, by the clock, the next window of a pane closes.
    fn next_end(&self, head: &Head, pane: Span) -> i64 {
        let pane = head.panes.first().copied().unwrap_or(pane);
        self.end_after(head, pane).saturating_add(self.lateness).saturating_add(head.lag)
    }

    /// When, by the clock, the last window of a pane closes.
    fn last_end(&self, head: &Head, pane: Span) -> i64 {
        let end = match &self.mode {
            Mode::Session { gap } => head
                .panes
                .iter()
                .map(|pane| pane.end)
                .max()
                .unwrap_or(pane.end)
                .saturating_add(*gap),
            Mode::Grid(grid) => grid.last_end(pane),
        };
        end.saturating_add(self.lateness).saturating_add(head.lag)
    }

    fn wait(
        &self,
        context: &mut dyn Context,
        key: String,
        mut head: Head,
        keeper: Keeper,
    ) -> Result<Outcome, StepFault> {
        let until = Timestamp(keeper.wakes);
        let carry =
            map_of([("key", Data::Text(key.as_str().into())), ("token", keeper.token.clone())]);
        head.keepers.push(keeper);
        head.write(context, &key)?;
        Ok(Outcome::Pause { until, carry })
    }

    /// Counts the keys that have an open window, where one is about to be added or has gone.
    fn count_keys(
        &self,
        context: &mut dyn Context,
        changes: bool,
        by: i64,
    ) -> Result<(), StepFault> {
        if !changes {
            return Ok(());
        }
        let open = match context.state(OPEN_KEYS) {
            Data::Int(open) => open,
            _ => 0,
        };
        if by > 0 && open >= self.keys_max {
            let most = self.keys_max;
            return Err(over_limit(format!(
                "{open} keys have an open window; `keys_max` is {most}"
            )));
        }
        context.set_state(OPEN_KEYS, Data::Int(open.saturating_add(by).max(0)))
    }
}

/// Runs that should have woken long ago do not wait any more.
fn drop_lost(head: &mut Head, now: i64) {
    head.keepers.retain(|keeper| now < keeper.wakes.saturating_add(KEEPER_LOST));
}

#[cfg(test)]
mod tests;
