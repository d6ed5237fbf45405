//! A result set: what one machine measured of one build, a row for each class.
//!
//! `lab all` writes one and goes on with it, `lab merge` puts parts together, `lab compare` and
//! `lab page` read them. The form is in [docs/formats/lab-set.md](../../../docs/formats/lab-set.md).
//!
//! **Invariants**
//! - All rows of a set are of one commit, one profile, one machine and the same conditions: what is
//!   of another is refused with a sentence, never mixed in.
//! - A file is replaced whole or not at all.
//! - A set of another schema is refused, not guessed at.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::measure::machine::{Build, Machine};

/// The version of the form.
pub(crate) const SCHEMA: u32 = 1;
/// No honest set comes near it.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Profile {
    /// Is anything lost? Seconds of each, no figure worth reading.
    Smoke,
    /// Every class, short: under 15 minutes on two cores.
    Quick,
    /// The reference's own lengths, 10-minute holds and an hour's soak among them.
    Full,
}

impl Profile {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}

/// Under what all rows of a set were measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Conditions {
    /// `SERVER:LOAD`, or `none`.
    pub(crate) cpus: String,
    pub(crate) realtime: bool,
    pub(crate) realtime_load: bool,
    /// The data lay in memory: syncs cost nothing.
    pub(crate) data_in_memory: bool,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Set {
    /// [`SCHEMA`].
    pub(crate) millrace_lab: u32,
    pub(crate) profile: Profile,
    pub(crate) machine: Machine,
    pub(crate) build: Build,
    pub(crate) conditions: Conditions,
    pub(crate) rows: Vec<ClassRow>,
}

/// What became of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Measured,
    /// Something was lost or doubled, a rule did not hold, or it did not come to an end.
    Failed,
    /// The machine was too busy with other things: no row of it counts.
    NoValidRow,
    /// The product has no such feature yet.
    NotBuilt,
    /// This machine cannot do it.
    NotHere,
    /// It belongs to another profile.
    NotAsked,
}

/// One class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClassRow {
    pub(crate) class: String,
    /// The part of the results page that it stands in.
    pub(crate) group: String,
    pub(crate) title: String,
    /// How it is measured, in a few sentences.
    pub(crate) how: String,
    pub(crate) state: State,
    /// When it ended.
    pub(crate) date: String,
    pub(crate) seconds: f64,
    /// What a reader types to measure it again.
    pub(crate) command: String,
    pub(crate) figures: Vec<Figure>,
    pub(crate) limited_by: Option<String>,
    /// Acknowledged values or promised runs that were not there; none = nothing was read back.
    pub(crate) lost: Option<u64>,
    pub(crate) curve: Option<Curve>,
    pub(crate) notes: Vec<String>,
    /// The scenario's own result, whole.
    pub(crate) result: Value,
}

/// Which way a figure gets better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Better {
    Lower,
    Higher,
    /// It describes, and is not compared.
    Neither,
}

/// One figure with its spread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) better: Better,
    /// The median of the repetitions.
    pub(crate) value: f64,
    pub(crate) lowest: f64,
    pub(crate) highest: f64,
    pub(crate) count: usize,
}

/// A climb, step by step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Curve {
    /// What the steps are steps of, with its unit.
    pub(crate) x: String,
    /// What was seen at each of them.
    pub(crate) y: Vec<String>,
    pub(crate) points: Vec<Point>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub(crate) x: f64,
    /// As many as the curve names; none where nothing was seen.
    pub(crate) y: Vec<Option<f64>>,
    pub(crate) limited_by: Option<String>,
}

