//! What a page is told without asking, and the bounded queue of each window in which it waits.
//!
//! A page greets once and then fetches events in a loop; each fetch waits until there is something.
//! So a page that is slow, hidden or hung costs no more than its queue. A second greeting in the
//! same window (a reload) ends the first page's queue and streams.
//!
//! **Invariants**: a newer state of the same thing replaces the one that waits; what does not fit
//! is dropped from the old end and counted; frames of one stream stay in order.

use crate::call::FileText;
use crate::connection::ConnectionState;
use crate::fault::{Fault, FaultCode, Result};
use crate::limits::{EVENTS_MAX, EVENTS_WAIT, FRAMES_BYTES_MAX, FRAMES_MAX, GATHER, WINDOWS_MAX};
use crate::profile::{Profile, ProfileId};
use parking_lot::Mutex;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// What a page is told.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// An appliance's connection has another state.
    Connection {
        /// The appliance.
        profile: ProfileId,
        /// Its state.
        state: ConnectionState,
    },
    /// The list of appliances changed.
    Profiles {
        /// All of them.
        profiles: Vec<Profile>,
    },
    /// The stored project of an appliance changed.
    Project {
        /// The appliance.
        profile: ProfileId,
        /// The workspace.
        workspace: String,
    },
    /// Frames of a live subscription, as the appliance sends them.
    Live {
        /// The number that the subscription was given.
        stream: u32,
        /// Whether it is connected now; while it is not, values are stale.
        connected: bool,
        /// The frames as JSON texts, oldest first: a page's own numbers could not hold them.
        frames: Vec<String>,
        /// Frames that were dropped before these, because the page was too slow.
        dropped: u64,
    },
    /// A person opened a pipeline's file with this program.
    Opened {
        /// The file.
        file: FileText,
    },
    /// A menu entry or shortcut of the window was chosen.
    Command {
        /// Its name, from the shell's list.
        name: String,
    },
    /// Something that a person should know.
    Notice {
        /// What.
        notice: Notice,
    },
}

/// Something that a person should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// What happened and what to do.
    pub message: String,
}

impl Notice {
    pub(crate) fn damaged(what: &str, aside: &Path, why: &str) -> Self {
        let aside = aside.display();
        let message =
            format!("The file of {what} could not be read ({why}). It was kept as {aside}.");
        Self { message }
    }
}

/// The queues of all windows.
#[derive(Default)]
pub(crate) struct Outbox {
    windows: Mutex<BTreeMap<String, Arc<Queue>>>,
}

/// What waits for one window.
#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    session: u64,
    events: VecDeque<Event>,
    streams: BTreeMap<u32, Stream>,
}

#[derive(Default)]
struct Stream {
    is_connected: bool,
    is_told: bool,
    frames: VecDeque<String>,
    bytes: usize,
    dropped: u64,
}

impl Outbox {
    /// The window's queue; made when there is none.
    pub(crate) fn window(&self, window: &str) -> Result<Arc<Queue>> {
        let mut windows = self.windows.lock();
        if let Some(queue) = windows.get(window) {
            return Ok(Arc::clone(queue));
        }
        if windows.len() >= WINDOWS_MAX {
            let message = format!("There are at most {WINDOWS_MAX} windows.");
            return Err(Fault::new(FaultCode::TooLarge, message));
        }
        let queue = Arc::new(Queue::default());
        windows.insert(window.to_owned(), Arc::clone(&queue));
        Ok(queue)
    }

    pub(crate) fn close(&self, window: &str) {
        self.windows.lock().remove(window);
    }

    /// Tells all windows.
    pub(crate) fn tell_all(&self, event: &Event) {
        for queue in self.windows.lock().values() {
            queue.tell(event.clone());
        }
    }
}

impl Queue {
    /// A page begins: what waited for an earlier one goes, but for what nobody has seen. Gives the
    /// page's session.
    pub(crate) fn greet(&self) -> u64 {
        let mut state = self.state.lock();
        state.session += 1;
        state.streams.clear();
        state.events.retain(|event| {
            matches!(event, Event::Opened { .. } | Event::Notice { .. } | Event::Command { .. })
        });
        let session = state.session;
        drop(state);
        self.changed.notify_waiters();
        session
    }

