//! The program between broker and database: what a plant's own engineer would write.
//!
//! **Invariants**
//! - A batch is acknowledged to the broker once its transaction is committed.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::TABLE;
use super::connection::Connection;
use crate::load::dial::dial;
use crate::load::frame::{self, Packet};

/// The line that it says once it is subscribed.
pub(crate) const READY: &str = "ready";
/// All devices' inboxes.
const FILTER: &str = "mr/v1/main/_ingress/#";
/// What comes within so long is one batch.
const BATCH: Duration = Duration::from_millis(100);
const READ_BYTES: usize = 256 * 1024;

/// What is collected for one transaction.
#[derive(Default)]
struct Batch {
    rows: Vec<u8>,
    acknowledgements: Vec<u8>,
}

/// The body of the hidden `database-writer` subcommand: runs until it is killed.
pub(crate) fn run(broker: SocketAddr, socket: &Path) -> Result<()> {
    let mut database = Connection::open(socket)?;
    let mut stream = dial(broker, Duration::from_secs(2)).context("connect to the broker")?;
    stream.set_nodelay(true)?;
    let mut bytes = Vec::new();
    frame::connect(&mut bytes, "lab-database-writer", None);
    frame::subscribe_at(&mut bytes, 1, FILTER, 1);
    stream.write_all(&bytes).context("subscribe at the broker")?;
    let mut waiting = Vec::new();
    let mut batch = Batch::default();
    loop {
        let end = Instant::now() + BATCH;
        // The first of a batch may be long in coming; after it, the batch has its time.
        while batch.rows.is_empty() || Instant::now() < end {
            if !read(&mut stream, &mut waiting)? && !batch.rows.is_empty() {
                break;
            }
            take(&mut waiting, &mut batch)?;
        }
        database.copy(TABLE, "topic, value", &batch.rows)?;
        stream.write_all(&batch.acknowledgements).context("acknowledge to the broker")?;
        batch = Batch::default();
    }
}

/// One read of a tenth of a second at most; false when nothing came.
fn read(stream: &mut TcpStream, waiting: &mut Vec<u8>) -> Result<bool> {
    stream.set_read_timeout(Some(BATCH))?;
    let mut buffer = vec![0; READ_BYTES];
    match stream.read(&mut buffer) {
        Ok(0) => bail!("the broker closed the connection"),
        Ok(got) => {
            waiting.extend_from_slice(buffer.get(..got).unwrap_or_default());
            Ok(true)
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Ok(false)
        }
        Err(error) => Err(error).context("hear the broker"),
    }
}

/// All whole packets.
fn take(waiting: &mut Vec<u8>, batch: &mut Batch) -> Result<()> {
    let mut used = 0;
    loop {
        let rest = waiting.get(used..).unwrap_or_default();
        let (packet, length) = match frame::next(rest) {
            Ok(Some(found)) => found,
            Ok(None) => break,
            Err(frame::Malformed) => bail!("the broker sent something that is not MQTT"),
        };
        used += length;
        match packet {
            Packet::Suback { reason } if reason < 0x80 => {
                writeln!(std::io::stdout(), "{READY}").context("say that it is ready")?;
            }
            Packet::Connack { reason } | Packet::Suback { reason } if reason != 0 => {
                bail!("the broker refused the writer with 0x{reason:02x}")
            }
            Packet::Publish { topic, packet_id, payload, .. } => {
                batch.add(topic, payload);
                if let Some(packet_id) = packet_id {
                    frame::puback(&mut batch.acknowledgements, packet_id);
                }
            }
            _ => {}
        }
    }
    waiting.drain(..used);
    Ok(())
}

impl Batch {
    /// A row of a topic and the number in its payload; what has none is left out.
    fn add(&mut self, topic: &[u8], payload: &[u8]) {
        let read: Option<serde_json::Value> = serde_json::from_slice(payload).ok();
        let Some(value) = read.as_ref().and_then(|value| value.get("value")?.as_f64()) else {
            return;
        };
        // Our topics have no tabs, line ends or backslashes.
        self.rows.extend_from_slice(topic);
        self.rows.push(b'\t');
        self.rows.extend_from_slice(value.to_string().as_bytes());
        self.rows.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_a_row_and_an_acknowledgement_of_each_publish() {
        let mut waiting = Vec::new();
        for packet_id in [7, 8] {
            let message = frame::Message {
                topic: b"a/b",
                packet_id,
                counter: 3,
                fingerprint: 5,
                ..frame::Message::default()
            };
            frame::publish(&mut waiting, &message);
        }
        waiting.push(0x32);
        let mut batch = Batch::default();
        take(&mut waiting, &mut batch).unwrap();
        assert_eq!(batch.rows, b"a/b\t3.0005\na/b\t3.0005\n");
        assert_eq!(batch.acknowledgements, b"\x40\x02\0\x07\x40\x02\0\x08");
        assert_eq!(waiting, b"\x32");
    }
}
