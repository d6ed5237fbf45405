//! Bearer tokens of API clients: `mrc_` and base64url of 52 bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | client number, little-endian |
//! | 8 | expiry, seconds since 1970, little-endian |
//! | 8 | random |
//! | 32 | BLAKE3 of the 20 bytes before, keyed with the box's token key |
//!
//! Nothing is stored: the key proves the token, and the client's state in memory, which is asked
//! each time, says whether it was revoked. Numbers are never reused, so a token never comes to
//! belong to another client.
//!
//! **Invariants**: no byte is used before the hash has been checked, in constant time.

use crate::keys::{Key, same};
use crate::secret::{RandomError, Secret, random};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use millrace_model::time::NANOS_PER_SECOND;
use millrace_model::{ClientNumber, Timestamp};
use std::time::Duration;

/// What a client's token begins with.
const PREFIX: &str = "mrc_";
const TEXT_BYTES: usize = 70;
const HEAD_BYTES: usize = 20;

/// Whether a text has a token's form: a secret, which is shorter, may begin with the same letters.
pub(crate) fn has_form(text: &str) -> bool {
    text.len() == PREFIX.len() + TEXT_BYTES && text.starts_with(PREFIX)
}

/// Why a token is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenFault {
    Forged,
    Expired,
}

/// A token for this client from `now` on.
pub(crate) fn issue(
    key: &Key,
    client: ClientNumber,
    now: Timestamp,
    lifetime: Duration,
) -> Result<Secret, RandomError> {
    let seconds = now.0.div_euclid(NANOS_PER_SECOND);
    let expiry = seconds.saturating_add(i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX));
    let mut bytes = Vec::with_capacity(HEAD_BYTES + 32);
    bytes.extend_from_slice(&client.0.to_le_bytes());
    bytes.extend_from_slice(&expiry.to_le_bytes());
    bytes.extend_from_slice(&random::<8>()?);
    let proof = key.hash(&bytes);
    bytes.extend_from_slice(&proof);
    Ok(Secret::new(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
}

/// The client that a token belongs to.
pub(crate) fn verify(key: &Key, token: &str, now: Timestamp) -> Result<ClientNumber, TokenFault> {
    let text = token.strip_prefix(PREFIX).filter(|text| text.len() == TEXT_BYTES);
    let bytes = text.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let bytes = bytes.ok_or(TokenFault::Forged)?;
    let (head, proof) = bytes.split_at_checked(HEAD_BYTES).ok_or(TokenFault::Forged)?;
    if !same(&key.hash(head), proof) {
        return Err(TokenFault::Forged);
    }
    let (client, rest) = head.split_first_chunk::<4>().ok_or(TokenFault::Forged)?;
    let (expiry, _) = rest.split_first_chunk::<8>().ok_or(TokenFault::Forged)?;
    if now.0.div_euclid(NANOS_PER_SECOND) >= i64::from_le_bytes(*expiry) {
        return Err(TokenFault::Expired);
    }
    Ok(ClientNumber(u32::from_le_bytes(*client)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000 * NANOS_PER_SECOND);

    #[test]
    fn a_token_lives_its_time_and_no_longer() {
        let key = Key::generate().unwrap();
        let token = issue(&key, ClientNumber(7), NOW, Duration::from_secs(60)).unwrap();
        let at =
            |seconds: i64| verify(&key, token.reveal(), NOW.plus_nanos(seconds * NANOS_PER_SECOND));
        assert_eq!(at(0), Ok(ClientNumber(7)));
        assert_eq!(at(59), Ok(ClientNumber(7)));
        assert_eq!(at(60), Err(TokenFault::Expired));
    }

    #[test]
    fn refuses_a_token_with_any_character_changed() {
        let key = Key::generate().unwrap();
        let token = issue(&key, ClientNumber(7), NOW, Duration::from_secs(60)).unwrap();
        let token = token.reveal();
        for place in 0..token.len() {
            let mut forged = token.as_bytes().to_vec();
            forged[place] = if forged[place] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(forged).unwrap();
            assert_eq!(verify(&key, &forged, NOW), Err(TokenFault::Forged), "byte {place}");
        }
        let other = Key::generate().unwrap();
        assert_eq!(verify(&other, token, NOW), Err(TokenFault::Forged), "another box's key");
        for junk in
            ["", "mrc_", "mrc_ä", token.split_at(40).0, &format!("{token}A"), &"x".repeat(9_999)]
        {
            assert_eq!(verify(&key, junk, NOW), Err(TokenFault::Forged), "{junk}");
        }
    }
}
