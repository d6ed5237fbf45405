//! Topic names and where in the product's own tree a topic lies.
//!
//! MQTT 5.0, 4.7: a topic name is UTF-8 of 1 to 65,535 bytes without NUL and without the
//! wildcards `+` and `#`; levels are separated by `/`. Ours are shorter, see [`crate::limits`].

use crate::limits::{LEVELS_MAX, PATH_BYTES_MAX, TOPIC_BYTES_MAX};
use thiserror::Error;

/// Why a topic, path or filter is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TopicError {
    /// Nothing there.
    #[error("the topic is empty")]
    Empty,
    /// Longer than the limit.
    #[error("the topic is longer than {0} bytes")]
    TooLong(usize),
    /// More levels than the limit.
    #[error("the topic has more than {LEVELS_MAX} levels")]
    TooDeep,
    /// `+` or `#` in a name, or not alone in a filter's level, or `#` not last.
    #[error("a wildcard stands where none may")]
    Wildcard,
    /// U+0000, another control character, or bytes that are not UTF-8.
    #[error("the topic has a control character or is not UTF-8")]
    Characters,
    /// An empty level in a tag path.
    #[error("a path has no empty level")]
    EmptyLevel,
    /// A level that starts with `_` or `$` at the front of a tag path: those are the product's.
    #[error("a path does not begin with '_' or '$'")]
    Reserved,
}

/// Checks a topic name as MQTT asks (no wildcard, no NUL, not empty, bounded).
///
/// # Errors
/// The first rule that the name breaks.
pub fn check_name(name: &str) -> Result<(), TopicError> {
    if name.is_empty() {
        return Err(TopicError::Empty);
    }
    if name.len() > TOPIC_BYTES_MAX {
        return Err(TopicError::TooLong(TOPIC_BYTES_MAX));
    }
    for byte in name.bytes() {
        match byte {
            b'+' | b'#' => return Err(TopicError::Wildcard),
            0..=0x1f | 0x7f => return Err(TopicError::Characters),
            _ => {}
        }
    }
    Ok(())
}

/// Checks a tag path: a topic name with no empty level, at most 512 bytes and 32 levels, whose
/// first level does not begin with `_` or `$`.
///
/// # Errors
/// The first rule that the path breaks.
pub fn check_path(path: &str) -> Result<(), TopicError> {
    check_name(path)?;
    if path.len() > PATH_BYTES_MAX {
        return Err(TopicError::TooLong(PATH_BYTES_MAX));
    }
    if path.starts_with(['_', '$']) {
        return Err(TopicError::Reserved);
    }
    let mut levels = 0;
    for level in path.split('/') {
        levels += 1;
        if level.is_empty() {
            return Err(TopicError::EmptyLevel);
        }
    }
    if levels > LEVELS_MAX {
        return Err(TopicError::TooDeep);
    }
    Ok(())
}

/// Where a topic lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// `<root>/<workspace>/_ingress/<client id>/<path>`: a device writes a value here.
    Inbox {
        /// The workspace.
        workspace: &'a str,
        /// The API client that the inbox belongs to.
        client: &'a str,
        /// The tag path.
        path: &'a str,
    },
    /// `<root>/<workspace>/_verdict/<client id>[/...]`: answers to one client.
    Verdict {
        /// The workspace.
        workspace: &'a str,
        /// The API client.
        client: &'a str,
    },
    /// `<root>/<workspace>/<path>`: the live namespace; only the product publishes here.
    Live {
        /// The workspace.
        workspace: &'a str,
        /// The tag path.
        path: &'a str,
    },
    /// Below the root but none of these.
    Reserved,
    /// Outside of the root: plain MQTT.
    Plain,
}

/// Finds where `topic` lies below `root` (`mr/v1` by default).
#[must_use]
pub fn place<'a>(root: &str, topic: &'a str) -> Place<'a> {
    let Some(rest) = topic.strip_prefix(root) else {
        return Place::Plain;
    };
    let Some(rest) = rest.strip_prefix('/') else {
        return if rest.is_empty() { Place::Reserved } else { Place::Plain };
    };
    let Some((workspace, rest)) = rest.split_once('/') else {
        return Place::Reserved;
    };
    if workspace.is_empty() || rest.is_empty() {
        return Place::Reserved;
    }
    if let Some(inbox) = rest.strip_prefix("_ingress/") {
        return match inbox.split_once('/') {
            Some((client, path)) if !client.is_empty() && !path.is_empty() => {
                Place::Inbox { workspace, client, path }
            }
            _ => Place::Reserved,
        };
    }
    if let Some(verdict) = rest.strip_prefix("_verdict/") {
        let client = verdict.split('/').next().unwrap_or_default();
        return if client.is_empty() {
            Place::Reserved
        } else {
            Place::Verdict { workspace, client }
        };
    }
    if rest.starts_with(['_', '$']) {
        return Place::Reserved;
    }
    Place::Live { workspace, path: rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_where_a_topic_lies() {
        let check = |topic, expected| assert_eq!(place("mr/v1", topic), expected, "{topic}");
        check(
            "mr/v1/main/_ingress/c1/press-4/temperature",
            Place::Inbox { workspace: "main", client: "c1", path: "press-4/temperature" },
        );
        check("mr/v1/main/press-4/t", Place::Live { workspace: "main", path: "press-4/t" });
        check("mr/v1/main/_verdict/c1/x", Place::Verdict { workspace: "main", client: "c1" });
        check("mr/v1/main/_ingress/c1", Place::Reserved);
        check("mr/v1/main/_ingress/c1/", Place::Reserved);
        check("mr/v1/main/_other", Place::Reserved);
        check("mr/v1", Place::Reserved);
        check("mr/v12/main/x", Place::Plain);
        check("factory/line", Place::Plain);
    }

    #[test]
    fn refuses_bad_paths_with_their_rule() {
        let check = |path: &str, expected| assert_eq!(check_path(path), expected, "{path:?}");
        check("plant/pump/Volume Flow RateRMS", Ok(()));
        check("", Err(TopicError::Empty));
        check("a/+/b", Err(TopicError::Wildcard));
        check("a\0b", Err(TopicError::Characters));
        check("a//b", Err(TopicError::EmptyLevel));
        check("_a", Err(TopicError::Reserved));
        check(&"a/".repeat(40), Err(TopicError::EmptyLevel));
        check(&vec!["a"; 33].join("/"), Err(TopicError::TooDeep));
        check(&"a".repeat(513), Err(TopicError::TooLong(PATH_BYTES_MAX)));
    }
}
