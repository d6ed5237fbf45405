//! One connection's way through the gate.
//!
//! `begin` once per read, `offer` for each publish, `submit` once. Judged in the order of cost;
//! permission and rate come before a byte of the payload is looked at.
//!
//! A batch pays one value before it is parsed and the rest element by element: the elements that
//! are over the rate are refused, those before are not.
//!
//! **Invariants**: nothing allocates for a number on a topic that is known; an element of a batch
//! is held against the client's permissions like a publish of its own.

mod desk;

use crate::client::Client;
use crate::decision::{BatchDecision, Decision, ElementDecision, Submitted};
use crate::gate::Gate;
use crate::session::desk::Desk;
pub use crate::session::desk::Mark;
use crate::shape::{Parser, Sent, Sink};
use crate::topics::{Entry, Topics};
use millrace_journal::Registration;
use millrace_model::limits::{BATCH_ELEMENTS_MAX, PATH_BYTES_MAX};
use millrace_model::topic::{TopicError, check_path};
use millrace_model::{ClientNumber, Reason, Record, Refusal, ValueRef};
use std::sync::Arc;
use std::task::Waker;

/// Above this many collected bytes a connection should submit before it offers more.
const SUBMIT_SOON_BYTES: usize = 1024 * 1024;

/// The gate, opened for one connection.
#[derive(Debug)]
pub struct Session {
    desk: Desk,
    /// By whole topic.
    topics: Topics,
    /// By tag path, from entrances without inbox topics.
    paths: Topics,
    /// By tag path, from elements of batches.
    elements: Topics,
    parser: Parser,
    /// Where the path of a batch's element is put together.
    joined: String,
}

impl Session {
    pub(crate) fn new(gate: Arc<Gate>, client: Arc<Client>) -> Self {
        Self {
            desk: Desk::new(gate, client),
            topics: Topics::default(),
            paths: Topics::default(),
            elements: Topics::default(),
            parser: Parser::new(),
            joined: String::new(),
        }
    }

    /// Whose session it is.
    #[must_use]
    pub fn client(&self) -> ClientNumber {
        self.desk.client().number
    }

    /// Takes the client's new rights; what was found out under the old ones is forgotten.
    pub fn set_client(&mut self, client: Arc<Client>) {
        self.desk.set_client(client);
        self.topics.forget();
        self.paths.forget();
        self.elements.forget();
    }

    /// Starts a wake: reads the clocks and the namespace's generation once for all its offers.
    pub fn begin(&mut self) {
        self.desk.begin();
    }

    /// Judges a publish on a whole topic, `<root>/<workspace>/_ingress/<client id>/<path>`.
    pub fn offer(&mut self, topic: &str, payload: &[u8]) -> Decision {
        let place = match self.topics.find(topic) {
            Some(place) => place,
            None => match self.desk.permit_topic(topic) {
                Ok(path_at) => self.topics.keep(topic, path_at),
                Err(refusal) => {
                    if let Some(path) = self.desk.own_path(topic) {
                        self.desk.keep_refused(path, payload, &refusal);
                    }
                    return Decision::Refused(self.desk.refuse(refusal));
                }
            },
        };
        let Self { desk, topics, elements, parser, joined, .. } = self;
        judge(desk, topics.entry(place), payload, parser, (elements, joined))
    }

    /// Judges a value for a tag path, from an entrance that has no inbox topics.
    pub fn offer_path(&mut self, path: &str, payload: &[u8]) -> Decision {
        let Self { desk, paths, elements, parser, joined, .. } = self;
        match place_of(desk, paths, path) {
            Ok(place) => judge(desk, paths.entry(place), payload, parser, (elements, joined)),
            Err(refusal) => {
                if check_path(path).is_ok() {
                    desk.keep_refused(path, payload, &refusal);
                }
                Decision::Refused(desk.refuse(refusal))
            }
        }
    }

    /// Records a refusal that the entrance itself decided (a packet over its limit, say), so that
    /// the ledger adds up. It is journalled with the next submit, like those of the gate.
    pub fn refuse(&mut self, refusal: Refusal) -> Decision {
        Decision::Refused(self.desk.refuse(refusal))
    }

    /// From now on its values have come through so many pipelines; 0 at first.
    pub fn set_hops(&mut self, hops: u8) {
        self.desk.set_hops(hops);
    }

    /// Where what is collected ends, for [`Session::undo`] before the next submit.
    #[must_use]
    pub fn mark(&self) -> Mark {
        self.desk.mark()
    }

    /// Takes back all values and records since a mark, as if they had never been offered; what was
    /// refused stays counted as refused.
    pub fn undo(&mut self, mark: &Mark) {
        if self.desk.undo(mark) {
            self.topics.forget();
            self.paths.forget();
            self.elements.forget();
        }
    }

    /// Adds a record of the entrance's own to what is collected, so that it becomes durable in
    /// the same commit as the values offered before and after it.
    pub fn push_record(&mut self, record: &Record<'_>) {
        self.desk.push_record(record);
    }

    /// Bytes of what is collected.
    #[must_use]
    pub fn collected_bytes(&self) -> usize {
        self.desk.collected_bytes()
    }

