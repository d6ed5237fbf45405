//! What the gate says to a publish and to what was collected.

use millrace_journal::SeqRange;
use millrace_model::Refusal;

/// What becomes of one publish. Nothing is durable before [`Submitted::Queued`]'s range is: only
/// then may it be acknowledged or its refusal be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Admitted as one sample.
    Stored {
        /// Index of its record within the submit.
        first_record: u32,
    },
    /// Not admitted. The refusal's record stands at the end of the submit; wait for the whole.
    Refused(Refusal),
    /// A batch with a verdict per element.
    Batch(Box<BatchDecision>),
}

/// What becomes of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchDecision {
    /// In the order of the payload.
    pub elements: Vec<ElementDecision>,
}

/// What becomes of one element of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementDecision {
    /// Its path below the topic's own, as it was sent; `None` = the topic itself.
    pub path: Option<Box<str>>,
    /// Index of its record within the submit, or why it is not admitted.
    pub verdict: Result<u32, Refusal>,
}

impl BatchDecision {
    /// How many elements are admitted.
    #[must_use]
    pub fn admitted_count(&self) -> usize {
        self.elements.iter().filter(|element| element.verdict.is_ok()).count()
    }

    /// The first refusal, if there is one.
    #[must_use]
    pub fn first_refusal(&self) -> Option<&Refusal> {
        self.elements.iter().find_map(|element| element.verdict.as_ref().err())
    }
}

/// What became of the collected records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// They wait for their commit, all in the same one: record `i` has seq `first + i`.
    Queued(SeqRange),
    /// The journal takes no more now; the waker is called when to submit again. Offer nothing
    /// until then.
    Full,
    /// Nothing was collected.
    Empty,
    /// The journal is closed: the appliance stops. Acknowledge nothing.
    Closed,
}
