//! Live values: one WebSocket for all pages.
//!
//! A page subscribes with filters and gets what matches in batches, as fast as they come; how fast
//! it shows them is its own matter. The connection is opened with the first subscription and
//! closed with the last; when it breaks off it is tried again with growing pauses, and `state` says
//! since when what is shown is old.
//!
//! **Invariants**
//! - What all pages together want is one subscription; a page that is left wants nothing any more.
//! - No lock is held while a page is called.

mod state;
mod values;

pub use state::LiveState;
pub use values::LiveValue;

use crate::api::Api;
use crate::host::{LiveLink, SharedHost};
use crate::session::{Sessions, SignedOut};
use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _, future};
use leptos::prelude::*;
use millrace_contract::v1;
use millrace_model::Filter;
use state::Pauses;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use values::Root;

/// Frames that are taken together, so that a page is called once for many.
const FRAMES_AT_ONCE: usize = 1_000;
/// How often the loop looks whether what is wanted has changed.
const LOOK: Duration = Duration::from_millis(250);

type Heard = Arc<dyn Fn(&[LiveValue]) + Send + Sync>;

struct Subscriber {
    number: u64,
    workspace: String,
    filters: Vec<(String, Option<Filter>)>,
    heard: Heard,
}

#[derive(Default)]
struct Table {
    next: u64,
    /// Moves with every change.
    generation: u64,
    subscribers: Vec<Subscriber>,
}

/// Live values of the appliance.
#[derive(Clone)]
pub struct Live {
    table: Arc<Mutex<Table>>,
    state: RwSignal<LiveState>,
}

/// Ends a subscription when it is dropped, or with the page.
pub struct LiveSubscription {
    live: Live,
    number: u64,
}

impl Drop for LiveSubscription {
    fn drop(&mut self) {
        let mut table = self.live.table();
        table.subscribers.retain(|subscriber| subscriber.number != self.number);
        table.generation += 1;
    }
}

impl Live {
    pub(crate) fn start(host: SharedHost, api: Api, sessions: Sessions) -> Self {
        let live = Self { table: Arc::default(), state: RwSignal::new(LiveState::Off) };
        let running = Runner { live: live.clone(), host, api, sessions, root: Root::default() };
        leptos::task::spawn_local(running.run());
        live
    }

    /// How the connection is.
    #[must_use]
    pub fn state(&self) -> Signal<LiveState> {
        self.state.into()
    }

    /// Hears every value below the workspace that one of the filters covers, until what is given
    /// back is dropped.
    #[must_use]
    pub fn subscribe(
        &self,
        workspace: &str,
        filters: &[String],
        heard: impl Fn(&[LiveValue]) + Send + Sync + 'static,
    ) -> LiveSubscription {
        let mut table = self.table();
        table.next += 1;
        table.generation += 1;
        let number = table.next;
        table.subscribers.push(Subscriber {
            number,
            workspace: workspace.to_owned(),
            filters: filters.iter().map(|text| (text.clone(), Filter::new(text).ok())).collect(),
            heard: Arc::new(heard),
        });
        LiveSubscription { live: self.clone(), number }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // One thread: a lock can only be poisoned by a panic, which ends the page anyway.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn generation(&self) -> u64 {
        self.table().generation
    }

    /// The workspace and filters that all subscribers together want.
    fn wanted(&self) -> Option<(String, Vec<String>)> {
        let table = self.table();
        let workspace = table.subscribers.first()?.workspace.clone();
        let of_it = table.subscribers.iter().filter(|one| one.workspace == workspace);
        let mut filters: Vec<String> =
            of_it.flat_map(|one| one.filters.iter().map(|(text, _)| text.clone())).collect();
        filters.sort();
        filters.dedup();
        Some((workspace, filters))
    }

    /// Hands values to whoever wants them.
    fn deliver(&self, workspace: &str, values: &[LiveValue]) {
        let mut calls: Vec<(Heard, Vec<LiveValue>)> = Vec::new();
        for subscriber in self.table().subscribers.iter().filter(|one| one.workspace == workspace) {
            let wanted = |value: &&LiveValue| {
                subscriber.filters.iter().any(|(_, filter)| {
                    filter.as_ref().is_some_and(|filter| filter.matches(&value.path))
                })
            };
            let own: Vec<LiveValue> = values.iter().filter(wanted).cloned().collect();
            if !own.is_empty() {
                calls.push((Arc::clone(&subscriber.heard), own));
            }
        }
        for (heard, own) in calls {
            heard(&own);
        }
    }
}

