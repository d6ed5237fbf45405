//! What a page may ask, and what it is answered: the whole surface of the desktop program.
//!
//! The shell has one command that takes a [`Call`] as JSON and gives an [`Answer`] or a
//! [`crate::Fault`]. There is no other way from a page to network, disk or keyring.
//!
//! **Invariants**: the list is closed, and a field that is not known is refused; no answer holds a
//! password or a token; an API call reaches no address but its appliance's, and none that would
//! give a token away.

use crate::connection::ConnectionState;
use crate::discovery::Found;
use crate::event::{Event, Notice};
use crate::fault::{Fault, FaultCode, Result};
use crate::limits::{BODY_BYTES_MAX, PATH_BYTES_MAX};
use crate::profile::{Profile, ProfileId};
use crate::project::{Comparison, Draft, Entry, Known, Reading, Topic};
use crate::trust::Fingerprint;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::{HeaderMap, Method};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a page asks.
#[derive(Clone, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case", deny_unknown_fields)]
pub enum Call {
    /// The first call of a page: gives its session. Ends what an earlier page of the same window
    /// had under way.
    Greet {},
    /// Waits for events, up to 20 seconds. A page calls it again and again.
    Events {
        /// From the greeting.
        session: u64,
    },
    /// All appliances that this computer knows.
    Profiles {},
    /// Adds an appliance.
    AddProfile {
        /// What people call it.
        name: String,
        /// `https://box:8443`.
        address: String,
        /// Let the password go unencrypted over the network.
        #[serde(default)]
        plain_allowed: bool,
    },
    /// Renames an appliance or gives it another address (which forgets its certificate).
    ChangeProfile {
        /// Which.
        profile: ProfileId,
        /// As in `add_profile`.
        name: String,
        /// As in `add_profile`.
        address: String,
        /// As in `add_profile`.
        #[serde(default)]
        plain_allowed: bool,
    },
    /// Forgets an appliance, its password and its stored project.
    RemoveProfile {
        /// Which.
        profile: ProfileId,
        /// Also drafts that were never deployed. Without it they keep the profile from going.
        #[serde(default)]
        with_drafts: bool,
    },
    /// Looks for appliances on the local network.
    Discover {
        /// For how long; at most ten seconds.
        seconds: u32,
    },
    /// Connects an appliance, and keeps it connected. Answered with the first known state.
    Connect {
        /// Which.
        profile: ProfileId,
    },
    /// Ends the connection.
    Disconnect {
        /// Which.
        profile: ProfileId,
    },
    /// Accepts a certificate: a person has compared the fingerprint.
    Trust {
        /// Whose.
        profile: ProfileId,
        /// The certificate that was shown.
        fingerprint: Fingerprint,
        /// The one that was accepted before; has to be named when there is one.
        #[serde(default)]
        replaces: Option<Fingerprint>,
    },
    /// Signs a person in.
    SignIn {
        /// At which appliance.
        profile: ProfileId,
        /// The person's name.
        name: String,
        /// The password.
        password: String,
        /// Keep the password in the keyring, so that sessions renew themselves.
        #[serde(default)]
        remember: bool,
    },
    /// Makes the first admin of a new appliance.
    Claim {
        /// Of which.
        profile: ProfileId,
        /// The code that the appliance shows.
        code: String,
        /// The admin's name.
        name: String,
        /// The password that the admin chooses.
        password: String,
        /// As in `sign_in`.
        #[serde(default)]
        remember: bool,
    },
    /// Ends the session and forgets the password.
    SignOut {
        /// Where.
        profile: ProfileId,
    },
    /// Asks the appliance's HTTP API with the session's token. Whatever it answers comes back as
    /// it is, refusals too.
    Api {
        /// Which appliance.
        profile: ProfileId,
        /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
        method: String,
        /// Path and query: `/api/v1/overview`.
        path: String,
        /// JSON text.
        #[serde(default)]
        body: Option<String>,
    },
    /// Subscribes to live values; frames come as `live` events.
    Live {
        /// From the greeting.
        session: u64,
        /// Which appliance.
        profile: ProfileId,
        /// The workspace.
        workspace: String,
        /// Filters below the workspace: `press-4/#`.
        filters: Vec<String>,
    },
    /// Ends a live subscription.
    EndLive {
        /// Its number.
        stream: u32,
    },
    /// The stored project of a workspace: works without a connection.
    Project {
        /// Of which appliance.
        profile: ProfileId,
        /// The workspace.
        workspace: String,
    },
    /// The topics of the stored project in which a text stands.
    Topics {
        /// Of which appliance.
        profile: ProfileId,
        /// The workspace.
        workspace: String,
        /// Is looked for in path, unit and description; empty = all.
        #[serde(default)]
        search: String,
    },
    /// Fetches all pipelines and the topics of a workspace into the stored project. Drafts stay.
    Fetch {
        /// From which appliance.
        profile: ProfileId,
        /// The workspace.
        workspace: String,
    },
    /// One pipeline of the stored project, with its documents.
    Pipeline {
        /// Of which appliance.
        profile: ProfileId,
        /// The workspace.
        workspace: String,
        /// The pipeline.
        name: String,
    },
    /// Keeps a document as the draft of a pipeline.
    SaveDraft {
        /// Of which appliance.
        profile: ProfileId,
        /// The workspace.
        workspace: String,
        /// The pipeline.
        name: String,
        /// The document as JSON text. It may have faults, but it can be read.
        document: String,
        /// The revision that it was made from; 0 for a new pipeline.
        base: u32,
    },
    /// Throws a draft away.
    DropDraft {
        /// Of which appliance.
        profile: ProfileId,
        /// The workspace.
        workspace: String,
        /// The pipeline.
        name: String,
    },
    /// Compares a draft with its base and with what the appliance has now.
    Compare {
        /// Of which appliance.
        profile: ProfileId,
        /// The workspace.
        workspace: String,
        /// The pipeline.
        name: String,
    },
    /// Stores a draft as the pipeline's next revision, and lets it run if that is wanted.
    Deploy {
        /// At which appliance.
        profile: ProfileId,
        /// The workspace.
        workspace: String,
        /// The pipeline.
        name: String,
        /// What is new in it.
        #[serde(default)]
        note: String,
        /// The appliance's revision that the comparison showed, 0 = none: a newer one refuses.
        expected: u32,
        /// Let it run too, not only be stored.
        #[serde(default)]
        run: bool,
    },
    /// Writes a file into the folder of downloads, beside what is there.
    Export {
        /// The file's name, without a folder.
        name: String,
        /// What it holds, as text.
        #[serde(default)]
        text: Option<String>,
        /// Or what it holds in Base64.
        #[serde(default)]
        base64: Option<String>,
    },
}

