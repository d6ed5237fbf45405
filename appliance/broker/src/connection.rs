//! One connection: a socket, its state, and one hand-written poll that does everything.
//!
//! Each wake, in this order: obey a command; give unsubmitted publishes to the journal;
//! acknowledge the whole durable front; take deliveries from the subscriber's queue; write all of
//! it at once; read, parse every whole packet where it lies, offer each publish; submit once.
//! The task is woken by the socket, by the journal's commit (registered with the submit), by the
//! subscriber's queue when it was empty, and by commands. No channel, no timer, no `select!`.
//!
//! **Invariants**: a read is followed by at most one submit; nothing is read while a submit
//! waits for room, or while too much waits for its commit or for the client to read; one write a
//! wake; what was offered before a client broke the protocol is stored all the same.

pub(crate) mod acknowledge;
mod aliases;
mod closing;
mod deliver;
mod handle;
mod open;
mod output;
mod stream;
mod unfinished;
mod verdict;

use std::cell::RefCell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker, ready};

use tokio::io::ReadBuf;

pub(crate) use stream::Stream;

use crate::codec::frame::kind;
use crate::codec::{Fault, Frame, FrameLimits, Version, frame};
use crate::config::{
    CONNECT_BYTES_MAX, CONTROL_BYTES_MAX, OUT_BYTES_MAX, READ_BUFFER_BYTES, READS_PER_WAKE,
};
use crate::link::{Command, Link};
use crate::shared::Shared;
use crate::stats::ConnectRefusal;
use closing::Closing;
use open::Open;
use output::Output;
use unfinished::Unfinished;

thread_local! {
    static READ_BUFFER: RefCell<Box<[u8]>> =
        RefCell::new(vec![0; READ_BUFFER_BYTES].into_boxed_slice());
}

/// A connection. What every wake touches lies in front.
#[repr(C)]
pub(crate) struct Connection {
    shared: Arc<Shared>,
    link: Arc<Link>,
    waker: Option<Waker>,
    obeyed: Command,
    closing: Closing,
    out: Output,
    stream: Stream,
    unfinished: Unfinished,
    /// `None` until signed in. Not in a box: what lies in one piece is fetched in one go.
    open: Option<Open>,
}

impl Connection {
    /// A connection that waits for its CONNECT. The link is in the table already.
    pub(crate) fn new(shared: Arc<Shared>, link: Arc<Link>, stream: Stream) -> Self {
        Self {
            unfinished: Unfinished::new(Arc::clone(&shared)),
            shared,
            link,
            stream,
            out: Output::default(),
            open: None,
            closing: Closing::No,
            obeyed: Command::None,
            waker: None,
        }
    }

