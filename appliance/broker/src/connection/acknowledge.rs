//! Publishes that wait for their commit, and the answers that they get then.
//!
//! A publish enters the queue when it is offered, gets its seq when its read is submitted, and
//! leaves, in arrival order, when the journal is durable up to there: PUBACK, verdict, or both.
//!
//! **Invariants**: this file is the only maker of a PUBACK; nothing leaves before it is durable,
//! refusals included; a stored value costs 32 bytes of queue and no other memory. The first one
//! lies within the connection: a device that waits for each answer needs no queue.

use std::collections::VecDeque;

use bytes::Bytes;
use millrace_journal::{Seq, SeqRange};
use millrace_model::{Reason, Refusal};

use super::verdict;
use crate::codec::{Version, encode_puback, reason};
use crate::fanout::Fanout;
use crate::ingest::BatchDecision;

/// QoS of verdicts, where the subscription takes it.
const VERDICT_QOS: u8 = 1;

/// One publish that waits.
#[derive(Debug)]
pub(crate) struct Entry {
    /// 0 = QoS 0: no PUBACK.
    pub(crate) packet_id: u16,
    /// Index of its first record within its submit.
    pub(crate) first_record: u32,
    /// `None` = stored, and nobody asked for a verdict.
    pub(crate) answer: Option<Box<Answer>>,
}

/// An answer that is more than a PUBACK of success.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) outcome: Outcome,
    /// The publish's topic, for a verdict that has no correlation data.
    pub(crate) topic: Box<str>,
    pub(crate) response: Option<Response>,
}

/// What became of a publish.
#[derive(Debug)]
pub(crate) enum Outcome {
    Stored,
    Refused(Refusal),
    Batch(Box<BatchDecision>),
}

/// Where the client wants the verdict.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) topic: Box<str>,
    pub(crate) correlation: Option<Bytes>,
    /// Below the client's own verdict topic. Elsewhere only the asking connection may get it:
    /// a verdict must not pass for a value of somebody else's topic.
    pub(crate) is_own: bool,
}

/// One publish and the seq of its first record. A submit becomes durable as a whole, so that this
/// one says when.
#[derive(Debug)]
struct Waiting {
    seq: Seq,
    entry: Entry,
}

/// The seq of what is not submitted yet: it never becomes durable.
const UNSUBMITTED: Seq = Seq(u64::MAX);

/// The queue.
#[derive(Debug, Default)]
pub(crate) struct Inflight {
    first: Option<Waiting>,
    /// Those behind the first; empty while there is no first.
    rest: VecDeque<Waiting>,
    /// How many at the back are not submitted yet.
    unsubmitted: usize,
    /// QoS 1 among all entries.
    unacknowledged: usize,
    last: Seq,
}

impl Inflight {
    #[inline]
    pub(crate) fn push(&mut self, entry: Entry) {
        self.unacknowledged += usize::from(entry.packet_id != 0);
        self.unsubmitted += 1;
        let waiting = Waiting { seq: UNSUBMITTED, entry };
        if self.first.is_none() {
            self.first = Some(waiting);
        } else {
            self.rest.push_back(waiting);
        }
    }

    /// The entries since the last submit got their seqs; `None` = nothing was appended for them,
    /// then they follow those before them.
    pub(crate) fn submitted(&mut self, range: Option<SeqRange>) {
        let (first, last) = match range {
            Some(range) => (range.first, range.last()),
            None => (self.last, self.last),
        };
        self.last = last;
        let count = std::mem::take(&mut self.unsubmitted);
        for waiting in self.rest.iter_mut().rev().chain(&mut self.first).take(count) {
            waiting.seq = Seq(first.0 + u64::from(waiting.entry.first_record));
        }
    }

