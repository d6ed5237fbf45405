//! A device as the product sees it: publishes over MQTT 5 with QoS 1 and learns of each value
//! whether it was stored or why not. Replay and the demo are such devices.
//!
//! The two halves run side by side: [`Publisher`] hands values over, [`Answers`] drives the
//! connection and gives each answer with the label that its value was sent under.
//!
//! **Invariants**: labels are answered in any order, each exactly once; a lost connection is an
//! error for the caller to judge, never a silent reconnect that sends values twice.

use anyhow::{Context as _, bail};
use parking_lot::Mutex;
use rumqttc::v5::mqttbytes::QoS;
use rumqttc::v5::mqttbytes::v5::{Packet, PubAck, PubAckReason};
use rumqttc::v5::{AsyncClient, Event, EventLoop, MqttOptions};
use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Values that wait in the program for their turn on the socket.
const HANDED_OVER_MAX: usize = 256;

/// Who publishes, and where.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    pub(crate) address: SocketAddr,
    pub(crate) id: String,
    pub(crate) secret: String,
    /// Most values sent and not yet answered.
    pub(crate) in_flight_max: u16,
}

/// The sending half.
#[derive(Debug)]
pub(crate) struct Publisher {
    client: AsyncClient,
    labels: Arc<Mutex<VecDeque<u64>>>,
}

/// The answering half.
pub(crate) struct Answers {
    events: EventLoop,
    labels: Arc<Mutex<VecDeque<u64>>>,
    sent: HashMap<u16, u64>,
}

/// What became of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) label: u64,
    /// Why it was refused; `None` = it is stored.
    pub(crate) refusal: Option<String>,
}

impl Device {
    /// Prepares the connection; it is made when [`Answers::next`] first runs.
    pub(crate) fn halves(&self) -> (Publisher, Answers) {
        let host = self.address.ip().to_string();
        let mut options = MqttOptions::new(self.id.clone(), host, self.address.port());
        options.set_credentials(self.id.clone(), self.secret.clone());
        options.set_keep_alive(Duration::from_secs(30));
        options.set_outgoing_inflight_upper_limit(self.in_flight_max);
        let (client, events) = AsyncClient::new(options, HANDED_OVER_MAX);
        let labels = Arc::new(Mutex::new(VecDeque::new()));
        let publisher = Publisher { client, labels: Arc::clone(&labels) };
        (publisher, Answers { events, labels, sent: HashMap::new() })
    }
}

impl Publisher {
    /// Hands one value over; waits while the connection has as many as it may.
    ///
    /// # Errors
    /// When the answering half is gone.
    pub(crate) async fn publish(
        &self,
        label: u64,
        topic: String,
        payload: Vec<u8>,
    ) -> anyhow::Result<()> {
        self.labels.lock().push_back(label);
        let sent = self.client.publish(topic, QoS::AtLeastOnce, false, payload);
        sent.await.context("hand a value to the MQTT connection")
    }

    /// Ends the connection in good order.
    pub(crate) async fn disconnect(&self) {
        // A connection that is gone already is as good as ended.
        let _gone = self.client.disconnect().await.is_err();
    }
}

impl Answers {
    /// Drives the connection until the next answer.
    ///
    /// # Errors
    /// When the connection is refused or lost.
    pub(crate) async fn next(&mut self) -> anyhow::Result<Answer> {
        loop {
            match self.events.poll().await.context("MQTT connection")? {
                Event::Outgoing(rumqttc::Outgoing::Publish(packet_id)) => {
                    if let Some(label) = self.labels.lock().pop_front() {
                        self.sent.insert(packet_id, label);
                    }
                }
                Event::Incoming(Packet::PubAck(ack)) => {
                    let Some(label) = self.sent.remove(&ack.pkid) else {
                        bail!("the broker acknowledged packet {} that was not sent", ack.pkid);
                    };
                    return Ok(Answer { label, refusal: refusal(&ack) });
                }
                Event::Incoming(Packet::Disconnect(disconnect)) => {
                    let properties = disconnect.properties.as_ref();
                    let text = properties.and_then(|all| all.reason_string.clone());
                    bail!(
                        "the broker ended the connection: {:?} {}",
                        disconnect.reason_code,
                        text.unwrap_or_default()
                    );
                }
                _ => {}
            }
        }
    }
}

fn refusal(ack: &PubAck) -> Option<String> {
    if matches!(ack.reason, PubAckReason::Success | PubAckReason::NoMatchingSubscribers) {
        return None;
    }
    let text = ack.properties.as_ref().and_then(|properties| properties.reason_string.clone());
    Some(text.unwrap_or_else(|| format!("{:?}", ack.reason)))
}
