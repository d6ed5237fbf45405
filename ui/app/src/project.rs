//! The stored project of the desktop program: what is known of an appliance without a connection,
//! and the drafts that wait for it.
//!
//! In a browser there is none, and everything here answers with nothing. In the program a draft is
//! a file that the program writes; the page sends one change of a pipeline's draft at a time, the
//! newest of several alone.
//!
//! **Invariants**
//! - Whether the appliance can be reached is said here once for all pages.
//! - Changes of one draft reach the program in their order.

use crate::context::Studio;
use crate::host::desktop::{Program, Refused};
use crate::words::offline;
use leptos::prelude::*;
use millrace_model::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The workspace whose project is kept.
const WORKSPACE: &str = "main";
/// How often a connected appliance's project is read anew.
const READ_EVERY: Duration = Duration::from_secs(60);

/// The appliance cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Away {
    /// Since when.
    pub since: String,
    /// Why.
    pub why: String,
}

/// A pipeline of the stored project.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The appliance's revision as last seen.
    pub revision: Option<u32>,
    /// The revision that ran.
    pub deployed: Option<u32>,
    /// The revision that its draft was made from.
    pub draft_base: Option<u32>,
    /// When its draft was kept.
    pub draft_saved: Option<String>,
}

/// What the last complete reading gave.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Reading {
    /// When it was.
    pub at: String,
    /// Topics that are kept.
    pub topics: usize,
    /// Whether the appliance had more.
    pub is_cut: bool,
}

/// The stored project of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Stored {
    /// Its pipelines by name.
    pub entries: Vec<Entry>,
    /// When it was read last; `None` = never.
    #[serde(default)]
    pub reading: Option<Reading>,
}

/// The appliance's revision as it was last seen.
#[derive(Clone, Debug, Deserialize)]
pub struct Known {
    /// Its number.
    pub revision: u32,
    /// The revision that ran.
    #[serde(default)]
    pub deployed: Option<u32>,
    /// Its document as JSON text.
    pub document: String,
}

/// What was edited here.
#[derive(Clone, Debug, Deserialize)]
pub struct Draft {
    /// The revision that it was made from; 0 = a new pipeline.
    pub base: u32,
    /// That revision's document.
    #[serde(default)]
    pub base_document: Option<String>,
    /// The document as JSON text.
    pub document: String,
}

/// One pipeline of the stored project.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Kept {
    /// As last seen.
    #[serde(default)]
    pub known: Option<Known>,
    /// As edited here.
    #[serde(default)]
    pub draft: Option<Draft>,
}

/// How a draft stands to the appliance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The appliance has no such pipeline.
    New,
    /// Both say the same.
    Same,
    /// Only the draft is new.
    Ahead,
    /// Only the appliance has something new.
    Behind,
    /// Both have something new.
    Diverged,
    /// It was removed there.
    Removed,
}

/// A draft compared with its base and with the appliance.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Comparison {
    /// How it stands.
    pub relation: Relation,
    /// The appliance's revision; 0 = none.
    pub theirs: u32,
    /// Who stored that.
    #[serde(default)]
    pub theirs_author: Option<String>,
    /// What the draft changes.
    pub mine_lines: Vec<String>,
    /// What changed at the appliance since.
    pub theirs_lines: Vec<String>,
    /// What deploying would change there.
    pub deploy_lines: Vec<String>,
}

/// A topic as it was last read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Topic {
    /// Its path.
    pub path: String,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
    /// What it is.
    #[serde(default)]
    pub description: String,
    /// Its last value then.
    #[serde(default)]
    pub sample: Option<Sample>,
}

/// A value as it was last read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Sample {
    /// JSON text.
    pub value: String,
    /// When it was measured.
    pub time: String,
    /// OPC UA status code; 0 is good.
    pub quality: u32,
}

/// What a pipeline's draft shall become.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wish {
    Keep { base: u32, text: String },
    Forget,
}

/// Wishes that are not done yet, the newest of each pipeline.
#[derive(Debug, Default)]
struct Wishes {
    waiting: BTreeMap<String, Wish>,
    is_working: bool,
}

