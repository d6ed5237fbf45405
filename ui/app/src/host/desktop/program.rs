//! The program around this page: its one command, its events, and which appliance is chosen.
//!
//! **Invariants**
//! - Events are fetched by one loop for as long as the page stands.

use crate::host::{Answer, Unreachable};
use js_sys::{Function, JSON, Promise, Reflect};
use millrace_contract::v1;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;

/// Where the program's command is.
const INTERNALS: &str = "__TAURI_INTERNALS__";

/// Events of subscriptions without a listener that are kept.
const EARLY_MAX: usize = 64;

/// Names an appliance of the program's list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProfileId(pub String);

/// An appliance of the program's list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Chosen {
    /// Its id.
    pub id: ProfileId,
    /// What people call it.
    pub name: String,
    /// Where it answers.
    pub address: String,
    /// Who signed in last.
    #[serde(default)]
    pub user: Option<String>,
}

/// How an appliance's connection is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum State {
    /// Nobody asked for it.
    Offline,
    /// On its way.
    Connecting,
    /// A person has to compare a fingerprint first.
    NotTrusted {
        /// What the appliance shows.
        presented: String,
        /// What was accepted before.
        #[serde(default)]
        pinned: Option<String>,
    },
    /// Nobody is signed in.
    SignedOut {
        /// Why.
        #[serde(default)]
        why: Option<String>,
    },
    /// Somebody is.
    Online {
        /// Who.
        name: String,
        /// As what.
        role: v1::Role,
    },
    /// It cannot be reached now.
    Waiting {
        /// Since when.
        since: String,
        /// Why.
        why: String,
    },
}

/// Why the program did not do something.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Refused {
    /// For programs.
    pub code: String,
    /// For people.
    #[serde(default)]
    pub message: String,
    /// The field at fault.
    #[serde(default)]
    pub field: Option<String>,
    /// What the appliance said.
    #[serde(default)]
    refusal: Option<v1::ErrorDetail>,
}

impl Refused {
    /// The appliance's own refusal, as it would answer a browser.
    pub(super) fn answer(&self) -> Option<Answer> {
        let error = self.refusal.clone()?;
        let status = error.code.status();
        Some(Answer { status, body: serde_json::to_vec(&v1::ErrorBody { error }).ok()? })
    }

    pub(super) fn unreachable(&self) -> Unreachable {
        if self.code == "too_large" { Unreachable::TooLarge } else { Unreachable::NoConnection }
    }
}

/// What the program tells of a live subscription.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Heard {
    stream: u64,
    pub(super) connected: bool,
    pub(super) frames: Vec<String>,
    pub(super) dropped: u64,
}

/// An event of the program.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Event {
    Connection {
        profile: ProfileId,
        state: State,
    },
    Profiles {
        profiles: Vec<Chosen>,
    },
    Live(Heard),
    Opened {
        file: OpenedFile,
    },
    Command {
        name: String,
    },
    Project {
        profile: ProfileId,
    },
    #[serde(other)]
    Other,
}

/// A file that a person opened with the program.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct OpenedFile {
    /// Its name without a folder.
    pub name: String,
    /// What it holds; absent when it could not be read.
    pub text: Option<String>,
    /// Why it could not be read.
    pub fault: Option<String>,
}

/// What the page that chooses an appliance is told.
#[derive(Clone, Debug)]
pub enum News {
    /// A connection has another state.
    Connection(ProfileId, State),
    /// The list changed.
    Profiles(Vec<Chosen>),
    /// What is stored of an appliance changed.
    Project(ProfileId),
    /// A menu entry was chosen.
    Command(String),
    /// A file was opened.
    Opened(OpenedFile),
    /// The program said something at the start.
    Notice(String),
}

type Listener = Arc<dyn Fn(Heard) + Send + Sync>;

#[derive(Default)]
struct Inner {
    session: u64,
    chosen: Option<Chosen>,
    streams: BTreeMap<u64, Listener>,
    /// Frames that came before their listener did.
    early: Vec<Heard>,
}

/// The program around this page.
#[derive(Clone)]
pub struct Program(Arc<Mutex<Inner>>);

impl Program {
    /// The program, if the page runs in it.
    #[must_use]
    pub fn find() -> Option<Self> {
        command().map(|_| Self(Arc::default()))
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // One thread: a lock can only be poisoned by a panic, which ends the page anyway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn session(&self) -> u64 {
        self.inner().session
    }

