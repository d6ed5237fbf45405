//! A class of measurement: what `lab all` runs for it, and what it reads out of the result.
//!
//! **Invariants**
//! - A class knows for each profile what to run, or why it is not run.

use crate::set::{Better, Profile, State};

/// Where a class stands on the results page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// The published classes that plants size by.
    Reference,
    /// What the publication says that it does not cover.
    Beyond,
    /// What happens when something breaks.
    Harm,
    /// The same load on other programs.
    Peers,
}

impl Group {
    pub(crate) const ALL: [Self; 4] = [Self::Reference, Self::Beyond, Self::Harm, Self::Peers];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Beyond => "beyond",
            Self::Harm => "harm",
            Self::Peers => "peers",
        }
    }
}

/// A call of a scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// Scenario and options, as typed behind `lab`. `{guaranteed*0.65}` stands for that share of
    /// the guaranteed rate that the set has of the class `ingest`, or of [`GUARANTEED`].
    pub(crate) arguments: &'static str,
    /// About how long it takes.
    pub(crate) seconds: u64,
}

pub(super) const fn run(arguments: &'static str, seconds: u64) -> Run {
    Run { arguments, seconds }
}

/// The guaranteed rate that is taken where the set has none.
pub(crate) const GUARANTEED: f64 = 20_000.0;

/// What is read out of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) better: Better,
    /// A JSON pointer to a number, or to a spread; `*` goes over a list, whose invalid entries are
    /// left out.
    pub(crate) at: &'static str,
}

/// A figure of which less is better.
pub(super) const fn lower(name: &'static str, unit: &'static str, at: &'static str) -> Reading {
    Reading { name, unit, better: Better::Lower, at }
}

/// A figure of which more is better.
pub(super) const fn higher(name: &'static str, unit: &'static str, at: &'static str) -> Reading {
    Reading { name, unit, better: Better::Higher, at }
}

/// A figure that is told, and no judgment of the program.
pub(super) const fn neither(name: &'static str, unit: &'static str, at: &'static str) -> Reading {
    Reading { name, unit, better: Better::Neither, at }
}

/// How a climb is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CurveReading {
    pub(crate) x: (&'static str, &'static str),
    pub(crate) y: &'static [(&'static str, &'static str)],
    pub(crate) limited_by: &'static str,
}

/// A class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) group: Group,
    pub(crate) title: &'static str,
    pub(crate) how: &'static str,
    pub(crate) smoke: Option<Run>,
    pub(crate) quick: Option<Run>,
    pub(crate) full: Run,
    pub(crate) readings: &'static [Reading],
    /// Where the result says what limited it.
    pub(crate) limited_by: Option<&'static str>,
    /// What must be zero: places of counts of what was lost or doubled.
    pub(crate) lost: &'static [&'static str],
    pub(crate) curve: Option<CurveReading>,
}

impl Class {
    /// What to run, or the state of a row that says why nothing was.
    pub(crate) fn way(&self, profile: Profile) -> Result<Run, (State, &'static str)> {
        let run = match profile {
            Profile::Smoke => self.smoke,
            Profile::Quick => self.quick,
            Profile::Full => Some(self.full),
        };
        run.ok_or((State::NotAsked, "it takes a longer profile"))
    }

    /// About how long it takes.
    pub(crate) fn seconds(&self, profile: Profile) -> u64 {
        self.way(profile).map_or(0, |run| run.seconds)
    }
}

/// For people.
pub(crate) fn word(state: State) -> &'static str {
    match state {
        State::Measured => "measured",
        State::Failed => "FAILED",
        State::NoValidRow => "no valid row",
        State::NotBuilt => "not built",
        State::NotHere => "not on this machine",
        State::NotAsked => "not in this profile",
    }
}