impl Wishes {
    /// Notes a wish; gives whether somebody has to begin to work.
    fn put(&mut self, name: &str, wish: Wish) -> bool {
        self.waiting.insert(name.to_owned(), wish);
        !std::mem::replace(&mut self.is_working, true)
    }

    /// The next wish; without one the work is over.
    fn next(&mut self) -> Option<(String, Wish)> {
        let next = self.waiting.pop_first();
        self.is_working = next.is_some();
        next
    }
}

/// The stored project.
#[derive(Clone, Copy)]
pub struct Project {
    program: StoredValue<Option<Program>>,
    away: RwSignal<Option<Away>>,
    begun_away: RwSignal<bool>,
    stored: RwSignal<Stored>,
    refused: RwSignal<Option<String>>,
    wishes: StoredValue<Wishes>,
}

impl Default for Project {
    fn default() -> Self {
        Self {
            program: StoredValue::new(None),
            away: RwSignal::new(None),
            begun_away: RwSignal::new(false),
            stored: RwSignal::default(),
            refused: RwSignal::new(None),
            wishes: StoredValue::new(Wishes::default()),
        }
    }
}

impl Project {
    /// The program keeps it from now on.
    pub(crate) fn attach(self, program: Program, studio: &Studio) {
        self.program.set_value(Some(program));
        let host = studio.host.clone();
        leptos::task::spawn_local(async move {
            loop {
                host.wait(READ_EVERY).await;
                if self.away.with_untracked(Option::is_none) {
                    self.ask_project("fetch").await;
                }
            }
        });
    }

    /// Whether there is one: in the desktop program.
    #[must_use]
    pub fn is_there(self) -> bool {
        self.program.with_value(Option::is_some)
    }

    /// Whether the appliance cannot be reached, followed.
    #[must_use]
    pub fn away(self) -> Option<Away> {
        self.away.get()
    }

    /// Whether pages that cannot do without the appliance are covered, followed: the window began
    /// without it and has nothing to show on them.
    #[must_use]
    pub fn is_covered(self) -> bool {
        self.begun_away.get() && self.away.with(Option::is_some)
    }

    /// Why something that needs the appliance cannot be done now, followed.
    #[must_use]
    pub fn needs_appliance(self, studio: &Studio) -> Option<String> {
        self.away.with(Option::is_some).then(|| studio.language.say(offline::NEEDS_APPLIANCE))
    }

    /// What is stored, followed.
    #[must_use]
    pub fn stored(self) -> RwSignal<Stored> {
        self.stored
    }

    /// Why the last draft could not be kept, followed.
    #[must_use]
    pub fn refused(self) -> Option<String> {
        self.refused.get()
    }

    /// The window works with another appliance, or with none.
    pub(crate) fn turn(self) {
        self.away.set(None);
        self.begun_away.set(false);
        self.stored.set(Stored::default());
        self.refused.set(None);
        self.reload();
    }

    /// The appliance cannot be reached.
    pub(crate) fn lost(self, away: Away) {
        self.away.set(Some(away));
        self.reload();
    }

    /// The window begins its work without the appliance.
    pub(crate) fn begin_away(self) {
        self.begun_away.set(true);
    }

    /// The appliance answers; reads it when somebody is signed in.
    pub(crate) fn found(self, is_signed_in: bool) {
        self.away.set(None);
        if is_signed_in {
            self.begun_away.set(false);
            self.read();
        }
    }

    /// Reads the appliance's pipelines and topics anew.
    pub fn read(self) {
        leptos::task::spawn_local(self.ask_project("fetch"));
    }

    /// Looks at what is stored here.
    pub(crate) fn reload(self) {
        leptos::task::spawn_local(self.ask_project("project"));
    }

    async fn ask_project(self, call: &'static str) {
        // A reading that fails leaves what was read before; that it failed is told as a state.
        let Ok(stored) = self.call::<Stored>(call, json!({})).await else { return };
        if self.stored.with_untracked(|now| *now != stored) {
            self.stored.set(stored);
        }
    }

    async fn call<T: DeserializeOwned>(self, name: &str, more: Value) -> Result<T, Refused> {
        let program = self.program.get_value().ok_or_else(Refused::default)?;
        let chosen = program.chosen().ok_or_else(Refused::default)?;
        let mut call = json!({"call": name, "profile": chosen.id, "workspace": WORKSPACE});
        if let (Some(call), Value::Object(more)) = (call.as_object_mut(), more) {
            call.extend(more);
        }
        let answer = program.call(&call).await?;
        serde_json::from_value(answer).map_err(|_| Refused::default())
    }

