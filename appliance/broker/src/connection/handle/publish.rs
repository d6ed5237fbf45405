//! PUBLISH: from the read buffer to the ingest session.
//!
//! **Invariants**: a publish into the client's own inbox allocates nothing here; every other one
//! is refused with its reason, recorded as a refusal, and answered in its turn; what the
//! standard forbids ends the connection instead.

use bytes::Bytes;
use millrace_model::topic::{Place, place};
use millrace_model::{Reason, Refusal, limits};

use crate::codec::{Fault, Publish, Version, reason};
use crate::config::{CORRELATION_BYTES_MAX, Config, TOPIC_ALIAS_MAXIMUM};
use crate::connection::acknowledge::{Answer, Entry, Outcome, Response};
use crate::connection::open::Open;
use crate::ingest::Decision;

impl Open {
    /// Handles a PUBLISH.
    #[inline]
    pub(in crate::connection) fn publish(
        &mut self,
        config: &Config,
        header: u8,
        body: &[u8],
    ) -> Result<(), Fault> {
        let publish = Publish::decode(header, body, self.version)?;
        self.publish_count += 1;
        self.check_offer(&publish, config)?;
        let Self { aliases, session, inbox, inflight, .. } = self;
        let topic = aliases.resolve(publish.topic, publish.alias, TOPIC_ALIAS_MAXIMUM)?;
        if !self.has_begun {
            session.begin();
            self.has_begun = true;
        }
        self.has_offered = true;
        let is_plain_value = publish.response_topic.is_none()
            && !publish.retain
            && topic.starts_with(&**inbox)
            && topic.len() <= limits::TOPIC_BYTES_MAX;
        if is_plain_value {
            let (first_record, answer) = match session.offer(topic, publish.payload) {
                Decision::Stored { first_record } => (first_record, None),
                other => {
                    let (first_record, outcome) = outcome(other);
                    (first_record, needed(outcome, topic, None))
                }
            };
            if publish.packet_id != 0 || answer.is_some() {
                inflight.push(Entry { packet_id: publish.packet_id, first_record, answer });
            }
            return Ok(());
        }
        let topic = topic.to_owned();
        self.publish_uncommon(config, &publish, &topic);
        Ok(())
    }

    #[inline]
    fn check_offer(&self, publish: &Publish<'_>, config: &Config) -> Result<(), Fault> {
        if publish.qos == 2 {
            return Err(Fault {
                code: reason::QOS_NOT_SUPPORTED,
                what: "QoS 2 is not built in this version",
            });
        }
        if self.version == Version::V311 {
            return Ok(());
        }
        if publish.retain {
            return Err(Fault {
                code: reason::RETAIN_NOT_SUPPORTED,
                what: "retained messages are not built in this version",
            });
        }
        if publish.qos == 1 && self.inflight.unacknowledged() >= usize::from(config.receive_maximum)
        {
            return Err(Fault {
                code: reason::RECEIVE_MAXIMUM_EXCEEDED,
                what: "more unacknowledged publishes than the receive maximum",
            });
        }
        Ok(())
    }

    /// A publish that wants a verdict, or does not go into the client's own inbox.
    fn publish_uncommon(&mut self, config: &Config, publish: &Publish<'_>, topic: &str) {
        let refusal = self.refusal(config, publish, topic).err();
        let (response, refusal) = match (refusal, self.response(publish)) {
            (refusal, Ok(response)) => (response, refusal),
            (refusal, Err(of_response)) => (None, refusal.or(Some(of_response))),
        };
        let (first_record, outcome) = match refusal {
            Some(refusal) => {
                self.session.refuse(topic, publish.payload.len(), &refusal);
                (0, Outcome::Refused(refusal))
            }
            None => outcome(self.session.offer(topic, publish.payload)),
        };
        let answer = needed(outcome, topic, response);
        if publish.packet_id != 0 || answer.is_some() {
            self.inflight.push(Entry { packet_id: publish.packet_id, first_record, answer });
        }
    }

    /// Why the broker itself does not take a publish.
    fn refusal(&self, config: &Config, publish: &Publish<'_>, topic: &str) -> Result<(), Refusal> {
        if topic.len() > limits::TOPIC_BYTES_MAX {
            return Err(Refusal::with(
                Reason::TopicInvalid,
                format!("the topic is longer than {} bytes", limits::TOPIC_BYTES_MAX),
            ));
        }
        if publish.retain {
            // MQTT 5 clients are told by CONNACK and 0x9A; 3.1.1 has neither.
            let what = "retained messages are not built in this version";
            return Err(Refusal::with(Reason::NotSupported, what));
        }
        if topic.starts_with(&*self.inbox) {
            return Ok(());
        }
        Err(match place(&config.root, topic) {
            Place::Inbox { .. } => Refusal::with(
                Reason::NotAuthorized,
                format!("this inbox is another client's; this client's is {}<path>", self.inbox),
            ),
            Place::Live { .. } => Refusal::with(
                Reason::NotAuthorized,
                format!("only stored values appear here; publish to {}<path>", self.inbox),
            ),
            Place::Verdict { .. } => {
                Refusal::with(Reason::NotAuthorized, "only the appliance gives verdicts")
            }
            Place::Reserved => Refusal::with(
                Reason::TopicInvalid,
                format!("this topic is reserved; publish to {}<path>", self.inbox),
            ),
            Place::Plain => Refusal::with(
                Reason::NotSupported,
                format!(
                    "plain MQTT topics are not built in this version; publish to {}<path>",
                    self.inbox
                ),
            ),
        })
    }

    /// Where the verdict goes, or why it may not go there.
    fn response(&self, publish: &Publish<'_>) -> Result<Option<Response>, Refusal> {
        let Some(topic) = publish.response_topic else { return Ok(None) };
        let correlation = publish.correlation.unwrap_or_default();
        if topic.len() > limits::TOPIC_BYTES_MAX || correlation.len() > CORRELATION_BYTES_MAX {
            return Err(Refusal::with(
                Reason::TopicInvalid,
                format!("response topic or correlation data over {CORRELATION_BYTES_MAX} bytes"),
            ));
        }
        let is_own = topic
            .strip_prefix(&*self.verdict_topic)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let may_receive = || {
            topic.strip_prefix(&*self.namespace).is_some_and(|path| {
                !path.starts_with(['_', '$'])
                    && self.grant.subscribe.iter().any(|filter| filter.matches(path))
            })
        };
        if !is_own && !may_receive() {
            return Err(Refusal::with(
                Reason::TopicInvalid,
                format!("the response topic must be {} or below it", self.verdict_topic),
            ));
        }
        Ok(Some(Response {
            topic: topic.into(),
            correlation: publish.correlation.map(Bytes::copy_from_slice),
            is_own,
        }))
    }
}

fn outcome(decision: Decision) -> (u32, Outcome) {
    match decision {
        Decision::Stored { first_record } => (first_record, Outcome::Stored),
        Decision::Refused(refusal) => (0, Outcome::Refused(refusal)),
        Decision::Batch(batch) => (0, Outcome::Batch(batch)),
    }
}

/// What must be kept for the answer; nothing for a success that nobody asks about.
fn needed(outcome: Outcome, topic: &str, response: Option<Response>) -> Option<Box<Answer>> {
    let all_stored = match &outcome {
        Outcome::Stored => true,
        Outcome::Refused(_) => false,
        Outcome::Batch(batch) => batch.first_refusal().is_none(),
    };
    if response.is_none() && all_stored {
        return None;
    }
    Some(Box::new(Answer { outcome, topic: topic.into(), response }))
}
