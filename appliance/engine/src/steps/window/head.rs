//! What a window step remembers of one key: which panes are open, how far time has come, who waits.
//!
//! The head is one entry of state; each open pane (or session) has a tally in an entry of its own,
//! so that a value rewrites a few hundred bytes and not the whole window.
//!
//! **Invariants**: panes are sorted and do not overlap; a pane that is listed has its tally.

use super::grid::Span;
use super::tally::Tally;
use crate::step::{Context, StepFault};
use crate::steps::state::{get, get_int, map_of};
use millrace_flow::Data;
use std::sync::Arc;

/// A run that waits to close windows of the key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Keeper {
    pub(super) token: Data,
    /// When it wakes.
    pub(super) wakes: i64,
}

/// The head of a key.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Head {
    pub(super) panes: Vec<Span>,
    /// Windows that end here or before are closed.
    pub(super) closed: Option<i64>,
    /// The latest time seen when the head was last written.
    pub(super) mark: Option<i64>,
    /// How far the values' time is behind the clock, nanoseconds.
    pub(super) lag: i64,
    /// Values that came too late.
    pub(super) late: i64,
    pub(super) keepers: Vec<Keeper>,
}

impl Head {
    /// Reads the head of a key.
    pub(super) fn read(context: &dyn Context, key: &str) -> Self {
        let data = context.state(&head_key(key));
        let ints = |name: &str| -> Vec<i64> {
            match get(&data, name) {
                Data::List(list) => list
                    .iter()
                    .filter_map(|item| match item {
                        Data::Int(value) => Some(*value),
                        _ => None,
                    })
                    .collect(),
                _ => Vec::new(),
            }
        };
        let panes = ints("panes")
            .chunks_exact(2)
            .filter_map(|pair| match pair {
                [start, end] => Some(Span { start: *start, end: *end }),
                _ => None,
            })
            .collect();
        let tokens = match get(&data, "keepers") {
            Data::List(list) => list,
            _ => [].into(),
        };
        let keepers = tokens.iter().zip(ints("wakes"));
        Self {
            panes,
            closed: get_int(&data, "closed"),
            mark: get_int(&data, "mark"),
            lag: get_int(&data, "lag").unwrap_or(0),
            late: get_int(&data, "late").unwrap_or(0),
            keepers: keepers.map(|(token, wakes)| Keeper { token: token.clone(), wakes }).collect(),
        }
    }

    /// Writes it.
    pub(super) fn write(&self, context: &mut dyn Context, key: &str) -> Result<(), StepFault> {
        let panes = self.panes.iter().flat_map(|pane| [pane.start, pane.end]).map(Data::Int);
        let tokens = self.keepers.iter().map(|keeper| keeper.token.clone());
        let wakes = self.keepers.iter().map(|keeper| Data::Int(keeper.wakes));
        let or_missing = |time: Option<i64>| time.map_or(Data::Missing, Data::Int);
        let data = map_of([
            ("panes", list(panes)),
            ("closed", or_missing(self.closed)),
            ("mark", or_missing(self.mark)),
            ("lag", Data::Int(self.lag)),
            ("late", Data::Int(self.late)),
            ("keepers", list(tokens)),
            ("wakes", list(wakes)),
        ]);
        context.set_state(&head_key(key), data)
    }

    /// The tally of a pane.
    pub(super) fn tally(context: &dyn Context, key: &str, pane: Span) -> Tally {
        Tally::from_data(&context.state(&pane_key(key, pane)))
    }

    /// Writes the tally of a pane.
    pub(super) fn keep(
        context: &mut dyn Context,
        key: &str,
        pane: Span,
        tally: &Tally,
    ) -> Result<(), StepFault> {
        context.set_state(&pane_key(key, pane), tally.to_data())
    }

    /// Forgets a pane's tally.
    pub(super) fn forget(
        context: &mut dyn Context,
        key: &str,
        pane: Span,
    ) -> Result<(), StepFault> {
        context.set_state(&pane_key(key, pane), Data::Missing)
    }

    /// The latest time seen of the key's values.
    pub(super) fn latest(&self, context: &dyn Context, key: &str) -> Option<i64> {
        let newest = self.panes.last().map(|pane| Self::tally(context, key, *pane).last_time());
        newest.max(self.mark)
    }

    /// Puts a pane in its place; says whether it is new.
    pub(super) fn open(&mut self, pane: Span) -> bool {
        match self.panes.binary_search_by_key(&pane.start, |known| known.start) {
            Ok(_) => false,
            Err(place) => {
                self.panes.insert(place, pane);
                true
            }
        }
    }
}

fn list(items: impl Iterator<Item = Data>) -> Data {
    let items: Arc<[Data]> = items.collect();
    if items.is_empty() { Data::Missing } else { Data::List(items) }
}

fn head_key(key: &str) -> String {
    format!("k:{key}")
}

fn pane_key(key: &str, pane: Span) -> String {
    format!("p:{}:{key}", pane.start)
}
