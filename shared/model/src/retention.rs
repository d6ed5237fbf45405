//! Retention classes: how long a topic's history is kept.

use serde::{Deserialize, Serialize};

/// How long samples of a tag stay in history.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
pub enum Retention {
    /// One day, the default.
    #[default]
    #[serde(rename = "1d")]
    Days1,
    /// Seven days.
    #[serde(rename = "7d")]
    Days7,
    /// Fourteen days.
    #[serde(rename = "14d")]
    Days14,
    /// Thirty-two days.
    #[serde(rename = "32d")]
    Days32,
    /// No age limit, a byte budget instead.
    #[serde(rename = "keep")]
    Keep,
}

impl Retention {
    /// All classes, shortest first.
    pub const ALL: [Self; 5] = [Self::Days1, Self::Days7, Self::Days14, Self::Days32, Self::Keep];

    /// Age in nanoseconds at which samples leave; `None` for `keep`.
    #[must_use]
    pub fn age_nanos(self) -> Option<i64> {
        let days: i64 = match self {
            Self::Days1 => 1,
            Self::Days7 => 7,
            Self::Days14 => 14,
            Self::Days32 => 32,
            Self::Keep => return None,
        };
        Some(days * 86_400 * crate::time::NANOS_PER_SECOND)
    }

    /// `1d`, `7d`, `14d`, `32d`, `keep`: the name in configuration, API and folders.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Days1 => "1d",
            Self::Days7 => "7d",
            Self::Days14 => "14d",
            Self::Days32 => "32d",
            Self::Keep => "keep",
        }
    }

    /// The class with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }
}