impl Set {
    /// Reads a set, or says why the file is none.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let shown = file.display();
        let bytes = fs::metadata(file).with_context(|| format!("look at {shown}"))?.len();
        if bytes > FILE_BYTES_MAX {
            bail!("{shown} is larger than {FILE_BYTES_MAX} bytes: it is no result set");
        }
        let text = fs::read(file).with_context(|| format!("read {shown}"))?;
        Self::parse(&text).with_context(|| format!("read the result set {shown}"))
    }

    /// Reads a set from its text.
    pub(crate) fn parse(text: &[u8]) -> Result<Self> {
        let value: Value = serde_json::from_slice(text).context("read it as JSON")?;
        match value.get("millrace_lab").and_then(Value::as_u64) {
            None => bail!(
                "it has no `millrace_lab`: `lab all` writes result sets, the other scenarios \
                 write results of one class"
            ),
            Some(found) if found != u64::from(SCHEMA) => {
                bail!("it is of schema {found}, and this lab reads schema {SCHEMA}: measure again")
            }
            Some(_) => {}
        }
        serde_json::from_value(value).context("read its fields")
    }

    /// Replaces the file with this set.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        let shown = file.display();
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        let mut name = file.file_name().context("name a file for the result set")?.to_owned();
        name.push(".part");
        let beside = file.with_file_name(name);
        File::create(&beside)
            .and_then(|mut out| {
                out.write_all(&text)?;
                out.sync_all()
            })
            .with_context(|| format!("write {}", beside.display()))?;
        rustix::fs::rename(&beside, file).with_context(|| format!("write {shown}"))
    }

    pub(crate) fn row(&self, class: &str) -> Option<&ClassRow> {
        self.rows.iter().find(|row| row.class == class)
    }

    /// Puts a row in, in the place of an earlier one of its class.
    pub(crate) fn put(&mut self, row: ClassRow) {
        match self.rows.iter_mut().find(|known| known.class == row.class) {
            Some(known) => *known = row,
            None => self.rows.push(row),
        }
    }

    /// Takes another set's rows over; of a class that both have, the later one counts.
    pub(crate) fn merge(&mut self, other: Self) -> Result<()> {
        if let Some(why) = self.differs(&other) {
            bail!("{why}: such sets are not put together");
        }
        for row in other.rows {
            // Dates are RFC 3339 in UTC: their text is in the order of time.
            if self.row(&row.class).is_none_or(|known| known.date < row.date) {
                self.put(row);
            }
        }
        Ok(())
    }

    /// Why rows of the two may not stand in one set; none when they may.
    pub(crate) fn differs(&self, other: &Self) -> Option<String> {
        self.differs_in_build(other)
            .or_else(|| self.differs_in_machine(other))
            .or_else(|| self.differs_in_conditions(other))
    }

    fn differs_in_build(&self, other: &Self) -> Option<String> {
        let (own, their) = (&self.build, &other.build);
        let is_same = own.profile == their.profile
            && own.revision == their.revision
            && own.modified == their.modified;
        // A changed checkout, or none, has no name but the program's own bytes.
        let is_named = own.revision.is_some() && own.modified == Some(false);
        (!is_same || (!is_named && own.binary != their.binary))
            .then(|| format!("one is of {}, the other of {}", own.named(), their.named()))
    }

    /// Why figures of the two cannot be compared; none when they can.
    pub(crate) fn differs_in_machine(&self, other: &Self) -> Option<String> {
        let (own, their) = (&self.machine, &other.machine);
        (own != their).then(|| format!("one is of {}, the other of {}", own.named(), their.named()))
    }

    /// The same for profile and conditions.
    pub(crate) fn differs_in_conditions(&self, other: &Self) -> Option<String> {
        if self.profile != other.profile {
            let (own, their) = (self.profile.word(), other.profile.word());
            return Some(format!("one is of the profile {own}, the other of {their}"));
        }
        let (own, their) = (self.conditions.named(), other.conditions.named());
        (own != their).then(|| format!("one was measured with {own}, the other with {their}"))
    }
}

impl Conditions {
    /// For a sentence.
    pub(crate) fn named(&self) -> String {
        let mut words = vec![format!("--cpus {}", self.cpus)];
        for (is_so, word) in [
            (self.realtime, "--realtime"),
            (self.realtime_load, "--realtime-load"),
            (self.data_in_memory, "the data in memory"),
        ] {
            if is_so {
                words.push(word.to_owned());
            }
        }
        words.join(", ")
    }
}

#[cfg(test)]
pub(crate) mod tests;