    /// One pipeline; nothing is kept of one that is not there.
    pub async fn pipeline(self, name: &str) -> Kept {
        self.call("pipeline", json!({ "name": name })).await.unwrap_or_default()
    }

    /// Keeps a draft, and gives why not.
    pub async fn save(self, name: &str, base: u32, text: &str) -> Result<(), String> {
        let more = json!({"name": name, "document": text, "base": base});
        let saved: Result<Value, Refused> = self.call("save_draft", more).await;
        saved.map(drop).map_err(|refused| refused.message)
    }

    /// Keeps a draft soon.
    pub fn keep(self, name: &str, base: u32, text: String) {
        self.wish(name, Wish::Keep { base, text });
    }

    /// Forgets a draft soon.
    pub fn forget(self, name: &str) {
        self.wish(name, Wish::Forget);
    }

    fn wish(self, name: &str, wish: Wish) {
        let must_begin = self.wishes.try_update_value(|wishes| wishes.put(name, wish));
        if must_begin == Some(true) {
            leptos::task::spawn_local(async move {
                while let Some(Some((name, wish))) =
                    self.wishes.try_update_value(|wishes| wishes.next())
                {
                    self.fulfil(&name, wish).await;
                }
            });
        }
    }

    async fn fulfil(self, name: &str, wish: Wish) {
        let done = match wish {
            Wish::Keep { base, text } => self.save(name, base, &text).await,
            Wish::Forget => {
                let gone: Result<Value, Refused> =
                    self.call("drop_draft", json!({ "name": name })).await;
                gone.map(drop).map_err(|refused| refused.message)
            }
        };
        self.refused.set(done.err());
    }

    /// Compares a draft with its base and with the appliance.
    pub async fn compare(self, name: &str) -> Result<Comparison, String> {
        self.call("compare", json!({ "name": name })).await.map_err(|refused| refused.message)
    }

    /// Stores a draft at the appliance and lets it run; gives its revision.
    pub async fn deploy(self, name: &str, note: &str, expected: u32) -> Result<u32, String> {
        let more = json!({"name": name, "note": note, "expected": expected, "run": true});
        let done: Result<Value, Refused> = self.call("deploy", more).await;
        let done = done.map_err(|refused| refused.message)?;
        let revision = done.get("revision").and_then(Value::as_u64).unwrap_or_default();
        Ok(u32::try_from(revision).unwrap_or_default())
    }

    /// Topics in whose path, unit or description a text stands, and how many there are.
    pub async fn topics(self, search: &str) -> (Vec<Topic>, usize) {
        #[derive(Deserialize)]
        struct Found {
            topics: Vec<Topic>,
            found: usize,
        }
        let found: Result<Found, Refused> = self.call("topics", json!({ "search": search })).await;
        found.map_or((Vec::new(), 0), |found| (found.topics, found.found))
    }
}

/// A time of the program as the person writes it, followed.
#[must_use]
pub fn moment(studio: &Studio, text: &str) -> String {
    match Timestamp::from_rfc3339(text) {
        None => text.to_owned(),
        Some(at) => studio.language.locale().date_time(at, studio.host.utc_offset_minutes(at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_changes_of_a_draft_the_newest_alone_is_sent() {
        let mut wishes = Wishes::default();
        let keep = |text: &str| Wish::Keep { base: 1, text: text.to_owned() };
        assert!(wishes.put("a", keep("1")), "the first one begins the work");
        assert_eq!(wishes.next(), Some(("a".to_owned(), keep("1"))));
        // While that is on its way:
        assert!(!wishes.put("a", keep("2")) && !wishes.put("a", keep("3")));
        assert!(!wishes.put("b", Wish::Forget));
        assert_eq!(wishes.next(), Some(("a".to_owned(), keep("3"))));
        assert_eq!(wishes.next(), Some(("b".to_owned(), Wish::Forget)));
        assert_eq!(wishes.next(), None);
        assert!(wishes.put("a", Wish::Forget), "the work was over");
    }
}
