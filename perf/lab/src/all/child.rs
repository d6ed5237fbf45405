//! One class as a child: the lab itself, with a result file of its own.
//!
//! **Invariants**
//! - The child is in a process group of its own, so that Ctrl-C in a terminal reaches it once, by
//!   this file: a second signal would end it without its guards.
//! - It has a limit of time; past it, it is ended and its row says so.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::Value;

use super::AllOptions;
use super::class::{Class, GUARANTEED, Run};
use super::figures;
use crate::launch::{Child, Speech, own_program};
use crate::measure::machine;
use crate::measure::statistics::rounded;
use crate::output;
use crate::set::{ClassRow, Figure, Profile, Set, State};
use crate::stop;

/// A class may take so many times what is expected, and five minutes at least; then something is
/// wrong.
const PATIENCE: u64 = 4;
const PATIENCE_MIN: Duration = Duration::from_secs(300);
const LOOK: Duration = Duration::from_millis(100);
/// A class's guards unmount, stop servers and remove folders.
const END_LIMIT: Duration = Duration::from_secs(60);
/// Last words that a row keeps.
const WORDS_BYTES: usize = 1_500;

/// A class and what it is run with.
pub(crate) struct Call<'a> {
    pub(crate) options: &'a AllOptions,
    pub(crate) class: &'static Class,
    /// What is measured by now.
    pub(crate) set: &'a Set,
}

/// How a child ended.
enum End {
    Ended { is_success: bool },
    TookTooLong,
}

impl Call<'_> {
    /// Runs the class and reads its figures. Fails when the call was interrupted; a class that goes
    /// wrong is a row.
    pub(crate) fn run(&self, tick: &mut dyn FnMut(u64)) -> Result<ClassRow> {
        let run = match self.class.way(self.options.profile) {
            Ok(run) => run,
            Err((state, why)) => return Ok(self.row(state, "", vec![why.to_owned()])),
        };
        let (arguments, mut notes) = self.arguments(&run)?;
        let command = self.command(&arguments);
        if self.needs_node_red() {
            let why = "give the folder of an installed Node-RED with --node-red FOLDER";
            return Ok(self.row(State::NotHere, &command, vec![why.to_owned()]));
        }
        let folder = tempfile::Builder::new().prefix("millrace-lab-all-").tempdir()?;
        let (result_file, said_file) = (folder.path().join("result"), folder.path().join("said"));
        let began = Instant::now();
        let end = self.spawn(&arguments, &run, &result_file, &said_file, tick)?;
        let seconds = rounded(began.elapsed().as_secs_f64(), 1);
        let result: Option<Value> =
            fs::read(&result_file).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let is_success = match end {
            End::Ended { is_success } => is_success,
            End::TookTooLong => {
                notes.push(format!("ended by the lab after {seconds} s"));
                false
            }
        };
        let Some(result) = result else {
            notes.push(format!("no result; it said: {}", last_words(&said_file)));
            return Ok(ClassRow { seconds, ..self.row(State::Failed, &command, notes) });
        };
        let found = figures::figures(self.class, &result);
        let mut state = state(&result, is_success);
        notes.extend(notes_of(&result, state));
        // Smoke runs ask whether something is lost, on machines that are busy with other things.
        let asks_for_figures = self.options.profile != Profile::Smoke;
        if state == State::Measured && asks_for_figures && !self.has_headline(&found) {
            state = State::NoValidRow;
            notes.push(
                "the load generator was late or full in all rows: measure it on a quieter machine"
                    .to_owned(),
            );
        }
        Ok(ClassRow {
            seconds,
            figures: found,
            limited_by: figures::limited_by(self.class, &result),
            lost: figures::lost(self.class, &result),
            curve: self.class.curve.as_ref().and_then(|curve| figures::curve(curve, &result)),
            result,
            ..self.row(state, &command, notes)
        })
    }

    /// Whether the class's first figure is there.
    fn has_headline(&self, found: &[Figure]) -> bool {
        let name = self.class.readings.first().map(|reading| reading.name);
        name.is_none_or(|name| found.iter().any(|figure| figure.name == name))
    }

    fn row(&self, state: State, command: &str, notes: Vec<String>) -> ClassRow {
        let Class { name, group, title, how, .. } = *self.class;
        ClassRow {
            class: name.to_owned(),
            group: group.word().to_owned(),
            title: title.to_owned(),
            how: how.to_owned(),
            state,
            date: machine::date(),
            seconds: 0.0,
            command: command.to_owned(),
            figures: Vec::new(),
            limited_by: None,
            lost: None,
            curve: None,
            notes,
            result: Value::Null,
        }
    }

    /// Scenario and options, without those that every class gets.
    fn arguments(&self, run: &Run) -> Result<(Vec<String>, Vec<String>)> {
        let guaranteed = self
            .set
            .row("ingest")
            .and_then(|row| row.figures.iter().find(|figure| figure.name == "guaranteed"))
            .map(|figure| figure.value);
        let mut notes = Vec::new();
        let mut arguments = Vec::new();
        for word in run.arguments.split_whitespace() {
            let share = word.strip_prefix("{guaranteed*").and_then(|rest| rest.strip_suffix('}'));
            let Some(share) = share else {
                arguments.push(word.to_owned());
                continue;
            };
            let share: f64 = share.parse().with_context(|| format!("read the share '{word}'"))?;
            if guaranteed.is_none() {
                notes.push(format!(
                    "there is no guaranteed rate in this set: taken as {GUARANTEED} values/s"
                ));
            }
            arguments.push(format!("{:.0}", guaranteed.unwrap_or(GUARANTEED) * share));
        }
        if let (true, Some(folder)) = (self.takes_node_red(), &self.options.node_red) {
            arguments.push("--node-red".to_owned());
            arguments.push(folder.display().to_string());
        }
        Ok((arguments, notes))
    }

    fn takes_node_red(&self) -> bool {
        self.class.name == super::table::NODE_RED
    }

    fn needs_node_red(&self) -> bool {
        self.takes_node_red() && self.options.node_red.is_none()
    }

    /// What the set's conditions add to each call.
    fn conditions(&self) -> Vec<String> {
        let common = &self.options.common;
        let mut words = vec!["--cpus".to_owned(), self.set.conditions.cpus.clone()];
        if common.realtime {
            words.push("--realtime".to_owned());
        }
        if common.realtime_load {
            words.push("--realtime-load".to_owned());
        }
        if !common.config.is_empty() {
            words.extend(["--config".to_owned(), common.config.clone()]);
        }
        words
    }

    /// What a reader types. The data folder is the reader's own.
    fn command(&self, arguments: &[String]) -> String {
        let mut words = vec!["cargo xtask lab".to_owned()];
        words.extend(arguments.iter().cloned());
        words.extend(self.conditions());
        words.join(" ")
    }

    fn spawn(
        &self,
        arguments: &[String],
        run: &Run,
        result: &Path,
        said: &Path,
        tick: &mut dyn FnMut(u64),
    ) -> Result<End> {
        let common = &self.options.common;
        let mut words: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        words.extend(self.conditions().into_iter().map(OsString::from));
        words.extend(["--appliance".into(), std::path::absolute(&common.appliance)?.into()]);
        words.extend(["--json".into(), result.into()]);
        if let Some(data) = &common.data {
            words.extend(["--data".into(), data.into()]);
        }
        let errors = Speech::Apart(File::create(said)?);
        let mut child = Child::start(self.class.name, &own_program()?, &words, None, errors)?;
        let limit = PATIENCE_MIN.max(Duration::from_secs(run.seconds * PATIENCE));
        let began = Instant::now();
        loop {
            tick(began.elapsed().as_secs());
            if let Some(is_success) = child.ended()? {
                return Ok(End::Ended { is_success });
            }
            let interrupted = stop::check();
            if interrupted.is_err() || began.elapsed() > limit {
                child.end_gently(END_LIMIT)?;
                interrupted?;
                return Ok(End::TookTooLong);
            }
            // Interrupted: the next look ends the child.
            let _looked = stop::pause(LOOK);
        }
    }
}

