//! One session of a publishing connection: messages out, acknowledgements in.
//!
//! **Invariants**: at most [`MQTT_INFLIGHT_MAX`] messages are unacknowledged; a message is settled
//! once; what a broken session leaves unacknowledged keeps its order.

use super::link::{Event, Link};
use super::publisher::{Job, Queue};
use crate::limits::{MQTT_IDLE_MAX, MQTT_INFLIGHT_MAX};
use millrace_engine::step::StepFault;
use rumqttc::mqttbytes::QoS;
use rumqttc::mqttbytes::v4::{Packet, PubRel, Publish};
use std::collections::VecDeque;
use tokio::time::{Instant, sleep_until};

/// How a session ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// Nobody needed it.
    Idle,
    Broken(StepFault),
}

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    link: Link,
    flights: VecDeque<Flight>,
    /// QoS 0: done when written.
    unwritten: Vec<Job>,
    next_id: u16,
    used_at: Instant,
}

#[derive(Debug)]
struct Flight {
    id: u16,
    job: Job,
    /// QoS 2: the broker has it.
    is_received: bool,
}

impl Session {
    pub(crate) fn new(link: Link) -> Self {
        Self {
            link,
            flights: VecDeque::new(),
            unwritten: Vec::new(),
            next_id: 1,
            used_at: Instant::now(),
        }
    }

    /// Serves the queue until nobody needs it or it breaks.
    pub(crate) async fn run(&mut self, queue: &Queue) -> Ending {
        loop {
            match self.turn(queue).await {
                Ok(true) => {}
                Ok(false) => return Ending::Idle,
                Err(fault) => return Ending::Broken(fault),
            }
        }
    }

    /// One event; `false` if it is idle.
    async fn turn(&mut self, queue: &Queue) -> Result<bool, StepFault> {
        while self.has_room() {
            let Some(job) = queue.pop() else { break };
            self.send(job)?;
        }
        let idle_at = self.used_at + MQTT_IDLE_MAX;
        let sign_at = self.link.next_sign();
        let has_room = self.has_room();
        tokio::select! {
            event = self.link.next() => match event? {
                Event::Written => {
                    for job in self.unwritten.drain(..) {
                        settle(job);
                    }
                }
                Event::Packet(packet) => self.handle(&packet)?,
            },
            () = queue.changed(), if has_room => {}
            () = sleep_until(sign_at) => self.link.keep_alive(true)?,
            () = sleep_until(idle_at), if self.flights.is_empty() => {
                self.link.push(&Packet::Disconnect)?;
                self.link.write_out().await?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn has_room(&self) -> bool {
        // Written in batches, but not without bound: a broker that does not read holds us up.
        const UNWRITTEN_MAX: usize = 256 << 10;
        self.flights.len() < MQTT_INFLIGHT_MAX && self.link.unwritten() < UNWRITTEN_MAX
    }

    fn send(&mut self, job: Job) -> Result<(), StepFault> {
        self.used_at = Instant::now();
        let mut publish = Publish::from_bytes(job.topic.clone(), job.qos, job.payload.clone());
        publish.retain = job.retain;
        if job.qos == QoS::AtMostOnce {
            let pushed = self.link.push(&Packet::Publish(publish));
            self.unwritten.push(job);
            return pushed;
        }
        let id = self.free_id();
        publish.pkid = id;
        let pushed = self.link.push(&Packet::Publish(publish));
        self.flights.push_back(Flight { id, job, is_received: false });
        pushed
    }

    fn free_id(&mut self) -> u16 {
        loop {
            let id = self.next_id;
            self.next_id = self.next_id.checked_add(1).unwrap_or(1);
            if !self.flights.iter().any(|flight| flight.id == id) {
                return id;
            }
        }
    }

    fn handle(&mut self, packet: &Packet) -> Result<(), StepFault> {
        match packet {
            Packet::PubAck(ack) => self.land(ack.pkid),
            Packet::PubRec(received) => {
                if let Some(flight) = self.flights.iter_mut().find(|f| f.id == received.pkid) {
                    flight.is_received = true;
                }
                self.link.push(&Packet::PubRel(PubRel::new(received.pkid)))?;
            }
            Packet::PubComp(complete) => self.land(complete.pkid),
            // Signs of life, and what a publisher does not expect and can ignore.
            _ => {}
        }
        Ok(())
    }

    fn land(&mut self, id: u16) {
        self.used_at = Instant::now();
        let at = self.flights.iter().position(|flight| flight.id == id);
        if let Some(flight) = at.and_then(|at| self.flights.remove(at)) {
            settle(flight.job);
        }
    }

    /// What was not acknowledged, in order. QoS 2 messages that the broker has received are done.
    pub(crate) fn unacknowledged(&mut self) -> Vec<Job> {
        let mut jobs = std::mem::take(&mut self.unwritten);
        for flight in std::mem::take(&mut self.flights) {
            if flight.is_received {
                settle(flight.job);
            } else {
                jobs.push(flight.job);
            }
        }
        jobs
    }
}

fn settle(job: Job) {
    // Whoever has gone needs no answer.
    drop(job.done.send(Ok(())));
}
