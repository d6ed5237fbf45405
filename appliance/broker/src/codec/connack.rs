//! CONNACK: what this broker offers, or why it does not.
//!
//! **Invariants**: on MQTT 5 every limit that is enforced later is announced here; a refusal
//! carries its reason string only where the client wants problem information and it fits.

use super::acknowledgement::REASON_STRING_BYTES_MAX;
use super::property::id;
use super::wire::{put_string, put_variable, shorten, variable_bytes};

/// What a CONNACK of success announces on MQTT 5.
#[derive(Clone, Copy, Debug)]
pub struct Connack<'a> {
    /// Unacknowledged QoS 1 messages that we take.
    pub receive_maximum: u16,
    /// Largest packet that we take.
    pub packet_bytes_max: u32,
    /// Topic aliases that we take.
    pub topic_alias_maximum: u16,
    /// The keep alive that holds instead of the client's.
    pub server_keep_alive_seconds: Option<u16>,
    /// The client identifier that we chose.
    pub assigned_client_id: Option<&'a str>,
}

impl Connack<'_> {
    /// Appends a CONNACK of success for MQTT 5.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut properties = Vec::with_capacity(96);
        properties.push(id::SESSION_EXPIRY);
        properties.extend_from_slice(&0u32.to_be_bytes());
        properties.push(id::RECEIVE_MAXIMUM);
        properties.extend_from_slice(&self.receive_maximum.to_be_bytes());
        properties.extend_from_slice(&[id::MAXIMUM_QOS, 1, id::RETAIN_AVAILABLE, 0]);
        properties.push(id::MAXIMUM_PACKET_SIZE);
        properties.extend_from_slice(&self.packet_bytes_max.to_be_bytes());
        if let Some(client_id) = self.assigned_client_id {
            properties.push(id::ASSIGNED_CLIENT_ID);
            put_string(&mut properties, client_id);
        }
        properties.push(id::TOPIC_ALIAS_MAXIMUM);
        properties.extend_from_slice(&self.topic_alias_maximum.to_be_bytes());
        properties.extend_from_slice(&[
            id::WILDCARD_AVAILABLE,
            1,
            id::SUBSCRIPTION_IDS_AVAILABLE,
            0,
            id::SHARED_AVAILABLE,
            0,
        ]);
        if let Some(seconds) = self.server_keep_alive_seconds {
            properties.push(id::SERVER_KEEP_ALIVE);
            properties.extend_from_slice(&seconds.to_be_bytes());
        }
        put_connack(0, &properties, out);
    }
}

/// Appends a CONNACK of success or refusal for MQTT 3.1.1.
pub fn encode_v311(return_code: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&[0x20, 2, 0, return_code]);
}

/// Appends a CONNACK of refusal for MQTT 5.
pub fn encode_refusal(code: u8, text: Option<&str>, bytes_max: usize, out: &mut Vec<u8>) {
    let mut properties = Vec::new();
    if let Some(text) = text {
        let text = shorten(text, REASON_STRING_BYTES_MAX);
        if 16 + text.len() <= bytes_max {
            properties.push(id::REASON_STRING);
            put_string(&mut properties, text);
        }
    }
    put_connack(code, &properties, out);
}

fn put_connack(code: u8, properties: &[u8], out: &mut Vec<u8>) {
    out.push(0x20);
    put_variable(out, 2 + variable_bytes(properties.len()) + properties.len());
    out.extend_from_slice(&[0, code]);
    put_variable(out, properties.len());
    out.extend_from_slice(properties);
}