    /// Everything. Ready when the connection is over.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.out.borrow();
        let polled = self.poll_lent(cx);
        self.out.give_back();
        polled
    }

    fn poll_lent(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.register(cx.waker());
        let mut turns = READS_PER_WAKE;
        loop {
            if self.obey() {
                return Poll::Ready(());
            }
            let has_more = self.answer_and_deliver(cx.waker());
            self.finish_drain();
            let flushed = match self.flush(cx) {
                Poll::Ready(Ok(())) => true,
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Pending => false,
            };
            match self.closing {
                Closing::No => {}
                Closing::Drain(_) => return Poll::Pending,
                Closing::Flush if !flushed => return Poll::Pending,
                Closing::Flush | Closing::Linger { .. } => return self.poll_linger(cx),
            }
            if turns == 0 {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            turns -= 1;
            if flushed && has_more {
                continue;
            }
            if !self.may_read() {
                return Poll::Pending;
            }
            match ready!(self.poll_read(cx)) {
                Ok(true) => {}
                Ok(false) if self.open.is_some() => self.begin_drain(None),
                Ok(false) | Err(_) => return Poll::Ready(()),
            }
        }
    }

    fn register(&mut self, waker: &Waker) {
        if !self.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            self.link.register(waker);
            self.waker = Some(waker.clone());
        }
    }

    /// Submits, acknowledges, delivers; whether more deliveries wait for room in the output.
    #[inline]
    fn answer_and_deliver(&mut self, waker: &Waker) -> bool {
        let Some(open) = &mut self.open else { return false };
        open.submit(waker, &self.shared);
        open.acknowledge(&self.shared, self.out.buffer());
        if !matches!(self.closing, Closing::No) {
            return false;
        }
        let delivered = open.deliver(self.link.take_ring(), waker, self.out.buffer());
        if delivered.count > 0 {
            self.shared.counters.deliveries.fetch_add(delivered.count, Ordering::Relaxed);
        }
        delivered.has_more
    }

    #[inline]
    fn flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut sent_bytes = 0;
        let flushed = self.out.poll_flush(&mut self.stream, cx, &mut sent_bytes);
        if sent_bytes > 0 {
            self.link.hot.bytes_out.fetch_add(sent_bytes, Ordering::Relaxed);
            self.shared.counters.bytes_out.fetch_add(sent_bytes, Ordering::Relaxed);
        }
        flushed
    }

    /// Whether to read on; tells the sweep when it is we who do not want to.
    #[inline]
    fn may_read(&self) -> bool {
        let held = self.open.as_ref().is_some_and(|open| !open.may_read(&self.shared.config));
        if held != self.link.hot.is_held.load(Ordering::Relaxed) {
            // The time that we did not listen is not the client's silence.
            self.link.hot.active_second.store(self.shared.now_second(), Ordering::Relaxed);
            self.link.hot.is_held.store(held, Ordering::Release);
        }
        !held && self.out.len() <= OUT_BYTES_MAX
    }

    /// Reads once and handles what came; `false` = the client sends no more.
    #[inline]
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        READ_BUFFER.with_borrow_mut(|buffer| {
            let mut read = ReadBuf::new(buffer);
            ready!(self.stream.poll_read(cx, &mut read))?;
            let bytes = read.filled();
            if bytes.is_empty() {
                return Poll::Ready(Ok(false));
            }
            let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            self.link.hot.bytes_in.fetch_add(count, Ordering::Relaxed);
            self.shared.counters.bytes_in.fetch_add(count, Ordering::Relaxed);
            self.take(bytes);
            Poll::Ready(Ok(true))
        })
    }

    /// Handles all whole packets of a read and keeps the front of the next.
    fn take(&mut self, bytes: &[u8]) {
        if let Some(open) = &mut self.open {
            open.begin_read();
        }
        let mut whole_packets = 0u32;
        if let Err(fault) = self.take_packets(bytes, &mut whole_packets) {
            self.fail(fault);
        }
        if whole_packets > 0 {
            self.link.hot.active_second.store(self.shared.now_second(), Ordering::Relaxed);
        }
        if let Some(open) = &mut self.open {
            let publishes = open.take_publish_count();
            if publishes > 0 {
                self.link.hot.publishes.fetch_add(publishes, Ordering::Relaxed);
                self.shared.counters.publishes.fetch_add(publishes, Ordering::Relaxed);
            }
        }
    }

    fn take_packets(&mut self, mut bytes: &[u8], whole_packets: &mut u32) -> Result<(), Fault> {
        while !bytes.is_empty() && matches!(self.closing, Closing::No) {
            let limits = self.limits();
            if self.unfinished.is_empty() {
                match frame(bytes, limits)? {
                    Frame::Whole { header, body, total } => {
                        *whole_packets += 1;
                        self.packet(header, body)?;
                        bytes = bytes.get(total..).unwrap_or_default();
                    }
                    Frame::Unfinished(_) => return self.unfinished.start(bytes),
                }
            } else {
                let (rest, is_whole) = self.unfinished.feed(bytes, limits)?;
                bytes = rest;
                if is_whole {
                    *whole_packets += 1;
                    let packet = self.unfinished.take();
                    if let Frame::Whole { header, body, .. } = frame(&packet, limits)? {
                        self.packet(header, body)?;
                    }
                    self.unfinished.give_back(packet);
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn limits(&self) -> FrameLimits {
        match &self.open {
            Some(open) => FrameLimits {
                publish_bytes_max: self.shared.config.packet_bytes_max,
                control_bytes_max: CONTROL_BYTES_MAX,
                version: open.version,
            },
            None => FrameLimits {
                publish_bytes_max: CONNECT_BYTES_MAX,
                control_bytes_max: CONNECT_BYTES_MAX,
                version: Version::V311,
            },
        }
    }

    #[inline]
    fn packet(&mut self, header: u8, body: &[u8]) -> Result<(), Fault> {
        let Some(open) = &mut self.open else {
            if header >> 4 == kind::CONNECT {
                self.connect(body);
                return Ok(());
            }
            return Err(Fault::protocol("the first packet is not a CONNECT"));
        };
        if header >> 4 == kind::PUBLISH {
            return open.publish(&self.shared.config, header, body);
        }
        self.control(header >> 4, body)
    }

    /// The client broke a rule: tell it which, and close.
    fn fail(&mut self, fault: Fault) {
        if let Some(open) = &self.open {
            self.shared.counters.protocol_faults.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(from = %self.link.from, %fault, "Closed: protocol fault.");
            let version = open.version;
            self.say_disconnect(fault.code, Some(fault.what), version);
        } else {
            self.shared.refused_connect(&self.link, ConnectRefusal::Malformed, None);
        }
        self.begin_flush();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(open) = &self.open {
            self.shared.wiring.fanout.remove_all(&open.subscriber, &open.filters);
        }
    }
}
