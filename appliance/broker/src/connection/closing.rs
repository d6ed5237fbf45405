//! How a connection ends.
//!
//! ```text
//! No -> Drain (acknowledge what is in flight) -> Flush (our last packet) -> Linger -> over
//! ```
//! Linger: our side is closed; what the client still sends is read and thrown away, bounded, so
//! that the operating system does not reset the connection before our last packet is seen.
//!
//! **Invariants**: an end that began is never taken back; the sweep aborts one that lasts longer
//! than [`crate::config::LINGER`].

use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use tokio::io::ReadBuf;

use super::{Connection, READ_BUFFER};
use crate::codec::{Version, encode_disconnect, reason};
use crate::config::LINGER_BYTES_MAX;
use crate::link::Command;
use crate::stats::ConnectRefusal;

/// Where a connection stands on its way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    No,
    /// Reading has stopped; the farewell's reason code, if one is due.
    Drain(Option<u8>),
    Flush,
    Linger {
        bytes_left: usize,
        is_shut: bool,
    },
}

impl Connection {
    /// Does what the link was told; `true` = the connection is over at once.
    #[inline]
    pub(super) fn obey(&mut self) -> bool {
        let command = self.link.commanded();
        if command == self.obeyed {
            return false;
        }
        self.obeyed = command;
        if command == Command::Abort {
            if self.open.is_none() && matches!(self.closing, Closing::No) {
                self.shared.refused_connect(&self.link, ConnectRefusal::TooLate, None);
            }
            return true;
        }
        if matches!(self.closing, Closing::Flush | Closing::Linger { .. }) {
            return false;
        }
        let code = match command {
            Command::Shutdown => {
                if self.open.is_some() {
                    self.begin_drain(Some(reason::SERVER_SHUTTING_DOWN));
                } else {
                    self.shared.refused_connect(&self.link, ConnectRefusal::Unavailable, None);
                    self.begin_flush();
                }
                return false;
            }
            Command::KeepAlive => {
                self.shared.counters.keep_alive_timeouts.fetch_add(1, Ordering::Relaxed);
                reason::KEEP_ALIVE_TIMEOUT
            }
            Command::TakenOver => reason::SESSION_TAKEN_OVER,
            Command::Administrative | Command::None | Command::Abort => reason::NOT_AUTHORIZED,
        };
        if let Some(version) = self.open.as_ref().map(|open| open.version) {
            self.say_disconnect(code, None, version);
        }
        self.begin_flush();
        false
    }

    /// Stops reading; closes when everything in flight is acknowledged.
    pub(super) fn begin_drain(&mut self, farewell: Option<u8>) {
        self.closing = Closing::Drain(farewell);
        if farewell.is_none() {
            // The client is gone or half gone: the sweep bounds how long we wait for the commit.
            self.mark_closing();
        }
    }

    /// Sends what is in the output, then closes. The session and its subscriptions end now, not
    /// when the client at last closes its side.
    pub(super) fn begin_flush(&mut self) {
        self.closing = Closing::Flush;
        self.mark_closing();
        self.shared.table.end_session(&self.link);
        if let Some(open) = &mut self.open {
            self.shared.wiring.fanout.remove_all(&open.subscriber, &open.filters);
            open.filters.clear();
        }
    }

    /// From Drain to Flush once nothing is in flight.
    #[inline]
    pub(super) fn finish_drain(&mut self) {
        let Closing::Drain(farewell) = self.closing else { return };
        let Some(open) = &self.open else { return self.begin_flush() };
        if open.has_in_flight() {
            return;
        }
        if let Some(code) = farewell {
            let version = open.version;
            self.say_disconnect(code, None, version);
        }
        self.begin_flush();
    }

    /// Appends a DISCONNECT where the protocol has one.
    pub(super) fn say_disconnect(&mut self, code: u8, text: Option<&str>, version: Version) {
        if version == Version::V5
            && let Some(open) = &self.open
        {
            let text = text.filter(|_| open.wants_problem_information);
            encode_disconnect(code, text, open.packet_bytes_max, self.out.buffer());
        }
    }

    /// Closes our side and waits, within bounds, for the client to close its own.
    pub(super) fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !matches!(self.closing, Closing::Linger { .. }) {
            self.closing = Closing::Linger { bytes_left: LINGER_BYTES_MAX, is_shut: false };
        }
        let Closing::Linger { bytes_left, is_shut } = &mut self.closing else {
            return Poll::Ready(());
        };
        if !*is_shut {
            match self.stream.poll_shutdown(cx) {
                Poll::Ready(Ok(())) => *is_shut = true,
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
        READ_BUFFER.with_borrow_mut(|buffer| {
            loop {
                let mut read = ReadBuf::new(buffer);
                match self.stream.poll_read(cx, &mut read) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Err(_)) => return Poll::Ready(()),
                    Poll::Ready(Ok(())) => {}
                }
                let count = read.filled().len();
                if count == 0 || count > *bytes_left {
                    return Poll::Ready(());
                }
                *bytes_left -= count;
            }
        })
    }

    fn mark_closing(&self) {
        let second = self.shared.now_second().max(1);
        self.link.closing_second.store(second, Ordering::Relaxed);
    }
}