    /// The appliance that this page works with.
    #[must_use]
    pub fn chosen(&self) -> Option<Chosen> {
        self.inner().chosen.clone()
    }

    /// Works with an appliance, or with none.
    pub fn choose(&self, chosen: Option<Chosen>) {
        self.inner().chosen = chosen;
    }

    /// Makes a call.
    ///
    /// # Errors
    /// What the program says.
    pub async fn call(&self, call: &Value) -> Result<Value, Refused> {
        let asked = invoke(call).map_err(|_| Refused::default())?;
        match JsFuture::from(asked).await {
            Ok(answer) => parsed(&answer).ok_or_else(Refused::default),
            Err(refused) => Err(parsed(&refused)
                .and_then(|refused| serde_json::from_value(refused).ok())
                .unwrap_or_default()),
        }
    }

    /// Greets, and tells what happens from then on, for as long as the page stands.
    pub async fn run(self, tell: impl Fn(News)) {
        let Ok(greeting) = self.call(&json!({"call": "greet"})).await else { return };
        let part = |name: &str| greeting.get(name).cloned().unwrap_or_default();
        self.inner().session = part("session").as_u64().unwrap_or_default();
        if let Ok(profiles) = serde_json::from_value(part("profiles")) {
            tell(News::Profiles(profiles));
        }
        for notice in part("notices").as_array().into_iter().flatten() {
            if let Some(text) = notice.get("message").and_then(Value::as_str) {
                tell(News::Notice(text.to_owned()));
            }
        }
        let call = json!({"call": "events", "session": self.session()});
        while let Ok(answer) = self.call(&call).await {
            for event in answer.get("events").and_then(Value::as_array).into_iter().flatten() {
                match serde_json::from_value(event.clone()) {
                    Ok(Event::Connection { profile, state }) => {
                        tell(News::Connection(profile, state));
                    }
                    Ok(Event::Profiles { profiles }) => tell(News::Profiles(profiles)),
                    Ok(Event::Project { profile }) => tell(News::Project(profile)),
                    Ok(Event::Command { name }) => tell(News::Command(name)),
                    Ok(Event::Opened { file }) => tell(News::Opened(file)),
                    Ok(Event::Live(heard)) => self.heard(heard),
                    Ok(Event::Other) | Err(_) => {}
                }
            }
        }
    }

    fn heard(&self, heard: Heard) {
        let listener = self.inner().streams.get(&heard.stream).cloned();
        match listener {
            Some(listener) => listener(heard),
            // Its number is still on its way to whoever asked for it.
            None => {
                let mut inner = self.inner();
                if inner.early.len() < EARLY_MAX {
                    inner.early.push(heard);
                }
            }
        }
    }

    /// Hears the frames of a subscription.
    pub(super) fn listen(&self, stream: u64, heard: impl Fn(Heard) + Send + Sync + 'static) {
        let early = {
            let mut inner = self.inner();
            inner.streams.insert(stream, Arc::new(heard));
            std::mem::take(&mut inner.early)
        };
        for frames in early.into_iter().filter(|early| early.stream == stream) {
            self.heard(frames);
        }
    }

    /// Ends a subscription.
    pub(super) fn end_live(&self, stream: u64) {
        self.inner().streams.remove(&stream);
        let program = self.clone();
        leptos::task::spawn_local(async move {
            let call = json!({"call": "end_live", "stream": stream});
            // A subscription that is gone already is as good.
            let _ended = program.call(&call).await.is_ok();
        });
    }
}

fn command() -> Option<(JsValue, Function)> {
    let internals = Reflect::get(&js_sys::global(), &JsValue::from_str(INTERNALS)).ok()?;
    let invoke = Reflect::get(&internals, &JsValue::from_str("invoke")).ok()?;
    Some((internals, invoke.dyn_into().ok()?))
}

fn invoke(call: &Value) -> Result<Promise, JsValue> {
    let (internals, invoke) = command().ok_or(JsValue::NULL)?;
    let arguments = JSON::parse(&json!({ "call": call }).to_string())?;
    invoke.call2(&internals, &JsValue::from_str("call"), &arguments)?.dyn_into()
}

fn parsed(value: &JsValue) -> Option<Value> {
    let text = JSON::stringify(value).ok()?.as_string()?;
    serde_json::from_str(&text).ok()
}
