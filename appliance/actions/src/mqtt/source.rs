//! One source: its connection, what is handed over, and what is acknowledged.
//!
//! Messages are handed over in their order and acknowledged in the same, as each becomes durable.
//! While [`SOURCE_PENDING_MAX`] are under way nothing more is read, so a broker that sends faster
//! than the journal writes is slowed down by TCP itself.
//!
//! **Invariants**: no message of QoS 1 or 2 is acknowledged before the receiver has said that it is
//! durable; a message that cannot be taken now ends the session without its acknowledgement, so the
//! broker sends it again; one that can never be taken is counted and acknowledged.

use super::link::{BackOff, Event, Link};
use super::payload::message;
use super::sources::{Receiver, SourceKey, SourceSpec, SourceState};
use crate::dial::Dialer;
use crate::limits::{BACK_OFF_MAX, CONNECT_MAX, SOURCE_PENDING_BYTES_MAX, SOURCE_PENDING_MAX};
use crate::targets::Targets;
use crate::text::scrub_fault;
use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use millrace_engine::Secrets;
use millrace_engine::step::{BoxFuture, StepFault};
use millrace_model::Timestamp;
use parking_lot::Mutex;
use rumqttc::mqttbytes::QoS;
use rumqttc::mqttbytes::v4::{
    Packet, PubAck, PubComp, PubRec, Publish, Subscribe, SubscribeFilter, SubscribeReasonCode,
    Unsubscribe,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use tokio::time::{Instant, sleep_until};

/// What a source counts.
#[derive(Debug)]
pub(crate) struct Counts {
    is_connected: AtomicBool,
    taken: AtomicU64,
    unreadable: AtomicU64,
    lost: AtomicU64,
    last_message_at: AtomicI64,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            is_connected: AtomicBool::new(false),
            taken: AtomicU64::new(0),
            unreadable: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            last_message_at: AtomicI64::new(i64::MIN),
        }
    }
}

impl Counts {
    pub(crate) fn state(&self, key: &SourceKey, spec: &SourceSpec) -> SourceState {
        let last = self.last_message_at.load(Ordering::Relaxed);
        SourceState {
            source: key.clone(),
            target: spec.broker.endpoint.target("mqtt"),
            is_connected: self.is_connected.load(Ordering::Relaxed),
            taken: self.taken.load(Ordering::Relaxed),
            unreadable: self.unreadable.load(Ordering::Relaxed),
            lost: self.lost.load(Ordering::Relaxed),
            last_message_at: (last != i64::MIN).then_some(Timestamp(last)),
        }
    }
}

/// A source that runs.
pub(crate) struct Source {
    pub(crate) key: SourceKey,
    pub(crate) spec: SourceSpec,
    /// Of the revision before, in the same session: no longer wanted.
    pub(crate) old_filters: Vec<String>,
    pub(crate) dialer: Arc<Dialer>,
    pub(crate) targets: Arc<Targets>,
    pub(crate) receiver: Arc<dyn Receiver>,
    pub(crate) counts: Arc<Counts>,
}

/// A message that is being made durable.
struct Taken {
    qos: QoS,
    id: u16,
    bytes: usize,
    result: Result<(), StepFault>,
}

/// The state of one session.
#[derive(Default)]
struct Session {
    /// QoS 2 messages that are durable and not yet released by the broker.
    received: Mutex<BTreeSet<u16>>,
}

impl Source {
    pub(crate) async fn run(self) {
        let session = Session::default();
        let target = self.spec.broker.endpoint.target("mqtt");
        let mut back_off = BackOff::up_to(BACK_OFF_MAX);
        loop {
            let began = Instant::now();
            let mut secrets = Secrets::default();
            let fault = match self.serve(&session, &target, &mut secrets).await {
                Ok(never) => match never {},
                Err(fault) => scrub_fault(&secrets, fault),
            };
            self.counts.is_connected.store(false, Ordering::Relaxed);
            self.targets.failed(&target, &fault.message);
            tracing::debug!(target, %fault, "The session of a trigger ended.");
            // A session that held for long was a success: begin with short waits again.
            if began.elapsed() > CONNECT_MAX {
                back_off.reset();
            }
            tokio::time::sleep(back_off.next()).await;
        }
    }

