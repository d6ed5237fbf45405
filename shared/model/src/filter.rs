//! Topic filters with the MQTT wildcards `+` and `#` (MQTT 5.0, 4.7.1).

use crate::limits::{LEVELS_MAX, TOPIC_BYTES_MAX};
use crate::topic::TopicError;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A checked topic filter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Filter(Box<str>);

impl Filter {
    /// Checks and takes a filter: `#` only as the whole last level, `+` only as a whole level.
    ///
    /// # Errors
    /// The first rule that the filter breaks.
    pub fn new(text: &str) -> Result<Self, TopicError> {
        if text.is_empty() {
            return Err(TopicError::Empty);
        }
        if text.len() > TOPIC_BYTES_MAX {
            return Err(TopicError::TooLong(TOPIC_BYTES_MAX));
        }
        if text.bytes().any(|byte| byte < 0x20 || byte == 0x7f) {
            return Err(TopicError::Characters);
        }
        let mut levels = text.split('/').peekable();
        let mut count = 0;
        while let Some(level) = levels.next() {
            count += 1;
            let wild = level.contains(['+', '#']);
            if wild && level.len() != 1 || level == "#" && levels.peek().is_some() {
                return Err(TopicError::Wildcard);
            }
        }
        if count > LEVELS_MAX {
            return Err(TopicError::TooDeep);
        }
        Ok(Self(text.into()))
    }

    /// The filter's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a topic name matches. A wildcard at the front does not match a name that begins
    /// with `$` (MQTT 5.0, 4.7.2).
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        if name.starts_with('$') && self.0.starts_with(['+', '#']) {
            return false;
        }
        let mut names = name.split('/');
        for level in self.0.split('/') {
            if level == "#" {
                return true;
            }
            match names.next() {
                Some(name) if level == "+" || level == name => {}
                _ => return false,
            }
        }
        names.next().is_none()
    }

    /// Whether every name that `inner` matches is matched by `self` too: the test for whether a
    /// permission allows a subscription.
    #[must_use]
    pub fn covers(&self, inner: &Self) -> bool {
        if inner.0.starts_with('$') && self.0.starts_with(['+', '#']) {
            return false;
        }
        let mut inner_levels = inner.0.split('/');
        for level in self.0.split('/') {
            if level == "#" {
                return true;
            }
            match inner_levels.next() {
                Some("#") | None => return false,
                Some(inner) if level == "+" || level == inner => {}
                Some(_) => return false,
            }
        }
        inner_levels.next().is_none()
    }
}

impl TryFrom<String> for Filter {
    type Error = TopicError;
    fn try_from(text: String) -> Result<Self, TopicError> {
        Self::new(&text)
    }
}

impl From<Filter> for String {
    fn from(filter: Filter) -> Self {
        filter.0.into()
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(text: &str) -> Filter {
        Filter::new(text).unwrap()
    }

    #[test]
    fn matches_as_the_standard_says() {
        let check = |text, name, expected| {
            assert_eq!(filter(text).matches(name), expected, "{text} on {name}");
        };
        check("a/b", "a/b", true);
        check("a/+", "a/b", true);
        check("a/+", "a/$b", true);
        check("a/+", "a/b/c", false);
        check("a/#", "a", true);
        check("a/#", "a/b/c", true);
        check("#", "$SYS/x", false);
        check("+/x", "$SYS/x", false);
        check("$SYS/#", "$SYS/x", true);
        check("+/+", "/a", true);
        check("+", "/a", false);
    }

    #[test]
    fn covers_only_what_it_matches_whole() {
        let check = |outer, inner, expected| {
            assert_eq!(filter(outer).covers(&filter(inner)), expected, "{outer} over {inner}");
        };
        check("a/#", "a/+/c", true);
        check("a/#", "a", true);
        check("a/+", "a/b", true);
        check("a/+", "a/+", true);
        check("a/+", "a/#", false);
        check("a/b", "a/+", false);
        check("#", "#", true);
        check("a/#", "#", false);
        check("#", "$SYS/#", false);
    }

    #[test]
    fn refuses_misplaced_wildcards() {
        for text in ["a/b#", "#/a", "a+/b", "++"] {
            assert_eq!(Filter::new(text), Err(TopicError::Wildcard), "{text}");
        }
    }
}
