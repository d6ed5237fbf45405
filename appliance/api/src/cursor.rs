//! Tokens for the next page: opaque to the caller, checked when they come back.
//!
//! A token is the URL-safe Base64 of a letter that tells the kind of list, and where the page
//! ended. It holds no secret: whoever makes one up gets a page of what they may read anyway.

use crate::backend::SamplePosition;
use crate::error::{ApiError, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use millrace_model::Timestamp;

/// Longest token that is looked at.
const TOKEN_BYTES_MAX: usize = 1_024;

/// Token of a list in the order of names.
pub(crate) fn of_name(name: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("n{name}"))
}

/// Token of a list in the order of numbers.
pub(crate) fn of_number(number: u64) -> String {
    URL_SAFE_NO_PAD.encode(format!("i{number}"))
}

/// Token of samples.
pub(crate) fn of_sample(position: SamplePosition) -> String {
    URL_SAFE_NO_PAD.encode(format!("s{},{}", position.source_time.0, position.seq))
}

/// Reads a token made by [`of_name`].
pub(crate) fn name(token: Option<&str>) -> Result<Option<String>> {
    token.map(|token| body('n', token).ok_or_else(not_ours)).transpose()
}

/// Reads a token made by [`of_number`].
pub(crate) fn number(token: Option<&str>) -> Result<Option<u64>> {
    let read = |token: &str| body('i', token)?.parse().ok();
    token.map(|token| read(token).ok_or_else(not_ours)).transpose()
}

/// Reads a token made by [`of_sample`].
pub(crate) fn sample(token: Option<&str>) -> Result<Option<SamplePosition>> {
    let read = |token: &str| {
        let text = body('s', token)?;
        let (time, seq) = text.split_once(',')?;
        let source_time = Timestamp(time.parse().ok()?);
        Some(SamplePosition { source_time, seq: seq.parse().ok()? })
    };
    token.map(|token| read(token).ok_or_else(not_ours)).transpose()
}

fn body(kind: char, token: &str) -> Option<String> {
    if token.len() > TOKEN_BYTES_MAX {
        return None;
    }
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    text.strip_prefix(kind).map(str::to_owned)
}

fn not_ours() -> ApiError {
    ApiError::bad_parameter("after", "Pass `after` exactly as a page of this list gave it.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_whole_and_only_to_their_own_list() {
        let position = SamplePosition { source_time: Timestamp(i64::MIN), seq: u64::MAX };
        assert_eq!(sample(Some(&of_sample(position))).unwrap(), Some(position));
        assert_eq!(name(Some(&of_name("a/ü b"))).unwrap().as_deref(), Some("a/ü b"));
        assert_eq!(number(Some(&of_number(7))).unwrap(), Some(7));
        assert!(sample(Some(&of_name("x"))).is_err());
        assert!(number(Some("!!")).is_err());
        assert!(name(Some(&"a".repeat(2_000))).is_err());
        assert_eq!(name(None).unwrap(), None);
    }
}
