//! Named limits of what enters. Settings that a person may change have their default here too.

/// Longest tag path in bytes.
pub const PATH_BYTES_MAX: usize = 512;
/// Most levels of a tag path or filter.
pub const LEVELS_MAX: usize = 32;
/// Longest MQTT topic or filter in bytes (MQTT allows 65,535; no plant needs them).
pub const TOPIC_BYTES_MAX: usize = 1_024;
/// Default of the largest MQTT packet in bytes: room for a camera frame, small enough to hold.
pub const PACKET_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Deepest nesting of a structured value.
pub const JSON_DEPTH_MAX: usize = 32;
/// Largest value text (string or JSON) in bytes.
pub const VALUE_TEXT_BYTES_MAX: usize = 1024 * 1024;
/// Most elements of a batch payload.
pub const BATCH_ELEMENTS_MAX: usize = 10_000;
/// How far ahead of the box's clock a source time may lie, in nanoseconds (10 minutes).
pub const SOURCE_TIME_AHEAD_NANOS_MAX: i64 = 600 * crate::time::NANOS_PER_SECOND;

/// Values per second that one client may write (reference default).
pub const CLIENT_RATE_DEFAULT: u32 = 2_000;
/// Values per second that one workspace may write (reference default).
pub const WORKSPACE_RATE_DEFAULT: u32 = 20_000;
/// MQTT clients connected at once (reference default).
pub const CLIENTS_MAX_DEFAULT: u32 = 5_000;
/// Unacknowledged QoS 1 messages of one client (reference default).
pub const RECEIVE_MAXIMUM_DEFAULT: u16 = 1_000;
/// Messages waiting for one slow subscriber (reference default).
pub const SUBSCRIBER_QUEUE_DEFAULT: usize = 10_000;
/// Tags that one client may create.
pub const CLIENT_TAGS_MAX_DEFAULT: u32 = 10_000;
/// Tags of the whole box.
pub const TAGS_MAX_DEFAULT: u32 = 250_000;
