//! Where a session's values are judged and its records are collected.
//!
//! Samples and definitions are written as they come; refusals are only counted, and become one
//! record per reason at the end of the submit.
//!
//! The receive time is read once per wake; each sample after the first gets a nanosecond more, so
//! that two values of one topic from the same read have different times and both stay. It never
//! falls behind what was given out before, unless the clock was really set back.
//!
//! **Invariants**: every value that was judged is in `offered` until it is counted as received,
//! which happens before the append; what was counted and never appended becomes interrupted.

use crate::bucket::Bucket;
use crate::client::Client;
use crate::decision::Submitted;
use crate::gate::Gate;
use crate::judge::{self, Judged};
use crate::ledger::Counters;
use crate::namespace::NewTag;
use crate::refused::{REFUSED_PAYLOAD_BYTES_MAX, Refused};
use crate::shape::Sent;
use crate::topics::Entry;
use millrace_journal::{AppendError, RecordBuf, Registration};
use millrace_model::topic::{self, Place};
use millrace_model::{
    ClientNumber, Definition, Reason, Record, Refusal, SampleRecord, Tag, TagId, Timestamp,
};
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;

/// Grain of receive times. What our own clock says below a microsecond is the scheduler's noise,
/// and costs more than a byte of history per value; times that devices give keep all nanoseconds.
pub(crate) const RECEIVE_GRAIN_NANOS: i64 = 1_000;
/// A step back of the wall clock below this is noise; above it somebody has set the clock.
const CLOCK_NOISE_NANOS: i64 = millrace_model::time::NANOS_PER_SECOND;
/// Room for a sample's fixed part, its framing, a definition and its path.
const RECORD_BYTES_ROOM: usize = 4 * 1024;
/// Memory above this is not lent on.
const KEPT_BYTES_MAX: usize = 64 * 1024;

thread_local! {
    /// Where the sessions of a thread collect their records, one after the other: memory of its
    /// own would be fetched anew for each of a thousand.
    static SPARE: Cell<RecordBuf> = const { Cell::new(RecordBuf::new()) };
}

/// Where a session's collected records end.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    count: u32,
    len_bytes: usize,
    offered: u64,
    refused: u64,
    defining: usize,
}

/// In this order, because what every publish touches lies together in front: with a thousand
/// sessions each further cache line is fetched from memory anew.
#[repr(C)]
pub(super) struct Desk {
    gate: Arc<Gate>,
    generation: u64,
    monotonic_nanos: u64,
    /// The receive time of the next sample.
    receive_time: Timestamp,
    /// Values judged since the last submit.
    offered: u64,
    /// Values counted as received that wait for an append to go through.
    counted: u64,
    client_bucket: Arc<Bucket>,
    workspace_bucket: Arc<Bucket>,
    counters: Arc<Counters>,
    number: ClientNumber,
    has_refused: bool,
    /// How many pipelines its values have come through.
    hops: u8,
    records: RecordBuf,
    client: Arc<Client>,
    /// Tags whose definitions are among the records.
    defining: Vec<TagId>,
    refused: [u32; Reason::COUNT],
}

impl Desk {
    pub(super) fn new(gate: Arc<Gate>, client: Arc<Client>) -> Self {
        let mut desk = Self {
            counters: gate.ledger.client(client.number),
            client_bucket: gate.client_bucket(&client),
            workspace_bucket: gate.workspace_bucket_of(&client),
            gate,
            number: client.number,
            has_refused: false,
            hops: 0,
            client,
            generation: 0,
            monotonic_nanos: 0,
            receive_time: Timestamp::MIN,
            records: RecordBuf::new(),
            refused: [0; Reason::COUNT],
            defining: Vec::new(),
            offered: 0,
            counted: 0,
        };
        desk.begin();
        desk
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn set_client(&mut self, client: Arc<Client>) {
        self.client_bucket = self.gate.client_bucket(&client);
        self.workspace_bucket = self.gate.workspace_bucket_of(&client);
        self.number = client.number;
        self.client = client;
    }

    pub(super) fn set_hops(&mut self, hops: u8) {
        self.hops = hops;
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            count: self.records.count(),
            len_bytes: self.records.len_bytes(),
            offered: self.offered,
            refused: self.refused_count(),
            defining: self.defining.len(),
        }
    }

    /// Takes back what was admitted since the mark, as if it had never been offered; refusals stay
    /// counted. Whether definitions were among it: their tags are to be looked up anew, so that
    /// whoever uses them next writes the definition.
    pub(super) fn undo(&mut self, mark: &Mark) -> bool {
        let refused = self.refused_count().saturating_sub(mark.refused);
        self.records.take_back_to(mark.count, mark.len_bytes);
        self.offered = mark.offered + refused;
        let has_defined = self.defining.len() > mark.defining;
        self.defining.truncate(mark.defining);
        has_defined
    }