/// The state that a result speaks of.
fn state(result: &Value, is_success: bool) -> State {
    let is = |key: &str| result.get(key).and_then(Value::as_bool) == Some(true);
    match (is("not_built"), is("skipped"), is_success) {
        (true, _, _) => State::NotBuilt,
        (_, true, _) => State::NotHere,
        (_, _, true) => State::Measured,
        _ => State::Failed,
    }
}

/// What a reader must know beside the figures.
fn notes_of(result: &Value, state: State) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(why) = result.get("why").and_then(Value::as_str) {
        notes.push(why.to_owned());
    }
    for key in ["notes", "faults", "missing"] {
        let list = result.get(key).and_then(Value::as_array).into_iter().flatten();
        notes.extend(list.filter_map(Value::as_str).map(str::to_owned));
    }
    if state == State::Failed && notes.is_empty() {
        notes.push("the scenario's own rules did not hold: see its result".to_owned());
    }
    notes
}

fn last_words(file: &Path) -> String {
    let said = fs::read(file).unwrap_or_default();
    let start = said.len().saturating_sub(WORDS_BYTES);
    let text = String::from_utf8_lossy(said.get(start..).unwrap_or_default()).into_owned();
    let text = output::without_bars(&text);
    if text.is_empty() { "nothing".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tells_what_is_not_built_from_what_went_wrong() {
        let check = |result: Value, is_success, expected| {
            assert_eq!(state(&result, is_success), expected, "{result}");
        };
        check(json!({}), true, State::Measured);
        check(json!({}), false, State::Failed);
        check(json!({ "skipped": true, "why": "no root" }), true, State::NotHere);
        check(json!({ "skipped": true, "not_built": true }), true, State::NotBuilt);
    }

    #[test]
    fn tells_why_and_never_fails_silently() {
        let result =
            json!({ "why": "no root", "faults": ["a value was lost"], "notes": ["short"] });
        assert_eq!(notes_of(&result, State::Failed), ["no root", "short", "a value was lost"]);
        assert_eq!(notes_of(&json!({}), State::Failed).len(), 1);
        assert!(notes_of(&json!({}), State::Measured).is_empty());
    }
}