/// What a page is answered.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// It was done.
    Done,
    /// To the greeting.
    Greeting(Box<Greeting>),
    /// To the wait for events; may be none.
    Events {
        /// The events.
        events: Vec<Event>,
    },
    /// All appliances.
    Profiles {
        /// All.
        profiles: Vec<Profile>,
    },
    /// One appliance.
    Profile {
        /// As it is now.
        profile: Profile,
    },
    /// What a search found.
    Discovered {
        /// The appliances.
        found: Vec<Found>,
    },
    /// The state of a connection.
    Connection {
        /// The state.
        state: ConnectionState,
    },
    /// What the appliance answered.
    Api(ApiAnswer),
    /// A live subscription began.
    Live {
        /// Its number.
        stream: u32,
    },
    /// The stored project.
    Project {
        /// Its pipelines by name.
        entries: Vec<Entry>,
        /// The last time that all of it was read; absent when it never was.
        #[serde(skip_serializing_if = "Option::is_none")]
        reading: Option<Reading>,
    },
    /// Topics of the stored project.
    Topics {
        /// The first of those that were found.
        topics: Vec<Topic>,
        /// How many were found.
        found: usize,
    },
    /// One pipeline of the stored project.
    Pipeline {
        /// The appliance's last known revision.
        #[serde(skip_serializing_if = "Option::is_none")]
        known: Option<Known>,
        /// The draft.
        #[serde(skip_serializing_if = "Option::is_none")]
        draft: Option<Draft>,
    },
    /// A comparison.
    Comparison(Box<Comparison>),
    /// A draft was stored at the appliance.
    Deployed {
        /// As which revision.
        revision: u32,
        /// Whether it runs.
        runs: bool,
    },
    /// A file was written.
    Exported {
        /// Where.
        path: String,
    },
}

/// What a page finds when it begins.
#[derive(Clone, Debug, Serialize)]
pub struct Greeting {
    /// Names the page in `events` and `live`.
    pub session: u64,
    /// The program's version.
    pub version: String,
    /// All appliances.
    pub profiles: Vec<Profile>,
    /// The states of those that are connected or should be.
    pub connections: BTreeMap<ProfileId, ConnectionState>,
    /// What a person should know.
    pub notices: Vec<Notice>,
}

/// A file as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileText {
    /// Its name without a folder.
    pub name: String,
    /// What it holds; absent when it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Why it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// What the appliance answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApiAnswer {
    /// The HTTP status.
    pub status: u16,
    /// The headers that a page may see, in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body, when it is text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The body in Base64, when it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

/// Headers that a page sees, and those of our own.
const HEADERS: &[&str] = &["content-type", "content-disposition", "retry-after"];

impl ApiAnswer {
    pub(crate) fn new(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        let headers = headers
            .iter()
            .filter(|(name, _)| {
                HEADERS.contains(&name.as_str()) || name.as_str().starts_with("millrace-")
            })
            .filter_map(|(name, value)| {
                Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
            })
            .collect();
        match std::str::from_utf8(body) {
            Ok(text) => Self { status, headers, text: Some(text.to_owned()), base64: None },
            Err(_) => {
                let base64 = Some(STANDARD.encode(body));
                Self { status, headers, text: None, base64 }
            }
        }
    }
}