/// Why a connection ended.
enum End {
    /// Nobody wants anything any more.
    Unwanted,
    /// It broke off, or was refused for a passing reason.
    Lost,
    /// The token is no longer good.
    SignedOut,
}

struct Runner {
    live: Live,
    host: SharedHost,
    api: Api,
    sessions: Sessions,
    root: Root,
}

impl Runner {
    async fn run(mut self) {
        let mut pauses = Pauses::default();
        loop {
            let token = self
                .sessions
                .current()
                .with_untracked(|current| current.as_ref().map(|person| person.token.clone()));
            let (Some(token), Some(_)) = (token, self.live.wanted()) else {
                self.live.state.maybe_update(|state| state.become_off());
                self.host.wait(LOOK).await;
                continue;
            };
            self.live.state.maybe_update(LiveState::become_connecting);
            self.root.learn(&self.api).await;
            match self.connection(token, &mut pauses).await {
                End::Unwanted => {}
                End::SignedOut => self.sessions.end(SignedOut::Expired),
                End::Lost => {
                    let now = self.host.now();
                    self.live.state.update(|state| state.become_lost(now));
                    let pause = pauses.next(now);
                    self.host.wait(pause).await;
                }
            }
        }
    }

    async fn connection(&mut self, token: String, pauses: &mut Pauses) -> End {
        let Ok(LiveLink { frames, mut sink }) = self.host.open_live() else { return End::Lost };
        let hello = v1::FromClient::Authenticate { token };
        let Ok(hello) = serde_json::to_string(&hello) else { return End::Lost };
        if sink.send(hello).await.is_err() {
            return End::Lost;
        }
        let mut frames = frames.ready_chunks(FRAMES_AT_ONCE).fuse();
        let mut asked: Option<(u64, String)> = None;
        loop {
            let generation = self.live.generation();
            if asked.as_ref().is_none_or(|(of, _)| *of != generation) {
                let Some((workspace, filters)) = self.live.wanted() else { return End::Unwanted };
                let wish = v1::FromClient::Subscribe { workspace: workspace.clone(), filters };
                let Ok(wish) = serde_json::to_string(&wish) else { return End::Lost };
                if sink.send(wish).await.is_err() {
                    return End::Lost;
                }
                asked = Some((generation, workspace));
            }
            let look = self.host.wait(LOOK).fuse();
            let chunk = match future::select(frames.next(), look).await {
                future::Either::Left((Some(chunk), _)) => chunk,
                future::Either::Left((None, _)) => return End::Lost,
                future::Either::Right(((), _)) => continue,
            };
            let workspace = asked.as_ref().map_or("", |(_, workspace)| workspace);
            match self.hear(&chunk, workspace) {
                Ok(true) => {
                    pauses.forget();
                    self.live.state.maybe_update(LiveState::become_open);
                }
                Ok(false) => {}
                Err(end) => return end,
            }
        }
    }

    /// Takes a chunk of frames in. Gives whether the appliance has taken the token.
    fn hear(&self, chunk: &[String], workspace: &str) -> Result<bool, End> {
        let mut values = Vec::new();
        let mut good = false;
        for text in chunk {
            let Ok(frame) = serde_json::from_str::<v1::LiveFrame>(text) else { continue };
            match frame.kind {
                v1::LiveFrameKind::Error => {
                    let code = frame.error.map(|error| error.code);
                    return Err(match code {
                        Some(v1::ErrorCode::Unauthorized) => End::SignedOut,
                        _ => End::Lost,
                    });
                }
                v1::LiveFrameKind::Message => {
                    good = true;
                    values.extend(self.root.value(workspace, frame));
                }
                v1::LiveFrameKind::Dropped => {
                    let count = frame.count.unwrap_or_default();
                    self.live.state.update(|state| state.count_dropped(count));
                }
                _ => good = true,
            }
        }
        if !values.is_empty() {
            self.live.deliver(workspace, &values);
        }
        Ok(good)
    }
}
