//! A file for each packet that a client sends.
//!
//! **Invariants**: a packet that a client may not send, or not now, is a protocol error.

mod connect;
mod publish;
mod subscribe;

use crate::codec::frame::kind;
use crate::codec::{Fault, acknowledgement};

use super::Connection;

impl Connection {
    /// Handles every packet of a signed-in client but PUBLISH.
    pub(super) fn control(&mut self, packet: u8, body: &[u8]) -> Result<(), Fault> {
        let Some(open) = &mut self.open else { return Ok(()) };
        match packet {
            kind::PUBACK => {
                let packet_id = acknowledgement::decode_puback(body, open.version)?;
                open.deliveries.acknowledged(packet_id);
                Ok(())
            }
            kind::SUBSCRIBE => self.subscribe(body),
            kind::UNSUBSCRIBE => self.unsubscribe(body),
            kind::PINGREQ if body.is_empty() => {
                self.out.buffer().extend_from_slice(&[kind::PINGRESP << 4, 0]);
                Ok(())
            }
            kind::PINGREQ => Err(Fault::malformed("a PINGREQ with a body")),
            kind::DISCONNECT => {
                acknowledgement::decode_disconnect(body, open.version)?;
                self.begin_flush();
                Ok(())
            }
            kind::CONNECT => Err(Fault::protocol("a second CONNECT")),
            kind::PUBREC | kind::PUBREL | kind::PUBCOMP => {
                Err(Fault::protocol("a packet of QoS 2, which is not built in this version"))
            }
            _ => Err(Fault::protocol("a packet that a client does not send")),
        }
    }
}