    /// The next entry that is durable, with the seq of its first record.
    #[inline]
    fn pop(&mut self, durable: Seq) -> Option<(Seq, Entry)> {
        let Waiting { seq, entry } = self.first.take_if(|first| first.seq <= durable)?;
        self.first = self.rest.pop_front();
        self.unacknowledged -= usize::from(entry.packet_id != 0);
        Some((seq, entry))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    /// QoS 1 publishes that have no PUBACK yet.
    #[inline]
    pub(crate) fn unacknowledged(&self) -> usize {
        self.unacknowledged
    }

    /// Answers the whole durable front.
    #[inline]
    pub(crate) fn acknowledge(&mut self, durable: Seq, peer: &Peer<'_>, out: &mut Vec<u8>) {
        while let Some((seq, entry)) = self.pop(durable) {
            match entry.answer {
                None => {
                    if entry.packet_id != 0 {
                        let code = reason::SUCCESS;
                        encode_puback(peer.version, entry.packet_id, code, None, usize::MAX, out);
                    }
                }
                Some(answer) => peer.answer(seq, entry.first_record, entry.packet_id, &answer, out),
            }
        }
    }
}

/// Whom the answers go to.
#[derive(Debug)]
pub(crate) struct Peer<'a> {
    pub(crate) version: Version,
    pub(crate) wants_problem_information: bool,
    pub(crate) packet_bytes_max: usize,
    pub(crate) fanout: &'a Fanout,
    pub(crate) subscriber: u64,
    pub(crate) verdict_topic: &'a str,
}

impl Peer<'_> {
    fn answer(
        &self,
        seq: Seq,
        first_record: u32,
        packet_id: u16,
        answer: &Answer,
        out: &mut Vec<u8>,
    ) {
        let mut text_buffer = String::new();
        let (code, text) = code_and_text(&answer.outcome, &mut text_buffer);
        if packet_id != 0 {
            let text = text.filter(|_| self.wants_problem_information);
            encode_puback(self.version, packet_id, code, text, self.packet_bytes_max, out);
        }
        if !self.fanout.has_subscriptions() {
            return;
        }
        let submit_first = Seq(seq.0 - u64::from(first_record));
        if let Some(response) = &answer.response {
            let payload = verdict::json(&answer.outcome, seq, submit_first, None);
            let correlation = response.correlation.clone();
            if response.is_own {
                self.fanout.publish_plain(&response.topic, payload, correlation, VERDICT_QOS);
            } else {
                let topic = &*response.topic;
                self.fanout.publish_to(self.subscriber, topic, payload, correlation, VERDICT_QOS);
            }
        } else if text.is_some() && (self.version == Version::V311 || packet_id == 0) {
            // No PUBACK that could carry the reason.
            let payload = verdict::json(&answer.outcome, seq, submit_first, Some(&*answer.topic));
            self.fanout.publish_plain(self.verdict_topic, payload, None, VERDICT_QOS);
        }
    }
}

/// The reason code of an outcome, and its sentence if not all went well. A batch of which
/// something was stored is a success with a sentence: sent again, it would store that twice.
fn code_and_text<'a>(outcome: &'a Outcome, buffer: &'a mut String) -> (u8, Option<&'a str>) {
    match outcome {
        Outcome::Stored => (reason::SUCCESS, None),
        Outcome::Refused(refusal) => (reason_code(refusal.reason), Some(refusal.sentence())),
        Outcome::Batch(batch) => {
            let Some(first) = batch.first_refusal() else { return (reason::SUCCESS, None) };
            let total = batch.elements.len();
            let stored = batch.stored_count();
            *buffer = format!("{} of {total} refused: {}", total - stored, first.sentence());
            let code = if stored > 0 { reason::SUCCESS } else { reason_code(first.reason) };
            (code, Some(buffer))
        }
    }
}

/// The MQTT 5 reason code of a refusal.
pub(crate) fn reason_code(refused: Reason) -> u8 {
    match refused {
        Reason::NotAuthorized => reason::NOT_AUTHORIZED,
        Reason::TopicInvalid | Reason::UnknownTopic => reason::TOPIC_NAME_INVALID,
        Reason::RateLimited | Reason::WorkspaceRateLimited | Reason::TopicQuota => {
            reason::QUOTA_EXCEEDED
        }
        Reason::NotSupported => reason::IMPLEMENTATION_SPECIFIC,
        Reason::PayloadInvalid
        | Reason::NumberOutOfRange
        | Reason::TooLarge
        | Reason::WrongKind
        | Reason::OutOfRange
        | Reason::NotAChoice
        | Reason::SourceTimeTooOld
        | Reason::SourceTimeAhead
        | Reason::QualityInvalid
        | Reason::TimeInvalid => reason::PAYLOAD_FORMAT_INVALID,
    }
}
