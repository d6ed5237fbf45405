//! People's passwords: argon2id.
//!
//! The cost is OWASP's minimum, 19 MiB, two passes, one lane. RFC 9106's second recommendation
//! (64 MiB, three passes, four lanes) would take a quarter of the box's memory budget for one
//! login and half a second of its two cores while a plant is publishing; the limiter of failed
//! sign-ins is what stops guessing over the network.
//!
//! **Invariants**: at most one hash is computed at a time, so logins cannot take the memory; an
//! unknown name costs as much time as a wrong password.

use crate::secret::{RandomError, random};
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};
use parking_lot::Mutex;
use std::time::Duration;
use thiserror::Error;

/// Memory of one hash in KiB.
const MEMORY_KIB: u32 = 19 * 1024;
/// Passes over the memory.
const PASSES: u32 = 2;
/// Lanes.
const LANES: u32 = 1;
/// Fewest characters of a password (NIST SP 800-63B asks for 8 at least).
pub(crate) const PASSWORD_CHARS_MIN: usize = 10;
/// Longest password in bytes.
pub(crate) const PASSWORD_BYTES_MAX: usize = 256;
/// How long a login waits for the ones before it.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// Why a password could not be hashed or held against a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum PasswordError {
    #[error("too many people sign in at once")]
    Busy,
    #[error("the password could not be hashed")]
    Hash,
    #[error(transparent)]
    Random(#[from] RandomError),
}

/// Computes hashes, one at a time.
#[derive(Debug, Default)]
pub(crate) struct Passwords {
    /// A hash that no password fits, made on first use.
    turn: Mutex<Option<String>>,
}

impl Passwords {
    /// The hash of a new password, in PHC form.
    pub(crate) fn hash(&self, password: &str) -> Result<String, PasswordError> {
        let _turn = self.turn.try_lock_for(WAIT_MAX).ok_or(PasswordError::Busy)?;
        hash(password)
    }

    /// Whether the password fits; without a hash the same time passes and it does not.
    pub(crate) fn verify(&self, password: &str, phc: Option<&str>) -> Result<bool, PasswordError> {
        let mut turn = self.turn.try_lock_for(WAIT_MAX).ok_or(PasswordError::Busy)?;
        if password.len() > PASSWORD_BYTES_MAX {
            return Ok(false);
        }
        let Some(phc) = phc else {
            let decoy = match turn.take() {
                Some(decoy) => decoy,
                None => hash("decoy")?,
            };
            fits(password, &decoy);
            *turn = Some(decoy);
            return Ok(false);
        };
        Ok(fits(password, phc))
    }
}

fn engine() -> Result<Argon2<'static>, PasswordError> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).map_err(|_| PasswordError::Hash)?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

fn hash(password: &str) -> Result<String, PasswordError> {
    let salt = SaltString::encode_b64(&random::<16>()?).map_err(|_| PasswordError::Hash)?;
    let phc = engine()?.hash_password(password.as_bytes(), &salt);
    phc.map(|phc| phc.to_string()).map_err(|_| PasswordError::Hash)
}

/// The parameters are the hash's own, so older hashes still fit after the cost is raised.
fn fits(password: &str, phc: &str) -> bool {
    PasswordHash::new(phc)
        .is_ok_and(|phc| Argon2::default().verify_password(password.as_bytes(), &phc).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_fits_its_own_hash_alone() {
        let passwords = Passwords::default();
        let phc = passwords.hash("correct horse").unwrap();
        assert!(phc.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{phc}");
        assert_ne!(phc, passwords.hash("correct horse").unwrap(), "salted");
        assert_eq!(passwords.verify("correct horse", Some(&phc)), Ok(true));
        assert_eq!(passwords.verify("correct hors", Some(&phc)), Ok(false));
        assert_eq!(passwords.verify("decoy", None), Ok(false));
        assert_eq!(passwords.verify("correct horse", Some("damaged")), Ok(false));
        assert_eq!(passwords.verify(&"x".repeat(100_000), Some(&phc)), Ok(false));
    }
}
