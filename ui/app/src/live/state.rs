//! How the live connection is, and the pauses before it is tried again.
//!
//! **Invariants**
//! - `since` of a lost connection is the first loss: trying again does not make old values younger.
//! - Pauses grow to a quarter of a minute and never vanish: an appliance that comes back is not
//!   called by all windows at once.

use millrace_model::Timestamp;
use std::time::Duration;

const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(15);

/// How the live connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveState {
    /// Nobody wants live values.
    Off,
    /// On its way.
    Connecting,
    /// Values come. So many were dropped because this page was too slow.
    Open {
        /// Values dropped since the connection was opened.
        dropped: u64,
    },
    /// It broke off; it is tried again.
    Lost {
        /// When it broke off, by this machine's clock.
        since: Timestamp,
    },
}

impl LiveState {
    pub(super) fn become_off(&mut self) -> bool {
        std::mem::replace(self, Self::Off) != Self::Off
    }

    pub(super) fn become_connecting(&mut self) -> bool {
        // A lost connection stays lost until the appliance has taken the token.
        let was_off = *self == Self::Off;
        if was_off {
            *self = Self::Connecting;
        }
        was_off
    }

    pub(super) fn become_open(&mut self) -> bool {
        let was_open = matches!(self, Self::Open { .. });
        if !was_open {
            *self = Self::Open { dropped: 0 };
        }
        !was_open
    }

    pub(super) fn become_lost(&mut self, now: Timestamp) {
        if !matches!(self, Self::Lost { .. }) {
            *self = Self::Lost { since: now };
        }
    }

    pub(super) fn count_dropped(&mut self, count: u64) {
        if let Self::Open { dropped } = self {
            *dropped += count;
        }
    }
}

/// The pauses between attempts.
#[derive(Default)]
pub(super) struct Pauses {
    failed: u32,
}

impl Pauses {
    /// The next pause: twice the last one, and up to a quarter more so that windows spread.
    pub(super) fn next(&mut self, now: Timestamp) -> Duration {
        let grown = PAUSE_MIN.saturating_mul(1 << self.failed.min(10)).min(PAUSE_MAX);
        self.failed += 1;
        let spread = u32::try_from(now.split_millis().0.rem_euclid(100)).unwrap_or(0);
        grown + grown * spread / 400
    }

    /// The connection works: the next loss begins with the shortest pause.
    pub(super) fn forget(&mut self) {
        self.failed = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_their_limit() {
        let mut pauses = Pauses::default();
        let all: Vec<Duration> = (0..8).map(|_| pauses.next(Timestamp(0))).collect();
        assert_eq!(all.first(), Some(&PAUSE_MIN));
        assert!(all.is_sorted(), "{all:?}");
        assert_eq!(all.last(), Some(&PAUSE_MAX));
        pauses.forget();
        assert_eq!(pauses.next(Timestamp(0)), PAUSE_MIN);
    }

    #[test]
    fn stays_lost_since_the_first_loss() {
        let mut state = LiveState::Open { dropped: 0 };
        state.become_lost(Timestamp(5));
        assert!(!state.become_connecting());
        state.become_lost(Timestamp(9));
        assert_eq!(state, LiveState::Lost { since: Timestamp(5) });
        assert!(state.become_open());
        assert_eq!(state, LiveState::Open { dropped: 0 });
    }
}