    fn refused_count(&self) -> u64 {
        if self.has_refused { self.refused.iter().copied().map(u64::from).sum() } else { 0 }
    }

    pub(super) fn push_record(&mut self, record: &Record<'_>) {
        self.records.push_with(|out| record.encode(out));
    }

    pub(super) fn begin(&mut self) {
        if self.records.capacity_bytes() == 0 {
            self.records = SPARE.take();
        }
        let wall = coarse(self.gate.clock.now());
        let is_noise = self.receive_time.nanos_since(wall) < CLOCK_NOISE_NANOS;
        if wall > self.receive_time || !is_noise {
            self.receive_time = wall;
        }
        let monotonic = self.gate.clock.monotonic().as_nanos();
        self.monotonic_nanos = u64::try_from(monotonic).unwrap_or(u64::MAX);
        self.generation = self.gate.namespace.generation();
    }

    /// Where the tag path begins in `topic`, if the client may write there.
    pub(super) fn permit_topic(&self, topic: &str) -> Result<usize, Refusal> {
        let root = &self.gate.config.root;
        match topic::place(root, topic) {
            Place::Inbox { workspace, client, path } => {
                if workspace != self.client.workspace_name || client != self.client.id {
                    let detail = "the inbox belongs to another client";
                    return Err(Refusal::with(Reason::NotAuthorized, detail));
                }
                self.permit_path(path)?;
                Ok(topic.len() - path.len())
            }
            Place::Live { workspace, .. } => {
                let inbox = format!("{root}/{workspace}/_ingress/{}", self.client.id);
                let detail = format!("values are written to the inbox, {inbox}/<path>");
                Err(Refusal::with(Reason::NotAuthorized, detail))
            }
            Place::Verdict { .. } | Place::Reserved => {
                Err(Refusal::with(Reason::TopicInvalid, "this topic belongs to the appliance"))
            }
            Place::Plain => Err(Refusal::with(
                Reason::NotSupported,
                "topics outside of the appliance's root are not built in this version",
            )),
        }
    }

    /// Whether the client may write this tag path.
    pub(super) fn permit_path(&self, path: &str) -> Result<(), Refusal> {
        topic::check_path(path)
            .map_err(|error| Refusal::with(Reason::TopicInvalid, error.to_string()))?;
        if !self.client.may_publish(path) {
            return Err(Refusal::plain(Reason::NotAuthorized));
        }
        Ok(())
    }

    /// Takes one value from the client's and the workspace's rate.
    pub(super) fn pay(&self) -> Result<(), Refusal> {
        if !self.client_bucket.take(self.monotonic_nanos) {
            let rate = self.client_bucket.rate_per_s();
            let detail = format!("this client is over its limit of {rate} values/s");
            return Err(Refusal::with(Reason::RateLimited, detail));
        }
        if !self.workspace_bucket.take(self.monotonic_nanos) {
            self.client_bucket.give_back();
            let rate = self.workspace_bucket.rate_per_s();
            let detail = format!("the workspace is over its limit of {rate} values/s");
            return Err(Refusal::with(Reason::WorkspaceRateLimited, detail));
        }
        Ok(())
    }

    /// Counts a refused value.
    pub(super) fn refuse(&mut self, refusal: Refusal) -> Refusal {
        self.offered += 1;
        self.has_refused = true;
        if let Some(count) = self.refused.get_mut(usize::from(refusal.reason.code())) {
            *count = count.saturating_add(1);
        }
        refusal
    }

    /// Keeps a refusal for whoever asks about its topic.
    pub(super) fn keep_refused(&self, path: &str, payload: &[u8], refusal: &Refusal) {
        let kept = payload.get(..REFUSED_PAYLOAD_BYTES_MAX).unwrap_or(payload);
        let refused = Refused {
            at: self.receive_time,
            client: self.number,
            refusal: refusal.clone(),
            payload: kept.into(),
            payload_bytes: payload.len(),
        };
        self.gate.refusals.keep(self.client.workspace, path, refused);
    }