    pub(crate) fn tell(&self, event: Event) {
        let mut state = self.state.lock();
        state.events.retain(|waiting| !replaces(&event, waiting));
        state.events.push_back(event);
        while state.events.len() > EVENTS_MAX {
            state.events.pop_front();
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Makes room for a stream of the page with this session.
    pub(crate) fn open_stream(&self, session: u64, stream: u32) -> Result<()> {
        let mut state = self.state.lock();
        state.check(session)?;
        state.streams.insert(stream, Stream { is_told: true, ..Stream::default() });
        Ok(())
    }

    pub(crate) fn end_stream(&self, stream: u32) {
        self.state.lock().streams.remove(&stream);
    }

    /// Notes whether a stream is connected; gives whether the page still has it.
    pub(crate) fn stream_state(&self, stream: u32, is_connected: bool) -> bool {
        self.with_stream(stream, |waiting| {
            if waiting.is_connected != is_connected {
                waiting.is_connected = is_connected;
                waiting.is_told = false;
            }
        })
    }

    /// Adds a frame; gives whether the page still has the stream.
    pub(crate) fn frame(&self, stream: u32, frame: String) -> bool {
        self.with_stream(stream, |waiting| {
            waiting.bytes += frame.len();
            waiting.frames.push_back(frame);
            while waiting.frames.len() > FRAMES_MAX || waiting.bytes > FRAMES_BYTES_MAX {
                let Some(oldest) = waiting.frames.pop_front() else { break };
                waiting.bytes -= oldest.len();
                waiting.dropped += 1;
            }
        })
    }

    fn with_stream(&self, stream: u32, change: impl FnOnce(&mut Stream)) -> bool {
        let mut state = self.state.lock();
        let Some(waiting) = state.streams.get_mut(&stream) else { return false };
        change(waiting);
        drop(state);
        self.changed.notify_waiters();
        true
    }

    /// What waits; nothing after [`EVENTS_WAIT`] without anything.
    pub(crate) async fn fetch(&self, session: u64) -> Result<Vec<Event>> {
        let until = Instant::now() + EVENTS_WAIT;
        loop {
            let changed = self.changed.notified();
            let mut changed = std::pin::pin!(changed);
            // From here on no change is missed.
            changed.as_mut().enable();
            if self.state.lock().has_something(session)? {
                // Live values come in swarms: one answer for all of the next moment.
                tokio::time::sleep(GATHER).await;
                return self.state.lock().take(session);
            }
            if timeout_at(until, changed).await.is_err() {
                return Ok(Vec::new());
            }
        }
    }
}

impl State {
    fn has_something(&self, session: u64) -> Result<bool> {
        self.check(session)?;
        let live = |stream: &Stream| !stream.is_told || !stream.frames.is_empty();
        Ok(!self.events.is_empty() || self.streams.values().any(live))
    }

    fn take(&mut self, session: u64) -> Result<Vec<Event>> {
        self.check(session)?;
        let mut events: Vec<Event> = self.events.drain(..).collect();
        for (number, stream) in &mut self.streams {
            if stream.is_told && stream.frames.is_empty() {
                continue;
            }
            stream.is_told = true;
            stream.bytes = 0;
            events.push(Event::Live {
                stream: *number,
                connected: stream.is_connected,
                frames: stream.frames.drain(..).collect(),
                dropped: std::mem::take(&mut stream.dropped),
            });
        }
        Ok(events)
    }

    fn check(&self, session: u64) -> Result<()> {
        if self.session == session {
            return Ok(());
        }
        Err(Fault::new(FaultCode::Replaced, "This page was opened anew in its window."))
    }
}

/// Whether a new event makes one that still waits worthless.
fn replaces(new: &Event, waiting: &Event) -> bool {
    match (new, waiting) {
        (Event::Connection { profile: new, .. }, Event::Connection { profile: old, .. }) => {
            new == old
        }
        (Event::Profiles { .. }, Event::Profiles { .. }) => true,
        (
            Event::Project { profile: new, workspace: to },
            Event::Project { profile: old, workspace: from },
        ) => new == old && to == from,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
