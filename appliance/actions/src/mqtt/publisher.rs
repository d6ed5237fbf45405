//! Publishing connections: one per broker and user, shared by all steps.
//!
//! Messages wait in a bounded queue while there is no connection; each has its step's own time.
//! When a connection breaks, what was sent and not acknowledged goes to the front of the queue
//! again, so a QoS 1 message arrives at least once. A connection that nobody needs is closed.
//!
//! **Invariants**: a step hears of success only after the broker's acknowledgement (QoS 0: after
//! its bytes were written); what nobody waits for any longer is not sent.

use super::link::{BackOff, Broker, Link};
use super::session::{Ending, Session};
use crate::budget::Held;
use crate::dial::Dialer;
use crate::limits::{MQTT_WAITING_MAX, POOLED_TARGETS_MAX, PUBLISHER_BACK_OFF_MAX};
use crate::targets::Targets;
use bytes::Bytes;
use millrace_engine::step::StepFault;
use millrace_supervisor::spawn;
use parking_lot::Mutex;
use rumqttc::mqttbytes::QoS;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, timeout_at};

/// One message on its way.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) topic: String,
    pub(crate) payload: Bytes,
    pub(crate) qos: QoS,
    pub(crate) retain: bool,
    pub(crate) done: oneshot::Sender<Result<(), StepFault>>,
    /// Its bytes, for as long as it waits.
    pub(crate) _held: Held,
}

/// A message as a step gives it.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) topic: String,
    pub(crate) payload: Bytes,
    pub(crate) qos: QoS,
    pub(crate) retain: bool,
    pub(crate) held: Held,
}

/// Somebody who waits for a message. Who goes takes the message out of the queue.
struct Waiter {
    queue: Arc<Queue>,
    settled: oneshot::Receiver<Result<(), StepFault>>,
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.settled.close();
        self.queue.waiting.lock().jobs.retain(|job| !job.done.is_closed());
    }
}

/// All publishing connections.
pub(crate) struct Publishers {
    dialer: Arc<Dialer>,
    targets: Arc<Targets>,
    queues: Arc<Mutex<HashMap<Broker, Arc<Queue>>>>,
    client_id: String,
}

impl std::fmt::Debug for Publishers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Publishers").field("count", &self.queues.lock().len()).finish()
    }
}

/// What waits for one broker.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    /// Why there is no connection now.
    trouble: Option<StepFault>,
}

impl Publishers {
    pub(crate) fn new(dialer: Arc<Dialer>, targets: Arc<Targets>) -> Self {
        let chance = RandomState::new().hash_one(0);
        let client_id = format!("millrace{:015x}", chance >> 4);
        Self { dialer, targets, queues: Arc::default(), client_id }
    }

    /// The client id of connections that steps share: another one for each start of each box, since
    /// a broker throws out the older of two clients with the same id.
    pub(crate) fn client_id(&self) -> &str {
        &self.client_id
    }

    /// Publishes a message and waits for its acknowledgement.
    pub(crate) async fn publish(
        &self,
        broker: &Broker,
        message: Message,
        until: Instant,
    ) -> Result<(), StepFault> {
        let Message { topic, payload, qos, retain, held } = message;
        let (done, settled) = oneshot::channel();
        let queue = self.enqueue(broker, Job { topic, payload, qos, retain, done, _held: held })?;
        let mut waiter = Waiter { queue, settled };
        // Shortly before the call itself ends, to say what it waited for.
        let left = until.saturating_duration_since(Instant::now());
        let margin = (left / 10).min(std::time::Duration::from_millis(50));
        match timeout_at(until - margin, &mut waiter.settled).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(StepFault::passing("unreachable", "the box is stopping")),
            Err(_) => Err(waiter.queue.waiting.lock().trouble.clone().unwrap_or_else(|| {
                let target = broker.endpoint.target("mqtt");
                StepFault::passing("timeout", format!("{target} did not acknowledge in time"))
            })),
        }
    }

    fn enqueue(&self, broker: &Broker, job: Job) -> Result<Arc<Queue>, StepFault> {
        // The table stays locked while the job goes in: a queue without jobs leaves the table under
        // the same lock, and then nobody would serve the job.
        let mut queues = self.queues.lock();
        if let Some(queue) = queues.get(broker) {
            queue.push(job, broker)?;
            return Ok(Arc::clone(queue));
        }
        if queues.len() >= POOLED_TARGETS_MAX {
            let message = format!("connections to {POOLED_TARGETS_MAX} brokers are open");
            return Err(StepFault::passing("limit", message));
        }
        let queue = Arc::new(Queue::default());
        queue.push(job, broker)?;
        queues.insert(broker.clone(), Arc::clone(&queue));
        let serving = Serving {
            broker: broker.clone(),
            queue: Arc::clone(&queue),
            dialer: Arc::clone(&self.dialer),
            targets: Arc::clone(&self.targets),
            queues: Arc::clone(&self.queues),
        };
        spawn::task("mqtt-publisher", serving.run());
        Ok(queue)
    }
}