    /// The path in a topic that lies in the client's own inbox.
    pub(super) fn own_path<'t>(&self, topic: &'t str) -> Option<&'t str> {
        match topic::place(&self.gate.config.root, topic) {
            Place::Inbox { workspace, client, path }
                if workspace == self.client.workspace_name && client == self.client.id =>
            {
                topic::check_path(path).is_ok().then_some(path)
            }
            _ => None,
        }
    }

    /// Judges a paid value on a permitted topic: the index of its record, or the counted refusal.
    pub(super) fn admit(&mut self, entry: &mut Entry, sent: Sent<'_>) -> Result<u32, Refusal> {
        match self.judge(entry, &sent) {
            Ok(sample) => {
                self.offered += 1;
                self.receive_time = self.receive_time.plus_nanos(RECEIVE_GRAIN_NANOS);
                let index = self.records.count();
                self.records.push_with(|out| sample.encode(out));
                Ok(index)
            }
            Err(refusal) => Err(self.refuse(refusal)),
        }
    }

    fn judge<'v>(
        &mut self,
        entry: &mut Entry,
        sent: &Sent<'v>,
    ) -> Result<SampleRecord<'v>, Refusal> {
        if entry.generation != self.generation {
            entry.tag = None;
            entry.generation = self.generation;
        }
        let text_bytes = sent.value.text().map_or(0, str::len);
        let bytes = self.records.len_bytes() + text_bytes + RECORD_BYTES_ROOM;
        if bytes > self.gate.config.submit_bytes_max {
            return Err(Refusal::with(
                Reason::TooLarge,
                "too much in one go; send smaller batches",
            ));
        }
        if entry.tag.is_none() {
            let tag = self.find_or_create(entry.path(), sent)?;
            entry.tag = Some(Judged::new(&tag));
        }
        let now = self.receive_time;
        let tag = entry.tag.as_ref().expect("set just before");
        let quality = tag.judge(sent, now)?;
        Ok(SampleRecord {
            tag: tag.id,
            client: self.number,
            source_time: sent.source_time.unwrap_or(now),
            receive_time: now,
            quality,
            has_source_time: sent.source_time.is_some(),
            hops: self.hops,
            value: sent.value,
        })
    }

    fn find_or_create(&mut self, path: &str, sent: &Sent<'_>) -> Result<Arc<Tag>, Refusal> {
        let gate = Arc::clone(&self.gate);
        let workspace = self.client.workspace;
        let found = match gate.namespace.find(workspace, path) {
            Some(tag) => tag,
            None if !self.client.may_create => return Err(Refusal::plain(Reason::UnknownTopic)),
            None => {
                let retention = self.client.retention.unwrap_or(gate.config.retention);
                // A value that would be refused anyway does not leave a tag behind.
                judge::check_new(sent, self.receive_time, retention)?;
                let request = NewTag {
                    workspace,
                    path,
                    kind: sent.value.kind(),
                    retention,
                    client: self.client.number,
                    at: self.receive_time,
                };
                let created = gate
                    .undefined
                    .create(&*gate.namespace, request)
                    .map_err(|error| Refusal::with(Reason::TopicQuota, error.to_string()))?;
                created.tag
            }
        };
        if gate.undefined.contains(found.id) && !self.defining.contains(&found.id) {
            let json = Definition::Tag(Tag::clone(&found)).encode();
            self.records.push_with(|out| Record::Definition(&json).encode(out));
            self.defining.push(found.id);
        }
        Ok(found)
    }

    pub(super) fn collected_bytes(&self) -> usize {
        self.records.len_bytes()
    }

    pub(super) fn submit(&mut self, waker: &Waker, registration: &mut Registration) -> Submitted {
        self.write_refusals();
        if self.records.is_empty() {
            return Submitted::Empty;
        }
        if self.offered > 0 {
            self.counters.receive(self.offered);
            self.counted += self.offered;
            self.offered = 0;
        }
        let journal = &self.gate.journal;
        let size_bytes = self.records.len_bytes();
        let mut appended = journal.append(&mut self.records, (waker, registration));
        if appended == Err(AppendError::Full) {
            journal.wait_for_space(waker);
            // Room that was made between the two would wake nobody.
            appended = journal.append(&mut self.records, (waker, registration));
        }
        match appended {
            Ok(range) => {
                self.counted = 0;
                let records = std::mem::take(&mut self.records);
                if size_bytes <= KEPT_BYTES_MAX {
                    SPARE.set(records);
                }
                self.gate.undefined.defined(&mut self.defining);
                Submitted::Queued(range)
            }
            Err(AppendError::Full) => Submitted::Full,
            Err(AppendError::Closed) => Submitted::Closed,
            Err(error @ AppendError::TooLarge { .. }) => {
                tracing::error!(%error, "The gate's submit_bytes_max is above the journal's.");
                Submitted::Closed
            }
        }
    }

    fn write_refusals(&mut self) {
        if !std::mem::take(&mut self.has_refused) {
            return;
        }
        let client = self.number;
        let at = self.receive_time;
        for (reason, refused) in Reason::ALL.into_iter().zip(&mut self.refused) {
            let count = std::mem::take(refused);
            if count > 0 {
                let record = Record::Refused { reason, client, count, at };
                self.records.push_with(|out| record.encode(out));
            }
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        if self.counted > 0 {
            self.counters.interrupt(self.counted);
        }
    }
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("client", &self.client.id)
            .field("record_count", &self.records.count())
            .finish_non_exhaustive()
    }
}

fn coarse(time: Timestamp) -> Timestamp {
    Timestamp(time.0 - time.0.rem_euclid(RECEIVE_GRAIN_NANOS))
}
