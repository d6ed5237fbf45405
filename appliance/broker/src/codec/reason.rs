//! Reason codes of MQTT 5.0 (2.4) and return codes of MQTT 3.1.1 (3.2.2.3).
//!
//! **Invariants**: only codes that this broker sends or reads are named here.

/// Done; QoS 0 granted; normal disconnection.
pub const SUCCESS: u8 = 0x00;
/// No subscription existed.
pub const NO_SUBSCRIPTION_EXISTED: u8 = 0x11;
/// The bytes are no packet.
pub const MALFORMED_PACKET: u8 = 0x81;
/// A packet that may not be sent here or now.
pub const PROTOCOL_ERROR: u8 = 0x82;
/// Not built in this version.
pub const IMPLEMENTATION_SPECIFIC: u8 = 0x83;
/// Neither 3.1.1 nor 5.0.
pub const UNSUPPORTED_VERSION: u8 = 0x84;
/// A client identifier that is not taken.
pub const CLIENT_IDENTIFIER_NOT_VALID: u8 = 0x85;
/// Wrong user or secret.
pub const BAD_CREDENTIALS: u8 = 0x86;
/// May not.
pub const NOT_AUTHORIZED: u8 = 0x87;
/// Not now, for a reason of ours.
pub const SERVER_UNAVAILABLE: u8 = 0x88;
/// Clean stop.
pub const SERVER_SHUTTING_DOWN: u8 = 0x8b;
/// Enhanced authentication that is not offered.
pub const BAD_AUTHENTICATION_METHOD: u8 = 0x8c;
/// Silent for one and a half keep alives.
pub const KEEP_ALIVE_TIMEOUT: u8 = 0x8d;
/// The same client signed in again.
pub const SESSION_TAKEN_OVER: u8 = 0x8e;
/// A filter that is not taken.
pub const TOPIC_FILTER_INVALID: u8 = 0x8f;
/// A topic that is not taken.
pub const TOPIC_NAME_INVALID: u8 = 0x90;
/// More unacknowledged than the receive maximum.
pub const RECEIVE_MAXIMUM_EXCEEDED: u8 = 0x93;
/// Alias 0 or above the maximum.
pub const TOPIC_ALIAS_INVALID: u8 = 0x94;
/// Larger than the maximum packet size.
pub const PACKET_TOO_LARGE: u8 = 0x95;
/// Over a limit.
pub const QUOTA_EXCEEDED: u8 = 0x97;
/// The payload is not what the topic takes.
pub const PAYLOAD_FORMAT_INVALID: u8 = 0x99;
/// Retained messages are not built.
pub const RETAIN_NOT_SUPPORTED: u8 = 0x9a;
/// QoS 2 is not built.
pub const QOS_NOT_SUPPORTED: u8 = 0x9b;
/// Shared subscriptions are not built.
pub const SHARED_NOT_SUPPORTED: u8 = 0x9e;
/// Too many attempts to sign in.
pub const CONNECTION_RATE_EXCEEDED: u8 = 0x9f;
/// Subscription identifiers are not built.
pub const SUBSCRIPTION_IDS_NOT_SUPPORTED: u8 = 0xa1;

/// CONNACK of 3.1.1: protocol level not taken.
pub const V311_UNACCEPTABLE_VERSION: u8 = 1;
/// CONNACK of 3.1.1: client identifier not taken.
pub const V311_IDENTIFIER_REJECTED: u8 = 2;
/// CONNACK of 3.1.1: server unavailable.
pub const V311_SERVER_UNAVAILABLE: u8 = 3;
/// CONNACK of 3.1.1: wrong user or secret.
pub const V311_BAD_CREDENTIALS: u8 = 4;
/// CONNACK of 3.1.1: may not.
pub const V311_NOT_AUTHORIZED: u8 = 5;
/// SUBACK of 3.1.1: refused.
pub const V311_SUBSCRIBE_FAILURE: u8 = 0x80;
