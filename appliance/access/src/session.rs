//! Sessions of signed-in people: random bearer tokens with an end.
//!
//! Only a hash of each token is held, in memory; a restart signs everybody out. Time is
//! monotonic, so a clock that jumps neither prolongs nor ends a session.
//!
//! **Invariants**: at most [`SESSIONS_MAX`]; the one that ends first makes room.

use crate::secret::{RandomError, Secret};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;

/// How long a person stays signed in: a shift and its handover.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 3_600);
/// What a session's token begins with.
pub(crate) const PREFIX: &str = "mrs_";
/// Most sessions at once.
const SESSIONS_MAX: usize = 1_000;

#[derive(Debug)]
struct Session {
    person: String,
    ends: Duration,
    /// Outlives the next end of all of the person's sessions: the change was made in it.
    is_spared: bool,
}

/// The open sessions by the hash of their token.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: Mutex<HashMap<[u8; 32], Session>>,
}

impl Sessions {
    pub(crate) fn open(&self, person: &str, now: Duration) -> Result<Secret, RandomError> {
        let token = Secret::new(format!("{PREFIX}{}", Secret::generate()?.reveal()));
        let mut open = self.open.lock();
        if open.len() >= SESSIONS_MAX {
            open.retain(|_, session| session.ends > now);
        }
        if open.len() >= SESSIONS_MAX
            && let Some(first) = open.iter().min_by_key(|(_, s)| s.ends).map(|(hash, _)| *hash)
        {
            open.remove(&first);
        }
        let session =
            Session { person: person.to_owned(), ends: now + SESSION_LIFETIME, is_spared: false };
        open.insert(hash(token.reveal()), session);
        Ok(token)
    }

    /// Whose session this is. Finding by hash needs no constant time: a difference in the
    /// hash's bytes tells nothing of the token's.
    pub(crate) fn person(&self, token: &str, now: Duration) -> Option<String> {
        let open = self.open.lock();
        open.get(&hash(token)).filter(|session| session.ends > now).map(|s| s.person.clone())
    }

    pub(crate) fn close(&self, token: &str) -> bool {
        self.open.lock().remove(&hash(token)).is_some()
    }

    /// Lets this session outlive the next end of all of its person's; `false` if there is none.
    pub(crate) fn spare(&self, token: &str, now: Duration) -> bool {
        let mut open = self.open.lock();
        let session = open.get_mut(&hash(token)).filter(|session| session.ends > now);
        session.map(|session| session.is_spared = true).is_some()
    }

    /// No session of the person outlives the others any more.
    pub(crate) fn spare_none_of(&self, person: &str) {
        let mut open = self.open.lock();
        let own = open.values_mut().filter(|session| session.person == person);
        own.for_each(|session| session.is_spared = false);
    }

    pub(crate) fn close_all_of(&self, person: &str) {
        self.open.lock().retain(|_, session| {
            session.person != person || std::mem::take(&mut session.is_spared)
        });
    }
}

fn hash(token: &str) -> [u8; 32] {
    *blake3::hash(token.as_bytes()).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_bounded_and_the_oldest_makes_room() {
        let sessions = Sessions::default();
        let first = sessions.open("anna", Duration::ZERO).unwrap();
        for second in 1..=SESSIONS_MAX {
            sessions.open("bert", Duration::from_secs(second as u64)).unwrap();
        }
        let now = Duration::from_secs(5);
        assert_eq!(sessions.person(first.reveal(), now), None);
        assert_eq!(sessions.open.lock().len(), SESSIONS_MAX);
    }
}
