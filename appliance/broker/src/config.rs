//! The broker's settings and named limits.
//!
//! **Invariants**: everything that a peer can make us hold has a limit here or in the codec;
//! limits that a client must know are announced in the CONNACK.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use millrace_model::limits::{
    CLIENTS_MAX_DEFAULT, PACKET_BYTES_MAX, RECEIVE_MAXIMUM_DEFAULT, SUBSCRIBER_QUEUE_DEFAULT,
};

/// Largest CONNECT in bytes; also all that is read of a client before it is signed in.
pub const CONNECT_BYTES_MAX: usize = 64 * 1024;
/// Largest packet other than CONNECT and PUBLISH in bytes.
pub const CONTROL_BYTES_MAX: usize = 256 * 1024;
/// Longest MQTT client identifier in bytes.
pub const CLIENT_ID_BYTES_MAX: usize = 256;
/// Longest response topic and correlation data in bytes; they wait with the publish.
pub(crate) const CORRELATION_BYTES_MAX: usize = 1_024;
/// Topic aliases of one client: three times the plant's 10 tags a device, and with the topic's
/// length 32 KiB of memory at most.
pub const TOPIC_ALIAS_MAXIMUM: u16 = 32;
/// How long network threads let messages gather: half of the journal's commit interval, so that
/// what was taken in one go is committed together.
const WAKE_INTERVAL: Duration = Duration::from_millis(1);
/// Bytes of the read buffer that each runtime thread shares among its connections.
pub const READ_BUFFER_BYTES: usize = 32 * 1024;
/// Output that waits for a client that does not read; above it the client is not read either.
pub(crate) const OUT_BYTES_MAX: usize = 256 * 1024;
/// Reads of one connection before others have their turn.
pub(crate) const READS_PER_WAKE: u32 = 8;
/// QoS 1 deliveries that may be unacknowledged by one subscriber, whatever it would allow.
pub(crate) const DELIVERIES_IN_FLIGHT_MAX: u16 = 1_000;
/// Bytes of unfinished large packets, all connections together.
pub(crate) const UNFINISHED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// After our last packet: what is still read (and thrown away) of a client, so that the operating
/// system does not reset the connection before that packet is seen.
pub(crate) const LINGER_BYTES_MAX: usize = 1024 * 1024;
/// After our last packet: how long we wait for the client to close.
pub(crate) const LINGER: Duration = Duration::from_secs(3);

/// The broker's settings.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where plain MQTT listens; `None` = not at all.
    pub listen: Option<SocketAddr>,
    /// Where MQTT over TLS listens, and with what certificate.
    pub tls: Option<(SocketAddr, Arc<rustls::ServerConfig>)>,
    /// First levels of the product's own topics.
    pub root: String,
    /// Clients connected at once.
    pub clients_max: u32,
    /// Connections that are not signed in yet; above it the oldest of them is closed.
    pub unauthenticated_max: u32,
    /// How long a connection may take until its CONNECT is there.
    pub connect_timeout: Duration,
    /// Largest PUBLISH in bytes.
    pub packet_bytes_max: usize,
    /// Unacknowledged QoS 1 publishes of one client.
    pub receive_maximum: u16,
    /// Subscriptions of one client.
    pub subscriptions_max: usize,
    /// Messages that wait for one slow subscriber; the oldest are dropped.
    pub subscriber_queue_max: usize,
    /// Threads that connections live on; 0 = one less than there are cores, at least one.
    pub threads: usize,
    /// Shortest time from one wake of such a thread to the next; zero = each message wakes it.
    pub wake_interval: Duration,
    /// Longest keep alive; an MQTT 5 client that wants a longer one or none is told this one.
    /// `None` = whatever the client wants.
    pub keep_alive_max: Option<Duration>,
}

impl Config {
    /// The reference's defaults with one plain listener.
    #[must_use]
    pub fn standard(listen: SocketAddr) -> Self {
        Self {
            listen: Some(listen),
            tls: None,
            root: "mr/v1".into(),
            clients_max: CLIENTS_MAX_DEFAULT,
            unauthenticated_max: 1_000,
            connect_timeout: Duration::from_secs(10),
            packet_bytes_max: PACKET_BYTES_MAX,
            receive_maximum: RECEIVE_MAXIMUM_DEFAULT,
            subscriptions_max: 100,
            subscriber_queue_max: SUBSCRIBER_QUEUE_DEFAULT,
            threads: 0,
            wake_interval: WAKE_INTERVAL,
            keep_alive_max: None,
        }
    }
}