    async fn serve(
        &self,
        session: &Session,
        target: &str,
        secrets: &mut Secrets,
    ) -> Result<std::convert::Infallible, StepFault> {
        let mut broker = self.spec.broker.clone();
        if let Some(name) = &self.spec.password {
            let value = self.receiver.secret(self.key.workspace, name).ok_or_else(|| {
                let why = self.receiver.no_secret(self.key.workspace, name);
                StepFault::lasting("secret", why)
            })?;
            secrets.add(name, &value);
            broker.password = Some(value);
        }
        let (mut link, is_kept) = Link::open(&self.dialer, &broker).await?;
        if !is_kept {
            session.received.lock().clear();
        }
        let mut pending: FuturesOrdered<BoxFuture<Taken>> = FuturesOrdered::new();
        let mut pending_bytes = 0;
        self.subscribe(&mut link)?;
        let mut is_subscribed = false;
        let subscribed_until = Instant::now() + CONNECT_MAX;
        loop {
            let has_room =
                pending.len() < SOURCE_PENDING_MAX && pending_bytes < SOURCE_PENDING_BYTES_MAX;
            let sign_at = link.next_sign();
            let link_waits = link.unwritten() > 0;
            tokio::select! {
                // Acknowledging comes first: it makes room.
                biased;
                Some(taken) = pending.next(), if !pending.is_empty() => {
                    pending_bytes = pending_bytes.saturating_sub(taken.bytes);
                    self.acknowledge(session, &mut link, taken)?;
                }
                () = sleep_until(sign_at) => link.keep_alive(has_room)?,
                event = turn(&mut link, has_room), if has_room || link_waits => match event? {
                    Event::Written => {}
                    Event::Packet(Packet::Publish(publish)) => {
                        if let Some((bytes, taking)) = self.take(session, &mut link, publish)? {
                            pending_bytes += bytes;
                            pending.push_back(taking);
                        }
                    }
                    Event::Packet(Packet::PubRel(release)) => {
                        session.received.lock().remove(&release.pkid);
                        link.push(&Packet::PubComp(PubComp::new(release.pkid)))?;
                    }
                    Event::Packet(Packet::SubAck(ack)) => {
                        if ack.return_codes.contains(&SubscribeReasonCode::Failure) {
                            return Err(StepFault::lasting(
                                "answer",
                                format!("{target} refuses to let us subscribe"),
                            ));
                        }
                        is_subscribed = true;
                        self.counts.is_connected.store(true, Ordering::Relaxed);
                        self.targets.succeeded(target);
                    }
                    Event::Packet(_) => {}
                },
                () = sleep_until(subscribed_until), if !is_subscribed => {
                    return Err(StepFault::passing("timeout", format!("{target} does not answer SUBSCRIBE")));
                }
            }
        }
    }

    fn subscribe(&self, link: &mut Link) -> Result<(), StepFault> {
        let filters = self.spec.filters.iter();
        let filters = filters.map(|filter| SubscribeFilter::new(filter.clone(), self.spec.qos));
        let mut subscribe = Subscribe::new_many(filters);
        subscribe.pkid = 1;
        if !self.old_filters.is_empty() {
            let unsubscribe = Unsubscribe { pkid: 2, topics: self.old_filters.clone() };
            link.push(&Packet::Unsubscribe(unsubscribe))?;
        }
        link.push(&Packet::Subscribe(subscribe))
    }

    /// Hands a message over; `None` if there is nothing to wait for.
    fn take(
        &self,
        session: &Session,
        link: &mut Link,
        publish: Publish,
    ) -> Result<Option<(usize, BoxFuture<Taken>)>, StepFault> {
        let Publish { qos, pkid: id, retain, topic, payload, .. } = publish;
        self.counts.last_message_at.store(self.targets.now().0, Ordering::Relaxed);
        if qos == QoS::ExactlyOnce && session.received.lock().contains(&id) {
            // The broker has not seen that we have it.
            link.push(&Packet::PubRec(PubRec::new(id)))?;
            return Ok(None);
        }
        let bytes = topic.len() + payload.len();
        let datum = message(&topic, &payload, qos as u8, retain, self.spec.form);
        let taking: BoxFuture<Result<(), StepFault>> = match datum {
            Some(datum) => {
                self.counts.taken.fetch_add(1, Ordering::Relaxed);
                self.receiver.receive(&self.key, datum)
            }
            None => {
                // It will never be readable: acknowledged like the others, in its turn.
                self.counts.unreadable.fetch_add(1, Ordering::Relaxed);
                Box::pin(std::future::ready(Ok(())))
            }
        };
        let taking = Box::pin(async move { Taken { qos, id, bytes, result: taking.await } });
        Ok(Some((bytes, taking)))
    }

    fn acknowledge(
        &self,
        session: &Session,
        link: &mut Link,
        taken: Taken,
    ) -> Result<(), StepFault> {
        match (taken.result, taken.qos) {
            (Err(fault), qos) if qos != QoS::AtMostOnce && fault.is_transient => {
                let message =
                    format!("a message could not be taken and comes again: {}", fault.message);
                Err(StepFault::passing("limit", message))
            }
            (Err(fault), qos) => {
                self.counts.lost.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(%fault, "A message of a trigger was not taken.");
                // It would never be taken: acknowledged, so that it does not come for ever.
                let settled = Taken { qos, id: taken.id, bytes: taken.bytes, result: Ok(()) };
                self.acknowledge(session, link, settled)
            }
            (Ok(()), QoS::AtMostOnce) => Ok(()),
            (Ok(()), QoS::AtLeastOnce) => link.push(&Packet::PubAck(PubAck::new(taken.id))),
            (Ok(()), QoS::ExactlyOnce) => {
                session.received.lock().insert(taken.id);
                link.push(&Packet::PubRec(PubRec::new(taken.id)))
            }
        }
    }
}

/// The link's next event; without room for messages it only writes.
async fn turn(link: &mut Link, has_room: bool) -> Result<Event, StepFault> {
    if has_room {
        return link.next().await;
    }
    link.write_out().await.map(|()| Event::Written)
}
