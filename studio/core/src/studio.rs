//! The studio: executes the calls of pages.
//!
//! **Invariants**: one program per folder; no disk or keyring work on the threads that serve
//! sockets; a connection ends when its profile goes or changes; what was begun for a page ends with
//! that page.

mod connections;
mod profiles;
mod projects;

use crate::call::{Answer, Call, FileText, Greeting};
use crate::clock::Clock;
use crate::connection::Link;
use crate::discovery::Browser;
use crate::event::{Event, Notice, Outbox};
use crate::fault::{Fault, FaultCode, Result};
use crate::file::{self, Content};
use crate::limits::{CALLS_AT_ONCE_MAX, EXPORT_BYTES_MAX, OPENED_BYTES_MAX};
use crate::profile::{ProfileId, Profiles};
use crate::project::Store;
use crate::vault::{Secret, Vault};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use connections::Streams;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};

/// Where the studio keeps what it knows.
#[derive(Clone, Debug)]
pub struct Folders {
    /// Profiles and projects.
    pub state: PathBuf,
    /// Where exported files go.
    pub downloads: PathBuf,
}

/// What the studio is put together from.
pub struct StudioParts {
    /// Its folders.
    pub folders: Folders,
    /// Where passwords are.
    pub vault: Arc<dyn Vault>,
    /// The network that is searched.
    pub browser: Arc<dyn Browser>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The program's version.
    pub version: String,
}

/// The studio.
#[derive(Clone)]
pub struct Studio(Arc<Inner>);

struct Inner {
    parts: StudioParts,
    profiles: Mutex<Profiles>,
    store: Store,
    outbox: Arc<Outbox>,
    links: Mutex<BTreeMap<ProfileId, Linked>>,
    streams: Mutex<Streams>,
    tasks: Mutex<JoinSet<()>>,
    calls: Semaphore,
    notices: Mutex<Vec<Notice>>,
    /// Held for as long as the program runs.
    _lock: File,
}

/// A connection and its watch.
struct Linked {
    link: Arc<Link>,
    watch: AbortHandle,
}

impl Studio {
    /// Opens the folders.
    ///
    /// # Errors
    /// When another studio uses them, or they cannot be used. Damaged files are set aside and told
    /// in the greeting.
    pub fn open(parts: StudioParts) -> Result<Self> {
        file::make_folder(&parts.folders.state)?;
        let lock = lock(&parts.folders.state)?;
        let clock = Arc::clone(&parts.clock);
        let (profiles, notice) =
            Profiles::open(parts.folders.state.join("profiles.json"), Arc::clone(&clock))?;
        let store = Store::new(parts.folders.state.join("projects"), clock);
        Ok(Self(Arc::new(Inner {
            parts,
            profiles: Mutex::new(profiles),
            store,
            outbox: Arc::default(),
            links: Mutex::default(),
            streams: Mutex::default(),
            tasks: Mutex::default(),
            calls: Semaphore::new(CALLS_AT_ONCE_MAX),
            notices: Mutex::new(notice.into_iter().collect()),
            _lock: lock,
        })))
    }

    /// Executes a call of the page in a window.
    ///
    /// # Errors
    /// See [`Fault`].
    pub async fn call(&self, window: &str, call: Call) -> Result<Answer> {
        match call {
            Call::Greet {} => self.greet(window),
            Call::Events { session } => {
                let events = self.0.outbox.window(window)?.fetch(session).await?;
                Ok(Answer::Events { events })
            }
            call => {
                let permit = self.0.calls.acquire().await;
                let answer = Box::pin(self.work(window, call)).await;
                drop(permit);
                answer
            }
        }
    }

    async fn work(&self, window: &str, call: Call) -> Result<Answer> {
        match call {
            Call::Greet {} | Call::Events { .. } => Ok(Answer::Done),
            Call::Profiles {} => {
                Ok(Answer::Profiles { profiles: self.0.profiles.lock().all().to_vec() })
            }
            Call::AddProfile { name, address, plain_allowed } => {
                self.add_profile(name, address, plain_allowed).await
            }
            Call::ChangeProfile { profile, name, address, plain_allowed } => {
                self.change_profile(profile, name, address, plain_allowed).await
            }
            Call::RemoveProfile { profile, with_drafts } => {
                self.remove_profile(profile, with_drafts).await
            }
            Call::Discover { seconds } => self.discover(seconds).await,
            Call::Connect { profile } => self.connect(&profile).await,
            Call::Disconnect { profile } => {
                self.disconnect(&profile);
                Ok(Answer::Done)
            }
            Call::Trust { profile, fingerprint, replaces } => {
                self.trust(profile, fingerprint, replaces).await
            }
            Call::SignIn { profile, name, password, remember } => {
                self.sign_in(&profile, name, Secret::new(password), remember).await
            }
            Call::Claim { profile, code, name, password, remember } => {
                let claim = millrace_contract::v1::Claim { code, name, password };
                self.claim(&profile, claim, remember).await
            }
            Call::SignOut { profile } => self.sign_out(&profile).await,
            Call::Api { profile, method, path, body } => {
                self.api(&profile, &method, &path, body).await
            }
            Call::Live { session, profile, workspace, filters } => {
                self.live(window, session, &profile, workspace, filters)
            }
            Call::EndLive { stream } => self.end_live(window, stream),
            Call::Project { profile, workspace } => self.project(profile, workspace).await,
            Call::Topics { profile, workspace, search } => {
                self.topics(profile, workspace, search).await
            }
            Call::Fetch { profile, workspace } => self.fetch(profile, workspace).await,
            Call::Pipeline { profile, workspace, name } => {
                self.pipeline(profile, workspace, name).await
            }
            Call::SaveDraft { profile, workspace, name, document, base } => {
                self.save_draft(profile, workspace, name, (document, base)).await
            }
            Call::DropDraft { profile, workspace, name } => {
                self.drop_draft(profile, workspace, name).await
            }
            Call::Compare { profile, workspace, name } => {
                self.compare(profile, workspace, name).await
            }
            Call::Deploy { profile, workspace, name, note, expected, run } => {
                self.deploy(profile, workspace, name, projects::Order { note, expected, run }).await
            }
            Call::Export { name, text, base64 } => self.export(name, text, base64).await,
        }
    }

