//! The first-run claim: who can read the box's terminal becomes its first admin.
//!
//! There is no default password. While there is no person, a code of 4 x 4 characters is shown on
//! the terminal; it is good for one person, one hour and five attempts. After five wrong ones a
//! new code is announced and a minute passes, so the 79 bits cannot be walked.
//!
//! **Invariants**: only the code's hash is held; the right attempt takes the code out under the
//! lock, so two at once cannot both win, and gives it back if name or password will not do; no
//! lock is held while a password is hashed, for the journal's thread may want to close the claim.

use crate::keys::{Key, same};
use crate::secret::{RandomError, Secret, random_text};
use parking_lot::Mutex;
use std::time::Duration;
use thiserror::Error;

/// No 0/O, 1/I/L: read over a phone or off a screen without doubt.
const ALPHABET: &[u8] = b"23456789ABCDEFGHJKMNPQRSTUVWXYZ";
const GROUPS: usize = 4;
const GROUP_CHARS: usize = 4;
/// How long a code is good.
pub(crate) const CODE_LIFETIME: Duration = Duration::from_secs(3_600);
/// Wrong attempts on one code.
pub(crate) const ATTEMPTS_MAX: u32 = 5;
/// How long nobody may try after that.
pub(crate) const WAIT: Duration = Duration::from_secs(60);

/// Why a claim was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ClaimError {
    /// Somebody claimed it already.
    #[error("this box has been claimed already")]
    AlreadyClaimed,
    /// The code is not the one shown.
    #[error("the claim code is wrong")]
    WrongCode,
    /// The hour is over.
    #[error("the claim code has expired; restart the appliance for a new one")]
    Expired,
    /// Too many wrong attempts.
    #[error("too many wrong codes; a new one was shown, try it in {} s", retry_after.as_secs().max(1))]
    Wait {
        /// How long.
        retry_after: Duration,
    },
    /// The name or password will not do; the code is still good.
    #[error(transparent)]
    Refused(#[from] crate::change::ChangeError),
}

#[derive(Debug)]
struct Code {
    hash: [u8; 32],
    expires: Duration,
    attempts: u32,
}

/// Holds the code while there is one.
#[derive(Debug)]
pub(crate) struct Claim {
    key: Key,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    code: Option<Code>,
    closed_until: Duration,
    is_closed: bool,
}

impl Claim {
    pub(crate) fn new(key: Key) -> Self {
        Self { key, state: Mutex::default() }
    }

    /// Makes a new code; the one before is void.
    pub(crate) fn issue(&self, now: Duration) -> Result<Secret, RandomError> {
        self.renew(&mut self.state.lock(), now)
    }

    /// Nothing can be claimed any more.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.code = None;
        state.is_closed = true;
    }

    /// Holds a code against the one shown and uses it up if `take` succeeds. After the last
    /// wrong attempt the new code is handed to `announce`.
    pub(crate) fn redeem<T>(
        &self,
        text: &str,
        now: Duration,
        announce: impl FnOnce(&Secret),
        take: impl FnOnce() -> Result<T, ClaimError>,
    ) -> Result<T, ClaimError> {
        let mut state = self.state.lock();
        let Some(code) = state.code.as_mut() else { return Err(ClaimError::AlreadyClaimed) };
        if code.expires <= now {
            return Err(ClaimError::Expired);
        }
        let (hash, attempts) = (code.hash, code.attempts + 1);
        if state.closed_until > now {
            return Err(ClaimError::Wait { retry_after: state.closed_until.saturating_sub(now) });
        }
        if same(&self.hash(text), &hash) {
            let code = state.code.take();
            drop(state);
            return take().inspect_err(|_| {
                let mut state = self.state.lock();
                if !state.is_closed {
                    state.code = code;
                }
            });
        }
        if attempts < ATTEMPTS_MAX {
            if let Some(code) = state.code.as_mut() {
                code.attempts = attempts;
            }
            return Err(ClaimError::WrongCode);
        }
        state.closed_until = now + WAIT;
        let fresh = self.renew(&mut state, now).map_err(crate::change::ChangeError::from)?;
        drop(state);
        announce(&fresh);
        Err(ClaimError::Wait { retry_after: WAIT })
    }

    fn renew(&self, state: &mut State, now: Duration) -> Result<Secret, RandomError> {
        let groups: Result<Vec<_>, _> =
            (0..GROUPS).map(|_| random_text(ALPHABET, GROUP_CHARS)).collect();
        let text = groups?.join("-");
        let hash = self.hash(&text);
        state.code = Some(Code { hash, expires: now + CODE_LIFETIME, attempts: 0 });
        Ok(Secret::new(text))
    }

    /// Hyphens, spaces and case do not count: people type it.
    fn hash(&self, text: &str) -> [u8; 32] {
        let plain: String = text
            .chars()
            .filter(|character| !matches!(character, '-' | ' '))
            .take(2 * GROUPS * GROUP_CHARS)
            .map(|character| character.to_ascii_uppercase())
            .collect();
        self.key.hash(plain.as_bytes())
    }
}
