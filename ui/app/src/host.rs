//! The host: everything of the machine that a page may reach, as one trait.
//!
//! In a browser it is fetch, WebSocket and the page's own storage; in the desktop program it is the
//! shell's commands. Nothing else in this crate knows which of the two it is.
//!
//! **Invariants**
//! - Every request ends: with an answer, or within its time limit with a fault.
//! - An answer has a largest size; more is a fault, never memory.

mod browser;
pub mod desktop;

pub use browser::Browser;

use millrace_model::Timestamp;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// The host, shared by everything.
pub type SharedHost = Arc<dyn Host>;
/// What comes later; pages run on one thread.
pub type Later<T> = Pin<Box<dyn Future<Output = T>>>;
/// Frames that come in.
pub type Frames = Pin<Box<dyn futures_util::Stream<Item = String>>>;
/// Frames that go out.
pub type FrameSink = Pin<Box<dyn futures_util::Sink<String, Error = Unreachable>>>;

/// Largest answer that is held in memory.
pub const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Time for an answer, unless the request says otherwise.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// How a request acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Creates or does.
    Post,
    /// Replaces.
    Put,
    /// Changes.
    Patch,
    /// Removes.
    Delete,
}

/// One request to the appliance.
#[derive(Clone)]
pub struct Request {
    /// How it acts.
    pub method: Method,
    /// Path and query, from the root of the appliance: `/api/v1/version`.
    pub address: String,
    /// The bearer token.
    pub token: Option<String>,
    /// A JSON body.
    pub body: Option<String>,
    /// How long to wait for the whole answer.
    pub timeout: Duration,
}

/// One answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unreachable {
    /// The appliance cannot be reached.
    #[error("the appliance cannot be reached")]
    NoConnection,
    /// It did not answer in time.
    #[error("the appliance did not answer in time")]
    TimedOut,
    /// It answered with more than is held.
    #[error("the answer is larger than {ANSWER_BYTES_MAX} bytes")]
    TooLarge,
}

/// An open live connection; dropping both ends closes it.
pub struct LiveLink {
    /// Text frames of the appliance; it ends when the connection does.
    pub frames: Frames,
    /// Text frames to the appliance.
    pub sink: FrameSink,
}

/// What is kept on the person's machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The session, until the window is closed.
    Session,
    /// The language, for good.
    Language,
    /// Light or dark, for good.
    Theme,
    /// What a page remembers, for good; the page chooses the name.
    Page(&'static str),
}

/// Everything of the machine that a page may reach.
pub trait Host: Send + Sync {
    /// Called once, before anything is shown.
    fn prepare(&self);
    /// Asks the appliance.
    fn send(&self, request: Request) -> Later<Result<Answer, Unreachable>>;
    /// Opens the live connection.
    ///
    /// # Errors
    /// When it cannot even be tried.
    fn open_live(&self) -> Result<LiveLink, Unreachable>;
    /// Waits.
    fn wait(&self, time: Duration) -> Later<()>;
    /// The machine's clock.
    fn now(&self) -> Timestamp;
    /// Minutes east of UTC at a time, where the person is.
    fn utc_offset_minutes(&self, at: Timestamp) -> i32;
    /// The person's languages, the dearest first: `de-AT`.
    fn languages(&self) -> Vec<String>;
    /// Whether the system is set to dark.
    fn prefers_dark(&self) -> bool;
    /// What was kept.
    fn kept(&self, what: Kept) -> Option<String>;
    /// Keeps something, or forgets it.
    fn keep(&self, what: Kept, value: Option<&str>);
    /// Marks the page's root, for style sheets and readers: `lang`, `data-theme`.
    fn mark_root(&self, name: &'static str, value: &str);
    /// The window's title.
    fn set_title(&self, title: &str);
    /// Copies text for pasting elsewhere; whether that worked.
    fn copy_text(&self, text: &str) -> Later<bool>;
    /// Hands the person a file.
    fn save_file(&self, name: &str, media_type: &str, bytes: &[u8]);
}