/// What a page may not ask by hand, because the answer has a token or is no answer.
const KEPT: &[&str] = &["/api/v1/login", "/api/v1/logout", "/api/v1/claim", "/api/v1/live"];

/// The method and path of an API call, if a page may ask that.
pub(crate) fn check_api(method: &str, path: &str, body: Option<&str>) -> Result<Method> {
    let method = match method {
        "GET" => Method::GET,
        "POST" => Method::POST,
        "PUT" => Method::PUT,
        "PATCH" => Method::PATCH,
        "DELETE" => Method::DELETE,
        _ => return Err(Fault::invalid("method", "Use GET, POST, PUT, PATCH or DELETE.")),
    };
    let bare = path.split('?').next().unwrap_or_default();
    let is_path = path.len() <= PATH_BYTES_MAX
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#' && byte != b'\\')
        && !bare.split('/').any(|segment| {
            let segment = segment.to_ascii_lowercase().replace("%2e", ".");
            matches!(segment.as_str(), "." | "..")
        });
    let is_api = bare.starts_with("/api/v1/") || bare.starts_with("/health/") || bare == "/metrics";
    if !is_path || !is_api {
        let message = "A path begins with /api/v1/ or /health/, or is /metrics.";
        return Err(Fault::invalid("path", message));
    }
    // Whoever encodes letters of these asks for something that no appliance has.
    let is_kept = KEPT.contains(&bare.trim_end_matches('/'))
        && !(method == Method::GET && bare == "/api/v1/claim");
    if is_kept {
        let message = "This is asked by a call of its own, which keeps the token out of the page.";
        return Err(Fault::invalid("path", message));
    }
    if body.is_some_and(|body| body.len() > BODY_BYTES_MAX) {
        let message = format!("A body has at most {BODY_BYTES_MAX} bytes.");
        return Err(Fault { field: Some("body"), ..Fault::new(FaultCode::TooLarge, message) });
    }
    Ok(method)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(method: &str, path: &str) -> &'static str {
        check_api(method, path, None).unwrap_err().field.unwrap()
    }

    #[test]
    fn a_page_reaches_the_api_and_nothing_else() {
        for path in ["/api/v1/overview", "/api/v1/claim", "/health/ready", "/metrics"] {
            check_api("GET", path, None).unwrap();
        }
        check_api("GET", "/api/v1/workspaces/main/tags?prefix=a%2Fb&search=..", None).unwrap();
        for path in [
            "",
            "/",
            "api/v1/x",
            "http://other/api/v1/x",
            "//other/api/v1/x",
            "/oauth/token",
            "/api/v1/../../x",
            "/api/v1/%2E%2e/x",
            "/api/v1/a b",
            "/api/v1/a\nb",
            "/api/v1/a#b",
            "/api/v1/ä",
            "/api/v1\\x",
            "/hooks/main/x",
        ] {
            assert_eq!(refused("GET", path), "path", "{path}");
        }
        assert_eq!(refused("TRACE", "/api/v1/me"), "method");
        assert_eq!(refused("get", "/api/v1/me"), "method");
        assert_eq!(refused("GET", &format!("/api/v1/{}", "a".repeat(PATH_BYTES_MAX))), "path");
        let large = "x".repeat(BODY_BYTES_MAX + 1);
        let fault = check_api("PUT", "/api/v1/x", Some(&large)).unwrap_err();
        assert_eq!((fault.code, fault.field), (FaultCode::TooLarge, Some("body")));
    }

    #[test]
    fn a_page_never_gets_a_token() {
        for path in KEPT {
            assert_eq!(refused("POST", path), "path", "{path}");
            assert_eq!(refused("POST", &format!("{path}?x")), "path", "{path}");
            assert_eq!(refused("POST", &format!("{path}/")), "path", "{path}");
        }
    }

    #[test]
    fn a_page_sees_few_headers() {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "text/csv".parse().unwrap());
        headers.insert("set-cookie", "a=b".parse().unwrap());
        headers.insert("millrace-incomplete", "true".parse().unwrap());
        let answer = ApiAnswer::new(200, &headers, b"a,b");
        assert_eq!(answer.headers.len(), 2);
        assert_eq!(answer.text.as_deref(), Some("a,b"));
        let answer = ApiAnswer::new(200, &headers, &[0xff]);
        assert_eq!((answer.text, answer.base64.as_deref()), (None, Some("/w==")));
    }

    #[test]
    fn an_unknown_call_or_field_is_refused() {
        let call = |text: &str| serde_json::from_str::<Call>(text);
        assert!(matches!(call(r#"{"call":"greet"}"#), Ok(Call::Greet {})));
        for text in [
            r#"{"call":"read_file","path":"/x"}"#,
            r#"{"call":"profiles","more":1}"#,
            r#"{"call":"connect","profile":"../../x"}"#,
            r#"{"call":"trust","profile":"0000000000000001","fingerprint":"AB"}"#,
            r#"{}"#,
        ] {
            assert!(call(text).err().is_some_and(|error| error.is_data()), "{text}");
        }
    }
}
