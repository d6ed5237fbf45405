//! What devices do when the server dies: notice, come back, send again what has no answer.
//!
//! **Invariants**
//! - Acknowledgements that still lie in the sockets are read before the line "before the end" is
//!   drawn: the server had sent them.
//! - The server is back when it has signed the first client in. A connection that is refused or
//!   ends unanswered before that may have met the dying one, and is tried again.
//! - A repetition carries the same value and the same source time, and its DUP flag.

use std::time::Duration;

use anyhow::{Result, bail};

use super::crowd::Crowd;
use super::phase::drain;
use super::spec::Event;

/// How long a dead server's connections may take to be seen as closed.
const CLOSING_LIMIT_NANOS: u64 = 5_000_000_000;
const RETRY_NANOS: u64 = 5_000_000;
const SIGN_IN_LIMIT: Duration = Duration::from_secs(20);

/// Comes back and sends again. Does nothing when no connection was lost.
pub(crate) fn come_back(crowd: &mut Crowd, tell: &mut dyn FnMut(Event)) -> Result<()> {
    let (Some(limit_ms), true) = (crowd.spec.resend_ms, crowd.offline > 0) else { return Ok(()) };
    let closing = crowd.clock.now() + CLOSING_LIMIT_NANOS;
    while crowd.offline < crowd.clients.len() {
        if crowd.clock.now() > closing {
            bail!("the server closed some connections only{}", crowd.reason());
        }
        crowd.poll(RETRY_NANOS)?;
        // Sockets tell of changes only: an end that came together with answers is not told again.
        for number in 0..crowd.clients.len() {
            crowd.read(number)?;
        }
    }
    crowd.book.server_down();
    tell(Event::Down { acknowledged: crowd.tally.acknowledged });
    let limit = crowd.clock.now() + limit_ms * 1_000_000;
    // What was due and not sent is dropped: the round is over. Before anybody is signed in again,
    // or a new value would go out and then be sent again with those that wait.
    for client in &mut crowd.clients {
        client.due = client.sent;
    }
    wait_for_server(crowd, limit)?;
    crowd.connect_all(SIGN_IN_LIMIT)?;
    tell(Event::Again);
    for client in 0..crowd.clients.len() {
        crowd.resend(client);
    }
    drain(crowd)?;
    if crowd.offline > 0 {
        bail!("the server went away again while values were sent again{}", crowd.reason());
    }
    Ok(())
}

/// Waits until a server signs the first client in: a listener alone may be the dying server's.
fn wait_for_server(crowd: &mut Crowd, limit: u64) -> Result<()> {
    // What the old server said when it closed is not the new one's word.
    crowd.close_reason = None;
    while !crowd.connect_first(limit)? {
        if crowd.clock.now() > limit {
            bail!("the server did not listen again in time");
        }
        crowd.poll(RETRY_NANOS)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