impl Queue {
    fn push(&self, job: Job, broker: &Broker) -> Result<(), StepFault> {
        let mut waiting = self.waiting.lock();
        if waiting.jobs.len() >= MQTT_WAITING_MAX {
            let target = broker.endpoint.target("mqtt");
            let message = format!("{MQTT_WAITING_MAX} messages wait for {target} already");
            return Err(StepFault::passing("limit", message));
        }
        waiting.jobs.push_back(job);
        drop(waiting);
        self.changed.notify_one();
        Ok(())
    }

    /// The next message that somebody waits for.
    pub(crate) fn pop(&self) -> Option<Job> {
        let mut waiting = self.waiting.lock();
        while let Some(job) = waiting.jobs.pop_front() {
            if !job.done.is_closed() {
                return Some(job);
            }
        }
        None
    }

    /// Waits until a message came.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    fn put_back(&self, jobs: Vec<Job>) {
        let mut waiting = self.waiting.lock();
        for job in jobs.into_iter().rev() {
            waiting.jobs.push_front(job);
        }
    }

    fn set_trouble(&self, trouble: Option<StepFault>) {
        self.waiting.lock().trouble = trouble;
    }

    fn fail_all(&self, fault: &StepFault) {
        let jobs = std::mem::take(&mut self.waiting.lock().jobs);
        for job in jobs {
            // Whoever has gone needs no answer.
            drop(job.done.send(Err(fault.clone())));
        }
    }

    fn is_wanted(&self) -> bool {
        self.waiting.lock().jobs.iter().any(|job| !job.done.is_closed())
    }
}

/// The task of one broker.
struct Serving {
    broker: Broker,
    queue: Arc<Queue>,
    dialer: Arc<Dialer>,
    targets: Arc<Targets>,
    queues: Arc<Mutex<HashMap<Broker, Arc<Queue>>>>,
}

impl Serving {
    async fn run(self) {
        let mut back_off = BackOff::up_to(PUBLISHER_BACK_OFF_MAX);
        loop {
            let trouble = match Link::open(&self.dialer, &self.broker).await {
                Ok((link, _)) => {
                    self.queue.set_trouble(None);
                    back_off.reset();
                    let mut session = Session::new(link);
                    let ending = session.run(&self.queue).await;
                    self.queue.put_back(session.unacknowledged());
                    match ending {
                        Ending::Idle => None,
                        Ending::Broken(fault) => Some(fault),
                    }
                }
                Err(fault) => Some(fault),
            };
            if let Some(fault) = trouble {
                if fault.is_transient {
                    self.targets.failed(&self.broker.endpoint.target("mqtt"), &fault.message);
                } else {
                    // Refused by the policy or the broker: waiting does not mend it.
                    self.queue.fail_all(&fault);
                }
                self.queue.set_trouble(Some(fault));
            }
            if self.leave_if_idle() {
                return;
            }
            // Waits, unless nobody needs the connection any longer.
            tokio::time::sleep(back_off.next()).await;
            if self.leave_if_idle() {
                return;
            }
        }
    }

    fn leave_if_idle(&self) -> bool {
        let mut queues = self.queues.lock();
        if self.queue.is_wanted() {
            return false;
        }
        queues.remove(&self.broker);
        true
    }
}
