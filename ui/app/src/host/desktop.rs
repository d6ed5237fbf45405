//! The host in the desktop program: the shell's one command in the place of fetch and WebSocket.
//!
//! A page signs in and asks as it does in a browser; here the program does it. It adds the token
//! itself, so the one that a page holds is a word without meaning. What is of the machine (clock,
//! language, clipboard) is the web view's own.
//!
//! **Invariants**
//! - No token and no address of an appliance is in the page.
//! - A live connection that is lost ends here too, so that a page treats it as in a browser.

mod frames;
mod program;

pub use program::{Chosen, News, OpenedFile, ProfileId, Program, Refused, State};

use super::{Answer, Browser, Host, Kept, Later, LiveLink, Method, Request, Unreachable};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use frames::FrameQueue;
use futures_util::{FutureExt as _, future, sink};
use millrace_contract::v1;
use millrace_model::Timestamp;
use serde_json::{Value, json};
use std::time::Duration;

/// What a page holds in the place of a token.
const NO_TOKEN: &str = "kept-by-the-program";
/// How long a page believes in its session: the program renews it.
const SESSION_SECONDS: u64 = 365 * 24 * 3_600;

/// The desktop program.
pub struct Desktop {
    view: Browser,
    program: Program,
}

impl Desktop {
    /// The program that this page runs in; `None` in a browser.
    #[must_use]
    pub fn find() -> Option<Self> {
        Some(Self { program: Program::find()?, view: Browser::find() })
    }

    /// The program, for the page that chooses an appliance.
    #[must_use]
    pub fn program(&self) -> Program {
        self.program.clone()
    }
}

/// The session that a page is told of.
#[must_use]
pub fn session(name: String, role: v1::Role) -> v1::Session {
    v1::Session {
        access_token: NO_TOKEN.to_owned(),
        token_type: "Bearer".to_owned(),
        expires_in: SESSION_SECONDS,
        name,
        role,
    }
}

impl Host for Desktop {
    fn prepare(&self) {
        self.view.prepare();
    }

    fn send(&self, request: Request) -> Later<Result<Answer, Unreachable>> {
        let program = self.program.clone();
        let limit = self.view.wait(request.timeout);
        Box::pin(async move {
            match future::select(Box::pin(ask(program, request)), limit).await {
                future::Either::Left((answer, _)) => answer,
                future::Either::Right(((), _)) => Err(Unreachable::TimedOut),
            }
        })
    }

    fn open_live(&self) -> Result<LiveLink, Unreachable> {
        let frames = FrameQueue::new(self.program.clone());
        let (program, queue) = (self.program.clone(), frames.clone());
        let sink = sink::unfold((), move |(), text: String| {
            let (program, queue) = (program.clone(), queue.clone());
            async move {
                said(&program, &queue, &text).await;
                Ok(())
            }
        });
        Ok(LiveLink { frames: Box::pin(frames.stream()), sink: Box::pin(sink) })
    }

    fn wait(&self, time: Duration) -> Later<()> {
        self.view.wait(time)
    }

    fn now(&self) -> Timestamp {
        self.view.now()
    }

    fn utc_offset_minutes(&self, at: Timestamp) -> i32 {
        self.view.utc_offset_minutes(at)
    }

    fn languages(&self) -> Vec<String> {
        self.view.languages()
    }

    fn prefers_dark(&self) -> bool {
        self.view.prefers_dark()
    }

    fn kept(&self, what: Kept) -> Option<String> {
        // The program knows who is signed in.
        if what == Kept::Session { None } else { self.view.kept(what) }
    }

    fn keep(&self, what: Kept, value: Option<&str>) {
        if what != Kept::Session {
            self.view.keep(what, value);
        }
    }

    fn mark_root(&self, name: &'static str, value: &str) {
        self.view.mark_root(name, value);
    }

    fn set_title(&self, title: &str) {
        self.view.set_title(title);
    }

    fn copy_text(&self, text: &str) -> Later<bool> {
        self.view.copy_text(text)
    }

