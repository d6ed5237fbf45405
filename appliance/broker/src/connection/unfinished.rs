//! The front of a packet whose rest has not come yet.
//!
//! Only this is copied out of the thread's read buffer; whole packets are parsed where they lie.
//!
//! **Invariants**: memory follows the bytes that came, never the length that was announced; what
//! all connections hold together is bounded by [`UNFINISHED_BYTES_MAX`].

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::codec::{Fault, Frame, FrameLimits, frame, reason};
use crate::config::UNFINISHED_BYTES_MAX;
use crate::shared::Shared;

/// Memory that is kept between two packets.
const KEPT_BYTES_MAX: usize = 4 * 1024;

/// The unfinished packet of a connection.
#[derive(Debug)]
pub(crate) struct Unfinished {
    shared: Arc<Shared>,
    bytes: Vec<u8>,
    /// What is counted in `shared.unfinished_bytes`.
    counted: usize,
}

impl Unfinished {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, bytes: Vec::new(), counted: 0 }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Keeps the rest of a read, which is the front of a packet.
    pub(crate) fn start(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.append(bytes)
    }

    /// Takes from `more` what the packet still lacks; answers with what is left of `more` and
    /// whether the packet is whole.
    pub(crate) fn feed<'a>(
        &mut self,
        mut more: &'a [u8],
        limits: FrameLimits,
    ) -> Result<(&'a [u8], bool), Fault> {
        loop {
            let want = match frame(&self.bytes, limits)? {
                Frame::Whole { .. } => return Ok((more, true)),
                Frame::Unfinished(Some(total)) => total - self.bytes.len(),
                Frame::Unfinished(None) => 1,
            };
            let Some((taken, rest)) = more.split_at_checked(want.min(more.len())) else {
                return Ok((more, false));
            };
            if taken.is_empty() {
                return Ok((more, false));
            }
            self.append(taken)?;
            more = rest;
        }
    }

    /// Hands the whole packet out; [`Unfinished::give_back`] afterwards.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Takes the buffer back for the next packet, unless it is large.
    pub(crate) fn give_back(&mut self, mut bytes: Vec<u8>) {
        if bytes.capacity() <= KEPT_BYTES_MAX {
            bytes.clear();
            self.bytes = bytes;
        }
        self.release();
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let held = self.bytes.len() + bytes.len();
        if held > KEPT_BYTES_MAX {
            let more = held - self.counted;
            self.counted = held;
            let before = self.shared.unfinished_bytes.fetch_add(more, Ordering::Relaxed);
            if before + more > UNFINISHED_BYTES_MAX {
                return Err(Fault {
                    code: reason::QUOTA_EXCEEDED,
                    what: "too many large packets at once",
                });
            }
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn release(&mut self) {
        if self.counted > 0 {
            self.shared.unfinished_bytes.fetch_sub(self.counted, Ordering::Relaxed);
            self.counted = 0;
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        self.release();
    }
}
