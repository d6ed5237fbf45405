//! Refusals: why something that entered was not stored.

use serde::{Deserialize, Serialize};

/// The closed list of reasons. The number is the code in journal records; the name is the one in
/// verdicts, the API and metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Reason {
    /// The client may not publish on this path, or the inbox is another client's.
    NotAuthorized = 0,
    /// The path breaks a rule of names.
    TopicInvalid = 1,
    /// The client sends faster than its limit.
    RateLimited = 2,
    /// The workspace as a whole is over its limit.
    WorkspaceRateLimited = 3,
    /// The payload is none of the shapes that are taken.
    PayloadInvalid = 4,
    /// A number that cannot be kept exactly (1e400, an integer beyond 64 bits).
    NumberOutOfRange = 5,
    /// The value's text or the batch is over its limit.
    TooLarge = 6,
    /// The value is not of a kind that the topic takes.
    WrongKind = 7,
    /// The number is outside of the topic's range, strictly held.
    OutOfRange = 8,
    /// The text is none of the topic's choices, strictly held.
    NotAChoice = 9,
    /// The source time is older than the topic's retention.
    SourceTimeTooOld = 10,
    /// The source time is more than 10 minutes ahead of the box's clock.
    SourceTimeAhead = 11,
    /// The topic does not exist and the client may not create it.
    UnknownTopic = 12,
    /// The client or the box has as many topics as it may.
    TopicQuota = 13,
    /// The quality is no OPC UA status code.
    QualityInvalid = 14,
    /// The source time cannot be read.
    TimeInvalid = 15,
    /// The entrance or topic is not built in this version.
    NotSupported = 16,
}

impl Reason {
    /// How many reasons there are.
    pub const COUNT: usize = 17;

    /// All of them, in the order of their codes.
    pub const ALL: [Self; Self::COUNT] = [
        Self::NotAuthorized,
        Self::TopicInvalid,
        Self::RateLimited,
        Self::WorkspaceRateLimited,
        Self::PayloadInvalid,
        Self::NumberOutOfRange,
        Self::TooLarge,
        Self::WrongKind,
        Self::OutOfRange,
        Self::NotAChoice,
        Self::SourceTimeTooOld,
        Self::SourceTimeAhead,
        Self::UnknownTopic,
        Self::TopicQuota,
        Self::QualityInvalid,
        Self::TimeInvalid,
        Self::NotSupported,
    ];

    /// The reason with this code.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Its code in records.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Its stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotAuthorized => "not_authorized",
            Self::TopicInvalid => "topic_invalid",
            Self::RateLimited => "rate_limited",
            Self::WorkspaceRateLimited => "workspace_rate_limited",
            Self::PayloadInvalid => "payload_invalid",
            Self::NumberOutOfRange => "number_out_of_range",
            Self::TooLarge => "too_large",
            Self::WrongKind => "wrong_kind",
            Self::OutOfRange => "out_of_range",
            Self::NotAChoice => "not_a_choice",
            Self::SourceTimeTooOld => "source_time_too_old",
            Self::SourceTimeAhead => "source_time_ahead",
            Self::UnknownTopic => "unknown_topic",
            Self::TopicQuota => "topic_quota",
            Self::QualityInvalid => "quality_invalid",
            Self::TimeInvalid => "time_invalid",
            Self::NotSupported => "not_supported",
        }
    }

    /// The sentence that a device or person reads when nothing more exact is at hand.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::NotAuthorized => "this client may not publish here",
            Self::TopicInvalid => "the topic path is not valid",
            Self::RateLimited => "this client is over its rate limit",
            Self::WorkspaceRateLimited => "the workspace is over its rate limit",
            Self::PayloadInvalid => "the payload is neither a value nor an object with one",
            Self::NumberOutOfRange => "the number cannot be kept exactly",
            Self::TooLarge => "the value is larger than allowed",
            Self::WrongKind => "the topic does not take this kind of value",
            Self::OutOfRange => "the value is outside of the topic's range",
            Self::NotAChoice => "the value is none of the topic's choices",
            Self::SourceTimeTooOld => "the source time is older than the topic's history",
            Self::SourceTimeAhead => "the source time lies more than 10 minutes ahead",
            Self::UnknownTopic => "the topic does not exist and this client may not create it",
            Self::TopicQuota => "the limit of topics is reached",
            Self::QualityInvalid => "the quality is not an OPC UA status code",
            Self::TimeInvalid => "the timestamp cannot be read",
            Self::NotSupported => "this is not built in this version",
        }
    }
}

/// A refusal as it is told to whoever sent the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub reason: Reason,
    /// A sentence with the facts; `None` = [`Reason::sentence`] says it all.
    pub detail: Option<Box<str>>,
}

impl Refusal {
    /// A refusal without further facts.
    #[must_use]
    pub fn plain(reason: Reason) -> Self {
        Self { reason, detail: None }
    }

    /// A refusal with the facts.
    #[must_use]
    pub fn with(reason: Reason, detail: impl Into<Box<str>>) -> Self {
        Self { reason, detail: Some(detail.into()) }
    }

    /// The sentence to show.
    #[must_use]
    pub fn sentence(&self) -> &str {
        self.detail.as_deref().unwrap_or_else(|| self.reason.sentence())
    }
}