    fn save_file(&self, name: &str, _media_type: &str, bytes: &[u8]) {
        let call = match std::str::from_utf8(bytes) {
            Ok(text) => json!({"call": "export", "name": name, "text": text}),
            Err(_) => json!({"call": "export", "name": name, "base64": STANDARD.encode(bytes)}),
        };
        let program = self.program.clone();
        leptos::task::spawn_local(async move {
            // The program's log says why a file could not be written.
            let _written = program.call(&call).map(|done| done.is_ok()).await;
        });
    }
}

async fn ask(program: Program, request: Request) -> Result<Answer, Unreachable> {
    let profile = program.chosen().ok_or(Unreachable::NoConnection)?.id;
    let (path, body) = (request.address.as_str(), request.body.as_deref());
    let outcome = match (request.method, path) {
        (Method::Post, "/api/v1/login") => {
            enter(&program, sign_in("sign_in", &profile, body)).await
        }
        (Method::Post, "/api/v1/claim") => enter(&program, sign_in("claim", &profile, body)).await,
        (Method::Post, "/api/v1/logout") => {
            let call = json!({"call": "sign_out", "profile": profile});
            program.call(&call).await.map(|_| Answer { status: 204, body: Vec::new() })
        }
        (method, path) => {
            let method = match method {
                Method::Get => "GET",
                Method::Post => "POST",
                Method::Put => "PUT",
                Method::Patch => "PATCH",
                Method::Delete => "DELETE",
            };
            let call = json!({"call": "api", "profile": profile, "method": method, "path": path,
                "body": body});
            program.call(&call).await.map(|answer| api_answer(&answer))
        }
    };
    outcome.or_else(|refused| refused.answer().ok_or(refused.unreachable()))
}

/// The page's form as a call that also keeps the password in the keyring.
fn sign_in(call: &str, profile: &ProfileId, body: Option<&str>) -> Value {
    let mut call = json!({"call": call, "profile": profile, "remember": true});
    let form: Value = body.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    for (name, value) in form.as_object().into_iter().flatten() {
        if let Some(call) = call.as_object_mut() {
            call.insert(name.clone(), value.clone());
        }
    }
    call
}

/// Signs in; answers as the appliance would.
async fn enter(program: &Program, call: Value) -> Result<Answer, Refused> {
    let profile = call.get("profile").cloned().unwrap_or_default();
    let answer = match program.call(&call).await {
        // The keyring does not work, but the session stands.
        Err(refused) if refused.code == "vault" => {
            program.call(&json!({"call": "connect", "profile": profile})).await?
        }
        other => other?,
    };
    let state = answer.get("state").cloned().unwrap_or_default();
    match serde_json::from_value(state) {
        Ok(State::Online { name, role }) => {
            let body = serde_json::to_vec(&session(name, role)).unwrap_or_default();
            Ok(Answer { status: 200, body })
        }
        _ => Err(Refused::default()),
    }
}

fn api_answer(answer: &Value) -> Answer {
    let text = |name: &str| answer.get(name).and_then(Value::as_str);
    let status = answer.get("status").and_then(Value::as_u64);
    let body = match (text("text"), text("base64")) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(base64)) => STANDARD.decode(base64).unwrap_or_default(),
        (None, None) => Vec::new(),
    };
    Answer { status: status.and_then(|status| u16::try_from(status).ok()).unwrap_or(500), body }
}

/// Does what a page says on its live connection.
async fn said(program: &Program, queue: &FrameQueue, text: &str) {
    match serde_json::from_str(text) {
        Ok(v1::FromClient::Authenticate { .. }) => {
            queue.push(json!({"type": "authenticated"}).to_string());
        }
        Ok(v1::FromClient::Subscribe { workspace, filters }) => {
            let Some(chosen) = program.chosen() else { return queue.end() };
            let call = json!({"call": "live", "session": program.session(), "profile": chosen.id,
                "workspace": workspace, "filters": filters});
            match program.call(&call).await {
                Ok(answer) => match answer.get("stream").and_then(Value::as_u64) {
                    Some(stream) => queue.follow(stream),
                    None => queue.end(),
                },
                Err(_) => queue.end(),
            }
        }
        Ok(v1::FromClient::Unsubscribe) | Err(_) => queue.leave(),
    }
}
