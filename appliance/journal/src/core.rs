//! What the threads and handles of one journal share.

use crate::config::Config;
use crate::cursor::Cursors;
use crate::group_commit::Queue;
use crate::health::Health;
use crate::keeper::Signal;
use crate::pool::Pool;
use std::sync::atomic::AtomicBool;

pub(crate) struct Core {
    pub(crate) config: Config,
    pub(crate) queue: Queue,
    pub(crate) pool: Pool,
    pub(crate) cursors: Cursors,
    pub(crate) health: Health,
    pub(crate) signal: Signal,
    /// The newest segment fills up: the next should be made ready.
    pub(crate) wants_segment: AtomicBool,
}