    fn greet(&self, window: &str) -> Result<Answer> {
        let session = self.0.outbox.window(window)?.greet();
        self.0.streams.lock().end_window(window);
        tracing::info!(window, "A page began.");
        let links = self.0.links.lock();
        let connections =
            links.iter().map(|(id, linked)| (id.clone(), linked.link.state())).collect();
        drop(links);
        Ok(Answer::Greeting(Box::new(Greeting {
            session,
            version: self.0.parts.version.clone(),
            profiles: self.0.profiles.lock().all().to_vec(),
            connections,
            notices: self.0.notices.lock().clone(),
        })))
    }

    /// A window is gone: what it had under way ends.
    pub fn close(&self, window: &str) {
        self.0.streams.lock().end_window(window);
        self.0.outbox.close(window);
    }

    /// Tells the page of a window that an entry of its menu was chosen.
    ///
    /// # Errors
    /// When there are too many windows.
    pub fn command(&self, window: &str, name: &str) -> Result<()> {
        self.0.outbox.window(window)?.tell(Event::Command { name: name.to_owned() });
        Ok(())
    }

    /// Reads a file that a person opened and hands it to the page of a window. Blocks.
    ///
    /// # Errors
    /// When there are too many windows; a file that cannot be read is told to the page.
    pub fn open_file(&self, window: &str, path: &Path) -> Result<()> {
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let text = match file::read(path, OPENED_BYTES_MAX) {
            Ok(Content::Bytes(bytes)) => {
                String::from_utf8(bytes).map_err(|_| "This file is no text.".to_owned())
            }
            Ok(Content::Absent) => Err("There is no such file.".to_owned()),
            Ok(Content::TooLarge) => {
                Err(format!("A pipeline's file has at most {OPENED_BYTES_MAX} bytes."))
            }
            Err(fault) => Err(fault.message),
        };
        let (text, fault) = match text {
            Ok(text) => (Some(text), None),
            Err(fault) => (None, Some(fault)),
        };
        let file = FileText { name, text, fault };
        self.0.outbox.window(window)?.tell(Event::Opened { file });
        Ok(())
    }

    async fn export(
        &self,
        name: String,
        text: Option<String>,
        base64: Option<String>,
    ) -> Result<Answer> {
        let is_name = !name.is_empty()
            && name.len() <= 200
            && !name.starts_with(['.', ' '])
            && !name.ends_with(['.', ' '])
            && !name.chars().any(|c| c.is_control() || "/\\:*?\"<>|".contains(c));
        if !is_name {
            return Err(Fault::invalid("name", "This is no name of a file."));
        }
        let bytes = match (text, base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(base64)) => STANDARD
                .decode(base64)
                .map_err(|_| Fault::invalid("base64", "This is no Base64."))?,
            _ => return Err(Fault::invalid("text", "Give either text or base64.")),
        };
        if bytes.len() > EXPORT_BYTES_MAX {
            let message = format!("A file has at most {EXPORT_BYTES_MAX} bytes.");
            return Err(Fault::new(FaultCode::TooLarge, message));
        }
        let path = self.on_disk(move |inner| {
            file::create_beside(&inner.parts.folders.downloads, &name, &bytes)
        });
        Ok(Answer::Exported { path: path.await?.display().to_string() })
    }

    /// Does what may block on a thread that may.
    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let inner = Arc::clone(&self.0);
        match tokio::task::spawn_blocking(move || work(&inner)).await {
            Ok(done) => done,
            Err(_) => Err(Fault::new(FaultCode::Storage, "The work on the disk broke off.")),
        }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let mut tasks = self.0.tasks.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task)
    }
}

/// Two programs on one folder would write over each other.
fn lock(folder: &Path) -> Result<File> {
    let path = folder.join("lock");
    let failed = |why: String| {
        Fault::new(FaultCode::Storage, format!("Cannot lock {}: {why}.", path.display()))
    };
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|error| failed(error.to_string()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(failed("another studio uses this folder".to_owned())),
        Err(TryLockError::Error(error)) => Err(failed(error.to_string())),
    }
}