    /// Whether so much is collected that it should be submitted before more is offered.
    #[must_use]
    pub fn should_submit(&self) -> bool {
        self.desk.collected_bytes() >= SUBMIT_SOON_BYTES
    }

    /// Gives what was collected to the journal, in one append. The waker is called when it is
    /// durable, or, after [`Submitted::Full`], when to submit again.
    pub fn submit(&mut self, waker: &Waker, registration: &mut Registration) -> Submitted {
        self.desk.submit(waker, registration)
    }
}

fn place_of(desk: &Desk, paths: &mut Topics, path: &str) -> Result<usize, Refusal> {
    match paths.find(path) {
        Some(place) => Ok(place),
        None => {
            desk.permit_path(path)?;
            Ok(paths.keep(path, 0))
        }
    }
}

fn judge(
    desk: &mut Desk,
    entry: &mut Entry,
    payload: &[u8],
    parser: &mut Parser,
    of_batch: (&mut Topics, &mut String),
) -> Decision {
    let decision = decide(desk, entry, payload, parser, of_batch);
    if let Decision::Refused(refusal) = &decision {
        desk.keep_refused(entry.path(), payload, refusal);
    }
    decision
}

fn decide(
    desk: &mut Desk,
    entry: &mut Entry,
    payload: &[u8],
    parser: &mut Parser,
    (elements, joined): (&mut Topics, &mut String),
) -> Decision {
    if let Err(refusal) = desk.pay() {
        return Decision::Refused(desk.refuse(refusal));
    }
    if let Some(value) = Parser::quick(payload) {
        return one(desk.admit(entry, Sent { value, source_time: None, quality: None }));
    }
    let mut collect = Collect { desk, entry, elements, joined, is_paid: true, decision: None };
    let parsed = parser.parse(payload, &mut collect);
    let decision = collect.decision.take();
    match (parsed, decision) {
        (Ok(()), Some(decision)) => decision,
        (Ok(()), None) => Decision::Batch(Box::default()),
        (Err(refusal), _) => Decision::Refused(desk.refuse(refusal)),
    }
}

fn one(verdict: Result<u32, Refusal>) -> Decision {
    match verdict {
        Ok(first_record) => Decision::Stored { first_record },
        Err(refusal) => Decision::Refused(refusal),
    }
}

/// Takes what the parser finds to the desk.
struct Collect<'a> {
    desk: &'a mut Desk,
    entry: &'a mut Entry,
    elements: &'a mut Topics,
    joined: &'a mut String,
    /// The publish itself has paid for one value.
    is_paid: bool,
    decision: Option<Decision>,
}

impl Sink for Collect<'_> {
    fn one(&mut self, sent: Sent<'_>) {
        self.decision = Some(one(self.desk.admit(self.entry, sent)));
    }

    fn batch(&mut self, element_count: usize) {
        let elements = Vec::with_capacity(element_count.min(BATCH_ELEMENTS_MAX));
        self.decision = Some(Decision::Batch(Box::new(BatchDecision { elements })));
    }

    fn element(&mut self, path: Option<&str>, sent: Result<Sent<'_>, Refusal>) {
        let value = sent.as_ref().ok().map(|sent| sent.value);
        let verdict = self.judge_element(path, sent);
        if let Err(refusal) = &verdict {
            self.keep_refused(path, value, refusal);
        }
        if let Some(Decision::Batch(batch)) = &mut self.decision {
            batch.elements.push(ElementDecision { path: path.map(Into::into), verdict });
        }
    }
}

impl Collect<'_> {
    /// Keeps an element's refusal with the value that was sent, if that could be read at all.
    fn keep_refused(&self, path: Option<&str>, value: Option<ValueRef<'_>>, refusal: &Refusal) {
        let of = match path {
            None => self.entry.path(),
            // Put together when it was judged.
            Some(path) if path.len() <= PATH_BYTES_MAX && check_path(self.joined).is_ok() => {
                self.joined.as_str()
            }
            Some(_) => return,
        };
        let text = value.map(|value| value.to_string()).unwrap_or_default();
        self.desk.keep_refused(of, text.as_bytes(), refusal);
    }

    fn judge_element(
        &mut self,
        path: Option<&str>,
        sent: Result<Sent<'_>, Refusal>,
    ) -> Result<u32, Refusal> {
        let Self { desk, entry, elements, joined, is_paid, .. } = self;
        let place = match path {
            None => Ok(None),
            // Not put together first: a path may be as long as the payload.
            Some(path) if path.len() > PATH_BYTES_MAX => {
                let error = TopicError::TooLong(PATH_BYTES_MAX);
                Err(Refusal::with(Reason::TopicInvalid, error.to_string()))
            }
            Some(path) => {
                joined.clear();
                joined.push_str(entry.path());
                joined.push('/');
                joined.push_str(path);
                place_of(desk, elements, joined).map(Some)
            }
        };
        let judged = place.and_then(|place| {
            if !std::mem::take(is_paid) {
                desk.pay()?;
            }
            Ok((place, sent?))
        });
        match judged {
            Ok((None, sent)) => desk.admit(entry, sent),
            Ok((Some(place), sent)) => desk.admit(elements.entry(place), sent),
            Err(refusal) => Err(desk.refuse(refusal)),
        }
    }
}

#[cfg(test)]
mod tests;
